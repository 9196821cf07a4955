/*
 * print.c - the three output formats.
 *
 *   text         the answer (text.c)
 *   json         exactly the result object
 *   stream-json  a session line, every event, the result: always last, whatever happened
 *
 * Errors are said on standard error in every format.
 */
#include "cli/ask.h"

#define RESULT_MAX (64u << 20)

static hob_format format_of(const hob_ask *a) {
    if (a->output_format && !strcmp(a->output_format, "json")) return HOB_FORMAT_JSON;
    bool stream = a->output_format && !strcmp(a->output_format, "stream-json");
    bool commands = a->input_format && !strcmp(a->input_format, "stream-json");
    return stream || commands ? HOB_FORMAT_STREAM : HOB_FORMAT_TEXT;
}

void hob_printer_init(hob_printer *p, hob_cli *cli, const hob_ask *a) {
    *p = (hob_printer){.cli = cli, .format = format_of(a)};
    hob_text_init(&p->text, cli, cli->out.tty);
}

void hob_printer_finish(hob_printer *p) {
    hob_text_finish(&p->text);
}

static void print_line(hob_printer *p, hob_str line) {
    hob_show_out(&p->cli->out, line);
    hob_out_add(&p->cli->out, HOB_STR("\n"));
}

void hob_printer_session(hob_printer *p, hob_str line) {
    if (p->format == HOB_FORMAT_STREAM) print_line(p, line);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void note_nobody(hob_printer *p, const hob_event *e) {
    const hob_json *d = NULL;
    hob_event_type t = hob_event_type_of(e);
    if (t != HOB_EVENT_TOOL_DECIDED && t != HOB_EVENT_CHILD_FINISHED) return;
    hob_arena *a = hob_arena_create(0);
    bool yes = hob_json_parse(a, hob_event_data(e), NULL, &d, NULL) >= 0 &&
               hob_json_get_bool(d, "nobody_to_ask", false);
    bool question = hob_str_eqz(hob_json_get_str(d, "by"), "question");
    p->refused = p->refused || (yes && !question);
    p->unanswered = p->unanswered || (yes && question);
    hob_arena_destroy(a);
}

void hob_printer_event(hob_printer *p, hob_event *e) {
    note_nobody(p, e);
    switch (p->format) {
    case HOB_FORMAT_TEXT: hob_text_event(&p->text, e); break;
    case HOB_FORMAT_JSON: break;
    case HOB_FORMAT_STREAM: print_line(p, hob_event_json(e)); break;
    }
}

void hob_printer_error(hob_printer *p, hob_str command, hob_str id, const hob_error *err) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 65536);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("error"));
    if (id.n) hob_jsonw_kraw(&w, "id", id);
    hob_jsonw_kstr_opt(&w, "command", command);
    hob_jsonw_kstr(&w, "code", hob_str_z(hob_error_name(err->code)));
    hob_jsonw_kstr(&w, "message", hob_str_z(err->message));
    hob_jsonw_object_end(&w);
    print_line(p, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void tell_result_error(hob_printer *p, const hob_json *result) {
    const hob_json *error = hob_json_get(result, "error");
    hob_str message = hob_json_get_str(error, "message");
    if (message.n) hob_tell_errorf(p->cli, "%.*s", HOB_FMT(message));
}

static void tell_ending(hob_printer *p, const hob_result *r) {
    hob_str status = hob_result_status(r);
    const hob_json *json = NULL;
    hob_arena *a = hob_arena_create(0);
    if (hob_json_parse(a, hob_result_json(r), NULL, &json, NULL) < 0) json = NULL;
    tell_result_error(p, json);
    if (hob_str_eqz(status, "cancelled")) hob_tell_note(p->cli, "cancelled");
    hob_arena_destroy(a);
}

/* The run itself does not know that it went on without an answer; whoever reads only its result should. */
static void print_result(hob_printer *p, hob_str json) {
    hob_buf b;
    if (!p->refused && !p->unanswered) {
        print_line(p, json);
        return;
    }
    hob_buf_init(&b, RESULT_MAX);
    hob_buf_add(&b, hob_str_first(json, json.n - 1));
    hob_buf_addz(&b, ",\"nobody_to_ask\":true}");
    print_line(p, hob_buf_str(&b));
    hob_buf_finish(&b);
}

int hob_printer_result(hob_printer *p, const hob_result *r) {
    hob_str text = hob_result_text(r);
    hob_text_give(&p->text); /* a run that waits has not ended */
    if (p->format == HOB_FORMAT_TEXT && !p->text.live && !p->text.printed && text.n) {
        hob_out_add(&p->cli->out, text); /* the limit came before an answer without calls did */
        if (text.p[text.n - 1] != '\n') hob_out_add(&p->cli->out, HOB_STR("\n"));
    }
    if (p->format == HOB_FORMAT_TEXT) hob_text_end_line(&p->text);
    if (p->format != HOB_FORMAT_TEXT) print_result(p, hob_result_json(r));
    hob_out_write(&p->cli->out);
    tell_ending(p, r);
    if (p->refused)
        hob_tell_note(p->cli, "a call was refused because nobody could be asked; --allow RULE or "
                              "--permission-mode lets such calls run");
    if (p->unanswered)
        hob_tell_note(p->cli,
                      "the model asked a question and nobody was there to answer; without -p "
                      "you are asked");
    int code = hob_exit_of_result(hob_result_status(r), hob_result_code(r));
    bool nobody = p->refused || p->unanswered;
    return code == HOB_EXIT_OK && nobody ? HOB_EXIT_REFUSED : code;
}

static void write_usage(hob_jsonw *w) {
    static const char *const names[] = {"input_tokens", "output_tokens", "cache_read_tokens",
                                        "cache_write_tokens", "reasoning_tokens"};
    hob_jsonw_key(w, "usage");
    hob_jsonw_object(w);
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++) hob_jsonw_kint(w, names[i], 0);
    hob_jsonw_object_end(w);
}

static void write_error(hob_jsonw *w, const hob_error *err) {
    hob_jsonw_key(w, "error");
    if (!err) {
        hob_jsonw_null(w);
        return;
    }
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "code", hob_str_z(hob_error_name(err->code)));
    hob_jsonw_kstr(w, "message", hob_str_z(err->message));
    hob_jsonw_kbool(w, "retryable", hob_error_retryable(err->code) != 0);
    hob_jsonw_object_end(w);
}

/* The result of a run that never was: the same members as any other. */
static void write_result(hob_buf *out, const char *status, const hob_error *err,
                         const char *session) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("result"));
    hob_jsonw_kstr(&w, "status", hob_str_z(status));
    hob_jsonw_kstr(&w, "text", HOB_STR(""));
    hob_jsonw_key(&w, "session_id");
    if (session)
        hob_jsonw_str(&w, hob_str_z(session));
    else
        hob_jsonw_null(&w);
    hob_jsonw_key(&w, "run_id");
    hob_jsonw_null(&w);
    write_usage(&w);
    hob_jsonw_key(&w, "cost_usd");
    hob_jsonw_null(&w);
    hob_jsonw_kint(&w, "turns", 0);
    hob_jsonw_kint(&w, "tool_calls", 0);
    hob_jsonw_kint(&w, "duration_ms", 0);
    write_error(&w, err);
    hob_jsonw_object_end(&w);
}

int hob_printer_failed(hob_printer *p, const char *status, const hob_error *err,
                       const char *session) {
    hob_buf b;
    hob_text_give(&p->text);
    if (err) hob_tell_error(p->cli, err);
    if (p->format != HOB_FORMAT_TEXT) {
        hob_buf_init(&b, RESULT_MAX);
        write_result(&b, status, err, session);
        print_line(p, hob_buf_str(&b));
        hob_buf_finish(&b);
    }
    return err ? hob_exit_of(err->code) : HOB_EXIT_OK;
}
