/*
 * replay.c - the conversation so far, as the updates that it would have been.
 */
#include "acp/acp.h"

/* What the user typed, not what a command stands for. */
static void replay_user(hob_acp_session *s, const hob_json *d) {
    for (const hob_json *b = hob_json_first(hob_json_get(d, "content")); b; b = hob_json_next(b)) {
        hob_str typed = hob_json_get_str(b, "typed");
        hob_acp_update u;
        if (!hob_str_eqz(hob_json_get_str(b, "type"), "image")) {
            hob_acp_send_text(s, "user_message_chunk", HOB_STR_NULL,
                              typed.n ? typed : hob_json_get_str(b, "text"));
            continue;
        }
        hob_acp_update_begin(&u, s, "user_message_chunk");
        hob_jsonw_key(&u.w, "content");
        hob_jsonw_object(&u.w);
        hob_jsonw_kstr(&u.w, "type", HOB_STR("image"));
        hob_jsonw_kstr(&u.w, "mimeType", hob_json_get_str(b, "media_type"));
        hob_jsonw_kstr(&u.w, "data", hob_json_get_str(b, "data"));
        hob_jsonw_object_end(&u.w);
        hob_acp_update_end(&u);
    }
}

static void replay_answer(hob_acp_session *s, const hob_json *d) {
    hob_str message = hob_json_get_str(d, "message");
    for (const hob_json *b = hob_json_first(hob_json_get(d, "content")); b; b = hob_json_next(b)) {
        hob_str type = hob_json_get_str(b, "type"), text = hob_json_get_str(b, "text");
        if (hob_str_eqz(type, "text"))
            hob_acp_send_text(s, "agent_message_chunk", message, text);
        else if (hob_str_eqz(type, "thinking"))
            hob_acp_send_text(s, "agent_thought_chunk", message, text);
        else if (hob_str_eqz(type, "tool_call"))
            hob_acp_call_begin(s, b);
    }
}

/* Of the answer that came last. */
static void tell_usage(hob_acp_session *s, const hob_page *page) {
    for (size_t i = hob_page_count(page); i-- > 0;) {
        const hob_json *e = NULL, *usage = NULL;
        hob_arena *a = hob_arena_create(0);
        if (hob_json_parse(a, hob_page_row(page, i), NULL, &e, NULL) >= 0)
            usage = hob_json_get(hob_json_get(e, "data"), "usage");
        if (usage) hob_acp_send_usage(s, usage);
        hob_arena_destroy(a);
        if (usage) return;
    }
}

static void replay(hob_acp_session *s, hob_str row) {
    const hob_json *e = NULL;
    hob_arena *a = hob_arena_create(0);
    if (hob_json_parse(a, row, NULL, &e, NULL) >= 0) {
        hob_str type = hob_json_get_str(e, "type");
        const hob_json *d = hob_json_get(e, "data");
        if (hob_str_eqz(type, "assistant_message"))
            replay_answer(s, d);
        else if (hob_str_eqz(type, "tool_finished") || hob_str_eqz(type, "tool_updated"))
            hob_acp_call_finished(s, d);
        else
            replay_user(s, d);
    }
    hob_arena_destroy(a);
}

int hob_acp_replay(hob_acp_session *s, hob_error *err) {
    hob_page *page = NULL;
    int code = hob_session_history(s->s, &page, err);
    for (size_t i = 0; code >= 0 && i < hob_page_count(page); i++) replay(s, hob_page_row(page, i));
    if (code >= 0) tell_usage(s, page);
    hob_page_destroy(page);
    return code;
}
