/*
 * http_engine.c - libcurl's multi interface on the loop.
 *
 * libcurl's sockets live in one private epoll descriptor, and the loop watches only that one.
 *
 * When libcurl says that it is done with a socket, it may have closed it already, and its number may
 * be somebody else's by then. So nothing is taken out of the epoll set at that moment: the kernel
 * drops closed sockets by itself, and one that stays open (a kept connection) is taken out when it
 * next has something to say, or is simply used again.
 */
#include "net/http_internal.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#define SHARED_HOST_CONNECTIONS 8L
#define EVENTS 64
#define ENGINE_SHIFT 4 /* above the CURL_POLL_ bits */

static void act(hob_engine *e, curl_socket_t fd, int mask) {
    int running;
    hob_http *h = e->http;
    h->in_curl = true;
    CURLMcode m = h->curl.multi_socket_action(e->multi, fd, mask, &running);
    h->in_curl = false;
    if (m != CURLM_OK) hob_log(HOB_LOG_ERROR, "net", "libcurl: %s", h->curl.multi_strerror(m));
}

/* ---- sockets ------------------------------------------------------------------------------- */

/* What libcurl waits for on a socket, by the socket's number: the engine's index and CURL_POLL_ bits;
 * 0 = nothing. */
static unsigned char *wanted(hob_http *h, int fd) {
    size_t i = (size_t)fd;
    if (i >= h->nwant) {
        size_t n = HOB_MAX(i + 1, 2 * h->nwant);
        h->want = hob_realloc(h->want, n);
        memset(h->want + h->nwant, 0, n - h->nwant);
        h->nwant = n;
    }
    return &h->want[i];
}

static int mask_of(uint32_t events) {
    return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

/* First the sockets that nobody waits for: while libcurl has not run, their numbers are still theirs.
 * Then libcurl, which may lose interest in the later ones, or close them, while it runs. */
static void on_ready(hob_io *io, int events, void *user) {
    hob_http *h = user;
    struct epoll_event ready[EVENTS];
    (void)io, (void)events;
    int n = epoll_wait(h->epoll_fd, ready, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        int fd = ready[i].data.fd;
        if (!*wanted(h, fd)) epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    }
    for (int i = 0; i < n; i++) {
        int fd = ready[i].data.fd;
        unsigned char want = *wanted(h, fd);
        if (want) act(&h->engines[want >> ENGINE_SHIFT], fd, mask_of(ready[i].events));
    }
    hob_http_settle(h);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *unused) {
    hob_engine *e = user;
    hob_http *h = e->http;
    (void)easy, (void)unused;
    unsigned char *want = wanted(h, fd);
    *want = 0;
    if (what == CURL_POLL_REMOVE) return 0;
    struct epoll_event ev = {.data.fd = fd};
    if (what & CURL_POLL_IN) ev.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) ev.events |= EPOLLOUT;
    int r = epoll_ctl(h->epoll_fd, EPOLL_CTL_MOD, fd, &ev);
    if (r < 0 && errno == ENOENT) r = epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
    if (r < 0) return -1;
    *want = (unsigned char)((unsigned)(e - h->engines) << ENGINE_SHIFT | (unsigned)what);
    return 0;
}

/* ---- libcurl's timer ----------------------------------------------------------------------- */

static int on_timer_change(CURLM *multi, long ms, void *user) {
    hob_engine *e = user;
    (void)multi;
    if (ms < 0)
        hob_timer_stop(&e->timer);
    else
        hob_timer_start(&e->timer, hob_loop_now(e->http->loop) + ms);
    return 0;
}

/* libcurl goes by real time. On another clock, or by rounding, it can find that it was called too
 * early and does not ask again; so ask it. */
static void on_timer(hob_timer *t) {
    hob_engine *e = HOB_CONTAINER(t, hob_engine, timer);
    hob_http *h = e->http;
    long ms = -1;
    act(e, CURL_SOCKET_TIMEOUT, 0);
    if (!hob_timer_started(t) && h->curl.multi_timeout(e->multi, &ms) == CURLM_OK && ms >= 0)
        hob_timer_start(t, hob_loop_now(h->loop) + HOB_MAX(ms, 1));
    hob_http_settle(h);
}

/* ---- life ---------------------------------------------------------------------------------- */

int hob_engines_init(hob_http *h, hob_error *err) {
    h->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (h->epoll_fd < 0) return hob_fail_errno(err, HOB_EIO, "cannot create an epoll descriptor");
    int r = hob_io_create(h->loop, h->epoll_fd, on_ready, h, &h->io, err);
    if (r < 0) {
        close(h->epoll_fd);
        return r;
    }
    for (int i = 0; i < HOB_ENGINES; i++) {
        h->engines[i].http = h;
        hob_timer_init(&h->engines[i].timer, h->loop, on_timer);
    }
    return hob_io_want(h->io, HOB_IO_READ);
}

void hob_engines_finish(hob_http *h) {
    for (int i = 0; i < HOB_ENGINES; i++) {
        if (h->engines[i].multi) h->curl.multi_cleanup(h->engines[i].multi);
        hob_timer_stop(&h->engines[i].timer);
    }
    hob_io_destroy(h->io);
    close(h->epoll_fd);
    hob_free(h->want);
}

static int open_multi(hob_engine *e, hob_error *err) {
    const hob_curl *curl = &e->http->curl;
    CURLM *m = curl->multi_init();
    if (!m) return hob_fail(err, HOB_ENOMEM, 0, "libcurl cannot start: out of memory");
    curl->multi_setopt(m, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl->multi_setopt(m, CURLMOPT_SOCKETDATA, e);
    curl->multi_setopt(m, CURLMOPT_TIMERFUNCTION, on_timer_change);
    curl->multi_setopt(m, CURLMOPT_TIMERDATA, e);
    if (e == &e->http->engines[HOB_ENGINE_SHARED])
        curl->multi_setopt(m, CURLMOPT_MAX_HOST_CONNECTIONS, SHARED_HOST_CONNECTIONS);
    e->multi = m;
    return HOB_OK;
}

int hob_engine_add(hob_engine *e, hob_http_call *c, hob_error *err) {
    int r = e->multi ? HOB_OK : open_multi(e, err);
    if (r < 0) return r;
    CURLMcode m = e->http->curl.multi_add_handle(e->multi, c->easy);
    if (m != CURLM_OK)
        return hob_fail(err, HOB_ENET, 0, "libcurl refused the request: %s",
                        e->http->curl.multi_strerror(m));
    c->engine = e;
    return HOB_OK;
}

void hob_engine_remove(hob_http_call *c) {
    if (!c->engine) return;
    c->http->curl.multi_remove_handle(c->engine->multi, c->easy);
    c->engine = NULL;
}
