/*
 * search.c - stored sessions found by the words of their titles and messages.
 */
#include "session/session.h"

typedef struct searching {
    hob_op op;
    hob_store_search q;
    hob_page *page;
} searching;

static void add_hit(hob_page *p, const hob_store_hit *h) {
    hob_buf b;
    hob_jsonw w;
    char time[25] = "";
    hob_time_format(HOB_MAX(h->ms, (int64_t)0), time);
    hob_buf_init(&b, 1u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "session", h->session.id);
    hob_jsonw_kstr_opt(&w, "title", h->session.title);
    hob_jsonw_kstr(&w, "cwd", h->session.cwd);
    if (h->session.child) hob_jsonw_kstr(&w, "parent", h->session.parent);
    hob_jsonw_kstr(&w, "role", h->role);
    if (h->seq) hob_jsonw_kint(&w, "seq", (int64_t)h->seq);
    hob_jsonw_kstr(&w, "time", hob_str_n(time, 24));
    hob_jsonw_kstr(&w, "snippet", h->snippet);
    hob_jsonw_object_end(&w);
    hob_page_add(p, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void on_hits(int code, const hob_error *err, const hob_store_hit *hits, size_t n,
                    hob_str next, void *user) {
    searching *s = user;
    for (size_t i = 0; code >= 0 && i < n; i++) add_hit(s->page, &hits[i]);
    if (code >= 0) hob_page_set_next(s->page, next);
    hob_op_done(&s->op, code, err);
}

static void start(hob_op *op) {
    searching *s = HOB_CONTAINER(op, searching, op);
    op->rt->store->ops->search(op->rt->store, &s->q, on_hits, s);
}

int hob_runtime_search(hob_runtime *rt, const hob_search_opts *given, hob_page **out,
                       hob_error *err) {
    hob_search_opts o = HOB_SEARCH_OPTS_INIT;
    searching s = {.op = {.start = start}};
    int rc = hob_take_options(&o, sizeof o, given, given->size, err);
    if (rc >= 0) rc = hob_tenant_take(o.of, &s.q.app, &s.q.user, err);
    if (rc < 0) return rc;
    if (!s.q.app.n) s.q.app = HOB_STR("hob");
    if (!s.q.user.n) s.q.user = HOB_STR("local");
    s.q.query = hob_str_z(o.query);
    s.q.cursor = hob_str_z(o.cursor);
    s.q.limit = o.limit;
    s.page = hob_page_create();
    rc = hob_op_run(rt, &s.op, err);
    if (rc < 0)
        hob_page_destroy(s.page);
    else
        *out = s.page;
    return rc;
}
