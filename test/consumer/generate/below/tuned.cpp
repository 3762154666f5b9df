// Returns what the file that TUNED names says, 0 without it.
#ifndef TABLE
#define TABLE 0
#endif

int main() { return TABLE; }
