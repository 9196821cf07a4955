/*
 * event.c - encode the envelope (decode.c reads it). The order of its keys is fixed, so that the same event is
 * always the same bytes.
 */
#include "log/event.h"

#include <stdio.h>

static const struct {
    hob_str name;
    bool durable;
} kinds[HOB_EVENT_COUNT_] = {[HOB_EVENT_UNKNOWN] = {{"", 0}, true},
#define HOB_X(NAME, name, durable, what, fields)                                                   \
    [HOB_EVENT_##NAME] = {{#name, sizeof(#name) - 1}, durable},
                             HOB_EVENTS(HOB_X)
#undef HOB_X
};

const char *hob_event_type_name(hob_event_type t) {
    return t < HOB_EVENT_COUNT_ ? kinds[t].name.p : "";
}

bool hob_event_type_durable(hob_event_type t) {
    return t < HOB_EVENT_COUNT_ && kinds[t].durable;
}

hob_event_type hob_event_type_from(hob_str name) {
    for (int t = 1; t < HOB_EVENT_COUNT_; t++)
        if (name.n == kinds[t].name.n && hob_str_eq(name, kinds[t].name)) return (hob_event_type)t;
    return HOB_EVENT_UNKNOWN;
}

/* ---- drafts ------------------------------------------------------------------------------- */

void hob_draft_init(hob_draft *d, hob_event_type type) {
    *d = (hob_draft){.type = type};
    hob_buf_init(&d->data, HOB_EVENT_MAX);
    hob_buf_init(&d->made, 4096);
}

void hob_draft_finish(hob_draft *d) {
    hob_buf_finish(&d->data);
    hob_buf_finish(&d->made);
}

/* ---- encode -------------------------------------------------------------------------------- */

static void write_envelope(hob_jsonw *w, const hob_draft *d, hob_str session_id, uint64_t seq,
                           int64_t ts) {
    char time[25], entry[24];
    hob_time_format(ts, time);
    hob_jsonw_object(w);
    hob_jsonw_kint(w, "v", HOB_EVENT_VERSION);
    if (seq) hob_jsonw_kint(w, "seq", (int64_t)seq);
    hob_jsonw_kstr(w, "ts", hob_str_n(time, 24));
    hob_jsonw_kstr(w, "type", hob_str_z(hob_event_type_name(d->type)));
    hob_jsonw_kstr(w, "session_id", session_id);
    hob_jsonw_kstr_opt(w, "run_id", d->run_id);
    hob_jsonw_kstr_opt(w, "parent_run", d->parent_run);
    if (d->turn) hob_jsonw_kint(w, "turn", d->turn);
    hob_jsonw_kstr_opt(w, "agent", d->agent);
    hob_jsonw_kstr_opt(w, "branch", d->branch);
    hob_jsonw_kstr_opt(w, "author", d->author);
    if (d->is_entry) {
        int n = snprintf(entry, sizeof entry, "e%llu", (unsigned long long)seq);
        hob_jsonw_kstr(w, "entry", hob_str_n(entry, (size_t)n));
    }
    hob_jsonw_kstr_opt(w, "parent_entry", d->parent_entry);
    hob_jsonw_kstr_opt(w, "cause", d->cause);
    hob_jsonw_kraw(w, "data", d->data.n ? hob_buf_str(&d->data) : HOB_STR("{}"));
    hob_jsonw_object_end(w);
}

/* An event is a line. In JSON a line break can only stand between tokens, where a blank does as well. */
static void join_lines(hob_event *e) {
    char *p = (char *)(e + 1);
    for (size_t i = 0; i < e->json.n; i++) {
        if (p[i] == '\n' || p[i] == '\r') p[i] = ' ';
    }
}

/* Data is one object, not one and a part of the envelope. */
static int check_data(hob_event *e, const hob_draft *d, hob_error *err) {
    bool last = e->data.p + e->data.n + 1 == e->json.p + e->json.n;
    if (last && e->data.n == HOB_MAX(d->data.n, 2u)) return HOB_OK;
    return hob_fail(err, HOB_EPARSE, 0, "the data of an event must be one JSON object");
}

int hob_event_encode(const hob_draft *d, hob_str session_id, uint64_t seq, int64_t ts,
                     hob_event **out, hob_error *err) {
    hob_event *e = NULL;
    hob_buf line;
    hob_jsonw w;
    if (d->data.err)
        return hob_fail(err, HOB_ETOOBIG, 0, "an event is over %u MiB", HOB_EVENT_MAX >> 20);
    hob_buf_init(&line, HOB_EVENT_LINE_MAX);
    hob_jsonw_init(&w, &line);
    write_envelope(&w, d, session_id, seq, ts);
    int rc = line.err ? hob_fail(err, line.err, 0, "an event is over %u MiB", HOB_EVENT_MAX >> 20)
                      : hob_event_decode(hob_buf_str(&line), &e, err);
    hob_buf_finish(&line);
    if (rc >= 0) rc = check_data(e, d, err);
    if (rc < 0) {
        hob_event_unref(e);
        return rc;
    }
    join_lines(e);
    *out = e;
    return HOB_OK;
}

/* ---- data ---------------------------------------------------------------------------------- */

const hob_json *hob_event_parse(const hob_event *e, hob_arena *a) {
    const hob_json *v = NULL;
    if (hob_json_parse(a, e->data, NULL, &v, NULL) < 0) return NULL;
    return v;
}

/* ---- public accessors ------------------------------------------------------------------------ */

hob_event *hob_event_ref(hob_event *e) {
    atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
    return e;
}

void hob_event_unref(hob_event *e) {
    if (e && atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) == 1) hob_free(e);
}

hob_event_type hob_event_type_of(const hob_event *e) {
    return e->type;
}

hob_str hob_event_name(const hob_event *e) {
    return e->name;
}

uint64_t hob_event_seq(const hob_event *e) {
    return e->seq;
}

int64_t hob_event_time(const hob_event *e) {
    return e->ts;
}

hob_str hob_event_session(const hob_event *e) {
    return e->session_id;
}

hob_str hob_event_run(const hob_event *e) {
    return e->run_id;
}

hob_str hob_event_entry(const hob_event *e) {
    return e->entry;
}

hob_str hob_event_agent(const hob_event *e) {
    return e->agent;
}

hob_str hob_event_branch(const hob_event *e) {
    return e->branch;
}

hob_str hob_event_json(const hob_event *e) {
    return e->json;
}

hob_str hob_event_data(const hob_event *e) {
    return e->data;
}
