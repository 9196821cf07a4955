/*
 * tracker.c - children that a host makes itself: told of here, they stand in the log and can be cancelled like the rest.
 *
 * What is live (whom to tell to stop, remarks) is in memory; that one started and how it ended are events. A session
 * that is opened again after a crash ends those that its host will not end any more.
 */
#include "session/task.h"

#include <hob/subagent.h>

enum { REMARKS = 16, REMARK_MAX = 256 };

struct hob_tracked_child {
    hob_list link;
    char id[129];
    void (*cancel)(const char *id, void *user);
    void *user;
    bool cancelled;
    hob_spent spent;        /* as the host says */
    char *remarks[REMARKS]; /* heap; a ring */
    size_t nremarks;
};

hob_tracker *hob_session_subagent_tracker(hob_session *s) {
    return &s->tracker;
}

static hob_session *session_of(hob_tracker *t) {
    return HOB_CONTAINER(t, hob_session, tracker);
}

hob_tracked_child *hob_tracked_find(const hob_session *s, hob_str id) {
    HOB_LIST_EACH (it, &s->tracker.children) {
        hob_tracked_child *c = HOB_CONTAINER(it, hob_tracked_child, link);
        if (hob_str_eqz(id, c->id)) return c;
    }
    return NULL;
}

static void forget(hob_tracked_child *c) {
    hob_list_remove(&c->link);
    for (size_t i = 0; i < REMARKS; i++) hob_free(c->remarks[i]);
    hob_free(c);
}

void hob_tracker_finish(hob_session *s) {
    while (!hob_list_empty(&s->tracker.children))
        forget(HOB_LIST_FIRST(&s->tracker.children, hob_tracked_child, link));
}

/* ---- events ------------------------------------------------------------------------------------------------- */

/* What one spends that was started while a run was under way is the run's. */
static void begin(hob_session *s, hob_draft *d, hob_jsonw *w, hob_event_type type, hob_str id) {
    bool starts = type == HOB_EVENT_CHILD_STARTED;
    hob_draft_init(d, type);
    if (hob_run_active(&s->run) && (starts || hob_run_has_child(&s->run, id)))
        d->run_id = hob_str_z(s->run.id);
    hob_jsonw_init(w, &d->data);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "child", id);
}

int hob_tracked_say_started(hob_session *s, const hob_tracked_start *x, hob_error *err) {
    hob_draft d;
    hob_jsonw w;
    int rc = s->view->id.n ? HOB_OK : hob_session_say_settings(s, err);
    if (rc < 0) return rc;
    begin(s, &d, &w, HOB_EVENT_CHILD_STARTED, x->id);
    hob_jsonw_kstr(&w, "agent", x->agent);
    hob_jsonw_kint(&w, "depth", x->depth);
    hob_jsonw_kstr(&w, "prompt", x->prompt);
    if (x->turn) hob_jsonw_kint(&w, "turn", x->turn);
    hob_jsonw_kbool(&w, "host", true);
    if (x->limits) hob_task_write_allotment(&w, x->limits);
    hob_jsonw_object_end(&w);
    rc = hob_session_append(s, &d, err);
    if (rc < 0 || !x->turn) return rc;
    begin(s, &d, &w, HOB_EVENT_CHILD_REUSED, x->id);
    hob_jsonw_kstr(&w, "agent", x->agent);
    hob_jsonw_kint(&w, "turn", x->turn);
    hob_jsonw_object_end(&w);
    return hob_session_append(s, &d, err);
}

int hob_tracked_say_ended(hob_session *s, const hob_tracked_end *x, hob_error *err) {
    static const hob_spent nothing = {.cost_known = true};
    const hob_tracked_child *c = hob_tracked_find(s, x->id);
    const hob_kid *k = hob_kids_find(&s->view->kids, x->id);
    const hob_spent *spent = x->spent ? x->spent : c ? &c->spent : &nothing;
    hob_str text = hob_str_first(x->text, hob_utf8_prefix(x->text, HOB_TASK_TEXT_MAX));
    hob_draft d;
    hob_jsonw w;
    begin(s, &d, &w, HOB_EVENT_CHILD_FINISHED, x->id);
    hob_jsonw_kstr(&w, "agent", hob_str_z(k ? k->agent : ""));
    hob_jsonw_kbool(&w, "host", true);
    hob_jsonw_kstr(&w, "status", c && c->cancelled ? HOB_STR("cancelled") : x->status);
    hob_jsonw_kstr_opt(&w, "reason", x->reason);
    hob_usage_write(&w, "usage", &spent->usage);
    hob_jsonw_key(&w, "cost_usd");
    if (spent->cost_known)
        hob_jsonw_double(&w, spent->cost_usd);
    else
        hob_jsonw_null(&w);
    hob_jsonw_kint(&w, "turns", spent->turns);
    hob_jsonw_kint(&w, "tool_calls", spent->tool_calls);
    hob_jsonw_kint(&w, "children", x->children);
    hob_jsonw_kstr_opt(&w, "text", text);
    if (text.n < x->text.n) hob_jsonw_kbool(&w, "truncated", true);
    hob_jsonw_object_end(&w);
    return hob_session_append(s, &d, err);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

typedef struct telling {
    hob_op op;
    const hob_tracked *child;
    hob_str id, status, text;
} telling;

static void conclude(hob_op *op, int rc, const hob_error *err) {
    hob_session_commit(op->s);
    if (rc < 0)
        hob_op_done(op, rc, err);
    else
        hob_session_op_after(op->s, op);
}

static int check_start(hob_session *s, hob_str id, hob_error *err) {
    const hob_kid *k = hob_kids_find(&s->view->kids, id);
    if (!hob_id_valid(id))
        return hob_fail(err, HOB_EINVAL, 0, "\"%.*s\" is no id for a child",
                        HOB_FMT(hob_str_first(id, 140)));
    if (k && k->open) return hob_fail(err, HOB_EEXIST, 0, "the child %.*s is running", HOB_FMT(id));
    if (s->closing) return hob_fail(err, HOB_ECANCELLED, 0, "the session is being closed");
    int rc = hob_session_usable(s, err);
    return rc < 0 ? rc : hob_child_check(s, err);
}

void hob_tracked_add(hob_session *s, hob_str id, void (*cancel)(const char *, void *), void *user) {
    hob_tracked_child *c = HOB_NEW(hob_tracked_child);
    hob_str_out(id, c->id, sizeof c->id);
    c->cancel = cancel;
    c->user = user;
    c->spent.cost_known = true;
    hob_list_push(&s->tracker.children, &c->link);
}

void hob_tracked_drop(hob_session *s, hob_str id) {
    hob_tracked_child *c = hob_tracked_find(s, id);
    if (c) forget(c);
}

static void start_child(hob_op *op) {
    const hob_tracked *x = HOB_CONTAINER(op, telling, op)->child;
    hob_tracked_start how = {.id = hob_str_z(x->id),
                             .agent = hob_str_z(x->agent),
                             .prompt = hob_str_z(x->prompt),
                             .depth = op->s->depth + 1};
    hob_error err;
    int rc = check_start(op->s, how.id, &err);
    if (rc >= 0) rc = hob_tracked_say_started(op->s, &how, &err);
    if (rc >= 0) hob_tracked_add(op->s, how.id, x->cancel, x->user);
    conclude(op, rc, &err);
}

int hob_tracker_start(hob_tracker *t, const hob_tracked *given, hob_error *err) {
    hob_tracked x = HOB_TRACKED_INIT;
    telling o = {.op = {.start = start_child}, .child = &x};
    int rc = given ? hob_take_options(&x, sizeof x, given, given->size, err)
                   : hob_fail(err, HOB_EINVAL, 0, "no child was named");
    return rc < 0 ? rc : hob_session_run(session_of(t), &o.op, err);
}

static void start_progress(hob_op *op) {
    telling *o = HOB_CONTAINER(op, telling, op);
    hob_tracked_child *c = hob_tracked_find(op->s, o->id);
    hob_error err;
    if (!c) {
        hob_op_done(op, hob_fail(&err, HOB_ENOENT, 0, "no such child is running"), &err);
        return;
    }
    char **slot = &c->remarks[c->nremarks++ % REMARKS];
    hob_free(*slot);
    *slot = hob_dupz(hob_str_first(o->text, hob_utf8_prefix(o->text, REMARK_MAX)));
    hob_op_done(op, HOB_OK, NULL);
}

int hob_tracker_progress(hob_tracker *t, const char *id, hob_str remark, hob_error *err) {
    telling o = {.op = {.start = start_progress}, .id = hob_str_z(id), .text = remark};
    return hob_session_run(session_of(t), &o.op, err);
}

typedef struct spending {
    hob_op op;
    hob_str id;
    const hob_tracked_spent *spent;
} spending;

static void start_spent(hob_op *op) {
    const spending *o = HOB_CONTAINER(op, spending, op);
    hob_tracked_child *c = hob_tracked_find(op->s, o->id);
    hob_error err;
    if (!c) {
        hob_op_done(op, hob_fail(&err, HOB_ENOENT, 0, "no such child is running"), &err);
        return;
    }
    c->spent = (hob_spent){
        .turns = o->spent->turns,
        .tool_calls = o->spent->tool_calls,
        .usage = {.input_tokens = o->spent->input_tokens, .output_tokens = o->spent->output_tokens},
        .cost_usd = o->spent->cost_usd,
        .cost_known = o->spent->cost_usd >= 0};
    hob_op_done(op, HOB_OK, NULL);
}

int hob_tracker_spent(hob_tracker *t, const char *id, const hob_tracked_spent *given,
                      hob_error *err) {
    hob_tracked_spent x = HOB_TRACKED_SPENT_INIT;
    spending o = {.op = {.start = start_spent}, .id = hob_str_z(id), .spent = &x};
    int rc = given ? hob_take_options(&x, sizeof x, given, given->size, err)
                   : hob_fail(err, HOB_EINVAL, 0, "nothing was said");
    if (rc >= 0 && (x.turns < 0 || x.tool_calls < 0 || x.input_tokens < 0 || x.output_tokens < 0))
        rc = hob_fail(err, HOB_EINVAL, 0, "what a child has spent is not negative");
    return rc < 0 ? rc : hob_session_run(session_of(t), &o.op, err);
}

static void start_clear(hob_op *op) {
    hob_tracked_child *c = hob_tracked_find(op->s, HOB_CONTAINER(op, telling, op)->id);
    if (c) c->cancel = NULL;
    hob_op_done(op, HOB_OK, NULL);
}

int hob_tracker_clear(hob_tracker *t, const char *id, hob_error *err) {
    telling o = {.op = {.start = start_clear}, .id = hob_str_z(id)};
    return hob_session_run(session_of(t), &o.op, err);
}

static void start_end(hob_op *op) {
    telling *o = HOB_CONTAINER(op, telling, op);
    const hob_kid *k = hob_kids_find(&op->s->view->kids, o->id);
    hob_tracked_end how = {.id = o->id, .status = o->status, .text = o->text};
    hob_error err;
    int rc = hob_session_usable(op->s, &err);
    if (rc >= 0 && (!hob_id_valid(o->id) || (k && !k->host && !k->orphan)))
        rc = hob_fail(&err, HOB_EINVAL, 0, "%.*s is not the host's to end", HOB_FMT(o->id));
    if (rc >= 0 && k && k->ended_seq)
        rc = hob_fail(&err, HOB_EEXIST, 0, "the child %.*s has ended", HOB_FMT(o->id));
    if (rc >= 0 && !op->s->view->id.n) rc = hob_session_say_settings(op->s, &err);
    if (rc >= 0) rc = hob_tracked_say_ended(op->s, &how, &err);
    if (rc >= 0) hob_tracked_drop(op->s, o->id);
    conclude(op, rc, &err);
}

static bool is_status(hob_str word) {
    static const char *const known[] = {"completed", "failed", "cancelled", "interrupted", "limit"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(known); i++)
        if (hob_str_eqz(word, known[i])) return true;
    return false;
}

int hob_tracker_end(hob_tracker *t, const char *id, const char *status, hob_str text,
                    hob_error *err) {
    telling o = {.op = {.start = start_end}, .id = hob_str_z(id), .text = text};
    o.status = hob_str_z(status);
    if (!is_status(o.status))
        return hob_fail(err, HOB_EINVAL, 0,
                        "\"%.*s\" is no way to end: completed, failed, cancelled, "
                        "interrupted or limit",
                        HOB_FMT(o.status));
    return hob_session_run(session_of(t), &o.op, err);
}

/* ---- stopping --------------------------------------------------------------------------------------------------- */

bool hob_tracked_cancel(hob_session *s, hob_str id) {
    hob_tracked_child *c = hob_tracked_find(s, id);
    if (!c || !c->cancel || c->cancelled) return false;
    c->cancelled = true;
    s->rt->depth++;
    c->cancel(c->id, c->user);
    s->rt->depth--;
    return true;
}

bool hob_tracked_cancelled(const hob_session *s, hob_str id) {
    const hob_tracked_child *c = hob_tracked_find(s, id);
    return c && c->cancelled;
}

void hob_tracker_stop(hob_session *s) {
    HOB_LIST_EACH_SAFE (it, &s->tracker.children) {
        hob_tracked_child *c = HOB_CONTAINER(it, hob_tracked_child, link);
        hob_tracked_cancel(s, hob_str_z(c->id));
    }
}

/* Children of the host whose end nobody will say any more: those of another process, and with `all` the rest. */
int hob_tracker_close(hob_session *s, bool all, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; i < s->view->kids.n && rc >= 0; i++) {
        const hob_kid *k = s->view->kids.at[i];
        if (!k->open || !k->host) continue;
        bool live = hob_tracked_find(s, hob_str_z(k->id));
        if (live && !all) continue;
        hob_tracked_end how = {.id = hob_str_z(k->id),
                               .status = live ? HOB_STR("cancelled") : HOB_STR("interrupted")};
        rc = hob_tracked_say_ended(s, &how, err);
    }
    return rc;
}

void hob_tracked_write_remarks(const hob_session *s, hob_str id, hob_jsonw *w) {
    const hob_tracked_child *c = hob_tracked_find(s, id);
    if (!c || !c->nremarks) return;
    hob_jsonw_key(w, "progress");
    hob_jsonw_array(w);
    for (size_t i = c->nremarks > REMARKS ? c->nremarks - REMARKS : 0; i < c->nremarks; i++)
        hob_jsonw_str(w, hob_str_z(c->remarks[i % REMARKS]));
    hob_jsonw_array_end(w);
}
