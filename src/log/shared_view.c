/*
 * Histories: which events an agent is shown, and in what form.
 *
 * Every event gets a class: hidden, own (the user's, or the agent's) or foreign. Summaries then cover what their scope
 * saw of their range. Results stand behind their call, in the order of the calls, the last one of each call; a call
 * without any gets one that says so, and a result whose call is not shown is not shown either. So there is never a
 * call without a result nor a result without a call.
 */
#include "log/shared.h"

enum { HIDDEN, OWN, FOREIGN };

typedef struct place {
    uint32_t event, block; /* event 0 = no result, otherwise index + 1 */
    bool again;            /* it replaced an earlier one */
} place;

struct hob_shared_history {
    hob_shared_snapshot *snapshot;
    hob_buf text; /* what was made for this history */
    hob_shared_content *contents;
    size_t n, cap;
};

typedef struct view {
    const hob_shared_history_opts *opts;
    const hob_records *records;
    hob_shared_history *out;
    uint8_t *class_;      /* of each event */
    uint32_t *covered;    /* by which summary: index in summaries + 1; NULL = there are none */
    uint32_t *first_slot; /* of each own event with calls, in results */
    place *results;
    size_t nresults;
    size_t *summaries; /* events, the newest last */
    size_t nsummaries, cap_summaries;
    bool *told; /* of each summary: it stands in the history */
    hob_buf *text;
    size_t from;     /* where the text being made begins */
    hob_buf scratch; /* for texts that records keep */
    size_t told_bytes;
} view;

static bool tells(const view *v) {
    return v->opts->policy == HOB_SHARED_NARRATE || v->opts->flags & HOB_SHARED_KEEP_RESPONSES;
}

/* ---- classes ------------------------------------------------------------------------------------- */

static bool is_user(hob_str author) {
    return author.n == 4 && memcmp(author.p, "user", 4) == 0;
}

static int classify(const view *v, const hob_record *r) {
    hob_str agent = v->opts->agent;
    if (!r->nblocks || !hob_branch_sees(v->opts->branch, r->event.branch)) return HIDDEN;
    if (agent.n && !is_user(r->event.author) && !hob_str_eq(agent, r->event.author)) return FOREIGN;
    if (!r->nresults) return OWN;
    /* Somebody else answers another agent's call: it belongs to that call. */
    for (size_t i = 0; i < r->nblocks; i++)
        if (r->blocks[i].kind == HOB_PART_RESULT && v->class_[r->blocks[i].call_event] == FOREIGN)
            return FOREIGN;
    return OWN;
}

static void note_summary(view *v, size_t i) {
    const hob_shared_compaction *c = &hob_records_at(v->records, i)->event.compaction;
    if (!hob_branch_sees(v->opts->branch, c->branch)) return;
    if (c->agent.n && !hob_str_eq(c->agent, v->opts->agent)) return;
    if (v->nsummaries == v->cap_summaries) {
        v->cap_summaries = HOB_MAX(8, v->cap_summaries * 2);
        v->summaries = hob_realloc(v->summaries, v->cap_summaries * sizeof *v->summaries);
    }
    v->summaries[v->nsummaries++] = i;
}

static void scan(view *v) {
    size_t slots = 0;
    for (size_t i = 0; i < v->records->n; i++) {
        if (i + 8 < v->records->n) __builtin_prefetch(hob_records_at(v->records, i + 8));
        const hob_record *r = hob_records_at(v->records, i);
        if (r->event.compaction.end) {
            note_summary(v, i);
            continue;
        }
        v->class_[i] = (uint8_t)classify(v, r);
        if (v->class_[i] != OWN || !r->ncalls) continue;
        v->first_slot[i] = (uint32_t)slots;
        slots += r->ncalls;
    }
    v->nresults = slots;
    v->results = slots ? hob_alloc(slots * sizeof *v->results) : NULL;
}

/* ---- calls and results ---------------------------------------------------------------------------- */

static void pair(view *v) {
    for (size_t i = 0; v->nresults && i < v->records->n; i++) {
        if (v->class_[i] != OWN) continue;
        const hob_record *r = hob_records_at(v->records, i);
        for (uint32_t k = 0; r->nresults && k < r->nblocks; k++) {
            const hob_part *b = &r->blocks[k];
            if (b->kind != HOB_PART_RESULT || v->class_[b->call_event] != OWN) continue;
            place *p = &v->results[v->first_slot[b->call_event] + b->call_slot];
            *p = (place){(uint32_t)i + 1, k, p->event != 0};
        }
    }
}

/* The first event of a long-running call that the last event answers anew; that event itself otherwise. */
static size_t answered_anew(const view *v, size_t last) {
    const hob_record *r = hob_records_at(v->records, last);
    size_t from = last;
    for (size_t k = 0; k < r->nblocks; k++) {
        const hob_part *b = &r->blocks[k];
        if (b->kind != HOB_PART_RESULT || v->class_[b->call_event] != OWN) continue;
        if (v->results[v->first_slot[b->call_event] + b->call_slot].again)
            from = HOB_MIN(from, b->call_event);
    }
    return from;
}

/* When the news is the real result of a call that was pending, what was said in between is not shown. */
static void forget_between(view *v) {
    size_t last = v->records->n;
    while (last > 0 && v->class_[last - 1] == HIDDEN) last--;
    if (!v->nresults || !last || v->class_[last - 1] != OWN) return;
    for (size_t i = answered_anew(v, last - 1) + 1; i < last - 1; i++) v->class_[i] = HIDDEN;
}

/* ---- summaries ------------------------------------------------------------------------------------- */

static const hob_shared_compaction *summary(const view *v, size_t k) {
    return &hob_records_at(v->records, v->summaries[k])->event.compaction;
}

static bool saw(const hob_shared_compaction *c, const hob_shared_event *e) {
    if (!hob_branch_sees(c->branch, e->branch)) return false;
    return !c->agent.n || is_user(e->author) || hob_str_eq(c->agent, e->author);
}

static void uncover_results(view *v, const hob_record *r, size_t i) {
    for (uint32_t k = 0; k < r->ncalls; k++) {
        const place *p = &v->results[v->first_slot[i] + k];
        if (p->event) v->covered[p->event - 1] = 0;
    }
}

/* A call is summed up with all its results or not at all: an open one stays as it is. */
static void keep_open_calls(view *v) {
    for (size_t i = 0; i < v->records->n; i++) {
        const hob_record *r = hob_records_at(v->records, i);
        if (v->class_[i] != OWN || !r->ncalls) continue;
        for (uint32_t k = 0; k < r->ncalls && v->covered[i]; k++) {
            const place *p = &v->results[v->first_slot[i] + k];
            if (!p->event || !v->covered[p->event - 1]) v->covered[i] = 0;
        }
        if (!v->covered[i]) uncover_results(v, r, i);
    }
}

/* What two summaries cover, the newer one stands for: an older one with nothing left to say is not shown. */
static void cover(view *v) {
    if (!v->nsummaries) return;
    v->covered = hob_alloc(v->records->n * sizeof *v->covered);
    v->told = hob_alloc(v->nsummaries * sizeof *v->told);
    for (size_t k = 0; k < v->nsummaries; k++) {
        const hob_shared_compaction *c = summary(v, k);
        for (size_t i = c->start - 1; i < c->end; i++)
            if (saw(c, &hob_records_at(v->records, i)->event)) v->covered[i] = (uint32_t)k + 1;
    }
    keep_open_calls(v);
}

/* ---- the contents ------------------------------------------------------------------------------------ */

static void emit(view *v, hob_shared_role role, hob_str content, const hob_shared_event *e) {
    hob_shared_history *h = v->out;
    if (h->n == h->cap) {
        h->cap = HOB_MAX(64, h->cap * 2);
        h->contents = hob_realloc(h->contents, h->cap * sizeof *h->contents);
    }
    h->contents[h->n++] = (hob_shared_content){role, content, e->author, e->seq};
}

/* Texts are made one behind the other in a buffer that moves as it grows: until all is done, a content made here has
 * its length and no place. */
static void begin_text(view *v) {
    v->from = v->text->n;
}

static void separate(view *v) {
    hob_buf_addc(v->text, v->text->n > v->from ? ',' : '[');
}

static void emit_text(view *v, hob_shared_role role, const hob_shared_event *e) {
    emit(v, role, hob_str_n(NULL, v->text->n - v->from), e);
}

static void place_texts(hob_shared_history *h) {
    size_t at = 0;
    for (size_t i = 0; i < h->n; i++) {
        if (h->contents[i].content.p) continue;
        h->contents[i].content.p = h->text.p + at;
        at += h->contents[i].content.n;
    }
}

static hob_str result_of(const view *v, const place *p) {
    return hob_records_at(v->records, p->event - 1)->blocks[p->block].raw;
}

/* One event that holds just the results wanted, in their order, is shown as it is. */
static const hob_record *whole_answer(const view *v, const hob_record *r, size_t i) {
    const place *p = &v->results[v->first_slot[i]];
    if (!p->event) return NULL;
    const hob_record *answer = hob_records_at(v->records, p->event - 1);
    if (answer->nblocks != r->ncalls) return NULL;
    for (uint32_t k = 0; k < r->ncalls; k++)
        if (p[k].event != p->event || p[k].block != k) return NULL;
    return answer;
}

static void emit_results(view *v, const hob_record *r, size_t i) {
    const hob_record *answer = whole_answer(v, r, i);
    if (answer) {
        emit(v, HOB_SHARED_TOOL, answer->event.content, &answer->event);
        return;
    }
    const place *p = &v->results[v->first_slot[i]];
    const hob_shared_event *from = &r->event;
    begin_text(v);
    for (uint32_t b = 0; b < r->nblocks; b++) {
        if (r->blocks[b].kind != HOB_PART_CALL) continue;
        separate(v);
        if (p->event) {
            hob_buf_add(v->text, result_of(v, p));
            from = &hob_records_at(v->records, p->event - 1)->event;
        } else {
            hob_tell_missing(&r->blocks[b], v->text);
        }
        p++;
    }
    hob_buf_addc(v->text, ']');
    emit_text(v, HOB_SHARED_TOOL, from);
}

/* Results are shown behind their calls; this is what else the event says. */
static void emit_rest(view *v, const hob_record *r, hob_shared_role role) {
    if (r->nresults == r->nblocks) return;
    begin_text(v);
    for (uint32_t b = 0; b < r->nblocks; b++) {
        if (r->blocks[b].kind == HOB_PART_RESULT) continue;
        separate(v);
        hob_buf_add(v->text, r->blocks[b].raw);
    }
    hob_buf_addc(v->text, ']');
    emit_text(v, role, &r->event);
}

static void emit_own(view *v, const hob_record *r, size_t i) {
    hob_shared_role role = is_user(r->event.author) ? HOB_SHARED_USER : HOB_SHARED_MODEL;
    if (r->nresults)
        emit_rest(v, r, role);
    else
        emit(v, role, r->event.content, &r->event);
    if (r->ncalls) emit_results(v, r, i);
}

/* With narrate every event of others is told; with isolate, at most their results. */
static void emit_told(view *v, const hob_record *r) {
    hob_str told = hob_record_told(r, v->records, &v->scratch);
    v->told_bytes += told.n;
    if (v->told_bytes > HOB_SHARED_HISTORY_MAX) v->text->err = HOB_ETOOBIG;
    if (told.n) emit(v, HOB_SHARED_USER, told, &r->event);
}

static void emit_foreign(view *v, const hob_record *r) {
    if (v->opts->policy == HOB_SHARED_NARRATE) {
        emit_told(v, r);
        return;
    }
    if (!r->nresults) return;
    begin_text(v);
    if (hob_tell_foreign(r, v->records, true, v->text))
        emit_text(v, HOB_SHARED_USER, &r->event);
    else
        v->text->n = v->from;
}

/* Once, in the place of the first event it covers. */
static void emit_summary(view *v, uint32_t k) {
    const hob_shared_event *e = &hob_records_at(v->records, v->summaries[k])->event;
    if (!v->told[k]) emit(v, HOB_SHARED_USER, e->compaction.content, e);
    v->told[k] = true;
}

static void assemble(view *v) {
    for (size_t i = 0; i < v->records->n && !v->text->err; i++) {
        if (v->class_[i] == HIDDEN || (v->class_[i] == FOREIGN && !tells(v))) continue;
        if (v->covered && v->covered[i])
            emit_summary(v, v->covered[i] - 1);
        else if (v->class_[i] == OWN)
            emit_own(v, hob_records_at(v->records, i), i);
        else
            emit_foreign(v, hob_records_at(v->records, i));
    }
}

/* ---- the call ----------------------------------------------------------------------------------------- */

static void build(view *v) {
    size_t n = v->records->n;
    if (!n) return;
    v->class_ = hob_alloc(n);
    v->first_slot = hob_alloc(n * sizeof *v->first_slot);
    scan(v);
    pair(v);
    forget_between(v);
    cover(v);
    hob_buf_init(&v->scratch, HOB_SHARED_HISTORY_MAX);
    assemble(v);
    hob_buf_finish(&v->scratch);
    hob_free(v->class_);
    hob_free(v->first_slot);
    hob_free(v->covered);
    hob_free(v->results);
    hob_free(v->summaries);
    hob_free(v->told);
}

int hob_shared_snapshot_history(const hob_shared_snapshot *p, const hob_shared_history_opts *in,
                                hob_shared_history **out, hob_error *err) {
    hob_shared_history_opts opts = {0};
    memcpy(&opts, in, HOB_MIN(in->size, sizeof opts));
    hob_shared_history *h = HOB_NEW(hob_shared_history);
    h->snapshot = hob_shared_snapshot_ref((hob_shared_snapshot *)p);
    hob_buf_init(&h->text, HOB_SHARED_HISTORY_MAX);
    view v = {.opts = &opts, .records = &p->records, .out = h, .text = &h->text};
    build(&v);
    if (h->text.err) {
        hob_shared_history_destroy(h);
        return hob_fail(err, HOB_ETOOBIG, 0, "the history is over %zu bytes: compact the session",
                        HOB_SHARED_HISTORY_MAX);
    }
    place_texts(h);
    *out = h;
    return HOB_OK;
}

void hob_shared_history_destroy(hob_shared_history *h) {
    if (!h) return;
    hob_shared_snapshot_unref(h->snapshot);
    hob_buf_finish(&h->text);
    hob_free(h->contents);
    hob_free(h);
}

size_t hob_shared_history_count(const hob_shared_history *h) {
    return h->n;
}

const hob_shared_content *hob_shared_history_at(const hob_shared_history *h, size_t i) {
    return i < h->n ? &h->contents[i] : NULL;
}
