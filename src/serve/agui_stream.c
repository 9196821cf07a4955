#include "serve/agui_stream.h"

#include "serve/feed.h"
#include "serve/outlet.h"

#include <pthread.h>
#include <stdio.h>

enum { FIRST_MAX = 64 << 20, STATE_KEPT = 16 << 10 };

/* The conversation anew, for a client that was shown something which does not count: read by the hub, and perhaps
 * finished when the stream is not there any more. */
typedef struct restating {
    hob_errand errand;
    pthread_mutex_t lock;
    hob_agui_stream *stream; /* under the lock; NULL: it is gone */
    hob_agui_dialect dialect;
    char id[129];
    hob_agui_json *messages; /* NULL: it could not be read */
    bool ready;
} restating;

struct hob_agui_stream {
    hob_hub *hub;
    hob_outlet *outlet;
    hob_feed *feed;
    hob_agui_session *wire;
    hob_agui_view *view;
    hob_agui_encoding encoding;
    hob_agui_dialect dialect;
    char id[129];
    char run[64]; /* it ends with this client; "" = it does not */
    uint64_t number, after;
    hob_buf first; /* what is said before the events */
    hob_buf *out;  /* where the wire writes now */
    bool ended;
    hob_nudge nudge;
    restating *restating;
};

/* ---- the wire ------------------------------------------------------------------------------------------------------ */

static int on_write(hob_agui_kind kind, hob_str bytes, void *user) {
    hob_agui_stream *s = user;
    (void)kind;
    hob_buf_add(s->out, bytes);
    return s->out->err ? HOB_ECLOSED : 0;
}

int hob_agui_stream_create(hob_hub *h, const hob_agui_input *in, hob_agui_encoding encoding,
                           hob_agui_stream **out, hob_error *err) {
    hob_agui_stream *s = HOB_NEW(hob_agui_stream);
    hob_agui_sink sink = {.size = sizeof sink, .encoding = encoding, .write = on_write, .user = s};
    s->hub = h;
    s->encoding = encoding;
    s->dialect = hob_agui_input_dialect(in);
    hob_buf_init(&s->first, FIRST_MAX);
    s->out = &s->first;
    int rc =
        hob_agui_session_create_with_thread_id(&sink, hob_agui_input_thread_id(in), &s->wire, err);
    if (rc >= 0) hob_agui_state_keep(s->wire, STATE_KEPT);
    if (rc >= 0) rc = hob_agui_run_start(s->wire, in, err);
    if (rc >= 0) rc = hob_agui_view_create(s->wire, &s->view, err);
    if (rc < 0)
        hob_agui_stream_destroy(s);
    else
        *out = s;
    return rc;
}

void hob_agui_stream_destroy(hob_agui_stream *s) {
    if (!s) return;
    hob_agui_view_destroy(s->view);
    hob_agui_session_destroy(s->wire);
    hob_buf_finish(&s->first);
    hob_free(s);
}

hob_agui_session *hob_agui_stream_wire(hob_agui_stream *s) {
    return s->wire;
}

hob_agui_view *hob_agui_stream_view(hob_agui_stream *s) {
    return s->view;
}

/* ---- the conversation anew ---------------------------------------------------------------------------------------- */

static void read_messages(hob_errand *e) {
    restating *x = HOB_CONTAINER(e, restating, errand);
    hob_page *history;
    if (hob_runtime_history(hob_hub_runtime(e->hub), x->id, &history, NULL) < 0) return;
    if (hob_agui_messages(history, x->dialect, &x->messages, NULL) < 0) x->messages = NULL;
    hob_page_destroy(history);
}

static void free_restating(restating *x) {
    hob_agui_json_destroy(x->messages);
    pthread_mutex_destroy(&x->lock);
    hob_free(x);
}

static void on_messages(hob_errand *e) {
    restating *x = HOB_CONTAINER(e, restating, errand);
    pthread_mutex_lock(&x->lock);
    bool wanted = x->stream != NULL;
    x->ready = true;
    if (wanted) hob_outlet_wake(x->stream->outlet);
    pthread_mutex_unlock(&x->lock);
    if (!wanted) free_restating(x);
}

static void begin_restating(hob_agui_stream *s) {
    restating *x = HOB_NEW(restating);
    pthread_mutex_init(&x->lock, NULL);
    x->stream = s;
    x->dialect = s->dialect;
    snprintf(x->id, sizeof x->id, "%s", s->id);
    x->errand.run = read_messages;
    x->errand.done = on_messages;
    s->restating = x;
    hob_hub_send(s->hub, &x->errand);
}

/* True: it is still being read. */
static bool end_restating(hob_agui_stream *s) {
    restating *x = s->restating;
    pthread_mutex_lock(&x->lock);
    bool ready = x->ready;
    pthread_mutex_unlock(&x->lock);
    if (!ready) return true;
    if (x->messages) hob_agui_messages_snapshot(s->wire, hob_agui_json_text(x->messages), NULL);
    free_restating(x);
    s->restating = NULL;
    return false;
}

/* ---- a client that leaves ------------------------------------------------------------------------------------------ */

typedef struct parting {
    hob_errand errand;
    char id[129], run[64];
} parting;

/* Unless that run is over, and another under way. A server that stops has no rooms any more: there it is only parked. */
static void cancel_run(hob_errand *e) {
    parting *x = HOB_CONTAINER(e, parting, errand);
    hob_room *room = hob_hub_peek(e->hub, NULL, hob_str_z(x->id));
    char run[64];
    if (!room) return;
    hob_session *s = hob_room_session(room);
    if (hob_agui_current_run(s, run) && !strcmp(run, x->run))
        hob_session_cancel(s, HOB_QUEUED_RETURN, NULL);
    hob_hub_leave(room);
}

static void free_parting(hob_errand *e) {
    hob_free(HOB_CONTAINER(e, parting, errand));
}

static void left(void *user) {
    hob_agui_stream *s = user;
    if (s->ended || !s->run[0]) return;
    parting *x = HOB_NEW(parting);
    snprintf(x->id, sizeof x->id, "%s", s->id);
    snprintf(x->run, sizeof x->run, "%s", s->run);
    x->errand.run = cancel_run;
    x->errand.done = free_parting;
    hob_hub_send(s->hub, &x->errand);
}

bool hob_agui_current_run(hob_session *s, char out[64]) {
    hob_page *info;
    out[0] = 0;
    if (hob_session_is_running(s) <= 0 || hob_session_info(s, &info, NULL) < 0) return false;
    hob_json_field(hob_page_row(info, 0), "run_id", out, 64);
    hob_page_destroy(info);
    return out[0] != 0;
}

void hob_agui_stream_ends_with_client(hob_agui_stream *s, const char *run) {
    snprintf(s->run, sizeof s->run, "%s", run);
}

/* ---- filling ------------------------------------------------------------------------------------------------------- */

static void on_news(void *user) {
    hob_outlet_wake(((hob_agui_stream *)user)->outlet);
}

static void begin(void *user) {
    hob_agui_stream *s = user;
    hob_feed_opts o = {.session = hob_str_z(s->id),
                       .number = s->number,
                       .after = s->after,
                       .wake = on_news,
                       .user = s};
    if (s->id[0]) s->feed = hob_feed_create(s->hub, &o);
}

/* And everything that led to it was read. */
static bool is_parked(hob_agui_stream *s) {
    hob_room *room = hob_hub_peek(s->hub, NULL, hob_str_z(s->id));
    if (!room) return true; /* it was let go of: nothing but people can go on with it */
    uint64_t at = hob_session_parked_at(hob_room_session(room));
    hob_hub_leave(room);
    return at && hob_feed_cursor(s->feed) >= at;
}

static void give_up(hob_agui_stream *s, const char *message, int code) {
    hob_agui_run_error_with_code(s->wire, hob_str_z(message), hob_str_z(hob_error_name(code)),
                                 NULL);
    s->ended = true;
}

static void take_event(hob_agui_stream *s, hob_event *e) {
    hob_error err;
    int rc = hob_agui_view_event(s->view, e, &err);
    hob_event_unref(e);
    if (rc < 0 && rc != HOB_ECLOSED) give_up(s, err.message, rc);
    if (rc == 1) s->ended = true;
}

/* Everything was read: if only people can go on, the run ends with what they are asked. That it is so comes without an
 * event, a moment after the last one. */
static void look_at_rest(hob_agui_stream *s) {
    if (!hob_agui_view_waiting(s->view) || !hob_feed_is_idle(s->feed)) return;
    if (is_parked(s))
        s->ended = hob_agui_view_park(s->view, NULL) >= 0;
    else
        hob_hub_nudge(s->hub, &s->nudge);
}

static int fill(void *user, hob_buf *out) {
    hob_agui_stream *s = user;
    hob_event *e;
    int rc = 1;
    s->out = out;
    hob_buf_add(out, hob_buf_str(&s->first));
    hob_buf_finish(&s->first);
    hob_buf_init(&s->first, FIRST_MAX);
    if (!s->feed) return -1;
    while (!s->ended && rc > 0 && out->n < HOB_OUTLET_PIECE) {
        if (s->restating && end_restating(s)) return 0;
        if (hob_agui_view_stale(s->view)) {
            begin_restating(s);
            return 0;
        }
        rc = hob_feed_next(s->feed, &e);
        if (rc > 0) take_event(s, e);
    }
    if (rc < 0) give_up(s, "the events of the session cannot be read now: connect again", rc);
    if (!s->ended && rc == 0) look_at_rest(s);
    return s->ended ? -1 : 0;
}

static void leave_restating(restating *x) {
    pthread_mutex_lock(&x->lock);
    bool ready = x->ready;
    x->stream = NULL;
    pthread_mutex_unlock(&x->lock);
    if (ready) free_restating(x);
}

static void end(void *user) {
    hob_agui_stream *s = user;
    hob_hub_unnudge(s->hub, &s->nudge);
    if (s->restating) leave_restating(s->restating);
    hob_feed_destroy(s->feed);
    hob_agui_stream_destroy(s);
}

void hob_agui_stream_answer(hob_agui_stream *s, hob_web_request *r, hob_str session,
                            uint64_t after) {
    static const hob_outlet_ops ops = {begin, fill, end, left};
    const char *type = s->encoding == HOB_AGUI_AS_PROTO ? HOB_AGUI_TYPE_PROTO : HOB_AGUI_TYPE_SSE;
    snprintf(s->id, sizeof s->id, "%.*s", HOB_FMT(session));
    s->after = after;
    if (session.n) hob_runtime_session_number(hob_hub_runtime(s->hub), s->id, &s->number, NULL);
    s->nudge.fn = on_news;
    s->nudge.user = s;
    s->outlet = hob_outlet_create(&ops, s);
    hob_outlet_answer(s->outlet, r, type);
}
