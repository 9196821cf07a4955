/*
 * event.c - what happened in a session, as the editor is told: one function a kind of event. Kinds without one are of no
 * use to an editor, or are told by another.
 */
#include "acp/acp.h"

#include <stdio.h>

typedef void telling(hob_acp_session *s, const hob_json *d);

static void copy_word(char *out, size_t cap, const hob_json *d, const char *key) {
    hob_str_out(hob_json_get_str(d, key), out, cap);
}

/* ---- words ---------------------------------------------------------------------------------- */

static void text_delta(hob_acp_session *s, const hob_json *d) {
    hob_acp_send_text(s, "agent_message_chunk", hob_json_get_str(d, "message"),
                      hob_json_get_str(d, "text"));
}

static void thinking_delta(hob_acp_session *s, const hob_json *d) {
    hob_acp_send_text(s, "agent_thought_chunk", hob_json_get_str(d, "message"),
                      hob_json_get_str(d, "text"));
}

static void write_cost(hob_acp_session *s, hob_jsonw *w) {
    char cost[40];
    hob_page *info = NULL;
    if (hob_session_info(s->s, &info, NULL) < 0) return;
    int n = hob_json_field(hob_page_row(info, 0), "cost_usd", cost, sizeof cost);
    hob_page_destroy(info);
    if (n <= 0 || !strcmp(cost, "null")) return;
    hob_jsonw_key(w, "cost");
    hob_jsonw_object(w);
    hob_jsonw_kraw(w, "amount", hob_str_z(cost));
    hob_jsonw_kstr(w, "currency", HOB_STR("USD"));
    hob_jsonw_object_end(w);
}

/* How full the model's window is: what was sent with the last request, and what came back. */
void hob_acp_send_usage(hob_acp_session *s, const hob_json *usage) {
    hob_acp_update u;
    if (!usage || s->context <= 0) return;
    int64_t used = hob_json_get_int(usage, "input_tokens", 0) +
                   hob_json_get_int(usage, "cache_read_tokens", 0) +
                   hob_json_get_int(usage, "cache_write_tokens", 0) +
                   hob_json_get_int(usage, "output_tokens", 0);
    hob_acp_update_begin(&u, s, "usage_update");
    hob_jsonw_kint(&u.w, "used", used);
    hob_jsonw_kint(&u.w, "size", s->context);
    write_cost(s, &u.w);
    hob_acp_update_end(&u);
}

/* Its words came as deltas. */
static void assistant_message(hob_acp_session *s, const hob_json *d) {
    const hob_json *content = hob_json_get(d, "content");
    copy_word(s->stop, sizeof s->stop, d, "stop");
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        if (hob_str_eqz(hob_json_get_str(b, "type"), "tool_call")) hob_acp_call_begin(s, b);
    hob_acp_send_usage(s, hob_json_get(d, "usage"));
}

static void steer_delivered(hob_acp_session *s, const hob_json *d) {
    for (const hob_json *b = hob_json_first(hob_json_get(d, "content")); b; b = hob_json_next(b))
        hob_acp_send_text(s, "user_message_chunk", HOB_STR_NULL, hob_json_get_str(b, "text"));
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void tool_output(hob_acp_session *s, const hob_json *d) {
    hob_acp_call *c = hob_acp_call_find(s, hob_json_get_str(d, "call"));
    if (c) hob_acp_call_output(s, c, hob_json_get_str(d, "text"));
}

/* ---- what the user should know ---------------------------------------------------------------- */

static void warning(hob_acp_session *s, const hob_json *d) {
    char text[1000];
    copy_word(text, sizeof text, d, "text");
    hob_log(HOB_LOG_WARN, "acp", "%s: %s", s->id, text);
    hob_acp_notice(s, "warning", text);
}

static void retry_scheduled(hob_acp_session *s, const hob_json *d) {
    hob_str why = hob_json_get_str(d, "error");
    char text[500];
    snprintf(text, sizeof text, "The model did not answer (%.*s); trying again in %.1f s",
             HOB_FMT(hob_str_first(why, hob_utf8_prefix(why, 300))),
             (double)hob_json_get_int(d, "delay_ms", 0) / 1000);
    hob_acp_notice(s, "warning", text);
}

static void turn_discarded(hob_acp_session *s, const hob_json *d) {
    (void)d;
    hob_acp_notice(s, "warning", "The answer broke off; what was shown of it does not count");
}

static void limit_reached(hob_acp_session *s, const hob_json *d) {
    static const char quota[] = "quota_";
    char text[200];
    copy_word(s->limit, sizeof s->limit, d, "limit");
    bool spent = !strncmp(s->limit, quota, sizeof quota - 1);
    snprintf(text, sizeof text, "The %s of %s %s (%.*s)", spent ? "quota" : "limit",
             s->limit + (spent ? sizeof quota - 1 : 0), spent ? "is spent" : "was reached",
             HOB_FMT(hob_str_first(hob_json_raw(hob_json_get(d, "max")), 40)));
    hob_acp_notice(s, "warning", text);
}

static void config_changed(hob_acp_session *s, const hob_json *d) {
    hob_str mode = hob_json_get_str(d, "permission_mode"), title = hob_json_get_str(d, "title");
    bool model = hob_json_get(d, "model") != NULL;
    if (mode.n) hob_acp_send_mode(s, mode);
    if (model) s->context = hob_acp_context(s);
    if (mode.n || model || hob_json_get(d, "thinking")) hob_acp_send_options(s);
    if (title.n) hob_acp_send_title(s, title);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static void run_started(hob_acp_session *s, const hob_json *d) {
    (void)d;
    s->begun = true;
}

static void keep_usage(hob_acp_session *s, const hob_json *u) {
    hob_jsonw w;
    int64_t in = hob_json_get_int(u, "input_tokens", 0);
    int64_t out = hob_json_get_int(u, "output_tokens", 0);
    int64_t read = hob_json_get_int(u, "cache_read_tokens", 0);
    int64_t wrote = hob_json_get_int(u, "cache_write_tokens", 0);
    hob_buf_reset(&s->usage);
    hob_jsonw_init(&w, &s->usage);
    hob_jsonw_object(&w);
    hob_jsonw_kint(&w, "totalTokens", in + out + read + wrote);
    hob_jsonw_kint(&w, "inputTokens", in);
    hob_jsonw_kint(&w, "outputTokens", out);
    hob_jsonw_kint(&w, "cachedReadTokens", read);
    hob_jsonw_kint(&w, "cachedWriteTokens", wrote);
    hob_jsonw_kint(&w, "thoughtTokens", hob_json_get_int(u, "reasoning_tokens", 0));
    hob_jsonw_object_end(&w);
}

static int code_named(hob_str name) {
    static const int codes[] = {
#define HOB_X(id, value, text, retryable) HOB_##id,
        HOB_ERRORS(HOB_X)
#undef HOB_X
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(codes); i++)
        if (hob_str_eqz(name, hob_error_name(codes[i]))) return codes[i];
    return HOB_EAGENT;
}

static void run_finished(hob_acp_session *s, const hob_json *d) {
    const hob_json *error = hob_json_get(d, "error");
    hob_str said = hob_json_get_str(error, "message");
    copy_word(s->status, sizeof s->status, d, "status");
    keep_usage(s, hob_json_get(d, "usage"));
    if (!error) return;
    hob_fail(&s->failure, code_named(hob_json_get_str(error, "code")),
             (int)hob_json_get_int(error, "status", 0), "%.*s",
             HOB_FMT(hob_str_first(said, hob_utf8_prefix(said, 490))));
}

/* One that nobody named is called after its first prompt. */
static void tell_title(hob_acp_session *s) {
    char title[1024];
    hob_page *row = NULL;
    if (s->titled || hob_runtime_session_row(s->rt, s->id, NULL, &row, NULL) < 0) return;
    if (hob_json_field(hob_page_row(row, 0), "title", title, sizeof title) > 0)
        hob_acp_send_title(s, hob_str_z(title));
    hob_page_destroy(row);
}

static void settled(hob_acp_session *s, const hob_json *d) {
    (void)d;
    hob_acp_calls_end(s);
    tell_title(s);
    switch (s->state) {
    case HOB_ACP_IDLE: break;
    case HOB_ACP_WORKING:
        if (s->begun) hob_acp_prompt_end(s);
        break;
    case HOB_ACP_CLOSING: hob_acp_close_end(s); break; /* and the session is gone */
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

static telling *const tellings[HOB_EVENT_COUNT_] = {
    [HOB_EVENT_TEXT_DELTA] = text_delta,
    [HOB_EVENT_THINKING_DELTA] = thinking_delta,
    [HOB_EVENT_ASSISTANT_MESSAGE] = assistant_message,
    [HOB_EVENT_STEER_DELIVERED] = steer_delivered,
    [HOB_EVENT_APPROVAL_REQUESTED] = hob_acp_permission_ask,
    [HOB_EVENT_APPROVAL_RESOLVED] = hob_acp_child_answered,
    [HOB_EVENT_CHILD_FINISHED] = hob_acp_child_finished,
    [HOB_EVENT_TOOL_STARTED] = hob_acp_call_started,
    [HOB_EVENT_TOOL_OUTPUT_DELTA] = tool_output,
    [HOB_EVENT_TOOL_FINISHED] = hob_acp_call_finished,
    [HOB_EVENT_TOOL_UPDATED] = hob_acp_call_finished,
    [HOB_EVENT_WARNING] = warning,
    [HOB_EVENT_RETRY_SCHEDULED] = retry_scheduled,
    [HOB_EVENT_TURN_DISCARDED] = turn_discarded,
    [HOB_EVENT_LIMIT_REACHED] = limit_reached,
    [HOB_EVENT_CONFIG_CHANGED] = config_changed,
    [HOB_EVENT_RUN_STARTED] = run_started,
    [HOB_EVENT_RUN_FINISHED] = run_finished,
    [HOB_EVENT_SETTLED] = settled,
};

static void tell(hob_acp_session *s, const hob_event *e) {
    telling *fn = tellings[hob_event_type_of(e)];
    const hob_json *data = NULL;
    if (!fn) return;
    hob_arena *a = hob_arena_create(0);
    if (hob_json_parse(a, hob_event_data(e), NULL, &data, NULL) >= 0) fn(s, data);
    hob_arena_destroy(a);
}

/* The store failed: the session is of no use any more. */
static void fail(hob_acp_session *s, int code) {
    if (s->state == HOB_ACP_IDLE) return;
    s->status[0] = 0;
    hob_fail(&s->failure, code, 0, "the session failed: %s; load it again", hob_error_text(code));
    if (s->state == HOB_ACP_WORKING)
        hob_acp_prompt_end(s);
    else
        hob_acp_close_end(s);
}

/* 1 = told of one, 0 = there is none now; the session may be gone after `settled`. */
static int tell_next(hob_acp_session *s, bool *gone) {
    hob_event *e;
    int code;
    do code = hob_session_next_event(s->s, 0, &e);
    while (code == HOB_EAGAIN); /* woken for something else */
    if (code != 1) return code == HOB_ETIMEDOUT ? 0 : code;
    *gone = hob_event_type_of(e) == HOB_EVENT_SETTLED && s->state == HOB_ACP_CLOSING;
    tell(s, e);
    hob_event_unref(e);
    return 1;
}

void hob_acp_pump(hob_acp_session *s) {
    hob_acp *x = s->acp;
    bool gone = false;
    int code = 1;
    while (code == 1 && !gone && hob_acp_waiting(x) <= HOB_ACP_OUT_FULL) code = tell_next(s, &gone);
    if (code < 0) fail(s, code);
}
