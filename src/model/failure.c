/*
 * failure.c - error answers of providers to hob's codes.
 *
 * The kind of an error decides first (it is the same in a stream, after HTTP 200), the status if the kind is not
 * known. Nothing that would fail the same way again is retryable: a refused key, an unknown model, an empty
 * account, a prompt that does not fit.
 */
#include "model/failure.h"

#include <stdio.h>

#define SECRET_MIN 6u /* what is shorter is no secret: hiding it would only spoil messages */
#define SECRET_PART                                                                                \
    10u /* so much of its start is part of it, and not just what such keys begin with */

void hob_outcome_init(hob_model_outcome *o) {
    *o = (hob_model_outcome){.size = sizeof *o, .retry_after_ms = -1};
}

static int set_outcome(hob_model_outcome *o, int code, bool retryable, hob_str message) {
    o->code = code;
    o->retryable = retryable;
    return hob_fail(&o->error, code, o->status, "%.*s", HOB_FMT(message));
}

int hob_outcome_fail(hob_model_outcome *o, int code, bool retryable, const char *fmt, ...) {
    char message[sizeof o->error.message];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    hob_str text = hob_str_z(message);
    return set_outcome(o, code, retryable, hob_str_first(text, hob_utf8_complete(text)));
}

/* ---- what kind of error -------------------------------------------------------------------------- */

typedef enum kind {
    KIND_UNKNOWN,
    KIND_KEY,
    KIND_MODEL,
    KIND_MONEY,
    KIND_RATE,
    KIND_OVERLOAD,
    KIND_REQUEST,
    KIND_CONTEXT
} kind;

static const struct {
    const char *name; /* the error's type or code */
    kind kind;
} kinds[] = {
    {"authentication_error", KIND_KEY},
    {"permission_error", KIND_KEY},
    {"invalid_api_key", KIND_KEY},
    {"not_found_error", KIND_MODEL},
    {"model_not_found", KIND_MODEL},
    {"billing_error", KIND_MONEY},
    {"insufficient_quota", KIND_MONEY},
    {"rate_limit_error", KIND_RATE},
    {"rate_limit_exceeded", KIND_RATE},
    {"overloaded_error", KIND_OVERLOAD},
    {"api_error", KIND_OVERLOAD},
    {"timeout_error", KIND_OVERLOAD},
    {"server_error", KIND_OVERLOAD},
    {"context_length_exceeded", KIND_CONTEXT},
    {"exceed_context_size_error", KIND_CONTEXT},
    {"invalid_request_error", KIND_REQUEST},
    {"request_too_large", KIND_REQUEST},
};

/* Words by which servers say that the conversation does not fit. */
static const char *const overflow_words[] = {
    "prompt is too long",
    "maximum context length",
    "context length exceeded",
    "context_length_exceeded",
    "exceeds the context window",
    "context window exceeds",
    "exceed context limit",
    "available context size",
    "maximum prompt length",
    "input is too long",
    "too many tokens",
    "input token count",
    "reduce the length of the",
    "longer than the model's context length",
    "greater than the context length",
};

static bool has_words(hob_str text, const char *words) {
    hob_str needle = hob_str_z(words);
    for (size_t i = 0; i + needle.n <= text.n; i++) {
        if (hob_str_ieq(hob_str_first(hob_str_skip(text, i), needle.n), needle)) return true;
    }
    return false;
}

static bool is_overflow(hob_str message) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(overflow_words); i++) {
        if (has_words(message, overflow_words[i])) return true;
    }
    return false;
}

static kind kind_from_name(hob_str name) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds); i++) {
        if (hob_str_eqz(name, kinds[i].name)) return kinds[i].kind;
    }
    return KIND_UNKNOWN;
}

/* In a stream there is no status: an error of no known kind may pass, so it counts as overload. */
static kind kind_from_status(int status) {
    switch (status) {
    case 401:
    case 403: return KIND_KEY;
    case 402: return KIND_MONEY;
    case 404: return KIND_MODEL;
    case 429: return KIND_RATE;
    case 0:
    case 408:
    case 409: return KIND_OVERLOAD;
    default: return status >= 500 ? KIND_OVERLOAD : KIND_REQUEST;
    }
}

/* ---- the provider's words ------------------------------------------------------------------------- */

typedef struct parsed {
    hob_str message, type, code;
} parsed;

/* {"error":{type,code,message}}, {"error":"text"}, {"message":…}, or an array around one of them */
static parsed read_error(hob_arena *a, hob_str body) {
    const hob_json *v = NULL;
    parsed p = {0};
    if (hob_json_parse(a, body, NULL, &v, NULL) < 0) {
        p.message = hob_str_trim(body);
        return p;
    }
    if (hob_json_is(v, HOB_JSON_ARRAY)) v = hob_json_at(v, 0);
    const hob_json *e = hob_json_get(v, "error");
    if (hob_json_is(e, HOB_JSON_STRING)) p.message = hob_json_str(e);
    if (!hob_json_is(e, HOB_JSON_OBJECT)) e = v;
    if (p.message.n == 0) p.message = hob_json_get_str(e, "message");
    if (p.message.n == 0) p.message = hob_json_get_str(e, "detail");
    p.type = hob_json_get_str(e, "type");
    p.code = hob_json_get_str(e, "code");
    if (p.message.n == 0) p.message = p.type.n ? p.type : body;
    return p;
}

/* One line, short enough to leave room for ours. Pages of proxies say nothing worth quoting. */
static void quote(hob_str text, char out[281]) {
    size_t n = 0, at = 0;
    if (text.n && text.p[0] == '<') text = HOB_STR("an HTML page");
    text = hob_str_first(text, hob_utf8_prefix(text, 280));
    for (; at < text.n; at++) {
        unsigned char c = (unsigned char)text.p[at];
        out[n++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
    }
    out[n] = '\0';
}

static void say(hob_model_outcome *o, kind k, const hob_asked *who, const char *words) {
    char status[24] = "";
    const hob_str p = who->provider, m = who->model, key = who->key_source;
    if (o->status) (void)snprintf(status, sizeof status, "%d: ", o->status);
    switch (k) {
    case KIND_KEY:
        if (key.n)
            hob_outcome_fail(o, HOB_EAUTH, false, "%.*s refused the key from %.*s (%s%s): check it",
                             HOB_FMT(p), HOB_FMT(key), status, words);
        else
            hob_outcome_fail(o, HOB_EAUTH, false, "%.*s wants a key and none is set (%s%s)",
                             HOB_FMT(p), status, words);
        break;
    case KIND_MODEL:
        hob_outcome_fail(o, HOB_ENOENT, false,
                         "%.*s does not know model %.*s (%s%s): check the name, and base_url %.*s",
                         HOB_FMT(p), HOB_FMT(m), status, words,
                         HOB_FMT(hob_str_first(who->url, 100)));
        break;
    case KIND_MONEY:
        hob_outcome_fail(o, HOB_EREFUSED, false, "%.*s wants to be paid first (%s%s)", HOB_FMT(p),
                         status, words);
        break;
    case KIND_RATE:
        hob_outcome_fail(o, HOB_ERATE, true, "%.*s limits the rate (%s%s)", HOB_FMT(p), status,
                         words);
        break;
    case KIND_CONTEXT:
        hob_outcome_fail(o, HOB_ETOOBIG, false, "the conversation does not fit %.*s (%s%s)",
                         HOB_FMT(m), status, words);
        break;
    case KIND_REQUEST:
        hob_outcome_fail(o, HOB_EREFUSED, false, "%.*s refused the request (%s%s)", HOB_FMT(p),
                         status, words);
        break;
    case KIND_OVERLOAD:
    case KIND_UNKNOWN:
        hob_outcome_fail(o, HOB_EOVERLOAD, true, "%.*s failed (%s%s)", HOB_FMT(p), status, words);
        break;
    }
}

void hob_outcome_from_error(hob_model_outcome *o, const hob_asked *who, int status, hob_str body) {
    hob_arena *a = hob_arena_create(0);
    parsed e = read_error(a, body);
    kind k = kind_from_name(e.code);
    if (k == KIND_UNKNOWN || k == KIND_REQUEST)
        k = kind_from_name(e.type) == KIND_UNKNOWN ? k : kind_from_name(e.type);
    /* The status is the truth where the two disagree on whose fault it is. */
    if (k == KIND_UNKNOWN || (k == KIND_REQUEST && status && status != 200))
        k = kind_from_status(status);
    if ((k == KIND_REQUEST || k == KIND_OVERLOAD) && is_overflow(e.message)) k = KIND_CONTEXT;
    char words[281];
    quote(e.message, words);
    o->status = status;
    say(o, k, who, words[0] ? words : "no reason given");
    hob_arena_destroy(a);
}

/* ---- secrets ------------------------------------------------------------------------------------------ */

/* How much of the secret stands at p: messages may have been cut inside it. */
static size_t common(const char *p, hob_str secret) {
    size_t n = 0;
    while (n < secret.n && p[n] && p[n] == secret.p[n]) n++;
    return n;
}

void hob_error_redact(hob_error *err, hob_str secret) {
    size_t enough = HOB_MIN(secret.n, SECRET_PART);
    if (secret.n < SECRET_MIN) return;
    for (char *p = err->message; *p; p++) {
        size_t n = common(p, secret);
        if (n < enough) continue;
        memset(p, '*', 3);
        memmove(p + 3, p + n, strlen(p + n) + 1);
        p += 2;
    }
}
