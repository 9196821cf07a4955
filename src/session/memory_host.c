/*
 * memory_host.c - memory that the host keeps: a question, and one answer from any thread or none in time.
 *
 * Three hold a reply: the host until it answers, we until we were told or stopped waiting, and a message between the two.
 * The last one frees it. The loop may be gone when a late answer comes: `dropped` is set under the lock, and nothing is
 * posted afterwards; what was posted before is run by the loop, at the latest when it ends.
 */
#include "session/memory.h"

#include <stdatomic.h>

enum { TIMEOUT_MS = 30000, ANSWER_MAX = 16 << 20 };

struct hob_memory_reply {
    hob_list link; /* in rt->memory_replies; the loop's */
    hob_runtime *rt;
    hob_timer timeout;
    hob_store_memories_fn found; /* one of the two */
    hob_store_done_fn done;
    void *user;
    hob_msg msg;
    atomic_int refs;
    pthread_mutex_t lock;
    bool dropped; /* under lock: we do not wait any more */
    /* the answer */
    int code;
    hob_error err;
    hob_arena *mem;
    hob_store_memory *items;
    size_t n;
    hob_store_tenant numbers;
    hob_str next;
};

static void unref(hob_memory_reply *r) {
    if (atomic_fetch_sub(&r->refs, 1) > 1) return;
    pthread_mutex_destroy(&r->lock);
    hob_arena_destroy(r->mem);
    hob_free(r);
}

/* ---- the loop's side ------------------------------------------------------------------------------------------- */

static void give(hob_memory_reply *r, int code, const hob_error *err) {
    static const hob_store_tenant none;
    bool ok = code >= 0;
    if (r->found)
        r->found(code, ok ? NULL : err, ok ? r->items : NULL, ok ? r->n : 0,
                 ok ? &r->numbers : &none, ok ? r->next : HOB_STR_NULL, r->user);
    else
        r->done(code, ok ? NULL : err, r->user);
}

static void on_answer(hob_msg *m) {
    hob_memory_reply *r = HOB_CONTAINER(m, hob_memory_reply, msg);
    if (!r->dropped) { /* only the loop sets it */
        hob_timer_stop(&r->timeout);
        hob_list_remove(&r->link);
        give(r, r->code, &r->err);
        unref(r); /* ours */
    }
    unref(r); /* the message's */
}

/* Stops waiting. */
static void drop(hob_memory_reply *r, int code, const char *why) {
    hob_memory_reply told = {.found = r->found, .done = r->done, .user = r->user};
    hob_timer_stop(&r->timeout);
    hob_list_remove(&r->link);
    pthread_mutex_lock(&r->lock);
    r->dropped = true;
    pthread_mutex_unlock(&r->lock);
    unref(r);
    hob_fail(&told.err, code, 0, "%s", why);
    give(&told, code, &told.err);
}

static void on_timeout(hob_timer *t) {
    drop(HOB_CONTAINER(t, hob_memory_reply, timeout), HOB_ETIMEDOUT,
         "the host's memory gave no answer within 30 s");
}

static hob_memory_reply *reply_create(hob_runtime *rt, void *user) {
    hob_memory_reply *r = HOB_NEW(hob_memory_reply);
    r->rt = rt;
    r->user = user;
    r->mem = hob_arena_create(ANSWER_MAX);
    r->msg.fn = on_answer;
    atomic_init(&r->refs, 2); /* the host's and ours */
    pthread_mutex_init(&r->lock, NULL);
    hob_list_push(&rt->memory_replies, &r->link);
    hob_timer_init(&r->timeout, rt->loop, on_timeout);
    hob_timer_start(&r->timeout, hob_loop_now(rt->loop) + TIMEOUT_MS);
    return r;
}

void hob_memory_host_find(hob_runtime *rt, const hob_store_memory_query *q,
                          hob_store_memories_fn done, void *user) {
    hob_memory_reply *r = reply_create(rt, user);
    r->found = done;
    rt->depth++;
    rt->host_memory->find(q, r, rt->host_memory->user);
    rt->depth--;
}

void hob_memory_host_change(hob_runtime *rt, const hob_store_memory_change *c,
                            hob_store_done_fn done, void *user) {
    hob_memory_reply *r = reply_create(rt, user);
    r->done = done;
    rt->depth++;
    rt->host_memory->change(c, r, rt->host_memory->user);
    rt->depth--;
}

void hob_memory_host_drop(hob_runtime *rt) {
    while (!hob_list_empty(&rt->memory_replies))
        drop(HOB_LIST_FIRST(&rt->memory_replies, hob_memory_reply, link), HOB_ECANCELLED,
             "the runtime is being destroyed");
}

/* ---- the host's side --------------------------------------------------------------------------------------------- */

static void answer(hob_memory_reply *r) {
    pthread_mutex_lock(&r->lock);
    if (!r->dropped) {
        atomic_fetch_add(&r->refs, 1);
        hob_loop_post(r->rt->loop, &r->msg);
    }
    pthread_mutex_unlock(&r->lock);
    unref(r);
}

static int copy(hob_memory_reply *r, const hob_store_memory *items, size_t n) {
    n = HOB_MIN(n, (size_t)HOB_MEMORY_LIMIT_MAX);
    r->items = hob_arena_alloc(r->mem, (n + 1) * sizeof *r->items);
    for (r->n = 0; r->n < n; r->n++) {
        hob_store_memory *m = &r->items[r->n];
        *m = items[r->n];
        hob_str *all[] = {&m->id, &m->text, &m->kind, &m->by, &m->session, &m->run};
        for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) {
            *all[i] = hob_arena_dup(r->mem, *all[i]);
            if (!all[i]->p) return HOB_ETOOBIG;
        }
        m->ntags = HOB_MIN(m->ntags, (size_t)HOB_MEMORY_TAGS_MAX);
        hob_str *tags = hob_arena_alloc(r->mem, (m->ntags + 1) * sizeof *tags);
        if (!tags) return HOB_ETOOBIG;
        for (size_t i = 0; i < m->ntags; i++) tags[i] = hob_arena_dup(r->mem, m->tags[i]);
        m->tags = tags;
    }
    return HOB_OK;
}

void hob_memory_found(hob_memory_reply *r, const hob_store_memory *items, size_t n,
                      const hob_store_tenant *numbers, hob_str next) {
    if (numbers) r->numbers = *numbers;
    r->next = hob_arena_dup(r->mem, next);
    r->code = copy(r, items, n);
    if (r->code < 0)
        hob_fail(&r->err, HOB_ETOOBIG, 0, "the host's memory answered more than %d MiB",
                 ANSWER_MAX >> 20);
    answer(r);
}

void hob_memory_done(hob_memory_reply *r) {
    answer(r);
}

void hob_memory_failed(hob_memory_reply *r, int code, const char *message) {
    r->code = hob_fail(&r->err, code < 0 ? code : HOB_EIO, 0, "%s",
                       message && *message ? message : "the host's memory failed");
    answer(r);
}
