// dice's headers after C's, where many short and plain words are macros (I, major, unix, linux, errno, MIN, …). It must
// compile, with the compiler's extensions, which define some more. The libraries that dice uses come first, since some of
// them fail on I themselves. A generated header needs none of them.
#include <boost/hana.hpp>
#include <xtensor/xnpy.hpp>
#ifdef DICE_WITH_MPI
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#endif

#include <complex.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <syslog.h>
#include <termios.h>
#include <unistd.h>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdio>

#if !defined(I) || !defined(major) || !defined(linux) || !defined(errno)
#error "C's headers define less than this test is about"
#endif

#include <dice/decode.hpp>
#include <dice/engine.hpp>
#include <dice/pixels.hpp>
