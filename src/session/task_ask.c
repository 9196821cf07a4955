/*
 * task_ask.c - what a child asks a person is asked at its parent, once.
 *
 * The child's own log has the question and the answer; the parent's log repeats both, with the child's id before the
 * name of the call ("task-…/m4.0"). The parent of the parent does the same with that, so the root of a tree has all
 * questions of it. An answer goes the other way, one name at a time. After a crash the two logs are compared: what one
 * has and the other lacks is made up for, and nothing is asked twice.
 */
#include "session/task.h"

struct hob_ask {
    hob_list link;
    hob_event *asked, *answered;
    char *call; /* as the child's log has it */
};

/* ---- what the child's log says, in its order ---------------------------------------------------------------- */

static hob_ask *find(hob_task *t, hob_str call) {
    HOB_LIST_EACH (it, &t->asks) {
        hob_ask *a = HOB_CONTAINER(it, hob_ask, link);
        if (!a->answered && hob_str_eqz(call, a->call)) return a;
    }
    return NULL;
}

static void free_ask(hob_ask *a) {
    hob_list_remove(&a->link);
    hob_event_unref(a->asked);
    hob_event_unref(a->answered);
    hob_free(a->call);
    hob_free(a);
}

void hob_task_drop_asks(hob_task *t) {
    while (!hob_list_empty(&t->asks)) free_ask(HOB_LIST_FIRST(&t->asks, hob_ask, link));
}

void hob_task_note(hob_task *t, const hob_event *e, const hob_json *d) {
    hob_ask *a = NULL;
    if (e->type == HOB_EVENT_TOOL_DECIDED || e->type == HOB_EVENT_CHILD_FINISHED)
        t->nobody = t->nobody || hob_json_get_bool(d, "nobody_to_ask", false);
    if (e->type == HOB_EVENT_APPROVAL_RESOLVED && (a = find(t, hob_json_get_str(d, "call"))))
        a->answered = hob_event_ref((hob_event *)e);
    if (e->type != HOB_EVENT_APPROVAL_REQUESTED) return;
    a = HOB_NEW(hob_ask);
    a->asked = hob_event_ref((hob_event *)e);
    a->call = hob_dupz(hob_json_get_str(d, "call"));
    hob_list_push(&t->asks, &a->link);
}

/* ---- into the parent's log ------------------------------------------------------------------------------------- */

static void full_name(const hob_task *t, const hob_ask *a, hob_buf *out) {
    hob_buf_addf(out, "%s/%s", t->id, a->call);
}

static bool is_known(const hob_task *t, hob_str call) {
    const hob_kid *k = hob_kids_find(&t->parent->view->kids, hob_str_z(t->id));
    for (size_t i = 0; k && i < k->nasks; i++)
        if (hob_str_eqz(call, k->asks[i].call)) return true;
    return false;
}

/* The same words, with the longer name. */
static int repeat(hob_task *t, const hob_event *e, hob_str call, hob_error *err) {
    static const char *const copied[] = {"tool",   "args",   "args_hash", "question",
                                         "schema", "reason", "approved",  "answer",
                                         "by",     "rule",   "class"};
    hob_arena *arena = hob_arena_create(0);
    const hob_json *from = hob_event_parse(e, arena), *v;
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, e->type);
    hob_task_envelope(t->parent, hob_str_z(t->id), t->given.call, &d);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "call", call);
    for (size_t i = 0; i < HOB_ARRAY_LEN(copied); i++)
        if ((v = hob_json_get(from, copied[i]))) hob_jsonw_kraw(&w, copied[i], hob_json_raw(v));
    hob_jsonw_kstr(&w, "child", hob_str_z(t->id));
    hob_jsonw_kstr(&w, "agent", t->given.agent.name);
    hob_jsonw_object_end(&w);
    hob_arena_destroy(arena);
    return hob_session_append(t->parent, &d, err);
}

/* *gone: both sides know how it ended. */
static int settle(hob_task *t, const hob_ask *a, bool *gone, hob_error *err) {
    const hob_event *last = a->answered ? a->answered : a->asked;
    hob_buf name;
    int rc = HOB_OK;
    *gone = false;
    if (last->seq > t->s->durable) return HOB_OK;
    hob_buf_init(&name, 4096);
    full_name(t, a, &name);
    bool known = is_known(t, hob_buf_str(&name));
    if (!a->answered && !known) rc = repeat(t, a->asked, hob_buf_str(&name), err);
    if (a->answered && known) rc = repeat(t, a->answered, hob_buf_str(&name), err);
    *gone = a->answered != NULL;
    hob_buf_finish(&name);
    return rc;
}

int hob_task_pass_on(hob_task *t, hob_error *err) {
    hob_session *p = t->parent;
    uint64_t before = p->view->last_seq;
    HOB_LIST_EACH_SAFE (it, &t->asks) {
        hob_ask *a = HOB_CONTAINER(it, hob_ask, link);
        bool gone;
        int rc = settle(t, a, &gone, err);
        if (rc < 0) return rc;
        if (gone) free_ask(a);
    }
    if (p->view->last_seq != before) {
        hob_session_commit(p);
        hob_session_kick(p);
    }
    return HOB_OK;
}

/* ---- and back ----------------------------------------------------------------------------------------------------- */

hob_task *hob_task_of_call(hob_session *parent, hob_str call, hob_str *rest) {
    ptrdiff_t slash = hob_str_chr(call, '/');
    if (slash < 0) return NULL;
    hob_task *t = hob_task_get(parent, hob_str_first(call, (size_t)slash));
    if (!t || t->stage == HOB_TASK_ENDED) return NULL;
    *rest = hob_str_skip(call, (size_t)slash + 1);
    return t;
}
