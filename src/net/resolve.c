/*
 * resolve.c - one entry a name: either its addresses until they expire, or a look-up under way and
 * those who wait for it. Several requests for one name cause one look-up.
 */
#include "net/resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>

#define KEEP_MS 60000
#define MAX_ENTRIES 64
#define MAX_TEXT 4096 /* of one answer: some ninety addresses */

struct hob_resolver {
    hob_loop *loop;
    hob_pool *pool;
    hob_map *entries;
};

typedef struct job job;

typedef struct entry {
    hob_str host; /* owned */
    char *addresses;
    int64_t expires; /* mono_ms; INT64_MAX = pinned */
    job *job;        /* under way, or NULL */
    hob_list waiting;
} entry;

/* Outlives its entry when the resolver is destroyed meanwhile. */
struct job {
    hob_work work;
    entry *entry; /* NULL = nobody wants the answer any more */
    hob_resolver *resolver;
    char *host;
    hob_buf text;
    int gai, saved_errno;
    bool refused; /* the pool was full */
};

hob_resolver *hob_resolver_create(hob_loop *l, hob_pool *pool) {
    hob_resolver *r = HOB_NEW(hob_resolver);
    *r = (hob_resolver){.loop = l, .pool = pool, .entries = hob_map_create()};
    return r;
}

static void destroy_entry(entry *e) {
    if (e->job) e->job->entry = NULL;
    while (!hob_list_empty(&e->waiting)) {
        hob_list_remove(e->waiting.next);
    }
    hob_free((void *)e->host.p);
    hob_free(e->addresses);
    hob_free(e);
}

void hob_resolver_destroy(hob_resolver *r) {
    if (!r) return;
    size_t pos = 0;
    hob_str key;
    void *value;
    while (hob_map_next(r->entries, &pos, &key, &value)) {
        destroy_entry(value);
    }
    hob_map_destroy(r->entries);
    hob_free(r);
}

void hob_lookup_init(hob_lookup *k, void (*fn)(hob_lookup *, const char *, const hob_error *)) {
    k->fn = fn;
    hob_list_init(&k->link);
}

void hob_lookup_cancel(hob_lookup *k) {
    hob_list_remove(&k->link);
}

/* ---- entries ------------------------------------------------------------------------------- */

/* Makes room by dropping the finished entry that expires first; those under way stay. */
static void evict_one(hob_resolver *r) {
    entry *oldest = NULL;
    size_t pos = 0;
    hob_str key;
    void *value;
    while (hob_map_next(r->entries, &pos, &key, &value)) {
        entry *e = value;
        if (!e->job && (!oldest || e->expires < oldest->expires)) oldest = e;
    }
    if (!oldest) return;
    hob_map_take(r->entries, oldest->host);
    destroy_entry(oldest);
}

static entry *get_entry(hob_resolver *r, hob_str host) {
    entry *e = hob_map_get(r->entries, host);
    if (e) return e;
    if (hob_map_count(r->entries) >= MAX_ENTRIES) evict_one(r);
    e = HOB_NEW(entry);
    e->host = hob_str_n(hob_dupz(host), host.n);
    e->expires = INT64_MIN;
    hob_list_init(&e->waiting);
    hob_map_put(r->entries, e->host, e);
    return e;
}

static void set_addresses(entry *e, hob_str text, int64_t expires) {
    hob_free(e->addresses);
    e->addresses = hob_dupz(text);
    e->expires = expires;
}

/* Answers everybody who waits; the callbacks may start or cancel look-ups. */
static void answer(hob_resolver *r, hob_str host, const hob_error *err) {
    hob_list batch;
    entry *e = hob_map_get(r->entries, host);
    hob_list_init(&batch);
    while (!hob_list_empty(&e->waiting)) {
        hob_list *first = e->waiting.next;
        hob_list_remove(first);
        hob_list_push(&batch, first);
    }
    char *addresses = err ? NULL : hob_dupz(hob_str_z(e->addresses));
    while (!hob_list_empty(&batch)) {
        hob_lookup *k = HOB_LIST_FIRST(&batch, hob_lookup, link);
        hob_list_remove(&k->link);
        k->fn(k, addresses, err);
    }
    hob_free(addresses);
}

/* ---- the look-up --------------------------------------------------------------------------- */

static void add_address(hob_buf *out, const struct sockaddr *sa) {
    char text[INET6_ADDRSTRLEN];
    const struct sockaddr_in *v4 = (const void *)sa;
    const struct sockaddr_in6 *v6 = (const void *)sa;
    bool is6 = sa->sa_family == AF_INET6;
    if (!is6 && sa->sa_family != AF_INET) return;
    const void *address = is6 ? (const void *)&v6->sin6_addr : &v4->sin_addr;
    if (!inet_ntop(sa->sa_family, address, text, sizeof(text))) return;
    if (out->max - out->n < sizeof(text) + 3) return; /* enough is enough */
    hob_buf_addf(out, is6 ? "%s[%s]" : "%s%s", out->n ? "," : "", text);
}

static void look_up(hob_work *w) {
    job *j = HOB_CONTAINER(w, job, work);
    struct addrinfo *list = NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    j->gai = getaddrinfo(j->host, NULL, &hints, &list);
    j->saved_errno = errno;
    if (j->gai != 0) return;
    for (const struct addrinfo *a = list; a; a = a->ai_next) {
        add_address(&j->text, a->ai_addr);
    }
    freeaddrinfo(list);
}

static int explain(const job *j, hob_error *err) {
    if (j->refused)
        return hob_fail(err, HOB_EAGAIN, 0, "'%s' was not looked up: too much is under way",
                        j->host);
    if (j->work.dropped)
        return hob_fail(err, HOB_ECLOSED, 0, "'%s' was not looked up: shutting down", j->host);
    if (j->gai == EAI_SYSTEM)
        return hob_fail(err, HOB_ENET, j->saved_errno, "cannot look up '%s': %s", j->host,
                        strerror(j->saved_errno));
    if (j->gai == EAI_AGAIN)
        return hob_fail(err, HOB_ENET, 0,
                        "cannot look up '%s': no name server answered; check the network", j->host);
    if (j->gai != 0)
        return hob_fail(err, HOB_ENET, 0, "cannot look up '%s': %s; check the host in base_url",
                        j->host, gai_strerror(j->gai));
    if (j->text.n == 0)
        return hob_fail(err, HOB_ENET, 0, "'%s' has no IP address; check base_url", j->host);
    return HOB_OK;
}

static void free_job(hob_work *w) {
    job *j = HOB_CONTAINER(w, job, work);
    hob_buf_finish(&j->text);
    hob_free(j->host);
    hob_free(j);
}

static void looked_up(hob_work *w) {
    job *j = HOB_CONTAINER(w, job, work);
    hob_resolver *r = j->resolver;
    entry *e = j->entry;
    hob_error err;
    int code = e ? explain(j, &err) : HOB_OK;
    if (e) e->job = NULL;
    if (e && code == HOB_OK)
        set_addresses(e, hob_buf_str(&j->text), hob_loop_now(r->loop) + KEEP_MS);
    if (e) answer(r, e->host, code < 0 ? &err : NULL);
    free_job(w);
}

static void on_refused(hob_msg *m) {
    looked_up(HOB_CONTAINER(m, hob_work, msg));
}

static void start_job(hob_resolver *r, entry *e) {
    job *j = HOB_NEW(job);
    j->work.work = look_up;
    j->work.done = looked_up;
    j->work.abandoned = free_job;
    j->entry = e;
    j->resolver = r;
    j->host = hob_dupz(e->host);
    hob_buf_init(&j->text, MAX_TEXT);
    e->job = j;
    if (hob_pool_submit(r->pool, r->loop, &j->work) == HOB_OK) return;
    j->refused = true; /* the answer still comes from the loop, not from inside this call */
    j->work.msg.fn = on_refused;
    hob_loop_post(r->loop, &j->work.msg);
}

const char *hob_resolver_lookup(hob_resolver *r, hob_str host, hob_lookup *k) {
    entry *e = get_entry(r, host);
    if (e->addresses && e->expires > hob_loop_now(r->loop)) return e->addresses;
    hob_list_push(&e->waiting, &k->link);
    if (!e->job) start_job(r, e);
    return NULL;
}

void hob_resolver_pin(hob_resolver *r, hob_str host, const char *addresses) {
    set_addresses(get_entry(r, host), hob_str_z(addresses), INT64_MAX);
}
