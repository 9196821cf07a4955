/*
 * scenario.h - a conversation with everything in it: three turns of tools (two that read side by side, one unsafe that
 * needs an approval, one idempotent, one more that reads), a steering message, a follow-up.
 *
 * Each step looks at the log and at the state only, so it goes on wherever a crash left it.
 */
#ifndef HOB_TESTS_SCENARIO_H
#define HOB_TESTS_SCENARIO_H

#include "support/sim.h"

void scenario_init(sim *s);
bool scenario_step(sim *s); /* false: it is over */
void scenario_run(sim *s);  /* to the end */

#endif
