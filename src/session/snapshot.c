/*
 * snapshot.c - what a session is, kept beside its log, so that opening it need not fold all of it.
 *
 * A snapshot is a cache of a fold and nothing else: the views as they were at one event, and the encoded conversation
 * (model/wire.h), which is most of it and only grows, so each snapshot adds what is new. It is written when a session
 * is at rest and enough has happened since the last one. Messages are not in it: the last few are read from the log
 * again, those before stay where they are until somebody needs them (thaw.c).
 *
 * Nobody trusts it. The head names the code that folds and encodes (HOB_FOLD_ID, made of its sources), so another
 * version's is not even read; it has a sum, and so have the parts; and after folding the events at its end the history
 * must be what the head says. Whatever is wrong with it, the log is folded from its beginning, with the same result.
 */
#include "session/session.h"

#include "log/keep.h"
#include "model/wire.h"

#include <fold_id.h> /* made by the build: cmake/fold_id.cmake */
#include <stdlib.h>

enum {
    EVENTS_BETWEEN = 256, /* what folding takes less time than reading a snapshot */
    PARTS_MAX = 2048,     /* then they are written as one again */
    SUM_BYTES = 16,       /* hexadecimal, in front of the head */
    HEAD_MAX = 30 << 20
};

/* In test builds one can have them always, and of models that keep no wire, too. */
static bool always(void) {
#ifdef HOB_TEST_POINTS
    return getenv("HOB_TEST_SNAPSHOTS") != NULL;
#else
    return false;
#endif
}

/* Who owns a wire that was read from a snapshot, until a provider goes on with it. */
static const hob_provider_ops nobody = {.size = sizeof nobody, .wire_destroy = hob_wire_destroy};

/* ---- writing --------------------------------------------------------------------------------------------- */

static hob_wire *wire_of(const hob_session *s) {
    const hob_history *h = s->view->history;
    const hob_strand *own = &s->own;
    hob_wire *w = own->wire;
    if (!w || !own->wire_owner || own->wire_owner->wire_destroy != hob_wire_destroy) return NULL;
    bool usable = !w->users && w->api && !w->text.err && w->generation == h->generation &&
                  w->covered <= hob_history_count(h);
    return usable ? w : NULL;
}

static bool is_due(const hob_session *s, const hob_wire *w) {
    uint64_t last = s->view->last_seq;
    if (always()) return last > s->kept_seq;
    if (!w || last < EVENTS_BETWEEN) return false;
    return last - s->kept_seq >= EVENTS_BETWEEN || !w->kept.parts;
}

static void write_history(const hob_history *h, const hob_cold *cold, hob_jsonw *w) {
    hob_jsonw_object(w);
    hob_jsonw_kint(w, "cold", (int64_t)cold->count);
    hob_jsonw_kint(w, "cold_leaf", (int64_t)cold->leaf);
    hob_jsonw_kint(w, "cold_bytes", (int64_t)cold->bytes);
    hob_jsonw_kint(w, "count", (int64_t)hob_history_count(h));
    hob_jsonw_kint(w, "leaf", (int64_t)hob_history_leaf(h));
    hob_jsonw_kint(w, "bytes", (int64_t)h->bytes);
    hob_jsonw_kint(w, "generation", (int64_t)h->generation);
    hob_jsonw_object_end(w);
}

static void write_head(const hob_session *s, const hob_store_snapshot *snap, const hob_cold *cold,
                       const hob_wire *wire, hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "fold", HOB_STR(HOB_FOLD_ID));
    hob_jsonw_kint(&w, "seq", (int64_t)snap->seq);
    hob_jsonw_kint(&w, "after", (int64_t)snap->after);
    hob_jsonw_kint(&w, "result_seq", (int64_t)s->result_seq);
    hob_jsonw_key(&w, "view");
    hob_view_write(s->view, &w);
    hob_jsonw_key(&w, "run");
    hob_run_write(&s->run, &w);
    hob_jsonw_key(&w, "history");
    write_history(s->view->history, cold, &w);
    hob_jsonw_key(&w, "wire");
    if (wire)
        hob_wire_write(wire, &w);
    else
        hob_jsonw_null(&w);
    hob_jsonw_object_end(&w);
}

static void put_sum(hob_buf *head) {
    char sum[SUM_BYTES + 1];
    snprintf(sum, sizeof sum, "%016llx",
             (unsigned long long)hob_sum(0, hob_str_skip(hob_buf_str(head), SUM_BYTES)));
    memcpy(head->p, sum, SUM_BYTES);
}

/* One that could not be stored is tried again, from its beginning, when the session is at rest the next time. */
static void on_kept(int code, const hob_error *err, void *user) {
    hob_session *s = user;
    s->keeping = false;
    bool open = hob_session_arrived(s);
    if (code >= 0 || !open) return;
    hob_log(HOB_LOG_WARN, "session", "%s: no snapshot was stored: %s", s->id, err->message);
    hob_wire *wire = wire_of(s);
    if (wire) hob_wire_forget_parts(wire);
}

static void submit(hob_session *s, hob_store_snapshot *snap, const hob_buf *head) {
    hob_store_append ap = {.session = hob_str_z(s->id),
                           .epoch = s->epoch,
                           .after_seq = s->submitted,
                           .snapshot = snap};
    snap->head = hob_buf_str(head);
    s->kept_seq = snap->seq;
    s->keeping = true;
    s->inflight++;
    s->store->ops->commit(s->store, &(hob_store_batch){.appends = &ap, .nappends = 1}, on_kept, s);
}

static void store(hob_session *s, const hob_cold *cold, uint64_t after, hob_wire *wire) {
    hob_store_snapshot snap = {.seq = s->view->last_seq, .after = after};
    hob_arena *a = hob_arena_create(0);
    hob_buf head;
    hob_buf_init(&head, HEAD_MAX);
    if (wire && wire->kept.parts >= PARTS_MAX) hob_wire_forget_parts(wire);
    snap.restart = !wire || !wire->kept.parts;
    if (wire) snap.nparts = hob_wire_parts(wire, a, &snap.parts);
    hob_buf_addz(&head, "0000000000000000");
    write_head(s, &snap, cold, wire, &head);
    put_sum(&head);
    if (!head.err)
        submit(s, &snap, &head);
    else if (wire)
        hob_wire_forget_parts(wire);
    hob_buf_finish(&head);
    hob_arena_destroy(a);
}

void hob_session_keep(hob_session *s) {
    const hob_history *h = s->view->history;
    hob_wire *wire = wire_of(s);
    hob_cold cold;
    if (s->keeping || s->failed || s->let_go || s->refolding || s->store == s->rt->memory) return;
    if (s->crew) return;
    if (s->submitted != s->view->last_seq || s->durable != s->submitted) return;
    if (!is_due(s, wire) || !hob_run_keeps(&s->run) || !hob_view_keeps(s->view)) return;
    size_t covered = wire ? wire->covered : hob_history_count(h);
    if (covered < 2) return;
    uint64_t from =
        hob_history_prefix(h, covered - 1, s->result_seq ? s->result_seq : UINT64_MAX, &cold);
    if (!from) return;
    store(s, &cold, from - 1, wire);
}

/* ---- reading --------------------------------------------------------------------------------------------- */

static bool size_of(const hob_json *o, const char *key, size_t *out) {
    int64_t n;
    if (!hob_keep_int(o, key, sizeof n, &n) || n < 0) return false;
    *out = (size_t)n;
    return true;
}

static bool seq_of(const hob_json *o, const char *key, uint64_t *out) {
    size_t n;
    if (!size_of(o, key, &n)) return false;
    *out = n;
    return true;
}

static bool read_history(hob_history *h, const hob_json *o, hob_restored *out) {
    bool ok = size_of(o, "cold", &h->cold.count) && seq_of(o, "cold_leaf", &h->cold.leaf) &&
              size_of(o, "cold_bytes", &h->cold.bytes) && size_of(o, "count", &out->count) &&
              seq_of(o, "leaf", &out->leaf) && size_of(o, "bytes", &out->bytes) &&
              seq_of(o, "generation", &out->generation) && h->cold.count && h->cold.leaf;
    h->bytes = h->cold.bytes;
    return ok;
}

static bool read_wire(hob_session *s, const hob_json *o, const hob_store_snapshot *snap,
                      const hob_restored *r) {
    if (o && hob_json_type_of(o) == HOB_JSON_NULL) return true;
    hob_strand *own = &s->own;
    if (hob_wire_read(o, snap->parts, snap->nparts, &own->wire) < 0) return false;
    own->wire_owner = &nobody;
    return own->wire->generation == r->generation && own->wire->covered <= r->count &&
           own->wire->covered > s->view->history->cold.count;
}

static bool read_head(hob_session *s, const hob_store_snapshot *snap, const hob_json *o,
                      hob_restored *out) {
    uint64_t after;
    if (!hob_str_eqz(hob_json_get_str(o, "fold"), HOB_FOLD_ID) || !seq_of(o, "seq", &out->seq) ||
        !seq_of(o, "after", &after) || out->seq != snap->seq || after != snap->after ||
        after >= out->seq)
        return false;
    return hob_view_read(s->view, hob_json_get(o, "view")) >= 0 &&
           hob_run_read(&s->run, hob_json_get(o, "run")) >= 0 && s->view->last_seq == out->seq &&
           hob_str_eqz(s->view->id, s->id) && seq_of(o, "result_seq", &s->result_seq) &&
           read_history(s->view->history, hob_json_get(o, "history"), out) &&
           read_wire(s, hob_json_get(o, "wire"), snap, out);
}

static bool sum_is_right(hob_str head) {
    char sum[SUM_BYTES + 1];
    if (head.n < SUM_BYTES) return false;
    snprintf(sum, sizeof sum, "%016llx",
             (unsigned long long)hob_sum(0, hob_str_skip(head, SUM_BYTES)));
    return !memcmp(head.p, sum, SUM_BYTES);
}

bool hob_session_restore(hob_session *s, const hob_store_snapshot *snap, hob_restored *out) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *o;
    bool ok = sum_is_right(snap->head) &&
              hob_json_parse(a, hob_str_skip(snap->head, SUM_BYTES), NULL, &o, NULL) >= 0 &&
              read_head(s, snap, o, out);
    hob_arena_destroy(a);
    if (ok) s->kept_seq = snap->seq;
    return ok;
}

bool hob_session_restored(hob_session *s, const hob_restored *r) {
    hob_history *h = s->view->history;
    if (hob_history_count(h) != r->count || hob_history_leaf(h) != r->leaf ||
        h->bytes != r->bytes || (s->result_seq && !hob_history_find(h, s->result_seq)))
        return false;
    h->generation = r->generation;
    return true;
}

/* ---- going on with it -------------------------------------------------------------------------------------- */

bool hob_strand_adopt_wire(hob_strand *st, hob_provider *p, const hob_model_request *rq) {
    bool ours = st->wire && (st->wire_owner == &nobody || st->wire_owner == p->ops);
    if (!ours || rq->history != st->s->view->history) return false;
    if (!hob_provider_continues(p, rq, st->wire)) return false;
    st->wire_owner = p->ops;
    return true;
}
