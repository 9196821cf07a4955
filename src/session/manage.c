/*
 * manage.c - what is stored, without opening any of it.
 */
#include "session/session.h"

typedef struct query {
    hob_op op;
    hob_store *store;
    hob_store_query q;
    hob_page *page;
    hob_str id, app, user;
    uint64_t after;
    size_t limit;
    int matches;
    uint64_t number;
} query;

static int ask(hob_runtime *rt, query *q, void (*start)(hob_op *), hob_page **out, hob_error *err) {
    q->op.start = start;
    q->page = hob_page_create();
    if (!q->store) q->store = rt->store;
    int rc = hob_op_run(rt, &q->op, err);
    if (rc < 0)
        hob_page_destroy(q->page);
    else
        *out = q->page;
    return rc;
}

static int fill(hob_store_query *q, const hob_page_opts *given, hob_error *err) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    int rc = given ? hob_take_options(&o, sizeof o, given, given->size, err) : HOB_OK;
    *q = (hob_store_query){.cwd = hob_str_z(o.cwd),
                           .session = hob_str_z(o.session),
                           .status = hob_str_z(o.status),
                           .cursor = hob_str_z(o.cursor),
                           .limit = o.limit,
                           .parent = hob_str_z(o.parent),
                           .all = (o.flags & HOB_PAGE_ALL) != 0,
                           .app = hob_str_z(o.app_name),
                           .user = hob_str_z(o.user_id)};
    return rc;
}

int hob_tenant_take(const hob_tenant *given, hob_str *app, hob_str *user, hob_error *err) {
    hob_tenant of = HOB_TENANT_INIT;
    int rc = given ? hob_take_options(&of, sizeof of, given, given->size, err) : HOB_OK;
    *app = hob_str_z(of.app_name);
    *user = hob_str_z(of.user_id);
    if (rc >= 0 && user->n && !app->n)
        rc = hob_fail(err, HOB_EINVAL, 0, "the user of which application? name it, too");
    return rc;
}

/* ---- sessions ---------------------------------------------------------------------------------------------- */

static void on_sessions(int code, const hob_error *err, const hob_store_session *rows, size_t n,
                        hob_str next, void *user) {
    query *q = user;
    for (size_t i = 0; code >= 0 && i < n; i++) hob_page_add_session(q->page, &rows[i]);
    if (code >= 0) hob_page_set_next(q->page, next);
    hob_op_done(&q->op, code, err);
}

static void start_sessions(hob_op *op) {
    query *q = HOB_CONTAINER(op, query, op);
    q->store->ops->sessions(q->store, &q->q, on_sessions, q);
}

int hob_runtime_sessions(hob_runtime *rt, const hob_page_opts *o, hob_page **out, hob_error *err) {
    query q = {.limit = 0};
    int rc = fill(&q.q, o, err);
    return rc < 0 ? rc : ask(rt, &q, start_sessions, out, err);
}

static void find(query *q, hob_str cursor);

static void on_found(int code, const hob_error *err, const hob_store_session *rows, size_t n,
                     hob_str next, void *user) {
    query *q = user;
    hob_error e;
    for (size_t i = 0; code >= 0 && i < n; i++) {
        if (!hob_str_starts(rows[i].id, q->id)) continue;
        if (!q->matches++) hob_page_add_session(q->page, &rows[i]);
    }
    if (code >= 0 && next.n) {
        find(q, next);
        return;
    }
    if (code >= 0 && q->matches != 1) {
        err = &e;
        code = hob_session_say_matches(q->id, q->matches, &e);
    }
    hob_op_done(&q->op, code, err);
}

static void find(query *q, hob_str cursor) {
    hob_store_query all = {
        .cursor = cursor, .limit = 1000, .all = 1, .app = q->app, .user = q->user};
    q->store->ops->sessions(q->store, &all, on_found, q);
}

/* A whole id is looked up; only the beginning of one is searched for. */
static void on_exact(int code, const hob_error *err, const hob_store_session *row, void *user) {
    query *q = user;
    if (code == HOB_ENOENT) {
        find(q, HOB_STR_NULL);
        return;
    }
    if (code >= 0) hob_page_add_session(q->page, row);
    hob_op_done(&q->op, code, err);
}

static void on_row(int code, const hob_error *err, const hob_store_session *row, void *user) {
    query *q = user;
    if (code >= 0) hob_page_add_session(q->page, row);
    if (code >= 0) q->number = row->number;
    hob_op_done(&q->op, code, err);
}

static void start_row(hob_op *op) {
    query *q = HOB_CONTAINER(op, query, op);
    hob_store_session of = {.app = q->app, .user = q->user};
    q->store->ops->own(q->store, q->id, HOB_OWN_READ, &of, on_row, q);
}

int hob_runtime_session_row(hob_runtime *rt, const char *id, const hob_tenant *of, hob_page **out,
                            hob_error *err) {
    query q = {.id = hob_str_z(id)};
    int rc = hob_tenant_take(of, &q.app, &q.user, err);
    if (rc >= 0 && !hob_id_valid(q.id)) rc = hob_session_say_matches(q.id, 0, err);
    return rc < 0 ? rc : ask(rt, &q, start_row, out, err);
}

int hob_runtime_session_number(hob_runtime *rt, const char *id, uint64_t *out, hob_error *err) {
    query q = {.id = hob_str_z(id)};
    hob_page *page;
    int rc = ask(rt, &q, start_row, &page, err);
    if (rc < 0) return rc;
    hob_page_destroy(page);
    *out = q.number;
    return HOB_OK;
}

static void start_find(hob_op *op) {
    query *q = HOB_CONTAINER(op, query, op);
    if (!hob_id_valid(q->id)) {
        find(q, HOB_STR_NULL);
        return;
    }
    hob_store_session of = {.app = q->app, .user = q->user};
    q->store->ops->own(q->store, q->id, HOB_OWN_READ, &of, on_exact, q);
}

int hob_session_say_matches(hob_str prefix, int n, hob_error *err) {
    if (n)
        return hob_fail(err, HOB_EAMBIGUOUS, 0, "%d sessions begin with %.*s: give more of the id",
                        n, HOB_FMT(prefix));
    return hob_fail(err, HOB_ENOENT, 0, "there is no session %.*s", HOB_FMT(prefix));
}

int hob_runtime_find_session_of(hob_runtime *rt, const char *id, const hob_tenant *of,
                                hob_page **out, hob_error *err) {
    query q = {.id = hob_str_z(id)};
    int rc = hob_tenant_take(of, &q.app, &q.user, err);
    return rc < 0 ? rc : ask(rt, &q, start_find, out, err);
}

int hob_runtime_find_session(hob_runtime *rt, const char *id, hob_page **out, hob_error *err) {
    return hob_runtime_find_session_of(rt, id, NULL, out, err);
}

/* ---- runs --------------------------------------------------------------------------------------------------- */

static void on_runs(int code, const hob_error *err, const hob_store_run *rows, size_t n,
                    hob_str next, void *user) {
    query *q = user;
    for (size_t i = 0; code >= 0 && i < n; i++) hob_page_add_run(q->page, &rows[i]);
    if (code >= 0) hob_page_set_next(q->page, next);
    hob_op_done(&q->op, code, err);
}

static void start_runs(hob_op *op) {
    query *q = HOB_CONTAINER(op, query, op);
    q->store->ops->runs(q->store, &q->q, on_runs, q);
}

int hob_runtime_runs(hob_runtime *rt, const hob_page_opts *o, hob_page **out, hob_error *err) {
    query q = {.limit = 0};
    int rc = fill(&q.q, o, err);
    return rc < 0 ? rc : ask(rt, &q, start_runs, out, err);
}

int hob_runtime_find_run(hob_runtime *rt, const char *id, const hob_tenant *of, hob_page **out,
                         hob_error *err) {
    query q = {.q = {.run = hob_str_z(id), .limit = 1}};
    hob_page *page;
    int rc = hob_tenant_take(of, &q.q.app, &q.q.user, err);
    if (rc >= 0 && hob_id_valid(q.q.run)) {
        rc = ask(rt, &q, start_runs, &page, err);
        if (rc < 0) return rc;
        if (hob_page_count(page)) {
            *out = page;
            return HOB_OK;
        }
        hob_page_destroy(page);
    }
    if (rc < 0) return rc;
    return hob_fail(err, HOB_ENOENT, 0, "there is no run %.160s", id);
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static void on_events(int code, const hob_error *err, const hob_store_event *events, size_t n,
                      int more, void *user) {
    query *q = user;
    char next[24];
    for (size_t i = 0; code >= 0 && i < n; i++) hob_page_add(q->page, events[i].json);
    if (code >= 0 && more && n) {
        snprintf(next, sizeof next, "%llu", (unsigned long long)events[n - 1].seq);
        hob_page_set_next(q->page, hob_str_z(next));
    }
    hob_op_done(&q->op, code, err);
}

static void start_events(hob_op *op) {
    query *q = HOB_CONTAINER(op, query, op);
    q->store->ops->read(q->store, q->id, q->after, q->limit, 0, on_events, q);
}

int hob_store_events_page(hob_runtime *rt, hob_store *store, hob_str session, uint64_t after,
                          size_t limit, hob_page **out, hob_error *err) {
    query q = {.store = store, .id = session, .after = after, .limit = limit};
    return ask(rt, &q, start_events, out, err);
}

int hob_runtime_events(hob_runtime *rt, const char *session, uint64_t after, size_t limit,
                       hob_page **out, hob_error *err) {
    return hob_store_events_page(rt, rt->store, hob_str_z(session), after, limit, out, err);
}

/* ---- models ---------------------------------------------------------------------------------------------------- */

typedef struct listing {
    hob_op op;
    hob_runtime *rt;
    hob_page *page;
    hob_str
        chosen; /* by the configuration: PROVIDER/MODEL or MODEL, perhaps with :LEVEL; "" = by the keys */
    hob_model_info by_key;
} listing;

/* What a session gets that names none. */
static bool is_default(const listing *l, const hob_model_info *m, hob_str name) {
    if (!l->chosen.n)
        return hob_str_eq(m->provider, l->by_key.provider) && hob_str_eq(m->id, l->by_key.id);
    hob_str wanted = hob_str_chr(l->chosen, '/') >= 0 ? name : m->id;
    hob_str rest = hob_str_skip(l->chosen, wanted.n);
    return hob_str_starts(l->chosen, wanted) && (!rest.n || rest.p[0] == ':');
}

static void add_model(const hob_model_info *m, bool key, void *user) {
    listing *l = user;
    hob_buf b, name;
    hob_jsonw w;
    hob_buf_init(&b, 1u << 16);
    hob_buf_init(&name, 1024);
    hob_buf_addf(&name, "%.*s/%.*s", HOB_FMT(m->provider), HOB_FMT(m->id));
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "name", hob_buf_str(&name));
    hob_jsonw_kstr(&w, "provider", m->provider);
    hob_jsonw_kint(&w, "context", m->context);
    hob_jsonw_kint(&w, "output", m->output);
    hob_jsonw_kbool(&w, "images", m->images);
    hob_jsonw_kbool(&w, "priced", m->priced);
    hob_jsonw_kbool(&w, "key", key);
    if (key && is_default(l, m, hob_buf_str(&name))) hob_jsonw_kbool(&w, "default", true);
    hob_jsonw_object_end(&w);
    hob_page_add(l->page, hob_buf_str(&b));
    hob_buf_finish(&name);
    hob_buf_finish(&b);
}

static void start_models(hob_op *op) {
    listing *l = HOB_CONTAINER(op, listing, op);
    l->chosen = hob_config_str(l->rt->config, "model");
    if (!l->chosen.n) hob_models_resolve(l->rt->models, HOB_STR_NULL, &l->by_key, NULL);
    hob_models_each(l->rt->models, add_model, l);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_runtime_models(hob_runtime *rt, hob_page **out, hob_error *err) {
    listing l = {.op = {.start = start_models}, .rt = rt, .page = hob_page_create()};
    int rc = hob_op_run(rt, &l.op, err);
    if (rc < 0)
        hob_page_destroy(l.page);
    else
        *out = l.page;
    return rc;
}
