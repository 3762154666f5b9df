// What programs include before a generated header: many headers, with macros that could hit a layer's name.
#include <bits/stdc++.h>
#include <dice/graph/graph.hpp>
#include <complex.h>
#include <unistd.h>
#include <fcntl.h>
#include <time.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <termios.h>
