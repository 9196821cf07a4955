/*
 * The shared session that callers hold: a ledger (log/shared.h) and one lock around it.
 *
 * Whatever can be done without the ledger is done before the lock is taken: parsing, checking, copying. What happens
 * inside is a few look-ups and the change itself, so an event and its change of state become visible at one instant.
 * Readers take the lock for as long as two references need. Nothing is called back while it is held.
 */
#include <hob/shared.h>

#include "log/shared.h"

#include <limits.h>
#include <pthread.h>

enum { SPARE_MAX = 16384 };

struct hob_shared {
    atomic_uint refs;
    hob_shared_name *name;
    pthread_mutex_t lock; /* guards the ledger */
    hob_ledger ledger;
    _Atomic(hob_arena *)
        spare; /* for the next append: making one each time is a good part of its cost */
};

/* ---- life -------------------------------------------------------------------------------------------- */

static size_t or_default(size_t value, size_t otherwise) {
    return value ? value : otherwise;
}

static void set_limits(hob_ledger *l, const hob_shared_opts *o) {
    l->limits.state.keys = or_default(o->max_keys, HOB_LEDGER_LIMITS.state.keys);
    l->limits.state.bytes = or_default(o->max_state_bytes, HOB_LEDGER_LIMITS.state.bytes);
    l->limits.events =
        HOB_MIN(or_default(o->max_events, HOB_LEDGER_LIMITS.events), (size_t)INT32_MAX);
    l->limits.event_bytes = or_default(o->max_event_bytes, HOB_LEDGER_LIMITS.event_bytes);
}

static int add_state(hob_ledger *l, hob_arena *a, hob_str state, hob_error *err) {
    hob_change c;
    int rc = hob_change_init(&c, a, state, HOB_STR_NULL, err);
    if (rc < 0) return rc;
    rc = hob_change_check(&c, &l->state, &l->limits.state, err);
    if (rc >= 0) {
        hob_change_apply(&c, &l->state);
        hob_state_drop_temp(&l->state);
    }
    hob_change_finish(&c);
    return rc;
}

static int fill(hob_shared *s, hob_arena *a, const hob_shared_opts *o, hob_error *err) {
    hob_shared_identity name = {0};
    int rc = HOB_OK;
    if (o->snapshot && o->exported.n)
        return hob_fail(err, HOB_EINVAL, 0,
                        "begin with a snapshot or with an export, not with both");
    if (o->exported.n) rc = hob_ledger_import(&s->ledger, a, o->exported, &name, err);
    if (o->snapshot) rc = hob_ledger_adopt(&s->ledger, o->snapshot, err);
    if (rc >= 0) rc = add_state(&s->ledger, a, o->state, err);
    if (rc < 0) return rc;
    if (o->id.n || !o->exported.n)
        name = (hob_shared_identity){.id = o->id, .app_name = o->app_name, .user_id = o->user_id};
    return hob_shared_name_create(name.id, name.app_name, name.user_id, &s->name, err);
}

static void destroy(hob_shared *s) {
    hob_arena_destroy(atomic_load(&s->spare));
    hob_ledger_finish(&s->ledger);
    hob_shared_name_unref(s->name);
    pthread_mutex_destroy(&s->lock);
    hob_free(s);
}

int hob_shared_create(const hob_shared_opts *in, hob_shared **out, hob_error *err) {
    hob_shared_opts opts = {0};
    memcpy(&opts, in, HOB_MIN(in->size, sizeof opts));
    hob_shared *s = HOB_NEW(hob_shared);
    hob_arena *a = hob_arena_create(0);
    atomic_init(&s->refs, 1);
    pthread_mutex_init(&s->lock, NULL);
    set_limits(&s->ledger, &opts);
    int rc = fill(s, a, &opts, err);
    hob_arena_destroy(a);
    if (rc < 0)
        destroy(s);
    else
        *out = s;
    return rc;
}

hob_shared *hob_shared_ref(hob_shared *s) {
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void hob_shared_unref(hob_shared *s) {
    if (s && atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1) destroy(s);
}

/* ---- identity ------------------------------------------------------------------------------------------ */

hob_str hob_shared_id(const hob_shared *s) {
    return s->name->id;
}

hob_str hob_shared_app_name(const hob_shared *s) {
    return s->name->app_name;
}

hob_str hob_shared_user_id(const hob_shared *s) {
    return s->name->user_id;
}

int hob_shared_try_identity(const hob_shared *s, hob_shared_identity *out, hob_error *err) {
    int rc = hob_identity_check("AppName", s->name->app_name, err);
    if (rc >= 0) rc = hob_identity_check("UserId", s->name->user_id, err);
    if (rc >= 0) rc = hob_identity_check("SessionId", s->name->id, err);
    if (rc < 0) return rc;
    *out = (hob_shared_identity){s->name->app_name, s->name->user_id, s->name->id};
    return HOB_OK;
}

/* ---- invocations --------------------------------------------------------------------------------------- */

int hob_shared_begin(hob_shared *s, hob_str invocation, hob_error *err) {
    pthread_mutex_lock(&s->lock);
    int rc = hob_ledger_begin(&s->ledger, invocation, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int hob_shared_end(hob_shared *s, hob_str invocation, hob_error *err) {
    pthread_mutex_lock(&s->lock);
    int rc = hob_ledger_end(&s->ledger, invocation, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* ---- writing -------------------------------------------------------------------------------------------- */

uint64_t hob_shared_revision(hob_shared *s) {
    pthread_mutex_lock(&s->lock);
    uint64_t revision = s->ledger.revision;
    pthread_mutex_unlock(&s->lock);
    return revision;
}

static hob_arena *take_arena(hob_shared *s) {
    hob_arena *a = atomic_exchange(&s->spare, NULL);
    return a ? a : hob_arena_create(0);
}

/* One that grew is not kept. */
static void give_arena(hob_shared *s, hob_arena *a) {
    if (hob_arena_used(a) < SPARE_MAX) {
        hob_arena_reset(a);
        a = atomic_exchange(&s->spare, a);
    }
    hob_arena_destroy(a);
}

/* The ledger owns a record that it kept, for as long as there is a session. */
static int enter(hob_shared *s, hob_record *r, const hob_change *c, const uint64_t *revision,
                 hob_error *err) {
    bool partial = r->event.flags & HOB_SHARED_PARTIAL;
    pthread_mutex_lock(&s->lock);
    int rc = partial ? hob_ledger_check(&s->ledger, r, c, revision, err)
                     : hob_ledger_append(&s->ledger, r, c, revision, err);
    pthread_mutex_unlock(&s->lock);
    if (rc < 0 || partial) hob_record_unref(r);
    return rc;
}

static int append(hob_shared *s, const hob_shared_event *e, const uint64_t *revision, uint64_t *seq,
                  hob_error *err) {
    hob_arena *a = take_arena(s);
    hob_record *r = NULL;
    hob_change c;
    int rc = hob_change_init(&c, a, e->state_delta, e->removed, err);
    if (rc >= 0) {
        rc = hob_record_create(e, &c, a, &r, err);
        if (rc >= 0) rc = enter(s, r, &c, revision, err);
        hob_change_finish(&c);
    }
    give_arena(s, a);
    if (rc >= 0 && seq) *seq = e->flags & HOB_SHARED_PARTIAL ? 0 : r->event.seq;
    return rc;
}

int hob_shared_append_event(hob_shared *s, const hob_shared_event *e, uint64_t *seq,
                            hob_error *err) {
    return append(s, e, NULL, seq, err);
}

int hob_shared_append_event_at(hob_shared *s, uint64_t revision, const hob_shared_event *e,
                               uint64_t *seq, hob_error *err) {
    return append(s, e, &revision, seq, err);
}

static int change(hob_shared *s, hob_change *c, hob_error *err) {
    pthread_mutex_lock(&s->lock);
    int rc = hob_ledger_change(&s->ledger, c, err);
    pthread_mutex_unlock(&s->lock);
    hob_change_finish(c);
    return rc;
}

int hob_shared_apply_state_delta(hob_shared *s, hob_str delta, hob_str removed, hob_error *err) {
    hob_arena *a = take_arena(s);
    hob_change c;
    int rc = hob_change_init(&c, a, delta, removed, err);
    give_arena(s, a);
    return rc < 0 || !c.n ? rc : change(s, &c, err);
}

int hob_shared_append_to_history(hob_shared *s, hob_str author, hob_str content, hob_error *err) {
    hob_shared_event e = HOB_SHARED_EVENT_INIT;
    e.author = author;
    e.content = content;
    return append(s, &e, NULL, NULL, err);
}

/* ---- state ------------------------------------------------------------------------------------------------ */

int hob_shared_state_set(hob_shared *s, hob_str key, hob_str value, hob_error *err) {
    hob_change c;
    int rc = hob_change_init_set(&c, key, value, err);
    return rc < 0 ? rc : change(s, &c, err);
}

int hob_shared_state_delete(hob_shared *s, hob_str key, hob_error *err) {
    hob_change c;
    int rc = hob_change_init_remove(&c, key, err);
    return rc < 0 ? rc : change(s, &c, err);
}

int hob_shared_state_get(hob_shared *s, hob_str key, char *buf, size_t cap) {
    hob_str value;
    int rc = HOB_ENOENT;
    pthread_mutex_lock(&s->lock);
    if (hob_state_find(&s->ledger.state, key, &value)) {
        size_t n = cap ? hob_utf8_prefix(value, cap - 1) : 0;
        if (n) memcpy(buf, value.p, n);
        if (cap) buf[n] = 0;
        rc = value.n > INT_MAX ? HOB_ETOOBIG : (int)value.n;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int hob_shared_state_iterate(hob_shared *s, unsigned scopes, hob_shared_state_fn fn, void *user) {
    hob_str key = HOB_STR_NULL, value;
    hob_state state;
    int rc = 0;
    pthread_mutex_lock(&s->lock);
    hob_state_copy(&state, &s->ledger.state);
    pthread_mutex_unlock(&s->lock);
    while (rc == 0 && hob_state_next(&state, key, &key, &value))
        if (hob_state_scope(key) & scopes) rc = fn(key, value, user);
    hob_state_finish(&state);
    return rc;
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

size_t hob_shared_events_len(hob_shared *s) {
    pthread_mutex_lock(&s->lock);
    size_t n = s->ledger.records.n;
    pthread_mutex_unlock(&s->lock);
    return n;
}

int hob_shared_events_snapshot(hob_shared *s, hob_shared_snapshot **out) {
    pthread_mutex_lock(&s->lock);
    *out = hob_ledger_snapshot(&s->ledger, s->name);
    pthread_mutex_unlock(&s->lock);
    return HOB_OK;
}

int hob_shared_conversation_history_scoped(hob_shared *s, const hob_shared_history_opts *opts,
                                           hob_shared_history **out, hob_error *err) {
    hob_shared_snapshot *p;
    hob_shared_events_snapshot(s, &p);
    int rc = hob_shared_snapshot_history(p, opts, out, err);
    hob_shared_snapshot_unref(p);
    return rc;
}

int hob_shared_conversation_history_for_agent(hob_shared *s, hob_str agent,
                                              hob_shared_history **out, hob_error *err) {
    hob_shared_history_opts opts = HOB_SHARED_HISTORY_OPTS_INIT;
    opts.agent = agent;
    return hob_shared_conversation_history_scoped(s, &opts, out, err);
}

int hob_shared_conversation_history(hob_shared *s, hob_shared_history **out, hob_error *err) {
    return hob_shared_conversation_history_for_agent(s, HOB_STR_NULL, out, err);
}
