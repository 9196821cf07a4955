/*
 * update.c - session/update messages.
 */
#include "acp/acp.h"

#define UPDATE_MAX (96u << 20) /* the largest event, quoted */

void hob_acp_update_begin(hob_acp_update *u, hob_acp_session *s, const char *kind) {
    u->s = s;
    hob_buf_init(&u->buf, UPDATE_MAX);
    hob_jsonw_init(&u->w, &u->buf);
    hob_jsonw_object(&u->w);
    hob_jsonw_kstr(&u->w, "sessionId", hob_str_z(s->id));
    hob_jsonw_key(&u->w, "update");
    hob_jsonw_object(&u->w);
    hob_jsonw_kstr(&u->w, "sessionUpdate", hob_str_z(kind));
}

void hob_acp_update_end(hob_acp_update *u) {
    hob_jsonw_object_end(&u->w);
    hob_jsonw_object_end(&u->w);
    hob_acp_notify(u->s->acp, "session/update", &u->buf);
    hob_buf_finish(&u->buf);
}

void hob_acp_send_title(hob_acp_session *s, hob_str title) {
    hob_acp_update u;
    s->titled = true;
    hob_acp_update_begin(&u, s, "session_info_update");
    hob_jsonw_kstr(&u.w, "title", title);
    hob_acp_update_end(&u);
}

void hob_acp_send_text(hob_acp_session *s, const char *kind, hob_str message, hob_str text) {
    hob_acp_update u;
    if (!text.n) return;
    hob_acp_update_begin(&u, s, kind);
    hob_jsonw_key(&u.w, "content");
    hob_jsonw_object(&u.w);
    hob_jsonw_kstr(&u.w, "type", HOB_STR("text"));
    hob_jsonw_kstr(&u.w, "text", text);
    hob_jsonw_object_end(&u.w);
    hob_jsonw_kstr_opt(&u.w, "messageId", message);
    hob_acp_update_end(&u);
}

void hob_acp_notice(hob_acp_session *s, const char *severity, const char *text) {
    hob_acp_update u;
    if (!s->acp->client.notices) return;
    hob_acp_update_begin(&u, s, "notice");
    hob_jsonw_kstr(&u.w, "severity", hob_str_z(severity));
    hob_jsonw_kstr(&u.w, "title", hob_str_trim(hob_str_z(text)));
    hob_acp_update_end(&u);
}

void hob_acp_tell(hob_acp_session *s, const char *severity, const char *text) {
    hob_buf words;
    if (s->acp->client.notices) {
        hob_acp_notice(s, severity, text);
        return;
    }
    hob_str trimmed = hob_str_trim(hob_str_z(text));
    hob_buf_init(&words, 128 * 1024);
    hob_buf_addf(&words, "*hob: %.*s*\n\n", HOB_FMT(trimmed));
    hob_acp_send_text(s, "agent_message_chunk", HOB_STR_NULL, hob_buf_str(&words));
    hob_buf_finish(&words);
}
