#include "log/shared.h"

#include <stdio.h>

void hob_ledger_finish(hob_ledger *l) {
    hob_state_finish(&l->state);
    hob_records_finish(&l->records);
    hob_table_finish(&l->ids);
    hob_table_finish(&l->calls);
    hob_free(l->invocation);
    *l = (hob_ledger){0};
}

/* ---- checks ------------------------------------------------------------------------------------ */

static int check_change(const hob_ledger *l, const hob_change *c, hob_error *err) {
    if (!c->n) return HOB_OK;
    if (c->temp && !l->invocation)
        return hob_fail(err, HOB_EIDLE, 0,
                        "a temp: key lives as long as an invocation, and none is open: begin one");
    return hob_change_check(c, &l->state, &l->limits.state, err);
}

/* Ids that are made are s<seq>; others may have that form only where it is true, as in an export. */
static bool is_foreign_made_id(hob_str id, uint64_t seq) {
    int64_t n;
    if (id.n < 2 || id.p[0] != 's' || id.p[1] < '1' || id.p[1] > '9') return false;
    return hob_str_int(hob_str_skip(id, 1), &n) >= 0 && (uint64_t)n != seq;
}

static int check_id(const hob_ledger *l, hob_str id, hob_error *err) {
    if (!id.n) return HOB_OK;
    if (hob_table_get(&l->ids, id))
        return hob_fail(err, HOB_EEXIST, 0, "the session has an event '%.*s' already", HOB_FMT(id));
    if (is_foreign_made_id(id, l->records.n + 1))
        return hob_fail(err, HOB_EINVAL, 0,
                        "the event id '%.*s' looks like a sequence number and is not its own: "
                        "choose another or leave it out",
                        HOB_FMT(id));
    return HOB_OK;
}

static int check_room(const hob_ledger *l, const hob_record *r, hob_error *err) {
    if (l->records.n >= l->limits.events)
        return hob_fail(err, HOB_ETOOBIG, 0, "the session has %zu events, at most that many",
                        l->records.n);
    if (l->bytes + r->bytes > l->limits.event_bytes)
        return hob_fail(err, HOB_ETOOBIG, 0, "the session's events would be over %zu bytes",
                        l->limits.event_bytes);
    return HOB_OK;
}

static int check_invocation(const hob_ledger *l, hob_str invocation, hob_error *err) {
    if (!l->invocation || !invocation.n || hob_str_eqz(invocation, l->invocation)) return HOB_OK;
    return hob_fail(err, HOB_EBUSY, 0,
                    "the invocation '%s' is open: an event of '%.*s' waits for its end",
                    l->invocation, HOB_FMT(invocation));
}

/* Results name calls that came before, in an event before this one. */
static int link_results(const hob_ledger *l, hob_record *r, hob_error *err) {
    for (size_t i = 0; r->nresults && i < r->nblocks; i++) {
        hob_part *b = &r->blocks[i];
        if (b->kind != HOB_PART_RESULT) continue;
        const struct hob_place *p = hob_table_get(&l->calls, b->call);
        if (!p)
            return hob_fail(err, HOB_ENOENT, 0,
                            "a tool result names the call '%.*s', which the session does not have",
                            HOB_FMT(b->call));
        b->call_event = p->event;
        b->call_slot = p->slot;
    }
    return HOB_OK;
}

static int check_compaction(const hob_ledger *l, const hob_record *r, hob_error *err) {
    if (r->event.compaction.end <= l->records.n) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0, "a compaction ends at event %llu and the session has %zu",
                    (unsigned long long)r->event.compaction.end, l->records.n);
}

static int check_revision(const hob_ledger *l, const uint64_t *revision, hob_error *err) {
    if (!revision || *revision == l->revision) return HOB_OK;
    return hob_fail(err, HOB_EBUSY, 0,
                    "the session is at revision %llu, no longer at %llu: look again",
                    (unsigned long long)l->revision, (unsigned long long)*revision);
}

int hob_ledger_check(const hob_ledger *l, hob_record *r, const hob_change *c,
                     const uint64_t *revision, hob_error *err) {
    int rc = check_revision(l, revision, err);
    if (rc >= 0) rc = check_invocation(l, r->event.invocation, err);
    if (rc >= 0) rc = check_id(l, r->event.id, err);
    if (rc >= 0) rc = check_room(l, r, err);
    if (rc >= 0) rc = check_compaction(l, r, err);
    if (rc >= 0) rc = link_results(l, r, err);
    return rc < 0 ? rc : check_change(l, c, err);
}

/* ---- changes ----------------------------------------------------------------------------------- */

int hob_ledger_change(hob_ledger *l, const hob_change *c, hob_error *err) {
    int rc = check_change(l, c, err);
    if (rc < 0 || !c->n) return rc;
    hob_change_apply(c, &l->state);
    l->revision++;
    return HOB_OK;
}

static void enter(hob_ledger *l, hob_record *r) {
    uint32_t at = (uint32_t)l->records.n, slot = 0;
    r->event.seq = (uint64_t)at + 1;
    if (!r->event.id.n) {
        int n = snprintf(r->made_id, sizeof r->made_id, "s%u", at + 1);
        r->event.id = hob_str_n(r->made_id, (size_t)n);
    }
    hob_table_put(&l->ids, r->event.id, at, 0);
    for (size_t i = 0; r->ncalls && i < r->nblocks; i++)
        if (r->blocks[i].kind == HOB_PART_CALL)
            hob_table_put(&l->calls, r->blocks[i].call, at, slot++);
    l->bytes += r->bytes;
    hob_records_give(&l->records, r);
}

int hob_ledger_append(hob_ledger *l, hob_record *r, const hob_change *c, const uint64_t *revision,
                      hob_error *err) {
    int rc = hob_ledger_check(l, r, c, revision, err);
    if (rc < 0) return rc;
    hob_change_apply(c, &l->state);
    enter(l, r);
    l->revision++;
    return HOB_OK;
}

/* ---- invocations -------------------------------------------------------------------------------- */

int hob_ledger_begin(hob_ledger *l, hob_str invocation, hob_error *err) {
    if (!invocation.n || invocation.n > HOB_SHARED_NAME_MAX ||
        memchr(invocation.p, 0, invocation.n))
        return hob_fail(err, HOB_EINVAL, 0,
                        "an invocation needs a name of 1 to %d bytes without NUL",
                        HOB_SHARED_NAME_MAX);
    if (l->invocation)
        return hob_fail(err, HOB_EBUSY, 0, "the invocation '%s' is open: wait for its end",
                        l->invocation);
    l->invocation = hob_dupz(invocation);
    return HOB_OK;
}

int hob_ledger_end(hob_ledger *l, hob_str invocation, hob_error *err) {
    if (!l->invocation || !hob_str_eqz(invocation, l->invocation))
        return hob_fail(err, HOB_EIDLE, 0, "the invocation '%.*s' is not open",
                        HOB_FMT(invocation));
    hob_free(l->invocation);
    l->invocation = NULL;
    size_t before = l->state.count;
    hob_state_drop_temp(&l->state);
    l->revision += l->state.count != before;
    return HOB_OK;
}
