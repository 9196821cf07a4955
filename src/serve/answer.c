/*
 * answer.c - what a handler answers, and the head that goes before it.
 */
#include "serve/gzip.h"
#include "serve/web.h"

#include <stdio.h>
#include <time.h>

enum { GZIP_MIN = 1024 };

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

const char *hob_answer_reason(int status) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status) return reasons[i].reason;
    return "Unknown";
}

/* ---- the body ------------------------------------------------------------------------------------------- */

bool hob_web_answered(const hob_web_request *r) {
    return r->answered;
}

static bool plain(hob_str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f) return false;
    return true;
}

/* What came from outside must not become a line of its own. */
void hob_web_answer_header(hob_web_request *r, const char *name, hob_str value) {
    if (!plain(value)) return;
    hob_buf_addf(&r->fields, "%s: %.*s\r\n", name, HOB_FMT(value));
}

/* The tag, or "*". Ours are weak: they name what is said, compressed or not. */
static bool has_tag(hob_str list, hob_str tag) {
    hob_str part;
    while (hob_str_split(&list, ',', &part)) {
        part = hob_str_trim(part);
        if (hob_str_starts(part, HOB_STR("W/"))) part = hob_str_skip(part, 2);
        if (hob_str_eq(part, tag) || hob_str_eqz(part, "*")) return true;
    }
    return false;
}

static void add_tag(hob_web_request *r) {
    char tag[40];
    hob_str body = hob_buf_str(&r->content);
    snprintf(tag, sizeof tag, "W/\"%016llx-%zx\"", (unsigned long long)hob_sum(0, body), body.n);
    hob_web_answer_header(r, "ETag", hob_str_z(tag));
    if (!has_tag(hob_web_header(r, "if-none-match"), hob_str_z(tag + 2))) return;
    r->status = 304;
    hob_buf_finish(&r->content);
}

/* Is gzip named there, and not with the weight nought? */
static bool takes_gzip(hob_str accept) {
    hob_str part, coding;
    while (hob_str_split(&accept, ',', &part)) {
        hob_str_split(&part, ';', &coding);
        if (!hob_str_ieq(hob_str_trim(coding), HOB_STR("gzip"))) continue;
        hob_str weight = hob_str_trim(part);
        return !hob_str_eqz(weight, "q=0") && !hob_str_starts(weight, HOB_STR("q=0.0"));
    }
    return false;
}

static bool is_text(hob_str type) {
    return hob_str_starts(type, HOB_STR("text/")) ||
           hob_str_starts(type, HOB_STR("application/json"));
}

static void make_smaller(hob_web_request *r) {
    hob_buf small;
    if (r->near || r->content.n < GZIP_MIN || r->content.err || !is_text(r->type)) return;
    if (!takes_gzip(hob_web_header(r, "accept-encoding"))) return;
    hob_buf_init(&small, HOB_WEB_ANSWER_MAX);
    if (hob_gzip(hob_buf_str(&r->content), &small) < 0) {
        hob_buf_finish(&small); /* as it is, then */
        return;
    }
    hob_buf_finish(&r->content);
    r->content = small;
    hob_web_answer_header(r, "Content-Encoding", HOB_STR("gzip"));
}

void hob_web_answer(hob_web_request *r, int status, const char *type, hob_str body) {
    if (r->answered) return;
    r->answered = true;
    r->status = status;
    r->type = type ? hob_arena_dup(r->arena, hob_str_z(type)) : HOB_STR_NULL;
    hob_buf_add(&r->content, body);
    bool tagged = r->route && (r->route->flags & HOB_ROUTE_ETAG) && status == 200;
    if (tagged) add_tag(r);
    make_smaller(r);
}

void hob_web_answer_json(hob_web_request *r, int status, hob_str json) {
    hob_web_answer(r, status, "application/json", json);
}

/* ---- failures ------------------------------------------------------------------------------------------- */

static void fail_with(hob_web_request *r, int status, const char *code, const char *message) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 16 * 1024);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "error");
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "code", hob_str_z(code));
    hob_jsonw_kstr(&w, "message", hob_str_z(message));
    hob_jsonw_object_end(&w);
    hob_jsonw_object_end(&w);
    hob_web_answer_json(r, status, hob_buf_str(&b));
    hob_buf_finish(&b);
}

void hob_web_fail(hob_web_request *r, int status, const char *code, const char *fmt, ...) {
    char message[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    fail_with(r, status, code, message);
}

void hob_web_fail_unknown(hob_web_request *r, const char *what, hob_str key,
                          const char *const *names, size_t n) {
    const char *near = hob_str_nearest(key, names, n);
    char code[32];
    hob_buf all;
    hob_buf_init(&all, 300);
    for (size_t i = 0; !near && i < n; i++)
        hob_buf_addf(&all, "%s%s", i ? ", " : ": there are ", names[i]);
    snprintf(code, sizeof code, "unknown_%s", what);
    hob_web_fail(r, 400, code, "the %s %.*s means nothing here%s%s%s", what,
                 HOB_FMT(hob_str_first(key, 100)), hob_buf_z(&all), near ? ": perhaps " : "",
                 near ? near : "");
    hob_buf_finish(&all);
}

/* What callers of the library know as HOB_E…, in the words of http-api.md. What is not here is `internal`. */
static const struct {
    int rc, status;
    const char *word;
} failures[] = {
    {HOB_EINVAL, 400, "bad_request"},
    {HOB_EPARSE, 400, "bad_request"},
    {HOB_EACCES, 403, "forbidden"},
    {HOB_EREFUSED, 403, "refused"},
    {HOB_ENOENT, 404, "not_found"},
    {HOB_EBUSY, 409, "busy"},
    {HOB_EEXIST, 409, "exists"},
    {HOB_EIDLE, 409, "idle"},
    {HOB_EAMBIGUOUS, 409, "ambiguous"},
    {HOB_ECANCELLED, 409, "cancelled"},
    {HOB_EFENCED, 409, "taken_over"},
    {HOB_ETOOBIG, 413, "too_large"},
    {HOB_EAUTH, 422, "no_credentials"},
    {HOB_ECONFIG, 422, "configuration"},
    {HOB_EVERSION, 422, "newer_version"},
    {HOB_EAGENT, 422, "agent_failed"},
    {HOB_EDEPTH, 422, "too_deep"},
    {HOB_ELIMIT, 429, "limit"},
    {HOB_ERATE, 429, "rate_limited"},
    {HOB_ENOSYS, 501, "not_implemented"},
    {HOB_ENET, 502, "provider_unreachable"},
    {HOB_EPROTO, 502, "provider_failed"},
    {HOB_EOVERLOAD, 502, "provider_overloaded"},
    {HOB_EAGAIN, 503, "try_again"},
    {HOB_ECLOSED, 503, "try_again"},
    {HOB_ETIMEDOUT, 504, "timeout"},
    {HOB_ESTORE, 500, "store_failed"},
    {HOB_OK, 500, "internal"},
};

void hob_web_fail_hob(hob_web_request *r, int rc, const hob_error *err) {
    size_t i = 0;
    const char *message = err && err->message[0] ? err->message : hob_error_text(rc);
    if (r->answered) return;
    while (failures[i].rc != rc && failures[i].rc != HOB_OK) i++;
    if (failures[i].status == 503) hob_web_answer_header(r, "Retry-After", HOB_STR("2"));
    fail_with(r, failures[i].status, failures[i].word, message);
}

/* ---- the head ------------------------------------------------------------------------------------------- */

static void add_date(hob_buf *out) {
    char text[64];
    struct tm tm;
    hob_clock *clock = hob_clock_real();
    time_t now = (time_t)(clock->wall_ms(clock) / 1000);
    gmtime_r(&now, &tm);
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday], tm.tm_mday,
             months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    hob_buf_addf(out, "Date: %s\r\n", text);
}

static bool has_field(const hob_web_request *r, const char *name) {
    hob_str rest = hob_buf_str(&r->fields), line, wanted = hob_str_z(name);
    while (hob_str_split(&rest, '\n', &line))
        if (line.n > wanted.n && line.p[wanted.n] == ':' &&
            hob_str_ieq(hob_str_first(line, wanted.n), wanted))
            return true;
    return false;
}

/* On every answer: nothing of ours is kept by a cache, guessed at, framed, or read by a page of somebody else. */
static void add_guards(const hob_web_request *r, hob_buf *out) {
    if (!has_field(r, "Cache-Control")) hob_buf_addz(out, "Cache-Control: no-store\r\n");
    if (!has_field(r, "Content-Security-Policy"))
        hob_buf_addz(
            out,
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'\r\n");
    hob_buf_addz(out, "X-Content-Type-Options: nosniff\r\n"
                      "Referrer-Policy: no-referrer\r\n"
                      "Cross-Origin-Resource-Policy: same-origin\r\n"
                      "Cross-Origin-Opener-Policy: same-origin\r\n"
                      "Vary: Origin, Accept, Accept-Encoding\r\n");
}

static void add_framing(const hob_web_request *r, hob_buf *out, bool chunked) {
    if (chunked)
        hob_buf_addz(out, "Transfer-Encoding: chunked\r\n");
    else if (!r->stream && r->status != 204 && r->status != 304)
        hob_buf_addf(out, "Content-Length: %zu\r\n", r->content.n);
    if (r->stream) hob_buf_addz(out, "X-Accel-Buffering: no\r\n");
}

void hob_answer_head(hob_web_request *r, hob_buf *out, bool chunked, bool keep_alive) {
    if (r->content.err) { /* over what an answer may have */
        hob_buf_finish(&r->content);
        hob_buf_init(&r->content, HOB_WEB_ANSWER_MAX);
        r->answered = false;
        hob_web_fail(r, 500, "too_large",
                     "the answer would be over the limit; ask for less at a time");
    }
    hob_buf_addf(out, "HTTP/1.1 %d %s\r\n", r->status, hob_answer_reason(r->status));
    add_date(out);
    if (r->type.n && r->status != 304)
        hob_buf_addf(out, "Content-Type: %.*s\r\n", HOB_FMT(r->type));
    add_framing(r, out, chunked);
    hob_buf_addf(out, "Connection: %s\r\nX-Request-Id: %s\r\n", keep_alive ? "keep-alive" : "close",
                 r->id);
    add_guards(r, out);
    hob_buf_add(out, hob_buf_str(&r->fields));
    hob_buf_addz(out, "\r\n");
}
