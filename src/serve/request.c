/*
 * request.c - a request as its handler asks for it.
 */
#include "serve/web.h"

#include <stdio.h>

enum { ARENA_MAX = 128 << 20, LINE_MAX_SHOWN = 300, JSON_DEPTH = 64 };

/* ---- life ----------------------------------------------------------------------------------------------- */

/* version-trace-parent-flags, of version 00: lower-case hexadecimal, neither id all zeros. */
static bool good_trace(hob_str s) {
    static const char shape[] = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    if (s.n != sizeof shape - 1) return false;
    for (size_t i = 0; i < s.n; i++) {
        bool hex = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
        if (shape[i] == 'x' ? !hex : s.p[i] != shape[i]) return false;
    }
    return strspn(s.p + 3, "0") < 32 && strspn(s.p + 36, "0") < 16;
}

static void make_trace(char out[56]) {
    unsigned char rnd[24];
    size_t at = 3;
    if (hob_random(rnd, sizeof rnd) < 0) memset(rnd, 1, sizeof rnd);
    memcpy(out, "00-", 3);
    for (size_t i = 0; i < sizeof rnd; i++) {
        if (i == 16) out[at++] = '-';
        at += (size_t)snprintf(out + at, 3, "%02x", rnd[i]);
    }
    memcpy(out + at, "-00", 4);
}

static void set_ids(hob_web_request *r) {
    hob_str trace = hob_head_field(r->head, "traceparent");
    hob_uuid7_new(hob_loop_clock(r->web->loop), r->id);
    if (good_trace(trace))
        hob_str_out(trace, r->trace, sizeof r->trace);
    else
        make_trace(r->trace);
}

/* What goes over no wire need not be small. */
static bool is_near(const hob_web_request *r, const char *peer) {
    static const char *const sent_on[] = {"via", "forwarded", "x-forwarded-for"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(sent_on); i++)
        if (hob_head_field(r->head, sent_on[i]).p) return false;
    return !strcmp(peer, "unix") || !strcmp(peer, "::1") || !strncmp(peer, "127.", 4);
}

static void set_line(hob_web_request *r) {
    hob_buf b;
    hob_buf_init(&b, 1024);
    hob_buf_addf(&b, "%.*s %.*s", HOB_FMT(r->head->method),
                 HOB_FMT(hob_str_first(r->head->path, LINE_MAX_SHOWN)));
    r->line = hob_dupz(hob_buf_str(&b));
    hob_buf_finish(&b);
}

hob_web_request *hob_request_create(hob_conn *c, hob_str head, const hob_wire_error **why) {
    hob_web_request *r = HOB_NEW(hob_web_request);
    r->web = c->web;
    r->conn = c;
    r->arena = hob_arena_create(ARENA_MAX);
    r->began = hob_loop_now(c->web->loop);
    hob_head *h = HOB_ARENA_NEW(r->arena, hob_head);
    h->minor = 1;
    r->head = h;
    hob_buf_init(&r->body, HOB_WEB_BODY_MAX);
    hob_buf_init(&r->fields, 16 * 1024);
    hob_buf_init(&r->content, HOB_WEB_ANSWER_MAX);
    hob_buf_init(&r->notes, 4096);
    if (head.n) *why = hob_head_parse(hob_arena_dup(r->arena, head), h);
    if (head.n && *why) {
        hob_request_destroy(r);
        return NULL;
    }
    set_ids(r);
    r->near = is_near(r, c->peer);
    set_line(r);
    return r;
}

int hob_request_keep(hob_web_request *r, size_t bytes, hob_error *err) {
    int rc = HOB_OK;
    if (!r->caller) return rc;
    if (bytes > r->held) rc = hob_caller_hold(r->caller, r->held, bytes - r->held, err);
    if (bytes < r->held) hob_caller_give(r->caller, HOB_QUOTA_BUFFER, (int64_t)(r->held - bytes));
    if (rc >= 0) r->held = bytes;
    return rc;
}

void hob_request_destroy(hob_web_request *r) {
    hob_request_keep(r, 0, NULL);
    hob_stream_destroy(r->stream);
    hob_caller_unref(r->caller);
    hob_arena_destroy(r->arena);
    hob_buf_finish(&r->body);
    hob_buf_finish(&r->fields);
    hob_buf_finish(&r->content);
    hob_buf_finish(&r->notes);
    hob_free(r->line);
    hob_free(r);
}

/* ---- asking --------------------------------------------------------------------------------------------- */

hob_arena *hob_web_arena(hob_web_request *r) {
    return r->arena;
}

const hob_caller *hob_web_caller(const hob_web_request *r) {
    return r->caller;
}

hob_server *hob_web_server(const hob_web_request *r) {
    return r->web->server;
}

const hob_route *hob_web_route(const hob_web_request *r) {
    return r->route;
}

hob_str *hob_web_session(hob_web_request *r) {
    return &r->session;
}

hob_str hob_web_id(const hob_web_request *r) {
    return hob_str_z(r->id);
}

hob_str hob_web_traceparent(const hob_web_request *r) {
    return hob_str_z(r->trace);
}

hob_str hob_web_traced(const hob_web_request *r) {
    hob_str sent = hob_head_field(r->head, "traceparent");
    return good_trace(sent) ? sent : HOB_STR("");
}

hob_str hob_web_header(const hob_web_request *r, const char *name) {
    return hob_head_field(r->head, name);
}

hob_str hob_web_body(const hob_web_request *r) {
    return hob_buf_str(&r->body);
}

hob_str hob_web_param(const hob_web_request *r, const char *name) {
    return hob_route_param(r, name);
}

/* ---- escapes -------------------------------------------------------------------------------------------- */

bool hob_web_decode(hob_arena *a, hob_str raw, bool plus, hob_str *out) {
    char *to = hob_arena_bytes(a, raw.n + 1);
    size_t n = 0;
    if (!to) return false;
    for (size_t i = 0; i < raw.n; i++) {
        int c = plus && raw.p[i] == '+' ? ' ' : hob_percent_decode(raw, &i);
        if (c <= 0) return false;
        to[n++] = (char)c;
    }
    to[n] = 0;
    *out = hob_str_n(to, n);
    return hob_utf8_valid(*out);
}

hob_str hob_web_query(const hob_web_request *r, const char *name) {
    hob_str rest = r->head->query, part, key, value;
    while (hob_str_split(&rest, '&', &part)) {
        value = part;
        hob_str_split(&value, '=', &key);
        if (!hob_web_decode(r->arena, key, true, &key) || !hob_str_eqz(key, name)) continue;
        if (!value.p) return HOB_STR("");
        return hob_web_decode(r->arena, value, true, &value) ? value : HOB_STR("");
    }
    return HOB_STR_NULL;
}

bool hob_web_has_words(hob_str type) {
    return !hob_str_eqz(type, "string") && !hob_str_eqz(type, "integer");
}

bool hob_web_query_int(hob_web_request *r, const char *name, hob_web_range in, int64_t *out) {
    hob_str text = hob_web_query(r, name);
    int64_t n = in.otherwise;
    if (text.p && (hob_str_int(text, &n) < 0 || n < in.min || n > in.max)) {
        hob_web_fail(r, 400, "bad_query", "%s must be a whole number from %lld to %lld", name,
                     (long long)in.min, (long long)in.max);
        return false;
    }
    *out = n;
    return true;
}

bool hob_web_accepts(const hob_web_request *r, const char *type) {
    hob_str rest = hob_web_header(r, "accept"), part, media;
    while (hob_str_split(&rest, ',', &part)) {
        hob_str_split(&part, ';', &media);
        if (hob_str_ieq(hob_str_trim(media), hob_str_z(type))) return true;
    }
    return false;
}

const hob_json *hob_web_json(hob_web_request *r) {
    static const hob_json_opts opts = {.max_depth = JSON_DEPTH};
    const hob_json *v = NULL;
    hob_error err;
    hob_str body = r->body.n ? hob_buf_str(&r->body) : HOB_STR("{}");
    if (hob_json_parse(r->arena, body, &opts, &v, &err) < 0) {
        hob_web_fail(r, 400, "bad_json", "the body is not JSON: %s", err.message);
        return NULL;
    }
    if (hob_json_is(v, HOB_JSON_OBJECT)) return v;
    hob_web_fail(r, 400, "bad_json", "the body must be a JSON object");
    return NULL;
}

void hob_web_note(hob_web_request *r, const char *key, hob_str value) {
    hob_buf_addc(&r->notes, ',');
    hob_json_quote(&r->notes, hob_str_z(key));
    hob_buf_addc(&r->notes, ':');
    hob_json_quote(&r->notes, value);
}
