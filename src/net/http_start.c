/*
 * http_start.c - a request is checked, copied and prepared.
 *
 * A call needs two things before libcurl can have it: libcurl itself, and the addresses of the host.
 * Both are fetched on the pool, at the same time.
 */
#include "net/http_internal.h"

#include <stdio.h>

#define CONNECT_MS 15000
#define IDLE_MS 90000
#define MAX_BODY ((size_t)64 << 20)
#define MAX_CALLS 4096
#define MAX_REQUEST_HEADERS ((size_t)256 << 10)

static bool is_token(hob_str s) {
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] <= ' ' || s.p[i] > '~' || strchr("()<>@,;:\\\"/[]?={}", s.p[i])) return false;
    }
    return s.n > 0;
}

static int add_headers(hob_http_call *c, const hob_http_request *rq, hob_error *err) {
    hob_buf_init(&c->headers, MAX_REQUEST_HEADERS);
    for (size_t i = 0; i < rq->nheaders; i++) {
        hob_str line = rq->headers[i];
        ptrdiff_t colon = hob_str_chr(line, ':');
        hob_str name = hob_str_first(line, colon < 0 ? 0 : (size_t)colon);
        if (!is_token(name) || hob_str_chr(line, '\r') >= 0 || hob_str_chr(line, '\n') >= 0 ||
            hob_str_chr(line, '\0') >= 0)
            return hob_fail(err, HOB_EINVAL, 0,
                            "request header %zu (%.*s) is not of the form 'name: value' or has a "
                            "line break",
                            i + 1, HOB_FMT(name));
        hob_buf_add(&c->headers, hob_str_trim(line));
        hob_buf_addc(&c->headers, '\0');
    }
    if (c->headers.err < 0)
        return hob_fail(err, HOB_ETOOBIG, 0, "the request has more than %zu KiB of headers",
                        MAX_REQUEST_HEADERS >> 10);
    return HOB_OK;
}

static int set_url(hob_http_call *c, const hob_http_request *rq, hob_error *err) {
    c->url = hob_dupz(rq->url);
    int r = hob_url_parse(hob_str_n(c->url, rq->url.n), &c->parsed, err);
    if (r < 0) return r;
    hob_url *u = &c->parsed;
    if (!hob_str_ieq(u->scheme, HOB_STR("http")) && !hob_url_is_tls(u))
        return hob_fail(err, HOB_EINVAL, 0, "'%.*s' URLs are not supported: use http or https",
                        HOB_FMT(hob_str_first(u->scheme, HOB_MIN(u->scheme.n, (size_t)32))));
    snprintf(c->peer, sizeof(c->peer), u->ipv6 ? "[%.*s]:%d" : "%.*s:%d", HOB_FMT(u->host),
             u->port);
    return HOB_OK;
}

static void set_body(hob_http_call *c, const hob_http_request *rq) {
    c->body = hob_alloc((rq->nbody + 1) * sizeof(hob_str));
    c->nbody = rq->nbody;
    for (size_t i = 0; i < rq->nbody; i++) {
        c->body[i] = rq->body[i];
        c->body_size += rq->body[i].n;
    }
}

static int fill(hob_http_call *c, const hob_http_request *rq, hob_error *err) {
    c->connect_ms = rq->connect_timeout_ms > 0 ? rq->connect_timeout_ms : CONNECT_MS;
    c->idle_ms = rq->idle_timeout_ms > 0 ? rq->idle_timeout_ms : IDLE_MS;
    c->max_body = rq->max_body ? rq->max_body : MAX_BODY;
    c->method = hob_dupz(hob_str_z(rq->method));
    if (!is_token(hob_str_z(rq->method)))
        return hob_fail(err, HOB_EINVAL, 0, "a request needs a method such as POST");
    int r = set_url(c, rq, err);
    if (r == HOB_OK) r = add_headers(c, rq, err);
    if (r == HOB_OK) set_body(c, rq);
    return r;
}

static void on_address(hob_lookup *k, const char *addresses, const hob_error *err) {
    hob_call_target *t = HOB_CONTAINER(k, hob_call_target, lookup);
    hob_http_call *c = t->call;
    if (c->state != HOB_CALL_PREPARING) return;
    if (err) {
        hob_call_fail_later(c, err);
        return;
    }
    t->addresses = hob_dupz(hob_str_z(addresses));
    c->unresolved--;
    hob_call_prepare(c);
}

static void add_target(hob_http_call *c, const hob_url *u) {
    if (hob_host_is_numeric(u->host) || hob_host_is_local(u->host)) return;
    hob_call_target *t = &c->targets[c->ntargets++];
    *t = (hob_call_target){.call = c, .host = u->host, .port = u->port};
    hob_lookup_init(&t->lookup, on_address);
    const char *known = hob_resolver_lookup(c->http->resolver, u->host, &t->lookup);
    if (known)
        t->addresses = hob_dupz(hob_str_z(known));
    else
        c->unresolved++;
}

/* A proxy looks the server's name up itself, except the SOCKS kinds without a letter at the end. */
static void add_targets(hob_http_call *c) {
    hob_http *h = c->http;
    c->proxied = h->proxy && !hob_no_proxy_match(hob_str_z(h->no_proxy), c->parsed.host);
    hob_str kind = c->proxied ? h->proxy_url.scheme : HOB_STR("");
    bool own = hob_str_ieq(kind, HOB_STR("socks4")) || hob_str_ieq(kind, HOB_STR("socks5"));
    if (c->proxied) add_target(c, &h->proxy_url);
    if (!c->proxied || own) add_target(c, &c->parsed);
}

int hob_http_start(hob_http *h, const hob_http_request *rq, const hob_http_handler *handler,
                   void *user, hob_http_call **out, hob_error *err) {
    if (h->ncalls >= MAX_CALLS)
        return hob_fail(err, HOB_EAGAIN, 0, "%d requests are under way: wait for one to end",
                        MAX_CALLS);
    hob_http_call *c = HOB_NEW(hob_http_call);
    *c = (hob_http_call){.http = h, .handler = *handler, .user = user};
    hob_timer_init(&c->watch, h->loop, hob_call_on_watch);
    int r = fill(c, rq, err);
    if (r < 0) {
        hob_http_call_finish(c);
        return r;
    }
    hob_list_init(&c->todo);
    hob_list_push(&h->calls, &c->link);
    h->ncalls++;
    hob_loop_hold(h->loop);
    hob_timer_start(&c->watch, hob_loop_now(h->loop) + c->connect_ms);
    add_targets(c);
    hob_http_preload(h);
    hob_call_prepare(c);
    *out = c;
    return HOB_OK;
}

hob_str hob_http_header(const hob_http_head *head, const char *name) {
    for (size_t i = 0; i < head->nheaders; i++) {
        hob_str line = head->headers[i];
        ptrdiff_t colon = hob_str_chr(line, ':');
        if (colon < 0 || !hob_str_ieq(hob_str_first(line, (size_t)colon), hob_str_z(name)))
            continue;
        return hob_str_trim(hob_str_skip(line, (size_t)colon + 1));
    }
    return HOB_STR("");
}
