/*
 * answer.c - an answer under construction.
 *
 * Providers write it block by block; readers take ranges of the blocks' buffers while it grows (a delta is a
 * block, an offset and a length). So text is only ever appended, and nothing already written moves to another
 * block. One ceiling counts the bytes of all blocks.
 */
#include "model/model.h"

#define MAX_BLOCKS 4096u
/* Names, ids, opaque blocks; an opaque block is written again when its input is complete. */
#define ARENA_MAX (2u * HOB_ANSWER_MAX)
/* Of values put into a message: with the event around them they stay below what the reader accepts. */
#define MAX_DEPTH 64u

hob_answer *hob_answer_create(void) {
    hob_answer *a = HOB_NEW(hob_answer);
    a->arena = hob_arena_create(ARENA_MAX);
    return a;
}

void hob_answer_destroy(hob_answer *a) {
    if (!a) return;
    for (size_t i = 0; i < a->nblocks; i++) {
        hob_buf_finish(&a->blocks[i].text);
        hob_buf_finish(&a->blocks[i].signature);
    }
    hob_free(a->blocks);
    hob_arena_destroy(a->arena);
    hob_free(a);
}

static bool is_object(hob_str text) {
    const hob_json_opts opts = {.max_depth = MAX_DEPTH};
    const hob_json *v = NULL;
    hob_arena *a = hob_arena_create(0);
    bool ok = hob_json_parse(a, text, &opts, &v, NULL) >= 0 && hob_json_is(v, HOB_JSON_OBJECT);
    hob_arena_destroy(a);
    return ok;
}

/* ---- writing -------------------------------------------------------------------------------- */

static hob_block *block_at(hob_answer *a, int block) {
    return block >= 0 && (size_t)block < a->nblocks ? &a->blocks[block] : NULL;
}

static int keep(hob_answer *a, hob_str s, hob_str *out) {
    if (s.n > HOB_ANSWER_MAX - a->bytes) return HOB_ETOOBIG;
    hob_str copy = hob_arena_dup(a->arena, s);
    if (s.n && !copy.p) return HOB_ETOOBIG;
    a->bytes += s.n;
    *out = copy;
    return HOB_OK;
}

static int append(hob_answer *a, hob_buf *to, hob_str bytes) {
    if (bytes.n > HOB_ANSWER_MAX - a->bytes || hob_buf_add(to, bytes) < 0) return HOB_ETOOBIG;
    a->bytes += bytes.n;
    return HOB_OK;
}

int hob_answer_open(hob_answer *a, hob_block_kind kind) {
    if (a->nblocks == MAX_BLOCKS) return HOB_ETOOBIG;
    if (a->nblocks == a->cap) {
        a->cap = a->cap ? a->cap * 2 : 4;
        a->blocks = hob_realloc(a->blocks, a->cap * sizeof *a->blocks);
    }
    hob_block *b = &a->blocks[a->nblocks];
    *b = (hob_block){.kind = kind};
    hob_buf_init(&b->text, HOB_ANSWER_MAX);
    hob_buf_init(&b->signature, HOB_ANSWER_MAX);
    return (int)a->nblocks++;
}

int hob_answer_append(hob_answer *a, int block, hob_str bytes) {
    hob_block *b = block_at(a, block);
    if (!b || b->kind == HOB_BLOCK_OPAQUE) return HOB_EINVAL;
    if (bytes.n) a->shown = true;
    return append(a, &b->text, bytes);
}

int hob_answer_signature(hob_answer *a, int block, hob_str bytes) {
    hob_block *b = block_at(a, block);
    return b ? append(a, &b->signature, bytes) : HOB_EINVAL;
}

int hob_answer_call(hob_answer *a, int block, hob_str id, hob_str name) {
    hob_block *b = block_at(a, block);
    if (!b || b->kind != HOB_BLOCK_TOOL_CALL) return HOB_EINVAL;
    int rc = id.n ? keep(a, id, &b->id) : HOB_OK;
    if (rc == HOB_OK && name.n) rc = keep(a, name, &b->name);
    return rc;
}

int hob_answer_opaque(hob_answer *a, int block, hob_str raw_json) {
    hob_block *b = block_at(a, block);
    if (!b || b->kind != HOB_BLOCK_OPAQUE || !is_object(raw_json)) return HOB_EINVAL;
    return keep(a, raw_json, &b->raw);
}

static void leave_or_set(int64_t *to, int64_t value) {
    if (value >= 0) *to = value;
}

void hob_answer_usage(hob_answer *a, const hob_usage *u) {
    leave_or_set(&a->usage.input_tokens, u->input_tokens);
    leave_or_set(&a->usage.output_tokens, u->output_tokens);
    leave_or_set(&a->usage.cache_read_tokens, u->cache_read_tokens);
    leave_or_set(&a->usage.cache_write_tokens, u->cache_write_tokens);
    leave_or_set(&a->usage.reasoning_tokens, u->reasoning_tokens);
}

void hob_answer_stop(hob_answer *a, hob_stop stop) {
    a->stop = stop;
}

/* Both are for people and logs: over the ceiling they are left out. */
void hob_answer_id(hob_answer *a, hob_str response_id) {
    (void)keep(a, response_id, &a->response_id);
}

void hob_answer_detail(hob_answer *a, hob_str words) {
    (void)keep(a, words, &a->detail);
}

/* ---- the message it becomes ----------------------------------------------------------------- */

/* Events are lines. A line break in JSON can only stand between tokens, where a blank does as well. */
static void write_raw(hob_jsonw *w, hob_str json) {
    hob_jsonw_raw(w, json);
    if (w->out->err || w->out->n < json.n) return;
    char *p = w->out->p + w->out->n - json.n;
    for (size_t i = 0; i < json.n; i++) {
        if (p[i] == '\n' || p[i] == '\r') p[i] = ' ';
    }
}

static void write_call(hob_jsonw *w, const hob_block *b, hob_str message, size_t k) {
    hob_str args = hob_str_trim(hob_buf_str(&b->text));
    hob_buf call;
    hob_buf_init(&call, message.n + 24);
    hob_buf_addf(&call, "%.*s.%zu", HOB_FMT(message), k);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("tool_call"));
    hob_jsonw_kstr(w, "call", hob_buf_str(&call));
    hob_jsonw_kstr(w, "id", b->id);
    hob_jsonw_kstr(w, "name", b->name);
    if (args.n == 0) {
        hob_jsonw_kraw(w, "args", HOB_STR("{}"));
    } else if (is_object(args)) {
        hob_jsonw_key(w, "args");
        write_raw(w, args);
    } else {
        hob_jsonw_kstr(w, "args_text", hob_buf_str(&b->text));
    }
    hob_jsonw_object_end(w);
    hob_buf_finish(&call);
}

static void write_text(hob_jsonw *w, const hob_block *b) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kstr(w, "text", hob_buf_str(&b->text));
    if (b->signature.n) {
        hob_jsonw_key(w, "citations");
        hob_jsonw_array(w);
        write_raw(w, hob_buf_str(&b->signature));
        hob_jsonw_array_end(w);
    }
    hob_jsonw_object_end(w);
}

static void write_thinking(hob_jsonw *w, const hob_block *b) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("thinking"));
    hob_jsonw_kstr(w, "text", hob_buf_str(&b->text));
    hob_jsonw_kstr_opt(w, "signature", hob_buf_str(&b->signature));
    hob_jsonw_object_end(w);
}

static void write_opaque(hob_jsonw *w, const hob_block *b, hob_str provider) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("opaque"));
    hob_jsonw_kstr(w, "provider", provider);
    hob_jsonw_key(w, "raw");
    write_raw(w, b->raw);
    hob_jsonw_object_end(w);
}

/* A block that says nothing is never part of a message; a cut-off one keeps no unfinished call either. */
static bool is_kept(const hob_block *b, bool whole) {
    switch (b->kind) {
    case HOB_BLOCK_TEXT: return b->text.n > 0;
    case HOB_BLOCK_THINKING: return b->text.n > 0 || b->signature.n > 0;
    case HOB_BLOCK_TOOL_CALL: return whole || is_object(hob_buf_str(&b->text));
    case HOB_BLOCK_OPAQUE: return b->raw.n > 0;
    }
    return false;
}

int hob_answer_content(const hob_answer *a, hob_str message, hob_str provider, bool whole,
                       hob_buf *out) {
    hob_jsonw w;
    size_t calls = 0;
    hob_jsonw_init(&w, out);
    hob_jsonw_array(&w);
    for (size_t i = 0; i < a->nblocks; i++) {
        const hob_block *b = &a->blocks[i];
        if (!is_kept(b, whole)) continue;
        switch (b->kind) {
        case HOB_BLOCK_TEXT: write_text(&w, b); break;
        case HOB_BLOCK_THINKING: write_thinking(&w, b); break;
        case HOB_BLOCK_TOOL_CALL: write_call(&w, b, message, calls++); break;
        case HOB_BLOCK_OPAQUE: write_opaque(&w, b, provider); break;
        }
    }
    hob_jsonw_array_end(&w);
    return out->err;
}
