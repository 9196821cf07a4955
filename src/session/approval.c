/*
 * approval.c - what a person says to a call that waits: yes, no, or the answer to a question.
 */
#include "session/task.h"

typedef struct verdict {
    hob_op op;
    hob_input in;
} verdict;

/* The input itself says whether the call is there, and waits. */
static int check_answer(hob_session *s, const hob_input *in, hob_error *err) {
    const hob_strand *st = hob_session_strand_of(s, in->call);
    const hob_call *c = st ? hob_run_call(st->run, in->call) : NULL;
    bool waits = c && c->state == HOB_CALL_WAITING && c->question;
    return waits && in->answer.n ? hob_answer_check(c->args, in->answer, err) : HOB_OK;
}

/* What a child asked is answered in the child; one that is being opened answers when it is. */
static void start_verdict(hob_op *op) {
    verdict *v = HOB_CONTAINER(op, verdict, op);
    hob_task *t = hob_task_of_call(op->s, v->in.call, &v->in.call);
    hob_error err;
    if (!t) {
        int rc = check_answer(op->s, &v->in, &err);
        if (rc >= 0) rc = hob_session_input(op->s, &v->in, &err);
        hob_op_conclude(op, rc, &err);
    } else if (t->stage == HOB_TASK_AT_WORK && t->s) {
        op->s = t->s;
        start_verdict(op);
    } else {
        hob_list_push(&t->ops, &op->link);
    }
}

int hob_session_confirm_tool_use(hob_session *s, hob_str call, hob_verdict v, hob_str reason,
                                 hob_error *err) {
    verdict x = {.op = {.start = start_verdict},
                 .in = {.kind = HOB_INPUT_VERDICT,
                        .call = call,
                        .approved = v == HOB_VERDICT_ALLOW,
                        .text = reason}};
    return hob_session_run(s, &x.op, err);
}

int hob_session_answer(hob_session *s, hob_str call, hob_str answer, hob_error *err) {
    verdict x = {.op = {.start = start_verdict},
                 .in = {.kind = HOB_INPUT_VERDICT,
                        .call = call,
                        .approved = true,
                        .answer = hob_str_trim(answer)}};
    return hob_session_run(s, &x.op, err);
}

/* ---- nobody will say anything ---------------------------------------------------------------------------- */

static const hob_call *waiting_in(const hob_run *r) {
    for (size_t i = 0; i < r->ncalls && r->phase == HOB_PHASE_TOOLS; i++)
        if (r->calls[i].state == HOB_CALL_WAITING) return &r->calls[i];
    return NULL;
}

static const hob_call *waiting_call(hob_session *s) {
    const hob_call *c = NULL;
    HOB_LIST_EACH (it, &s->strands)
        if (!c) c = waiting_in(HOB_CONTAINER(it, hob_strand, link)->run);
    return c;
}

/* Its own, and those of its children. */
static int deny_all(hob_session *s, int *n, hob_error *err) {
    char id[64];
    int rc = HOB_OK;
    for (const hob_call *c = waiting_call(s); c && rc >= 0; c = waiting_call(s)) {
        snprintf(id, sizeof id, "%.*s", HOB_FMT(c->call)); /* the batch changes under our feet */
        hob_input in = {.kind = HOB_INPUT_VERDICT,
                        .call = hob_str_z(id),
                        .text = HOB_STR("nobody will answer")};
        rc = hob_session_input(s, &in, err);
        ++*n;
    }
    HOB_LIST_EACH (it, &s->tasks) {
        hob_task *t = HOB_CONTAINER(it, hob_task, link);
        if (rc >= 0 && t->s && t->stage == HOB_TASK_AT_WORK) rc = deny_all(t->s, n, err);
    }
    return rc;
}

static void start_cancel_confirmations(hob_op *op) {
    hob_error err;
    int n = 0, rc = deny_all(op->s, &n, &err);
    op->rc = n;
    hob_op_conclude(op, rc < 0 ? rc : n, &err);
}

int hob_session_cancel_confirmations(hob_session *s, hob_error *err) {
    hob_op op = {.start = start_cancel_confirmations};
    return hob_session_run(s, &op, err);
}
