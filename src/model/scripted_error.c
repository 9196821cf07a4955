/*
 * scripted_error.c - {"error": …}: a failed request, as a provider would report it.
 */
#include "model/failure.h"
#include "model/scripted.h"

/* The words for "code"; without one the HTTP status decides. */
static const struct {
    const char *word;
    int code;
} codes[] = {
    {"invalid", HOB_EINVAL},   {"auth", HOB_EAUTH},         {"not_found", HOB_ENOENT},
    {"too_big", HOB_ETOOBIG},  {"rate_limited", HOB_ERATE}, {"overloaded", HOB_EOVERLOAD},
    {"refused", HOB_EREFUSED}, {"network", HOB_ENET},       {"timeout", HOB_ETIMEDOUT},
    {"protocol", HOB_EPROTO},
};

/* As the providers that speak HTTP read it. */
static int code_of_status(int64_t status) {
    switch (status) {
    case 401:
    case 403: return HOB_EAUTH;
    case 404: return HOB_ENOENT;
    case 408:
    case 409: return HOB_EOVERLOAD;
    case 429: return HOB_ERATE;
    }
    return status >= 500 ? HOB_EOVERLOAD : HOB_EREFUSED;
}

static int read_code(hob_script_reader *r, const hob_json *v, int *out) {
    const char *words[HOB_ARRAY_LEN(codes) + 1] = {0};
    hob_str word;
    int code = hob_script_string(r, v, "code", &word);
    if (code < 0) return code;
    for (size_t i = 0; i < HOB_ARRAY_LEN(codes); i++) {
        words[i] = codes[i].word;
        if (!hob_str_eqz(word, words[i])) continue;
        *out = codes[i].code;
        return HOB_OK;
    }
    return hob_script_unknown(r, v, "error code", word, words);
}

static int read_status(hob_script_reader *r, const hob_json *v, hob_model_outcome *fail) {
    const hob_json *status = hob_json_get(v, "status"), *word = hob_json_get(v, "code");
    hob_script_range http = {100, 599};
    int64_t n = 0;
    int code;
    if (!status && !word)
        return hob_script_bad(r, v, "an error needs \"status\", \"code\" or both");
    if (status && (code = hob_script_int(r, status, "status", http, &n)) < 0) return code;
    fail->status = (int)n;
    fail->code = code_of_status(n);
    return word ? read_code(r, word, &fail->code) : HOB_OK;
}

static int read_rest(hob_script_reader *r, const hob_json *v, hob_model_outcome *fail) {
    const hob_json *retryable = hob_json_get(v, "retryable");
    const hob_json *after = hob_json_get(v, "retry_after_ms");
    const hob_json *message = hob_json_get(v, "message");
    bool flag = hob_error_retryable(fail->code);
    hob_str words = HOB_STR("the script says that this request fails");
    hob_script_range delays = {0, HOB_SCRIPT_DELAY_MAX};
    int code = HOB_OK;
    if (retryable) code = hob_script_bool(r, retryable, "retryable", &flag);
    if (code >= 0 && after)
        code = hob_script_int(r, after, "retry_after_ms", delays, &fail->retry_after_ms);
    if (code >= 0 && message) code = hob_script_string(r, message, "message", &words);
    hob_outcome_fail(fail, fail->code, flag, "%.*s", HOB_FMT(words));
    return code;
}

int hob_script_error_read(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                          hob_script_step *s) {
    (void)v;
    static const char *const keys[] = {"status",         "code",      "message",
                                       "retry_after_ms", "retryable", NULL};
    int code = hob_script_keys(r, arg, "error", keys);
    if (code < 0) return code;
    s->fail = hob_script_room(r, 1, sizeof(hob_model_outcome));
    if (!s->fail) return HOB_ETOOBIG;
    hob_outcome_init(s->fail);
    code = read_status(r, arg, s->fail);
    return code < 0 ? code : read_rest(r, arg, s->fail);
}
