// What programs include before a generated header: many headers, some with macros that are like names of layers.
#include <bits/stdc++.h>

#include <dice/graph/graph.hpp>

#include <complex.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
