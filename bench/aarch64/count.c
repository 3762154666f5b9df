/* A plugin for qemu-user that counts the instructions a program executes, by function: -plugin libcount.so,to=FILE. At the
   end FILE has a line "COUNT FUNCTION" for each function of the program itself; "?" is everything in shared libraries.
   The declarations are those of version 1 of QEMU's plugin interface (qemu-plugin.h, which Debian does not package). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin;
struct block;
struct instruction;
enum operation { add };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin, void (*)(plugin, struct block*));
void qemu_plugin_register_atexit_cb(plugin, void (*)(plugin, void*), void*);
void qemu_plugin_register_vcpu_tb_exec_inline(struct block*, enum operation, void* to, uint64_t amount);
size_t qemu_plugin_tb_n_insns(const struct block*);
struct instruction* qemu_plugin_tb_get_insn(const struct block*, size_t);
const char* qemu_plugin_insn_symbol(const struct instruction*);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct function {
  const char* name;
  uint64_t count;
  struct function* next;
};
static struct function* functions;
static const char* path;

static struct function* of(const char* name) {
  for (struct function* f = functions; f; f = f->next)
    if (!strcmp(f->name, name)) return f;
  struct function* f = malloc(sizeof *f);
  *f = (struct function){strdup(name), 0, functions};
  return functions = f;
}

/* A block of instructions without a jump into or out of its middle: counted as a whole, where it begins. */
static void translated(plugin id, struct block* b) {
  (void)id;
  const char* name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(b, 0));
  qemu_plugin_register_vcpu_tb_exec_inline(b, add, &of(name ? name : "?")->count, qemu_plugin_tb_n_insns(b));
}

static void finished(plugin id, void* data) {
  (void)id, (void)data;
  FILE* file = fopen(path, "w");
  if (!file) {
    perror(path);
    return;
  }
  for (struct function* f = functions; f; f = f->next)
    if (f->count) fprintf(file, "%llu %s\n", (unsigned long long)f->count, f->name);
  fclose(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin id, const void* qemu, int n, char** arguments) {
  (void)qemu;
  if (n != 1 || strncmp(arguments[0], "to=", 3)) {
    fprintf(stderr, "count: give it the file to write: -plugin libcount.so,to=FILE\n");
    return 1;
  }
  path = strdup(arguments[0] + 3);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
