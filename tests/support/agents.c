#include "support/agents.h"

#include "session/session.h"
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

hob_agent *worker(const char *name, const char *instruction, const char *key) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = name;
    o.instruction = instruction;
    o.output_key = key;
    return llm_with(&o);
}

/* ---- a host with a team -------------------------------------------------------------------------------- */

void team_open(host *h, hob_agent *team) {
    h->so.team = team;
    host_open(h);
}

void team_finish(host *h) {
    hob_agent *team = h->so.team;
    host_finish(h);
    hob_agent_unref(team);
}

static bool is_wanted(const char *line, va_list ap) {
    const char *type;
    while ((type = va_arg(ap, const char *)))
        if (!strncmp(line, type, strlen(type))) return true;
    return false;
}

const char *team_log(host *h, ...) {
    static _Thread_local char out[sizeof h->log];
    size_t n = 0;
    host_log(h);
    for (char *line = h->log, *end; (end = strchr(line, '\n')); line = end + 1) {
        va_list ap;
        va_start(ap, h);
        bool wanted = is_wanted(line, ap);
        va_end(ap);
        if (!wanted) continue;
        memcpy(out + n, line, (size_t)(end + 1 - line));
        n += (size_t)(end + 1 - line);
    }
    out[n] = 0;
    return out;
}

typedef struct lookup {
    hob_str key;
    char value[4096];
} lookup;

static void start_lookup(hob_op *op) {
    lookup *l = op->user;
    hob_str value;
    if (hob_state_get(&op->s->view->state, l->key, &value) >= 0)
        snprintf(l->value, sizeof l->value, "%.*s", HOB_FMT(value));
    hob_op_done(op, HOB_OK, NULL);
}

const char *team_state(host *h, const char *key) {
    static _Thread_local lookup l;
    l = (lookup){.key = hob_str_z(key)};
    hob_op op = {.start = start_lookup, .s = h->s, .user = &l};
    assert_ok(hob_op_run(h->rt, &op, &h->err), h->err);
    return l.value;
}
