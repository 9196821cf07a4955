#include "log/shared.h"
#include "log/tell.h"

/* Results may leave out the tool's name: the call has it. */
static hob_str name_of(const hob_part *b, const hob_records *l) {
    if (b->name.n || b->kind != HOB_PART_RESULT) return hob_tell_inside(b->name);
    const hob_record *r = hob_records_at(l, b->call_event);
    uint32_t slot = 0;
    for (size_t i = 0; i < r->nblocks; i++)
        if (r->blocks[i].kind == HOB_PART_CALL && slot++ == b->call_slot)
            return hob_tell_inside(r->blocks[i].name);
    return HOB_STR_NULL;
}

static void tell_block(const hob_record *r, const hob_part *b, const hob_records *l, hob_buf *out) {
    hob_str who = r->event.author;
    switch (b->kind) {
    case HOB_PART_TEXT: hob_tell_said(out, who, hob_tell_inside(b->body)); break;
    case HOB_PART_CALL: hob_tell_called(out, who, name_of(b, l), b->body); break;
    case HOB_PART_RESULT: hob_tell_returned(out, who, name_of(b, l), b->body); break;
    case HOB_PART_OTHER: hob_tell_shown(out, b->raw); break;
    case HOB_PART_THINKING: break;
    }
}

/* Images are shown as they are; what only the model that wrote it understands is not. */
static bool is_told(const hob_part *b, bool results_only) {
    if (results_only) return b->kind == HOB_PART_RESULT;
    if (b->kind == HOB_PART_OTHER) return hob_str_find(b->raw, HOB_STR("\"image\"")) >= 0;
    return b->kind != HOB_PART_THINKING;
}

bool hob_tell_foreign(const hob_record *r, const hob_records *l, bool results_only, hob_buf *out) {
    size_t told = 0;
    hob_tell_begin(out);
    for (size_t i = 0; i < r->nblocks; i++) {
        if (!is_told(&r->blocks[i], results_only)) continue;
        tell_block(r, &r->blocks[i], l, out);
        told++;
    }
    hob_tell_end(out);
    return told > 0;
}

static hob_told *make_told(const hob_record *r, const hob_records *l, hob_buf *b) {
    hob_buf_reset(b);
    bool says = hob_tell_foreign(r, l, false, b) && !b->err;
    hob_told *told = hob_realloc(NULL, sizeof *told + (says ? b->n : 0));
    told->n = says ? b->n : 0;
    if (says) memcpy(told->text, b->p, b->n);
    return told;
}

/* Several threads may make it at once: the first one counts. */
hob_str hob_record_told(const hob_record *r, const hob_records *l, hob_buf *scratch) {
    _Atomic(hob_told *) *slot = (_Atomic(hob_told *) *)&r->told;
    hob_told *told = atomic_load_explicit(slot, memory_order_acquire);
    if (!told) {
        hob_told *none = NULL, *made = make_told(r, l, scratch);
        told = made;
        if (!atomic_compare_exchange_strong_explicit(slot, &none, made, memory_order_acq_rel,
                                                     memory_order_acquire)) {
            hob_free(made);
            told = none;
        }
    }
    return hob_str_n(told->text, told->n);
}

void hob_tell_missing(const hob_part *call, hob_buf *out) {
    hob_buf_add(out, HOB_STR("{\"type\":\"tool_result\",\"call\":\""));
    hob_buf_add(out, call->call);
    hob_buf_addc(out, '"');
    if (call->name.n) {
        hob_buf_add(out, HOB_STR(",\"name\":"));
        hob_buf_add(out, call->name);
    }
    hob_buf_add(out,
                HOB_STR(",\"content\":[{\"type\":\"text\",\"text\":\"No result of this call was "
                        "recorded.\"}],\"failed\":true}"));
}
