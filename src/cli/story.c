/*
 * story.c - an event as a few lines for a person who reads what happened: `hob sessions show` and
 * `hob demo`.
 */
#include "cli/cli.h"

#define RESULT_LINES 6
#define COLUMNS 100
#define STORY_MAX (32u << 20)

static void add_text(const hob_json *content, hob_buf *out) {
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        hob_str type = hob_json_get_str(b, "type");
        bool text = hob_str_eqz(type, "text"), image = hob_str_eqz(type, "image");
        if ((text || image) && out->n && out->p[out->n - 1] != '\n') hob_buf_addc(out, '\n');
        if (text) hob_show_text(out, hob_json_get_str(b, "text"));
        if (image) hob_buf_addz(out, "[picture]");
    }
}

static void tell(hob_cli *cli, hob_tint tint, const char *mark, hob_str text) {
    bool c = cli->out_color;
    hob_str line;
    for (hob_str rest = text; hob_str_split(&rest, '\n', &line);) {
        hob_out_addf(&cli->out, "%s%s%s ", hob_tint_on(c, tint), mark, hob_tint_off(c));
        hob_out_add(&cli->out, line);
        hob_out_add(&cli->out, HOB_STR("\n"));
        mark = " ";
    }
}

/* Whose it is, when several agents work in one run. */
static void add_agent(hob_buf *out, hob_str agent) {
    if (!agent.n) return;
    hob_show_line(out, agent, 64);
    hob_buf_addz(out, ": ");
}

static void tell_words(hob_cli *cli, hob_tint tint, const char *mark, hob_str agent, hob_str text) {
    hob_buf b;
    hob_buf_init(&b, STORY_MAX);
    add_agent(&b, agent);
    hob_buf_add(&b, text);
    tell(cli, tint, mark, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void on_message(hob_cli *cli, const hob_json *d, hob_tint tint, const char *mark,
                       hob_str agent) {
    hob_buf b;
    hob_buf_init(&b, STORY_MAX);
    add_text(hob_json_get(d, "content"), &b);
    hob_str text = hob_str_trim(hob_buf_str(&b));
    if (text.n) tell_words(cli, tint, mark, agent, text);
    if (hob_str_eqz(hob_json_get_str(d, "stop"), "aborted"))
        tell(cli, HOB_TINT_YELLOW, "!", HOB_STR("cut off"));
    hob_buf_finish(&b);
}

static void on_started(hob_cli *cli, const hob_json *d, hob_str agent) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    add_agent(&b, agent);
    hob_show_call(&b, hob_json_get_str(d, "tool"), hob_json_get(d, "args"), COLUMNS);
    if (hob_json_get_bool(d, "again", false)) hob_buf_addz(&b, "  (again)");
    tell(cli, HOB_TINT_BLUE, "*", hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void tell_outcome(hob_cli *cli, hob_str tool, hob_str outcome) {
    hob_buf b;
    hob_buf_init(&b, 1024);
    hob_show_line(&b, tool, 64);
    hob_buf_addf(&b, ": %.*s", HOB_FMT(outcome));
    tell(cli, HOB_TINT_YELLOW, "!", hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void on_finished(hob_cli *cli, const hob_json *d) {
    hob_buf b;
    hob_str outcome = hob_json_get_str(d, "outcome"), line;
    bool ok = hob_str_eqz(outcome, "ok"), color = cli->out_color;
    int lines = 0;
    hob_buf_init(&b, STORY_MAX);
    add_text(hob_json_get(d, "content"), &b);
    if (!ok) tell_outcome(cli, hob_json_get_str(d, "tool"), outcome);
    hob_str rest = hob_str_trim(hob_buf_str(&b));
    while (rest.n && lines++ < RESULT_LINES && hob_str_split(&rest, '\n', &line)) {
        hob_str cut = hob_str_first(line, hob_utf8_prefix(line, COLUMNS));
        hob_out_addf(&cli->out, "  %s| %.*s%s%s\n", hob_tint_on(color, HOB_TINT_DIM), HOB_FMT(cut),
                     cut.n < line.n ? "…" : "", hob_tint_off(color));
    }
    if (rest.n)
        hob_out_addf(&cli->out, "  %s| ...%s\n", hob_tint_on(color, HOB_TINT_DIM),
                     hob_tint_off(color));
    hob_buf_finish(&b);
}

static void on_run_finished(hob_cli *cli, const hob_json *d) {
    hob_buf b;
    hob_str status = hob_json_get_str(d, "status");
    hob_str message = hob_json_get_str(hob_json_get(d, "error"), "message");
    if (hob_str_eqz(status, "completed")) return;
    hob_buf_init(&b, 8192);
    if (!message.n) message = hob_json_get_str(d, "reason");
    hob_buf_addf(&b, "run %.*s%s", HOB_FMT(status), message.n ? ": " : "");
    hob_show_line(&b, message, COLUMNS * 2);
    tell(cli, HOB_TINT_RED, "!", hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void on_note(hob_cli *cli, const char *what, hob_str text) {
    hob_buf b;
    hob_buf_init(&b, 8192);
    hob_buf_addz(&b, what);
    hob_show_line(&b, text, COLUMNS * 2);
    tell(cli, HOB_TINT_YELLOW, "!", hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void on_child(hob_cli *cli, const hob_json *d, const char *what) {
    hob_str status = hob_json_get_str(d, "status");
    hob_out_addf(&cli->out, "  %ssub-agent %.*s %s%s%.*s: session %.*s%s\n",
                 hob_tint_on(cli->out_color, HOB_TINT_DIM), HOB_FMT(hob_json_get_str(d, "agent")),
                 what, status.n ? ", " : "", HOB_FMT(status), HOB_FMT(hob_json_get_str(d, "child")),
                 hob_tint_off(cli->out_color));
}

/* "state: a=1, b, -c": set, temporary, removed. */
static void on_state(hob_cli *cli, const hob_json *d) {
    const hob_json *lists[] = {hob_json_get(d, "delta"), hob_json_get(d, "temp"),
                               hob_json_get(d, "removed")};
    hob_buf b;
    hob_buf_init(&b, STORY_MAX);
    for (size_t i = 0; i < HOB_ARRAY_LEN(lists); i++) {
        for (const hob_json *v = hob_json_first(lists[i]); v; v = hob_json_next(v)) {
            hob_buf_addz(&b, b.n ? ", " : "");
            if (i == 2) hob_buf_addc(&b, '-');
            hob_show_line(&b, i ? hob_json_str(v) : hob_json_key(v), COLUMNS);
            if (i == 0) hob_buf_addc(&b, '=');
            if (i == 0) hob_show_line(&b, hob_json_raw(v), COLUMNS);
        }
    }
    hob_out_addf(&cli->out, "  %sstate: %s%s\n", hob_tint_on(cli->out_color, HOB_TINT_DIM),
                 hob_buf_z(&b), hob_tint_off(cli->out_color));
    hob_buf_finish(&b);
}

void hob_story_event(hob_cli *cli, const hob_json *event) {
    const hob_json *d = hob_json_get(event, "data");
    hob_str type = hob_json_get_str(event, "type"), entry = hob_json_get_str(event, "entry");
    hob_str agent = hob_json_get_str(event, "agent"), nobody = HOB_STR("");
    if (cli->verbose && entry.n)
        hob_out_addf(&cli->out, "%s%.*s%s\n", hob_tint_on(cli->out_color, HOB_TINT_DIM),
                     HOB_FMT(entry), hob_tint_off(cli->out_color));
    if (hob_str_eqz(type, "user_message")) on_message(cli, d, HOB_TINT_BOLD, ">", nobody);
    if (hob_str_eqz(type, "steer_delivered")) on_message(cli, d, HOB_TINT_BOLD, ">", nobody);
    if (hob_str_eqz(type, "assistant_message")) on_message(cli, d, HOB_TINT_GREEN, "-", agent);
    if (hob_str_eqz(type, "tool_started")) on_started(cli, d, agent);
    if (hob_str_eqz(type, "tool_finished")) on_finished(cli, d);
    if (hob_str_eqz(type, "state_changed")) on_state(cli, d);
    if (hob_str_eqz(type, "run_finished")) on_run_finished(cli, d);
    if (hob_str_eqz(type, "approval_requested"))
        on_note(cli, hob_json_get(d, "question") ? "asked: " : "asked for an approval: ",
                hob_json_get_str(d, hob_json_get(d, "question") ? "question" : "tool"));
    if (hob_str_eqz(type, "child_started")) on_child(cli, d, "started");
    if (hob_str_eqz(type, "child_finished")) on_child(cli, d, "ended");
    if (hob_str_eqz(type, "child_reported")) on_message(cli, d, HOB_TINT_BOLD, ">", nobody);
    if (hob_str_eqz(type, "turn_discarded"))
        on_note(cli, "discarded: ", hob_json_get_str(d, "reason"));
    if (hob_str_eqz(type, "retry_scheduled"))
        on_note(cli, "trying again: ", hob_json_get_str(d, "error"));
    if (hob_str_eqz(type, "warning")) on_note(cli, "", hob_json_get_str(d, "text"));
}
