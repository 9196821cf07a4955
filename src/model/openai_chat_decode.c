/*
 * openai_chat_decode.c - the chunk stream of OpenAI's Chat Completions API and of the many servers that copy it.
 *
 * Chunks carry pieces (`delta`) of one choice; `finish_reason` says that its content is whole, then a chunk with
 * usage may follow, then "[DONE]". Servers differ, and each of these has been seen:
 *   thinking as reasoning_content, reasoning, reasoning_details[], or as parts of a content array;
 *   calls in one piece or many, keyed by index, with the id and name on the first piece only, or never an id,
 *   or several calls all with index 0 (a new id is a new call);
 *   no role, no finish_reason key before the end, usage on the last chunk of content, on every chunk, or apart;
 *   cached tokens inside prompt_tokens; reasoning tokens inside completion_tokens, or beside them.
 * An end without "[DONE]" is fine if finish_reason was seen, an end before it never is.
 */
#include "model/decoder.h"

#define MAX_CALLS 512u

typedef struct call {
    int64_t index; /* -1 = not said */
    int block;
} call;

typedef struct decoder {
    hob_decoder base;
    call *calls;
    size_t ncalls, cap;
    bool finished; /* finish_reason was seen */
} decoder;

/* ---- text and thinking --------------------------------------------------------------------------- */

/* Pieces of one kind that follow each other are one block. */
static int add_piece(decoder *d, hob_block_kind kind, hob_str piece) {
    hob_answer *a = d->base.answer;
    if (piece.n == 0) return HOB_OK;
    int at = (int)a->nblocks - 1;
    if (at < 0 || a->blocks[at].kind != kind) at = hob_answer_open(a, kind);
    return hob_decoder_check(&d->base, at < 0 ? at : hob_answer_append(a, at, piece));
}

/* {"type":"thinking","thinking":[{"type":"text","text":…}]} or the same with a plain string */
static int add_thinking_part(decoder *d, const hob_json *thinking) {
    if (hob_json_is(thinking, HOB_JSON_STRING))
        return add_piece(d, HOB_BLOCK_THINKING, hob_json_str(thinking));
    int rc = HOB_OK;
    for (const hob_json *p = hob_json_first(thinking); p && rc >= 0; p = hob_json_next(p))
        rc = add_piece(d, HOB_BLOCK_THINKING, hob_json_get_str(p, "text"));
    return rc;
}

static int add_content(decoder *d, const hob_json *content) {
    if (!hob_json_is(content, HOB_JSON_ARRAY))
        return add_piece(d, HOB_BLOCK_TEXT, hob_json_str(content));
    int rc = HOB_OK;
    for (const hob_json *p = hob_json_first(content); p && rc >= 0; p = hob_json_next(p)) {
        const hob_json *thinking = hob_json_get(p, "thinking");
        rc = thinking ? add_thinking_part(d, thinking)
                      : add_piece(d, HOB_BLOCK_TEXT, hob_json_get_str(p, "text"));
    }
    return rc;
}

static int add_reasoning(decoder *d, const hob_json *delta) {
    hob_str text = hob_json_get_str(delta, "reasoning_content");
    if (text.n == 0) text = hob_json_get_str(delta, "reasoning");
    if (text.n) return add_piece(d, HOB_BLOCK_THINKING, text);
    int rc = HOB_OK;
    const hob_json *p = hob_json_first(hob_json_get(delta, "reasoning_details"));
    for (; p && rc >= 0; p = hob_json_next(p)) {
        text = hob_json_get_str(p, "text");
        rc = add_piece(d, HOB_BLOCK_THINKING, text.n ? text : hob_json_get_str(p, "summary"));
    }
    return rc;
}

/* A refusal is text to the reader; the stop says what it is. */
static int add_refusal(decoder *d, const hob_json *delta) {
    hob_str words = hob_json_get_str(delta, "refusal");
    if (words.n == 0) return HOB_OK;
    hob_answer_stop(d->base.answer, HOB_STOP_REFUSAL);
    return add_piece(d, HOB_BLOCK_TEXT, words);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

static call *call_find(decoder *d, int64_t index, hob_str id) {
    for (size_t i = d->ncalls; i-- > 0;) {
        call *c = &d->calls[i];
        hob_str known = d->base.answer->blocks[c->block].id;
        if (index >= 0 && c->index >= 0 && c->index != index) continue;
        return id.n && known.n && !hob_str_eq(id, known) ? NULL : c;
    }
    return NULL;
}

static call *call_push(decoder *d, int64_t index) {
    int block =
        d->ncalls < MAX_CALLS ? hob_answer_open(d->base.answer, HOB_BLOCK_TOOL_CALL) : HOB_ETOOBIG;
    if (hob_decoder_check(&d->base, block) < 0) return NULL;
    if (d->ncalls == d->cap) {
        d->cap = d->cap ? d->cap * 2 : 4;
        d->calls = hob_realloc(d->calls, d->cap * sizeof *d->calls);
    }
    d->calls[d->ncalls] = (call){.index = index, .block = block};
    return &d->calls[d->ncalls++];
}

/* Some servers repeat id and name on every piece, some send them as "". */
static int name_call(decoder *d, const call *c, hob_str id, hob_str name) {
    const hob_block *b = &d->base.answer->blocks[c->block];
    if (b->id.n) id = HOB_STR_NULL;
    if (b->name.n) name = HOB_STR_NULL;
    return hob_answer_call(d->base.answer, c->block, id, name);
}

static int add_call(decoder *d, int64_t index, hob_str id, const hob_json *function) {
    call *c = call_find(d, index, id);
    if (!c) c = call_push(d, index);
    if (!c) return d->base.outcome.code;
    int rc = name_call(d, c, id, hob_json_get_str(function, "name"));
    const hob_json *args = hob_json_get(function, "arguments");
    hob_str piece = hob_json_is(args, HOB_JSON_OBJECT) ? hob_json_raw(args) : hob_json_str(args);
    if (rc == HOB_OK) rc = hob_answer_append(d->base.answer, c->block, piece);
    return hob_decoder_check(&d->base, rc);
}

static int add_calls(decoder *d, const hob_json *delta) {
    int rc = HOB_OK;
    const hob_json *t = hob_json_first(hob_json_get(delta, "tool_calls"));
    for (; t && rc >= 0; t = hob_json_next(t))
        rc = add_call(d, hob_json_get_int(t, "index", -1), hob_json_get_str(t, "id"),
                      hob_json_get(t, "function"));
    const hob_json *old = hob_json_get(delta, "function_call"); /* the form before tool_calls */
    if (rc >= 0 && hob_json_is(old, HOB_JSON_OBJECT)) rc = add_call(d, 0, HOB_STR_NULL, old);
    return rc;
}

/* ---- usage, stop -------------------------------------------------------------------------------------- */

/* To hob's meaning: input without what was read from the cache, output with the reasoning in it. */
static void take_usage(decoder *d, const hob_json *chunk) {
    const hob_json *u = hob_json_get(chunk, "usage");
    if (!hob_json_is(u, HOB_JSON_OBJECT)) u = hob_json_get(hob_json_get(chunk, "x_groq"), "usage");
    if (!hob_json_is(u, HOB_JSON_OBJECT)) return;
    int64_t prompt = hob_json_get_int(u, "prompt_tokens", -1);
    int64_t output = hob_json_get_int(u, "completion_tokens", -1);
    int64_t cached = hob_json_get_int(hob_json_get(u, "prompt_tokens_details"), "cached_tokens",
                                      hob_json_get_int(u, "prompt_cache_hit_tokens", 0));
    int64_t reasoning =
        hob_json_get_int(hob_json_get(u, "completion_tokens_details"), "reasoning_tokens", 0);
    int64_t total = hob_json_get_int(u, "total_tokens", -1);
    cached = HOB_MAX(0, HOB_MIN(cached, prompt));
    reasoning = HOB_MAX(0, HOB_MIN(reasoning, INT32_MAX));
    if (prompt >= 0 && output >= 0 && prompt < INT32_MAX && output < INT32_MAX && reasoning > 0 &&
        total == prompt + output + reasoning)
        output += reasoning;
    hob_usage usage = {.input_tokens = prompt < 0 ? -1 : prompt - cached,
                       .output_tokens = output,
                       .cache_read_tokens = cached,
                       .cache_write_tokens = -1,
                       .reasoning_tokens = reasoning};
    hob_answer_usage(d->base.answer, &usage);
}

static int finish_with(decoder *d, hob_str reason) {
    bool refused = d->base.answer->stop == HOB_STOP_REFUSAL;
    hob_stop stop = HOB_STOP_DONE;
    if (hob_str_eqz(reason, "error") || hob_str_eqz(reason, "insufficient_system_resource"))
        return hob_decoder_fail(&d->base, HOB_EOVERLOAD, true,
                                "gave up in the middle of its answer");
    if (hob_str_eqz(reason, "length") || hob_str_eqz(reason, "model_length"))
        stop = HOB_STOP_LENGTH;
    else if (hob_str_eqz(reason, "content_filter") || refused)
        stop = HOB_STOP_REFUSAL;
    d->finished = true;
    hob_decoder_stop(&d->base, stop); /* "stop" with calls is "tool_calls" */
    return HOB_OK;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

static int add_delta(decoder *d, const hob_json *delta) {
    int rc = add_reasoning(d, delta);
    if (rc >= 0) rc = add_content(d, hob_json_get(delta, "content"));
    if (rc >= 0) rc = add_refusal(d, delta);
    return rc >= 0 ? add_calls(d, delta) : rc;
}

static int add_choices(decoder *d, const hob_json *choices) {
    for (const hob_json *c = hob_json_first(choices); c; c = hob_json_next(c)) {
        if (hob_json_get_int(c, "index", 0) != 0) continue;
        hob_str reason = hob_json_get_str(c, "finish_reason");
        int rc = add_delta(d, hob_json_get(c, "delta"));
        if (rc >= 0 && reason.n) rc = finish_with(d, reason);
        if (rc < 0) return rc;
    }
    return HOB_OK;
}

static int on_event(hob_decoder *base, const hob_sse_event *e) {
    decoder *d = (decoder *)base;
    if (hob_str_eqz(hob_str_trim(e->data), "[DONE]")) {
        if (!d->finished)
            return hob_decoder_fail(base, HOB_EPROTO, true, "ended early: no finish_reason came");
        base->done = true;
        return HOB_OK;
    }
    const hob_json *v = hob_decoder_object(base, e);
    if (!v) return base->outcome.code;
    const hob_json *error = hob_json_get(v, "error");
    if (hob_str_eqz(e->event, "error") || (error && !hob_json_is(error, HOB_JSON_NULL))) {
        hob_outcome_from_error(&base->outcome, &base->who, 0, e->data);
        return base->outcome.code;
    }
    if (base->answer->response_id.n == 0) hob_answer_id(base->answer, hob_json_get_str(v, "id"));
    take_usage(d, v);
    return add_choices(d, hob_json_get(v, "choices"));
}

static bool whole(const hob_decoder *base) {
    return ((const decoder *)base)->finished;
}

static void finish(hob_decoder *base) {
    hob_free(((decoder *)base)->calls);
}

hob_decoder *hob_decoder_openai_chat_create(hob_answer *a, const hob_asked *who) {
    static const hob_decoder_ops ops = {on_event, whole, finish};
    decoder *d = HOB_NEW(decoder);
    hob_decoder_init(&d->base, &ops, a, who);
    return &d->base;
}
