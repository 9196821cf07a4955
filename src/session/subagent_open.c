/*
 * subagent_open.c - making a conversation, looking at it, and taking it down.
 */
#include "session/subagent.h"

#include "session/definitions.h"

/* ---- making one ------------------------------------------------------------------------------------------------ */

typedef struct inheriting {
    hob_op op;
    hob_subagent *a;
    const char *agent_name;
} inheriting;

/* Rights are looked at where they live. */
static void start_inherit(hob_op *op) {
    inheriting *i = HOB_CONTAINER(op, inheriting, op);
    hob_subagent *a = i->a;
    hob_str name = hob_str_z(i->agent_name ? i->agent_name : "general");
    hob_definition x;
    hob_error err;
    int rc = hob_task_agent(op->s, name, a->arena, &x, &err);
    bool builtin = rc == 1;
    if (rc >= 0) rc = hob_task_check_place(&x, &err);
    if (rc >= 0) {
        hob_child_inherit(op->s, &x, a->arena, &a->given);
        a->given.builtin = builtin;
        if (a->parent_depth < 0) a->parent_depth = op->s->depth;
        a->given.depth = a->parent_depth + 1;
    }
    hob_op_done(op, rc, &err);
}

static int open_for_parent(hob_subagent *a, const hob_subagent_opts *o, hob_error *err) {
    inheriting i = {.op = {.start = start_inherit}, .a = a, .agent_name = o->agent_name};
    int rc = hob_session_run(o->parent, &i.op, err);
    if (rc < 0) return rc;
    a->given.opts.team = o->agent;
    if (o->session) a->given.opts.choice = o->session->choice;
    if (o->session) a->given.opts.id = o->session->id;
    return hob_session_create_for(a->rt, &a->given.opts, &a->given, &a->s, err);
}

static int open_alone(hob_subagent *a, const hob_subagent_opts *o, hob_error *err) {
    hob_session_opts so = HOB_SESSION_OPTS_INIT;
    int rc =
        o->session ? hob_take_options(&so, sizeof so, o->session, o->session->size, err) : HOB_OK;
    if (rc < 0) return rc;
    if (o->agent) so.team = o->agent;
    if (o->agent_name) so.agent_name = o->agent_name;
    if (a->parent_depth < 0) a->parent_depth = 0;
    return hob_session_create(a->rt, &so, &a->s, err);
}

static void start_attach(hob_op *op) {
    hob_subagent *a = op->user;
    op->s->conversation = a;
    a->own = op->s->limits;
    hob_op_done(op, HOB_OK, NULL);
}

static int attach(hob_subagent *a, hob_error *err) {
    hob_op op = {.start = start_attach, .user = a};
    int rc = hob_session_run(a->s, &op, err);
    if (rc >= 0 && a->on_event) rc = hob_session_on_event(a->s, hob_subagent_on_event, a);
    return rc;
}

static void free_subagent(hob_subagent *a) {
    hob_agent_unref(a->agent);
    hob_policy_destroy(a->given.policy);
    hob_result_destroy(a->result);
    hob_arena_destroy(a->arena);
    hob_free(a);
}

int hob_subagent_create(hob_runtime *rt, const hob_subagent_opts *given, hob_subagent **out,
                        hob_error *err) {
    hob_subagent_opts o = HOB_SUBAGENT_OPTS_INIT;
    int rc = given ? hob_take_options(&o, sizeof o, given, given->size, err) : HOB_OK;
    if (rc < 0) return rc;
    if (o.flags & ~(unsigned)HOB_SUBAGENT_KEEP || o.max_depth < 0 || (!rt && !o.parent))
        return hob_fail(err, HOB_EINVAL, 0,
                        "a sub-agent needs a runtime or a parent, known flags "
                        "and a depth that is not negative");
    hob_subagent *a = HOB_NEW(hob_subagent);
    a->rt = o.parent ? o.parent->rt : rt;
    a->arena = hob_arena_create(0);
    a->parent = o.parent;
    a->parent_depth = o.parent_depth;
    a->max_depth = o.max_depth ? o.max_depth : HOB_TASK_DEPTH;
    a->flags = o.flags;
    a->on_event = o.on_event;
    a->user = o.user;
    if (o.agent) a->agent = hob_agent_ref(o.agent);
    hob_str name = o.agent ? hob_agent_name(o.agent) : hob_str_z(o.agent_name);
    hob_str_out(name.n ? name : HOB_STR("general"), a->name, sizeof a->name);
    hob_timer_init(&a->look, a->rt->loop, hob_subagent_on_look);
    rc = o.parent ? open_for_parent(a, &o, err) : open_alone(a, &o, err);
    if (rc >= 0) rc = attach(a, err);
    if (rc < 0) {
        hob_session_detach(a->s);
        free_subagent(a);
        return rc;
    }
    *out = a;
    return HOB_OK;
}

/* ---- taking it down ------------------------------------------------------------------------------------------------ */

static void start_part(hob_op *op) {
    hob_subagent *a = op->user;
    hob_timer_stop(&a->look);
    op->s->conversation = NULL;
    hob_op_done(op, HOB_OK, NULL);
}

static bool is_over(void *user) {
    return !((hob_subagent *)user)->busy;
}

void hob_subagent_destroy(hob_subagent *a) {
    if (!a || hob_inside_callback(a->rt)) return;
    hob_op part = {.start = start_part, .user = a};
    hob_session_cancel(a->s, HOB_QUEUED_DROP, NULL);
    if (hob_wait_firmly(a->rt, is_over, a, 5000) == HOB_ETIMEDOUT) {
        hob_session_abort(a->s, NULL);
        hob_wait_firmly(a->rt, is_over, a, 1000);
    }
    hob_session_run(a->s, &part, NULL);
    hob_session_close(a->s);
    free_subagent(a);
}

/* ---- looking ---------------------------------------------------------------------------------------------------------- */

typedef struct looking {
    hob_op op;
    hob_subagent *a;
    hob_page *page;
} looking;

static void add_system(const hob_session *s, hob_page *page) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 8u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "role", HOB_STR("system"));
    hob_jsonw_kstr(&w, "text", hob_buf_str(&s->system));
    hob_jsonw_object_end(&w);
    hob_page_add(page, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void start_transcript(hob_op *op) {
    looking *l = HOB_CONTAINER(op, looking, op);
    if (!hob_session_thaw(op->s, op)) return;
    const hob_history *h = op->s->view->history;
    if (h->npath) add_system(op->s, l->page);
    for (size_t i = 0; i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        hob_page_add(l->page, n->event->json);
        for (size_t k = 0; k < n->nresults; k++)
            if (n->results[k].event) hob_page_add(l->page, n->results[k].event->json);
    }
    hob_op_done(op, HOB_OK, NULL);
}

int hob_subagent_transcript(hob_subagent *a, hob_page **out, hob_error *err) {
    looking l = {.op = {.start = start_transcript}, .a = a, .page = hob_page_create()};
    int rc = hob_session_run(a->s, &l.op, err);
    if (rc < 0)
        hob_page_destroy(l.page);
    else
        *out = l.page;
    return rc;
}
