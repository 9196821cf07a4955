/*
 * sqlite_writer.c - the thread that writes: group commit without a timer.
 *
 * It takes what is queued (up to 64 events or 1 MiB), commits it as one transaction under the lock of
 * the store, and acknowledges all of it. What arrived meanwhile is the next group. So a lone commit
 * waits for nothing, and a crowd shares one fsync.
 *
 * A refused request changes nothing for its neighbours. When the transaction itself fails, nothing of
 * it is stored and every request in it says so; a fault that belongs to one request alone (a damaged
 * page, a broken constraint) is found by trying them one by one.
 */
#include "store/sqlite.h"

#include <sys/prctl.h>

/* ---- the queue ---------------------------------------------------------------------------- */

static size_t cost_of(const hob_store_req *r) {
    return HOB_MAX(r->nevents + r->nchanges, (size_t)1);
}

/* Moves the next group out of the queue. False: nothing is left and nothing more will come. An empty
 * group: nobody is waiting, and there is trash to clear away. */
static bool take_group(hob_sqlite *s, hob_list *group) {
    size_t events = 0, bytes = 0;
    hob_list_init(group);
    pthread_mutex_lock(&s->mu);
    while (hob_list_empty(&s->queue) && !s->stop && !s->trash) pthread_cond_wait(&s->work, &s->mu);
    bool more = !hob_list_empty(&s->queue) || !s->stop;
    while (!hob_list_empty(&s->queue)) {
        hob_store_req *r = HOB_LIST_FIRST(&s->queue, hob_store_req, link);
        events += cost_of(r);
        bytes += r->bytes;
        bool full = events > HOB_SQLITE_GROUP_EVENTS || bytes > HOB_SQLITE_GROUP_BYTES;
        if (full && !hob_list_empty(group)) break;
        hob_list_remove(&r->link);
        hob_list_push(group, &r->link);
    }
    pthread_mutex_unlock(&s->mu);
    return more;
}

static void acknowledge(hob_sqlite *s, hob_list *group) {
    if (hob_list_empty(group)) return;
    pthread_mutex_lock(&s->mu);
    HOB_LIST_EACH_SAFE (it, group) {
        hob_store_req *r = HOB_CONTAINER(it, hob_store_req, link);
        hob_list_remove(it);
        hob_list_push(r->code >= 0 && r->again ? &s->queue : &s->done, it); /* behind the others */
    }
    pthread_cond_signal(&s->news);
    pthread_mutex_unlock(&s->mu);
    hob_wake_ring(s->wake);
}

/* ---- a transaction ------------------------------------------------------------------------ */

static bool to_apply(const hob_store_req *r) {
    return !r->refused && !hob_store_req_reads(r);
}

static int apply_all(hob_sqlite *s, hob_list *group) {
    HOB_LIST_EACH (it, group) {
        hob_store_req *r = HOB_CONTAINER(it, hob_store_req, link);
        if (!to_apply(r)) continue;
        r->code = 0;
        r->n = 0;
        if (hob_sqlite_apply(s, r) < 0) return -1;
    }
    return hob_sqlite_seats_write(s);
}

typedef enum outcome { STORED, FAILED, FAILED_BY_ONE, BROKEN } outcome;

static outcome classify(const hob_sqlite_conn *c) {
    if (hob_sqlite_sync_failed(c)) return BROKEN;
    switch (sqlite3_errcode(c->db) & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_CORRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR: return FAILED_BY_ONE;
    default: return FAILED;
    }
}

static outcome transact(hob_sqlite *s, hob_list *group, hob_error *err) {
    if (hob_filelock_take(&s->lock, s->lock_wait_ms, err) < 0) return FAILED;
    outcome o = STORED;
    s->group++;
    hob_sqlite_seats_trim(s);
    if (hob_sqlite_exec(s->conn, HOB_SQL_BEGIN) < 0 || apply_all(s, group) < 0 ||
        hob_sqlite_commit(s->conn) < 0) {
        o = classify(s->conn);
        hob_sqlite_fail(s->conn, err);
        if (!sqlite3_get_autocommit(s->conn->db)) hob_sqlite_exec(s->conn, HOB_SQL_ROLLBACK);
        hob_sqlite_seats_destroy(s); /* it may know sessions that were undone */
    }
    hob_filelock_drop(&s->lock);
    return o;
}

/* ---- a group ------------------------------------------------------------------------------ */

static void fail_all(hob_list *group, const hob_error *err, bool reads_too) {
    HOB_LIST_EACH (it, group) {
        hob_store_req *r = HOB_CONTAINER(it, hob_store_req, link);
        if (to_apply(r) || (reads_too && !r->refused)) hob_store_req_fail(r, err);
    }
}

static size_t count_writes(hob_list *group) {
    size_t n = 0;
    HOB_LIST_EACH (it, group) n += to_apply(HOB_CONTAINER(it, hob_store_req, link));
    return n;
}

static void store_group(hob_sqlite *s, hob_list *group);

static void store_one_by_one(hob_sqlite *s, hob_list *group) {
    hob_list finished, one;
    hob_list_init(&finished);
    while (!hob_list_empty(group)) {
        hob_list *it = group->next;
        hob_list_remove(it);
        hob_list_init(&one);
        hob_list_push(&one, it);
        store_group(s, &one);
        hob_list_remove(it);
        hob_list_push(&finished, it);
    }
    HOB_LIST_EACH_SAFE (it, &finished) {
        hob_list_remove(it);
        hob_list_push(group, it);
    }
}

static void store_group(hob_sqlite *s, hob_list *group) {
    hob_error err;
    size_t writes = count_writes(group);
    if (!s->conn && hob_sqlite_file_reopen(s, &err) < 0) {
        fail_all(group, &err, true);
        return;
    }
    if (writes == 0) return;
    switch (transact(s, group, &err)) {
    case STORED: return;
    case FAILED_BY_ONE:
        if (writes > 1) {
            store_one_by_one(s, group);
            return;
        }
        break;
    case FAILED: break;
    case BROKEN: hob_sqlite_file_abandon(s); break;
    }
    hob_log(HOB_LOG_ERROR, "store", "%s", err.message);
    fail_all(group, &err, false);
}

static void prepare(hob_list *group) {
    HOB_LIST_EACH (it, group) {
        hob_store_req *r = HOB_CONTAINER(it, hob_store_req, link);
        r->refused = r->code < 0;
        if (r->op == HOB_OP_COMMIT && !r->refused) hob_sqlite_hash(r);
    }
}

/* Reads that found no room in the pool; the others only pass through, behind the writes before them. */
static void do_reads(hob_sqlite *s, hob_list *group) {
    HOB_LIST_EACH (it, group) {
        hob_store_req *r = HOB_CONTAINER(it, hob_store_req, link);
        if (!r->at_writer || r->code < 0) continue;
        if (s->conn)
            hob_sqlite_read(s, s->conn, r);
        else
            r->code = hob_fail(hob_store_req_err(r), HOB_ESTORE, 0,
                               "the store %s failed a moment ago: try again", s->path);
    }
}

void *hob_sqlite_writer(void *store) {
    hob_sqlite *s = store;
    hob_list group;
    prctl(PR_SET_NAME, "hob-store");
    int opened = hob_sqlite_file_open(s, &s->open_err);
    while (take_group(s, &group)) {
        prepare(&group);
        if (opened < 0) {
            fail_all(&group, &s->open_err, true);
        } else {
            store_group(s, &group);
            do_reads(s, &group);
        }
        bool idle = hob_list_empty(&group);
        acknowledge(s, &group);
        hob_sqlite_checkpoint(s);
        if (idle) hob_sqlite_purge(s);
    }
    hob_sqlite_file_close(s);
    return NULL;
}
