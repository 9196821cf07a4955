/*
 * stored_history.c - the conversation of a stored session, its spans, and what waits for an answer in it, without opening it: its
 * log is folded, whoever owns it.
 */
#include "session/session.h"

enum { PAGE = 512 };

typedef struct looking {
    hob_op op;
    hob_store *store;
    hob_str id;
    uint64_t after;
    int (*fold)(struct looking *l, hob_event *e, const hob_json *data, hob_error *err);
    void (*finish)(struct looking *l);
    hob_page *page;
    hob_history *history;
    hob_trace *trace;
    hob_str run;       /* whose spans; "" = all */
    hob_event **asked; /* requests without an answer so far; references */
    size_t nasked, cap;
    hob_working agents;
    hob_kids kids;
} looking;

static void read_page(looking *l);

static int fold_line(looking *l, hob_str json, hob_error *err) {
    hob_arena *scratch = l->op.rt->scratch;
    const hob_json *data;
    hob_event *e;
    hob_arena_reset(scratch);
    int rc = hob_event_read(json, scratch, &e, &data, err);
    if (rc < 0) return rc;
    l->after = e->seq;
    rc = l->fold(l, e, data, err);
    hob_event_unref(e);
    return rc;
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    looking *l = user;
    hob_error e;
    for (size_t i = 0; code >= 0 && i < n; i++)
        if ((code = fold_line(l, events[i].json, &e)) < 0) err = &e;
    if (code >= 0 && more) {
        read_page(l);
        return;
    }
    if (code >= 0) l->finish(l);
    hob_op_done(&l->op, code, err);
}

static void read_page(looking *l) {
    l->store->ops->read(l->store, l->id, l->after, PAGE, 0, on_page, l);
}

static void start(hob_op *op) {
    read_page(HOB_CONTAINER(op, looking, op));
}

static int look(hob_runtime *rt, const char *id, looking *l, hob_page **out, hob_error *err) {
    l->op.start = start;
    l->store = rt->store;
    l->id = hob_str_z(id);
    l->page = hob_page_create();
    int rc = hob_op_run(rt, &l->op, err);
    if (rc < 0)
        hob_page_destroy(l->page);
    else
        *out = l->page;
    return rc;
}

/* ---- the conversation ------------------------------------------------------------------------------------ */

static int fold_history(looking *l, hob_event *e, const hob_json *data, hob_error *err) {
    return hob_history_apply(l->history, e, data, err);
}

static void finish_history(looking *l) {
    hob_page_add_history(l->page, l->history);
}

static void finish_tree(looking *l) {
    hob_page_add_tree(l->page, l->history);
}

static int look_back(hob_runtime *rt, const char *id, void (*finish)(looking *l), hob_page **out,
                     hob_error *err) {
    looking l = {.fold = fold_history, .finish = finish};
    l.history = hob_history_create();
    int rc = look(rt, id, &l, out, err);
    hob_history_destroy(l.history);
    return rc;
}

int hob_runtime_history(hob_runtime *rt, const char *id, hob_page **out, hob_error *err) {
    return look_back(rt, id, finish_history, out, err);
}

int hob_runtime_tree(hob_runtime *rt, const char *id, hob_page **out, hob_error *err) {
    return look_back(rt, id, finish_tree, out, err);
}

/* ---- spans ------------------------------------------------------------------------------------------------- */

static void add_span(const hob_span *s, void *user) {
    looking *l = user;
    hob_buf row;
    hob_jsonw w;
    if (l->run.n && !hob_str_eqz(l->run, s->run)) return;
    hob_buf_init(&row, 256 * 1024);
    hob_jsonw_init(&w, &row);
    hob_span_write(s, &w);
    if (!row.err) hob_page_add(l->page, hob_buf_str(&row));
    hob_buf_finish(&row);
}

static int fold_spans(looking *l, hob_event *e, const hob_json *data, hob_error *err) {
    (void)err;
    hob_trace_apply(l->trace, e, data, add_span, l);
    return HOB_OK;
}

static void finish_spans(looking *l) {
    hob_trace_open(l->trace, add_span, l);
}

int hob_runtime_trace(hob_runtime *rt, const char *id, const char *run, hob_page **out,
                      hob_error *err) {
    looking l = {.fold = fold_spans, .finish = finish_spans, .run = hob_str_z(run)};
    l.trace = hob_trace_create();
    int rc = look(rt, id, &l, out, err);
    hob_trace_destroy(l.trace);
    return rc;
}

/* ---- approvals ------------------------------------------------------------------------------------------- */

static void ask(looking *l, hob_event *e) {
    if (l->nasked == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 8;
        l->asked = hob_realloc(l->asked, l->cap * sizeof *l->asked);
    }
    l->asked[l->nasked++] = hob_event_ref(e);
}

/* Those of one call, or ("") all of them. */
static void forget(looking *l, hob_str call) {
    size_t kept = 0;
    char id[160];
    for (size_t i = 0; i < l->nasked; i++) {
        hob_event *e = l->asked[i];
        hob_event_field(e, "call", id, sizeof id);
        if (!call.n || hob_str_eqz(call, id))
            hob_event_unref(e);
        else
            l->asked[kept++] = e;
    }
    l->nasked = kept;
}

/* A run that was interrupted goes on with its questions. */
static int fold_asked(looking *l, hob_event *e, const hob_json *data, hob_error *err) {
    (void)err;
    if (e->type == HOB_EVENT_APPROVAL_REQUESTED) ask(l, e);
    if (e->type == HOB_EVENT_APPROVAL_RESOLVED) forget(l, hob_json_get_str(data, "call"));
    if (e->type == HOB_EVENT_RUN_FINISHED &&
        !hob_str_eqz(hob_json_get_str(data, "status"), "interrupted"))
        forget(l, HOB_STR_NULL);
    return HOB_OK;
}

static void add_asked(looking *l, const hob_event *e) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *d = hob_event_parse(e, a);
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, HOB_EVENT_MAX * 2u);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "call", hob_json_get_str(d, "call"));
    hob_jsonw_kstr(&w, "tool", hob_json_get_str(d, "tool"));
    hob_jsonw_kraw(&w, "args", hob_json_raw(hob_json_get(d, "args")));
    hob_jsonw_kstr(&w, "run_id", e->run_id);
    hob_jsonw_kstr_opt(&w, "child", hob_json_get_str(d, "child"));
    hob_jsonw_kstr_opt(&w, "agent", e->agent.n ? e->agent : hob_json_get_str(d, "agent"));
    hob_jsonw_kstr_opt(&w, "rule", hob_json_get_str(d, "rule"));
    hob_row_question(&w, d);
    hob_jsonw_object_end(&w);
    hob_page_add(l->page, hob_buf_str(&b));
    hob_buf_finish(&b);
    hob_arena_destroy(a);
}

static void finish_asked(looking *l) {
    for (size_t i = 0; i < l->nasked; i++) add_asked(l, l->asked[i]);
}

int hob_runtime_pending_confirmations(hob_runtime *rt, const char *id, hob_page **out,
                                      hob_error *err) {
    looking l = {.fold = fold_asked, .finish = finish_asked};
    int rc = look(rt, id, &l, out, err);
    for (size_t i = 0; i < l.nasked; i++) hob_event_unref(l.asked[i]);
    hob_free(l.asked);
    return rc;
}

/* ---- what is under way -------------------------------------------------------------------------------------- */

static int fold_under_way(looking *l, hob_event *e, const hob_json *data, hob_error *err) {
    (void)err;
    hob_working_apply(&l->agents, e);
    hob_kids_apply(&l->kids, e, data);
    return HOB_OK;
}

static void finish_under_way(looking *l) {
    hob_page_add_under_way(l->page, &l->agents, &l->kids);
}

int hob_runtime_under_way(hob_runtime *rt, const char *id, hob_page **out, hob_error *err) {
    looking l = {.fold = fold_under_way, .finish = finish_under_way};
    int rc = look(rt, id, &l, out, err);
    hob_working_finish(&l.agents);
    hob_kids_finish(&l.kids);
    return rc;
}
