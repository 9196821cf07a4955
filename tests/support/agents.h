/*
 * agents.h - agents for tests, in one line each.
 */
#ifndef HOB_TESTS_AGENTS_H
#define HOB_TESTS_AGENTS_H

#include <hob/agent.h>

#include "support/host.h"

/* Each takes the references of the agents it is given; the list ends with NULL. Fails the test if it cannot be made. */
hob_agent *llm(const char *name, ...);
hob_agent *llm_with(const hob_agent_opts *o);
hob_agent *in_order(const char *name, ...);
hob_agent *side_by_side(const char *name, ...);
hob_agent *again(const char *name, int times, ...);
hob_agent *either(const char *name, const char *condition, ...);
hob_agent *made_of(hob_agent_opts *o, hob_agent **agents, size_t n);
/* An LLM agent that knows its part by its instruction; key NULL = its answer goes nowhere. */
hob_agent *worker(const char *name, const char *instruction, const char *key);

/* Opens the host with this team, whose reference is taken. The options keep it for a host_reopen(). */
void team_open(host *h, hob_agent *team);
void team_finish(host *h);
/* The stored events whose types begin with one of these (NULL-terminated), as host_log has them. */
const char *team_log(host *h, ...);
/* The session's state: the value of the key as JSON text, "" if there is none. */
const char *team_state(host *h, const char *key);

#endif
