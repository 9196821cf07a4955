/*
 * door.c - who comes in. In this order, by the head of the request alone, before anything of its body is read:
 *
 *   Host             is it us that is meant? A page of somebody else whose name was made to resolve to our address sends its
 *                    own name (DNS rebinding).                                                          421
 *   Origin,          a page of somebody else in the browser of somebody who may call us; null counts as somebody else.
 *   Sec-Fetch-Site   Origins that are allowed by name get CORS answers, without credentials.            403
 *   route            404, 405 with Allow
 *   token            Bearer, never in the URL, where it would stand in histories and logs               401, 400
 *   right            403
 *   rate             429
 *   query            a parameter that the route does not have, or a word that one cannot be             400
 *   type, size       JSON, or what the route takes                                                      415, 413
 */
#include "serve/web.h"

#include <stdio.h>

enum { QUERIES = 8 }; /* parameters that a route has at most */

/* ---- Host ----------------------------------------------------------------------------------------------- */

static void add_host(hob_door *d, hob_host h) {
    d->hosts = hob_realloc(d->hosts, (d->nhosts + 1) * sizeof h);
    d->hosts[d->nhosts++] = h;
}

static void add_own_hosts(hob_door *d, const hob_host *listen) {
    static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
    hob_host h;
    bool on_socket = !listen; /* a unix socket: no port */
    for (size_t i = 0; (on_socket || hob_host_is_loopback(listen)) && i < HOB_ARRAY_LEN(local);
         i++) {
        hob_host_parse(hob_str_z(local[i]), &h, NULL);
        h.port = d->port;
        add_host(d, h);
    }
    if (on_socket) return;
    h = *listen;
    h.port = d->port;
    add_host(d, h);
    d->any_address = !hob_host_is_loopback(listen);
}

int hob_door_init(hob_door *d, const hob_server_opts *o, const hob_host *listen, hob_error *err) {
    hob_host h;
    hob_origin_of origin;
    d->port = listen ? listen->port : 0;
    add_own_hosts(d, listen);
    for (const char *const *at = o->allow_hosts; at && *at; at++) {
        if (strstr(*at, "://"))
            return hob_fail(err, HOB_EINVAL, 0, "a host is NAME[:PORT], without http://: %s", *at);
        if (hob_host_parse_rule(hob_str_z(*at), &h, err) < 0) return HOB_EINVAL;
        add_host(d, h);
    }
    for (const char *const *at = o->allow_origins; at && *at; at++) {
        if (hob_origin_parse(hob_str_z(*at), &origin, err) < 0) return HOB_EINVAL;
        d->origins = hob_realloc(d->origins, (d->norigins + 1) * sizeof origin);
        d->origins[d->norigins++] = origin;
    }
    return HOB_OK;
}

void hob_door_finish(hob_door *d) {
    hob_free(d->hosts);
    hob_free(d->origins);
}

bool hob_door_host(const hob_door *d, hob_str text) {
    hob_host h;
    if (hob_host_parse(text, &h, NULL) < 0) return false;
    if (!h.port) h.port = 80;
    if (d->any_address && h.kind != HOB_HOST_NAME && h.port == d->port) return true;
    for (size_t i = 0; i < d->nhosts; i++)
        if (hob_host_matches(&d->hosts[i], &h)) return true;
    return false;
}

static bool pass_host(hob_web_request *r) {
    if (hob_door_host(&r->web->door, r->head->host)) return true;
    hob_web_fail(
        r, 421, "wrong_host",
        "this server does not go by the name in the Host header; use the address that it printed, "
        "or have that name allowed");
    return false;
}

/* ---- Origin --------------------------------------------------------------------------------------------- */

static bool allowed_origin(const hob_door *d, const hob_origin_of *origin) {
    for (size_t i = 0; i < d->norigins; i++)
        if (hob_origin_same(&d->origins[i], origin)) return true;
    return false;
}

/* Behind a proxy with TLS we do not know the scheme that the page was loaded with: the port tells, if there is one. */
static bool same_origin(const hob_origin_of *origin, hob_str host_field) {
    hob_host h;
    if (hob_host_parse(host_field, &h, NULL) < 0) return false;
    if (!h.port) h.port = origin->tls ? 443 : 80;
    return h.port == origin->host.port && hob_host_matches(&h, &origin->host);
}

static void add_cors(hob_web_request *r, hob_str origin) {
    hob_web_answer_header(r, "Access-Control-Allow-Origin", origin);
    hob_web_answer_header(r, "Access-Control-Expose-Headers",
                          HOB_STR("ETag, Idempotency-Replayed, Retry-After, X-Request-Id"));
}

/* A link that somebody followed to our page: it has no data, and cannot be framed. */
static bool is_visit(const hob_web_request *r) {
    static const char *const wanted[][2] = {{"sec-fetch-mode", "navigate"},
                                            {"sec-fetch-dest", "document"}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(wanted); i++)
        if (!hob_str_eqz(hob_web_header(r, wanted[i][0]), wanted[i][1])) return false;
    hob_str method = r->head->method;
    return hob_str_eqz(method, "GET") && hob_str_eqz(r->head->path, "/");
}

static bool pass_origin(hob_web_request *r) {
    hob_str text = hob_web_header(r, "origin"), site = hob_web_header(r, "sec-fetch-site");
    hob_origin_of origin;
    bool named = text.p && hob_origin_parse(text, &origin, NULL) >= 0;
    if (named && allowed_origin(&r->web->door, &origin)) {
        add_cors(r, text);
        return true;
    }
    bool foreign = text.p && !(named && same_origin(&origin, r->head->host));
    bool elsewhere = site.p && !hob_str_eqz(site, "same-origin") && !hob_str_eqz(site, "none");
    if ((!foreign && !elsewhere) || (!text.p && is_visit(r))) return true;
    hob_web_fail(r, 403, "wrong_origin",
                 "pages of other sites may not call this server, unless their origin was allowed");
    return false;
}

/* The question of a browser before a call from an allowed origin. */
static bool answer_preflight(hob_web_request *r, const hob_buf *allow) {
    bool allowed =
        hob_str_find(hob_buf_str(&r->fields), HOB_STR("Access-Control-Allow-Origin")) >= 0;
    if (!allowed || !hob_web_header(r, "access-control-request-method").p) return false;
    hob_web_answer_header(r, "Access-Control-Allow-Methods", hob_buf_str(allow));
    hob_web_answer_header(
        r, "Access-Control-Allow-Headers",
        HOB_STR(
            "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, "
            "Traceparent, Tracestate"));
    if (hob_str_eqz(hob_web_header(r, "access-control-request-private-network"), "true"))
        hob_web_answer_header(r, "Access-Control-Allow-Private-Network", HOB_STR("true"));
    hob_web_answer_header(r, "Access-Control-Max-Age", HOB_STR("600"));
    hob_web_answer(r, 204, NULL, HOB_STR_NULL);
    return true;
}

/* ---- route ---------------------------------------------------------------------------------------------- */

static bool pass_route(hob_web_request *r) {
    hob_buf allow;
    int status;
    hob_buf_init(&allow, 1024);
    const hob_route *route = hob_router_find(r, &status, &allow);
    bool console = !(r->web->server->flags & HOB_SERVER_NO_CONSOLE);
    if (route && (route->flags & HOB_ROUTE_PAGE) && !console) {
        route = NULL;
        status = 404;
    }
    if (!route && status == 405 &&
        !(hob_str_eqz(r->head->method, "OPTIONS") && answer_preflight(r, &allow))) {
        hob_web_answer_header(r, "Allow", hob_buf_str(&allow));
        hob_web_fail(r, 405, "method_not_allowed", "%.*s is not possible here; %.*s is",
                     HOB_FMT(r->head->method), HOB_FMT(hob_buf_str(&allow)));
    }
    if (!route && status == 404)
        hob_web_fail(r, 404, "not_found",
                     "there is nothing at this path; GET /openapi.json lists what there is");
    if (!route && status == 400)
        hob_web_fail(r, 400, "bad_request", "a part of the path cannot be decoded");
    hob_buf_finish(&allow);
    return route != NULL;
}

/* ---- token ---------------------------------------------------------------------------------------------- */

static hob_str bearer(const hob_web_request *r) {
    hob_str field = hob_web_header(r, "authorization");
    if (field.n < 7 || !hob_str_ieq(hob_str_first(field, 7), HOB_STR("Bearer ")))
        return HOB_STR_NULL;
    return hob_str_trim(hob_str_skip(field, 7));
}

static bool no_token_in_query(hob_web_request *r) {
    if (!hob_web_query(r, "token").p && !hob_web_query(r, "access_token").p) return true;
    hob_web_fail(
        r, 400, "token_in_query",
        "a token does not belong into the URL, where histories and logs keep it; send it as "
        "Authorization: Bearer");
    return false;
}

/* A word that is misspelt should not pass in silence; pages and probes are for whatever calls them. */
static bool pass_query(hob_web_request *r) {
    const char *names[QUERIES] = {NULL};
    hob_str known = hob_str_z(r->route->query), sent = r->head->query, part, key;
    size_t n = 0;
    if (!r->route->right) return true;
    for (; n < QUERIES && hob_str_split(&known, ';', &part); n++) {
        hob_str_split(&part, ':', &key);
        names[n] = hob_arena_dup(r->arena, key).p;
    }
    while (hob_str_split(&sent, '&', &part)) {
        size_t i = 0;
        hob_str_split(&part, '=', &key);
        if (!key.n) continue;
        if (!hob_web_decode(r->arena, key, true, &key)) key = HOB_STR("?");
        while (i < n && !hob_str_eqz(key, names[i])) i++;
        if (i < n) continue;
        hob_web_fail_unknown(r, "parameter", key, names, n);
        return false;
    }
    return true;
}

/* "status can be: running, parked": the words of a parameter, of which this is not one. */
static bool fail_word(hob_web_request *r, hob_str name, hob_str words) {
    hob_str word;
    hob_buf b;
    hob_buf_init(&b, 1024);
    while (hob_str_split(&words, '|', &word))
        hob_buf_addf(&b, "%s%.*s", b.n ? ", " : "", HOB_FMT(word));
    hob_web_fail(r, 400, "bad_query", "%.*s can be: %s", HOB_FMT(name), hob_buf_z(&b));
    hob_buf_finish(&b);
    return false;
}

static bool pass_words(hob_web_request *r) {
    hob_str known = hob_str_z(r->route->query), part, name, words, word;
    while (hob_str_split(&known, ';', &part)) {
        hob_str_split(&part, ':', &name);
        hob_str_split(&part, ':', &words);
        if (!hob_web_has_words(words)) continue;
        hob_str sent = hob_web_query(r, hob_arena_dup(r->arena, name).p), rest = words;
        bool found = !sent.p;
        while (!found && hob_str_split(&rest, '|', &word)) found = hob_str_eq(sent, word);
        if (!found) return fail_word(r, name, words);
    }
    return true;
}

static bool fail_token(hob_web_request *r, bool sent) {
    bool bearing = sent && bearer(r).p;
    hob_metric_add(r->web->metrics, HOB_METRIC_BAD_TOKENS, 1);
    hob_web_answer_header(r, "WWW-Authenticate",
                          sent ? HOB_STR("Bearer realm=\"hob\", error=\"invalid_token\"")
                               : HOB_STR("Bearer realm=\"hob\""));
    hob_web_fail(r, 401, "unauthorized",
                 bearing ? "the token is not known here"
                         : "a token is needed: Authorization: Bearer TOKEN");
    return false;
}

static bool pass_token(hob_web_request *r) {
    bool needed = r->route->right != HOB_RIGHT_NONE;
    bool looked_at = needed || (r->route->flags & HOB_ROUTE_TOKEN_OPTIONAL);
    hob_str token = bearer(r);
    bool sent = hob_web_header(r, "authorization").p != NULL;
    if (!looked_at || (!needed && !sent)) return true;
    if (token.p) r->caller = hob_callers_find(r->web->server->callers, token);
    if (!r->caller) return fail_token(r, sent);
    if (hob_caller_may(r->caller, r->route->right)) return true;
    hob_web_fail(r, 403, "forbidden",
                 "this needs the right '%s', which the token '%.*s' does not have",
                 hob_right_name(r->route->right), HOB_FMT(r->caller->name));
    return false;
}

/* Whoever does not read gets nothing more to read. */
static bool pass_unread(hob_web_request *r) {
    const hob_caller *c = r->caller;
    hob_error err;
    if (!c || hob_caller_hold(c, 0, 0, &err) >= 0) return true;
    hob_web_answer_header(r, "Retry-After", HOB_STR("1"));
    hob_web_fail_hob(r, HOB_ELIMIT, &err);
    return false;
}

static bool pass_rate(hob_web_request *r) {
    char after[16];
    int seconds = r->caller ? hob_caller_rate(r->caller, hob_loop_now(r->web->loop)) : 0;
    if (!seconds) return true;
    snprintf(after, sizeof after, "%d", seconds);
    hob_web_answer_header(r, "Retry-After", hob_str_z(after));
    hob_web_fail(r, 429, "rate_limited",
                 "'%.*s' may make %lld requests a minute; try again in %d s",
                 HOB_FMT(r->caller->name), (long long)r->caller->per_minute, seconds);
    return false;
}

/* ---- body ----------------------------------------------------------------------------------------------- */

static bool is_json(hob_str type) {
    hob_str media = type, rest = type;
    hob_str_split(&rest, ';', &media);
    if (!hob_str_ieq(hob_str_trim(media), HOB_STR("application/json"))) return false;
    hob_str parameter = hob_str_trim(rest);
    return !parameter.n || hob_str_ieq(parameter, HOB_STR("charset=utf-8"));
}

static bool pass_body(hob_web_request *r) {
    const hob_head *h = r->head;
    bool body = h->chunked || h->length > 0;
    size_t max = r->route->max_body ? r->route->max_body : HOB_WEB_BODY_MAX;
    hob_buf_init(&r->body, max);
    if (!body) return true;
    if (!strcmp(r->route->method, "GET")) {
        hob_web_fail(r, 400, "bad_request", "a GET has no body");
        return false;
    }
    if (!(r->route->flags & HOB_ROUTE_ANY_BODY) && !is_json(hob_web_header(r, "content-type"))) {
        hob_web_fail(r, 415, "not_json",
                     "the body must be JSON: send it with Content-Type: application/json");
        return false;
    }
    hob_str coding = hob_str_trim(hob_web_header(r, "content-encoding"));
    if (coding.n && !hob_str_ieq(coding, HOB_STR("identity"))) {
        hob_web_answer_header(r, "Accept-Encoding", HOB_STR("identity"));
        hob_web_fail(r, 415, "bad_encoding",
                     "a body is taken as it is: send it without Content-Encoding");
        return false;
    }
    if (h->length >= 0 && (uint64_t)h->length <= max) return true;
    hob_web_fail(r, 413, "too_large", "the body has %lld bytes, and this route takes %zu",
                 (long long)h->length, max);
    return false;
}

static bool pass_draining(hob_web_request *r) {
    if (!atomic_load(&r->web->server->draining) || (r->route->flags & HOB_ROUTE_DRAINING))
        return true;
    hob_web_answer_header(r, "Retry-After", HOB_STR("2"));
    r->close = true;
    hob_web_fail(r, 503, "stopping", "the server is stopping; try again in a moment");
    return false;
}

bool hob_door_pass(hob_web_request *r) {
    return pass_host(r) && pass_origin(r) && pass_route(r) && no_token_in_query(r) &&
           pass_token(r) && pass_rate(r) && pass_unread(r) && pass_draining(r) && pass_query(r) &&
           pass_words(r) && pass_body(r);
}
