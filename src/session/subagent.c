/*
 * subagent.c - a conversation that a host holds with one agent, turn after turn (seed: SubAgentSession).
 *
 * Underneath is a session. What this adds happens on the loop: the bracket around each turn, the verdict on it, and the
 * way back if it did not complete (branch_moved: the log keeps what happened, the conversation goes on from before).
 * The end is said when the session has come to rest, whether or not anybody waits for it.
 */
#include "session/subagent.h"

/* ---- the bracket ------------------------------------------------------------------------------------------- */

/* For the sink: what the parent's log gets, with or without a parent. */
static void tell(hob_subagent *a, hob_event_type type, const char *status) {
    hob_draft d;
    hob_jsonw w;
    hob_event *e;
    if (!a->on_event) return;
    hob_draft_init(&d, type);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "child", hob_str_z(a->s->id));
    hob_jsonw_kstr(&w, "agent", hob_str_z(a->name));
    if (type != HOB_EVENT_CHILD_FINISHED) hob_jsonw_kint(&w, "turn", a->turns);
    if (type == HOB_EVENT_CHILD_STARTED) hob_jsonw_kint(&w, "depth", a->parent_depth + 1);
    if (status) hob_jsonw_kstr(&w, "status", hob_str_z(status));
    hob_jsonw_object_end(&w);
    int rc = hob_event_encode(&d, hob_str_z(a->parent ? a->parent->id : a->s->id), 0,
                              hob_session_now(a->s), &e, NULL);
    hob_draft_finish(&d);
    if (rc < 0) return;
    a->rt->depth++;
    a->on_event(a, e, a->user);
    a->rt->depth--;
    hob_event_unref(e);
}

void hob_subagent_on_event(hob_session *s, hob_event *e, void *user) {
    hob_subagent *a = user;
    (void)s;
    a->on_event(a, e, a->user);
}

static void cancel_from_parent(const char *id, void *user) {
    hob_subagent *a = user;
    (void)id;
    hob_session_outcome(a->s, &(hob_input){.kind = HOB_INPUT_CANCEL, .ending = HOB_ENDING_CANCEL});
}

static int say_started(hob_subagent *a, hob_str text, hob_error *err) {
    hob_tracked_start x = {.id = hob_str_z(a->s->id),
                           .agent = hob_str_z(a->name),
                           .prompt = text,
                           .depth = a->parent_depth + 1,
                           .turn = a->turns,
                           .limits = &a->granted};
    int rc = a->parent ? hob_tracked_say_started(a->parent, &x, err) : HOB_OK;
    if (rc < 0) return rc;
    if (a->parent) {
        hob_tracked_add(a->parent, x.id, cancel_from_parent, a);
        hob_session_commit(a->parent);
    }
    tell(a, HOB_EVENT_CHILD_STARTED, NULL);
    if (a->turns) tell(a, HOB_EVENT_CHILD_REUSED, NULL);
    return HOB_OK;
}

static void say_ended(hob_subagent *a, hob_str status, hob_str reason) {
    char word[16];
    hob_error err;
    hob_tracked_end x = {.id = hob_str_z(a->s->id),
                         .status = status,
                         .reason = reason,
                         .text = a->result ? hob_result_text(a->result) : HOB_STR_NULL,
                         .spent = &a->s->run.spent,
                         .children = hob_kids_in_all(&a->s->view->kids)};
    hob_str_out(status, word, sizeof word);
    if (a->parent && !a->parent->let_go) {
        if (hob_tracked_say_ended(a->parent, &x, &err) < 0)
            hob_log(HOB_LOG_WARN, "session", "%s: %s", a->parent->id, err.message);
        hob_tracked_drop(a->parent, x.id);
        hob_session_commit(a->parent);
    }
    tell(a, HOB_EVENT_CHILD_FINISHED, word);
}

/* ---- a turn -------------------------------------------------------------------------------------------------- */

static int go_back(hob_subagent *a, hob_error *err) {
    hob_session *s = a->s;
    char to[24] = "";
    hob_draft d;
    hob_jsonw w;
    if (hob_history_leaf(s->view->history) == a->before) return HOB_OK;
    if (a->before) snprintf(to, sizeof to, "e%llu", (unsigned long long)a->before);
    hob_draft_init(&d, HOB_EVENT_BRANCH_MOVED);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "to", hob_str_z(to));
    hob_jsonw_object_end(&w);
    int rc = hob_session_append(s, &d, err);
    hob_session_commit(s);
    return rc;
}

static void end_turn(hob_subagent *a, bool completed) {
    pthread_mutex_lock(&a->rt->lock);
    a->busy = false;
    a->turns += completed;
    pthread_cond_broadcast(&a->rt->cond);
    pthread_mutex_unlock(&a->rt->lock);
}

void hob_subagent_on_look(hob_timer *t) {
    hob_subagent *a = HOB_CONTAINER(t, hob_subagent, look);
    hob_session *s = a->s;
    hob_error err;
    if (!a->busy || !s) return;
    bool rests = hob_session_idle(s) && s->durable == s->view->last_seq;
    if (!s->failed && (!rests || !hob_session_thaw(s, NULL))) return;
    hob_result_destroy(a->result);
    a->result = hob_session_result(s);
    hob_str status = hob_result_status(a->result);
    bool completed = hob_str_eqz(status, "completed");
    const char *why = completed ? "" : hob_error_text(hob_result_code(a->result));
    if (!completed && !(a->flags & HOB_SUBAGENT_KEEP) && !s->failed && go_back(a, &err) < 0)
        hob_log(HOB_LOG_WARN, "session", "%s: %s", s->id, err.message);
    say_ended(a, status, hob_str_z(why));
    end_turn(a, completed);
}

void hob_subagent_changed(hob_subagent *a) {
    if (a->busy) hob_timer_start(&a->look, hob_loop_now(a->rt->loop));
}

typedef struct sending {
    hob_op op;
    hob_subagent *a;
    hob_str text;
} sending;

static int check_turn(hob_subagent *a, hob_str text, hob_error *err) {
    if (a->parent_depth + 1 > a->max_depth)
        return hob_fail(err, HOB_EDEPTH, a->max_depth,
                        "the sub-agent %s would be %d deep, and %d is the cap", a->name,
                        a->parent_depth + 1, a->max_depth);
    if (a->busy || !hob_session_idle(a->s))
        return hob_fail(err, HOB_EBUSY, 0, "the sub-agent %s is at work: wait, steer or cancel it",
                        a->name);
    if (!hob_str_trim(text).n) return hob_fail(err, HOB_EINVAL, 0, "the message is empty");
    int rc = hob_session_usable(a->s, err);
    if (rc >= 0 && a->parent) rc = hob_session_usable(a->parent, err);
    if (rc >= 0 && a->parent && a->parent->closing)
        rc = hob_fail(err, HOB_ECANCELLED, 0, "the parent is being closed");
    if (rc >= 0 && a->parent) rc = hob_child_check(a->parent, err);
    return rc;
}

/* Its own limits for this turn, or its part of what the parent's run has left, whichever is less. */
static int allot(hob_subagent *a, hob_error *err) {
    hob_session *p = a->parent;
    hob_limits l = a->own, g = {0};
    a->granted = g;
    if (p && hob_run_active(&p->run)) {
        const char *none = hob_run_grant(&p->run, hob_session_now(p), &g);
        if (none)
            return hob_fail(err, HOB_ELIMIT, 0, "nothing is left of the run's limit: %s", none);
        a->granted = g;
        if (g.turns && (!l.turns || g.turns < l.turns)) l.turns = g.turns;
        if (g.tokens && (!l.tokens || g.tokens < l.tokens)) l.tokens = g.tokens;
        if (g.tool_calls && (!l.tool_calls || g.tool_calls < l.tool_calls))
            l.tool_calls = g.tool_calls;
        if (g.ms && (!l.ms || g.ms < l.ms)) l.ms = g.ms;
        if (g.cost_usd > 0 && (l.cost_usd <= 0 || g.cost_usd < l.cost_usd)) l.cost_usd = g.cost_usd;
    }
    a->s->limits = l;
    return HOB_OK;
}

static void start_turn(hob_op *op) {
    sending *m = HOB_CONTAINER(op, sending, op);
    hob_subagent *a = m->a;
    hob_error err;
    int rc = check_turn(a, m->text, &err);
    if (rc >= 0 && !hob_session_thaw(a->s, op)) return; /* comes back when it is all there */
    if (rc >= 0) rc = allot(a, &err);
    if (rc >= 0) a->before = hob_history_leaf(a->s->view->history);
    if (rc >= 0) rc = say_started(a, m->text, &err);
    if (rc < 0) {
        hob_op_done(op, rc, &err);
        return;
    }
    pthread_mutex_lock(&a->rt->lock);
    a->busy = true;
    pthread_mutex_unlock(&a->rt->lock);
    hob_result_destroy(a->result);
    a->result = NULL;
    if (a->parent) memcpy(a->s->payer, a->parent->run.payer, sizeof a->s->payer);
    rc = hob_session_begin(a->s, m->text, &err);
    if (rc < 0) {
        say_ended(a, HOB_STR("failed"), hob_str_z(err.message));
        end_turn(a, false);
        hob_op_done(op, rc, &err);
        return;
    }
    hob_session_op_after(a->s, op);
}

int hob_subagent_start(hob_subagent *a, hob_str text, hob_error *err) {
    sending m = {.op = {.start = start_turn}, .a = a, .text = text};
    return hob_session_run(a->s, &m.op, err);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

static bool is_over(void *user) {
    return !((hob_subagent *)user)->busy;
}

typedef struct taking {
    hob_op op;
    hob_subagent *a;
    hob_result *result;
} taking;

static void start_take(hob_op *op) {
    taking *t = HOB_CONTAINER(op, taking, op);
    t->result = t->a->result;
    t->a->result = NULL;
    hob_op_done(op, HOB_OK, NULL);
}

int hob_subagent_wait(hob_subagent *a, int64_t timeout_ms, hob_result **out, hob_error *err) {
    taking t = {.op = {.start = start_take}, .a = a};
    int rc = hob_wait_for(a->rt, is_over, a, timeout_ms);
    if (rc < 0) return hob_fail(err, rc, 0, "%s", hob_error_text(rc));
    rc = hob_session_run(a->s, &t.op, err);
    if (rc < 0) return rc;
    if (!t.result) return hob_fail(err, HOB_EIDLE, 0, "nothing was sent, or its end was taken");
    if (out)
        *out = t.result;
    else
        hob_result_destroy(t.result);
    return HOB_OK;
}

int hob_subagent_send(hob_subagent *a, hob_str text, int64_t timeout_ms, hob_result **out,
                      hob_error *err) {
    hob_result *r = NULL;
    int rc = hob_subagent_start(a, text, err);
    if (rc >= 0) rc = hob_subagent_wait(a, timeout_ms, &r, err);
    if (rc < 0) return rc;
    rc = hob_result_code(r);
    if (rc < 0)
        hob_fail(err, rc, 0, "the sub-agent %s did not complete: %.*s", a->name,
                 HOB_FMT(hob_result_status(r)));
    if (out)
        *out = r;
    else
        hob_result_destroy(r);
    return rc;
}

/* ---- the rest ----------------------------------------------------------------------------------------------------- */

int hob_subagent_next_event(hob_subagent *a, int64_t timeout_ms, hob_event **out) {
    return hob_session_next_event(a->s, timeout_ms, out);
}

int hob_subagent_steer(hob_subagent *a, hob_str text, hob_error *err) {
    return hob_session_steer(a->s, text, err);
}

int hob_subagent_cancel(hob_subagent *a, hob_error *err) {
    return hob_session_cancel(a->s, HOB_QUEUED_RETURN, err);
}

typedef struct deepening {
    hob_op op;
    hob_subagent *a;
    int depth;
} deepening;

static void start_depth(hob_op *op) {
    deepening *d = HOB_CONTAINER(op, deepening, op);
    d->a->parent_depth = HOB_MAX(d->depth, 0);
    hob_op_done(op, HOB_OK, NULL);
}

void hob_subagent_with_parent_depth(hob_subagent *a, int depth) {
    deepening d = {.op = {.start = start_depth}, .a = a, .depth = depth};
    hob_session_run(a->s, &d.op, NULL);
}

hob_session *hob_subagent_session(hob_subagent *a) {
    return a->s;
}

hob_agent *hob_subagent_subagent(hob_subagent *a) {
    return a->agent;
}

int hob_subagent_turns(hob_subagent *a) {
    pthread_mutex_lock(&a->rt->lock);
    int n = a->turns;
    pthread_mutex_unlock(&a->rt->lock);
    return n;
}

static void start_reset(hob_op *op) {
    hob_subagent *a = HOB_CONTAINER(op, sending, op)->a;
    hob_error err;
    int rc = HOB_OK;
    if (a->busy)
        rc = hob_fail(&err, HOB_EBUSY, 0, "the sub-agent %s is at work: cancel it first", a->name);
    if (rc >= 0 && !hob_session_thaw(a->s, op)) return;
    a->before = 0;
    if (rc >= 0) rc = go_back(a, &err);
    if (rc < 0) {
        hob_op_done(op, rc, &err);
        return;
    }
    pthread_mutex_lock(&a->rt->lock);
    a->turns = 0;
    pthread_mutex_unlock(&a->rt->lock);
    hob_session_op_after(a->s, op);
}

int hob_subagent_reset(hob_subagent *a, hob_error *err) {
    sending m = {.op = {.start = start_reset}, .a = a};
    return hob_session_run(a->s, &m.op, err);
}
