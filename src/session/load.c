/*
 * load.c - opening a session is folding its log, from its beginning or from a snapshot (snapshot.c).
 */
#include "session/crew.h"
#include "session/session.h"

enum { FIRST_PAGE = 64, LARGEST_PAGE = 512 };

typedef struct loader {
    hob_session *s;
    hob_str from; /* heap */
    hob_loaded_fn done;
    void *user;
    uint64_t after;        /* the last event of the pages so far */
    size_t page;           /* events of the last one: they grow, so that folding starts soon */
    bool reading;          /* a page is on its way */
    hob_restored restored; /* seq 0 = the log is folded from its beginning */
    int code;              /* HOB_OK until something failed */
    hob_error err;
} loader;

static void read_page(loader *l);

static void reset_views(hob_session *s) {
    if (s->crew) hob_crew_reset(s->crew);
    hob_session_drop_strands(s);
    hob_view_destroy(s->view);
    hob_run_finish(&s->run);
    s->view = hob_view_create();
    hob_run_init(&s->run, hob_str_z(s->id));
    for (size_t i = 0; i < s->ntail; i++) hob_event_unref(s->tail[i]);
    hob_free(s->tail);
    s->tail = NULL;
    s->ntail = s->tail_cap = 0;
    s->result_seq = 0;
    hob_session_drop_temps(s);
    s->kept_seq = 0;
    hob_strand_drop_wire(&s->own); /* of a conversation that may have been another */
    s->whole = false;
}

/* What stands in the snapshot is only missing from the history. */
static int fold_behind(hob_session *s, const hob_restored *r, hob_event *e, const hob_json *data,
                       hob_error *err) {
    int rc = hob_history_apply(s->view->history, e, data, err);
    if (rc < 0 || e->seq < r->seq || hob_session_restored(s, r)) return rc;
    return hob_fail(err, HOB_ESTORE, 0, "the snapshot does not agree with the log");
}

static void end(loader *l) {
    hob_session *s = l->s;
    s->refolding = false;
    if (s->crew && l->code >= 0) hob_crew_sync(s->crew);
    s->durable = s->submitted = s->view->last_seq;
    s->clock_base =
        HOB_MAX(hob_runtime_clock_base(s->rt), s->view->last_ts - hob_loop_now(s->rt->loop));
    l->done(s, l->code, l->code < 0 ? &l->err : NULL, l->user);
    hob_free((char *)l->from.p);
    hob_free(l);
}

static void on_scopes(hob_session *s, int code, const hob_error *err, void *user) {
    loader *l = user;
    (void)s;
    l->code = code;
    if (code < 0) l->err = *err;
    end(l);
}

/* What sessions share is not in the log. */
static void finish(loader *l) {
    if (l->code >= 0) l->code = hob_session_identify(l->s, &l->err);
    if (l->code >= 0)
        hob_session_read_scopes(l->s, on_scopes, l);
    else
        end(l);
}

static int fold_one(loader *l, hob_str json, hob_error *err) {
    hob_session *s = l->s;
    const hob_json *data;
    hob_event *e;
    hob_arena_reset(s->rt->scratch);
    int rc = hob_event_read(json, s->rt->scratch, &e, &data, err);
    if (rc < 0) return rc;
    rc = e->seq <= l->restored.seq ? fold_behind(s, &l->restored, e, data, err)
                                   : hob_session_fold(s, e, data, err);
    hob_event_unref(e);
    return rc;
}

static int fold_page(loader *l, uint64_t last, const hob_store_event *events, size_t n,
                     hob_error *err) {
    for (size_t i = 0; i < n; i++, last++) {
        if (events[i].seq != last + 1)
            return hob_fail(err, HOB_ESTORE, 0, "the log of session %s has a gap after event %llu",
                            l->s->id, (unsigned long long)last);
        int rc = fold_one(l, events[i].json, err);
        if (rc < 0) return rc;
    }
    return HOB_OK;
}

/* Something is wrong with the snapshot, or seems so: the log has the last word. */
static void start_over(loader *l) {
    hob_log(HOB_LOG_INFO, "session", "%s: the snapshot is of no use, the log is folded", l->s->id);
    reset_views(l->s);
    l->restored = (hob_restored){0};
    l->after = 0;
    l->page = 0;
    l->code = HOB_OK;
    read_page(l);
}

/* The next page is fetched while this one is folded. */
static void take_page(loader *l, const hob_store_event *events, size_t n, int more) {
    uint64_t after = l->after;
    l->after += n;
    if (more) read_page(l);
    l->code = fold_page(l, after, events, n, &l->err);
    if (!more && l->code >= 0 && l->after < l->restored.seq)
        l->code = hob_fail(&l->err, HOB_ESTORE, 0, "the snapshot is of events that are not there");
}

/* True: it is of use. Anything that went wrong before is in l->code. */
static bool arrive(loader *l, int code, const hob_error *err) {
    l->reading = false;
    if (!hob_session_arrived(l->s))
        l->code = hob_fail(&l->err, HOB_ECANCELLED, 0, "the session was closed while it was read");
    if (l->code >= 0 && code < 0) {
        l->code = code;
        l->err = *err;
    }
    return l->code >= 0;
}

static void end_page(loader *l) {
    if (l->reading) return;
    if (l->code < 0 && l->code != HOB_ECANCELLED && l->restored.seq)
        start_over(l);
    else
        finish(l);
}

static void on_page(int code, const hob_error *err, const hob_store_event *events, size_t n,
                    int more, void *user) {
    loader *l = user;
    if (arrive(l, code, err)) take_page(l, events, n, more);
    end_page(l);
}

static void on_recalled(int code, const hob_error *err, const hob_store_snapshot *snap,
                        const hob_store_event *events, size_t n, int more, void *user) {
    loader *l = user;
    if (!arrive(l, code, err)) {
        finish(l);
        return;
    }
    if (snap && !hob_session_restore(l->s, snap, &l->restored)) {
        start_over(l);
        return;
    }
    l->after = snap ? snap->after : 0;
    take_page(l, events, n, more);
    end_page(l);
}

static void recall(loader *l) {
    l->s->inflight++;
    l->reading = true;
    l->page = FIRST_PAGE;
    l->s->store->ops->recall(l->s->store, l->from, l->page, on_recalled, l);
}

static void read_page(loader *l) {
    l->s->inflight++;
    l->reading = true;
    l->page = l->page ? HOB_MIN(2 * l->page, LARGEST_PAGE) : FIRST_PAGE;
    l->s->store->ops->read(l->s->store, l->from, l->after, l->page, 0, on_page, l);
}

void hob_session_load(hob_session *s, hob_str from, hob_loaded_fn done, void *user) {
    loader *l = HOB_NEW(loader);
    *l = (loader){.s = s, .from = hob_str_n(hob_dupz(from), from.n), .done = done, .user = user};
    /* A snapshot is of its own agent's conversation; those of a team look at all of it. What a sub-agent has asked, and
     * was answered, its caller may have missed: it stands in the log only. */
    bool own = hob_str_eqz(from, s->id) && !s->failed && !s->crew && !s->task;
    s->refolding = true;
    reset_views(s);
    if (own)
        recall(l);
    else
        read_page(l);
}
