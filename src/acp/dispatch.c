/*
 * dispatch.c - finds the method: one row each.
 */
#include "acp/acp.h"

enum { EARLY = 1 /* before initialize, too */, OPEN = 2 /* names an open session */ };

typedef struct row {
    const char *name;
    hob_acp_method *run;
    unsigned flags;
} row;

static const row requests[] = {
    {"initialize", hob_acp_initialize, EARLY},
    {"authenticate", hob_acp_authenticate, 0},
    {"session/new", hob_acp_session_new, 0},
    {"session/load", hob_acp_session_load, 0},
    {"session/resume", hob_acp_session_resume, 0},
    {"session/fork", hob_acp_session_fork, 0},
    {"session/list", hob_acp_session_list, 0},
    {"session/close", hob_acp_session_close, OPEN},
    {"session/delete", hob_acp_session_delete, 0},
    {"session/prompt", hob_acp_prompt, OPEN},
    {"session/set_mode", hob_acp_set_mode, OPEN},
    {"session/set_title", hob_acp_set_title, 0},
    {"session/set_config_option", hob_acp_set_option, OPEN},
};

static const row notifications[] = {
    {"session/cancel", hob_acp_cancel, OPEN},
    {"$/cancel_request", hob_acp_cancel_request, 0},
};

static const row *find(const row *rows, size_t n, hob_str name) {
    for (size_t i = 0; i < n; i++)
        if (hob_str_eqz(name, rows[i].name)) return &rows[i];
    return NULL;
}

static int find_session(hob_acp_request *q, hob_error *err) {
    hob_str id = hob_json_get_str(q->params, "sessionId");
    if (!id.n) return hob_fail(err, HOB_EINVAL, 0, "`sessionId` is missing");
    q->s = hob_acp_find(q->acp, id);
    if (q->s) return HOB_OK;
    return hob_fail(err, HOB_ENOENT, 0,
                    "no session %.*s is open here: session/load or session/resume opens it",
                    HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 128))));
}

static int run(hob_acp_request *q, const row *r, hob_error *err) {
    if (!q->acp->ready && !(r->flags & EARLY))
        return hob_fail(err, HOB_EBUSY, 0, "%s: `initialize` comes first", r->name);
    int code = r->flags & OPEN ? find_session(q, err) : HOB_OK;
    return code < 0 ? code : r->run(q, err);
}

static void take_request(hob_acp *x, const hob_rpc_message *m) {
    const row *r = find(requests, HOB_ARRAY_LEN(requests), m->method);
    hob_acp_request q = {.acp = x, .id = m->id, .params = m->body};
    hob_error err = {.code = HOB_OK};
    if (!r) {
        hob_fail(&err, HOB_ENOSYS, 0, "there is no method %.*s",
                 HOB_FMT(hob_str_first(m->method, hob_utf8_prefix(m->method, 100))));
        hob_acp_refuse(x, m->id, &err);
    } else if (run(&q, r, &err) < 0) {
        hob_acp_refuse(x, m->id, &err);
    }
}

/* There is nobody to tell what was wrong with it but the log. Unknown ones may be ignored, says the protocol. */
static void take_notification(hob_acp *x, const hob_rpc_message *m) {
    const row *r = find(notifications, HOB_ARRAY_LEN(notifications), m->method);
    hob_acp_request q = {.acp = x, .params = m->body};
    hob_error err;
    if (r && run(&q, r, &err) < 0) hob_log(HOB_LOG_WARN, "acp", "%s: %s", r->name, err.message);
}

void hob_acp_dispatch(hob_acp *x, const hob_rpc_message *m) {
    switch (m->kind) {
    case HOB_RPC_INVALID:
        hob_log(HOB_LOG_WARN, "acp", "a line is no message: %s", m->why);
        hob_rpc_write_error(&x->out, m->id, m->code, hob_str_z(m->why), HOB_STR_NULL);
        break;
    case HOB_RPC_REQUEST: take_request(x, m); break;
    case HOB_RPC_NOTIFICATION: take_notification(x, m); break;
    case HOB_RPC_RESULT:
    case HOB_RPC_ERROR: hob_acp_take_answer(x, m); break;
    }
}
