/*
 * sim_agents.h - agents for workflows without a session, where functions of the host are not called: their answers are
 * the test's (sim_answered).
 */
#ifndef HOB_TESTS_SIM_AGENTS_H
#define HOB_TESTS_SIM_AGENTS_H

#include "support/agents.h"

hob_agent *keeper(const char *name, const char *key); /* an LLM agent with an output_key */
hob_agent *custom(const char *name, unsigned flags);
hob_agent *watched(const char *name, const char *key); /* with before_agent and after_agent */
hob_agent_callbacks watchers(void);

#endif
