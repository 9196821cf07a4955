/*
 * memory.c - checks on what goes into memory.
 *
 * Memory outlives the session it came from, and what a model writes into it may have been put into its mouth by a file
 * or a page it read. So a model may not store what its user cannot see (invisible characters, text that runs backwards)
 * nor what should be stored nowhere (keys and tokens). Shapes of credentials are those of well-known issuers; a secret
 * without a shape cannot be told from other words.
 */
#include "agent/memory.h"

/* ---- characters ------------------------------------------------------------------------------------------ */

static bool is_control(uint32_t cp) {
    return (cp < 0x20 && cp != '\n' && cp != '\t') || (cp >= 0x7F && cp < 0xA0);
}

/* Tags that spell text nobody sees, and marks that turn the order of what is seen. */
static bool is_hidden(uint32_t cp) {
    return (cp >= 0xE0000 && cp <= 0xE0FFF) || (cp >= 0x202A && cp <= 0x202E) ||
           (cp >= 0x2066 && cp <= 0x2069) || (cp >= 0x2060 && cp <= 0x2064) || cp == 0x200B;
}

static bool has(hob_str text, bool (*is)(uint32_t cp)) {
    for (size_t at = 0; at < text.n;) {
        if (is(hob_utf8_next(text, &at))) return true;
    }
    return false;
}

int hob_memory_check_text(hob_str text, size_t max, hob_error *err) {
    if (!hob_str_trim(text).n) return hob_fail(err, HOB_EINVAL, 0, "there is nothing to remember");
    if (text.n > max)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "a memory has at most %zu bytes, this one %zu: keep what matters, or make "
                        "several of it",
                        max, text.n);
    if (!hob_utf8_valid(text) || has(text, is_control))
        return hob_fail(err, HOB_EINVAL, 0, "a memory is text in UTF-8 without control characters");
    return HOB_OK;
}

int hob_memory_tag(hob_arena *a, hob_str given, size_t max, hob_str *out, hob_error *err) {
    hob_str trimmed = hob_str_trim(given);
    if (!trimmed.n || !hob_utf8_valid(trimmed) || has(trimmed, is_control) ||
        hob_str_chr(trimmed, '\n') >= 0)
        return hob_fail(err, HOB_EINVAL, 0, "a tag is one line of text with something in it");
    if (trimmed.n > max) return hob_fail(err, HOB_ETOOBIG, 0, "a tag has at most %zu bytes", max);
    *out = hob_arena_dup(a, trimmed);
    for (char *p = (char *)out->p; p < out->p + out->n; p++) {
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    }
    return HOB_OK;
}

/* ---- credentials ------------------------------------------------------------------------------------------- */

static bool is_token_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
}

static size_t token_length(hob_str text, size_t at) {
    size_t n = 0;
    while (at + n < text.n && is_token_char(text.p[at + n])) n++;
    return n;
}

/* How tokens of well-known issuers begin, and how long they are at least. */
static const struct {
    const char *prefix;
    size_t least;
    const char *name;
} shapes[] = {
    {"sk-", 20, "an API key (sk-…)"},        {"sk_live_", 16, "a Stripe key"},
    {"sk_test_", 16, "a Stripe key"},        {"rk_live_", 16, "a Stripe key"},
    {"AKIA", 20, "an AWS access key"},       {"ASIA", 20, "an AWS access key"},
    {"ghp_", 30, "a GitHub token"},          {"gho_", 30, "a GitHub token"},
    {"ghs_", 30, "a GitHub token"},          {"ghu_", 30, "a GitHub token"},
    {"ghr_", 30, "a GitHub token"},          {"github_pat_", 30, "a GitHub token"},
    {"glpat-", 20, "a GitLab token"},        {"xoxb-", 20, "a Slack token"},
    {"xoxp-", 20, "a Slack token"},          {"xoxa-", 20, "a Slack token"},
    {"xoxs-", 20, "a Slack token"},          {"AIza", 35, "a Google API key"},
    {"ya29.", 30, "a Google token"},         {"npm_", 36, "an npm token"},
    {"hf_", 30, "a Hugging Face token"},     {"eyJ", 60, "a signed token (JWT)"},
    {"AGE-SECRET-KEY-", 40, "a secret key"},
};

static const char *shape_at(hob_str rest, size_t n) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(shapes); i++) {
        if (n >= shapes[i].least && hob_str_starts(rest, hob_str_z(shapes[i].prefix)))
            return shapes[i].name;
    }
    return NULL;
}

/* "password: hunter2x": a word that names a secret, and behind it a value of letters and digits. */
static bool is_assigned(hob_str rest) {
    static const char *const names[] = {"password", "passwd",  "secret", "token",
                                        "api_key",  "api-key", "apikey", "access_key"};
    size_t n = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(names) && !n; i++) {
        hob_str name = hob_str_z(names[i]);
        if (hob_str_ieq(hob_str_first(rest, name.n), name)) n = name.n;
    }
    if (!n) return false;
    rest = hob_str_trim(hob_str_skip(rest, n));
    if (!rest.n || (rest.p[0] != ':' && rest.p[0] != '=')) return false;
    rest = hob_str_trim(hob_str_skip(rest, 1));
    if (rest.n && (rest.p[0] == '"' || rest.p[0] == '\'')) rest = hob_str_skip(rest, 1);
    size_t length = 0, digits = 0;
    for (; length < rest.n && (unsigned char)rest.p[length] > ' '; length++)
        digits += rest.p[length] >= '0' && rest.p[length] <= '9';
    return length >= 8 && digits > 0 && digits < length;
}

/* Also behind a part of its own: "DB_PASSWORD=". */
static bool names_secret(hob_str text, size_t at, size_t n) {
    for (size_t k = 0; k < n; k++) {
        bool first = k == 0 || strchr("_-.", text.p[at + k - 1]);
        if (first && is_assigned(hob_str_skip(text, at + k))) return true;
    }
    return false;
}

const char *hob_credential_in(hob_str text) {
    ptrdiff_t begin = hob_str_find(text, HOB_STR("-----BEGIN "));
    if (begin >= 0 &&
        hob_str_find(hob_str_skip(text, (size_t)begin), HOB_STR("PRIVATE KEY-----")) >= 0)
        return "a private key";
    for (size_t at = 0; at < text.n;) {
        size_t n = token_length(text, at);
        const char *name = n ? shape_at(hob_str_skip(text, at), n) : NULL;
        if (name) return name;
        if (names_secret(text, at, n)) return "a password or token";
        at += n ? n : 1;
    }
    return NULL;
}

int hob_memory_check_model(hob_str text, hob_error *err) {
    if (has(text, is_hidden))
        return hob_fail(err, HOB_EREFUSED, 0,
                        "not remembered: the text has characters that nobody would see");
    const char *credential = hob_credential_in(text);
    if (credential)
        return hob_fail(err, HOB_EREFUSED, 0,
                        "not remembered: the text holds what looks like %s; remember where it is "
                        "kept instead",
                        credential);
    return HOB_OK;
}
