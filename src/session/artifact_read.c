/*
 * artifact_read.c - artifacts as hosts read them: of an open session, or of any that is stored.
 */
#include "session/artifact.h"

struct hob_artifact {
    hob_arena *mem;
    hob_store_artifact item;
};

typedef struct look {
    hob_op op;
    hob_store *store;
    hob_store_artifact_query q;
    hob_str app, user; /* who asks; "" = anybody */
    char *names[2];    /* whose the session is */
    hob_page *page;    /* one of the two */
    hob_artifact *artifact;
} look;

/* ---- one of them ------------------------------------------------------------------------------------------------ */

static int keep(look *l, const hob_store_artifact *from, hob_error *err) {
    hob_arena *mem = hob_arena_create(0);
    hob_artifact *a = l->artifact = HOB_NEW(hob_artifact);
    hob_store_artifact *to = &a->item;
    a->mem = mem;
    *to = *from;
    hob_str *all[] = {&to->app, &to->user, &to->name, &to->mime, &to->meta, &to->bytes};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) {
        *all[i] = hob_arena_dup(mem, *all[i]);
        if (!all[i]->p) return hob_fail(err, HOB_ETOOBIG, 0, "no room for the artifact");
    }
    return HOB_OK;
}

hob_str hob_artifact_name(const hob_artifact *a) {
    return a->item.name;
}

hob_str hob_artifact_bytes(const hob_artifact *a) {
    return a->item.bytes;
}

hob_str hob_artifact_mime(const hob_artifact *a) {
    return a->item.mime;
}

hob_str hob_artifact_meta(const hob_artifact *a) {
    return a->item.meta;
}

int64_t hob_artifact_version(const hob_artifact *a) {
    return a->item.version;
}

int64_t hob_artifact_time(const hob_artifact *a) {
    return a->item.created_ms;
}

void hob_artifact_destroy(hob_artifact *a) {
    if (!a) return;
    hob_arena_destroy(a->mem);
    hob_free(a);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void add_row(hob_page *p, const hob_store_artifact *a) {
    char t[25];
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "name", a->name);
    hob_jsonw_kint(&w, "version", a->version);
    hob_jsonw_kstr_opt(&w, "mime", a->mime);
    hob_jsonw_kint(&w, "size", (int64_t)a->size);
    hob_time_format(a->created_ms, t);
    hob_jsonw_kstr(&w, "created", hob_str_n(t, 24));
    if (a->meta.n) hob_jsonw_kraw(&w, "meta", a->meta);
    hob_jsonw_object_end(&w);
    hob_page_add(p, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static void on_found(int code, const hob_error *err, const hob_store_artifact *items, size_t n,
                     hob_str next, void *user) {
    look *l = user;
    hob_error e;
    if (code >= 0 && !l->page && (code = keep(l, &items[0], &e)) < 0) err = &e;
    for (size_t i = 0; code >= 0 && l->page && i < n; i++) add_row(l->page, &items[i]);
    if (code >= 0 && l->page) hob_page_set_next(l->page, next);
    hob_op_done(&l->op, code, err);
}

static void ask(look *l) {
    l->store->ops->artifacts(l->store, &l->q, on_found, l);
}

/* In a session that is open it is known whose it is. */
static void start_in_session(hob_op *op) {
    look *l = HOB_CONTAINER(op, look, op);
    hob_session *s = op->s;
    hob_error err;
    int rc = hob_session_usable(s, &err);
    if (rc < 0) {
        hob_op_done(op, rc, &err);
        return;
    }
    l->store = s->store;
    l->q.app = hob_str_z(s->app_name);
    l->q.user = hob_str_z(s->user_id);
    l->q.session = hob_str_z(s->id);
    ask(l);
}

static void on_row(int code, const hob_error *err, const hob_store_session *row, void *user) {
    look *l = user;
    if (code < 0) {
        hob_op_done(&l->op, code, err);
        return;
    }
    l->q.app = hob_str_z(l->names[0] = hob_dupz(row->app));
    l->q.user = hob_str_z(l->names[1] = hob_dupz(row->user));
    ask(l);
}

static void start_stored(hob_op *op) {
    look *l = HOB_CONTAINER(op, look, op);
    hob_store_session of = {.app = l->app, .user = l->user};
    l->store = op->rt->store;
    if (l->q.session.n) {
        l->store->ops->own(l->store, l->q.session, HOB_OWN_READ, &of, on_row, l);
        return;
    }
    l->q.app = l->app;
    l->q.user = l->user;
    ask(l);
}

static int take_query(look *l, const hob_artifact_query *given, hob_error *err) {
    hob_artifact_query o = HOB_ARTIFACT_QUERY_INIT;
    int rc = given ? hob_take_options(&o, sizeof o, given, given->size, err) : HOB_OK;
    if (rc >= 0) rc = hob_tenant_take(o.of, &l->app, &l->user, err);
    if (rc < 0) return rc;
    l->q = (hob_store_artifact_query){.want = o.name.n ? HOB_STORE_VERSIONS : HOB_STORE_NAMES,
                                      .session = hob_str_z(o.session),
                                      .name = o.name,
                                      .version = o.version,
                                      .cursor = hob_str_z(o.cursor),
                                      .limit = o.limit};
    return HOB_OK;
}

static int finish(look *l, int rc, hob_page **page, hob_artifact **artifact) {
    hob_free(l->names[0]);
    hob_free(l->names[1]);
    if (rc < 0) {
        hob_page_destroy(l->page);
        hob_artifact_destroy(l->artifact);
        return rc;
    }
    if (page) *page = l->page;
    if (artifact) *artifact = l->artifact;
    return HOB_OK;
}

/* ---- the calls ---------------------------------------------------------------------------------------------------- */

int hob_session_artifact_load(hob_session *s, hob_str name, int64_t version, hob_artifact **out,
                              hob_error *err) {
    look l = {.op = {.start = start_in_session},
              .q = {.want = HOB_STORE_ARTIFACT, .name = name, .version = version}};
    return finish(&l, hob_session_run(s, &l.op, err), NULL, out);
}

int hob_session_artifacts(hob_session *s, const hob_artifact_query *q, hob_page **out,
                          hob_error *err) {
    look l = {.op = {.start = start_in_session}};
    int rc = take_query(&l, q, err);
    if (rc < 0) return rc;
    l.page = hob_page_create();
    return finish(&l, hob_session_run(s, &l.op, err), out, NULL);
}

int hob_runtime_artifacts(hob_runtime *rt, const hob_artifact_query *q, hob_page **out,
                          hob_error *err) {
    look l = {.op = {.start = start_stored}};
    int rc = take_query(&l, q, err);
    if (rc < 0) return rc;
    l.page = hob_page_create();
    return finish(&l, hob_op_run(rt, &l.op, err), out, NULL);
}

int hob_runtime_artifact_load(hob_runtime *rt, const hob_artifact_query *q, hob_artifact **out,
                              hob_error *err) {
    look l = {.op = {.start = start_stored}};
    int rc = take_query(&l, q, err);
    if (rc < 0) return rc;
    l.q.want = HOB_STORE_ARTIFACT;
    l.q.cursor = HOB_STR_NULL;
    return finish(&l, hob_op_run(rt, &l.op, err), NULL, out);
}
