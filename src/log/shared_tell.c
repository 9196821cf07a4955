#include "log/shared.h"

/* A JSON string without its quotes goes into another as it is. */
static hob_str inside(hob_str quoted) {
    return quoted.n >= 2 ? hob_str_n(quoted.p + 1, quoted.n - 2) : HOB_STR_NULL;
}

/* Any text as the inside of a JSON string. Most is plain. */
static void add_escaped(hob_buf *out, hob_str s) {
    bool plain = true;
    for (size_t i = 0; i < s.n && plain; i++)
        plain = (unsigned char)s.p[i] >= 0x20 && s.p[i] != '"' && s.p[i] != '\\';
    if (plain) {
        hob_buf_add(out, s);
        return;
    }
    size_t start = out->n;
    if (hob_json_quote(out, s) < 0) return;
    memmove(out->p + start, out->p + start + 1, out->n - start - 2);
    out->n -= 2;
}

static void open_block(hob_buf *out, const hob_record *r) {
    hob_buf_add(out, HOB_STR(",{\"type\":\"text\",\"text\":\"["));
    add_escaped(out, r->event.author);
}

/* Results may leave out the tool's name: the call has it. */
static hob_str name_of(const hob_part *b, const hob_records *l) {
    if (b->name.n || b->kind != HOB_PART_RESULT) return inside(b->name);
    const hob_record *r = hob_records_at(l, b->call_event);
    uint32_t slot = 0;
    for (size_t i = 0; i < r->nblocks; i++)
        if (r->blocks[i].kind == HOB_PART_CALL && slot++ == b->call_slot)
            return inside(r->blocks[i].name);
    return HOB_STR_NULL;
}

static void tell_block(const hob_record *r, const hob_part *b, const hob_records *l, hob_buf *out) {
    switch (b->kind) {
    case HOB_PART_TEXT:
        open_block(out, r);
        hob_buf_add(out, HOB_STR("] said: "));
        hob_buf_add(out, inside(b->body));
        break;
    case HOB_PART_CALL:
        open_block(out, r);
        hob_buf_add(out, HOB_STR("] called tool `"));
        hob_buf_add(out, name_of(b, l));
        hob_buf_add(out, HOB_STR("` with parameters: "));
        add_escaped(out, b->body.n ? b->body : HOB_STR("{}"));
        break;
    case HOB_PART_RESULT:
        open_block(out, r);
        hob_buf_add(out, HOB_STR("] tool `"));
        hob_buf_add(out, name_of(b, l));
        hob_buf_add(out, HOB_STR("` returned result: "));
        add_escaped(out, b->body.n ? b->body : HOB_STR("[]"));
        break;
    case HOB_PART_OTHER:
        hob_buf_addc(out, ',');
        hob_buf_add(out, b->raw);
        return;
    case HOB_PART_THINKING: return;
    }
    hob_buf_add(out, HOB_STR("\"}"));
}

/* Images are shown as they are; what only the model that wrote it understands is not. */
static bool is_told(const hob_part *b, bool results_only) {
    if (results_only) return b->kind == HOB_PART_RESULT;
    if (b->kind == HOB_PART_OTHER) return hob_str_find(b->raw, HOB_STR("\"image\"")) >= 0;
    return b->kind != HOB_PART_THINKING;
}

bool hob_tell_foreign(const hob_record *r, const hob_records *l, bool results_only, hob_buf *out) {
    size_t told = 0;
    hob_buf_add(out, HOB_STR("[{\"type\":\"text\",\"text\":\"For context:\"}"));
    for (size_t i = 0; i < r->nblocks; i++) {
        if (!is_told(&r->blocks[i], results_only)) continue;
        tell_block(r, &r->blocks[i], l, out);
        told++;
    }
    hob_buf_addc(out, ']');
    return told > 0;
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
