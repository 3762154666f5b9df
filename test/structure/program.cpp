// What a program includes.
#include <dice/dice.hpp>
