// Never compiled: CMake works out from it with which arguments a user of dice::dice is compiled.
int main() {}
