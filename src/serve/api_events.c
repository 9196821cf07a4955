/*
 * api_events.c - GET /api/sessions/{id}/events: a page, or everything from a cursor on for as long as the client stays.
 */
#include "serve/api.h"
#include "serve/feed.h"
#include "serve/outlet.h"

#include <stdio.h>

typedef struct events_stream {
    hob_outlet *outlet;
    hob_hub *hub;
    hob_feed *feed;
    char id[129];
    uint64_t number, after;
    bool until_settled, settled;
} events_stream;

/* ---- the stream -------------------------------------------------------------------------------------------------- */

static void on_news(void *user) {
    hob_outlet_wake(((events_stream *)user)->outlet);
}

static void begin(void *user) {
    events_stream *s = user;
    hob_feed_opts o = {.session = hob_str_z(s->id),
                       .number = s->number,
                       .text = true,
                       .after = s->after,
                       .wake = on_news,
                       .user = s};
    s->feed = hob_feed_create(s->hub, &o);
}

static void add_event(events_stream *s, hob_event *e, hob_buf *out) {
    hob_event_type type = hob_event_type_of(e);
    if (type == HOB_EVENT_SETTLED) s->settled = true;
    if (type == HOB_EVENT_RUN_STARTED) s->settled = false;
    hob_sse_add(out, hob_event_seq(e), hob_event_name(e), hob_event_json(e));
    hob_event_unref(e);
}

static void say_why(hob_buf *out, int rc) {
    if (rc == HOB_ENOENT)
        hob_sse_fail(out, "not_found", "the session was removed");
    else
        hob_sse_fail(out, "unavailable", "the events cannot be read now: connect again");
}

static void give_back(void *slab) {
    hob_slab_unref(slab);
}

static int lend(events_stream *s, hob_slab *slab) {
    if (slab->settled >= 0) s->settled = slab->settled;
    hob_outlet_lend(s->outlet, hob_buf_str(&slab->text), give_back, slab);
    return 0;
}

static int fill(void *user, hob_buf *out) {
    events_stream *s = user;
    hob_slab *slab;
    hob_event *e;
    int rc = 1;
    if (hob_feed_text(s->feed, &slab)) return lend(s, slab);
    while (out->n < HOB_OUTLET_PIECE && (rc = hob_feed_next(s->feed, &e)) > 0) add_event(s, e, out);
    if (rc < 0) say_why(out, rc);
    if (rc == 0 && s->until_settled && s->settled && hob_feed_is_idle(s->feed)) return -1;
    return rc < 0 ? -1 : 0;
}

static void end(void *user) {
    events_stream *s = user;
    hob_feed_destroy(s->feed);
    hob_free(s);
}

static uint64_t end_of(const hob_page *row) {
    char last[32];
    int64_t seq = 0;
    hob_json_field(hob_page_row(row, 0), "last_seq", last, sizeof last);
    hob_str_int(hob_str_z(last), &seq);
    return (uint64_t)seq;
}

/* Nothing is under way: of what is stored a run that began is over, too, and there is nothing to wait for but that. */
static bool is_settled(const hob_page *row) {
    char state[32];
    hob_json_field(hob_page_row(row, 0), "state", state, sizeof state);
    return !strcmp(state, "idle");
}

static void answer_stream(hob_web_request *r, const hob_page *row, uint64_t after) {
    static const hob_outlet_ops ops = {begin, fill, end, NULL};
    uint64_t number;
    hob_error err;
    const char *id = hob_api_z(r, hob_api_id(r));
    int rc = hob_runtime_session_number(hob_api_runtime(r), id, &number, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    events_stream *s = HOB_NEW(events_stream);
    s->number = number;
    s->hub = hob_api_hub(r);
    s->after = after;
    s->until_settled = hob_web_query(r, "until").n > 0;
    s->settled = is_settled(row);
    snprintf(s->id, sizeof s->id, "%s", id);
    s->outlet = hob_outlet_create(&ops, s);
    hob_outlet_answer(s->outlet, r, "text/event-stream");
}

/* ---- the page ----------------------------------------------------------------------------------------------------- */

static void answer_page(hob_web_request *r, uint64_t after) {
    hob_error err;
    hob_page *page = NULL;
    int64_t limit;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 200}, &limit)) return;
    const char *id = hob_api_z(r, hob_api_id(r));
    int rc = hob_runtime_events(hob_api_runtime(r), id, after, (size_t)limit, &page, &err);
    hob_api_conclude(r, rc, "events", page, &err);
}

/* A client that comes back says where it was in a header that it fills by itself: that counts more. */
static bool take_cursor(hob_web_request *r, int64_t *after) {
    hob_str last = hob_web_header(r, "last-event-id");
    if (!hob_web_query_int(r, "after", (hob_web_range){0, INT64_MAX, 0}, after)) return false;
    if (!last.n) return true;
    if (hob_str_int(last, after) >= 0 && *after >= 0) return true;
    hob_web_fail(r, 400, "bad_request", "Last-Event-ID must be the number of an event");
    return false;
}

/* Whoever has seen an event that is not there has seen another log: of a store that was put back, of a session that was
 * removed and made anew. Waiting for the log to get there would hide that. */
bool hob_api_check_cursor(hob_web_request *r, const hob_page *row, int64_t after) {
    uint64_t last = end_of(row);
    if ((uint64_t)after <= last) return true;
    hob_web_fail(r, 409, "cursor_ahead",
                 "the log ends with event %llu, and %lld is after that: what was seen of this "
                 "session is of another time. Read it anew, from 0",
                 (unsigned long long)last, (long long)after);
    return false;
}

void hob_api_events(hob_web_request *r) {
    hob_page *row;
    int64_t after;
    if (!take_cursor(r, &after) || !hob_api_find(r, &row)) return;
    if (!hob_api_check_cursor(r, row, after)) {
        hob_page_destroy(row);
        return;
    }
    if (hob_web_accepts(r, "text/event-stream"))
        answer_stream(r, row, (uint64_t)after);
    else
        answer_page(r, (uint64_t)after);
    hob_page_destroy(row);
}
