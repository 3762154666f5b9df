// Never compiled: it gives the command line with which CMake compiles a user of dice::dice.
int main() {}
