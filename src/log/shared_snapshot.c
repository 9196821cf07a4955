#include "log/shared.h"

/* ---- names --------------------------------------------------------------------------------------- */

static hob_str lay(char **at, hob_str s) {
    hob_str copy = hob_str_n(*at, s.n);
    if (s.n) memcpy(*at, s.p, s.n);
    *at += s.n;
    return copy;
}

int hob_shared_name_create(hob_str id, hob_str app_name, hob_str user_id, hob_shared_name **out,
                           hob_error *err) {
    if (id.n > HOB_SHARED_IDENTITY_MAX || app_name.n > HOB_SHARED_IDENTITY_MAX ||
        user_id.n > HOB_SHARED_IDENTITY_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "an id of the session is over %d bytes",
                        HOB_SHARED_IDENTITY_MAX);
    hob_shared_name *n = hob_alloc(sizeof *n + id.n + app_name.n + user_id.n + 1);
    char *at = (char *)(n + 1);
    atomic_init(&n->refs, 1);
    n->id = lay(&at, id);
    n->app_name = lay(&at, app_name);
    n->user_id = lay(&at, user_id);
    *out = n;
    return HOB_OK;
}

void hob_shared_name_unref(hob_shared_name *n) {
    if (n && atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) == 1) hob_free(n);
}

/* ---- snapshots -------------------------------------------------------------------------------------- */

hob_shared_snapshot *hob_ledger_snapshot(const hob_ledger *l, hob_shared_name *name) {
    hob_shared_snapshot *p = HOB_NEW(hob_shared_snapshot);
    atomic_init(&p->refs, 1);
    hob_state_copy(&p->state, &l->state);
    hob_records_copy(&p->records, &l->records);
    p->revision = l->revision;
    p->name = name;
    atomic_fetch_add_explicit(&name->refs, 1, memory_order_relaxed);
    return p;
}

hob_shared_snapshot *hob_shared_snapshot_ref(hob_shared_snapshot *p) {
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void hob_shared_snapshot_unref(hob_shared_snapshot *p) {
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    hob_state_finish(&p->state);
    hob_records_finish(&p->records);
    hob_shared_name_unref(p->name);
    hob_free(p);
}

uint64_t hob_shared_snapshot_revision(const hob_shared_snapshot *p) {
    return p->revision;
}

size_t hob_shared_snapshot_len(const hob_shared_snapshot *p) {
    return p->records.n;
}

const hob_shared_event *hob_shared_snapshot_event(const hob_shared_snapshot *p, size_t i) {
    return i < p->records.n ? &hob_records_at(&p->records, i)->event : NULL;
}

int hob_shared_snapshot_get(const hob_shared_snapshot *p, hob_str key, hob_str *value) {
    return hob_state_get(&p->state, key, value);
}

int hob_shared_snapshot_next(const hob_shared_snapshot *p, hob_str after, hob_str *key,
                             hob_str *value) {
    return hob_state_next(&p->state, after, key, value);
}

/* ---- a ledger that goes on from one ------------------------------------------------------------------- */

/* The list is written behind its last record, and the session that the snapshot is of does so too: the last chunk,
 * shared by both, must not be. So the records move to a list of their own, each shared. */
int hob_ledger_adopt(hob_ledger *l, const hob_shared_snapshot *p, hob_error *err) {
    if (p->records.n > l->limits.events || p->state.count > l->limits.state.keys ||
        p->state.bytes > l->limits.state.bytes)
        return hob_fail(err, HOB_ETOOBIG, 0, "the snapshot is larger than the session may be");
    hob_state_copy(&l->state, &p->state);
    hob_state_drop_temp(&l->state);
    for (size_t i = 0; i < p->records.n; i++) {
        hob_record *r = hob_records_at(&p->records, i);
        uint32_t slot = 0;
        atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
        hob_table_put(&l->ids, r->event.id, (uint32_t)i, 0);
        for (size_t k = 0; r->ncalls && k < r->nblocks; k++)
            if (r->blocks[k].kind == HOB_PART_CALL)
                hob_table_put(&l->calls, r->blocks[k].call, (uint32_t)i, slot++);
        l->bytes += r->bytes;
        hob_records_give(&l->records, r);
    }
    if (l->bytes > l->limits.event_bytes)
        return hob_fail(err, HOB_ETOOBIG, 0, "the snapshot's events are over %zu bytes",
                        l->limits.event_bytes);
    l->revision = p->revision;
    return HOB_OK;
}
