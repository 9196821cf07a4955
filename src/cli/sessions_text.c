/*
 * sessions_text.c - a conversation as Markdown, for people: what was said, and which tools were used.
 */
#include "cli/sessions.h"

enum { RESULT_BYTES = 2000, TEXT_MAX = 64 << 20 };

/* A fence that the text cannot end: longer than any run of backticks in it. */
static void add_fenced(hob_buf *b, hob_str text) {
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        longest = HOB_MAX(longest, run);
    }
    for (size_t i = 0; i <= longest; i++) hob_buf_addc(b, '`');
    hob_buf_addc(b, '\n');
    hob_show_text(b, text);
    if (text.n && text.p[text.n - 1] != '\n') hob_buf_addc(b, '\n');
    for (size_t i = 0; i <= longest; i++) hob_buf_addc(b, '`');
    hob_buf_addz(b, "\n\n");
}

static void add_text(hob_buf *b, const hob_json *content) {
    for (const hob_json *v = hob_json_first(content); v; v = hob_json_next(v)) {
        hob_str type = hob_json_get_str(v, "type"), text = hob_json_get_str(v, "text");
        if (hob_str_eqz(type, "text") && text.n) hob_show_text(b, text);
        if (hob_str_eqz(type, "image")) hob_buf_addz(b, "*(a picture)*");
        if ((hob_str_eqz(type, "text") && text.n) || hob_str_eqz(type, "image"))
            hob_buf_addz(b, "\n\n");
    }
}

/* Of several agents, which one. */
static void add_agent(hob_buf *b, const char *before, hob_str agent, const char *after) {
    if (!agent.n) return;
    hob_buf_addz(b, before);
    hob_show_line(b, agent, 64);
    hob_buf_addz(b, after);
}

static void add_message(hob_buf *b, const char *who, hob_str agent, const hob_json *d) {
    hob_buf text;
    hob_buf_init(&text, TEXT_MAX);
    add_text(&text, hob_json_get(d, "content"));
    if (text.n) {
        hob_buf_addf(b, "## %s", who);
        add_agent(b, " (", agent, ")");
        hob_buf_addz(b, "\n\n");
    }
    hob_buf_add(b, hob_buf_str(&text));
    hob_buf_finish(&text);
}

static void add_call(hob_buf *b, hob_str agent, const hob_json *d) {
    hob_buf_addz(b, "**Tool** `");
    hob_show_line(b, hob_json_get_str(d, "tool"), 64);
    hob_buf_addz(b, "`");
    add_agent(b, " (", agent, ")");
    hob_buf_addz(b, "\n\n");
    add_fenced(b, hob_json_raw(hob_json_get(d, "args")));
}

static void add_result(hob_buf *b, hob_str agent, const hob_json *d) {
    hob_buf text;
    hob_str outcome = hob_json_get_str(d, "outcome");
    hob_buf_init(&text, TEXT_MAX);
    add_text(&text, hob_json_get(d, "content"));
    hob_str all = hob_str_trim(hob_buf_str(&text));
    hob_str shown = hob_str_first(all, hob_utf8_prefix(all, RESULT_BYTES));
    hob_buf_addf(b, "**Result** (%.*s%s", HOB_FMT(outcome),
                 shown.n < all.n ? ", its beginning" : "");
    add_agent(b, ", ", agent, "");
    hob_buf_addz(b, ")\n\n");
    if (shown.n) add_fenced(b, shown);
    hob_buf_finish(&text);
}

static void add_end(hob_buf *b, const hob_json *d) {
    hob_str status = hob_json_get_str(d, "status"), reason = hob_json_get_str(d, "reason");
    if (hob_str_eqz(status, "completed")) return;
    hob_buf_addf(b, "*The run ended: %.*s%s", HOB_FMT(status), reason.n ? ", " : "");
    hob_show_line(b, reason, 200);
    hob_buf_addz(b, "*\n\n");
}

static void add_event(hob_buf *b, const hob_json *e) {
    const hob_json *d = hob_json_get(e, "data");
    hob_str type = hob_json_get_str(e, "type"), agent = hob_json_get_str(e, "agent");
    if (hob_str_eqz(type, "user_message") || hob_str_eqz(type, "steer_delivered"))
        add_message(b, "User", HOB_STR_NULL, d);
    if (hob_str_eqz(type, "assistant_message")) add_message(b, "Assistant", agent, d);
    if (hob_str_eqz(type, "tool_started")) add_call(b, agent, d);
    if (hob_str_eqz(type, "tool_finished")) add_result(b, agent, d);
    if (hob_str_eqz(type, "run_finished")) add_end(b, d);
}

static void add_head(hob_buf *b, const hob_json *r) {
    hob_buf_addz(b, "# ");
    hob_show_line(b, hob_json_get_str(r, "title"), 200);
    hob_buf_addf(b, "\n\n*Session %.*s, %.*s, ", HOB_FMT(hob_json_get_str(r, "id")),
                 HOB_FMT(hob_str_first(hob_json_get_str(r, "created"), 16)));
    hob_show_line(b, hob_json_get_str(r, "model"), 200);
    hob_buf_addz(b, "*\n\n");
}

static void put(hob_out *out, hob_buf *b) {
    hob_out_add(out, hob_buf_str(b));
    hob_buf_reset(b);
    if (hob_out_waiting(out) >= HOB_OUT_FULL) hob_out_flush(out);
}

int hob_sessions_markdown(hob_sessions_job *j, hob_str row, hob_out *out, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *r;
    int64_t after = 0;
    hob_buf b;
    bool more = true;
    int code = hob_json_parse(a, row, NULL, &r, err);
    const char *id = code < 0 ? "" : hob_arena_dup(a, hob_json_get_str(r, "id")).p;
    hob_buf_init(&b, TEXT_MAX);
    if (code >= 0) add_head(&b, r);
    while (code >= 0 && more && !out->err && !hob_signals_waiting()) {
        hob_page *page = NULL;
        code = hob_runtime_events(j->cli->rt, id, (uint64_t)after, 0, &page, err);
        for (size_t i = 0; code >= 0 && i < hob_page_count(page); i++) {
            hob_arena *each = hob_arena_create(0);
            const hob_json *e;
            if (hob_json_parse(each, hob_page_row(page, i), NULL, &e, NULL) >= 0) add_event(&b, e);
            put(out, &b);
            hob_arena_destroy(each);
        }
        more = code >= 0 && hob_str_int(hob_page_next(page), &after) >= 0;
        hob_page_destroy(page);
    }
    hob_buf_finish(&b);
    hob_arena_destroy(a);
    return code;
}
