/*
 * register.c - agents that a host registers with a session: a list of the session's own, before the one it shares.
 */
#include "session/task.h"

#include <hob/subagent.h>

typedef struct registering {
    hob_op op;
    const char *dir;
    const hob_definition *agents;
    size_t n;
} registering;

static int own_list(hob_session *s, hob_error *err) {
    hob_definitions_opts o = HOB_DEFINITIONS_OPTS_INIT;
    o.permission_mode = hob_mode_name(s->mode);
    return s->agents ? HOB_OK : hob_definitions_create(&o, &s->agents, err);
}

/* The tool's description names them. */
static void start(hob_op *op) {
    registering *r = HOB_CONTAINER(op, registering, op);
    hob_session *s = op->s;
    hob_error err;
    int n = HOB_OK, rc = own_list(s, &err);
    if (rc >= 0)
        rc = n = r->dir ? hob_agents_register_dir(s->agents, r->dir, &err)
                        : hob_agents_register_workers(s->agents, r->agents, r->n, &err);
    if (rc >= 0) rc = hob_task_tool_add(s, &err);
    hob_op_done(op, rc < 0 ? rc : n, &err);
}

int hob_session_register_agent_dir(hob_session *s, const char *dir, hob_error *err) {
    registering r = {.op = {.start = start}, .dir = dir ? dir : ""};
    return hob_session_run(s, &r.op, err);
}

int hob_session_register_worker_agents(hob_session *s, const hob_definition *agents, size_t n,
                                       hob_error *err) {
    registering r = {.op = {.start = start}, .agents = agents, .n = n};
    return hob_session_run(s, &r.op, err);
}

int hob_session_register_worker_agent(hob_session *s, const hob_definition *agent, hob_error *err) {
    return hob_session_register_worker_agents(s, agent, agent ? 1 : 0, err);
}
