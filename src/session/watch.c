/*
 * watch.c - whoever keeps an eye on all sessions of a runtime: counts, quotas, traces, lists that are live.
 *
 * A watcher sees every durable event once, in the order of its session, whether anybody reads that session or not, and
 * nothing that streams. It costs the loop what it does: it only takes note.
 */
#include "session/session.h"

typedef struct watcher {
    hob_list link;
    hob_watch_fn fn;
    void *user;
} watcher;

typedef struct change {
    hob_op op;
    hob_watch_fn fn;
    void *user;
} change;

static void tell(hob_runtime *rt, hob_event *e) {
    hob_telemetry_see(rt, e);
    HOB_LIST_EACH_SAFE (it, &rt->watchers) {
        watcher *w = HOB_CONTAINER(it, watcher, link);
        w->fn(e, w->user);
    }
}

void hob_session_tell_watchers(hob_session *s, uint64_t upto) {
    hob_runtime *rt = s->rt;
    if (hob_list_empty(&rt->watchers) && !rt->telemetry) return;
    rt->depth++;
    for (uint64_t seq = HOB_MAX(s->durable + 1, s->tail_base); seq <= upto; seq++) {
        if (seq - s->tail_base >= s->ntail) break;
        tell(rt, s->tail[seq - s->tail_base]);
    }
    rt->depth--;
}

static void start_watch(hob_op *op) {
    change *c = HOB_CONTAINER(op, change, op);
    watcher *w = HOB_NEW(watcher);
    *w = (watcher){.fn = c->fn, .user = c->user};
    hob_list_push(&op->rt->watchers, &w->link);
    hob_op_done(op, HOB_OK, NULL);
}

int hob_runtime_watch(hob_runtime *rt, hob_watch_fn fn, void *user, hob_error *err) {
    change c = {.op = {.start = start_watch}, .fn = fn, .user = user};
    return hob_op_run(rt, &c.op, err);
}

static void start_unwatch(hob_op *op) {
    change *c = HOB_CONTAINER(op, change, op);
    HOB_LIST_EACH_SAFE (it, &op->rt->watchers) {
        watcher *w = HOB_CONTAINER(it, watcher, link);
        if (w->fn != c->fn || w->user != c->user) continue;
        hob_list_remove(&w->link);
        hob_free(w);
    }
    hob_op_done(op, HOB_OK, NULL);
}

int hob_runtime_unwatch(hob_runtime *rt, hob_watch_fn fn, void *user, hob_error *err) {
    change c = {.op = {.start = start_unwatch}, .fn = fn, .user = user};
    return hob_op_run(rt, &c.op, err);
}

void hob_runtime_drop_watchers(hob_runtime *rt) {
    HOB_LIST_EACH_SAFE (it, &rt->watchers) hob_free(HOB_CONTAINER(it, watcher, link));
    hob_list_init(&rt->watchers);
}
