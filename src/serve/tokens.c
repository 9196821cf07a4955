/*
 * tokens.c - the text of a token file: JSON with comments, one row a caller. Pure.
 *
 * A word that is not known is an error: a limit or a list of rights that is misspelt would otherwise mean "no limit".
 */
#include "serve/callers.h"

#include <sodium.h>

typedef struct reading {
    hob_str max_mode;
    const char *who; /* the name of the row, for messages */
    hob_error *err;
} reading;

#define WRONG(rd, ...) hob_fail((rd)->err, HOB_ECONFIG, 0, __VA_ARGS__)

int hob_mode_rank(hob_str mode) {
    static const char *const modes[] = {"plan", "ask", "accept-edits", "yolo"};
    for (int i = 0; i < (int)HOB_ARRAY_LEN(modes); i++)
        if (hob_str_eqz(mode, modes[i])) return i;
    return -1;
}

void hob_token_digest(hob_str token, unsigned char out[32]) {
    crypto_hash_sha256(out, (const unsigned char *)token.p, token.n);
}

/* ---- tokens ------------------------------------------------------------------------------------------- */

static bool printable(hob_str s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= 0x20 || s.p[i] >= 0x7f) return false;
    return true;
}

static int read_hex(reading *rd, hob_str hex, unsigned char digest[32]) {
    size_t n = 0;
    if (hex.n == 64 && !sodium_hex2bin(digest, 32, hex.p, hex.n, NULL, &n, NULL) && n == 32)
        return HOB_OK;
    return WRONG(rd, "token '%s': token_sha256 is 64 hexadecimal digits (sha256sum prints them)",
                 rd->who);
}

static int read_secret(reading *rd, const hob_json *row, hob_token_row *out) {
    const hob_json *token = hob_json_get(row, "token"), *sum = hob_json_get(row, "token_sha256");
    if (!token == !sum)
        return WRONG(rd, "token '%s' needs either \"token\" or \"token_sha256\"", rd->who);
    if (sum) return read_hex(rd, hob_json_str(sum), out->digest);
    out->token = hob_json_str(token);
    if (out->token.n < HOB_TOKEN_MIN || out->token.n > HOB_TOKEN_MAX || !printable(out->token))
        return WRONG(rd,
                     "token '%s': the secret has %zu characters; use %d to %d visible ones "
                     "(openssl rand -hex 32 makes one)",
                     rd->who, out->token.n, HOB_TOKEN_MIN, HOB_TOKEN_MAX);
    hob_token_digest(out->token, out->digest);
    return HOB_OK;
}

/* ---- rights and limits -------------------------------------------------------------------------------- */

static int right_named(hob_str word) {
    for (int i = HOB_RIGHT_READ; i <= HOB_RIGHT_ADMIN; i++)
        if (hob_str_eqz(word, hob_right_name((hob_right)i))) return i;
    return -1;
}

static int read_rights(reading *rd, const hob_json *list, hob_caller *c) {
    c->rights = 1u << HOB_RIGHT_READ | 1u << HOB_RIGHT_RUN | 1u << HOB_RIGHT_APPROVE;
    if (!list) return HOB_OK;
    if (!hob_json_is(list, HOB_JSON_ARRAY))
        return WRONG(rd, "token '%s': \"rights\" is a list", rd->who);
    c->rights = 0;
    for (const hob_json *v = hob_json_first(list); v; v = hob_json_next(v)) {
        int right = right_named(hob_json_str(v));
        if (right < 0)
            return WRONG(
                rd,
                "token '%s': the right '%.*s' does not exist; there are read, run, approve, admin",
                rd->who, HOB_FMT(hob_str_first(hob_json_str(v), 40)));
        c->rights |= 1u << right;
    }
    return HOB_OK;
}

static int64_t *limit_place(hob_str key, hob_caller *c, int64_t *unit) {
    *unit = 1;
    if (hob_str_eqz(key, "per_minute")) return &c->per_minute;
    for (hob_quota q = 0; q < HOB_QUOTA_COUNT; q++) {
        if (!hob_str_eqz(key, hob_quota_name(q))) continue;
        *unit = hob_quota_unit(q);
        return &c->limits[q];
    }
    return NULL;
}

static int read_cost(reading *rd, const hob_json *v, int64_t *place) {
    double usd = hob_json_double(v);
    if (!hob_json_is(v, HOB_JSON_NUMBER) || !(usd > 0 && usd <= 1e9))
        return WRONG(rd, "token '%s': \"cost_usd\" is a number of dollars", rd->who);
    *place = HOB_MAX((int64_t)(usd * 1e6), 1);
    return HOB_OK;
}

static int read_limit(reading *rd, const hob_json *v, hob_caller *c) {
    hob_str key = hob_json_key(v);
    int64_t n, unit, *place = limit_place(key, c, &unit);
    if (!place)
        return WRONG(rd,
                     "token '%s': the limit '%.*s' does not exist; there are sessions, runs, "
                     "streams, per_minute, tokens, cost_usd, buffer_mib, artifact_mib",
                     rd->who, HOB_FMT(hob_str_first(key, 40)));
    if (place == &c->limits[HOB_QUOTA_COST]) return read_cost(rd, v, place);
    if (hob_json_int(v, &n) < 0 || n < 1 || n > INT64_MAX / unit)
        return WRONG(rd, "token '%s': the limit '%.*s' is a whole number from 1", rd->who,
                     HOB_FMT(hob_str_first(key, 40)));
    *place = n * unit;
    return HOB_OK;
}

static int read_limits(reading *rd, const hob_json *limits, hob_caller *c) {
    int rc = HOB_OK;
    if (limits && !hob_json_is(limits, HOB_JSON_OBJECT))
        return WRONG(rd, "token '%s': \"limits\" is an object", rd->who);
    for (const hob_json *v = hob_json_first(limits); v && rc >= 0; v = hob_json_next(v))
        rc = read_limit(rd, v, c);
    return rc;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

static int check_keys(reading *rd, const hob_json *row) {
    static const char *const known[] = {"name",      "token",  "token_sha256", "tenant",
                                        "principal", "rights", "limits",       "max_mode"};
    for (const hob_json *v = hob_json_first(row); v; v = hob_json_next(v)) {
        bool found = false;
        for (size_t i = 0; i < HOB_ARRAY_LEN(known); i++)
            found |= hob_str_eqz(hob_json_key(v), known[i]);
        if (found) continue;
        const char *near = hob_str_nearest(hob_json_key(v), known, HOB_ARRAY_LEN(known));
        return WRONG(rd, "token '%s': '%.*s' is no setting of a token%s%s", rd->who,
                     HOB_FMT(hob_str_first(hob_json_key(v), 40)), near ? "; did you mean " : "",
                     near ? near : "");
    }
    return HOB_OK;
}

static bool good_owner(hob_str s) {
    return s.n >= 1 && s.n <= 512 && !memchr(s.p, 0, s.n);
}

static int read_owner(reading *rd, const hob_json *row, hob_caller *c) {
    const hob_json *tenant = hob_json_get(row, "tenant"), *who = hob_json_get(row, "principal");
    c->tenant = tenant ? hob_json_str(tenant) : HOB_STR("hob");
    c->principal = who ? hob_json_str(who) : c->name;
    if (!good_owner(c->tenant) || !good_owner(c->principal))
        return WRONG(rd, "token '%s': tenant and principal are texts of 1 to 512 bytes", rd->who);
    return HOB_OK;
}

static int read_mode(reading *rd, const hob_json *mode, hob_caller *c) {
    c->max_mode = mode ? hob_json_str(mode) : rd->max_mode;
    int rank = hob_mode_rank(c->max_mode);
    if (rank < 0)
        return WRONG(rd, "token '%s': max_mode is plan, ask, accept-edits or yolo", rd->who);
    if (rank > hob_mode_rank(rd->max_mode))
        return WRONG(rd, "token '%s': max_mode is stronger than the server's, which is %.*s",
                     rd->who, HOB_FMT(rd->max_mode));
    return HOB_OK;
}

static int read_row(reading *rd, const hob_json *row, hob_token_row *out) {
    char name[129];
    memset(out, 0, sizeof *out);
    out->caller.limits[HOB_QUOTA_STREAMS] = HOB_CALLER_STREAMS;
    out->caller.limits[HOB_QUOTA_BUFFER] = HOB_CALLER_BUFFER;
    out->caller.name = hob_json_get_str(row, "name");
    if (!hob_id_valid(out->caller.name))
        return WRONG(rd, "every token needs a \"name\" of letters, digits, dots and hyphens");
    hob_str_out(out->caller.name, name, sizeof name);
    rd->who = name;
    int r = check_keys(rd, row);
    if (r >= 0) r = read_secret(rd, row, out);
    if (r >= 0) r = read_rights(rd, hob_json_get(row, "rights"), &out->caller);
    if (r >= 0) r = read_limits(rd, hob_json_get(row, "limits"), &out->caller);
    if (r >= 0) r = read_owner(rd, row, &out->caller);
    if (r >= 0) r = read_mode(rd, hob_json_get(row, "max_mode"), &out->caller);
    rd->who = NULL;
    return r;
}

static int read_rows(reading *rd, const hob_json *file, hob_token_fn fn, void *user) {
    const hob_json *list = hob_json_get(file, "tokens");
    hob_token_row row;
    if (!hob_json_is(list, HOB_JSON_ARRAY) || hob_json_count(file) != 1)
        return WRONG(rd, "a token file is {\"tokens\": [ … ]} and nothing else");
    if (!hob_json_count(list) || hob_json_count(list) > HOB_CALLERS_MAX)
        return WRONG(rd, "a token file has 1 to %d tokens, this one %zu", HOB_CALLERS_MAX,
                     hob_json_count(list));
    for (const hob_json *v = hob_json_first(list); v; v = hob_json_next(v)) {
        int r = read_row(rd, v, &row);
        if (r >= 0) r = fn(&row, user);
        if (r < 0) return r;
    }
    return HOB_OK;
}

int hob_tokens_parse(hob_str text, hob_str max_mode, hob_token_fn fn, void *user, hob_error *err) {
    static const hob_json_opts opts = {
        .max_depth = 8, .max_bytes = HOB_TOKEN_FILE_MAX, .comments = true};
    reading rd = {.max_mode = max_mode, .err = err};
    hob_arena *a = hob_arena_create(64 << 20);
    const hob_json *file = NULL;
    hob_error why;
    int r = hob_json_parse(a, text, &opts, &file, &why);
    r = r < 0 ? hob_fail(err, HOB_ECONFIG, 0, "%s", why.message) : read_rows(&rd, file, fn, user);
    hob_arena_destroy(a);
    return r;
}
