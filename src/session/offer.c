/*
 * offer.c - tools of whoever speaks to the session: guests, who stay for one run.
 */
#include "session/session.h"

typedef struct offering {
    hob_op op;
    const hob_tool *tools;
    size_t n;
} offering;

static void start_offer(hob_op *op) {
    const offering *o = HOB_CONTAINER(op, offering, op);
    hob_session *s = op->s;
    hob_error err;
    int rc = HOB_OK;
    if (!hob_session_active(s) || hob_session_parked(s)) hob_tools_drop_guests(s->tools);
    for (size_t i = 0; i < o->n && rc >= 0; i++) {
        rc = hob_tools_add_guest(
            s->tools, (const hob_tool *)((const char *)o->tools + i * o->tools->size), &err);
        if (rc == HOB_EEXIST) rc = HOB_OK;
    }
    hob_op_done(op, rc, &err);
}

int hob_session_offer_tools(hob_session *s, const hob_tool *tools, size_t n, hob_error *err) {
    offering o = {.op = {.start = start_offer}, .tools = tools, .n = n};
    return hob_session_run(s, &o.op, err);
}
