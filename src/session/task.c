/*
 * task.c - the life of a child, seen from its parent.
 *
 * Every step is taken from the loop itself, never from inside what caused it: the timer `look` stands for "something
 * changed", and looks at where things stand. So it does not matter in which order news arrive, and a child that is
 * opened again after a crash takes the same way as a new one.
 */
#include "session/place.h"

void hob_task_free(hob_task *t) {
    hob_session *parent = t->parent;
    hob_timer_stop(&t->look);
    hob_worktree_op_destroy(t->git);
    hob_list_remove(&t->link);
    hob_task_drop_asks(t);
    hob_policy_destroy(t->given.policy);
    hob_arena_destroy(t->arena);
    hob_free(t);
    if (!parent->let_go) hob_session_kick(parent);
    hob_session_try_release(parent);
}

/* ---- announced --------------------------------------------------------------------------------------------------------- */

static void on_opened(hob_task *t, hob_session *s, int code, const hob_error *err);

static void open_session(hob_task *t) {
    t->stage = HOB_TASK_OPENING;
    if (t->stopping) t->given.opts.on_unfinished = HOB_UNFINISHED_SETTLE;
    hob_session_open_child(t, on_opened);
}

static void on_placed(hob_op *op) {
    hob_task *t = HOB_CONTAINER(op, hob_task, op);
    if (t->dropped || op->rc < 0)
        hob_task_end(t);
    else
        open_session(t);
}

/* An event about its worktree; `then` when it is durable. */
static void say_placed(hob_task *t, const char *state, void (*then)(hob_op *op)) {
    hob_session *p = t->parent;
    hob_error err;
    hob_draft d;
    hob_jsonw w;
    hob_op_prepare(p->rt, &t->op, then);
    hob_draft_init(&d, HOB_EVENT_CHILD_PLACED);
    hob_task_envelope(p, hob_str_z(t->id), t->given.call, &d);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "child", hob_str_z(t->id));
    hob_jsonw_kstr(&w, "state", hob_str_z(state));
    hob_jsonw_object_end(&w);
    int rc = hob_session_append(p, &d, &err);
    if (rc < 0) {
        hob_op_done(&t->op, rc, &err);
        return;
    }
    hob_session_commit(p);
    hob_session_op_after(p, &t->op);
}

void hob_task_placed(hob_task *t, int code, const hob_error *err) {
    if (code < 0)
        hob_task_fail(t, code, err);
    else
        say_placed(t, "made", on_placed);
}

static void place(hob_task *t) {
    hob_error err;
    t->stage = HOB_TASK_PLACING;
    int rc = hob_place_make(t, &err);
    if (rc < 0)
        hob_task_fail(t, rc, &err);
    else if (rc > 0)
        open_session(t);
}

static void on_announced(hob_op *op) {
    hob_task *t = HOB_CONTAINER(op, hob_task, op);
    if (t->dropped || op->rc < 0) {
        hob_task_end(t);
        return;
    }
    if (t->background && t->reply) {
        hob_task_say_started(t->reply, t->id);
        t->reply = NULL;
    }
    if (t->apart)
        place(t);
    else
        open_session(t);
}

static void announce(hob_task *t) {
    hob_session *p = t->parent;
    hob_error err;
    t->stage = HOB_TASK_ANNOUNCED;
    hob_op_prepare(p->rt, &t->op, on_announced);
    int rc = t->known ? HOB_OK : hob_task_announce(t, &err);
    if (rc < 0) {
        hob_op_done(&t->op, rc, &err);
        return;
    }
    hob_session_commit(p);
    hob_session_op_after(p, &t->op);
}

/* ---- before that: where? --------------------------------------------------------------------------------------- */

static void refuse(hob_task *t, const hob_error *err) {
    if (t->reply) hob_task_refuse(t->reply, err);
    t->reply = NULL;
    hob_task_end(t);
}

/* Others may have begun meanwhile, so its part of what is left is taken anew. */
void hob_task_found(hob_task *t, int code, const hob_error *why) {
    hob_error err;
    int rc = code;
    if (rc < 0) err = *why;
    if (rc >= 0) rc = hob_child_move(t->parent, &t->place, t->arena, &t->given, &err);
    if (rc >= 0) rc = hob_task_allot(t, &err);
    if (rc < 0)
        refuse(t, &err);
    else
        announce(t);
}

static void find_place(hob_task *t) {
    hob_error err;
    t->stage = HOB_TASK_FINDING;
    if (hob_place_find(t, &err) < 0) refuse(t, &err);
}

/* ---- at work ------------------------------------------------------------------------------------------------- */

static void stop_now(hob_task *t) {
    hob_input in = {.kind = HOB_INPUT_CANCEL, .ending = t->stopping};
    if (in.ending != HOB_ENDING_ABORT) in.ending = HOB_ENDING_CANCEL;
    hob_session_outcome(t->s, &in);
}

/* Its run is part of the span that the parent's log began with child_started. */
static void trace_child(hob_task *t) {
    const hob_session *p = t->parent;
    const hob_kid *k = hob_kids_find(&p->view->kids, hob_str_z(t->id));
    if (!k || !k->started || (!p->run.trace[0] && !p->rt->telemetry)) return;
    hob_traceparent_write(hob_str_z(p->run.trace), hob_str_z(p->id), hob_str_z(k->run),
                          k->started->seq, t->s->trace);
}

/* One whose log ends before its first message is told what to do; one that has worked goes on, or is at its end. */
static int set_to_work(hob_task *t, hob_error *err) {
    hob_session *s = t->s;
    if (s->view->messages || hob_run_active(&s->run)) return HOB_OK;
    trace_child(t);
    memcpy(s->payer, t->parent->run.payer, sizeof s->payer);
    return hob_session_begin(s, t->prompt, err);
}

/* ---- leaving ---------------------------------------------------------------------------------------------------- */

void hob_task_left(hob_task *t) {
    if (t->failed)
        hob_task_fail(t, t->failed, &t->why);
    else
        hob_task_conclude(t);
}

static void on_unchanged(hob_op *op) {
    hob_task *t = HOB_CONTAINER(op, hob_task, op);
    if (t->dropped || op->rc < 0)
        hob_task_end(t);
    else
        hob_place_remove(t);
}

void hob_task_looked(hob_task *t, bool unchanged) {
    if (unchanged)
        say_placed(t, "unchanged", on_unchanged);
    else
        hob_task_left(t);
}

static void leave(hob_task *t) {
    t->stage = HOB_TASK_LEAVING;
    if (t->apart)
        hob_place_look(t);
    else
        hob_task_left(t);
}

static void fail(hob_task *t, int code, const hob_error *err) {
    t->failed = code;
    hob_fail(&t->why, code, 0, "%s", err && err->message[0] ? err->message : hob_error_text(code));
    leave(t);
}

static void on_opened(hob_task *t, hob_session *s, int code, const hob_error *err) {
    hob_error e;
    t->stage = HOB_TASK_AT_WORK;
    t->s = s;
    if (t->dropped || !s) {
        if (s || t->dropped)
            hob_task_end(t);
        else
            fail(t, code, err);
        return;
    }
    HOB_LIST_EACH_SAFE (it, &t->ops) { /* answers that came early */
        hob_op *op = HOB_CONTAINER(it, hob_op, link);
        hob_list_remove(&op->link);
        op->s = s;
        op->start(op);
    }
    int rc = t->stopping && !s->view->messages ? HOB_OK : set_to_work(t, &e);
    if (rc < 0) {
        fail(t, rc, &e);
        return;
    }
    if (t->stopping) stop_now(t);
    hob_task_changed(t);
}

static bool at_rest(const hob_session *s) {
    return hob_session_idle(s) && s->durable == s->view->last_seq;
}

static void look_at_work(hob_task *t) {
    hob_error err;
    if (t->granting) return; /* comes back */
    if (t->s->failed) {
        fail(t, t->s->failed, &t->s->fail_error);
        return;
    }
    int rc = hob_task_pass_on(t, &err);
    if (rc < 0) return; /* the parent failed, and lets go of it */
    hob_task_answer_request(t);
    if (t->granting) return;
    if (at_rest(t->s) && hob_session_thaw(t->s, NULL)) leave(t);
}

void hob_task_on_look(hob_timer *timer) {
    hob_task *t = HOB_CONTAINER(timer, hob_task, look);
    switch (t->stage) {
    case HOB_TASK_NEW:
        if (t->stopping && !t->known)
            hob_task_end(t); /* never began */
        else if (t->apart && !t->place.folder)
            find_place(t);
        else
            announce(t);
        break;
    case HOB_TASK_AT_WORK:
        if (!t->dropped) look_at_work(t);
        break;
    case HOB_TASK_FINDING:
    case HOB_TASK_ANNOUNCED:
    case HOB_TASK_PLACING:
    case HOB_TASK_OPENING:
    case HOB_TASK_LEAVING:
    case HOB_TASK_ENDED: break;
    }
}

void hob_task_changed(hob_task *t) {
    if (t->stage == HOB_TASK_NEW || t->stage == HOB_TASK_AT_WORK)
        hob_timer_start(&t->look, hob_loop_now(t->parent->rt->loop));
}

void hob_task_stop(hob_task *t, hob_ending how) {
    bool harder = how == HOB_ENDING_ABORT && t->stopping != HOB_ENDING_ABORT;
    if (t->stage == HOB_TASK_ENDED || (t->stopping && !harder)) return;
    t->stopping = how;
    if (t->stage == HOB_TASK_FINDING) {
        hob_worktree_op_destroy(t->git);
        t->git = NULL;
        t->stage = HOB_TASK_NEW;
    }
    if (t->stage == HOB_TASK_PLACING && t->git) hob_worktree_op_cancel(t->git);
    if (t->stage == HOB_TASK_AT_WORK && t->s && !t->dropped) stop_now(t);
    hob_task_changed(t);
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static void on_gone(void *user) {
    hob_task_free(user);
}

void hob_task_end(hob_task *t) {
    hob_session *s = t->s;
    t->stage = HOB_TASK_ENDED;
    hob_timer_stop(&t->look);
    hob_worktree_op_destroy(t->git);
    t->git = NULL;
    if (t->reply) hob_reply_text(t->reply, HOB_OUTCOME_CANCELLED, HOB_STR("cancelled"));
    t->reply = NULL;
    HOB_LIST_EACH_SAFE (it, &t->ops) {
        hob_error err;
        hob_op *op = HOB_CONTAINER(it, hob_op, link);
        hob_list_remove(&op->link);
        hob_fail(&err, HOB_ENOENT, 0, "the sub-agent %s has ended", t->id);
        hob_op_done(op, HOB_ENOENT, &err);
    }
    t->s = NULL;
    if (!s) {
        hob_task_free(t);
        return;
    }
    s->task = NULL;
    hob_session_let_go(s, on_gone, t);
}

/* It waits for git, or for an event to become durable. */
static void drop_waiting(hob_task *t) {
    if (!t->git && t->op.done) return; /* on its way */
    if (!t->git) hob_list_remove(&t->op.link);
    hob_task_end(t);
}

static void drop(hob_task *t) {
    t->dropped = true;
    switch (t->stage) {
    case HOB_TASK_NEW:
    case HOB_TASK_FINDING: hob_task_end(t); break;
    case HOB_TASK_AT_WORK:
        if (t->granting)
            drop_waiting(t);
        else
            hob_task_end(t);
        break;
    case HOB_TASK_ANNOUNCED:
    case HOB_TASK_PLACING:
    case HOB_TASK_LEAVING: drop_waiting(t); break;
    case HOB_TASK_OPENING:
    case HOB_TASK_ENDED: break;
    }
}

void hob_tasks_let_go(hob_session *s) {
    HOB_LIST_EACH_SAFE (it, &s->tasks) {
        drop(HOB_CONTAINER(it, hob_task, link));
    }
}

bool hob_tasks_gone(const hob_session *s) {
    return hob_list_empty(&s->tasks);
}

/* ---- what the log says and nobody does ---------------------------------------------------------------------------- */

/* Its call will start it again, if it is one of a batch that is still being worked off. */
static bool is_called(hob_session *s, const hob_kid *k) {
    const hob_strand *st = hob_session_strand_of(s, hob_str_z(k->call));
    const hob_call *c = st ? hob_run_call(st->run, hob_str_z(k->call)) : NULL;
    return c && !k->background && c->state != HOB_CALL_DONE;
}

static void take_up(hob_session *s, const hob_kid *k) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = hob_event_parse(k->started, a);
    hob_task_start how = {.call = hob_arena_dup(a, hob_str_z(k->call)),
                          .prompt = hob_json_get_str(d, "prompt"),
                          .background = k->background,
                          .known = true};
    hob_error err;
    int rc = hob_task_agent(s, hob_str_z(k->agent), a, &how.agent, &err);
    how.builtin = rc == 1;
    if (rc >= 0) rc = hob_task_begin(s, &how, &err);
    if (rc < 0) hob_task_lost(s, k, rc, &err);
    hob_arena_destroy(a);
}

hob_task *hob_task_get(hob_session *parent, hob_str id) {
    hob_task *t = hob_task_find(parent, id);
    const hob_kid *k = hob_kids_find(&parent->view->kids, id);
    if (t || !k || !k->open || k->host || parent->left_alone || parent->closing) return t;
    take_up(parent, k);
    return hob_task_find(parent, id);
}

void hob_tasks_perform(hob_session *s) {
    hob_error err;
    hob_ending how = s->run.hard ? HOB_ENDING_ABORT : HOB_ENDING_CANCEL;
    for (size_t i = 0; i < s->view->kids.n; i++) {
        const hob_kid *k = s->view->kids.at[i];
        if (!k->open || k->host || is_called(s, k) || hob_task_find(s, hob_str_z(k->id))) continue;
        take_up(s, k);
    }
    uint64_t before = s->view->last_seq;
    if (hob_tracker_close(s, false, &err) >= 0 && s->view->last_seq != before)
        hob_session_commit(s);
    if (!hob_run_stops_children(&s->run)) return;
    HOB_LIST_EACH_SAFE (it, &s->tasks) {
        hob_task_stop(HOB_CONTAINER(it, hob_task, link), how);
    }
}
