// Returns the number in the file that TUNED names, 0 without it.
#ifndef TABLE
#define TABLE 0
#endif

int main() { return TABLE; }
