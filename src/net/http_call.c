/*
 * http_call.c - one request as a libcurl easy handle.
 *
 * The four callbacks run inside libcurl. Each first looks at the state: a call that was cancelled from
 * another callback must touch neither the user's handler nor the borrowed body any more.
 */
#include "net/http_internal.h"

#include <stdio.h>

#define MAX_HEAD ((size_t)256 << 10)
#define MAX_HEAD_LINES 512
#define USER_AGENT "hob/" HOB_VERSION
#define ABORT 0 /* from a header or write callback: fewer bytes than given */

static void touch(hob_http_call *c) {
    c->last_byte = hob_loop_now(c->http->loop);
}

/* ---- the request's body -------------------------------------------------------------------- */

static size_t on_read(char *to, size_t size, size_t count, void *user) {
    hob_http_call *c = user;
    size_t room = size * count, n = 0;
    if (c->state == HOB_CALL_ENDED) return CURL_READFUNC_ABORT;
    while (n < room && c->segment < c->nbody) {
        hob_str rest = hob_str_skip(c->body[c->segment], c->offset);
        size_t part = HOB_MIN(rest.n, room - n);
        if (part) memcpy(to + n, rest.p, part);
        n += part;
        c->offset += part;
        if (part < rest.n) break;
        c->segment++;
        c->offset = 0;
    }
    touch(c);
    return n;
}

/* libcurl rewinds when it must send again on a new connection. */
static int on_seek(void *user, curl_off_t to, int origin) {
    hob_http_call *c = user;
    if (c->state == HOB_CALL_ENDED || origin != SEEK_SET || to < 0) return CURL_SEEKFUNC_CANTSEEK;
    size_t left = (size_t)to;
    c->segment = 0;
    while (c->segment < c->nbody && left >= c->body[c->segment].n) {
        left -= c->body[c->segment++].n;
    }
    c->offset = left;
    return c->segment == c->nbody && left > 0 ? CURL_SEEKFUNC_CANTSEEK : CURL_SEEKFUNC_OK;
}

/* The connection stands and the request goes out now. */
static int on_ready_to_send(void *user, char *ip, char *local_ip, int port, int local_port) {
    hob_http_call *c = user;
    (void)ip, (void)local_ip, (void)port, (void)local_port;
    if (c->state == HOB_CALL_ENDED) return CURL_PREREQFUNC_ABORT;
    c->state = HOB_CALL_SENT;
    touch(c);
    hob_timer_start(&c->watch, c->last_byte + c->idle_ms);
    return CURL_PREREQFUNC_OK;
}

/* ---- the response's head ------------------------------------------------------------------- */

static int parse_status(hob_str line) {
    int64_t status;
    hob_str rest = hob_str_skip(line, (size_t)(hob_str_chr(line, ' ') + 1));
    return hob_str_int(hob_str_first(rest, 3), &status) == HOB_OK ? (int)status : 0;
}

static void learn_version(hob_http_call *c) {
    long version = 0;
    if (c->engine != &c->http->engines[HOB_ENGINE_SHARED]) return;
    c->http->curl.easy_getinfo(c->easy, CURLINFO_HTTP_VERSION, &version);
    if (version == CURL_HTTP_VERSION_1_1 || version == CURL_HTTP_VERSION_1_0)
        hob_http_learn_http1(c);
}

static void end_head(hob_http_call *c) {
    hob_str rest = hob_buf_str(&c->head_text), line;
    if (c->head.status < 200) return; /* 100 Continue, 103 Early Hints: the real one follows */
    c->head_done = true;
    c->head_lines = hob_alloc((c->head.nheaders + 1) * sizeof(hob_str));
    c->head.headers = c->head_lines;
    for (size_t i = 0; i < c->head.nheaders && hob_str_split(&rest, '\n', &line); i++) {
        c->head_lines[i] = line;
    }
    learn_version(c);
    if (c->handler.on_head) c->handler.on_head(c->user, &c->head);
}

static int add_head_line(hob_http_call *c, hob_str line) {
    if (line.p[0] == ' ' || line.p[0] == '\t') return HOB_OK; /* folded: obsolete */
    c->head.nheaders++;
    hob_buf_add(&c->head_text, line);
    hob_buf_addc(&c->head_text, '\n');
    if (c->head_text.err == HOB_OK && c->head.nheaders <= MAX_HEAD_LINES) return HOB_OK;
    return hob_fail(&c->err, HOB_ETOOBIG, 0, "%s sent more than %zu KiB or %d lines of headers",
                    c->peer, MAX_HEAD >> 10, MAX_HEAD_LINES);
}

static hob_str without_crlf(hob_str line) {
    while (line.n > 0 && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r')) {
        line.n--;
    }
    return line;
}

static size_t on_header(char *p, size_t size, size_t count, void *user) {
    hob_http_call *c = user;
    size_t n = size * count;
    hob_str line = without_crlf(hob_str_n(p, n));
    if (c->state == HOB_CALL_ENDED) return ABORT;
    touch(c);
    if (c->head_done) return n; /* trailers after a chunked body */
    if (line.n == 0) {
        end_head(c);
    } else if (hob_str_starts(line, HOB_STR("HTTP/"))) {
        hob_buf_reset(&c->head_text);
        c->head = (hob_http_head){.status = parse_status(line)};
    } else if (add_head_line(c, line) < 0) {
        return ABORT;
    }
    return c->state == HOB_CALL_ENDED ? ABORT : n;
}

/* ---- the response's body ------------------------------------------------------------------- */

static int deliver(hob_http_call *c, hob_str chunk) {
    if (chunk.n > c->max_body - c->received)
        return hob_fail(&c->err, HOB_ETOOBIG, 0,
                        "the answer of %s is larger than the limit of %zu bytes", c->peer,
                        c->max_body);
    c->received += chunk.n;
    int r = c->handler.on_data ? c->handler.on_data(c->user, chunk) : HOB_OK;
    if (c->state == HOB_CALL_ENDED) return HOB_ECANCELLED;
    return r < 0 ? hob_fail(&c->err, r, 0, "the answer of %s was not read on: %s", c->peer,
                            hob_error_text(r))
                 : HOB_OK;
}

static size_t on_write(char *p, size_t size, size_t count, void *user) {
    hob_http_call *c = user;
    size_t n = size * count;
    if (c->state == HOB_CALL_ENDED) return ABORT;
    touch(c);
    if (n == 0) return 0;
    return deliver(c, hob_str_n(p, n)) < 0 ? ABORT : n;
}

/* ---- options ------------------------------------------------------------------------------- */

typedef struct setter {
    const hob_curl *curl;
    CURL *easy;
    CURLcode first_error;
    CURLoption failed;
} setter;

#define SET(s, option, value)                                                                      \
    do {                                                                                           \
        CURLcode set_ = (s)->curl->easy_setopt((s)->easy, option, value);                          \
        if (set_ != CURLE_OK && (s)->first_error == CURLE_OK) {                                    \
            (s)->first_error = set_;                                                               \
            (s)->failed = option;                                                                  \
        }                                                                                          \
    } while (0)

static void set_transport(setter *s, const hob_http_call *c) {
    const hob_http *h = c->http;
    bool tls = hob_url_is_tls(&c->parsed);
    SET(s, CURLOPT_URL, c->url);
    SET(s, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(s, CURLOPT_NOSIGNAL, 1L);
    SET(s, CURLOPT_TCP_KEEPALIVE, 1L);
    SET(s, CURLOPT_CONNECTTIMEOUT_MS, (long)c->connect_ms);
    SET(s, CURLOPT_HTTP_VERSION,
        (long)(h->http1_only || !tls ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
    SET(s, CURLOPT_PIPEWAIT, tls && !h->http1_only ? 1L : 0L);
    /* Both always set: libcurl would read the environment otherwise. */
    SET(s, CURLOPT_PROXY, c->proxied ? h->proxy : "");
    SET(s, CURLOPT_NOPROXY, "");
    SET(s, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (h->ca_file) SET(s, CURLOPT_CAINFO, h->ca_file);
    if (h->ca_file) SET(s, CURLOPT_PROXY_CAINFO, h->ca_file);
}

static void set_callbacks(setter *s, hob_http_call *c) {
    SET(s, CURLOPT_PRIVATE, c);
    SET(s, CURLOPT_ERRORBUFFER, c->curl_error);
    SET(s, CURLOPT_WRITEFUNCTION, on_write);
    SET(s, CURLOPT_WRITEDATA, c);
    SET(s, CURLOPT_HEADERFUNCTION, on_header);
    SET(s, CURLOPT_HEADERDATA, c);
    SET(s, CURLOPT_PREREQFUNCTION, on_ready_to_send);
    SET(s, CURLOPT_PREREQDATA, c);
}

static void set_method(setter *s, hob_http_call *c) {
    bool post = strcmp(c->method, "POST") == 0;
    if (post || c->nbody > 0) {
        SET(s, CURLOPT_POST, 1L);
        SET(s, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->body_size);
        SET(s, CURLOPT_READFUNCTION, on_read);
        SET(s, CURLOPT_READDATA, c);
        SET(s, CURLOPT_SEEKFUNCTION, on_seek);
        SET(s, CURLOPT_SEEKDATA, c);
        if (!post) SET(s, CURLOPT_CUSTOMREQUEST, c->method);
    } else if (strcmp(c->method, "HEAD") == 0) {
        SET(s, CURLOPT_NOBODY, 1L);
    } else if (strcmp(c->method, "GET") != 0) {
        SET(s, CURLOPT_CUSTOMREQUEST, c->method);
    }
}

static void add_header(hob_http_call *c, const char *line) {
    struct curl_slist *longer = c->http->curl.slist_append(c->header_list, line);
    if (longer) c->header_list = longer;
}

/* libcurl reads "name:" as "leave that header out" and wants "name;" for an empty one. */
static void set_headers(setter *s, hob_http_call *c) {
    bool has_type = false;
    for (size_t at = 0; at < c->headers.n; at += strlen(c->headers.p + at) + 1) {
        hob_str line = hob_str_z(c->headers.p + at);
        if (line.p[line.n - 1] == ':') c->headers.p[at + line.n - 1] = ';';
        has_type |= hob_str_ieq(hob_str_first(line, 13), HOB_STR("content-type:"));
        add_header(c, line.p);
    }
    if (!has_type) add_header(c, "Content-Type:"); /* no form type on a body that is none */
    add_header(c, "Expect:");
    SET(s, CURLOPT_USERAGENT, USER_AGENT);
    SET(s, CURLOPT_HTTPHEADER, c->header_list);
}

int hob_call_configure(hob_http_call *c, hob_error *err) {
    setter s = {.curl = &c->http->curl, .easy = c->http->curl.easy_init()};
    if (!s.easy) return hob_fail(err, HOB_ENOMEM, 0, "libcurl cannot start: out of memory");
    c->easy = s.easy;
    hob_buf_init(&c->head_text, MAX_HEAD);
    set_transport(&s, c);
    set_callbacks(&s, c);
    set_method(&s, c);
    set_headers(&s, c);
    if (s.first_error != CURLE_OK)
        return hob_fail(err, HOB_ENOSYS, 0, "libcurl does not take option %d: %s", (int)s.failed,
                        s.curl->easy_strerror(s.first_error));
    return HOB_OK;
}

/* libcurl forgets the list once it has read it into a multi handle's cache. */
void hob_call_rewind(hob_http_call *c) {
    const hob_curl *curl = &c->http->curl;
    c->segment = c->offset = 0;
    curl->slist_free_all(c->resolve_list);
    c->resolve_list = NULL;
    for (size_t i = 0; i < c->ntargets; i++) {
        hob_buf line;
        hob_buf_init(&line, 8192);
        hob_buf_addf(&line, "%.*s:%d:%s", HOB_FMT(c->targets[i].host), c->targets[i].port,
                     c->targets[i].addresses);
        struct curl_slist *longer = curl->slist_append(c->resolve_list, hob_buf_z(&line));
        if (longer) c->resolve_list = longer;
        hob_buf_finish(&line);
    }
    curl->easy_setopt(c->easy, CURLOPT_RESOLVE, c->resolve_list);
}

void hob_http_call_finish(hob_http_call *c) {
    if (c->easy) c->http->curl.easy_cleanup(c->easy);
    if (c->header_list) c->http->curl.slist_free_all(c->header_list);
    if (c->resolve_list) c->http->curl.slist_free_all(c->resolve_list);
    for (size_t i = 0; i < c->ntargets; i++) {
        hob_free(c->targets[i].addresses);
    }
    hob_buf_finish(&c->headers);
    hob_buf_finish(&c->head_text);
    hob_free(c->head_lines);
    hob_free(c->body);
    hob_free(c->url);
    hob_free(c->method);
    hob_free(c);
}
