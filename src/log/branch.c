#include "log/branch.h"

bool hob_branch_sees(hob_str from, hob_str of) {
    if (!from.n || !of.n || hob_str_eq(from, of)) return true;
    return from.n > of.n && from.p[of.n] == '.' && memcmp(from.p, of.p, of.n) == 0;
}
