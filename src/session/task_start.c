/*
 * task_start.c - a child is made, with its part of what its parent may spend, and announced in the parent's log.
 */
#include "base/digest.h"
#include "session/place.h"

enum { ID_DIGITS = 32 };

/* ---- making one --------------------------------------------------------------------------------------------- */

/* From its parent and the call, so that it is found again; whoever chooses the id of a session cannot choose the ids of
 * its children, and no other session has children of these names. */
void hob_task_id(hob_session *parent, hob_str call, char out[129]) {
    hob_buf b;
    hob_buf_init(&b, 1024);
    hob_buf_addf(&b, "%s/%.*s", parent->id, HOB_FMT(call));
    memcpy(out, "task-", 5);
    hob_digest(HOB_STR_NULL, hob_buf_str(&b), out + 5, ID_DIGITS);
    hob_buf_finish(&b);
}

hob_task *hob_task_find(hob_session *parent, hob_str id) {
    HOB_LIST_EACH (it, &parent->tasks) {
        hob_task *t = HOB_CONTAINER(it, hob_task, link);
        if (hob_str_eqz(id, t->id)) return t;
    }
    return NULL;
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
    hob_timer_init(&t->look, parent->rt->loop, hob_task_on_look);
    hob_list_push(&parent->tasks, &t->link);
    return t;
}

/* What was granted before the program stopped still is, and where it works. */
static void take_grant(hob_task *t) {
    const hob_kid *k = hob_kids_find(&t->parent->view->kids, hob_str_z(t->id));
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = k && k->started ? hob_event_parse(k->started, a) : NULL;
    const hob_json *part = hob_json_get(d, "allotment"), *place = hob_json_get(d, "worktree");
    t->apart = place && hob_place_read(place, t->arena, &t->place);
    t->given.limits = (hob_limits){.turns = hob_json_get_int(part, "turns", 0),
                                   .tokens = hob_json_get_int(part, "tokens", 0),
                                   .tool_calls = hob_json_get_int(part, "tool_calls", 0),
                                   .cost_usd = hob_json_get_double(part, "cost_usd", 0)};
    t->allotment = t->given.limits;
    t->given.limits = hob_task_limits(t, &t->allotment);
    hob_arena_destroy(a);
}

/* A part of what is left, unless the definition says less. */
int hob_task_allot(hob_task *t, hob_error *err) {
    hob_session *p = t->parent;
    int64_t own_turns = t->given.agent.max_turns;
    const char *none = hob_run_grant(&p->run, hob_session_now(p), &t->given.limits);
    if (none) return hob_fail(err, HOB_ELIMIT, 0, "nothing is left of the run's limit: %s", none);
    if (own_turns && (!t->given.limits.turns || own_turns < t->given.limits.turns))
        t->given.limits.turns = own_turns;
    t->allotment = t->given.limits;
    return HOB_OK;
}

int hob_task_begin(hob_session *parent, const hob_task_start *how, hob_error *err) {
    int rc = how->known ? HOB_OK : hob_child_check(parent, err);
    if (rc < 0) return rc;
    hob_task *t = make(parent, how);
    hob_definition agent = hob_definition_copy(t->arena, &how->agent);
    hob_child_inherit(parent, &agent, t->arena, &t->given);
    t->given.builtin = how->builtin;
    t->given.call = hob_arena_dup(t->arena, how->call);
    t->apart = how->apart;
    if (how->known)
        take_grant(t);
    else
        rc = hob_task_allot(t, err);
    if (rc >= 0 && how->known && t->apart)
        rc = hob_child_move(parent, &t->place, t->arena, &t->given, err);
    if (rc < 0) {
        hob_task_free(t);
        return rc;
    }
    t->given.opts.choice = HOB_SESSION_OPEN;
    t->reply = how->reply;
    hob_task_changed(t);
    return HOB_OK;
}

/* ---- child_started ----------------------------------------------------------------------------------------------- */

void hob_task_write_allotment(hob_jsonw *w, const hob_limits *l) {
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

int hob_task_announce(hob_task *t, hob_error *err) {
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
    hob_task_write_allotment(&w, &t->given.limits);
    if (t->apart) {
        hob_jsonw_key(&w, "worktree");
        hob_place_write(&t->place, &w);
    }
    hob_jsonw_object_end(&w);
    return hob_session_append(p, &d, err);
}
