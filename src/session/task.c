/*
 * task.c - the life of a child, seen from its parent.
 *
 * Every step is taken from the loop itself, never from inside what caused it: the timer `look` stands for "something
 * changed", and looks at where things stand. So it does not matter in which order news arrive, and a child that is
 * opened again after a crash takes the same way as a new one.
 */
#include "session/task.h"

static void on_look(hob_timer *timer);

/* ---- making one --------------------------------------------------------------------------------------------- */

void hob_task_id(hob_session *parent, hob_str call, char out[129]) {
    hob_buf b;
    hob_buf_init(&b, 1024);
    hob_buf_addf(&b, "%s/%.*s", parent->id, HOB_FMT(call));
    uint64_t there = hob_str_hash(hob_buf_str(&b));
    hob_buf_reset(&b);
    hob_buf_addf(&b, "%.*s/%s", HOB_FMT(call), parent->id);
    uint64_t back = hob_str_hash(hob_buf_str(&b));
    hob_buf_finish(&b);
    snprintf(out, 129, "task-%016llx%08llx", (unsigned long long)there,
             (unsigned long long)back & 0xffffffff);
}

hob_task *hob_task_find(hob_session *parent, hob_str id) {
    HOB_LIST_EACH (it, &parent->tasks) {
        hob_task *t = HOB_CONTAINER(it, hob_task, link);
        if (hob_str_eqz(id, t->id)) return t;
    }
    return NULL;
}

static void free_task(hob_task *t) {
    hob_session *parent = t->parent;
    hob_timer_stop(&t->look);
    hob_list_remove(&t->link);
    hob_task_drop_asks(t);
    hob_policy_destroy(t->given.policy);
    hob_arena_destroy(t->arena);
    hob_free(t);
    if (!parent->let_go) hob_session_kick(parent);
    hob_session_try_release(parent);
}

static hob_task *make(hob_session *parent, const hob_task_start *how) {
    hob_task *t = HOB_NEW(hob_task);
    t->parent = parent;
    t->arena = hob_arena_create(0);
    t->background = how->background;
    t->known = how->known;
    t->prompt = hob_arena_dup(t->arena, how->prompt);
    hob_task_id(parent, how->call, t->id);
    hob_list_init(&t->asks);
    hob_list_init(&t->ops);
    hob_timer_init(&t->look, parent->rt->loop, on_look);
    hob_list_push(&parent->tasks, &t->link);
    return t;
}

/* What was granted before the program stopped still is. */
static void allot_again(hob_task *t) {
    const hob_kid *k = hob_kids_find(&t->parent->view->kids, hob_str_z(t->id));
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = k && k->started ? hob_event_parse(k->started, a) : NULL;
    const hob_json *part = hob_json_get(d, "allotment");
    t->given.limits = (hob_limits){.turns = hob_json_get_int(part, "turns", 0),
                                   .tokens = hob_json_get_int(part, "tokens", 0),
                                   .tool_calls = hob_json_get_int(part, "tool_calls", 0),
                                   .cost_usd = hob_json_get_double(part, "cost_usd", 0)};
    hob_arena_destroy(a);
}

/* A part of what is left, unless the definition says less. */
static int allot(hob_task *t, hob_error *err) {
    hob_session *p = t->parent;
    int64_t own_turns = t->given.agent.max_turns;
    if (t->known) {
        allot_again(t);
        return HOB_OK;
    }
    const char *none = hob_run_grant(&p->run, hob_session_now(p), &t->given.limits);
    if (none) return hob_fail(err, HOB_ELIMIT, 0, "nothing is left of the run's limit: %s", none);
    if (own_turns && (!t->given.limits.turns || own_turns < t->given.limits.turns))
        t->given.limits.turns = own_turns;
    return HOB_OK;
}

/* What it points to lives with the task. */
static void copy_agent(hob_definition *x, hob_arena *a) {
    hob_str *const words[] = {&x->name, &x->description, &x->text, &x->model, &x->permission_mode};
    for (size_t i = 0; i < HOB_ARRAY_LEN(words); i++) *words[i] = hob_arena_dup(a, *words[i]);
    x->tools = hob_strs_dup(a, x->tools);
    x->disallowed_tools = hob_strs_dup(a, x->disallowed_tools);
    x->skills = hob_strs_dup(a, x->skills);
}

int hob_task_begin(hob_session *parent, const hob_task_start *how, hob_error *err) {
    hob_definition agent = how->agent;
    int rc = how->known ? HOB_OK : hob_child_check(parent, err);
    if (rc < 0) return rc;
    hob_task *t = make(parent, how);
    copy_agent(&agent, t->arena);
    hob_child_inherit(parent, &agent, t->arena, &t->given);
    t->given.builtin = how->builtin;
    t->given.call = hob_arena_dup(t->arena, how->call);
    rc = allot(t, err);
    if (rc < 0) {
        free_task(t);
        return rc;
    }
    t->given.opts.choice = HOB_SESSION_OPEN;
    t->reply = how->reply;
    hob_task_changed(t);
    return HOB_OK;
}

/* ---- announced ----------------------------------------------------------------------------------------------- */

static void write_allotment(hob_jsonw *w, const hob_limits *l) {
    if (!l->turns && !l->tokens && !l->tool_calls && l->cost_usd <= 0) return;
    hob_jsonw_key(w, "allotment");
    hob_jsonw_object(w);
    if (l->turns) hob_jsonw_kint(w, "turns", l->turns);
    if (l->tokens) hob_jsonw_kint(w, "tokens", l->tokens);
    if (l->tool_calls) hob_jsonw_kint(w, "tool_calls", l->tool_calls);
    if (l->cost_usd > 0) {
        hob_jsonw_key(w, "cost_usd");
        hob_jsonw_double(w, l->cost_usd);
    }
    hob_jsonw_object_end(w);
}

/* What an agent of a team started is that agent's: it waits for it, and hears of its end. */
void hob_task_envelope(hob_session *parent, hob_str child, hob_str call, hob_draft *d) {
    const hob_kid *k = hob_kids_find(&parent->view->kids, child);
    const hob_strand *st = hob_session_strand_of(parent, call);
    d->run_id = hob_str_z(parent->run.id);
    if (k && k->started) {
        d->agent = k->started->agent;
        d->branch = k->started->branch;
    } else if (!k && st && hob_strand_is_part(st)) {
        d->agent = hob_str_z(st->agent);
        d->branch = hob_str_z(st->branch);
    }
}

static int say_started(hob_task *t, hob_error *err) {
    hob_session *p = t->parent;
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, HOB_EVENT_CHILD_STARTED);
    hob_task_envelope(p, hob_str_z(t->id), t->given.call, &d);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "child", hob_str_z(t->id));
    hob_jsonw_kstr(&w, "agent", t->given.agent.name);
    hob_jsonw_kint(&w, "depth", t->given.depth);
    hob_jsonw_kstr(&w, "prompt", t->prompt);
    hob_jsonw_kstr_opt(&w, "call", t->given.call);
    if (t->background) hob_jsonw_kbool(&w, "background", true);
    write_allotment(&w, &t->given.limits);
    hob_jsonw_object_end(&w);
    return hob_session_append(p, &d, err);
}

static void on_opened(hob_task *t, hob_session *s, int code, const hob_error *err);

static void open_session(hob_task *t) {
    t->stage = HOB_TASK_OPENING;
    if (t->stopping) t->given.opts.on_unfinished = HOB_UNFINISHED_SETTLE;
    hob_session_open_child(t, on_opened);
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
    open_session(t);
}

static void announce(hob_task *t) {
    hob_session *p = t->parent;
    hob_error err;
    t->stage = HOB_TASK_ANNOUNCED;
    hob_op_prepare(p->rt, &t->op, on_announced);
    int rc = t->known ? HOB_OK : say_started(t, &err);
    if (rc < 0) {
        hob_op_done(&t->op, rc, &err);
        return;
    }
    hob_session_commit(p);
    hob_session_op_after(p, &t->op);
}

/* ---- at work ------------------------------------------------------------------------------------------------- */

static void stop_now(hob_task *t) {
    hob_input in = {.kind = HOB_INPUT_CANCEL, .ending = t->stopping};
    if (in.ending != HOB_ENDING_ABORT) in.ending = HOB_ENDING_CANCEL;
    hob_session_outcome(t->s, &in);
}

/* One whose log ends before its first message is told what to do; one that has worked goes on, or is at its end. */
static int set_to_work(hob_task *t, hob_error *err) {
    hob_session *s = t->s;
    if (s->view->messages || hob_run_active(&s->run)) return HOB_OK;
    return hob_session_begin(s, t->prompt, err);
}

static void on_opened(hob_task *t, hob_session *s, int code, const hob_error *err) {
    hob_error e;
    t->stage = HOB_TASK_AT_WORK;
    t->s = s;
    if (t->dropped || !s) {
        if (s || t->dropped)
            hob_task_end(t);
        else
            hob_task_fail(t, code, err);
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
        hob_task_fail(t, rc, &e);
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
    if (t->s->failed) {
        hob_task_fail(t, t->s->failed, &t->s->fail_error);
        return;
    }
    int rc = hob_task_pass_on(t, &err);
    if (rc < 0) return; /* the parent failed, and lets go of it */
    if (at_rest(t->s) && hob_session_thaw(t->s, NULL)) hob_task_conclude(t);
}

static void on_look(hob_timer *timer) {
    hob_task *t = HOB_CONTAINER(timer, hob_task, look);
    switch (t->stage) {
    case HOB_TASK_NEW:
        if (t->stopping && !t->known)
            hob_task_end(t); /* never began */
        else
            announce(t);
        break;
    case HOB_TASK_AT_WORK:
        if (!t->dropped) look_at_work(t);
        break;
    case HOB_TASK_ANNOUNCED:
    case HOB_TASK_OPENING:
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
    if (t->stage == HOB_TASK_AT_WORK && t->s && !t->dropped) stop_now(t);
    hob_task_changed(t);
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static void on_gone(void *user) {
    free_task(user);
}

void hob_task_end(hob_task *t) {
    hob_session *s = t->s;
    t->stage = HOB_TASK_ENDED;
    hob_timer_stop(&t->look);
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
        free_task(t);
        return;
    }
    s->task = NULL;
    hob_session_let_go(s, on_gone, t);
}

static void drop(hob_task *t) {
    t->dropped = true;
    switch (t->stage) {
    case HOB_TASK_NEW:
    case HOB_TASK_AT_WORK: hob_task_end(t); break;
    case HOB_TASK_ANNOUNCED:
        if (t->op.done) break; /* on its way */
        hob_list_remove(&t->op.link);
        hob_task_end(t);
        break;
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
