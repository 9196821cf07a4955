/*
 * session.c - a session's life, what its calls check, and the way of an event to the sink.
 */
#include "agui/agui.h"

#include "agui/proto.h"

enum { KEPT = 64 << 10 }; /* bytes of a buffer between events */

static const char *const kind_names[] = {
#define HOB_X(NAME) #NAME,
    HOB_AGUI_EVENTS(HOB_X)
#undef HOB_X
};

const char *hob_agui_kind_name(hob_agui_kind kind) {
    return (unsigned)kind < HOB_AGUI_KIND_COUNT_ ? kind_names[kind] : "";
}

void hob_agui_make_id(char out[37]) {
    hob_uuid7_new(hob_clock_real(), out);
}

static int create(const hob_agui_sink *sink, hob_str thread, bool named, hob_agui_session **out,
                  hob_error *err) {
    if (!sink || sink->size < sizeof *sink || !sink->write)
        return hob_fail(err, HOB_EINVAL, 0, "a sink needs its size and a write function");
    int rc = hob_agui_need_id("thread id", thread, err);
    if (rc < 0) return rc;
    hob_agui_session *s = HOB_NEW(hob_agui_session);
    s->sink = *sink;
    s->thread = hob_dupz(thread);
    s->named = named;
    hob_buf_init(&s->out, HOB_AGUI_FRAME_MAX);
    hob_buf_init(&s->frame, HOB_AGUI_FRAME_MAX);
    hob_buf_init(&s->state, HOB_AGUI_FRAME_MAX);
    hob_buf_init(&s->usage, 1 << 20);
    s->state_max = HOB_AGUI_FRAME_MAX;
    hob_buf_addz(&s->state, "{}");
    s->scratch = hob_arena_create(HOB_AGUI_FRAME_MAX * 16);
    s->items = hob_map_create();
    s->subagents = hob_map_create();
    s->activities = hob_map_create();
    hob_list_init(&s->open);
    hob_agui_known_init(s);
    *out = s;
    return 0;
}

int hob_agui_session_create(const hob_agui_sink *sink, hob_agui_session **out, hob_error *err) {
    char id[37];
    hob_agui_make_id(id);
    return create(sink, hob_str_z(id), false, out, err);
}

int hob_agui_session_create_with_thread_id(const hob_agui_sink *sink, hob_str thread_id,
                                           hob_agui_session **out, hob_error *err) {
    return create(sink, thread_id, true, out, err);
}

void hob_agui_session_destroy(hob_agui_session *s) {
    if (!s) return;
    hob_agui_item_clear(s);
    hob_agui_activities_clear(s);
    hob_agui_known_finish(s);
    hob_map_destroy(s->items);
    hob_map_destroy(s->subagents);
    hob_map_destroy(s->activities);
    hob_arena_destroy(s->scratch);
    hob_buf_finish(&s->out);
    hob_buf_finish(&s->frame);
    hob_buf_finish(&s->state);
    hob_buf_finish(&s->usage);
    hob_free(s->thread);
    hob_free(s->run);
    hob_free(s);
}

hob_str hob_agui_thread_id(const hob_agui_session *s) {
    return hob_str_z(s->thread);
}

hob_str hob_agui_run_id(const hob_agui_session *s) {
    return hob_str_z(s->run);
}

int hob_agui_is_running(const hob_agui_session *s) {
    return s->phase == HOB_PHASE_RUNNING;
}

int hob_agui_is_connected(const hob_agui_session *s) {
    return !s->gone && (!s->sink.connected || s->sink.connected(s->sink.user));
}

hob_agui_dialect hob_agui_session_dialect(const hob_agui_session *s) {
    return s->dialect;
}

void hob_agui_set_time(hob_agui_session *s, int64_t unix_ms) {
    s->time = unix_ms > 0 ? unix_ms : 0;
}

/* ---- looking ------------------------------------------------------------------------------------------- */

int hob_agui_need_run(hob_agui_session *s, hob_error *err) {
    hob_arena_reset(s->scratch);
    if (s->phase == HOB_PHASE_RUNNING) return 0;
    return hob_fail(err, HOB_EIDLE, 0, "no run is under way; start one first");
}

int hob_agui_need_id(const char *what, hob_str id, hob_error *err) {
    if (!id.n) return hob_fail(err, HOB_EINVAL, 0, "the %s is empty", what);
    if (id.n > HOB_AGUI_ID_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "the %s has more than %d bytes", what,
                        HOB_AGUI_ID_MAX);
    if (!hob_utf8_valid(id)) return hob_fail(err, HOB_EINVAL, 0, "the %s is not UTF-8", what);
    return 0;
}

int hob_agui_need_json(hob_agui_session *s, const char *what, hob_str text, int kind,
                       const hob_json **out, hob_error *err) {
    hob_json_opts o = {.max_depth = 100, .max_bytes = HOB_AGUI_FRAME_MAX};
    const hob_json *v;
    hob_error why;
    int rc = hob_json_parse(s->scratch, text, &o, &v, &why);
    if (rc < 0) return hob_fail(err, rc, 0, "the %s is no JSON: %.400s", what, why.message);
    if (kind >= 0 && (int)hob_json_type_of(v) != kind)
        return hob_fail(err, HOB_EINVAL, 0, "the %s must be %s", what,
                        kind == HOB_JSON_OBJECT ? "an object" : "an array");
    if (out) *out = v;
    return 0;
}

int hob_agui_need_extra(hob_agui_session *s, const hob_agui_extra *x, hob_error *err) {
    if (!x) return 0;
    if (x->size < sizeof *x)
        return hob_fail(err, HOB_EINVAL, 0, "the extra has no size; begin with its INIT");
    int rc = x->subagent.n ? hob_agui_need_id("sub-agent", x->subagent, err) : 0;
    if (rc < 0 || !x->metadata.n) return rc;
    return hob_agui_need_json(s, "metadata", x->metadata, HOB_JSON_OBJECT, NULL, err);
}

/* ---- building and sending -------------------------------------------------------------------------------- */

hob_jsonw *hob_agui_begin(hob_agui_session *s, hob_agui_kind kind) {
    hob_buf_reset(&s->out);
    s->kind = kind;
    if (s->sink.encoding == HOB_AGUI_AS_SSE) hob_buf_addz(&s->out, "data: ");
    s->json_at = s->out.n;
    hob_jsonw_init(&s->w, &s->out);
    hob_jsonw_object(&s->w);
    hob_jsonw_kstr(&s->w, "type", hob_str_z(kind_names[kind]));
    if (s->time) hob_jsonw_kint(&s->w, "timestamp", s->time);
    return &s->w;
}

void hob_agui_put_extra(hob_agui_session *s, const hob_agui_extra *x) {
    if (!x) return;
    hob_jsonw_kstr_opt(&s->w, "subagentRunId", x->subagent);
    if (x->metadata.n) hob_jsonw_kraw(&s->w, "metadata", x->metadata);
}

/* Line breaks between the tokens of JSON that the caller wrote: an event is one line. */
static void one_line(char *p, size_t n) {
    for (char *hit = p; n && (hit = memchr(hit, '\n', n - (size_t)(hit - p)));) *hit = ' ';
    for (char *hit = p; n && (hit = memchr(hit, '\r', n - (size_t)(hit - p)));) *hit = ' ';
}

static int encode_proto(hob_agui_session *s, hob_error *err) {
    const hob_json *event;
    int rc = hob_json_parse(s->scratch, hob_buf_str(&s->out), NULL, &event, err);
    if (rc < 0) return rc;
    hob_buf_reset(&s->frame);
    rc = hob_proto_encode(s->kind, event, &s->frame);
    return rc < 0 ? hob_fail(err, rc, 0, "the event is too large") : 0;
}

static int write_out(hob_agui_session *s, hob_str bytes, hob_error *err) {
    int rc = s->gone ? HOB_ECLOSED : s->sink.write(s->kind, bytes, s->sink.user);
    if (rc >= 0) return 0;
    if (rc == HOB_EAGAIN) return hob_fail(err, rc, 0, "the sink is full; try again");
    s->gone = true;
    return hob_fail(err, HOB_ECLOSED, 0, "nobody listens any more");
}

int hob_agui_send(hob_agui_session *s, hob_error *err) {
    hob_jsonw_object_end(&s->w);
    if (s->out.err)
        return hob_fail(err, HOB_ETOOBIG, 0, "%s would have more than %zu bytes",
                        kind_names[s->kind], HOB_AGUI_FRAME_MAX);
    one_line(s->out.p + s->json_at, s->out.n - s->json_at);
    switch (s->sink.encoding) {
    case HOB_AGUI_AS_JSON: return write_out(s, hob_buf_str(&s->out), err);
    case HOB_AGUI_AS_SSE:
        if (hob_buf_addz(&s->out, "\n\n") < 0)
            return hob_fail(err, HOB_ETOOBIG, 0, "the event is too large");
        return write_out(s, hob_buf_str(&s->out), err);
    case HOB_AGUI_AS_PROTO: break;
    }
    int rc = encode_proto(s, err);
    return rc < 0 ? rc : write_out(s, hob_buf_str(&s->frame), err);
}

void hob_agui_tidy(hob_agui_session *s) {
    hob_arena_reset(s->scratch);
    if (s->out.cap > KEPT) hob_buf_finish(&s->out);
    if (s->frame.cap > KEPT) hob_buf_finish(&s->frame);
}

/* Relative weights do not count, and neither do wildcards: who wants protobuf names it. */
static bool refused_by_q(hob_str params) {
    hob_str part;
    while (hob_str_split(&params, ';', &part)) {
        part = hob_str_trim(part);
        if (part.n < 3 || (part.p[0] | 32) != 'q' || part.p[1] != '=') continue;
        for (size_t i = 2; i < part.n; i++)
            if (part.p[i] != '0' && part.p[i] != '.') return false;
        return true;
    }
    return false;
}

int hob_agui_accepts_proto(hob_str accept) {
    hob_str entry;
    while (hob_str_split(&accept, ',', &entry)) {
        hob_str type;
        hob_str_split(&entry, ';', &type);
        type = hob_str_trim(type);
        bool named = hob_str_ieq(type, hob_str_z(HOB_AGUI_TYPE_PROTO));
        if (named && !refused_by_q(entry)) return 1;
    }
    return 0;
}
