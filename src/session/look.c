/*
 * look.c - snapshots: what other threads may know of a session, copied on the loop.
 */
#include "session/session.h"

typedef struct looking {
    hob_op op;
    hob_page *page;
    char *buf;
    size_t cap;
    uint64_t after;
} looking;

static int look(hob_session *s, void (*start)(hob_op *), hob_page **out, hob_error *err) {
    looking l = {.op = {.start = start}, .page = hob_page_create()};
    int rc = hob_session_run(s, &l.op, err);
    if (rc < 0)
        hob_page_destroy(l.page);
    else
        *out = l.page;
    return rc;
}

static hob_page *page_of(hob_op *op) {
    return HOB_CONTAINER(op, looking, op)->page;
}

typedef struct row {
    hob_buf buf;
    hob_jsonw w;
} row;

static void row_begin(row *r) {
    hob_buf_init(&r->buf, HOB_EVENT_MAX * 2u);
    hob_jsonw_init(&r->w, &r->buf);
    hob_jsonw_object(&r->w);
}

static void row_end(row *r, hob_page *p) {
    hob_jsonw_object_end(&r->w);
    hob_page_add(p, hob_buf_str(&r->buf));
    hob_buf_finish(&r->buf);
}

/* ---- approvals ------------------------------------------------------------------------------------------ */

void hob_row_question(hob_jsonw *w, const hob_json *from) {
    const hob_json *question = hob_json_get(from, "question"), *schema;
    if (!question) return;
    hob_jsonw_kraw(w, "question", hob_json_raw(question));
    if ((schema = hob_json_get(from, "schema"))) hob_jsonw_kraw(w, "schema", hob_json_raw(schema));
}

/* What a sub-agent asks, as the session's own log has it. */
static void pending_of(const hob_kid *k, hob_op *op) {
    hob_arena *a = hob_arena_create(0);
    for (size_t i = 0; i < k->nasks; i++) {
        const hob_json *d = hob_event_parse(k->asks[i].event, a);
        row r;
        row_begin(&r);
        hob_jsonw_kstr(&r.w, "call", hob_str_z(k->asks[i].call));
        hob_jsonw_kstr(&r.w, "tool", hob_json_get_str(d, "tool"));
        hob_jsonw_kraw(&r.w, "args", hob_json_raw(hob_json_get(d, "args")));
        hob_jsonw_kstr(&r.w, "run_id", hob_str_z(op->s->run.id));
        hob_jsonw_kstr(&r.w, "child", hob_str_z(k->id));
        hob_jsonw_kstr(&r.w, "agent", hob_str_z(k->agent));
        hob_jsonw_kstr_opt(&r.w, "rule", hob_json_get_str(d, "rule"));
        hob_row_question(&r.w, d);
        row_end(&r, page_of(op));
    }
    hob_arena_destroy(a);
}

static void add_waiting(const hob_run *run, hob_page *page) {
    hob_arena *a = hob_arena_create(0);
    for (size_t i = 0; i < run->ncalls && run->phase == HOB_PHASE_TOOLS; i++) {
        const hob_call *c = &run->calls[i];
        const hob_json *args = NULL;
        row r;
        if (c->state != HOB_CALL_WAITING) continue;
        row_begin(&r);
        hob_jsonw_kstr(&r.w, "call", c->call);
        hob_jsonw_kstr(&r.w, "tool", c->name);
        hob_jsonw_kraw(&r.w, "args", c->args);
        hob_jsonw_kstr(&r.w, "run_id", hob_str_z(run->id));
        hob_jsonw_kstr_opt(&r.w, "agent", run->agent);
        hob_jsonw_kstr_opt(&r.w, "rule", c->rule);
        if (c->question) hob_json_parse(a, c->args, NULL, &args, NULL);
        hob_row_question(&r.w, args);
        row_end(&r, page);
    }
    hob_arena_destroy(a);
}

static void start_pending(hob_op *op) {
    HOB_LIST_EACH (it, &op->s->strands)
        add_waiting(HOB_CONTAINER(it, hob_strand, link)->run, page_of(op));
    for (size_t i = 0; i < op->s->view->kids.n; i++) pending_of(op->s->view->kids.at[i], op);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_pending_confirmations(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_pending, out, err);
}

/* ---- calls whose result comes later ---------------------------------------------------------------------- */

static void add_pending(const hob_node *n, hob_page *page) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *content = hob_json_get(hob_event_parse(n->event, a), "content");
    size_t k = 0;
    for (const hob_json *b = hob_json_first(content); b && k < n->nresults; b = hob_json_next(b)) {
        row r;
        if (!hob_str_eqz(hob_json_get_str(b, "type"), "tool_call")) continue;
        if (!n->results[k++].pending) continue;
        row_begin(&r);
        hob_jsonw_kstr(&r.w, "call", hob_json_get_str(b, "call"));
        hob_jsonw_kstr(&r.w, "tool", hob_json_get_str(b, "name"));
        hob_jsonw_kraw(&r.w, "args", hob_json_raw(hob_json_get(b, "args")));
        hob_jsonw_kstr_opt(&r.w, "agent", n->event->agent);
        row_end(&r, page);
    }
    hob_arena_destroy(a);
}

/* A message with a pending call is never cold: log/history_cold.c. */
static void start_pending_calls(hob_op *op) {
    const hob_history *h = op->s->view->history;
    for (size_t i = 0; i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        bool any = false;
        for (size_t k = 0; k < n->nresults && !any; k++) any = n->results[k].pending;
        if (any) add_pending(n, page_of(op));
    }
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_pending_calls(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_pending_calls, out, err);
}

/* ---- the session ------------------------------------------------------------------------------------------ */

static void write_queue(hob_jsonw *w, const char *key, const hob_queue *q) {
    hob_jsonw_key(w, key);
    hob_jsonw_array(w);
    for (size_t i = 0; i < q->n; i++) hob_jsonw_str(w, hob_str_z(q->at[i].item));
    hob_jsonw_array_end(w);
}

static void start_info(hob_op *op) {
    hob_session *s = op->s;
    row r;
    row_begin(&r);
    hob_jsonw_kstr(&r.w, "id", hob_str_z(s->id));
    hob_jsonw_kstr(&r.w, "cwd", hob_str_z(s->cwd));
    hob_jsonw_kstr(&r.w, "app_name", hob_str_z(s->app_name));
    hob_jsonw_kstr(&r.w, "user_id", hob_str_z(s->user_id));
    hob_jsonw_kstr(&r.w, "model", hob_str_z(s->model_name));
    hob_jsonw_kstr_opt(&r.w, "agent", hob_str_z(s->agent_name));
    hob_jsonw_kstr(&r.w, "thinking", hob_str_z(hob_thinking_name(s->thinking)));
    hob_jsonw_kstr_opt(&r.w, "title", s->view->title);
    hob_jsonw_kstr(&r.w, "permission_mode", hob_str_z(hob_mode_name(s->mode)));
    hob_jsonw_kbool(&r.w, "running", hob_session_active(s) && !s->left_alone && !s->failed);
    hob_jsonw_kbool(&r.w, "parked", hob_session_parked(s));
    hob_jsonw_kbool(&r.w, "paused", hob_run_active(&s->run) && hob_run_held(&s->run));
    hob_jsonw_kbool(&r.w, "unfinished", s->left_alone);
    hob_jsonw_kstr_opt(&r.w, "run_id", hob_str_z(s->run.id));
    hob_jsonw_kstr_opt(&r.w, "payer", hob_str_z(s->run.payer));
    hob_jsonw_kint(&r.w, "last_seq", (int64_t)s->durable);
    hob_jsonw_kint(&r.w, "messages", s->view->messages);
    hob_say_limits(&r.w, "limits", &s->limits);
    write_queue(&r.w, "steering", &s->run.steer);
    write_queue(&r.w, "follow_ups", &s->run.follow);
    hob_jsonw_kint(&r.w, "state_keys", (int64_t)s->view->state.count);
    hob_usage_write(&r.w, "usage", &s->view->usage);
    hob_jsonw_key(&r.w, "cost_usd");
    if (s->view->cost_known)
        hob_jsonw_double(&r.w, s->view->cost_usd);
    else
        hob_jsonw_null(&r.w);
    hob_jsonw_kstr_opt(&r.w, "context_files", hob_buf_str(&s->context_origins));
    row_end(&r, page_of(op));
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_info(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_info, out, err);
}

static void start_workspace(hob_op *op) {
    for (size_t i = 0; op->s->workspace && i < hob_workspace_roots(op->s->workspace); i++) {
        row r;
        row_begin(&r);
        hob_jsonw_kstr(&r.w, "root", hob_workspace_root(op->s->workspace, i));
        row_end(&r, page_of(op));
    }
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_workspace(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_workspace, out, err);
}

static void add_tool(const hob_tool *t, hob_page *page) {
    static const char *const classes[] = {"unsafe", "idempotent", "read_only"};
    row r;
    row_begin(&r);
    hob_jsonw_kstr(&r.w, "name", hob_str_z(t->name));
    hob_jsonw_kstr(&r.w, "description", hob_str_z(t->description));
    hob_jsonw_kraw(&r.w, "schema", hob_str_z(t->schema));
    hob_jsonw_kstr(&r.w, "class", hob_str_z(classes[t->class_]));
    hob_jsonw_kbool(&r.w, "host", hob_tools_marked(t));
    row_end(&r, page);
}

static void start_tools(hob_op *op) {
    const hob_tool *t;
    for (size_t i = 0; (t = hob_tools_at(op->s->tools, i)); i++)
        if (hob_tools_shown(op->s->tools, t)) add_tool(t, page_of(op));
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_tools(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_tools, out, err);
}

/* ---- the conversation --------------------------------------------------------------------------------------- */

void hob_page_add_history(hob_page *p, const hob_history *h) {
    for (size_t i = 0; i < h->npath; i++) {
        const hob_node *n = &h->nodes[h->path[i]];
        hob_page_add(p, n->event->json);
        for (size_t k = 0; k < n->nresults; k++)
            if (n->results[k].event) hob_page_add(p, n->results[k].event->json);
    }
}

static void start_history(hob_op *op) {
    if (!hob_session_thaw(op->s, op)) return;
    hob_page_add_history(page_of(op), op->s->view->history);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_history(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_history, out, err);
}

void hob_page_add_under_way(hob_page *p, const hob_working *agents, const hob_kids *kids) {
    for (size_t i = 0; i < agents->n; i++) hob_page_add(p, agents->at[i]->json);
    for (size_t i = 0; i < kids->n; i++)
        if (kids->at[i]->open && kids->at[i]->started) hob_page_add(p, kids->at[i]->started->json);
}

static void start_under_way(hob_op *op) {
    hob_page_add_under_way(page_of(op), &op->s->view->working, &op->s->view->kids);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_under_way(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_under_way, out, err);
}

static bool on_path(const hob_history *h, size_t node, size_t *at) {
    while (*at < h->npath && h->path[*at] < node) (*at)++;
    return *at < h->npath && h->path[*at] == node;
}

void hob_page_add_tree(hob_page *p, const hob_history *h) {
    char text[200];
    size_t at = 0;
    for (size_t i = 0; i < h->nnodes; i++) {
        const hob_node *n = &h->nodes[i];
        row r;
        row_begin(&r);
        hob_event_text(n->event, text, sizeof text);
        hob_jsonw_kstr(&r.w, "entry", n->event->entry);
        hob_jsonw_kstr_opt(&r.w, "parent", n->event->parent_entry);
        hob_jsonw_kstr(&r.w, "role",
                       n->role == HOB_ROLE_USER ? HOB_STR("user") : HOB_STR("assistant"));
        hob_jsonw_kstr(&r.w, "text", hob_str_z(text));
        hob_jsonw_kbool(&r.w, "active", on_path(h, i, &at));
        row_end(&r, p);
    }
}

static void start_tree(hob_op *op) {
    if (!hob_session_thaw(op->s, op)) return;
    hob_page_add_tree(page_of(op), op->s->view->history);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_session_tree(hob_session *s, hob_page **out, hob_error *err) {
    return look(s, start_tree, out, err);
}

int hob_session_entries(hob_session *s, uint64_t after, hob_page **out, hob_error *err) {
    int rc = hob_session_enter(s, err);
    if (rc < 0) return rc;
    rc = hob_store_events_page(s->rt, s->store, hob_str_z(s->id), after, 0, out, err);
    hob_session_leave(s);
    return rc;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

int hob_session_id(hob_session *s, char *buf, size_t cap) {
    return hob_str_out(hob_str_z(s->id), buf, cap);
}

int hob_session_cwd(hob_session *s, char *buf, size_t cap) {
    return hob_str_out(hob_str_z(s->cwd), buf, cap);
}

static void start_model(hob_op *op) {
    looking *l = HOB_CONTAINER(op, looking, op);
    hob_op_done(op, hob_str_out(hob_str_z(op->s->model_name), l->buf, l->cap), NULL);
}

int hob_session_model(hob_session *s, char *buf, size_t cap) {
    looking l = {.op = {.start = start_model}, .buf = buf, .cap = cap};
    return hob_session_run(s, &l.op, NULL);
}

static void start_thinking(hob_op *op) {
    looking *l = HOB_CONTAINER(op, looking, op);
    hob_op_done(op, hob_str_out(hob_str_z(hob_thinking_name(op->s->thinking)), l->buf, l->cap),
                NULL);
}

int hob_session_thinking(hob_session *s, char *buf, size_t cap) {
    looking l = {.op = {.start = start_thinking}, .buf = buf, .cap = cap};
    return hob_session_run(s, &l.op, NULL);
}

const hob_config *hob_session_config(hob_session *s) {
    return s->rt->config;
}
