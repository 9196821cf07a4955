/*
 * webd_routes.c - the routes of webd.h.
 */
#include "support/webd_routes.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

static atomic_uint blocked, open_streams;
static _Atomic uint64_t flooded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static unsigned permits;

/* ---- streams --------------------------------------------------------------------------------------------- */

typedef struct test_stream {
    hob_list link;
    hob_web_stream *st;
    hob_buf waiting;
    bool end;
} test_stream;
static hob_list streams = {&streams, &streams};

static ssize_t read_stream(void *user, char *buf, size_t cap) {
    test_stream *s = user;
    pthread_mutex_lock(&lock);
    size_t n = HOB_MIN(cap, s->waiting.n);
    if (n) memcpy(buf, s->waiting.p, n);
    hob_buf_consume(&s->waiting, n);
    bool end = s->end && !n;
    pthread_mutex_unlock(&lock);
    return end ? -1 : (ssize_t)n;
}

static void close_stream(void *user) {
    test_stream *s = user;
    pthread_mutex_lock(&lock);
    hob_list_remove(&s->link);
    pthread_mutex_unlock(&lock);
    if (s->st) atomic_fetch_sub(&open_streams, 1);
    hob_buf_finish(&s->waiting);
    hob_free(s);
}

static void handle_stream(hob_web_request *r) {
    static const hob_web_stream_ops ops = {read_stream, close_stream, NULL};
    test_stream *s = HOB_NEW(test_stream);
    hob_buf_init(&s->waiting, 16 << 20);
    hob_list_init(&s->link);
    hob_web_stream *st = hob_web_answer_stream(r, "text/event-stream", &ops, s);
    if (!st) return;
    pthread_mutex_lock(&lock);
    s->st = st;
    hob_list_push(&streams, &s->link);
    atomic_fetch_add(&open_streams, 1);
    pthread_mutex_unlock(&lock);
}

static ssize_t read_flood(void *user, char *buf, size_t cap) {
    (void)user;
    memset(buf, 'x', cap);
    atomic_fetch_add(&flooded, cap);
    return (ssize_t)cap;
}

static void close_flood(void *user) {
    (void)user;
    atomic_fetch_sub(&open_streams, 1);
}

static void handle_flood(hob_web_request *r) {
    static const hob_web_stream_ops ops = {read_flood, close_flood, NULL};
    atomic_fetch_add(&open_streams, 1);
    hob_web_answer_stream(r, "text/event-stream", &ops, NULL);
}

/* What others wait for meanwhile. */
static ssize_t read_slow(void *user, char *buf, size_t cap) {
    struct timespec nap = {.tv_nsec = 5 * 1000000};
    (void)user;
    (void)cap;
    nanosleep(&nap, NULL);
    buf[0] = 'x';
    atomic_fetch_add(&flooded, 1);
    return 1;
}

static void handle_slow(hob_web_request *r) {
    static const hob_web_stream_ops ops = {read_slow, close_flood, NULL};
    atomic_fetch_add(&open_streams, 1);
    hob_web_answer_stream(r, "text/event-stream", &ops, NULL);
}

void webd_push(const char *text) {
    pthread_mutex_lock(&lock);
    HOB_LIST_EACH (it, &streams) {
        test_stream *s = HOB_CONTAINER(it, test_stream, link);
        hob_buf_addz(&s->waiting, text);
        hob_web_wake(s->st);
    }
    pthread_mutex_unlock(&lock);
}

void webd_end_streams(void) {
    pthread_mutex_lock(&lock);
    HOB_LIST_EACH (it, &streams) {
        test_stream *s = HOB_CONTAINER(it, test_stream, link);
        s->end = true;
        hob_web_wake(s->st);
    }
    pthread_mutex_unlock(&lock);
}

unsigned webd_streams_open(void) {
    return atomic_load(&open_streams);
}

uint64_t webd_flooded(void) {
    return atomic_load(&flooded);
}

/* ---- the others ------------------------------------------------------------------------------------------ */

static void handle_ping(hob_web_request *r) {
    hob_web_answer(r, 200, "text/plain", HOB_STR("pong"));
}

static void handle_item(hob_web_request *r) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 65536);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "id", hob_web_param(r, "id"));
    hob_jsonw_kstr(&w, "part", hob_web_param(r, "part"));
    if (hob_web_query(r, "q").p) hob_jsonw_kstr(&w, "q", hob_web_query(r, "q"));
    hob_jsonw_object_end(&w);
    hob_web_note(r, "session_id", hob_web_param(r, "id"));
    hob_web_answer_json(r, 200, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void handle_echo(hob_web_request *r) {
    if (hob_web_json(r)) hob_web_answer_json(r, 200, hob_web_body(r));
}

static void handle_any(hob_web_request *r) {
    char text[64];
    snprintf(text, sizeof text, "{\"bytes\":%zu}", hob_web_body(r).n);
    hob_web_answer_json(r, 201, hob_str_z(text));
}

static void handle_block(hob_web_request *r) {
    atomic_fetch_add(&blocked, 1);
    pthread_mutex_lock(&lock);
    while (!permits) pthread_cond_wait(&released, &lock);
    permits--;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&blocked, 1);
    hob_web_answer_json(r, 200, HOB_STR("{\"released\":true}"));
}

void webd_release(unsigned n) {
    pthread_mutex_lock(&lock);
    permits += n;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
}

unsigned webd_blocked(void) {
    return atomic_load(&blocked);
}

static void handle_tagged(hob_web_request *r) {
    hob_web_answer_json(r, 200, HOB_STR("{\"same\":\"every time\"}"));
}

static void handle_long(hob_web_request *r) {
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    hob_buf_addz(&b, "[0");
    while (b.n < 100000) hob_buf_addz(&b, ",123456789");
    hob_buf_addc(&b, ']');
    hob_web_answer_json(r, 200, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void handle_silent(hob_web_request *r) {
    (void)r;
}

const hob_route webd_routes[] = {
    {.method = "GET", .path = "/ping", .flags = HOB_ROUTE_INLINE, .handle = handle_ping},
    {.method = "GET",
     .path = "/item/{id}/{part}",
     .right = HOB_RIGHT_READ,
     .handle = handle_item,
     .query = "q:string:any"},
    {.method = "POST", .path = "/echo", .right = HOB_RIGHT_RUN, .handle = handle_echo},
    {.method = "POST",
     .path = "/any",
     .right = HOB_RIGHT_RUN,
     .flags = HOB_ROUTE_ANY_BODY,
     .handle = handle_any,
     .max_body = 8 << 20},
    {.method = "GET", .path = "/block", .right = HOB_RIGHT_READ, .handle = handle_block},
    {.method = "GET",
     .path = "/stream",
     .right = HOB_RIGHT_READ,
     .flags = HOB_ROUTE_STREAM,
     .handle = handle_stream},
    {.method = "GET",
     .path = "/flood",
     .right = HOB_RIGHT_READ,
     .flags = HOB_ROUTE_STREAM,
     .handle = handle_flood},
    {.method = "GET",
     .path = "/slow",
     .right = HOB_RIGHT_READ,
     .flags = HOB_ROUTE_STREAM,
     .handle = handle_slow},
    {.method = "GET",
     .path = "/tagged",
     .right = HOB_RIGHT_READ,
     .flags = HOB_ROUTE_ETAG,
     .handle = handle_tagged},
    {.method = "GET",
     .path = "/long",
     .right = HOB_RIGHT_READ,
     .flags = HOB_ROUTE_ETAG,
     .handle = handle_long},
    {.method = "GET", .path = "/silent", .right = HOB_RIGHT_READ, .handle = handle_silent},
    {.method = "DELETE", .path = "/admin", .right = HOB_RIGHT_ADMIN, .handle = handle_tagged},
};
const size_t webd_nroutes = HOB_ARRAY_LEN(webd_routes);
