#include "tests/unit/unit.h"
int main(void) { return 0; }
