#include "support/sim_agents.h"

#include "support/check.h"

hob_agent *keeper(const char *name, const char *key) {
    return worker(name, NULL, key);
}

static void never_called(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call;
    (void)reply;
    (void)user;
    fail_msg("a function was called without a session");
}

hob_agent *custom(const char *name, unsigned flags) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.kind = HOB_AGENT_CUSTOM;
    o.flags = flags;
    o.run = never_called;
    return llm_with(&o);
}

hob_agent_callbacks watchers(void) {
    hob_agent_callbacks c = HOB_AGENT_CALLBACKS_INIT;
    c.before_agent = c.after_agent = never_called;
    return c;
}

hob_agent *watched(const char *name, const char *key) {
    hob_agent_callbacks c = watchers();
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.output_key = key;
    o.callbacks = &c;
    return llm_with(&o);
}
