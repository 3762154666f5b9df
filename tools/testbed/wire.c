// wire - two TAP devices joined by a delay line; stands in for netem where the kernel lacks it.
// usage: wire SWITCH_TAP HOST_TAP PARAMS_FILE
// Frames HOST->SWITCH are delayed and dropped at random; SWITCH->HOST frames are not, so, as with netem
// on each sender, one hop host->host has the delay once. The cable has a speed in each direction.
// PARAMS_FILE holds "delay_us jitter_us loss_percent mbit_per_s", and in further lines "K delay_us mbit_per_s"
// for what goes to the host with Ethernet address 02:00:00:00:00:K (hexadecimal); 0 Mbit/s: not limited.
// SIGHUP reads it again.
// The program goes into the background once both devices exist.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FRAME = 65536, MAX_QUEUED_BYTES = 8 << 20, MAX_WAITING_BYTES = 512 << 10, PATHS = 256 };
enum { SLACK_NS = 20000 };  // due this soon: send now
enum { ON_THE_WIRE = 24 };  // preamble, checksum and gap of each Ethernet frame

struct frame {
    struct frame *next;
    long long due;
    int len;
    char data[];
};

// A frame leaves when those before it have left.
struct path {
    double delay_us, ns_per_byte;
    long long free_at, last_due;
    struct frame *head, *last;
};

static struct path paths[PATHS + 1], *const to_host = paths + PATHS, cable;  // paths[0]: to hosts without a line of their own
static double jitter_us, loss_percent;
static long queued;
static volatile sig_atomic_t reload = 1;

static void on_hup(int sig) { (void)sig; reload = 1; }

static double ns_per_byte(double mbit_per_s) { return mbit_per_s > 0 ? 8000 / mbit_per_s : 0; }

static void read_params(const char *path) {
    FILE *f = fopen(path, "r");
    double delay_us, mbit_per_s;
    unsigned k;
    if (!f || fscanf(f, "%lf %lf %lf %lf", &delay_us, &jitter_us, &loss_percent, &mbit_per_s) != 4) {
        fprintf(stderr, "wire: cannot read %s\n", path);
        exit(1);
    }
    cable.ns_per_byte = to_host->ns_per_byte = ns_per_byte(mbit_per_s);
    for (k = 0; k < PATHS; k++) paths[k].delay_us = delay_us, paths[k].ns_per_byte = 0;
    while (fscanf(f, "%x %lf %lf", &k, &delay_us, &mbit_per_s) == 3 && k < PATHS)
        paths[k].delay_us = delay_us, paths[k].ns_per_byte = ns_per_byte(mbit_per_s);
    fclose(f);
}

static struct path *path_of(const unsigned char *frame) {
    static const unsigned char known[] = {2, 0, 0, 0, 0};
    return &paths[memcmp(frame, known, sizeof known) ? 0 : frame[5]];
}

// When a frame that comes at `start` has left; 0: too much waits before it.
static long long leaves(struct path *p, long long start, int len) {
    long long wait = p->free_at > start ? p->free_at - start : 0;
    if (wait > MAX_WAITING_BYTES * p->ns_per_byte) return 0;
    return p->free_at = start + wait + (len + ON_THE_WIRE) * p->ns_per_byte;
}

static void enqueue(struct path *p, const char *data, int len, long long due) {
    if (due < p->last_due) due = p->last_due;
    p->last_due = due;
    struct frame *f = malloc(sizeof *f + len);
    *f = (struct frame){.due = due, .len = len};
    memcpy(f->data, data, len);
    *(p->head ? &p->last->next : &p->head) = f;
    p->last = f;
    queued += len;
}

static int open_tap(const char *name) {
    struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr) < 0) {
        fprintf(stderr, "wire: %s: %s\n", name, strerror(errno));
        exit(1);
    }
    return fd;
}

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void forward(int fd, const char *data, int len) {
    if (write(fd, data, len) < 0) { /* device down: the frame is lost, as on a real link */ }
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: wire SWITCH_TAP HOST_TAP PARAMS_FILE\n"), 2;
    int sw = open_tap(argv[1]), host = open_tap(argv[2]);
    read_params(argv[3]);
    sigset_t hup, none;
    sigemptyset(&none);
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hup, NULL);
    signal(SIGHUP, on_hup);
    srand48(now_ns() ^ getpid());  // unseeded, drand48 begins with 0.0: the first frames would be lost
    prctl(PR_SET_TIMERSLACK, 1);
    if (daemon(0, 0)) return perror("wire: daemon"), 1;
    struct sched_param sp = {.sched_priority = 10};
    sched_setscheduler(0, SCHED_FIFO, &sp);  // best effort: busy-polling ranks must not hold frames up

    static char buf[MAX_FRAME];
    struct pollfd fds[2] = {{.fd = sw, .events = POLLIN}, {.fd = host, .events = POLLIN}};
    for (;;) {
        if (reload) { reload = 0; read_params(argv[3]); }
        long long next = 0, now = now_ns();
        for (struct path *p = paths; queued && p <= to_host; p++)
            if (p->head && (!next || p->head->due < next)) next = p->head->due;
        long long left = next > now ? next - now : 0;
        struct timespec wait = {left / 1000000000, left % 1000000000};
        if (ppoll(fds, 2, next ? &wait : NULL, &none) < 0) {
            if (errno != EINTR) return 1;
            continue;
        }
        int n;
        now = now_ns();
        for (int i = 0; fds[1].revents && i < 64 && (n = read(host, buf, sizeof buf)) > 0; i++) {
            struct path *p = path_of((unsigned char *)buf);
            if (drand48() * 100 < loss_percent || queued + n > MAX_QUEUED_BYTES) continue;
            long long left = leaves(&cable, now, n);
            if (left) left = leaves(p, left, n);
            if (left) enqueue(p, buf, n, left + 1000 * (p->delay_us + jitter_us * (2 * drand48() - 1)));
        }
        for (int i = 0; fds[0].revents && i < 64 && (n = read(sw, buf, sizeof buf)) > 0; i++) {
            long long left = leaves(to_host, now, n);
            if (left) enqueue(to_host, buf, n, left);
        }
        long long soon = now_ns() + SLACK_NS;
        for (struct path *p = paths; queued && p <= to_host; p++)
            while (p->head && p->head->due <= soon) {
                struct frame *f = p->head;
                p->head = f->next;
                queued -= f->len;
                forward(p == to_host ? host : sw, f->data, f->len);
                free(f);
            }
    }
}
