/*
 * agents.h - agents for tests, in one line each.
 */
#ifndef HOB_TESTS_AGENTS_H
#define HOB_TESTS_AGENTS_H

#include <hob/agent.h>

/* Each takes the references of the agents it is given; the list ends with NULL. Fails the test if it cannot be made. */
hob_agent *llm(const char *name, ...);
hob_agent *llm_with(const hob_agent_opts *o);
hob_agent *in_order(const char *name, ...);
hob_agent *side_by_side(const char *name, ...);
hob_agent *again(const char *name, int times, ...);
hob_agent *either(const char *name, const char *condition, ...);
hob_agent *made_of(hob_agent_opts *o, hob_agent **agents, size_t n);

#endif
