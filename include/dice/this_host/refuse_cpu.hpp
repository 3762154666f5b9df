// A file that includes this and is itself compiled for newer CPUs than every one of its architecture (header only, or -march
// in the project's flags) ends a process on an older CPU: before static objects are made, since any code of the file may be
// the first that such a CPU cannot execute. Files of programs that link dice's library, and most of the library's own, are
// not compiled so: there, kernels::cpu_level_here() throws.
#pragma once

#if defined(__SSE3__) || defined(__ARM_FEATURE_CRC32) || defined(__ARM_FEATURE_ATOMICS)
#include "dice/this_host/instructions.hpp"

#include <unistd.h>

namespace dice::this_host {
namespace {

[[gnu::constructor(101)]] DICE_ON_ANY_CPU void refuse_older_cpus() {
  const auto has = sets_here();
  if ((compiled_for & ~has) == 0) return;
  auto why = lack_text(compiled_for, has);
  why.add(", for which this program was compiled; build it with -DDICE_BOARD=");
  why.add(board_for(has));
  why.add(", without -march of newer CPUs\n");
  constexpr char name[] = "dice: error: ";
  if (::write(STDERR_FILENO, name, sizeof name - 1) > 0 && ::write(STDERR_FILENO, why.text, why.size) > 0) ::_exit(1);
  ::_exit(1);
}

}  // namespace
}  // namespace dice::this_host
#endif
