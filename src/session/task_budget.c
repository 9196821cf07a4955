/*
 * task_budget.c - a child that has used up what it was granted gets more, if its parent has some left.
 *
 *     child's log   budget_requested
 *     parent's log  budget_resolved{child, request, granted, more}     durable before the child is told
 *     child's log   budget_resolved{request, granted, limits}
 *
 * After a crash between two of them the request is still open in the child's log, and the parent's says whether it was
 * answered: it is granted once.
 */
#include "session/task.h"

static int64_t sum(int64_t granted, int64_t more) {
    return granted ? granted + more : 0; /* 0 = no limit, and stays so */
}

hob_limits hob_task_limits(const hob_task *t, const hob_limits *allotment) {
    const hob_kid *k = hob_kids_find(&t->parent->view->kids, hob_str_z(t->id));
    hob_limits l = *allotment;
    if (!k) return l;
    l.turns = sum(l.turns, k->more.turns);
    l.tokens = sum(l.tokens, k->more.tokens);
    l.tool_calls = sum(l.tool_calls, k->more.tool_calls);
    if (l.cost_usd > 0) l.cost_usd += k->more.cost_usd;
    return l;
}

/* What the agent's own definition says is not the parent's to raise. */
static bool is_own(const hob_task *t) {
    const hob_run *r = &t->s->run;
    int64_t own = t->given.agent.max_turns;
    return !strcmp(r->asked.limit, "turns") && own && r->limits.turns >= own;
}

static bool decide(const hob_task *t, hob_limits *more) {
    const hob_run *r = &t->s->run;
    int64_t own = t->given.agent.max_turns;
    *more = (hob_limits){0};
    if (is_own(t) || t->parent->closing || t->stopping) return false;
    if (!hob_run_grant_more(&t->parent->run, hob_str_z(r->asked.limit), r->asked.need, more))
        return false;
    if (own && more->turns) more->turns = HOB_MIN(more->turns, own - r->limits.turns);
    return true;
}

static int say(hob_task *t, bool granted, const hob_limits *more, hob_error *err) {
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, HOB_EVENT_BUDGET_RESOLVED);
    hob_task_envelope(t->parent, hob_str_z(t->id), t->given.call, &d);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "child", hob_str_z(t->id));
    hob_jsonw_kint(&w, "request", (int64_t)t->s->run.asked.seq);
    hob_jsonw_kbool(&w, "granted", granted);
    if (granted) hob_say_limits(&w, "more", more);
    hob_jsonw_object_end(&w);
    return hob_session_append(t->parent, &d, err);
}

static void tell(hob_task *t, const hob_kid *k) {
    hob_input in = {.kind = HOB_INPUT_BUDGET, .approved = k->more.granted};
    in.limits = hob_task_limits(t, &t->allotment);
    t->s->limits = t->given.limits = in.limits;
    hob_session_outcome(t->s, &in);
}

static void on_granted(hob_op *op) {
    hob_task *t = HOB_CONTAINER(op, hob_task, op);
    t->granting = false;
    if (t->dropped || op->rc < 0)
        hob_task_end(t);
    else
        hob_task_changed(t);
}

static void grant(hob_task *t) {
    hob_limits more;
    hob_error err;
    bool granted = decide(t, &more);
    hob_op_prepare(t->parent->rt, &t->op, on_granted);
    t->granting = true;
    int rc = say(t, granted, granted ? &more : NULL, &err);
    if (rc < 0) {
        hob_op_done(&t->op, rc, &err);
        return;
    }
    hob_session_commit(t->parent);
    hob_session_op_after(t->parent, &t->op);
}

void hob_task_answer_request(hob_task *t) {
    const hob_kid *k = hob_kids_find(&t->parent->view->kids, hob_str_z(t->id));
    uint64_t asked = t->s->run.asked.seq;
    if (!asked || !k || asked > t->s->durable || t->s->failed || t->granting) return;
    if (k->more.request == asked)
        tell(t, k);
    else
        grant(t);
}
