/*
 * text.c - events as text for people: the answer on standard output, everything else on standard
 * error.
 *
 * On a terminal text appears as it streams. Into a pipe or file goes only what is the answer: a
 * message is held when it is whole and asks for no tools, and written when the run ends: until then
 * the end of a task in the background, or another agent, may bring a later one. What the model says
 * before that is a remark, and so is a held answer behind which something else is told: what is told
 * stands in the order in which it happened. So `hob -p … | …` never sees the same text twice after a retry. When a
 * run ends badly, the part of an answer that had arrived is written all the same.
 */
#include "cli/ask.h"

#include <stdio.h>

#define HELD_MAX (32u << 20)
#define SUMMARY_COLUMNS 100

void hob_text_init(hob_text *t, hob_cli *cli, bool live) {
    *t = (hob_text){.cli = cli, .live = live};
    hob_buf_init(&t->held, HELD_MAX);
    hob_buf_init(&t->answer, HELD_MAX);
}

void hob_text_finish(hob_text *t) {
    hob_buf_finish(&t->held);
    hob_buf_finish(&t->answer);
}

void hob_text_end_line(hob_text *t) {
    if (t->open_line) hob_out_add(&t->cli->out, HOB_STR("\n"));
    t->open_line = false;
}

void hob_text_print(hob_text *t, hob_str s) {
    if (!s.n) return;
    hob_show_out(&t->cli->out, s);
    t->open_line = s.p[s.n - 1] != '\n';
    t->printed = true;
}

static void tell_held(hob_text *t) {
    hob_str agent = hob_str_z(t->answerer);
    if (!t->answer.n || t->told) return;
    t->told = true;
    hob_text_tell(t, HOB_TINT_DIM, agent.n ? ">" : " ", agent, hob_buf_str(&t->answer));
}

void hob_text_remark(hob_text *t, hob_tint tint, const char *mark, hob_str text) {
    tell_held(t);
    hob_text_end_line(t);
    hob_tell_line(t->cli, tint, mark, text);
}

void hob_text_tell(hob_text *t, hob_tint tint, const char *mark, hob_str agent, hob_str text) {
    hob_buf b;
    hob_buf_init(&b, HELD_MAX);
    if (agent.n) hob_buf_addf(&b, "%.*s: ", HOB_FMT(agent));
    hob_buf_add(&b, text);
    hob_text_remark(t, tint, mark, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* It was not the last. */
static void give_way(hob_text *t) {
    tell_held(t);
    hob_buf_reset(&t->answer);
    t->told = false;
}

void hob_text_hold(hob_text *t, hob_str agent, hob_str text) {
    give_way(t);
    hob_buf_add(&t->answer, text);
    snprintf(t->answerer, sizeof t->answerer, "%.*s", HOB_FMT(agent));
}

void hob_text_give(hob_text *t) {
    hob_text_print(t, hob_buf_str(&t->answer));
    hob_buf_reset(&t->answer);
    t->told = false;
    hob_text_end_line(t);
}

/* ---- the model's text ------------------------------------------------------------------------ */

static void on_delta(hob_text *t, const hob_json *d) {
    hob_str text = hob_json_get_str(d, "text");
    hob_buf_add(&t->held, text);
    if (t->live) hob_text_print(t, text);
}

void hob_text_join(const hob_json *content, hob_buf *out, bool *calls) {
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        hob_str type = hob_json_get_str(b, "type");
        if (hob_str_eqz(type, "text")) hob_buf_add(out, hob_json_get_str(b, "text"));
        if (hob_str_eqz(type, "tool_call")) *calls = true;
    }
}

static void on_message(hob_text *t, const hob_json *d) {
    hob_buf all;
    bool calls = false;
    hob_buf_init(&all, HELD_MAX);
    hob_text_join(hob_json_get(d, "content"), &all, &calls);
    hob_str text = hob_buf_str(&all), shown = hob_buf_str(&t->held);
    if (t->live)
        hob_text_print(t, hob_str_starts(text, shown) ? hob_str_skip(text, shown.n) : HOB_STR(""));
    else
        hob_text_hold(t, HOB_STR(""), text);
    if (calls) give_way(t);
    hob_text_end_line(t);
    hob_buf_reset(&t->held);
    hob_buf_finish(&all);
}

static void on_discarded(hob_text *t, const hob_json *d) {
    if (!t->live || !t->held.n)
        return; /* the next try starts anew; if there is none, the rest is printed */
    hob_text_end_line(t);
    hob_tell_note(t->cli, "the text above was cut off and does not count: %.*s",
                  HOB_FMT(hob_json_get_str(d, "reason")));
}

static void on_finished(hob_text *t) {
    hob_text_team_finished(t);
    if (!t->live && t->held.n) /* an answer was cut off */
        hob_text_hold(t, HOB_STR(""), hob_buf_str(&t->held));
    hob_text_give(t);
    hob_buf_reset(&t->held);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void on_tool_started(hob_text *t, const hob_json *d) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_show_call(&b, hob_json_get_str(d, "tool"), hob_json_get(d, "args"), SUMMARY_COLUMNS);
    hob_text_remark(t, HOB_TINT_BLUE, "*", hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* What hob itself says of a call begins with its outcome, for the model; here that is said already. */
static hob_str without_outcome(hob_str text, hob_str outcome) {
    bool said = hob_str_starts(text, outcome) &&
                hob_str_starts(hob_str_skip(text, outcome.n), HOB_STR(": "));
    return said ? hob_str_skip(text, outcome.n + 2) : text;
}

static void on_tool_finished(hob_text *t, const hob_json *d) {
    hob_buf b, text;
    bool calls = false;
    hob_str outcome = hob_json_get_str(d, "outcome");
    bool ok = hob_str_eqz(outcome, "ok");
    if (ok && !t->cli->verbose) return;
    hob_buf_init(&b, 8192);
    hob_buf_init(&text, HELD_MAX);
    hob_text_join(hob_json_get(d, "content"), &text, &calls);
    hob_buf_addf(&b, "%.*s: %.*s: ", HOB_FMT(hob_json_get_str(d, "tool")), HOB_FMT(outcome));
    hob_show_line(&b, without_outcome(hob_buf_str(&text), outcome), SUMMARY_COLUMNS);
    hob_text_remark(t, ok ? HOB_TINT_GREEN : HOB_TINT_YELLOW, ok ? "+" : "!", hob_buf_str(&b));
    hob_buf_finish(&b);
    hob_buf_finish(&text);
}

/* The call that started it was told of already, unless it works in the background. */
static void on_child(hob_text *t, const hob_json *d, bool ended) {
    hob_str status = hob_json_get_str(d, "status");
    bool ok = !ended || hob_str_eqz(status, "completed");
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_buf_addf(&b, "%.*s (%.*s) %.*s: ", HOB_FMT(hob_json_get_str(d, "agent")),
                 HOB_FMT(hob_json_get_str(d, "child")),
                 HOB_FMT(ended ? status : HOB_STR("started")));
    hob_show_line(&b, hob_json_get_str(d, ended ? "text" : "prompt"), SUMMARY_COLUMNS);
    hob_text_remark(t, ok ? HOB_TINT_BLUE : HOB_TINT_YELLOW, ok ? "*" : "!", hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* ---- what else happens ----------------------------------------------------------------------- */

static void on_retry(hob_text *t, const hob_json *d) {
    tell_held(t);
    hob_text_end_line(t);
    hob_tell_note(t->cli, "retrying in %.1f s (%lld/%lld): %.*s",
                  (double)hob_json_get_int(d, "delay_ms", 0) / 1000.0,
                  (long long)hob_json_get_int(d, "attempt", 0),
                  (long long)hob_json_get_int(d, "attempts", 0),
                  HOB_FMT(hob_json_get_str(d, "error")));
}

static void on_returned(hob_text *t, const hob_json *d) {
    const hob_json *items = hob_json_get(d, "items");
    for (const hob_json *i = hob_json_first(items); i; i = hob_json_next(i)) {
        hob_buf text;
        bool calls = false;
        hob_buf_init(&text, HELD_MAX);
        hob_text_join(hob_json_get(i, "content"), &text, &calls);
        hob_text_end_line(t);
        hob_tell_note(t->cli, "not delivered: %.*s",
                      HOB_FMT(hob_str_first(hob_buf_str(&text), 2000)));
        hob_buf_finish(&text);
    }
}

static void on_started(hob_text *t, const hob_json *d) {
    hob_str origin = hob_json_get_str(d, "origin");
    t->printed = false;
    if (hob_str_eqz(origin, "resume"))
        hob_tell_note(t->cli, "continuing run %.*s", HOB_FMT(hob_json_get_str(d, "continues")));
}

static void on_note(hob_text *t, const hob_json *d) {
    hob_text_end_line(t);
    hob_tell_note(t->cli, "%.*s", HOB_FMT(hob_str_first(hob_json_get_str(d, "text"), 3000)));
}

static void handle(hob_text *t, hob_event_type type, const hob_json *d) {
    switch ((int)type) { /* what is not named here says nothing to a person */
    case HOB_EVENT_RUN_STARTED: on_started(t, d); break;
    case HOB_EVENT_MODEL_CALL_STARTED: hob_buf_reset(&t->held); break;
    case HOB_EVENT_TEXT_DELTA: on_delta(t, d); break;
    case HOB_EVENT_ASSISTANT_MESSAGE: on_message(t, d); break;
    case HOB_EVENT_TURN_DISCARDED: on_discarded(t, d); break;
    case HOB_EVENT_TOOL_STARTED: on_tool_started(t, d); break;
    case HOB_EVENT_TOOL_FINISHED: on_tool_finished(t, d); break;
    case HOB_EVENT_CHILD_STARTED: on_child(t, d, false); break;
    case HOB_EVENT_CHILD_FINISHED: on_child(t, d, true); break;
    case HOB_EVENT_RETRY_SCHEDULED: on_retry(t, d); break;
    case HOB_EVENT_QUEUE_RETURNED: on_returned(t, d); break;
    case HOB_EVENT_WARNING: on_note(t, d); break;
    case HOB_EVENT_RUN_FINISHED: on_finished(t); break;
    default: break;
    }
}

void hob_text_event(hob_text *t, const hob_event *e) {
    const hob_json *data = NULL;
    hob_arena *a = hob_arena_create(0);
    hob_str agent = hob_event_agent(e);
    hob_event_type type = hob_event_type_of(e);
    bool told = hob_json_parse(a, hob_event_data(e), NULL, &data, NULL) < 0 ||
                (agent.n && hob_text_team(t, agent, type, data));
    if (!told) handle(t, type, data);
    hob_arena_destroy(a);
}
