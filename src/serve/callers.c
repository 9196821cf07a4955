/*
 * callers.c - the callers in force, and what they have taken.
 */
#include "serve/callers.h"

#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINUTE 60000

struct hob_caller_use {
    atomic_int refs;
    _Atomic int64_t taken[HOB_QUOTA_COUNT];
    _Atomic int64_t runs; /* that began */
    /* Requests: a bucket that fills with per_minute a minute. Server's thread only. */
    int64_t filled_at;
    double level; /* requests that may come at once */
    bool begun;
    hob_caller_turn turns; /* the same thread */
};

typedef struct row {
    hob_caller caller; /* first: a hob_caller is its row */
    atomic_int refs;
    atomic_bool gone; /* no longer in force */
    bool kept;        /* replacing: the new set has it, too. Under the set's lock */
    unsigned char digest[32];
} row;

typedef struct rows {
    row **at;
    size_t n;
} rows;

struct hob_callers {
    pthread_mutex_t lock;
    rows in_force;
    hob_map *uses; /* name -> hob_caller_use, one reference each */
    char *max_mode;
};

/* ---- one caller --------------------------------------------------------------------------------------- */

static void use_unref(struct hob_caller_use *u) {
    if (u && atomic_fetch_sub(&u->refs, 1) == 1) hob_free(u);
}

static row *row_of(const hob_caller *c) {
    return HOB_CONTAINER((hob_caller *)(uintptr_t)c, row, caller);
}

const hob_caller *hob_caller_ref(const hob_caller *c) {
    atomic_fetch_add(&row_of(c)->refs, 1);
    return c;
}

void hob_caller_unref(const hob_caller *c) {
    if (!c || atomic_fetch_sub(&row_of(c)->refs, 1) != 1) return;
    row *r = row_of(c);
    hob_free((char *)(uintptr_t)c->name.p);
    hob_free((char *)(uintptr_t)c->tenant.p);
    hob_free((char *)(uintptr_t)c->principal.p);
    hob_free((char *)(uintptr_t)c->max_mode.p);
    use_unref(c->use);
    sodium_memzero(r->digest, sizeof r->digest);
    hob_free(r);
}

static hob_str keep(hob_str s) {
    return hob_str_n(hob_dupz(s), s.n);
}

static row *row_create(hob_callers *c, const hob_token_row *from) {
    row *r = HOB_NEW(row);
    r->caller = from->caller;
    r->caller.name = keep(from->caller.name);
    r->caller.tenant = keep(from->caller.tenant);
    r->caller.principal = keep(from->caller.principal);
    r->caller.max_mode = keep(from->caller.max_mode);
    memcpy(r->digest, from->digest, sizeof r->digest);
    atomic_init(&r->refs, 1);
    pthread_mutex_lock(&c->lock);
    struct hob_caller_use *u = hob_map_get(c->uses, from->caller.name);
    if (!u) {
        u = HOB_NEW(struct hob_caller_use);
        atomic_init(&u->refs, 1);
        hob_map_put(c->uses, from->caller.name, u);
    }
    atomic_fetch_add(&u->refs, 1);
    pthread_mutex_unlock(&c->lock);
    r->caller.use = u;
    return r;
}

const char *hob_right_name(hob_right right) {
    switch (right) {
    case HOB_RIGHT_NONE: return "";
    case HOB_RIGHT_READ: return "read";
    case HOB_RIGHT_RUN: return "run";
    case HOB_RIGHT_APPROVE: return "approve";
    case HOB_RIGHT_ADMIN: return "admin";
    }
    return "";
}

bool hob_caller_gone(const hob_caller *c) {
    return atomic_load(&row_of(c)->gone);
}

bool hob_caller_may(const hob_caller *c, hob_right right) {
    return right == HOB_RIGHT_NONE || (c && (c->rights & 1u << right));
}

/* ---- quotas ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t unit;
} quotas[HOB_QUOTA_COUNT] = {
    [HOB_QUOTA_SESSIONS] = {"sessions", 1},
    [HOB_QUOTA_RUNS] = {"runs", 1},
    [HOB_QUOTA_STREAMS] = {"streams", 1},
    [HOB_QUOTA_TOKENS] = {"tokens", 1},
    [HOB_QUOTA_COST] = {"cost_usd", 1000000},
    [HOB_QUOTA_BUFFER] = {"buffer_mib", 1 << 20},
    [HOB_QUOTA_ARTIFACTS] = {"artifact_mib", 1 << 20},
};

const char *hob_quota_name(hob_quota q) {
    return quotas[q].name;
}

int64_t hob_quota_unit(hob_quota q) {
    return quotas[q].unit;
}

/* What makes room again. */
static const char *hint(hob_quota q) {
    switch (q) {
    case HOB_QUOTA_SESSIONS:
        return ": those that are open count; one that was used a moment ago is let go of after a "
               "minute, or at once by POST /api/sessions/{id}/close";
    case HOB_QUOTA_RUNS: return ": wait until one ends, answer what it asks, or cancel it";
    case HOB_QUOTA_STREAMS: return ": close one";
    case HOB_QUOTA_TOKENS:
    case HOB_QUOTA_COST:
    case HOB_QUOTA_BUFFER:
    case HOB_QUOTA_ARTIFACTS:
    case HOB_QUOTA_COUNT: break;
    }
    return "";
}

int hob_caller_take(const hob_caller *c, hob_quota q, int64_t n, hob_error *err) {
    _Atomic int64_t *taken = &c->use->taken[q];
    int64_t now = atomic_load(taken), limit = c->limits[q];
    do {
        if (limit && now + n > limit)
            return hob_fail(err, HOB_ELIMIT, 0,
                            "the limit of %s of '%.*s' is reached (%lld of %lld)%s", quotas[q].name,
                            HOB_FMT(c->name), (long long)(now / quotas[q].unit),
                            (long long)(limit / quotas[q].unit), hint(q));
    } while (!atomic_compare_exchange_weak(taken, &now, now + n));
    return HOB_OK;
}

int hob_caller_hold(const hob_caller *c, size_t had, size_t n, hob_error *err) {
    _Atomic int64_t *taken = &c->use->taken[HOB_QUOTA_BUFFER];
    int64_t all = atomic_fetch_add(taken, (int64_t)n), limit = c->limits[HOB_QUOTA_BUFFER];
    if (!limit || all <= (int64_t)had || all + (int64_t)n <= limit) return HOB_OK;
    atomic_fetch_sub(taken, (int64_t)n);
    return hob_fail(
        err, HOB_ELIMIT, 0,
        "%lld MiB of requests and unread answers are kept for '%.*s' already: read them, "
        "or close their connections, and try again",
        (long long)(all >> 20), HOB_FMT(c->name));
}

void hob_caller_give(const hob_caller *c, hob_quota q, int64_t n) {
    atomic_fetch_sub(&c->use->taken[q], n);
}

int64_t hob_caller_taken(const hob_caller *c, hob_quota q) {
    return atomic_load(&c->use->taken[q]);
}

hob_caller_turn *hob_caller_turns(const hob_caller *c) {
    return &c->use->turns;
}

int hob_caller_rate(const hob_caller *c, int64_t now_ms) {
    struct hob_caller_use *u = c->use;
    double most = (double)c->per_minute;
    if (!c->per_minute) return 0;
    if (!u->begun) u->level = most;
    u->level += u->begun ? (double)(now_ms - u->filled_at) * most / MINUTE : 0;
    u->level = HOB_MIN(u->level, most);
    u->begun = true;
    u->filled_at = now_ms;
    if (u->level < 1) return 1 + (int)((1 - u->level) * 60 / most);
    u->level -= 1;
    return 0;
}

int64_t hob_caller_rated(const hob_caller *c) {
    return c->per_minute - (int64_t)c->use->level;
}

/* ---- the set ------------------------------------------------------------------------------------------ */

hob_callers *hob_callers_create(hob_str max_mode) {
    hob_callers *c = HOB_NEW(hob_callers);
    pthread_mutex_init(&c->lock, NULL);
    c->uses = hob_map_create();
    c->max_mode = hob_dupz(max_mode);
    return c;
}

static void rows_finish(rows *r) {
    for (size_t i = 0; i < r->n; i++) hob_caller_unref(&r->at[i]->caller);
    hob_free(r->at);
    *r = (rows){NULL, 0};
}

void hob_callers_destroy(hob_callers *c) {
    if (!c) return;
    hob_str name;
    void *use;
    rows_finish(&c->in_force);
    for (size_t at = 0; hob_map_next(c->uses, &at, &name, &use);) use_unref(use);
    hob_map_destroy(c->uses);
    pthread_mutex_destroy(&c->lock);
    hob_free(c->max_mode);
    hob_free(c);
}

typedef struct collecting {
    hob_callers *callers;
    rows rows;
    hob_error *err;
} collecting;

static int collect(const hob_token_row *from, void *user) {
    collecting *k = user;
    for (size_t i = 0; i < k->rows.n; i++) {
        bool same = !sodium_memcmp(k->rows.at[i]->digest, from->digest, 32);
        if (same || hob_str_eq(k->rows.at[i]->caller.name, from->caller.name))
            return hob_fail(k->err, HOB_ECONFIG, 0, "token '%.*s': that %s is used twice",
                            HOB_FMT(from->caller.name), same ? "secret" : "name");
    }
    k->rows.at = hob_realloc(k->rows.at, (k->rows.n + 1) * sizeof *k->rows.at);
    k->rows.at[k->rows.n++] = row_create(k->callers, from);
    return HOB_OK;
}

static bool says_same(const row *a, const row *b) {
    const hob_caller *x = &a->caller, *y = &b->caller;
    return !memcmp(a->digest, b->digest, sizeof a->digest) && hob_str_eq(x->name, y->name) &&
           hob_str_eq(x->tenant, y->tenant) && hob_str_eq(x->principal, y->principal) &&
           x->rights == y->rights && hob_str_eq(x->max_mode, y->max_mode) &&
           !memcmp(x->limits, y->limits, sizeof x->limits) && x->per_minute == y->per_minute;
}

/* The old row in place of a new one that says the same: what goes on under it goes on. */
static void keep_old(const rows *old, row **fresh) {
    for (size_t i = 0; i < old->n; i++) {
        if (!says_same(old->at[i], *fresh)) continue;
        hob_caller_unref(&(*fresh)->caller);
        hob_caller_ref(&old->at[i]->caller);
        *fresh = old->at[i];
        (*fresh)->kept = true;
        return;
    }
}

static void put_in_force(hob_callers *c, rows *fresh) {
    pthread_mutex_lock(&c->lock);
    rows old = c->in_force;
    for (size_t i = 0; i < old.n; i++) old.at[i]->kept = false;
    for (size_t i = 0; i < fresh->n; i++) keep_old(&old, &fresh->at[i]);
    for (size_t i = 0; i < old.n; i++)
        if (!old.at[i]->kept) atomic_store(&old.at[i]->gone, true);
    c->in_force = *fresh;
    pthread_mutex_unlock(&c->lock);
    rows_finish(&old);
}

int hob_callers_set_text(hob_callers *c, hob_str text, hob_error *err) {
    collecting k = {.callers = c, .err = err};
    int r = hob_tokens_parse(text, hob_str_z(c->max_mode), collect, &k, err);
    if (r < 0)
        rows_finish(&k.rows);
    else
        put_in_force(c, &k.rows);
    return r;
}

int hob_callers_set_token(hob_callers *c, hob_str token, hob_error *err) {
    collecting k = {.callers = c, .err = err};
    hob_token_row own = {.caller = {.name = HOB_STR("default"),
                                    .tenant = HOB_STR("hob"),
                                    .principal = HOB_STR("local"),
                                    .rights = HOB_RIGHTS_ALL,
                                    .limits = {[HOB_QUOTA_BUFFER] = HOB_CALLER_BUFFER},
                                    .max_mode = hob_str_z(c->max_mode)}};
    if (token.n < HOB_TOKEN_MIN || token.n > HOB_TOKEN_MAX)
        return hob_fail(err, HOB_EINVAL, 0, "a token has %d to %d characters, not %zu",
                        HOB_TOKEN_MIN, HOB_TOKEN_MAX, token.n);
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] <= 0x20 || token.p[i] >= 0x7f)
            return hob_fail(err, HOB_EINVAL, 0, "a token has visible ASCII characters only");
    hob_token_digest(token, own.digest);
    collect(&own, &k);
    put_in_force(c, &k.rows);
    return HOB_OK;
}

static int read_file(int fd, const char *file, hob_buf *out, hob_error *err) {
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return hob_fail(err, HOB_ECONFIG, 0, "the token file %s is not a file", file);
    if (st.st_mode & (S_IRWXO | S_IWGRP))
        return hob_fail(err, HOB_EACCES, 0,
                        "others can read or change the token file %s: chmod 600 %s", file, file);
    for (;;) {
        char *room = hob_buf_reserve(out, 65536);
        if (!room) return hob_fail(err, HOB_ECONFIG, 0, "the token file %s is over 4 MiB", file);
        ssize_t n = read(fd, room, 65536);
        if (n < 0)
            return hob_fail_errno(err, HOB_ECONFIG, "the token file %s cannot be read", file);
        if (n == 0) return HOB_OK;
        out->n += (size_t)n;
    }
}

int hob_callers_load(hob_callers *c, const char *file, hob_error *err) {
    hob_buf text;
    hob_error why;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe waits for nobody */
    if (fd < 0) return hob_fail_errno(err, HOB_ECONFIG, "the token file %s cannot be read", file);
    hob_buf_init(&text, HOB_TOKEN_FILE_MAX + 65536);
    int r = read_file(fd, file, &text, err);
    close(fd);
    if (r >= 0) {
        r = hob_callers_set_text(c, hob_buf_str(&text), &why);
        if (r < 0) hob_fail(err, r, 0, "%s: %s", file, why.message);
    }
    if (text.p) sodium_memzero(text.p, text.n);
    hob_buf_finish(&text);
    return r;
}

const hob_caller *hob_callers_find(hob_callers *c, hob_str token) {
    unsigned char digest[32];
    const hob_caller *found = NULL;
    if (token.n > HOB_TOKEN_MAX) return NULL;
    hob_token_digest(token, digest);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->in_force.n; i++)
        if (!sodium_memcmp(c->in_force.at[i]->digest, digest, 32))
            found = &c->in_force.at[i]->caller;
    if (found) hob_caller_ref(found);
    pthread_mutex_unlock(&c->lock);
    return found;
}

const hob_caller *hob_callers_named(hob_callers *c, hob_str name) {
    const hob_caller *found = NULL;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->in_force.n && !found; i++)
        if (hob_str_eq(c->in_force.at[i]->caller.name, name)) found = &c->in_force.at[i]->caller;
    if (found) hob_caller_ref(found);
    pthread_mutex_unlock(&c->lock);
    return found;
}

void hob_callers_spend(hob_callers *c, hob_str name, int64_t tokens, int64_t micro_usd) {
    pthread_mutex_lock(&c->lock);
    struct hob_caller_use *u = hob_map_get(c->uses, name);
    if (u) atomic_fetch_add(&u->taken[HOB_QUOTA_TOKENS], tokens);
    if (u) atomic_fetch_add(&u->taken[HOB_QUOTA_COST], micro_usd);
    pthread_mutex_unlock(&c->lock);
}

void hob_callers_count_run(hob_callers *c, hob_str name) {
    pthread_mutex_lock(&c->lock);
    struct hob_caller_use *u = hob_map_get(c->uses, name);
    if (u) atomic_fetch_add(&u->runs, 1);
    pthread_mutex_unlock(&c->lock);
}

int64_t hob_caller_runs(const hob_caller *c) {
    return atomic_load(&c->use->runs);
}

size_t hob_callers_count(hob_callers *c) {
    pthread_mutex_lock(&c->lock);
    size_t n = c->in_force.n;
    pthread_mutex_unlock(&c->lock);
    return n;
}
