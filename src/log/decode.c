/*
 * decode.c - a line of text -> an event.
 *
 * Opening a session reads its whole log, so the envelope has a reader of its own: it takes what event.c writes
 * (known keys, plain strings, data last) in one pass and builds nothing. A line that looks any different, because
 * another version or another program wrote it, goes through the general reader. Both give the same event.
 */
#include "log/event.h"

#include "base/json_scan.h"

static int not_an_event(hob_error *err) {
    return hob_fail(err, HOB_EPARSE, 0, "not an event: an object with type and data is expected");
}

/* What the fields must say, once they are there. */
static int check(hob_event *e, int64_t seq, hob_str ts, hob_error *err) {
    if (seq < 0) return not_an_event(err);
    e->seq = (uint64_t)seq;
    if (hob_time_parse(ts, &e->ts) < 0)
        return hob_fail(err, HOB_EPARSE, 0, "event %lld has no valid time", (long long)seq);
    if (!e->name.n) return hob_fail(err, HOB_EPARSE, 0, "event %lld has no type", (long long)seq);
    e->type = hob_event_type_from(e->name);
    return HOB_OK;
}

static int turn_of(int64_t n) {
    return n > 0 && n <= HOB_TURN_MAX ? (int)n : 0;
}

/* ---- any line ------------------------------------------------------------------------------------------- */

hob_str hob_event_own(const hob_event *e, const hob_json *v) {
    hob_str s = hob_json_str(v), raw = hob_json_raw(v);
    if (!s.n) return HOB_STR_NULL;
    if (s.p >= e->json.p && s.p + s.n <= e->json.p + e->json.n) return s;
    return hob_str_n(raw.p + 1, raw.n - 2);
}

static int read_any(hob_event *e, hob_arena *a, const hob_json **data, hob_error *err) {
    const hob_json *o;
    int rc = hob_json_parse(a, e->json, NULL, &o, err);
    if (rc < 0) return rc;
    *data = hob_json_get(o, "data");
    if (!hob_json_is(o, HOB_JSON_OBJECT) || !hob_json_is(*data, HOB_JSON_OBJECT))
        return not_an_event(err);
    e->turn = turn_of(hob_json_get_int(o, "turn", 0));
    e->name = hob_event_own(e, hob_json_get(o, "type"));
    e->session_id = hob_event_own(e, hob_json_get(o, "session_id"));
    e->run_id = hob_event_own(e, hob_json_get(o, "run_id"));
    e->parent_run = hob_event_own(e, hob_json_get(o, "parent_run"));
    e->agent = hob_event_own(e, hob_json_get(o, "agent"));
    e->branch = hob_event_own(e, hob_json_get(o, "branch"));
    e->author = hob_event_own(e, hob_json_get(o, "author"));
    e->entry = hob_event_own(e, hob_json_get(o, "entry"));
    e->parent_entry = hob_event_own(e, hob_json_get(o, "parent_entry"));
    e->cause = hob_event_own(e, hob_json_get(o, "cause"));
    e->data = hob_json_raw(*data);
    return check(e, hob_json_get_int(o, "seq", 0), hob_json_get_str(o, "ts"), err);
}

/* ---- a line as event.c writes it -------------------------------------------------------------------------- */

typedef struct plain { /* a reader that gives up on anything unusual */
    const char *p, *end;
    int64_t v, seq, turn;
    hob_str ts;
} plain;

static bool take(plain *r, char c) {
    if (r->p == r->end || *r->p != c) return false;
    r->p++;
    return true;
}

static bool take_string(plain *r, hob_str *out) {
    if (!take(r, '"')) return false;
    const char *end = hob_scan_plain(r->p, r->end);
    *out = hob_str_n(r->p, (size_t)(end - r->p));
    r->p = end;
    return take(r, '"');
}

/* At most 18 digits, none of them a leading zero. */
static bool take_number(plain *r, int64_t *out) {
    const char *start = r->p;
    int64_t v = 0;
    for (; r->p < r->end && *r->p >= '0' && *r->p <= '9' && r->p - start < 18; r->p++)
        v = v * 10 + (*r->p - '0');
    *out = v;
    return r->p > start && (*start != '0' || r->p - start == 1);
}

/* Inlined to a comparison or two: this runs a dozen times for each event of a log. */
#define IS(key, word) ((key).n == sizeof(word) - 1 && !memcmp((key).p, word, sizeof(word) - 1))

static hob_str *string_field(hob_event *e, plain *r, hob_str key) {
    switch (key.n) {
    case 2: return IS(key, "ts") ? &r->ts : NULL;
    case 4: return IS(key, "type") ? &e->name : NULL;
    case 5:
        if (IS(key, "entry")) return &e->entry;
        if (IS(key, "agent")) return &e->agent;
        return IS(key, "cause") ? &e->cause : NULL;
    case 6:
        if (IS(key, "run_id")) return &e->run_id;
        if (IS(key, "author")) return &e->author;
        return IS(key, "branch") ? &e->branch : NULL;
    case 10:
        if (IS(key, "session_id")) return &e->session_id;
        return IS(key, "parent_run") ? &e->parent_run : NULL;
    case 12: return IS(key, "parent_entry") ? &e->parent_entry : NULL;
    }
    return NULL;
}

static int64_t *number_field(plain *r, hob_str key) {
    if (IS(key, "v")) return &r->v;
    if (IS(key, "seq")) return &r->seq;
    return IS(key, "turn") ? &r->turn : NULL;
}

/* Up to the value of data; false: the general reader must look at it. */
static bool take_members(hob_event *e, plain *r) {
    if (!take(r, '{')) return false;
    for (;;) {
        hob_str key, *text;
        int64_t *number;
        if (!take_string(r, &key) || !take(r, ':')) return false;
        if (IS(key, "data")) return true;
        if ((text = string_field(e, r, key))) {
            if (!take_string(r, text)) return false;
        } else if ((number = number_field(r, key))) {
            if (!take_number(r, number)) return false;
        } else {
            return false;
        }
        if (!take(r, ',')) return false;
    }
}

/* 1 = done, 0 = not such a line. Data is what stands between its key and the line's last bracket: if that is an
 * object, then so is the line. With an arena it is parsed, else only looked at. */
static int read_plain(hob_event *e, hob_arena *a, const hob_json **data, hob_error *err) {
    plain r = {.p = e->json.p, .end = e->json.p + e->json.n};
    if (!take_members(e, &r) || r.end - r.p < 3) return 0;
    if (*r.p != '{' || r.end[-2] != '}' || r.end[-1] != '}') return 0;
    e->data = hob_str_n(r.p, (size_t)(r.end - r.p) - 1);
    if (a ? hob_json_parse(a, e->data, NULL, data, NULL) < 0 : !hob_json_valid(e->data)) return 0;
    e->turn = turn_of(r.turn);
    int rc = check(e, r.seq, r.ts, err);
    return rc < 0 ? rc : 1;
}

/* ---- both ------------------------------------------------------------------------------------------------- */

static hob_event *event_create(hob_str json) {
    hob_event *e = hob_realloc(NULL, sizeof *e + json.n);
    char *text = (char *)(e + 1);
    *e = (hob_event){.json = hob_str_n(text, json.n)};
    if (json.n) memcpy(text, json.p, json.n);
    atomic_init(&e->refs, 1);
    return e;
}

static int read_line(hob_event *e, hob_arena *a, const hob_json **data, hob_error *err) {
    int rc = read_plain(e, a, data, err);
    if (rc != 0) return rc;
    hob_arena *own = a ? NULL : hob_arena_create(0);
    hob_str json = e->json;
    *e = (hob_event){.json = json};
    atomic_init(&e->refs, 1);
    rc = read_any(e, a ? a : own, data, err);
    hob_arena_destroy(own);
    return rc;
}

int hob_event_read(hob_str json, hob_arena *a, hob_event **out, const hob_json **data,
                   hob_error *err) {
    const hob_json *parsed = NULL;
    if (json.n > HOB_EVENT_LINE_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "an event is over %u MiB", HOB_EVENT_MAX >> 20);
    hob_event *e = event_create(json);
    int rc = read_line(e, a, &parsed, err);
    if (rc < 0) {
        hob_free(e);
        return rc;
    }
    *out = e;
    if (data) *data = parsed;
    return HOB_OK;
}

int hob_event_decode(hob_str json, hob_event **out, hob_error *err) {
    return hob_event_read(json, NULL, out, NULL, err);
}

int hob_event_from_json(hob_str json, hob_event **out, hob_error *err) {
    return hob_event_decode(json, out, err);
}
