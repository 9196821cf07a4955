#include "serve/outlet.h"

#include <pthread.h>
#include <stdatomic.h>

enum { KEPT = 4096 };

struct hob_outlet {
    const hob_outlet_ops *ops;
    void *user;
    atomic_uint refs; /* the stream, and the handler that makes it one */
    /* server's thread */
    bool begun, ended;
    hob_buf out;
    hob_str rest; /* of `out`, or of what is lent */
    size_t held;  /* bytes that are kept so for … */
    const hob_caller *caller;
    void (*give_back)(void *owner);
    void *owner;
    pthread_mutex_t lock;
    hob_web_stream *web; /* NULL: not known yet, or closed */
    bool woken;          /* before it was known */
    bool closed;
};

hob_outlet *hob_outlet_create(const hob_outlet_ops *ops, void *user) {
    hob_outlet *o = HOB_NEW(hob_outlet);
    o->ops = ops;
    o->user = user;
    o->refs = 2;
    hob_buf_init(&o->out, HOB_OUTLET_MAX);
    pthread_mutex_init(&o->lock, NULL);
    return o;
}

static void unref(hob_outlet *o) {
    if (atomic_fetch_sub(&o->refs, 1) != 1) return;
    hob_buf_finish(&o->out);
    hob_caller_unref(o->caller);
    pthread_mutex_destroy(&o->lock);
    hob_free(o);
}

void hob_outlet_wake(hob_outlet *o) {
    pthread_mutex_lock(&o->lock);
    if (o->web)
        hob_web_wake(o->web);
    else
        o->woken = true;
    pthread_mutex_unlock(&o->lock);
}

/* ---- what the stream asks ------------------------------------------------------------------------------------ */

/* Idle streams are many: what is not needed is not kept. */
static void empty(hob_outlet *o) {
    if (o->out.cap > KEPT)
        hob_buf_finish(&o->out);
    else
        hob_buf_reset(&o->out);
}

void hob_outlet_lend(hob_outlet *o, hob_str text, void (*give_back)(void *owner), void *owner) {
    o->rest = text;
    o->give_back = give_back;
    o->owner = owner;
}

static void give_back(hob_outlet *o) {
    if (o->give_back) o->give_back(o->owner);
    o->give_back = NULL;
    if (o->held) hob_caller_give(o->caller, HOB_QUOTA_BUFFER, (int64_t)o->held);
    o->held = 0;
}

/* False: so much is kept for this caller already that this stream has to end; who reads comes back. */
static bool keep(hob_outlet *o) {
    if (!o->caller) return true;
    if (hob_caller_hold(o->caller, 0, o->rest.n, NULL) < 0) {
        give_back(o);
        o->rest = HOB_STR_NULL;
        o->ended = true;
        return false;
    }
    o->held = o->rest.n;
    return true;
}

static ssize_t take(hob_outlet *o, char *buf, size_t cap) {
    size_t n = HOB_MIN(o->rest.n, cap);
    memcpy(buf, o->rest.p, n);
    o->rest = hob_str_skip(o->rest, n);
    if (!o->rest.n) give_back(o);
    return (ssize_t)n;
}

static ssize_t on_read(void *user, char *buf, size_t cap) {
    hob_outlet *o = user;
    if (!o->begun) o->ops->begin(o->user);
    o->begun = true;
    if (o->rest.n) return take(o, buf, cap);
    if (o->ended) return -1;
    if (o->out.n) hob_buf_reset(&o->out);
    o->ended = o->ops->fill(o->user, &o->out) < 0 || o->out.err;
    if (o->out.n && !o->out.err) o->rest = hob_buf_str(&o->out);
    if (o->rest.n && keep(o)) return take(o, buf, cap);
    empty(o);
    return o->ended ? -1 : 0;
}

static void on_left(void *user) {
    hob_outlet *o = user;
    if (o->ops->left) o->ops->left(o->user);
}

static void on_closed(void *user) {
    hob_outlet *o = user;
    give_back(o);
    o->ops->end(o->user);
    pthread_mutex_lock(&o->lock);
    o->web = NULL;
    o->closed = true;
    pthread_mutex_unlock(&o->lock);
    unref(o);
}

/* The stream may have begun, and even ended, before its handle is known here. */
static void bind(hob_outlet *o, hob_web_stream *st) {
    pthread_mutex_lock(&o->lock);
    if (!o->closed) o->web = st;
    if (o->web && o->woken) hob_web_wake(st);
    pthread_mutex_unlock(&o->lock);
}

void hob_outlet_answer(hob_outlet *o, hob_web_request *r, const char *type) {
    static const hob_web_stream_ops ops = {on_read, on_closed, on_left};
    if (hob_web_caller(r)) o->caller = hob_caller_ref(hob_web_caller(r));
    bind(o, hob_web_answer_stream(r, type, &ops, o));
    unref(o);
}

void hob_outlet_drop(hob_outlet *o) {
    on_closed(o);
    unref(o);
}

/* ---- server-sent events ------------------------------------------------------------------------------------------ */

void hob_sse_add(hob_buf *out, uint64_t seq, hob_str name, hob_str json) {
    if (seq) hob_buf_addf(out, "id: %llu\n", (unsigned long long)seq);
    hob_buf_add(out, HOB_STR("event: "));
    hob_buf_add(out, name);
    hob_buf_add(out, HOB_STR("\ndata: "));
    hob_buf_add(out, json);
    hob_buf_add(out, HOB_STR("\n\n"));
}

void hob_sse_fail(hob_buf *out, const char *code, const char *message) {
    hob_buf json;
    hob_jsonw w;
    hob_buf_init(&json, 4096);
    hob_jsonw_init(&w, &json);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "error");
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "code", hob_str_z(code));
    hob_jsonw_kstr(&w, "message", hob_str_z(message));
    hob_jsonw_object_end(&w);
    hob_jsonw_object_end(&w);
    hob_sse_add(out, 0, HOB_STR("error"), hob_buf_str(&json));
    hob_buf_finish(&json);
}
