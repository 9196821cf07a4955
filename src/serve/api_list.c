/*
 * api_list.c - GET /api/sessions as a stream: a page of rows first, then each row when it changes.
 *
 * What the client has not taken yet is kept, up to a ceiling; over it the rest is dropped and the client is told to read
 * the list anew (event: reset), which it can at any time.
 */
#include "serve/api.h"
#include "serve/outlet.h"

#include <limits.h>
#include <pthread.h>

enum { WAITING_MAX = 256 * 1024, FIRST_MAX = 4 << 20 }; /* the first rows are asked for */

typedef struct list_stream {
    hob_outlet *outlet;
    hob_hub *hub;
    const hob_caller *caller;
    hob_listener *listener;
    pthread_mutex_t lock;
    hob_buf waiting; /* under the lock */
    char *cwd;       /* only sessions of this folder; NULL = all */
} list_stream;

static void add(hob_buf *out, hob_str name, hob_str json) {
    hob_sse_add(out, 0, name, json);
    if (!out->err) return;
    hob_buf_reset(out);
    hob_sse_add(out, 0, HOB_STR("reset"), HOB_STR("{}"));
}

static bool is_wanted(const list_stream *s, hob_str row) {
    char cwd[PATH_MAX];
    if (!s->cwd) return true;
    return hob_json_field(row, "cwd", cwd, sizeof cwd) >= 0 && !strcmp(cwd, s->cwd);
}

/* Where a session was that is gone is not known: its id is told to everybody. */
static void on_row(hob_str id, const hob_str *row, void *user) {
    list_stream *s = user;
    hob_buf gone;
    if (row && !is_wanted(s, *row)) return;
    pthread_mutex_lock(&s->lock);
    if (row) {
        add(&s->waiting, HOB_STR("session"), *row);
    } else {
        hob_buf_init(&gone, 1024);
        hob_buf_addf(&gone, "{\"id\":\"%.*s\"}", HOB_FMT(id));
        add(&s->waiting, HOB_STR("removed"), hob_buf_str(&gone));
        hob_buf_finish(&gone);
    }
    pthread_mutex_unlock(&s->lock);
    hob_outlet_wake(s->outlet);
}

static void begin(void *user) {
    (void)user;
}

static int fill(void *user, hob_buf *out) {
    list_stream *s = user;
    pthread_mutex_lock(&s->lock);
    hob_buf_add(out, hob_buf_str(&s->waiting));
    hob_buf_finish(&s->waiting);
    hob_buf_init(&s->waiting, WAITING_MAX);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

static void end(void *user) {
    list_stream *s = user;
    hob_hub_unlisten(s->listener);
    hob_buf_finish(&s->waiting);
    pthread_mutex_destroy(&s->lock);
    hob_caller_unref(s->caller);
    hob_free(s->cwd);
    hob_free(s);
}

static list_stream *start(hob_web_request *r, const hob_page_opts *first) {
    static const hob_outlet_ops ops = {begin, fill, end, NULL};
    list_stream *s = HOB_NEW(list_stream);
    s->hub = hob_api_hub(r);
    s->caller = hob_caller_ref(hob_web_caller(r));
    s->cwd = first->cwd ? hob_dupz(hob_str_z(first->cwd)) : NULL;
    pthread_mutex_init(&s->lock, NULL);
    hob_buf_init(&s->waiting, FIRST_MAX);
    s->outlet = hob_outlet_create(&ops, s);
    s->listener = hob_hub_listen(s->hub, s->caller, on_row, s);
    return s;
}

/* Listening begins before the list is read: a row may come twice, none is missed. */
void hob_api_sessions_live(hob_web_request *r, const hob_page_opts *first) {
    hob_page *page;
    hob_error err;
    list_stream *s = start(r, first);
    int rc = hob_runtime_sessions(hob_api_runtime(r), first, &page, &err);
    if (rc < 0) {
        hob_outlet_drop(s->outlet);
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    pthread_mutex_lock(&s->lock);
    for (size_t i = hob_page_count(page); i-- > 0;)
        add(&s->waiting, HOB_STR("session"), hob_page_row(page, i));
    pthread_mutex_unlock(&s->lock);
    hob_page_destroy(page);
    hob_outlet_answer(s->outlet, r, "text/event-stream");
}
