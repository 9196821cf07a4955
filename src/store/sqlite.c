/*
 * sqlite.c - the SQLite store as the loop sees it: calls in, answers out, in order.
 *
 * Writes go to the writer's queue and come back in the order they went. A read must see the writes
 * called before it and be answered before the requests called after it, for the same session. So it
 * passes through the queue too (at once to the pool when no write is under way), and a request behind a
 * read of its session is held until that is answered. Sessions do not wait for each other.
 */
#include "store/sqlite.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define LOCK_WAIT_MS 30000

/* A read on its way through the pool. It outlives the store if the pool still has it at close. */
enum { WAITING, RUNNING, ENDED, TAKEN };
struct hob_store_read {
    hob_work work;
    hob_sqlite *store; /* NULL: the store is gone */
    hob_store_req *req;
    atomic_int state;
};
typedef struct hob_store_read job;

/* ---- to the writer and the pool ----------------------------------------------------------- */

static void enqueue(hob_sqlite *s, hob_store_req *r) {
    pthread_mutex_lock(&s->mu);
    hob_list_push(&s->queue, &r->link);
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->mu);
}

static void finish(hob_sqlite *s, hob_store_req *r);

static void job_work(hob_work *w) {
    job *j = HOB_CONTAINER(w, job, work);
    int waiting = WAITING;
    if (!atomic_compare_exchange_strong(&j->state, &waiting, RUNNING)) return;
    hob_sqlite *s = j->store;
    hob_sqlite_read_any(s, j->req);
    pthread_mutex_lock(&s->mu);
    atomic_store(&j->state, ENDED);
    pthread_cond_signal(&s->news); /* under mu: after it, close may free the store */
    pthread_mutex_unlock(&s->mu);
}

static void read_at_writer(hob_sqlite *s, hob_store_req *r) {
    r->at_writer = true;
    r->job = NULL;
    enqueue(s, r);
}

static void job_done(hob_work *w) {
    job *j = HOB_CONTAINER(w, job, work);
    hob_sqlite *s = j->store;
    hob_store_req *r = j->req;
    bool ended = atomic_load(&j->state) == ENDED;
    hob_free(j);
    if (!s) return;
    if (!ended) { /* the pool was destroyed first */
        read_at_writer(s, r);
        return;
    }
    r->job = NULL;
    finish(s, r);
}

static void start_read(hob_sqlite *s, hob_store_req *r) {
    r->started = true;
    job *j = HOB_NEW(job);
    j->work.work = job_work;
    j->work.done = job_done;
    j->store = s;
    j->req = r;
    r->job = j;
    if (s->closing || !s->pool || hob_pool_submit(s->pool, s->loop, &j->work) < 0) {
        hob_free(j);
        read_at_writer(s, r);
    }
}

/* ---- order -------------------------------------------------------------------------------- */

static bool share_session(const hob_store_req *a, const hob_store_req *b) {
    for (size_t i = 0; i < b->nappends; i++) {
        if (hob_store_req_touches(a, b->appends[i].session)) return true;
    }
    return hob_store_req_touches(a, b->session);
}

/* Is there a read under way, or a request held before it, for one of its sessions? */
static bool must_wait(hob_sqlite *s, hob_store_req *r) {
    HOB_LIST_EACH (it, &s->reads) {
        if (share_session(r, HOB_CONTAINER(it, hob_store_req, order))) return true;
    }
    HOB_LIST_EACH (it, &s->held) {
        hob_store_req *before = HOB_CONTAINER(it, hob_store_req, link);
        if (before == r) return false;
        if (share_session(r, before)) return true;
    }
    return false;
}

static bool is_ready(hob_sqlite *s) {
    pthread_mutex_lock(&s->mu);
    bool ready = s->ready;
    pthread_mutex_unlock(&s->mu);
    return ready;
}

static void launch(hob_sqlite *s, hob_store_req *r) {
    if (!hob_store_req_reads(r)) {
        s->writes++;
        enqueue(s, r);
        return;
    }
    hob_list_push(&s->reads, &r->order);
    if (s->writes == 0 && r->code >= 0 && is_ready(s))
        start_read(s, r);
    else
        enqueue(s, r);
}

static void submit(hob_store_front *f, hob_store_req *r) {
    hob_sqlite *s = (hob_sqlite *)f;
    if (s->outstanding++ == 0) hob_loop_hold(s->loop); /* disks live in real time */
    if (s->closing && r->code >= 0)
        r->code = hob_fail(hob_store_req_err(r), HOB_ECLOSED, 0, "the store is being closed");
    if (must_wait(s, r))
        hob_list_push(&s->held, &r->link);
    else
        launch(s, r);
}

static void release_held(hob_sqlite *s) {
    HOB_LIST_EACH_SAFE (it, &s->held) {
        hob_store_req *r = HOB_CONTAINER(it, hob_store_req, link);
        if (must_wait(s, r)) continue;
        hob_list_remove(it);
        launch(s, r);
    }
}

/* ---- answers ------------------------------------------------------------------------------ */

/* The callback may close the store: the last thing done here. */
static void finish(hob_sqlite *s, hob_store_req *r) {
    if (--s->outstanding == 0) hob_loop_release(s->loop);
    if (hob_store_req_reads(r)) {
        hob_list_remove(&r->order);
        release_held(s);
    } else {
        s->writes--;
    }
    hob_store_req_finish(r);
}

static void destroy(hob_sqlite *s) {
    hob_wake_destroy(s->wake);
    pthread_mutex_destroy(&s->mu);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->news);
    hob_free(s->path);
    hob_free(s->lock_path);
    hob_free(s->owners_path);
    hob_free(s->owner_name);
    hob_free(s);
}

static void deliver(void *owner) {
    hob_sqlite *s = owner;
    s->depth++;
    pthread_mutex_lock(&s->mu);
    HOB_LIST_EACH_SAFE (it, &s->done) {
        hob_list_remove(it);
        hob_list_push(&s->arrived, it);
    }
    pthread_mutex_unlock(&s->mu);
    while (!hob_list_empty(&s->arrived)) {
        hob_store_req *r = HOB_LIST_FIRST(&s->arrived, hob_store_req, link);
        hob_list_remove(&r->link);
        if (r->code >= 0 && hob_store_req_reads(r) && !r->started)
            start_read(s, r);
        else
            finish(s, r);
    }
    if (--s->depth == 0 && s->closed) destroy(s);
}

/* ---- close -------------------------------------------------------------------------------- */

/* Ends a read that the pool has: takes it back, or waits for it. The pool may be busy with other work
 * for as long as it likes. */
static void settle_job(hob_sqlite *s, job *j) {
    int waiting = WAITING;
    hob_store_req *r = j->req;
    if (atomic_compare_exchange_strong(&j->state, &waiting, TAKEN)) {
        hob_sqlite_read_any(s, r);
    } else {
        pthread_mutex_lock(&s->mu);
        while (atomic_load(&j->state) != ENDED) pthread_cond_wait(&s->news, &s->mu);
        pthread_mutex_unlock(&s->mu);
    }
    j->store = NULL;
    r->job = NULL;
    finish(s, r);
}

static job *first_job(hob_sqlite *s) {
    HOB_LIST_EACH (it, &s->reads) {
        hob_store_req *r = HOB_CONTAINER(it, hob_store_req, order);
        if (r->job) return r->job;
    }
    return NULL;
}

static void drain(hob_sqlite *s) {
    while (s->outstanding > 0) {
        job *j = first_job(s);
        if (j) {
            settle_job(s, j);
            continue;
        }
        if (hob_list_empty(&s->arrived)) {
            pthread_mutex_lock(&s->mu);
            while (hob_list_empty(&s->done)) pthread_cond_wait(&s->news, &s->mu);
            pthread_mutex_unlock(&s->mu);
        }
        deliver(s);
    }
}

static void close_store(hob_store *base) {
    hob_sqlite *s = (hob_sqlite *)base;
    s->closing = true;
    drain(s);
    pthread_mutex_lock(&s->mu);
    s->stop = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->mu);
    pthread_join(s->writer, NULL);
    if (s->depth > 0)
        s->closed = true; /* a callback is still inside deliver */
    else
        destroy(s);
}

/* ---- open --------------------------------------------------------------------------------- */

static const hob_store_ops ops = {
    .size = sizeof(ops), .name = "sqlite", HOB_STORE_FRONT_OPS, .close = close_store};

static char *joined(const char *a, const char *b) {
    hob_buf buf;
    hob_buf_init(&buf, 16384);
    hob_buf_addf(&buf, "%s%s", a, b);
    char *z = hob_dupz(hob_buf_str(&buf));
    hob_buf_finish(&buf);
    return z;
}

/* The writer must not depend on where the process is later. */
static int absolute(hob_str path, char **out, hob_error *err) {
    char cwd[4096] = "", *given;
    if (path.n == 0 || path.n > 4000 || memchr(path.p, '\0', path.n))
        return hob_fail(err, HOB_EINVAL, 0, "a store needs the path of a file (1 to 4000 bytes)");
    if (path.p[0] != '/' && !getcwd(cwd, sizeof(cwd) - 1))
        return hob_fail_errno(err, HOB_ESTORE, "cannot find the current folder for the store %.*s",
                              HOB_FMT(path));
    if (path.p[0] != '/') cwd[strlen(cwd)] = '/';
    given = hob_dupz(path);
    *out = joined(cwd, given);
    hob_free(given);
    return 0;
}

static void name_owner(hob_sqlite *s, hob_str name) {
    char pid[32];
    snprintf(pid, sizeof(pid), "pid %ld", (long)getpid());
    s->owner_name = name.n ? hob_dupz(hob_str_first(name, hob_utf8_prefix(name, 100)))
                           : hob_dupz(hob_str_z(pid));
}

/* The host's signals are not for this thread. */
static int start_writer(hob_sqlite *s) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&s->writer, NULL, hob_sqlite_writer, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int hob_store_sqlite_open(hob_loop *l, const hob_sqlite_opts *o, hob_store **out, hob_error *err) {
    char *path;
    int rc = absolute(o->path, &path, err);
    if (rc < 0) return rc;
    hob_sqlite *s = HOB_NEW(hob_sqlite);
    s->front.base.ops = &ops;
    s->front.submit = submit;
    s->front.clock = hob_loop_clock(l);
    s->loop = l;
    s->pool = o->pool;
    s->path = path;
    s->lock_path = joined(path, ".lock");
    s->owners_path = joined(path, ".owners");
    s->lock_wait_ms = o->lock_wait_ms > 0 ? o->lock_wait_ms : LOCK_WAIT_MS;
    name_owner(s, o->owner_name);
    hob_list *lists[] = {&s->reads, &s->held, &s->arrived, &s->queue, &s->done, &s->dirty};
    for (size_t i = 0; i < HOB_ARRAY_LEN(lists); i++) hob_list_init(lists[i]);
    s->lock.fd = s->owner.fd = -1;
    pthread_mutex_init(&s->mu, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->news, NULL);
    s->wake = hob_wake_create(l, deliver, s);
    rc = start_writer(s);
    if (rc != 0) {
        destroy(s);
        return hob_fail(err, HOB_ESTORE, rc, "cannot start the writer thread of the store");
    }
    *out = &s->front.base;
    return 0;
}
