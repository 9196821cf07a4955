/*
 * print_run.c - `hob -p`: one prompt, its follow-ups, the result, exit.
 *
 * With --input-format stream-json there may be many prompts in one process: a result line ends
 * each, and the end of standard input means that no more will come.
 */
#include "cli/ask.h"

#include <unistd.h>

typedef struct print_run {
    hob_cli *cli;
    const hob_ask *ask;
    hob_printer printer;
    hob_session *s;
    hob_lines lines;
    bool commands; /* standard input still has some */
    bool running;  /* events are to be read */
    bool ran;      /* one of them was about a run */
    bool answered; /* the last thing printed is a result */
    int signal;    /* the first one that came */
    int signals;   /* how many */
    int exiting;   /* the exit code so far */
} print_run;

static int failed(print_run *r, const hob_error *err) {
    char id[160] = "";
    int signal = r->signal ? r->signal : hob_signals_take();
    if (r->s) hob_session_id(r->s, id, sizeof id);
    r->answered = true;
    int code =
        hob_printer_failed(&r->printer, signal ? "cancelled" : "failed", err, *id ? id : NULL);
    return signal ? HOB_EXIT_SIGNAL + signal : code;
}

/* ---- the end of a run ------------------------------------------------------------------------ */

static int write_out_file(print_run *r, const hob_result *result, int code) {
    hob_error err;
    bool completed = hob_str_eqz(hob_result_status(result), "completed");
    if (!r->ask->out_file || !completed) return code;
    if (hob_cli_file_write(r->ask->out_file, hob_result_text(result), &err) >= 0) return code;
    hob_tell_error(r->cli, &err);
    return HOB_EXIT_FAILED;
}

/* Nobody is left to answer: the run goes on waiting in the store. */
static bool is_stranded(print_run *r) {
    return r->running && !r->commands && hob_session_is_parked(r->s) == 1;
}

static void finish_run(print_run *r) {
    hob_error err = {.code = HOB_OK};
    hob_result *result = NULL;
    r->running = false;
    if (!r->ran) return; /* there was nothing to resume */
    if (hob_session_wait(r->s, 0, &result, &err) < 0) {
        r->exiting = failed(r, &err);
        return;
    }
    int code = hob_printer_result(&r->printer, result);
    r->exiting = r->signal ? HOB_EXIT_SIGNAL + r->signal : write_out_file(r, result, code);
    r->answered = true;
    hob_result_destroy(result);
}

/* What is not kept cannot wait: there it is denied, as if nobody could have been asked. */
static bool deny_instead(print_run *r) {
    hob_error err;
    if (!r->ask->no_session) return false;
    hob_tell_note(r->cli, "nobody is left to ask, and nothing of the session is kept: denied");
    return hob_session_cancel_confirmations(r->s, &err) > 0;
}

static void finish_stranded(print_run *r) {
    char id[160];
    bool paused = hob_session_is_paused(r->s) == 1;
    if (deny_instead(r)) return;
    hob_session_id(r->s, id, sizeof id);
    finish_run(r);
    if (paused)
        hob_tell_errorf(r->cli, "the run is paused; without a prompt hob -r %s goes on with it",
                        id);
    else
        hob_tell_errorf(r->cli,
                        "the run waits for an approval, and there is nobody here to ask; in a "
                        "terminal: hob -r %s",
                        id);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void on_signal(print_run *r) {
    hob_error err = {.code = HOB_OK};
    int number = hob_signals_take(), code = HOB_OK;
    bool again = r->signal != 0;
    r->commands = false;
    if (!again) r->signal = number;
    r->exiting = HOB_EXIT_SIGNAL + r->signal;
    if (++r->signals > 2) _exit(r->exiting); /* a reader that stands still, say */
    if (!r->running) return;
    code =
        again ? hob_session_abort(r->s, &err) : hob_session_cancel(r->s, HOB_QUEUED_RETURN, &err);
    if (code >= 0) return;
    r->exiting = failed(r, &err);
    r->running = false;
}

static void on_input(print_run *r) {
    hob_str line;
    hob_error err;
    int got = hob_lines_take(&r->lines, &line);
    if (got == HOB_ETOOBIG) {
        hob_fail(&err, HOB_ETOOBIG, 0, "a line over %d MiB was left out", HOB_LINE_MAX >> 20);
        hob_printer_error(&r->printer, HOB_STR(""), HOB_STR(""), &err);
    }
    if (got == 0) r->commands = false;
    if (got == 1 && hob_remote_line(r->s, line, &r->printer) == HOB_REMOTE_PROMPTED) {
        r->running = true;
        r->answered = false;
    }
}

static void on_event(print_run *r, hob_event *e) {
    r->ran = r->ran || hob_event_run(e).n > 0;
    hob_printer_event(&r->printer, e);
}

static void drive(print_run *r) {
    while (r->running || r->commands) {
        hob_event *e = NULL;
        /* Stranded: what has happened so far is still printed, nothing more is waited for. */
        hob_wait w = {r->running ? r->s : NULL, r->commands ? &r->lines : NULL,
                      is_stranded(r) ? 0 : -1};
        int got = hob_pump(r->cli, &w, &e);
        if (got == HOB_PUMP_EVENT) on_event(r, e);
        if (got == HOB_PUMP_END) finish_run(r);
        if (got == HOB_PUMP_TIME) finish_stranded(r);
        if (got == HOB_PUMP_INPUT) on_input(r);
        if (got == HOB_PUMP_SIGNAL) on_signal(r);
        if (got < 0) {
            r->ran = true; /* the result says what is wrong */
            finish_run(r);
        }
        hob_event_unref(e);
    }
}

/* ---- the beginning --------------------------------------------------------------------------- */

static int begin(print_run *r, const hob_prompt *prompt, hob_error *err) {
    int code = HOB_OK;
    if (prompt->given) code = hob_session_prompt_content(r->s, hob_buf_str(&prompt->content), err);
    r->running = code >= 0 && (prompt->given || hob_ask_continues(r->ask));
    r->ran = prompt->given || hob_session_is_running(r->s) == 1;
    return code;
}

static int open_session(print_run *r, const hob_prompt *prompt, hob_error *err) {
    hob_buf line;
    hob_approver who = r->commands ? HOB_APPROVER_HOST : HOB_APPROVER_NONE;
    int code = hob_ask_start(r->cli, r->ask, err);
    if (code >= 0) code = hob_ask_open(r->cli, r->ask, prompt->given, who, &r->s, err);
    if (code < 0) return code;
    hob_buf_init(&line, 65536);
    hob_ask_session_line(r->s, &line);
    hob_printer_session(&r->printer, hob_buf_str(&line));
    hob_buf_finish(&line);
    if (r->cli->verbose) hob_ask_tell_context(r->cli, r->s);
    return begin(r, prompt, err);
}

static int nothing_ran(print_run *r) {
    char id[160];
    hob_error err;
    hob_session_id(r->s, id, sizeof id);
    if (!hob_ask_continues(r->ask)) {
        hob_fail(&err, HOB_EINVAL, 0, "standard input ended without a prompt");
        return failed(r, &err);
    }
    hob_tell_note(r->cli, "nothing to resume: session %s is settled; give a prompt to go on", id);
    return hob_printer_failed(&r->printer, "completed", NULL, id);
}

static int check(print_run *r, const hob_prompt *prompt, hob_error *err) {
    if (!prompt->given && !r->commands && !hob_ask_continues(r->ask))
        return hob_fail(err, HOB_EINVAL, 0,
                        "no prompt: give one as an argument or on standard input (hob --help)");
    return r->ask->out_file ? hob_cli_file_writable(r->ask->out_file, err) : HOB_OK;
}

static int run_prompt(print_run *r, const hob_prompt *prompt) {
    hob_error err = {.code = HOB_OK};
    int code = check(r, prompt, &err);
    if (code >= 0) code = open_session(r, prompt, &err);
    if (code == HOB_EBUSY && r->s && hob_session_is_parked(r->s) == 1) {
        r->running = r->ran = true; /* drive() sees that it is stranded, or lets the host answer */
        code = HOB_OK;
    }
    if (code < 0) return failed(r, &err);
    drive(r);
    if (!r->answered && !r->signal) return nothing_ran(r);
    if (!r->answered) return failed(r, NULL);
    return r->exiting;
}

int hob_ask_print(hob_cli *cli, hob_ask *a, const hob_rest *rest) {
    hob_error err = {.code = HOB_OK};
    hob_prompt prompt;
    print_run r = {.cli = cli, .ask = a};
    r.commands = a->input_format && !strcmp(a->input_format, "stream-json");
    hob_prompt_from from = {rest, &a->images, !r.commands, hob_ask_continues(a)};
    hob_printer_init(&r.printer, cli, a);
    hob_lines_init(&r.lines, STDIN_FILENO);
    int code = hob_prompt_read(cli, &from, &prompt, &err);
    if (code < 0) {
        code = failed(&r, &err);
    } else {
        code = run_prompt(&r, &prompt);
        hob_prompt_finish(&prompt);
    }
    /* What is settled has nothing to lose; what waits for an approval goes on waiting. */
    if (r.s) hob_session_detach(r.s);
    hob_lines_finish(&r.lines);
    hob_printer_finish(&r.printer);
    return code;
}
