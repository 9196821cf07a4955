/*
 * branch.h - where in a workflow something was said: "a.b", dot by dot; "" = on no branch.
 */
#ifndef HOB_SRC_LOG_BRANCH_H
#define HOB_SRC_LOG_BRANCH_H

#include "base/base.h"

/* Whether what is on branch `of` is seen from branch `from`: on itself, on its ancestors, and if either is on none. */
bool hob_branch_sees(hob_str from, hob_str of);

#endif
