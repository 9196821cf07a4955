/*
 * call.c - tool calls as the editor sees them: title, kind, places, and content that grows while they run.
 *
 * The protocol replaces the content of a call as a whole. So a call keeps what is shown of it: the change that it makes
 * to a file, the terminal in which it runs, or the end of its output.
 */
#include "acp/acp.h"

#define CALLS_MAX 1024
#define OUTPUT_SHOWN (8 * 1024) /* bytes of output that are shown while it comes */
#define TITLE_MAX 200

/* ---- what a call is ------------------------------------------------------------------------- */

static const struct kind {
    const char *tool, *kind, *verb, *argument;
} kinds[] = {
    {"read", "read", "Read", "path"},        {"write", "edit", "Write", "path"},
    {"bash", "execute", "", "command"},      {"task", "other", "Task for", "agent"},
    {"skill", "other", "Skill", "name"},     {"remember", "other", "Remember", "text"},
    {"recall", "search", "Recall", "query"}, {"forget", "other", "Forget", "id"},
    {"ask_user", "other", "", "question"},
};

static const struct kind *kind_of(hob_str tool) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(kinds); i++)
        if (hob_str_eqz(tool, kinds[i].tool)) return &kinds[i];
    return NULL;
}

static bool shows_as_printed(hob_str tool) {
    return hob_str_eqz(tool, "bash") || hob_str_eqz(tool, "read");
}

/* One line. */
static void add_title(hob_buf *out, hob_str text) {
    for (size_t i = 0; i < text.n; i++)
        hob_buf_addc(out, (unsigned char)text.p[i] < ' ' ? ' ' : text.p[i]);
}

static void write_title(hob_jsonw *w, hob_str tool, const hob_json *args) {
    const struct kind *k = kind_of(tool);
    hob_str what = k ? hob_str_trim(hob_json_get_str(args, k->argument)) : HOB_STR_NULL;
    hob_str shown = hob_str_first(what, hob_utf8_prefix(what, TITLE_MAX));
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_buf_addz(&b, k && shown.n ? k->verb : "");
    if (b.n) hob_buf_addc(&b, ' ');
    add_title(&b, shown.n ? shown : tool);
    if (shown.n < what.n) hob_buf_addz(&b, "…");
    hob_jsonw_kstr(w, "title", hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void write_location(const hob_acp_session *s, hob_jsonw *w, const hob_json *args) {
    hob_str path = hob_json_get_str(args, "path");
    int64_t line = hob_json_get_int(args, "offset", 0);
    hob_buf b;
    if (!path.n) return;
    hob_buf_init(&b, 64 * 1024);
    if (path.p[0] != '/') hob_buf_addf(&b, "%s/", s->cwd);
    hob_buf_add(&b, path);
    hob_jsonw_key(w, "locations");
    hob_jsonw_array(w);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "path", hob_buf_str(&b));
    if (line > 0) hob_jsonw_kint(w, "line", line);
    hob_jsonw_object_end(w);
    hob_jsonw_array_end(w);
    hob_buf_finish(&b);
}

void hob_acp_write_call(hob_acp_session *s, hob_jsonw *w, hob_str tool, const hob_json *args) {
    const struct kind *k = kind_of(tool);
    write_title(w, tool, args);
    hob_jsonw_kstr(w, "name", tool);
    hob_jsonw_kstr(w, "kind", hob_str_z(k ? k->kind : "other"));
    if (k && !strcmp(k->argument, "path")) write_location(s, w, args);
    if (args) hob_jsonw_kraw(w, "rawInput", hob_json_raw(args));
}

/* ---- calls under way ------------------------------------------------------------------------- */

hob_acp_call *hob_acp_call_find(hob_acp_session *s, hob_str id) {
    HOB_LIST_EACH (it, &s->calls) {
        hob_acp_call *c = HOB_CONTAINER(it, hob_acp_call, link);
        if (hob_str_eqz(id, c->id)) return c;
    }
    return NULL;
}

void hob_acp_call_free(hob_acp_session *s, hob_acp_call *c) {
    s->ncalls--;
    hob_list_remove(&c->link);
    hob_buf_finish(&c->output);
    hob_acp_change_finish(&c->change);
    hob_free(c->terminal);
    hob_free(c->child);
    hob_free(c->id);
    hob_free(c);
}

static hob_acp_call *keep(hob_acp_session *s, hob_str id) {
    hob_acp_call *c = hob_acp_call_find(s, id);
    if (c || s->ncalls >= CALLS_MAX) return c;
    c = HOB_NEW(hob_acp_call);
    c->id = hob_dupz(id);
    hob_buf_init(&c->output, 2 * OUTPUT_SHOWN);
    hob_list_push(&s->calls, &c->link);
    s->ncalls++;
    return c;
}

hob_acp_call *hob_acp_call_expect(hob_acp_session *s, const hob_backend_call *c) {
    return hob_str_eqz(c->session, s->id) ? keep(s, c->call) : NULL;
}

bool hob_acp_call_is_early(hob_acp_session *s, const hob_backend_call *c) {
    const hob_acp_call *known = hob_acp_call_find(s, c->call);
    if (!hob_str_eqz(c->session, s->id)) return false;
    return known ? !known->started : s->ncalls < CALLS_MAX;
}

/* NULL: there are too many to keep. */
static hob_acp_call *show(hob_acp_session *s, hob_str id, hob_str tool, const hob_json *args) {
    hob_acp_update u;
    hob_acp_update_begin(&u, s, "tool_call");
    hob_jsonw_kstr(&u.w, "toolCallId", id);
    hob_jsonw_kstr(&u.w, "status", HOB_STR("pending"));
    hob_acp_write_call(s, &u.w, tool, args);
    hob_acp_update_end(&u);
    hob_acp_call *c = keep(s, id);
    if (c) c->shown = true;
    return c;
}

/* Of an event about a call that the editor may not have been told of: a sub-agent's, or one of before it came. */
static hob_acp_call *show_once(hob_acp_session *s, const hob_json *d) {
    hob_str id = hob_json_get_str(d, "call");
    hob_acp_call *c = hob_acp_call_find(s, id);
    if (c && c->shown) return c;
    return show(s, id, hob_json_get_str(d, "tool"), hob_json_get(d, "args"));
}

void hob_acp_call_begin(hob_acp_session *s, const hob_json *block) {
    hob_acp_call *c = show(s, hob_json_get_str(block, "call"), hob_json_get_str(block, "name"),
                           hob_json_get(block, "args"));
    if (c && (c->change.path || c->terminal)) hob_acp_call_refresh(s, c);
}

/* ---- content --------------------------------------------------------------------------------- */

static void write_text(hob_jsonw *w, hob_str text) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("content"));
    hob_jsonw_key(w, "content");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("text"));
    hob_jsonw_kstr(w, "text", text);
    hob_jsonw_object_end(w);
    hob_jsonw_object_end(w);
}

static size_t longest_run(hob_str text, char c) {
    size_t longest = 0, now = 0;
    for (size_t i = 0; i < text.n; i++) {
        now = text.p[i] == c ? now + 1 : 0;
        longest = HOB_MAX(longest, now);
    }
    return longest;
}

/* Editors take text for Markdown; what a program printed is shown as it is. */
static void write_printed(hob_jsonw *w, hob_str text) {
    hob_buf b;
    size_t fence = HOB_MAX(longest_run(text, '`') + 1, 3);
    hob_buf_init(&b, 80u << 20);
    for (size_t i = 0; i < fence; i++) hob_buf_addc(&b, '`');
    hob_buf_addc(&b, '\n');
    hob_buf_add(&b, text);
    if (!hob_str_ends(text, HOB_STR("\n"))) hob_buf_addc(&b, '\n');
    for (size_t i = 0; i < fence; i++) hob_buf_addc(&b, '`');
    write_text(w, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void write_block(hob_jsonw *w, hob_str tool, const hob_json *b) {
    hob_str text = hob_json_get_str(b, "text");
    if (hob_str_eqz(hob_json_get_str(b, "type"), "image")) {
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "type", HOB_STR("content"));
        hob_jsonw_key(w, "content");
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "type", HOB_STR("image"));
        hob_jsonw_kstr(w, "mimeType", hob_json_get_str(b, "media_type"));
        hob_jsonw_kstr(w, "data", hob_json_get_str(b, "data"));
        hob_jsonw_object_end(w);
        hob_jsonw_object_end(w);
    } else if (text.n && shows_as_printed(tool)) {
        write_printed(w, text);
    } else if (text.n) {
        write_text(w, text);
    }
}

static void write_terminal(hob_jsonw *w, const hob_acp_call *c) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "type", HOB_STR("terminal"));
    hob_jsonw_kstr(w, "terminalId", hob_str_z(c->terminal));
    hob_jsonw_object_end(w);
}

/* ---- on its way ------------------------------------------------------------------------------- */

static void begin_update(hob_acp_update *u, hob_acp_session *s, hob_str id) {
    hob_acp_update_begin(u, s, "tool_call_update");
    hob_jsonw_kstr(&u->w, "toolCallId", id);
}

static void send_status(hob_acp_session *s, hob_str id, const char *status) {
    hob_acp_update u;
    begin_update(&u, s, id);
    hob_jsonw_kstr(&u.w, "status", hob_str_z(status));
    hob_acp_update_end(&u);
}

void hob_acp_call_started(hob_acp_session *s, const hob_json *d) {
    hob_str id = hob_json_get_str(d, "call");
    hob_acp_call *c = show_once(s, d);
    if (c) c->started = true;
    send_status(s, id, "in_progress");
    hob_acp_errands_go(s, id);
}

void hob_acp_call_refresh(hob_acp_session *s, hob_acp_call *c) {
    hob_acp_update u;
    if (!c->shown) return;
    begin_update(&u, s, hob_str_z(c->id));
    hob_jsonw_key(&u.w, "content");
    hob_jsonw_array(&u.w);
    if (c->change.path) hob_acp_write_change(&u.w, &c->change);
    if (c->terminal) write_terminal(&u.w, c);
    if (c->output.n) write_printed(&u.w, hob_buf_str(&c->output));
    hob_jsonw_array_end(&u.w);
    hob_acp_update_end(&u);
}

void hob_acp_call_output(hob_acp_session *s, hob_acp_call *c, hob_str text) {
    if (c->terminal) return; /* the editor sees it there */
    text = hob_str_skip(text, text.n - hob_utf8_suffix(text, OUTPUT_SHOWN));
    hob_str old = hob_buf_str(&c->output);
    size_t room = OUTPUT_SHOWN - text.n;
    if (old.n > room) hob_buf_consume(&c->output, old.n - hob_utf8_suffix(old, room));
    hob_buf_add(&c->output, text);
    hob_acp_call_refresh(s, c);
}

/* ---- its end ---------------------------------------------------------------------------------- */

/* A change that was made, or a terminal, says it all; else what the model was told. */
static void write_result(hob_jsonw *w, hob_acp_call *c, const hob_json *d, bool ok) {
    hob_str tool = hob_json_get_str(d, "tool");
    bool change = c && c->change.path && ok;
    hob_jsonw_key(w, "content");
    hob_jsonw_array(w);
    if (change) hob_acp_write_change(w, &c->change);
    if (c && c->terminal) write_terminal(w, c);
    const hob_json *b =
        change || (c && c->terminal) ? NULL : hob_json_first(hob_json_get(d, "content"));
    for (; b; b = hob_json_next(b)) write_block(w, tool, b);
    hob_jsonw_array_end(w);
}

static void write_raw_output(hob_jsonw *w, const hob_json *d) {
    const hob_json *exit_code = hob_json_get(d, "exit_code");
    hob_jsonw_key(w, "rawOutput");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "outcome", hob_json_get_str(d, "outcome"));
    if (exit_code) hob_jsonw_kraw(w, "exit_code", hob_json_raw(exit_code));
    hob_jsonw_object_end(w);
}

/* The receipt of work that goes on elsewhere is no end yet. */
static const char *status_of(const hob_json *d) {
    if (hob_json_get_bool(d, "pending", false)) return "in_progress";
    return hob_str_eqz(hob_json_get_str(d, "outcome"), "ok") ? "completed" : "failed";
}

void hob_acp_call_finished(hob_acp_session *s, const hob_json *d) {
    hob_str id = hob_json_get_str(d, "call");
    hob_acp_call *c = hob_acp_call_find(s, id);
    const char *status = status_of(d);
    hob_acp_update u;
    begin_update(&u, s, id);
    hob_jsonw_kstr(&u.w, "status", hob_str_z(status));
    write_result(&u.w, c, d, !strcmp(status, "completed"));
    write_raw_output(&u.w, d);
    hob_acp_update_end(&u);
    if (c) hob_acp_call_free(s, c);
}

static void end_call(hob_acp_session *s, hob_acp_call *c, const char *status) {
    if (c->shown) send_status(s, hob_str_z(c->id), status);
    hob_acp_call_free(s, c);
}

void hob_acp_calls_end(hob_acp_session *s) {
    while (!hob_list_empty(&s->calls))
        end_call(s, HOB_LIST_FIRST(&s->calls, hob_acp_call, link), "failed");
}

/* ---- calls of sub-agents: the editor sees those that it was asked about -------------------------- */

void hob_acp_call_asked(hob_acp_session *s, const hob_json *d) {
    hob_str child = hob_json_get_str(d, "child");
    hob_acp_call *c = show_once(s, d);
    if (c && child.n && !c->child) c->child = hob_dupz(child);
}

void hob_acp_child_answered(hob_acp_session *s, const hob_json *d) {
    hob_acp_call *c = hob_acp_call_find(s, hob_json_get_str(d, "call"));
    if (!c || !c->child) return;
    if (hob_json_get_bool(d, "approved", false))
        send_status(s, hob_str_z(c->id), "in_progress");
    else
        end_call(s, c, "failed");
}

/* How each of its calls ended stands in the sub-agent's own log; here they are over. */
void hob_acp_child_finished(hob_acp_session *s, const hob_json *d) {
    hob_str child = hob_json_get_str(d, "child");
    bool good = hob_str_eqz(hob_json_get_str(d, "status"), "completed");
    HOB_LIST_EACH_SAFE (it, &s->calls) {
        hob_acp_call *c = HOB_CONTAINER(it, hob_acp_call, link);
        if (c->child && hob_str_eqz(child, c->child)) end_call(s, c, good ? "completed" : "failed");
    }
}
