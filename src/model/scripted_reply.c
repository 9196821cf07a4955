/*
 * scripted_reply.c - the steps of a reply.
 *
 * A step is an object with exactly one of the kind keys below ("delay_ms" is a kind only when it stands
 * alone) and the options of that kind. Repeats are counted out here: how many steps and how much text a
 * reply comes to is known, and bounded, before it is played.
 */
#include "model/scripted.h"

static int read_chunking(hob_script_reader *r, const hob_json *v, hob_script_step *s) {
    const hob_json *chunk = hob_json_get(v, "chunk"), *delay = hob_json_get(v, "delay_ms");
    hob_script_range chunks = {0, HOB_SCRIPT_MAX}, delays = {0, HOB_SCRIPT_DELAY_MAX};
    int64_t n = (int64_t)r->chunk;
    int code;
    if (chunk && (code = hob_script_int(r, chunk, "chunk", chunks, &n)) < 0) return code;
    s->chunk = (size_t)n;
    s->delay_ms = r->delay_ms;
    return delay ? hob_script_int(r, delay, "delay_ms", delays, &s->delay_ms) : HOB_OK;
}

static int read_new_block(hob_script_reader *r, const hob_json *v, hob_script_step *s) {
    const hob_json *flag = hob_json_get(v, "new_block");
    return flag ? hob_script_bool(r, flag, "new_block", &s->new_block) : HOB_OK;
}

/* ---- one function a kind; `v` is the step, `arg` the value of its kind key ------------------- */

static int read_text(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                     hob_script_step *s) {
    int code = hob_script_text_read(r, arg, "text", &s->text);
    if (code >= 0) code = read_chunking(r, v, s);
    return code < 0 ? code : read_new_block(r, v, s);
}

static int read_thinking(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                         hob_script_step *s) {
    const hob_json *signature = hob_json_get(v, "signature");
    int code = hob_script_text_read(r, arg, "thinking", &s->text);
    if (code >= 0) code = read_chunking(r, v, s);
    if (code >= 0) code = read_new_block(r, v, s);
    if (code >= 0 && signature) code = hob_script_string(r, signature, "signature", &s->signature);
    return code;
}

static int read_args(hob_script_reader *r, const hob_json *v, hob_script_step *s) {
    static hob_script_piece none = {.literal = {"{}", 2}};
    const hob_json *args = hob_json_get(v, "args"), *text = hob_json_get(v, "args_text");
    if (args && text)
        return hob_script_bad(r, text, "a call has \"args\" or \"args_text\", not both");
    if (text) return hob_script_text_read(r, text, "args_text", &s->text);
    if (args && !hob_json_is(args, HOB_JSON_OBJECT))
        return hob_script_bad(r, args,
                              "\"args\": expected an object (for anything else use "
                              "\"args_text\")");
    if (args) return hob_script_text_json(r, args, &s->text);
    s->text = (hob_script_text){.pieces = &none, .n = 1, .bytes = 2};
    return HOB_OK;
}

static int read_call(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                     hob_script_step *s) {
    const hob_json *id = hob_json_get(v, "id");
    int code = hob_script_string(r, arg, "tool", &s->name);
    if (code >= 0 && s->name.n == 0) code = hob_script_bad(r, arg, "\"tool\": the name is empty");
    if (code >= 0 && id) code = hob_script_string(r, id, "id", &s->id);
    if (code >= 0) code = read_chunking(r, v, s);
    return code < 0 ? code : read_args(r, v, s);
}

static int read_opaque(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                       hob_script_step *s) {
    (void)v;
    if (!hob_json_is(arg, HOB_JSON_OBJECT))
        return hob_script_bad(r, arg, "\"opaque\": expected an object");
    return hob_script_text_json(r, arg, &s->text);
}

static int read_delay(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                      hob_script_step *s) {
    (void)v;
    hob_script_range delays = {0, HOB_SCRIPT_DELAY_MAX};
    return hob_script_int(r, arg, "delay_ms", delays, &s->delay_ms);
}

static int read_true(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                     hob_script_step *s) {
    (void)v, (void)s;
    if (!hob_json_is(arg, HOB_JSON_BOOL) || !hob_json_bool(arg))
        return hob_script_bad(r, arg, "expected true: leave the step out to do nothing");
    return HOB_OK;
}

static int read_usage(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                      hob_script_step *s) {
    (void)v;
    return hob_script_usage_read(r, arg, &s->usage);
}

static int read_stop(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                     hob_script_step *s) {
    (void)v;
    static const char *const words[] = {"done", "tools", "length", "refusal", "continue", NULL};
    static const hob_stop stops[] = {HOB_STOP_DONE, HOB_STOP_TOOLS, HOB_STOP_LENGTH,
                                     HOB_STOP_REFUSAL, HOB_STOP_CONTINUE};
    hob_str word;
    int code = hob_script_string(r, arg, "stop", &word);
    if (code < 0) return code;
    for (size_t i = 0; words[i]; i++) {
        if (!hob_str_eqz(word, words[i])) continue;
        s->stop = stops[i];
        return HOB_OK;
    }
    return hob_script_unknown(r, arg, "stop reason", word, words);
}

static int read_repeat(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                       hob_script_step *s) {
    (void)v;
    static const char *const keys[] = {"times", "reply", NULL};
    hob_script_range times = {1, HOB_SCRIPT_STEPS_MAX};
    int code = hob_script_keys(r, arg, "repeat", keys);
    if (code < 0) return code;
    const hob_json *n = hob_json_get(arg, "times"), *reply = hob_json_get(arg, "reply");
    if (!n || !reply) return hob_script_bad(r, arg, "\"repeat\" needs \"times\" and \"reply\"");
    if ((code = hob_script_int(r, n, "times", times, &s->times)) < 0) return code;
    if (++r->nesting > HOB_SCRIPT_NESTING_MAX)
        return hob_script_bad(r, arg, "at most %d repeats within each other",
                              HOB_SCRIPT_NESTING_MAX);
    code = hob_script_reply_read(r, reply, "reply", &s->body);
    r->nesting--;
    return code;
}

/* ---- which kind ----------------------------------------------------------------------------- */

typedef struct kind {
    const char *key;
    hob_script_kind kind;
    int (*read)(hob_script_reader *, const hob_json *, const hob_json *, hob_script_step *);
    const char *keys[8]; /* all of such a step */
    bool last;           /* nothing can come after it */
} kind;

static const kind kinds[] = {
    {"text", HOB_SCRIPT_STEP_TEXT, read_text, {"text", "chunk", "delay_ms", "new_block"}, false},
    {"thinking",
     HOB_SCRIPT_STEP_THINKING,
     read_thinking,
     {"thinking", "signature", "chunk", "delay_ms", "new_block"},
     false},
    {"tool",
     HOB_SCRIPT_STEP_CALL,
     read_call,
     {"tool", "args", "args_text", "id", "chunk", "delay_ms"},
     false},
    {"opaque", HOB_SCRIPT_STEP_OPAQUE, read_opaque, {"opaque"}, false},
    {"error", HOB_SCRIPT_STEP_ERROR, hob_script_error_read, {"error"}, true},
    {"cut", HOB_SCRIPT_STEP_CUT, read_true, {"cut"}, true},
    {"wait", HOB_SCRIPT_STEP_WAIT, read_true, {"wait"}, true},
    {"usage", HOB_SCRIPT_STEP_USAGE, read_usage, {"usage"}, false},
    {"stop", HOB_SCRIPT_STEP_STOP, read_stop, {"stop"}, false},
    {"repeat", HOB_SCRIPT_STEP_REPEAT, read_repeat, {"repeat"}, false},
    {"delay_ms",
     HOB_SCRIPT_STEP_DELAY,
     read_delay,
     {"delay_ms"},
     false}, /* after all that have it */
};

static const kind *kind_of(const hob_json *v) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds); i++) {
        if (hob_json_get(v, kinds[i].key)) return &kinds[i];
    }
    return NULL;
}

static int no_kind(hob_script_reader *r, const hob_json *v) {
    const char *names[HOB_ARRAY_LEN(kinds) + 1] = {0};
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds); i++) names[i] = kinds[i].key;
    int code = hob_script_keys(r, v, "step", names); /* a wrong key is the better complaint */
    if (code < 0) return code;
    return hob_script_bad(r, v,
                          "a step needs one of text, thinking, tool, opaque, delay_ms, wait, "
                          "error, cut, usage, stop, repeat");
}

static int read_step(hob_script_reader *r, const hob_json *v, hob_script_step *s) {
    const kind *k = kind_of(v);
    if (!k) return no_kind(r, v);
    int code = hob_script_keys(r, v, k->key, k->keys);
    if (code < 0) return code;
    if (k->last && hob_json_next(v))
        return hob_script_bad(r, hob_json_next(v), "nothing can follow \"%s\"", k->key);
    if (k->last && r->nesting) return hob_script_bad(r, v, "\"%s\" cannot be repeated", k->key);
    s->kind = k->kind;
    return k->read(r, v, hob_json_get(v, k->key), s);
}

/* ---- the list ------------------------------------------------------------------------------- */

/* Adds what step s comes to; saturates far above the ceilings. */
static void count_step(hob_script_reply *reply, const hob_script_step *s) {
    bool repeat = s->kind == HOB_SCRIPT_STEP_REPEAT;
    uint64_t times = repeat ? (uint64_t)s->times : 1;
    reply->total += repeat ? times * (s->body.total + 1) : 1; /* a round is a move as well */
    reply->bytes += repeat ? times * s->body.bytes : s->text.bytes + s->signature.n;
}

int hob_script_reply_read(hob_script_reader *r, const hob_json *v, const char *what,
                          hob_script_reply *out) {
    if (!hob_json_is(v, HOB_JSON_ARRAY))
        return hob_script_bad(r, v, "\"%s\": expected an array of steps", what);
    *out =
        (hob_script_reply){.steps = hob_script_room(r, hob_json_count(v), sizeof(hob_script_step))};
    if (!out->steps) return HOB_ETOOBIG;
    for (const hob_json *step = hob_json_first(v); step; step = hob_json_next(step)) {
        int code = read_step(r, step, &out->steps[out->n]);
        if (code < 0) return code;
        count_step(out, &out->steps[out->n++]);
        if (out->total > HOB_SCRIPT_STEPS_MAX)
            return hob_script_bad(r, step, "the reply comes to more than %d steps",
                                  HOB_SCRIPT_STEPS_MAX);
        if (out->bytes > HOB_SCRIPT_REPLY_MAX)
            return hob_script_bad(r, step, "the reply comes to more than %u MiB of text",
                                  HOB_SCRIPT_REPLY_MAX >> 20);
    }
    return HOB_OK;
}

int hob_script_usage_read(hob_script_reader *r, const hob_json *v, hob_usage *out) {
    static const char *const keys[] = {"input_tokens",      "output_tokens",
                                       "cache_read_tokens", "cache_write_tokens",
                                       "reasoning_tokens",  NULL};
    int code = hob_script_keys(r, v, "usage", keys);
    if (code < 0) return code;
    int64_t *fields[] = {&out->input_tokens, &out->output_tokens, &out->cache_read_tokens,
                         &out->cache_write_tokens, &out->reasoning_tokens};
    hob_script_range any = {0, INT32_MAX};
    for (size_t i = 0; keys[i]; i++) {
        const hob_json *n = hob_json_get(v, keys[i]);
        *fields[i] = -1;
        if (n && (code = hob_script_int(r, n, keys[i], any, fields[i])) < 0) return code;
    }
    return HOB_OK;
}
