/*
 * agui.c - AG-UI over HTTP: run, and hob's own addition connect.
 *
 * A thread is a session (agui_thread.c). An input is compared with it, what is new in it is done, and what happens is
 * told as a run (agui_stream.c). What goes wrong before the run has begun is an HTTP status; afterwards it is RUN_ERROR.
 */
#include "serve/agui_stream.h"
#include "serve/agui_thread.h"
#include "serve/api.h"

#include <stdio.h>

enum { PAUSE_MS = 200 }; /* for a run whose end was told and that is not quite over */

typedef struct visit {
    hob_web_request *r;
    hob_agui_input *in;
    char id[130];   /* of the session */
    hob_room *room; /* NULL: it is only looked at */
    hob_session *s;
    hob_agui_plan *plan;
    hob_agui_tools *tools;
    hob_page *history, *asked, *calls, *begun;
    hob_agui_json *state; /* before anything but the client's own words about it */
    uint64_t last;        /* event that was the last one before anything was done */
    bool was_running, was_parked, was_paused;
    bool ends_with_client;
    char key[HOB_KEY_SIZE]; /* of the run that is begun; "" = none is */
    hob_answer begins;
} visit;

/* ---- coming in ------------------------------------------------------------------------------------------------------ */

/* Two first inputs of one thread may come at once: one of them makes the session. */
static bool enter_thread(visit *v, const char *agent) {
    hob_web_request *r = v->r;
    char *id = v->id;
    hob_error err;
    int rc = hob_agui_find_thread(r, hob_agui_input_thread_id(v->in), id, &err);
    if (rc == HOB_ENOENT) rc = hob_agui_make_thread(r, id, agent, &v->room, &err);
    if (!v->room && (rc >= 0 || rc == HOB_EEXIST))
        rc = hob_hub_open(hob_api_hub(r), hob_web_caller(r), hob_str_z(id), &v->room, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return false;
    }
    v->s = hob_room_session(v->room);
    hob_web_note(r, "session_id", hob_str_z(id));
    return true;
}

/* ---- what the client brings ------------------------------------------------------------------------------------------ */

static hob_agui_input *read_input(hob_web_request *r, hob_str text) {
    hob_agui_input *in;
    hob_error err;
    int rc = hob_agui_input_parse(text, &in, &err);
    if (rc >= 0) return in;
    bool large = rc == HOB_ETOOBIG;
    hob_web_fail(r, large ? 413 : 400, large ? "too_large" : "bad_request", "%s", err.message);
    return NULL;
}

/* Whether it stays with a client that goes away: the run goes on, or is cancelled. */
static bool read_parting(visit *v) {
    char word[32];
    int n =
        hob_json_field(hob_agui_input_forwarded_props(v->in), "on_disconnect", word, sizeof word);
    v->ends_with_client = n > 0 && !strcmp(word, "cancel");
    if (n <= 0 || v->ends_with_client || !strcmp(word, "continue")) return true;
    hob_web_fail(v->r, 400, "bad_request", "forwardedProps.on_disconnect can be: continue, cancel");
    return false;
}

/* Who only looks on need not say more than the thread: the run that is told gets an id, there are no messages. */
static hob_str filled_up(hob_web_request *r) {
    hob_str body = hob_web_body(r), all = body;
    const hob_json *v;
    char id[40];
    hob_buf b;
    if (hob_json_parse(hob_web_arena(r), body, NULL, &v, NULL) < 0) return body;
    if (!hob_json_get(v, "threadId")) return body;
    hob_uuid7_new(hob_clock_real(), id);
    hob_buf_init(&b, body.n + 200);
    hob_buf_add(&b, hob_str_first(hob_json_raw(v), hob_json_raw(v).n - 1)); /* without its brace */
    if (!hob_json_get(v, "runId")) hob_buf_addf(&b, ",\"runId\":\"%s\"", id);
    if (!hob_json_get(v, "messages")) hob_buf_addz(&b, ",\"messages\":[]");
    hob_buf_addc(&b, '}');
    if (!b.err) all = hob_arena_dup(hob_web_arena(r), hob_buf_str(&b));
    hob_buf_finish(&b);
    return all.p ? all : body;
}

/* What the input brings is all that there is of the client's; a name that is taken stays what it is. */
static int offer_tools(visit *v, hob_error *err) {
    int rc = hob_agui_tools_create(v->in, &v->tools, err);
    if (rc < 0) return rc;
    return hob_session_offer_tools(v->s, hob_agui_tools_at(v->tools, 0),
                                   hob_agui_tools_count(v->tools), err);
}

static int look(visit *v, hob_error *err) {
    hob_page *info;
    char last[24] = "0";
    int64_t n = 0;
    int rc = hob_session_info(v->s, &info, err);
    if (rc < 0) return rc;
    hob_json_field(hob_page_row(info, 0), "last_seq", last, sizeof last);
    hob_page_destroy(info);
    hob_str_int(hob_str_z(last), &n);
    v->last = (uint64_t)n;
    v->was_running = hob_session_is_running(v->s) > 0;
    v->was_parked = hob_session_is_parked(v->s) > 0;
    v->was_paused = hob_session_is_paused(v->s) > 0;
    rc = hob_session_history(v->s, &v->history, err);
    if (rc >= 0) rc = hob_session_pending_confirmations(v->s, &v->asked, err);
    if (rc >= 0) rc = hob_session_pending_calls(v->s, &v->calls, err);
    if (rc >= 0) rc = hob_session_under_way(v->s, &v->begun, err);
    return rc;
}

/* ---- doing what the plan says ------------------------------------------------------------------------------------------ */

/* A run that goes on is the client's to wait for: a worker that did would be missing for others. */
static int update(visit *v, const hob_agui_step *step, hob_error *err) {
    int rc = hob_session_tool_update(v->s, step->call, step->update, step->content, err);
    if (rc != HOB_EBUSY || hob_session_wait(v->s, PAUSE_MS, NULL, NULL) < 0) return rc;
    return hob_session_tool_update(v->s, step->call, step->update, step->content, err);
}

/* Said before is said: a client may send its answers again. */
static int take_step(visit *v, const hob_agui_step *step, hob_error *err) {
    bool answers = hob_agui_plan_todo(v->plan) == HOB_AGUI_DO_ANSWER;
    int rc = step->answer.n ? hob_session_answer(v->s, step->call, step->answer, err)
             : answers
                 ? hob_session_confirm_tool_use(v->s, step->call, step->verdict, step->reason, err)
                 : update(v, step, err);
    return rc == HOB_EEXIST || rc == HOB_ENOENT ? HOB_OK : rc;
}

static int take_steps(visit *v, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < hob_agui_plan_step_count(v->plan); i++) {
        hob_agui_step step = {.size = sizeof step};
        rc = hob_agui_plan_step(v->plan, i, &step);
        if (rc >= 0) rc = take_step(v, &step, err);
    }
    return rc;
}

/* What was interrupted is told to those who asked for it: here the run that came instead is. */
static void begin_at(visit *v, uint64_t seq) {
    hob_page_destroy(v->begun);
    hob_page_destroy(v->asked);
    v->begun = v->asked = NULL;
    v->was_paused = false;
    v->last = seq - 1;
}

static int say_prompt(visit *v, hob_error *err) {
    hob_api_message m = {.receipt = HOB_RECEIPT_INIT, .content = hob_agui_plan_content(v->plan)};
    char policy[32];
    hob_str entry;
    snprintf(m.key, sizeof m.key, "%s", v->key);
    if (hob_json_field(hob_agui_input_forwarded_props(v->in), "when_busy", policy, sizeof policy) >
            0 &&
        !hob_api_when_busy(v->r, hob_str_z(policy), &m.policy))
        return HOB_EINVAL; /* answered */
    if (hob_agui_plan_moves(v->plan, &entry)) {
        int rc = hob_session_move(v->s, hob_api_z(v->r, entry), err);
        if (rc < 0) return rc;
    }
    int rc = hob_api_send(v->r, v->room, &m, err);
    if (rc < 0) return rc;
    hob_web_note(v->r, "run_id", hob_str_z(m.receipt.run));
    v->begins = (hob_answer){.became = m.became, .seq = m.receipt.seq};
    snprintf(v->begins.run, sizeof v->begins.run, "%s", m.receipt.run);
    if (m.policy == HOB_BUSY_INTERRUPT) begin_at(v, m.receipt.seq);
    return HOB_OK;
}

/* What was said along with answers joins the run that goes on with them. */
static int say_along(visit *v, hob_error *err) {
    hob_api_message m = {.receipt = HOB_RECEIPT_INIT,
                         .content = hob_agui_plan_content(v->plan),
                         .policy = HOB_BUSY_STEER};
    return m.content.n ? hob_api_send(v->r, v->room, &m, err) : HOB_OK;
}

/* What makes a run go on: the steps, and a word to one that is paused. */
static int go_on(visit *v, bool unpause, hob_error *err) {
    if (hob_agui_plan_todo(v->plan) == HOB_AGUI_DO_ANSWER &&
        !hob_caller_may(hob_web_caller(v->r), HOB_RIGHT_APPROVE))
        return hob_fail(err, HOB_EACCES, 0, "this token has no right to answer approvals: approve");
    int rc = hob_room_go_on(v->room, hob_web_caller(v->r), err);
    if (rc < 0) return rc;
    rc = take_steps(v, err);
    if (rc >= 0) rc = say_along(v, err);
    if (rc >= 0 && unpause) rc = hob_session_resume(v->s, err);
    hob_room_begun(v->room, rc);
    return unpause && rc == HOB_EIDLE ? HOB_OK : rc; /* somebody else said so meanwhile */
}

static bool has_policy(const visit *v) {
    char word[32];
    return hob_json_field(hob_agui_input_forwarded_props(v->in), "when_busy", word, sizeof word) >
           0;
}

/* A run that is paused takes a prompt only if it says how. */
static bool prompts(const visit *v) {
    return hob_agui_plan_todo(v->plan) == HOB_AGUI_DO_PROMPT && (!v->was_paused || has_policy(v));
}

/* Approvals are taken meanwhile and count later. */
static int act_paused(visit *v, hob_error *err) {
    bool answers = hob_agui_plan_todo(v->plan) == HOB_AGUI_DO_ANSWER;
    switch (hob_agui_plan_pause(v->plan)) {
    case HOB_AGUI_PAUSE_STAY: return answers ? go_on(v, false, err) : HOB_OK;
    case HOB_AGUI_PAUSE_GO_ON: return go_on(v, true, err);
    case HOB_AGUI_PAUSE_GIVE_UP: return hob_session_cancel(v->s, HOB_QUEUED_RETURN, err);
    }
    return HOB_OK;
}

/* An input may come again, when a connection broke: a run's id is used once, and stands in the log with what began it. */
static int claim_run(visit *v, hob_error *err) {
    hob_str run = hob_agui_input_run_id(v->in);
    hob_answer before;
    if (!prompts(v)) return HOB_OK;
    hob_key_of_run(run, v->key);
    int rc = hob_room_asked(v->room, v->key, &before, err);
    if (rc == 0) return rc;
    v->key[0] = 0;
    if (rc < 0 && rc != HOB_EBUSY) return rc;
    return hob_fail(err, HOB_EEXIST, 0,
                    "the run %.*s of this thread was begun before: POST /agui/AGENT/connect shows "
                    "what became of it; a new run needs an id of its own",
                    HOB_FMT(hob_str_first(run, hob_utf8_prefix(run, 100))));
}

static int act(visit *v, hob_error *err) {
    hob_agui_todo todo = hob_agui_plan_todo(v->plan);
    int rc = HOB_OK;
    if (v->was_paused && !prompts(v)) return act_paused(v, err);
    switch (todo) {
    case HOB_AGUI_DO_NOTHING:
    case HOB_AGUI_DO_ASK_AGAIN: return HOB_OK;
    case HOB_AGUI_DO_PROMPT:
        rc = hob_room_begin(v->room, hob_web_caller(v->r), err);
        if (rc < 0) return rc;
        rc = take_steps(v, err);
        if (rc >= 0) rc = say_prompt(v, err);
        hob_room_begun(v->room, rc);
        return rc;
    case HOB_AGUI_DO_UPDATE:
    case HOB_AGUI_DO_ANSWER: return go_on(v, false, err);
    }
    return rc;
}

/* ---- answering ------------------------------------------------------------------------------------------------------------ */

static int warn(hob_agui_stream *st, hob_str words, hob_error *err) {
    hob_buf b;
    hob_buf_init(&b, 16 * 1024);
    hob_buf_addz(&b, "{\"code\":\"input\",\"message\":");
    hob_json_quote(&b, words);
    hob_buf_addz(&b, "}");
    int rc = hob_agui_custom(hob_agui_stream_wire(st), HOB_STR("hob:warning"), hob_buf_str(&b),
                             NULL, err);
    hob_buf_finish(&b);
    return rc;
}

static int snapshot_messages(visit *v, hob_agui_stream *st, hob_error *err) {
    hob_agui_json *messages;
    hob_page_destroy(v->history);
    v->history = NULL;
    int rc = v->s ? hob_session_history(v->s, &v->history, err)
                  : hob_runtime_history(hob_api_runtime(v->r), v->id, &v->history, err);
    if (rc >= 0) rc = hob_agui_messages(v->history, hob_agui_input_dialect(v->in), &messages, err);
    if (rc < 0) return rc;
    bool brief = rc == 1;
    rc = hob_agui_messages_snapshot(hob_agui_stream_wire(st), hob_agui_json_text(messages), err);
    hob_agui_json_destroy(messages);
    if (rc < 0 || !brief) return rc;
    return warn(st,
                HOB_STR("the conversation is too large to be shown whole: older images, long texts "
                        "or messages were left out"),
                err);
}

/* One that is too large for an event is not shown; the thread can be used all the same. */
static int read_state(visit *v, hob_error *err) {
    hob_state *state;
    int rc = v->s ? hob_session_state(v->s, &state, NULL, err)
                  : hob_runtime_session_state(hob_api_runtime(v->r), v->id, &state, err);
    if (rc < 0) return rc;
    rc = hob_agui_state_json(state, &v->state, err);
    hob_state_destroy(state);
    return rc == HOB_ETOOBIG ? HOB_OK : rc;
}

static int snapshot_state(visit *v, hob_agui_stream *st, hob_error *err) {
    int rc = HOB_ETOOBIG;
    if (v->state)
        rc = hob_agui_state_snapshot(hob_agui_stream_wire(st), hob_agui_json_text(v->state), err);
    return rc == HOB_ETOOBIG ? warn(st, HOB_STR("the state is too large to be shown"), err) : rc;
}

/* How things stood before the events that follow: who is at work, what waits for people. */
static int show_standing(visit *v, hob_agui_stream *st, hob_error *err) {
    hob_agui_view *view = hob_agui_stream_view(st);
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && v->begun && i < hob_page_count(v->begun); i++)
        rc = hob_agui_view_began(view, hob_page_row(v->begun, i), err);
    for (size_t i = 0; rc >= 0 && v->asked && i < hob_page_count(v->asked); i++)
        rc = hob_agui_view_asked(view, hob_page_row(v->asked, i), err);
    if (v->was_paused) hob_agui_view_paused(view);
    return rc;
}

static hob_agui_encoding encoding_of(const hob_web_request *r) {
    hob_str accept = hob_web_header(r, "accept");
    return hob_agui_accepts_proto(accept) ? HOB_AGUI_AS_PROTO : HOB_AGUI_AS_SSE;
}

typedef enum follow { FOLLOW_RUN, ASK_PEOPLE, NOTHING_MORE } follow;

/* The stream is made; what remains is to say the rest of its beginning, and how it goes on. */
static void answer(visit *v, hob_agui_stream *st, int rc, follow how, const hob_error *why) {
    hob_agui_session *wire = hob_agui_stream_wire(st);
    hob_error err;
    if (rc >= 0 && how != NOTHING_MORE) {
        rc = show_standing(v, st, &err);
        if (rc >= 0 && how == ASK_PEOPLE) rc = hob_agui_view_park(hob_agui_stream_view(st), &err);
        why = &err;
    }
    if (rc >= 0 && how == NOTHING_MORE) hob_agui_run_finish(wire, HOB_STR_NULL, NULL);
    if (rc < 0)
        hob_agui_run_error_with_code(wire, hob_str_z(why->message), hob_str_z(hob_error_name(rc)),
                                     NULL);
    bool goes_on = rc >= 0 && how == FOLLOW_RUN;
    hob_agui_stream_answer(st, v->r, goes_on ? hob_str_z(v->id) : HOB_STR_NULL, v->last);
}

/* What the client said in vain. */
static int tell_warnings(const visit *v, hob_agui_stream *st, hob_error *err) {
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < hob_agui_input_warning_count(v->in); i++)
        rc = warn(st, hob_agui_input_warning(v->in, i), err);
    for (size_t i = 0; rc >= 0 && i < hob_agui_plan_warning_count(v->plan); i++)
        rc = warn(st, hob_agui_plan_warning(v->plan, i), err);
    for (size_t i = 0; rc >= 0 && v->tools && i < hob_agui_tools_warning_count(v->tools); i++)
        rc = warn(st, hob_agui_tools_warning(v->tools, i), err);
    return rc;
}

/* Of a run at rest that nothing was said to, nothing will come. */
static follow what_follows(const visit *v) {
    hob_agui_todo todo = hob_agui_plan_todo(v->plan);
    bool ignored = todo == HOB_AGUI_DO_ASK_AGAIN || todo == HOB_AGUI_DO_NOTHING;
    if (v->was_paused && todo == HOB_AGUI_DO_PROMPT) ignored = !prompts(v);
    if (v->was_paused && hob_agui_plan_pause(v->plan)) ignored = false;
    if (todo == HOB_AGUI_DO_NOTHING && !v->was_running) return NOTHING_MORE;
    return ignored && v->was_parked ? ASK_PEOPLE : FOLLOW_RUN;
}

/* What was queued behind another's run does not end that. */
static void note_parting(visit *v, hob_agui_stream *st) {
    char run[64];
    bool queued = prompts(v) && v->begins.became != HOB_SEND_PROMPT;
    if (v->ends_with_client && !queued && hob_agui_current_run(v->s, run))
        hob_agui_stream_ends_with_client(st, run);
}

static void answer_run(visit *v, hob_agui_stream *st) {
    hob_error err;
    note_parting(v, st);
    int rc = tell_warnings(v, st, &err);
    int lost = hob_agui_plan_lost(v->plan);
    if (rc >= 0 && lost == 2) /* clients change what they have in its place */
        rc = hob_agui_messages_snapshot(hob_agui_stream_wire(st), HOB_STR("[]"), &err);
    if (rc >= 0 && lost) rc = snapshot_messages(v, st, &err);
    if (rc >= 0) rc = snapshot_state(v, st, &err);
    answer(v, st, rc, what_follows(v), &err);
}

static void leave(visit *v) {
    if (v->key[0]) hob_room_answered(v->room, v->key, v->begins.run[0] ? &v->begins : NULL);
    hob_agui_plan_destroy(v->plan);
    hob_page_destroy(v->history);
    hob_page_destroy(v->asked);
    hob_page_destroy(v->calls);
    hob_page_destroy(v->begun);
    hob_agui_json_destroy(v->state);
    hob_agui_tools_destroy(v->tools);
    if (v->room) hob_hub_leave(v->room);
    hob_agui_input_destroy(v->in);
}

/* ---- routes ------------------------------------------------------------------------------------------------------------- */

void hob_agui_route_run(hob_web_request *r) {
    visit v = {.r = r};
    hob_agui_stream *st = NULL;
    hob_error err;
    const char *agent = hob_agui_agent_of(r);
    if (!agent || !(v.in = read_input(r, hob_web_body(r)))) return;
    if (read_parting(&v) && enter_thread(&v, agent)) {
        int rc = look(&v, &err);
        if (rc >= 0) rc = hob_agui_plan_create(v.in, v.history, v.asked, v.calls, &v.plan, &err);
        if (rc >= 0) rc = claim_run(&v, &err);
        if (rc >= 0) rc = hob_agui_stream_create(hob_api_hub(r), v.in, encoding_of(r), &st, &err);
        if (rc >= 0) rc = offer_tools(&v, &err); /* from here on something happens */
        if (rc >= 0 && prompts(&v)) rc = hob_agui_take_state(v.s, v.in, &err);
        if (rc >= 0) rc = read_state(&v, &err);
        if (rc >= 0) rc = act(&v, &err);
        if (rc >= 0)
            answer_run(&v, st);
        else
            hob_agui_stream_destroy(st);
        if (rc < 0 && !hob_web_answered(r)) hob_web_fail_hob(r, rc, &err);
    }
    leave(&v);
}

/* A session that is not open here, as the store has it. */
static int look_from_outside(visit *v, const hob_page *row, hob_error *err) {
    char last[24] = "0", state[32] = "";
    int64_t n = 0;
    hob_json_field(hob_page_row(row, 0), "last_seq", last, sizeof last);
    hob_json_field(hob_page_row(row, 0), "state", state, sizeof state);
    hob_str_int(hob_str_z(last), &n);
    v->last = (uint64_t)n;
    v->was_parked = !strcmp(state, "parked");
    v->was_running = v->was_parked || !strcmp(state, "running");
    int rc = hob_runtime_pending_confirmations(hob_api_runtime(v->r), v->id, &v->asked, err);
    if (rc >= 0 && v->was_running)
        rc = hob_runtime_under_way(hob_api_runtime(v->r), v->id, &v->begun, err);
    v->was_paused = rc >= 0 && v->was_parked && !hob_page_count(v->asked);
    return rc;
}

/* Looking takes the session from nobody. Only what is unfinished and nobody's is opened: if it was a server's, it goes
 * on then. */
static int look_on(visit *v, hob_error *err) {
    const hob_caller *c = hob_web_caller(v->r);
    hob_hub *h = hob_api_hub(v->r);
    hob_str id = hob_str_z(v->id);
    hob_page *row;
    char owner[8], state[32] = "";
    int rc = hob_hub_find(h, c, id, &row, err);
    if (rc < 0) return rc;
    hob_json_field(hob_page_row(row, 0), "state", state, sizeof state);
    bool left = strcmp(state, "idle") != 0 &&
                hob_json_field(hob_page_row(row, 0), "owner", owner, sizeof owner) <= 0;
    if (!(v->room = hob_hub_peek(h, c, id)) && left && hob_hub_open(h, c, id, &v->room, NULL) < 0)
        v->room = NULL;
    v->s = v->room ? hob_room_session(v->room) : NULL;
    rc = v->s ? look(v, err) : look_from_outside(v, row, err);
    hob_page_destroy(row);
    return rc;
}

/* All that there is, then what comes: of a thread in which nothing happens the run ends at once. */
void hob_agui_route_connect(hob_web_request *r) {
    visit v = {.r = r};
    hob_error err;
    hob_agui_stream *st = NULL;
    if (!hob_agui_agent_of(r) || !(v.in = read_input(r, filled_up(r)))) return;
    hob_str thread = hob_agui_input_thread_id(v.in);
    int rc = hob_agui_find_thread(r, thread, v.id, &err);
    if (rc == HOB_ENOENT)
        hob_fail(&err, rc, 0, "there is no thread %.*s", HOB_FMT(hob_str_first(thread, 200)));
    if (rc >= 0) rc = look_on(&v, &err);
    if (rc >= 0) rc = read_state(&v, &err);
    if (rc >= 0) rc = hob_agui_stream_create(hob_api_hub(r), v.in, encoding_of(r), &st, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        leave(&v);
        return;
    }
    bool parked = v.was_parked && (v.was_paused || hob_page_count(v.asked));
    rc = snapshot_messages(&v, st, &err);
    if (rc >= 0) rc = snapshot_state(&v, st, &err);
    answer(&v, st, rc, parked ? ASK_PEOPLE : v.was_running ? FOLLOW_RUN : NOTHING_MORE, &err);
    leave(&v);
}
