/*
 * anthropic_decode.c - the event stream of Anthropic's Messages API.
 *
 *   message_start  (content_block_start  content_block_delta*  content_block_stop)*  message_delta  message_stop
 *
 * with `ping` anywhere and `error` instead of the rest. message_stop ends the turn; what follows is ignored. A
 * second message_start before it means that two answers were mixed up on the way: the attempt is broken.
 * Blocks of kinds not known here are kept as they came (opaque), their input replaced by the streamed one.
 */
#include "model/decoder.h"

typedef enum phase { BEFORE, INSIDE } phase;

typedef struct slot {
    int64_t index; /* the provider's number of the block */
    int block;     /* ours */
    hob_block_kind kind;
    bool open;
    bool streamed; /* tool call: a piece of input came */
    hob_str input; /* tool call: the input it started with; in the answer's arena */
    hob_buf json;  /* opaque: the streamed input */
} slot;

typedef struct decoder {
    hob_decoder base;
    phase phase;
    slot *slots;
    size_t nslots, cap;
} decoder;

static slot *slot_find(decoder *d, int64_t index) {
    for (size_t i = d->nslots; i-- > 0;) {
        if (d->slots[i].index == index) return &d->slots[i];
    }
    return NULL;
}

static slot *slot_push(decoder *d, int64_t index, hob_block_kind kind, int block) {
    if (d->nslots == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 8;
        d->slots = hob_realloc(d->slots, d->cap * sizeof *d->slots);
    }
    slot *s = &d->slots[d->nslots++];
    *s = (slot){.index = index, .kind = kind, .block = block, .open = true};
    hob_buf_init(&s->json, HOB_ANSWER_MAX);
    return s;
}

/* ---- usage, stop ------------------------------------------------------------------------------ */

/* Input tokens come without those read from or written to the cache: hob's own meaning. */
static void take_usage(decoder *d, const hob_json *usage) {
    if (!hob_json_is(usage, HOB_JSON_OBJECT)) return;
    const hob_json *details = hob_json_get(usage, "output_tokens_details");
    hob_usage u = {
        .input_tokens = hob_json_get_int(usage, "input_tokens", -1),
        .output_tokens = hob_json_get_int(usage, "output_tokens", -1),
        .cache_read_tokens = hob_json_get_int(usage, "cache_read_input_tokens", -1),
        .cache_write_tokens = hob_json_get_int(usage, "cache_creation_input_tokens", -1),
        .reasoning_tokens = hob_json_get_int(details, "thinking_tokens", -1),
    };
    hob_answer_usage(d->base.answer, &u);
}

static hob_stop stop_from(hob_str reason) {
    static const struct {
        const char *reason;
        hob_stop stop;
    } table[] = {
        {"end_turn", HOB_STOP_DONE},
        {"stop_sequence", HOB_STOP_DONE},
        {"tool_use", HOB_STOP_TOOLS},
        {"max_tokens", HOB_STOP_LENGTH},
        {"model_context_window_exceeded", HOB_STOP_LENGTH},
        {"refusal", HOB_STOP_REFUSAL},
        {"pause_turn", HOB_STOP_CONTINUE},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(table); i++) {
        if (hob_str_eqz(reason, table[i].reason)) return table[i].stop;
    }
    return HOB_STOP_DONE; /* a reason of a later version: the message itself is whole */
}

static int message_delta(decoder *d, const hob_json *e) {
    const hob_json *delta = hob_json_get(e, "delta");
    hob_str reason = hob_json_get_str(delta, "stop_reason");
    if (reason.n) hob_decoder_stop(&d->base, stop_from(reason));
    hob_str why = hob_json_get_str(hob_json_get(delta, "stop_details"), "explanation");
    if (why.n) hob_answer_detail(d->base.answer, why);
    take_usage(d, hob_json_get(e, "usage"));
    return HOB_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static hob_block_kind kind_from(hob_str type) {
    if (hob_str_eqz(type, "text")) return HOB_BLOCK_TEXT;
    if (hob_str_eqz(type, "thinking")) return HOB_BLOCK_THINKING;
    if (hob_str_eqz(type, "tool_use")) return HOB_BLOCK_TOOL_CALL;
    return HOB_BLOCK_OPAQUE;
}

/* What the block says before its first delta. */
static int start_content(decoder *d, slot *s, const hob_json *block) {
    hob_answer *a = d->base.answer;
    const hob_json *input = hob_json_get(block, "input");
    int rc = HOB_OK;
    switch (s->kind) {
    case HOB_BLOCK_TEXT: return hob_answer_append(a, s->block, hob_json_get_str(block, "text"));
    case HOB_BLOCK_THINKING:
        rc = hob_answer_append(a, s->block, hob_json_get_str(block, "thinking"));
        return rc < 0 ? rc
                      : hob_answer_signature(a, s->block, hob_json_get_str(block, "signature"));
    case HOB_BLOCK_TOOL_CALL:
        if (hob_json_count(input)) s->input = hob_arena_dup(a->arena, hob_json_raw(input));
        return hob_answer_call(a, s->block, hob_json_get_str(block, "id"),
                               hob_json_get_str(block, "name"));
    case HOB_BLOCK_OPAQUE: return hob_answer_opaque(a, s->block, hob_json_raw(block));
    }
    return rc;
}

static int block_start(decoder *d, const hob_json *e) {
    const hob_json *block = hob_json_get(e, "content_block");
    int64_t index = hob_json_get_int(e, "index", -1);
    if (!hob_json_is(block, HOB_JSON_OBJECT) || index < 0 || slot_find(d, index))
        return hob_decoder_fail(&d->base, HOB_EPROTO, true, "started a block out of order");
    hob_block_kind kind = kind_from(hob_json_get_str(block, "type"));
    int at = hob_answer_open(d->base.answer, kind);
    if (at < 0) return hob_decoder_check(&d->base, at);
    return hob_decoder_check(&d->base, start_content(d, slot_push(d, index, kind, at), block));
}

static int add_citation(decoder *d, slot *s, const hob_json *citation) {
    hob_answer *a = d->base.answer;
    if (!hob_json_is(citation, HOB_JSON_OBJECT)) return HOB_OK;
    if (a->blocks[s->block].signature.n) {
        int rc = hob_answer_signature(a, s->block, HOB_STR(","));
        if (rc < 0) return rc;
    }
    return hob_answer_signature(a, s->block, hob_json_raw(citation));
}

/* A delta of a kind that its block does not have, or of a later version, says nothing to us. */
static int add_delta(decoder *d, slot *s, const hob_json *delta) {
    hob_answer *a = d->base.answer;
    hob_str type = hob_json_get_str(delta, "type");
    bool json = hob_str_eqz(type, "input_json_delta");
    hob_str piece = hob_json_get_str(delta, "partial_json");
    switch (s->kind) {
    case HOB_BLOCK_TEXT:
        if (hob_str_eqz(type, "text_delta"))
            return hob_answer_append(a, s->block, hob_json_get_str(delta, "text"));
        if (hob_str_eqz(type, "citations_delta"))
            return add_citation(d, s, hob_json_get(delta, "citation"));
        return HOB_OK;
    case HOB_BLOCK_THINKING:
        if (hob_str_eqz(type, "thinking_delta"))
            return hob_answer_append(a, s->block, hob_json_get_str(delta, "thinking"));
        if (hob_str_eqz(type, "signature_delta"))
            return hob_answer_signature(a, s->block, hob_json_get_str(delta, "signature"));
        return HOB_OK;
    case HOB_BLOCK_TOOL_CALL:
        s->streamed |= json && piece.n;
        return json ? hob_answer_append(a, s->block, piece) : HOB_OK;
    case HOB_BLOCK_OPAQUE: return json ? hob_buf_add(&s->json, piece) : HOB_OK;
    }
    return HOB_OK;
}

static int block_delta(decoder *d, const hob_json *e) {
    slot *s = slot_find(d, hob_json_get_int(e, "index", -1));
    if (!s)
        return hob_decoder_fail(&d->base, HOB_EPROTO, true,
                                "sent a piece of a block never started");
    return hob_decoder_check(&d->base, add_delta(d, s, hob_json_get(e, "delta")));
}

/* The block as it started, with the streamed input in the place of the empty one. */
static int close_opaque(decoder *d, slot *s) {
    hob_answer *a = d->base.answer;
    const hob_json *start = NULL;
    hob_str input = hob_str_trim(hob_buf_str(&s->json));
    if (!hob_json_valid(input)) return HOB_EPARSE;
    int rc = hob_json_parse(d->base.arena, a->blocks[s->block].raw, NULL, &start, NULL);
    if (rc < 0) return rc;
    hob_buf out;
    hob_jsonw w;
    hob_buf_init(&out, HOB_ANSWER_MAX);
    hob_jsonw_init(&w, &out);
    hob_jsonw_object(&w);
    for (const hob_json *m = hob_json_first(start); m; m = hob_json_next(m)) {
        hob_jsonw_key_n(&w, hob_json_key(m));
        hob_jsonw_raw(&w, hob_str_eqz(hob_json_key(m), "input") ? input : hob_json_raw(m));
    }
    hob_jsonw_object_end(&w);
    rc = out.err ? out.err : hob_answer_opaque(a, s->block, hob_buf_str(&out));
    hob_buf_finish(&out);
    return rc;
}

static int close_slot(decoder *d, slot *s) {
    if (!s->open) return HOB_OK;
    s->open = false;
    if (s->kind == HOB_BLOCK_OPAQUE && s->json.n) return close_opaque(d, s);
    if (s->kind == HOB_BLOCK_TOOL_CALL && !s->streamed && s->input.n)
        return hob_answer_append(d->base.answer, s->block, s->input);
    return HOB_OK;
}

static int block_stop(decoder *d, const hob_json *e) {
    slot *s = slot_find(d, hob_json_get_int(e, "index", -1));
    return s ? hob_decoder_check(&d->base, close_slot(d, s)) : HOB_OK;
}

/* A message may start with blocks that are whole already (a call made by code that the provider ran). */
static int preset_blocks(decoder *d, const hob_json *content) {
    int64_t index = 0;
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        hob_block_kind kind = kind_from(hob_json_get_str(b, "type"));
        int rc = hob_decoder_check(&d->base, hob_answer_open(d->base.answer, kind));
        if (rc < 0) return rc;
        slot *s = slot_push(d, index++, kind, rc);
        rc = start_content(d, s, b);
        rc = hob_decoder_check(&d->base, rc < 0 ? rc : close_slot(d, s));
        if (rc < 0) return rc;
    }
    return HOB_OK;
}

static int message_start(decoder *d, const hob_json *e) {
    if (d->phase != BEFORE)
        return hob_decoder_fail(&d->base, HOB_EPROTO, true,
                                "started a second message inside the first");
    const hob_json *m = hob_json_get(e, "message");
    hob_str reason = hob_json_get_str(m, "stop_reason");
    d->phase = INSIDE;
    hob_answer_id(d->base.answer, hob_json_get_str(m, "id"));
    take_usage(d, hob_json_get(m, "usage"));
    int rc = preset_blocks(d, hob_json_get(m, "content"));
    if (rc == HOB_OK && reason.n) hob_decoder_stop(&d->base, stop_from(reason));
    return rc;
}

static int message_stop(decoder *d) {
    for (size_t i = 0; i < d->nslots; i++) {
        int rc = hob_decoder_check(&d->base, close_slot(d, &d->slots[i]));
        if (rc < 0) return rc;
    }
    d->base.done = true;
    return HOB_OK;
}

/* ---- events ------------------------------------------------------------------------------------- */

static int inside(decoder *d, hob_str type, const hob_json *e) {
    if (hob_str_eqz(type, "content_block_delta")) return block_delta(d, e);
    if (hob_str_eqz(type, "content_block_start")) return block_start(d, e);
    if (hob_str_eqz(type, "content_block_stop")) return block_stop(d, e);
    if (hob_str_eqz(type, "message_delta")) return message_delta(d, e);
    if (hob_str_eqz(type, "message_stop")) return message_stop(d);
    return HOB_OK; /* ping, and what later versions send */
}

static bool needs_message(hob_str type) {
    return hob_str_starts(type, HOB_STR("content_block_")) ||
           hob_str_starts(type, HOB_STR("message_"));
}

static int on_event(hob_decoder *base, const hob_sse_event *e) {
    decoder *d = (decoder *)base;
    const hob_json *v = hob_decoder_object(base, e);
    if (!v) return base->outcome.code;
    hob_str type = hob_json_get_str(v, "type");
    if (type.n == 0) type = e->event;
    if (hob_str_eqz(type, "error")) {
        hob_outcome_from_error(&base->outcome, &base->who, 0, e->data);
        return base->outcome.code;
    }
    if (hob_str_eqz(type, "message_start")) return message_start(d, v);
    switch (d->phase) {
    case BEFORE:
        if (needs_message(type))
            return hob_decoder_fail(base, HOB_EPROTO, true, "sent content before its message");
        return HOB_OK;
    case INSIDE: return inside(d, type, v);
    }
    return HOB_OK;
}

/* Only message_stop says that nothing is missing. */
static bool whole(const hob_decoder *d) {
    return d->done;
}

static void finish(hob_decoder *base) {
    decoder *d = (decoder *)base;
    for (size_t i = 0; i < d->nslots; i++) hob_buf_finish(&d->slots[i].json);
    hob_free(d->slots);
}

hob_decoder *hob_decoder_anthropic_create(hob_answer *a, const hob_asked *who) {
    static const hob_decoder_ops ops = {on_event, whole, finish};
    decoder *d = HOB_NEW(decoder);
    hob_decoder_init(&d->base, &ops, a, who);
    return &d->base;
}
