/*
 * http_error.c - libcurl's errors in our words: what happened, to which host, what to do next.
 *
 * The code decides whether trying again can help: HOB_ENET, HOB_ETIMEDOUT and HOB_EPROTO are
 * retryable; what only a change of settings can cure is HOB_ECONFIG or HOB_EINVAL.
 */
#include "net/http_internal.h"

#include <errno.h>
#include <stdio.h>

/* Where the connection goes: the server, or the proxy in front of it. */
typedef struct place {
    char name[320];
    const char *setting;
} place;

static place connected_to(const hob_http_call *c) {
    place p = {.setting = "base_url"};
    const hob_url *proxy = &c->http->proxy_url;
    if (c->proxied) {
        snprintf(p.name, sizeof(p.name), "the proxy %.*s:%d", HOB_FMT(proxy->host), proxy->port);
        p.setting = "the proxy setting";
    } else {
        snprintf(p.name, sizeof(p.name), "%s", c->peer);
    }
    return p;
}

static const char *detail(const hob_http_call *c, CURLcode result) {
    return c->curl_error[0] ? c->curl_error : c->http->curl.easy_strerror(result);
}

static int explain_connect(const hob_http_call *c, CURLcode result, hob_error *err) {
    place p = connected_to(c);
    long e = 0;
    c->http->curl.easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &e);
    if (e == ECONNREFUSED)
        return hob_fail(err, HOB_ENET, (int)e,
                        "connection refused by %s: is the server running? check %s", p.name,
                        p.setting);
    if (e == ENETUNREACH || e == EHOSTUNREACH || e == ENETDOWN)
        return hob_fail(err, HOB_ENET, (int)e, "no route to %s: check the network and %s", p.name,
                        p.setting);
    return hob_fail(err, HOB_ENET, (int)e, "cannot connect to %s: %s; check %s", p.name,
                    detail(c, result), p.setting);
}

static int explain_tls(const hob_http_call *c, CURLcode result, hob_error *err) {
    place p = connected_to(c);
    if (result == CURLE_PEER_FAILED_VERIFICATION)
        return hob_fail(err, HOB_ECONFIG, 0,
                        "the TLS certificate of %s is not trusted: %s; if it is right, give its CA "
                        "file",
                        p.name, detail(c, result));
    if (result == CURLE_SSL_CACERT_BADFILE)
        return hob_fail(err, HOB_ECONFIG, 0, "cannot read the CA file%s%s: %s",
                        c->http->ca_file ? " " : "", c->http->ca_file ? c->http->ca_file : "",
                        detail(c, result));
    return hob_fail(err, HOB_ENET, 0,
                    "no TLS connection with %s: %s; does it speak https? check %s", p.name,
                    detail(c, result), p.setting);
}

static int explain_broken(const hob_http_call *c, CURLcode result, hob_error *err) {
    place p = connected_to(c);
    long e = 0;
    c->http->curl.easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &e);
    if (result == CURLE_GOT_NOTHING)
        return hob_fail(err, HOB_ENET, 0, "%s closed the connection without an answer", p.name);
    if (result == CURLE_PARTIAL_FILE)
        return hob_fail(err, HOB_ENET, 0,
                        "%s closed the connection in the middle of its answer, after %zu bytes",
                        p.name, c->received);
    return hob_fail(err, HOB_ENET, (int)e, "the connection to %s broke %s: %s", p.name,
                    c->head_done ? "in the middle of the answer" : "before an answer came",
                    detail(c, result));
}

int hob_http_explain(const hob_http_call *c, CURLcode result, hob_error *err) {
    switch ((int)result) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: return explain_connect(c, result, err);
    case CURLE_OPERATION_TIMEDOUT: return hob_http_explain_timeout(c, err);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR: return explain_tls(c, result, err);
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND: return explain_broken(c, result, err);
    case CURLE_URL_MALFORMAT:
        return hob_fail(err, HOB_EINVAL, 0, "the URL for %s is not usable: %s", c->peer,
                        detail(c, result));
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return hob_fail(err, HOB_EPROTO, 0,
                        "%s does not answer in HTTP: %s; check the port and http/https", c->peer,
                        detail(c, result));
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return hob_fail(err, HOB_ENET, 0, "the HTTP/2 connection to %s failed: %s", c->peer,
                        detail(c, result));
    case CURLE_OUT_OF_MEMORY:
        return hob_fail(err, HOB_ENOMEM, 0, "libcurl ran out of memory talking to %s", c->peer);
    default:
        return hob_fail(err, HOB_EPROTO, 0, "the exchange with %s failed: %s (libcurl %d)", c->peer,
                        detail(c, result), (int)result);
    }
}

static const char *seconds(int64_t ms, char out[32]) {
    if (ms % 1000 == 0)
        snprintf(out, 32, "%lld s", (long long)(ms / 1000));
    else
        snprintf(out, 32, "%lld ms", (long long)ms);
    return out;
}

int hob_http_explain_timeout(const hob_http_call *c, hob_error *err) {
    char limit[32];
    place p = connected_to(c);
    switch (c->state) {
    case HOB_CALL_PREPARING:
        return hob_fail(err, HOB_ETIMEDOUT, 0,
                        "looking up %s took more than %s: check the network and its name servers",
                        p.name, seconds(c->connect_ms, limit));
    case HOB_CALL_QUEUED:
        return hob_fail(err, HOB_ETIMEDOUT, 0,
                        "no connection to %s within %s: check %s, the network and firewalls",
                        p.name, seconds(c->connect_ms, limit), p.setting);
    case HOB_CALL_SENT:
    case HOB_CALL_FAILING:
    case HOB_CALL_ENDED: break;
    }
    return hob_fail(err, HOB_ETIMEDOUT, 0, "%s %s for %s: it may be overloaded or gone", c->peer,
                    c->head_done ? "sent nothing more" : "did not answer",
                    seconds(c->idle_ms, limit));
}
