/*
 * What must be true of every log, whatever was done: read from the events alone.
 */
#include "support/sim.h"

#include "support/check.h"

typedef struct seen_call {
    hob_str call, agent;
    bool cut; /* of an answer that was cut off: must not start */
    bool unsafe;
    int decided, asked, answered, started, finished;
} seen_call;

typedef struct seen_item {
    hob_str item;
    int gone;
} seen_item;

/* What one agent does; the run itself is one, too. */
typedef struct strand {
    hob_str message; /* open now, "" if none */
    int turn;
    bool active;
    hob_str point; /* a function at work, "" = none */
} strand;

typedef struct seen {
    hob_arena *arena;
    const hob_flow *flow; /* NULL = none */
    strand *strands;      /* the run itself, then one a frame */
    hob_str run;          /* open now, "" if none */
    bool ending;
    seen_call *calls;
    size_t ncalls;
    seen_item *items;
    size_t nitems;
    int64_t turns, tool_calls, tokens;
    bool kept; /* the user kept what waits in a queue */
    bool paused;
} seen;

/* ---- every event has the fields that the list in hob/event.h names, and no others ------------ */

static const char *const all_fields[] = {
#define HOB_X(NAME, name, durable, what, fields) [HOB_EVENT_##NAME] = fields,
    HOB_EVENTS(HOB_X)
#undef HOB_X
};

typedef struct field {
    hob_str name, words; /* words: "a|b|c" */
    bool optional;
} field;

/* "name", "name?", "name(a|b)", "name{…}", "name[…]", with ", " between. */
static bool next_field(hob_str *rest, field *out) {
    size_t n = 0, depth = 0, end = 0;
    while (n < rest->n && strchr("abcdefghijklmnopqrstuvwxyz_", rest->p[n])) n++;
    if (!n) return false;
    *out = (field){.name = hob_str_first(*rest, n)};
    for (end = n; end < rest->n && (depth || rest->p[end] != ','); end++) {
        depth += strchr("({[", rest->p[end]) != NULL;
        depth -= strchr(")}]", rest->p[end]) != NULL;
    }
    hob_str more = hob_str_skip(hob_str_first(*rest, end), n);
    out->optional = more.n && more.p[0] == '?';
    if (more.n && more.p[0] == '(') out->words = hob_str_first(hob_str_skip(more, 1), more.n - 2);
    *rest = hob_str_skip(*rest, end + 2);
    return true;
}

static bool is_among(hob_str words, hob_str word) {
    hob_str one;
    while (hob_str_split(&words, '|', &one)) {
        if (hob_str_eq(one, word)) return true;
    }
    return false;
}

static bool is_listed(hob_event_type type, hob_str key) {
    hob_str rest = hob_str_z(all_fields[type]);
    for (field f; next_field(&rest, &f);) {
        if (hob_str_eq(f.name, key)) return true;
    }
    return false;
}

static void check_fields(const hob_event *e, const hob_json *data) {
    hob_str rest = hob_str_z(all_fields[e->type]);
    for (field f; next_field(&rest, &f);) {
        const hob_json *v = hob_json_get_n(data, f.name);
        if (!v && !f.optional) fail_msg("%.*s: no %.*s", HOB_FMT(e->json), HOB_FMT(f.name));
        if (v && f.words.n && !is_among(f.words, hob_json_str(v)))
            fail_msg("%.*s: %.*s is not one of %.*s", HOB_FMT(e->json), HOB_FMT(f.name),
                     HOB_FMT(f.words));
    }
    for (const hob_json *v = hob_json_first(data); v; v = hob_json_next(v)) {
        if (!is_listed(e->type, hob_json_key(v)))
            fail_msg("%.*s: %.*s is not listed", HOB_FMT(e->json), HOB_FMT(hob_json_key(v)));
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static size_t count_strands(const seen *s) {
    return s->flow ? s->flow->n + 1 : 1;
}

static strand *strand_of(seen *s, const hob_event *e) {
    ptrdiff_t i = s->flow && e->agent.n ? hob_flow_index(s->flow, e->agent) : -1;
    if (e->agent.n && i < 0) fail_msg("nobody is called %.*s", HOB_FMT(e->agent));
    return &s->strands[i + 1];
}

static void check_none_active(const seen *s) {
    for (size_t i = 0; i < count_strands(s); i++) assert_false(s->strands[i].active);
}

static void run_started(seen *s, const hob_event *e, const hob_json *d) {
    bool resumes = hob_str_eqz(hob_json_get_str(d, "origin"), "resume");
    assert_int_equal(s->run.n, 0);
    s->run = e->run_id;
    s->kept = s->ending = false;
    s->paused = s->paused && resumes;
    if (!resumes) check_none_active(s);
    hob_str origin = hob_json_get_str(d, "origin");
    if (!hob_str_eqz(origin, "prompt") && !hob_str_eqz(origin, "update")) return;
    s->turns = s->tool_calls = s->tokens = 0;
    s->strands[0].turn = 0;
}

static int64_t tokens_of(const hob_json *d) {
    hob_usage u;
    hob_usage_read(hob_json_get(d, "usage"), &u);
    return hob_usage_total(&u);
}

static void run_finished(seen *s, const hob_event *e, const hob_json *d) {
    bool interrupted = hob_str_eqz(hob_json_get_str(d, "status"), "interrupted");
    assert_true(hob_str_eq(s->run, e->run_id));
    for (size_t i = 0; i < count_strands(s) && !interrupted; i++)
        assert_int_equal(s->strands[i].message.n, 0);
    if (!interrupted || s->ending) check_none_active(s);
    assert_int_equal(hob_json_get_int(d, "turns", -1), s->turns);
    assert_int_equal(hob_json_get_int(d, "tool_calls", -1), s->tool_calls);
    assert_int_equal(tokens_of(d), s->tokens);
    s->run = HOB_STR_NULL;
}

/* ---- agents ---------------------------------------------------------------------------------- */

static void check_finished(const seen *s, hob_str agent);

static void agent_started(seen *s, const hob_event *e) {
    strand *a = strand_of(s, e);
    assert_false(a->active);
    assert_false(s->ending);
    assert_true(hob_str_eq(s->run, e->run_id));
    *a = (strand){.active = true};
}

/* The one end of an agent comes after all that it started. */
static void agent_finished(seen *s, const hob_event *e) {
    strand *a = strand_of(s, e);
    assert_true(a->active);
    assert_int_equal(a->message.n, 0);
    assert_int_equal(a->point.n, 0);
    check_finished(s, e->agent);
    a->active = false;
    size_t first = (size_t)(a - s->strands), n = s->flow->frames[first - 1].agent->total;
    for (size_t i = first; i < first + n; i++) assert_false(s->strands[i].active);
}

static void callback_started(seen *s, const hob_event *e, const hob_json *d) {
    strand *a = strand_of(s, e);
    bool again = hob_json_get_bool(d, "again", false);
    hob_str point = hob_json_get_str(d, "point");
    assert_true(a->active);
    assert_int_equal(a->point.n > 0, again);
    if (again) assert_true(hob_str_eq(a->point, point));
    a->point = point;
}

static void callback_finished(seen *s, const hob_event *e, const hob_json *d) {
    strand *a = strand_of(s, e);
    assert_true(hob_str_eq(a->point, hob_json_get_str(d, "point")));
    a->point = HOB_STR_NULL;
}

/* What is under way may end; nothing else happens to a run that was paused. */
static void check_pause(const seen *s, const hob_event *e, const hob_json *d) {
    if (!s->paused || s->ending) return;
    switch ((int)e->type) {
    case HOB_EVENT_MODEL_CALL_STARTED:
    case HOB_EVENT_RETRY_SCHEDULED:
    case HOB_EVENT_APPROVAL_REQUESTED:
    case HOB_EVENT_TOOL_STARTED:
    case HOB_EVENT_AGENT_STARTED:
    case HOB_EVENT_CALLBACK_STARTED:
    case HOB_EVENT_STEER_DELIVERED: fail_msg("paused: %.*s", HOB_FMT(e->json)); break;
    case HOB_EVENT_RUN_FINISHED:
        assert_false(hob_str_eqz(hob_json_get_str(d, "status"), "completed"));
        break;
    }
}

/* Who writes steps is at work; and once the run is ending, nothing begins. */
static void check_order(seen *s, const hob_event *e) {
    switch ((int)e->type) {
    case HOB_EVENT_MODEL_CALL_STARTED:
    case HOB_EVENT_CALLBACK_STARTED:
    case HOB_EVENT_TOOL_STARTED: assert_false(s->ending); break;
    case HOB_EVENT_AGENT_STARTED: return;
    }
    if (e->agent.n) assert_true(strand_of(s, e)->active);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static seen_call *find_call(seen *s, const hob_json *d) {
    hob_str call = hob_json_get_str(d, "call");
    for (size_t i = 0; i < s->ncalls; i++) {
        if (hob_str_eq(s->calls[i].call, call)) return &s->calls[i];
    }
    fail_msg("an event of a call nobody made: %.*s", HOB_FMT(call));
    return NULL;
}

static void add_calls(seen *s, const hob_event *e, const hob_json *d) {
    hob_str stop = hob_json_get_str(d, "stop");
    bool cut = hob_str_eqz(stop, "length") || hob_str_eqz(stop, "aborted");
    for (const hob_json *b = hob_json_first(hob_json_get(d, "content")); b; b = hob_json_next(b)) {
        if (!hob_str_eqz(hob_json_get_str(b, "type"), "tool_call")) continue;
        s->calls = hob_realloc(s->calls, (s->ncalls + 1) * sizeof(*s->calls));
        s->calls[s->ncalls++] =
            (seen_call){.call = hob_json_get_str(b, "call"), .agent = e->agent, .cut = cut};
    }
}

static void check_all_finished(const seen *s) {
    for (size_t i = 0; i < s->ncalls; i++) {
        if (s->calls[i].finished != 1)
            fail_msg("call %.*s has %d results", HOB_FMT(s->calls[i].call), s->calls[i].finished);
    }
}

static void check_finished(const seen *s, hob_str agent) {
    for (size_t i = 0; i < s->ncalls; i++) {
        if (hob_str_eq(s->calls[i].agent, agent)) assert_int_equal(s->calls[i].finished, 1);
    }
}

static void tool_started(seen *s, const hob_json *d) {
    seen_call *c = find_call(s, d);
    bool again = hob_json_get_bool(d, "again", false);
    c->unsafe = hob_str_eqz(hob_json_get_str(d, "class"), "unsafe");
    assert_int_equal(c->decided > 0, 1);
    assert_int_equal(c->asked, c->answered);
    assert_int_equal(c->finished, 0);
    assert_int_equal(c->started > 0, again);
    assert_false(c->cut);
    assert_false(again && c->unsafe);
    c->started++;
    s->tool_calls += !again;
}

static void tool_finished(seen *s, const hob_json *d) {
    seen_call *c = find_call(s, d);
    assert_int_equal(++c->finished, 1);
    assert_int_equal(c->asked, c->answered);
    if (hob_str_eqz(hob_json_get_str(d, "outcome"), "ok")) assert_true(c->started);
    if (hob_str_eqz(hob_json_get_str(d, "outcome"), "skipped")) assert_false(c->started);
}

/* ---- the model ------------------------------------------------------------------------------- */

static void model_started(seen *s, const hob_event *e, const hob_json *d) {
    strand *a = strand_of(s, e);
    assert_int_equal(a->message.n, 0);
    assert_int_equal(a->point.n, 0);
    check_finished(s, e->agent);
    assert_int_equal(hob_json_get_int(d, "output_limit", 0) > 0, 1);
    a->message = hob_json_get_str(d, "message");
    if (e->turn > a->turn) {
        s->turns++;
        a->turn++;
    }
    assert_int_equal(e->turn, a->turn);
}

static void model_ended(seen *s, const hob_event *e, const hob_json *d) {
    bool shown = hob_json_get_bool(d, "shown", false);
    bool discarded = e->type == HOB_EVENT_TURN_DISCARDED;
    hob_str message = hob_json_get_str(d, "message");
    strand *a = strand_of(s, e);
    if (hob_json_get(d, "by")) { /* of a function */
        assert_true(hob_str_eq(hob_json_get_str(d, "by"), a->point));
        return;
    }
    if (!discarded || a->message.n) assert_true(hob_str_eq(a->message, message));
    s->tokens += tokens_of(d);
    if (!shown) a->message = HOB_STR_NULL; /* else it is discarded next */
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE) add_calls(s, e, d);
}

/* ---- queues ---------------------------------------------------------------------------------- */

static void item_queued(seen *s, const hob_json *d) {
    s->items = hob_realloc(s->items, (s->nitems + 1) * sizeof(*s->items));
    s->items[s->nitems++] = (seen_item){.item = hob_json_get_str(d, "item")};
}

static void item_gone(seen *s, const hob_json *d) {
    hob_str item = hob_json_get_str(d, "item");
    for (size_t i = 0; i < s->nitems; i++) {
        if (!hob_str_eq(s->items[i].item, item)) continue;
        assert_int_equal(++s->items[i].gone, 1);
        return;
    }
    fail_msg("nobody queued %.*s", HOB_FMT(item));
}

static void settled(const seen *s) {
    assert_int_equal(s->run.n, 0);
    check_none_active(s);
    check_all_finished(s);
    for (size_t i = 0; i < s->nitems; i++) {
        if (!s->kept && !s->items[i].gone)
            fail_msg("%.*s was queued and forgotten", HOB_FMT(s->items[i].item));
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void check_event(seen *s, const hob_event *e, const hob_json *d) {
    const hob_json *items = hob_json_get(d, "items");
    bool own = hob_str_eqz(hob_json_get_str(d, "scope"), "agent");
    check_order(s, e);
    check_pause(s, e, d);
    switch ((int)e->type) {
    case HOB_EVENT_RUN_STARTED: run_started(s, e, d); break;
    case HOB_EVENT_RUN_FINISHED: run_finished(s, e, d); break;
    case HOB_EVENT_SETTLED: settled(s); break;
    case HOB_EVENT_CANCEL_REQUESTED:
        s->kept = hob_str_eqz(hob_json_get_str(d, "queue"), "keep");
        s->ending = true;
        break;
    case HOB_EVENT_RUN_PAUSED:
    case HOB_EVENT_RUN_RESUMED:
        assert_int_equal(s->paused, e->type == HOB_EVENT_RUN_RESUMED);
        s->paused = !s->paused;
        break;
    case HOB_EVENT_LIMIT_REACHED: s->ending = s->ending || !own; break;
    case HOB_EVENT_AGENT_STARTED: agent_started(s, e); break;
    case HOB_EVENT_AGENT_FINISHED: agent_finished(s, e); break;
    case HOB_EVENT_CALLBACK_STARTED: callback_started(s, e, d); break;
    case HOB_EVENT_CALLBACK_FINISHED: callback_finished(s, e, d); break;
    case HOB_EVENT_MODEL_CALL_STARTED: model_started(s, e, d); break;
    case HOB_EVENT_ASSISTANT_MESSAGE:
    case HOB_EVENT_MODEL_CALL_FAILED:
    case HOB_EVENT_TURN_DISCARDED: model_ended(s, e, d); break;
    case HOB_EVENT_STEER_QUEUED:
    case HOB_EVENT_FOLLOW_UP_QUEUED: item_queued(s, d); break;
    case HOB_EVENT_STEER_DELIVERED:
    case HOB_EVENT_FOLLOW_UP_DELIVERED: item_gone(s, d); break;
    case HOB_EVENT_QUEUE_RETURNED:
        for (const hob_json *v = hob_json_first(items); v; v = hob_json_next(v)) item_gone(s, v);
        break;
    case HOB_EVENT_TOOL_DECIDED: find_call(s, d)->decided++; break;
    case HOB_EVENT_APPROVAL_REQUESTED: assert_int_equal(++find_call(s, d)->asked, 1); break;
    case HOB_EVENT_APPROVAL_RESOLVED: assert_int_equal(++find_call(s, d)->answered, 1); break;
    case HOB_EVENT_TOOL_STARTED: tool_started(s, d); break;
    case HOB_EVENT_TOOL_FINISHED: tool_finished(s, d); break;
    }
}

void sim_check(sim *s) {
    seen so_far = {.arena = hob_arena_create(0), .flow = s->flow};
    so_far.strands = hob_alloc(count_strands(&so_far) * sizeof(strand));
    for (size_t i = 0; i < s->n; i++) {
        const hob_event *e = s->log[i].event;
        const hob_json *data = hob_event_parse(e, so_far.arena);
        assert_int_equal(e->seq, i + 1);
        assert_true(hob_str_chr(e->json, '\n') < 0);
        check_fields(e, data);
        check_event(&so_far, e, data);
    }
    hob_free(so_far.calls);
    hob_free(so_far.strands);
    hob_free(so_far.items);
    hob_arena_destroy(so_far.arena);
}
