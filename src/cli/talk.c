/*
 * talk.c - the conversation. See talk.h.
 */
#include "cli/talk.h"

#include <signal.h>
#include <unistd.h>

#define BREAK_MS 2000 /* two Ctrl-C within this time belong together */

static void show_prompt(hob_talk *t) {
    hob_text_end_line(&t->text);
    hob_out_addf(&t->cli->out, "%s>%s ", hob_tint_on(t->cli->color, HOB_TINT_BOLD),
                 hob_tint_off(t->cli->color));
}

static void become_idle(hob_talk *t) {
    t->state = t->no_input ? HOB_TALK_LEAVING : HOB_TALK_IDLE;
    t->last_break = 0; /* a Ctrl-C that was meant for the run is none for the prompt */
    if (t->state == HOB_TALK_IDLE) show_prompt(t);
}

/* ---- the end of a run ------------------------------------------------------------------------ */

static void tell_error(hob_talk *t, const hob_result *r) {
    const hob_json *json = NULL;
    hob_arena *a = hob_arena_create(0);
    if (hob_json_parse(a, hob_result_json(r), NULL, &json, NULL) >= 0) {
        hob_str message = hob_json_get_str(hob_json_get(json, "error"), "message");
        hob_tell_errorf(t->cli, "%.*s: %.*s", HOB_FMT(hob_result_status(r)), HOB_FMT(message));
    }
    hob_arena_destroy(a);
}

static void run_ended(hob_talk *t) {
    hob_error err = {.code = HOB_OK};
    hob_result *result = NULL;
    hob_text_end_line(&t->text);
    if (!t->ran) {
        become_idle(t);
        return;
    }
    if (hob_session_wait(t->s, 0, &result, &err) < 0) {
        hob_tell_error(t->cli, &err);
        t->exit_code = hob_exit_of(err.code);
        t->state = HOB_TALK_LEAVING;
        return;
    }
    if (hob_result_code(result) < 0) tell_error(t, result);
    hob_result_destroy(result);
    become_idle(t);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void prompt(hob_talk *t, hob_str text) {
    hob_error err = {.code = HOB_OK};
    if (hob_session_prompt(t->s, text, &err) < 0) {
        hob_tell_error(t->cli, &err);
        become_idle(t);
        return;
    }
    t->state = HOB_TALK_RUNNING;
    t->ran = true;
}

void hob_talk_steer(hob_talk *t, hob_str text) {
    hob_error err = {.code = HOB_OK};
    int code = hob_session_steer(t->s, text, &err);
    if (code == HOB_EIDLE)
        prompt(t, text); /* the run has just ended */
    else if (code < 0)
        hob_tell_error(t->cli, &err);
    else
        hob_tell_note(t->cli, "steering: delivered after the running step");
}

static void on_line(hob_talk *t, hob_str line) {
    line = hob_str_trim(line);
    t->text.open_line = false; /* the terminal has shown the newline that was typed */
    if (t->state == HOB_TALK_ASKING) {
        hob_talk_answer(t, line);
        return;
    }
    if (line.n && hob_talk_command(t, line)) {
        if (t->state == HOB_TALK_IDLE) show_prompt(t);
        return;
    }
    if (!line.n && t->state == HOB_TALK_IDLE) show_prompt(t);
    if (!line.n) return;
    if (t->state == HOB_TALK_RUNNING)
        hob_talk_steer(t, line);
    else
        prompt(t, line);
}

static void on_input(hob_talk *t) {
    hob_str line;
    int got = hob_lines_take(&t->lines, &line);
    if (got == 1) on_line(t, line);
    if (got == HOB_ETOOBIG) hob_tell_errorf(t->cli, "that line is too long and was left out");
    if (got != 0) return;
    t->no_input = true;
    if (t->state != HOB_TALK_RUNNING) t->state = HOB_TALK_LEAVING;
    hob_out_add(&t->cli->out, HOB_STR("\n"));
}

/* ---- signals --------------------------------------------------------------------------------- */

static bool again_soon(hob_talk *t) {
    hob_clock *c = hob_clock_real();
    int64_t now = c->mono_ms(c);
    bool soon = t->last_break && now - t->last_break <= BREAK_MS;
    t->last_break = now;
    return soon;
}

static void stop_run(hob_talk *t, bool hard) {
    hob_error err = {.code = HOB_OK};
    int code =
        hard ? hob_session_abort(t->s, &err) : hob_session_cancel(t->s, HOB_QUEUED_RETURN, &err);
    if (code < 0)
        hob_tell_error(t->cli, &err);
    else
        hob_tell_note(t->cli, hard ? "aborting" : "cancelling; Ctrl-C again aborts");
    t->state = HOB_TALK_RUNNING;
}

static void on_signal(hob_talk *t) {
    int number = hob_signals_take();
    bool soon = again_soon(t);
    hob_out_add(&t->cli->out, HOB_STR("\n"));
    t->text.open_line = false;
    if (number != SIGINT || (t->state == HOB_TALK_IDLE && soon)) {
        t->exit_code = HOB_EXIT_SIGNAL + number;
        t->no_input = true; /* the run is cancelled and recorded first */
        if (t->state == HOB_TALK_IDLE)
            t->state = HOB_TALK_LEAVING;
        else
            stop_run(t, soon);
    } else if (t->state == HOB_TALK_IDLE) {
        hob_tell_note(t->cli, "Ctrl-C again or Ctrl-D leaves");
        show_prompt(t);
    } else {
        stop_run(t, soon);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void on_event(hob_talk *t, const hob_event *e) {
    t->ran = t->ran || hob_event_run(e).n > 0;
    hob_text_event(&t->text, e);
    hob_talk_remind(t);
}

/* A question is asked when everything that led to it has been shown. */
static void on_waiting(hob_talk *t) {
    if (t->no_input)
        t->state = HOB_TALK_LEAVING; /* nobody is there to answer */
    else
        hob_talk_ask(t);
}

/* The run stays parked until the last answer is durable. Then there is nothing to ask, and looking again without
 * driving the loop would never see it go on: something has to happen first. */
static bool wants_to_ask(hob_talk *t, int last) {
    return t->state == HOB_TALK_RUNNING && last != HOB_PUMP_TIME &&
           hob_session_is_parked(t->s) == 1;
}

static void converse(hob_talk *t) {
    int got = HOB_PUMP_EVENT;
    while (t->state != HOB_TALK_LEAVING) {
        hob_event *e = NULL;
        hob_wait w = {t->state == HOB_TALK_IDLE ? NULL : t->s, t->no_input ? NULL : &t->lines,
                      wants_to_ask(t, got) ? 0 : -1};
        got = hob_pump(t->cli, &w, &e);
        if (got == HOB_PUMP_EVENT) on_event(t, e);
        if (got == HOB_PUMP_TIME) on_waiting(t);
        if (got == HOB_PUMP_END || got < 0) run_ended(t);
        if (got == HOB_PUMP_INPUT) on_input(t);
        if (got == HOB_PUMP_SIGNAL) on_signal(t);
        hob_event_unref(e);
    }
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* What is remembered, or said now; the configuration is read again with it. */
static void settle_trust(hob_talk *t, hob_ask *a) {
    if (a->trust) return;
    a->trust = hob_cli_trusts(t->cli) || hob_cli_ask_trust(t->cli);
    if (a->trust) hob_cli_forget(t->cli); /* `hob runs` has looked for the run with it */
}

static int open_session(hob_talk *t, hob_ask *a, bool prompted, hob_error *err) {
    settle_trust(t, a);
    int code = hob_ask_start(t->cli, a, err);
    if (code >= 0) code = hob_ask_open(t->cli, a, prompted, HOB_APPROVER_HOST, &t->s, err);
    if (code != HOB_ENOENT || !hob_ask_continues(a) || a->resume.value || a->fork) return code;
    hob_tell_note(t->cli, "there is no session of this folder yet; this is a new one");
    a->cont = a->resume.given = false;
    return hob_ask_open(t->cli, a, prompted, HOB_APPROVER_HOST, &t->s, err);
}

static void greet(hob_talk *t) {
    char model[512], cwd[4096], id[160];
    hob_session_id(t->s, id, sizeof id);
    hob_session_model(t->s, model, sizeof model);
    hob_session_cwd(t->s, cwd, sizeof cwd);
    hob_tell_note(t->cli, "%s in %s; /help lists the commands, Ctrl-D leaves", model, cwd);
    if (hob_ask_continues(t->ask)) hob_tell_note(t->cli, "session %s goes on", id);
    hob_ask_tell_context(t->cli, t->s);
}

static void begin(hob_talk *t, const hob_prompt *first) {
    hob_error err = {.code = HOB_OK};
    greet(t);
    if (hob_session_is_paused(t->s) == 1 && hob_session_resume(t->s, &err) < 0)
        hob_tell_error(t->cli, &err);
    if (first->given && hob_session_prompt_content(t->s, hob_buf_str(&first->content), &err) < 0)
        hob_tell_error(t->cli, &err);
    t->ran = hob_session_is_running(t->s) == 1;
    t->state = HOB_TALK_RUNNING; /* what was prompted or resumed is read first; then it is idle */
}

static void part(hob_talk *t) {
    char id[160];
    hob_session_id(t->s, id, sizeof id);
    if (hob_session_is_parked(t->s) == 1)
        hob_tell_note(t->cli, "the question stays open; hob -r %s asks it again", id);
    else if (!t->ask->no_session)
        hob_tell_note(t->cli, "hob -r %s goes on from here", id);
    hob_session_detach(t->s);
}

int hob_ask_talk(hob_cli *cli, hob_ask *a, const hob_rest *rest) {
    hob_error err = {.code = HOB_OK};
    hob_prompt first;
    hob_talk t = {.cli = cli, .ask = a};
    hob_prompt_from from = {rest, &a->images, false, true};
    int code = hob_prompt_read(cli, &from, &first, &err);
    if (code < 0) {
        hob_tell_error(cli, &err);
        return hob_exit_of(code);
    }
    hob_text_init(&t.text, cli, true);
    hob_lines_init(&t.lines, STDIN_FILENO);
    code = open_session(&t, a, first.given, &err);
    if (code < 0) {
        hob_tell_error(cli, &err);
        t.exit_code = hob_exit_of(code);
    } else {
        begin(&t, &first);
        converse(&t);
        part(&t);
    }
    hob_form_destroy(t.form);
    hob_prompt_finish(&first);
    hob_lines_finish(&t.lines);
    hob_text_finish(&t.text);
    return t.exit_code;
}
