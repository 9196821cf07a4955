/*
 * load.c - opening a session is folding its log.
 */
#include "session/session.h"

typedef struct loader {
    hob_session *s;
    hob_str from; /* heap */
    hob_loaded_fn done;
    void *user;
    uint64_t after;
} loader;

static void read_page(loader *l);

static void reset_views(hob_session *s) {
    hob_view_destroy(s->view);
    hob_run_finish(&s->run);
    s->view = hob_view_create();
    hob_run_init(&s->run, hob_str_z(s->id));
    for (size_t i = 0; i < s->ntail; i++) hob_event_unref(s->tail[i]);
    hob_free(s->tail);
    s->tail = NULL;
    s->ntail = s->tail_cap = 0;
    s->result_seq = 0;
}

static void finish(loader *l, int code, const hob_error *err) {
    hob_session *s = l->s;
    int64_t wall = hob_loop_clock(s->rt->loop)->wall_ms(hob_loop_clock(s->rt->loop));
    s->refolding = false;
    s->durable = s->submitted = s->view->last_seq;
    s->clock_base = HOB_MAX(wall, s->view->last_ts) - hob_loop_now(s->rt->loop);
    l->done(s, code, err, l->user);
    hob_free((char *)l->from.p);
    hob_free(l);
}

static int fold_page(loader *l, const hob_store_event *events, size_t n, hob_error *err) {
    for (size_t i = 0; i < n; i++) {
        hob_event *e;
        if (events[i].seq != l->after + 1)
            return hob_fail(err, HOB_ESTORE, 0, "the log of session %s has a gap after event %llu",
                            l->s->id, (unsigned long long)l->after);
        int rc = hob_event_decode(events[i].json, &e, err);
        if (rc < 0) return rc;
        rc = hob_session_fold(l->s, e, err);
        hob_event_unref(e);
        if (rc < 0) return rc;
        l->after = events[i].seq;
    }
    return HOB_OK;
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    loader *l = user;
    hob_error e;
    l->s->inflight--;
    if (code >= 0) {
        err = &e;
        code = fold_page(l, events, n, &e);
    }
    if (code >= 0 && more)
        read_page(l);
    else
        finish(l, code, code < 0 ? err : NULL);
}

static void read_page(loader *l) {
    l->s->inflight++;
    l->s->store->ops->read(l->s->store, l->from, l->after, 1000, 0, on_page, l);
}

void hob_session_load(hob_session *s, hob_str from, hob_loaded_fn done, void *user) {
    loader *l = HOB_NEW(loader);
    *l = (loader){.s = s, .from = hob_str_n(hob_dupz(from), from.n), .done = done, .user = user};
    s->refolding = true;
    reset_views(s);
    read_page(l);
}
