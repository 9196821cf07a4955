/*
 * http.c - the client, and the life of a call once it has been checked.
 *
 * A single timer watches a call, with a different meaning in each state: time to prepare, time to get
 * a connection, time without a byte.
 */
#include "net/http_internal.h"

#include <assert.h>

#define MAX_HTTP1_HOSTS 256

/* ---- loading libcurl ----------------------------------------------------------------------- */

struct hob_http_load {
    hob_work work;
    hob_http *http; /* NULL = destroyed meanwhile */
    hob_curl curl;
    int result;
    hob_error err;
};

static void load_work(hob_work *w) {
    hob_http_load *ld = HOB_CONTAINER(w, hob_http_load, work);
    ld->result = hob_curl_load(&ld->curl, &ld->err);
}

void hob_call_fail_later(hob_http_call *c, const hob_error *err) {
    c->err = *err;
    c->state = HOB_CALL_FAILING;
    hob_timer_start(&c->watch, hob_loop_now(c->http->loop));
}

static void loaded(hob_http *h, const hob_http_load *ld) {
    h->load = NULL;
    h->load_state = ld->result < 0 ? HOB_LOAD_NONE : HOB_LOAD_READY;
    h->curl = ld->curl;
    HOB_LIST_EACH_SAFE (it, &h->calls) {
        hob_http_call *c = HOB_CONTAINER(it, hob_http_call, link);
        if (c->state != HOB_CALL_PREPARING) continue;
        if (ld->result < 0)
            hob_call_fail_later(c, &ld->err);
        else
            hob_call_prepare(c);
    }
}

static void load_done(hob_work *w) {
    hob_http_load *ld = HOB_CONTAINER(w, hob_http_load, work);
    if (w->dropped)
        ld->result = hob_fail(&ld->err, HOB_ECLOSED, 0, "libcurl was not loaded: shutting down");
    if (ld->http)
        loaded(ld->http, ld);
    else if (ld->result == HOB_OK)
        hob_curl_unload(&ld->curl);
    hob_free(ld);
}

void hob_http_preload(hob_http *h) {
    if (h->load_state != HOB_LOAD_NONE) return;
    hob_http_load *ld = HOB_NEW(hob_http_load);
    ld->work.work = load_work;
    ld->work.done = load_done;
    ld->http = h;
    h->load = ld;
    h->load_state = HOB_LOAD_RUNNING;
    if (hob_pool_submit(h->pool, h->loop, &ld->work) == HOB_OK) return;
    load_work(&ld->work); /* the pool is full: better a short stop than no request */
    load_done(&ld->work);
}

/* ---- the client ---------------------------------------------------------------------------- */

static char *dup_or_null(const char *z) {
    return z && z[0] ? hob_dupz(hob_str_z(z)) : NULL;
}

static int set_proxy(hob_http *h, const char *proxy, hob_error *err) {
    hob_buf text;
    if (!proxy || !proxy[0]) return HOB_OK;
    hob_buf_init(&text, 4096);
    hob_buf_addf(&text, "%s%s", strstr(proxy, "://") ? "" : "http://", proxy);
    h->proxy = hob_dupz(hob_buf_str(&text));
    hob_buf_finish(&text);
    int r = hob_url_parse(hob_str_z(h->proxy), &h->proxy_url, err);
    if (r < 0) return r;
    if (h->proxy_url.port == 0)
        return hob_fail(err, HOB_EINVAL, 0,
                        "a proxy is http, https, socks4(a) or socks5(h), not %.*s",
                        HOB_FMT(h->proxy_url.scheme));
    return HOB_OK;
}

static void free_options(hob_http *h) {
    hob_free(h->ca_file);
    hob_free(h->proxy);
    hob_free(h->no_proxy);
    hob_free(h);
}

int hob_http_create(hob_loop *l, const hob_http_opts *o, hob_http **out, hob_error *err) {
    if (!o->pool) return hob_fail(err, HOB_EINVAL, 0, "an HTTP client needs a pool");
    hob_http *h = HOB_NEW(hob_http);
    *h = (hob_http){.loop = l, .pool = o->pool, .http1_only = o->http1_only};
    h->ca_file = dup_or_null(o->ca_file);
    h->no_proxy = dup_or_null(o->no_proxy);
    hob_list_init(&h->calls);
    hob_list_init(&h->todo);
    int r = set_proxy(h, o->proxy, err);
    if (r == HOB_OK) r = hob_engines_init(h, err);
    if (r < 0) {
        free_options(h);
        return r;
    }
    h->resolver = hob_resolver_create(l, o->pool);
    h->http1_hosts = hob_map_create();
    *out = h;
    return HOB_OK;
}

/* ---- the end of a call --------------------------------------------------------------------- */

/* Takes it out of everything that could still call back. Not from inside libcurl. */
static void detach(hob_http_call *c) {
    for (size_t i = 0; i < c->ntargets; i++) {
        hob_lookup_cancel(&c->targets[i].lookup);
    }
    hob_engine_remove(c);
    hob_timer_stop(&c->watch);
    hob_list_remove(&c->link);
    hob_list_remove(&c->todo);
    c->http->ncalls--;
    hob_loop_release(c->http->loop);
}

static void finish(hob_http_call *c, int code, const hob_error *err) {
    detach(c);
    c->state = HOB_CALL_ENDED;
    c->handler.on_done(c->user, code, err);
    hob_http_call_finish(c);
}

static void drop(hob_http_call *c) {
    detach(c);
    hob_http_call_finish(c);
}

void hob_http_cancel(hob_http_call *c) {
    if (!c || c->state == HOB_CALL_ENDED) return; /* its on_done is running */
    c->state = HOB_CALL_ENDED;
    if (c->http->in_curl) {
        hob_timer_stop(&c->watch);
        hob_list_remove(&c->todo);
        hob_list_push(&c->http->todo, &c->todo);
        return;
    }
    drop(c);
}

void hob_http_destroy(hob_http *h) {
    if (!h) return;
    assert(!h->in_curl && "hob_http_destroy called from a callback of its own");
    while (!hob_list_empty(&h->calls)) {
        drop(HOB_LIST_FIRST(&h->calls, hob_http_call, link));
    }
    hob_engines_finish(h);
    hob_resolver_destroy(h->resolver);
    hob_map_destroy(h->http1_hosts);
    if (h->load) h->load->http = NULL;
    if (h->load_state == HOB_LOAD_READY) hob_curl_unload(&h->curl);
    free_options(h);
}

void hob_call_on_watch(hob_timer *t) {
    hob_http_call *c = HOB_CONTAINER(t, hob_http_call, watch);
    hob_error err;
    if (c->state == HOB_CALL_FAILING) {
        err = c->err;
        finish(c, err.code, &err);
        return;
    }
    int64_t due = c->last_byte + c->idle_ms;
    if (c->state == HOB_CALL_SENT && due > hob_loop_now(c->http->loop)) {
        hob_timer_start(t, due);
        return;
    }
    hob_http_explain_timeout(c, &err);
    finish(c, err.code, &err);
}

/* ---- handing a call to libcurl ------------------------------------------------------------- */

static hob_engine *pick_engine(const hob_http_call *c) {
    hob_http *h = c->http;
    bool single = h->http1_only || !hob_url_is_tls(&c->parsed) ||
                  hob_map_get(h->http1_hosts, hob_str_z(c->peer));
    return &h->engines[single ? HOB_ENGINE_SINGLE : HOB_ENGINE_SHARED];
}

static void attach(hob_http_call *c) {
    hob_error err;
    int r = c->easy ? HOB_OK : hob_call_configure(c, &err);
    if (r == HOB_OK) {
        hob_engine_remove(c);
        hob_call_rewind(c);
        r = hob_engine_add(pick_engine(c), c, &err);
    }
    if (r < 0) {
        hob_call_fail_later(c, &err);
        return;
    }
    c->state = HOB_CALL_QUEUED;
    /* libcurl watches connecting itself; this is for calls that wait in its queue. */
    hob_timer_start(&c->watch, hob_loop_now(c->http->loop) + c->connect_ms + c->idle_ms);
}

static void later(hob_http_call *c) {
    hob_list_remove(&c->todo);
    hob_list_push(&c->http->todo, &c->todo);
}

void hob_call_prepare(hob_http_call *c) {
    hob_http *h = c->http;
    if (c->state != HOB_CALL_PREPARING) return;
    if (c->unresolved > 0 || h->load_state != HOB_LOAD_READY) return;
    if (h->in_curl)
        later(c);
    else
        attach(c);
}

/* Calls to the same host that wait for one of the few shared connections need not wait. */
void hob_http_learn_http1(hob_http_call *c) {
    hob_http *h = c->http;
    hob_str peer = hob_str_z(c->peer);
    if (hob_map_get(h->http1_hosts, peer)) return;
    if (hob_map_count(h->http1_hosts) >= MAX_HTTP1_HOSTS) return;
    hob_map_put(h->http1_hosts, peer, h);
    HOB_LIST_EACH (it, &h->calls) {
        hob_http_call *other = HOB_CONTAINER(it, hob_http_call, link);
        if (other->state == HOB_CALL_QUEUED && strcmp(other->peer, c->peer) == 0) later(other);
    }
}

/* A kept connection that the server closes just as we write to it. libcurl repeats the request by
 * itself, except when the close shows only while the body goes out. The server cannot have read the
 * whole request then, so sending it again, once and on a new connection, repeats nothing. */
static bool send_again(hob_http_call *c, CURLcode result) {
    const hob_curl *curl = &c->http->curl;
    long connects = 1;
    if (result != CURLE_SEND_ERROR || c->sent_again || c->head.status != 0) return false;
    curl->easy_getinfo(c->easy, CURLINFO_NUM_CONNECTS, &connects);
    if (connects != 0) return false;
    c->sent_again = true;
    curl->easy_setopt(c->easy, CURLOPT_FRESH_CONNECT, 1L);
    attach(c);
    return true;
}

static void complete(hob_http_call *c, CURLcode result) {
    hob_error err;
    if (c->state == HOB_CALL_ENDED) return; /* waits in todo */
    if (c->err.code < 0) {
        err = c->err;
        finish(c, err.code, &err);
        return;
    }
    if (send_again(c, result)) return;
    /* libcurl takes a connection that ends inside the head for a success without a body. */
    if (result == CURLE_OK && !c->head_done) result = CURLE_PARTIAL_FILE;
    int code = result == CURLE_OK ? HOB_OK : hob_http_explain(c, result, &err);
    finish(c, code, code < 0 ? &err : NULL);
}

static void read_results(hob_http *h, hob_engine *e) {
    const CURLMsg *m;
    int left;
    while (e->multi && (m = h->curl.multi_info_read(e->multi, &left))) {
        CURLcode result = m->data.result;
        hob_http_call *c = NULL;
        if (m->msg != CURLMSG_DONE) continue;
        h->curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
        complete(c, result);
    }
}

void hob_http_settle(hob_http *h) {
    for (int i = 0; i < HOB_ENGINES; i++) {
        read_results(h, &h->engines[i]);
    }
    while (!hob_list_empty(&h->todo)) {
        hob_http_call *c = HOB_LIST_FIRST(&h->todo, hob_http_call, todo);
        hob_list_remove(&c->todo);
        if (c->state == HOB_CALL_ENDED)
            drop(c);
        else if (c->state != HOB_CALL_SENT)
            attach(c);
    }
}
