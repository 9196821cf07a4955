/*
 * text_team.c - the same when several agents work in one run.
 *
 * Several may speak at once. On a terminal the text of one of them appears as it streams, that of the others when it is
 * whole; a line says who speaks. Into a pipe or file goes the run's answer, which is the last one: what others answered
 * before it is a remark.
 */
#include "cli/ask.h"

#include <stdio.h>

#define HELD_MAX (32u << 20)
#define SUMMARY_COLUMNS 100

static void name(hob_text *t, hob_str agent) {
    if (hob_str_eqz(agent, t->named) && t->open_line) return;
    hob_text_remark(t, HOB_TINT_DIM, ">", agent);
    snprintf(t->named, sizeof t->named, "%.*s", HOB_FMT(agent));
}

/* ---- live ------------------------------------------------------------------------------------ */

static void on_delta(hob_text *t, hob_str agent, const hob_json *d) {
    hob_str message = hob_json_get_str(d, "message"), text = hob_json_get_str(d, "text");
    if (!t->live || !text.n) return;
    if (!*t->message) {
        snprintf(t->message, sizeof t->message, "%.*s", HOB_FMT(message));
        hob_buf_reset(&t->held);
    }
    if (!hob_str_eqz(message, t->message)) return; /* another one speaks: when it is whole */
    name(t, agent);
    hob_buf_add(&t->held, text);
    hob_text_print(t, text);
}

static void on_live_message(hob_text *t, hob_str agent, hob_str message, hob_str text) {
    hob_str shown = hob_buf_str(&t->held);
    bool streamed = *t->message && hob_str_eqz(message, t->message);
    if (streamed) {
        text = hob_str_starts(text, shown) ? hob_str_skip(text, shown.n) : HOB_STR("");
        t->message[0] = 0;
        hob_buf_reset(&t->held);
    }
    if (text.n) name(t, agent);
    hob_text_print(t, text);
    hob_text_end_line(t);
}

static void on_discarded(hob_text *t, const hob_json *d) {
    if (!*t->message || !hob_str_eqz(hob_json_get_str(d, "message"), t->message)) return;
    t->message[0] = 0;
    hob_buf_reset(&t->held);
    hob_text_end_line(t);
    hob_tell_note(t->cli, "the text above was cut off and does not count: %.*s",
                  HOB_FMT(hob_json_get_str(d, "reason")));
}

/* ---- into a pipe ------------------------------------------------------------------------------- */

static void on_held_message(hob_text *t, hob_str agent, hob_str text, bool calls) {
    if (!text.n) return;
    if (calls)
        hob_text_tell(t, HOB_TINT_DIM, " ", agent, text);
    else
        hob_text_hold(t, agent, text);
}

void hob_text_team_finished(hob_text *t) {
    t->message[0] = t->named[0] = 0;
}

/* ---- both ---------------------------------------------------------------------------------------- */

static void on_message(hob_text *t, hob_str agent, const hob_json *d) {
    hob_buf all;
    bool calls = false;
    hob_buf_init(&all, HELD_MAX);
    hob_text_join(hob_json_get(d, "content"), &all, &calls);
    if (t->live)
        on_live_message(t, agent, hob_json_get_str(d, "message"), hob_buf_str(&all));
    else
        on_held_message(t, agent, hob_buf_str(&all), calls);
    hob_buf_finish(&all);
}

static void on_tool_started(hob_text *t, hob_str agent, const hob_json *d) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_show_call(&b, hob_json_get_str(d, "tool"), hob_json_get(d, "args"), SUMMARY_COLUMNS);
    hob_text_tell(t, HOB_TINT_BLUE, "*", agent, hob_buf_str(&b));
    hob_buf_finish(&b);
}

bool hob_text_team(hob_text *t, hob_str agent, hob_event_type type, const hob_json *d) {
    switch ((int)type) {
    case HOB_EVENT_MODEL_CALL_STARTED: return true;
    case HOB_EVENT_TEXT_DELTA: on_delta(t, agent, d); return true;
    case HOB_EVENT_ASSISTANT_MESSAGE: on_message(t, agent, d); return true;
    case HOB_EVENT_TURN_DISCARDED: on_discarded(t, d); return true;
    case HOB_EVENT_TOOL_STARTED: on_tool_started(t, agent, d); return true;
    }
    return false;
}
