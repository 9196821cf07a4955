#include "support/agents.h"

#include "support/check.h"

#include <stdarg.h>

hob_agent *made_of(hob_agent_opts *o, hob_agent **agents, size_t n) {
    hob_agent *a = NULL;
    hob_error err;
    o->agents = agents;
    o->nagents = n;
    assert_ok(hob_agent_create(o, &a, &err), err);
    for (size_t i = 0; i < n; i++) hob_agent_unref(agents[i]);
    return a;
}

static hob_agent *with_list(hob_agent_opts *o, va_list ap) {
    hob_agent *agents[64], *a;
    size_t n = 0;
    while ((a = va_arg(ap, hob_agent *)) && n < 64) agents[n++] = a;
    return made_of(o, agents, n);
}

hob_agent *llm(const char *name, ...) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    va_list ap;
    va_start(ap, name);
    hob_agent *made = with_list(&o, ap);
    va_end(ap);
    return made;
}

hob_agent *llm_with(const hob_agent_opts *given) {
    hob_agent_opts o = *given;
    return made_of(&o, NULL, 0);
}

static hob_agent *workflow(hob_agent_kind kind, const char *name, va_list ap) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.kind = kind;
    return with_list(&o, ap);
}

hob_agent *in_order(const char *name, ...) {
    va_list ap;
    va_start(ap, name);
    hob_agent *made = workflow(HOB_AGENT_SEQUENTIAL, name, ap);
    va_end(ap);
    return made;
}

hob_agent *side_by_side(const char *name, ...) {
    va_list ap;
    va_start(ap, name);
    hob_agent *made = workflow(HOB_AGENT_PARALLEL, name, ap);
    va_end(ap);
    return made;
}

hob_agent *again(const char *name, int times, ...) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.kind = HOB_AGENT_LOOP;
    o.max_iterations = times;
    va_list ap;
    va_start(ap, times);
    hob_agent *made = with_list(&o, ap);
    va_end(ap);
    return made;
}

hob_agent *either(const char *name, const char *condition, ...) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.kind = HOB_AGENT_CONDITIONAL;
    o.condition = condition;
    va_list ap;
    va_start(ap, condition);
    hob_agent *made = with_list(&o, ap);
    va_end(ap);
    return made;
}
