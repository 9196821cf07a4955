/*
 * message.c - messages and tool calls.
 */
#include "agui/agui.h"

static int used(const char *what, hob_str id, hob_error *err) {
    return hob_fail(err, HOB_EEXIST, 0, "the thread has a %s \"%.*s\" already; take a new id", what,
                    HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 100))));
}

static int not_there(const char *what, hob_str id, hob_error *err) {
    return hob_fail(err, HOB_ENOENT, 0, "the thread has no %s \"%.*s\"", what,
                    HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 100))));
}

/* New material has a new id; more of an old one says so. */
int hob_agui_may_begin(hob_agui_session *s, hob_str id, const hob_agui_extra *x, hob_error *err) {
    bool again = x && x->flags & HOB_AGUI_REOPEN;
    const hob_agui_seen *m = hob_agui_known_message(s, id);
    if (again && !m) return not_there("message", id, err);
    if (!again && m && m->begun) return used("message", id, err);
    if (m && !hob_str_eq(m->owner, hob_agui_owner(x)))
        return hob_fail(err, HOB_EINVAL, 0, "the message belongs to another agent");
    return hob_agui_known_room(s, err);
}

static int check_role(hob_str role, hob_error *err) {
    static const char *const roles[] = {"assistant", "user", "system", "developer"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(roles); i++)
        if (!role.n || hob_str_eqz(role, roles[i])) return 0;
    return hob_fail(err, HOB_EINVAL, 0,
                    "a message has the role assistant, user, system or developer");
}

int hob_agui_message_start(hob_agui_session *s, hob_str id, const hob_agui_extra *x,
                           hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_extra(s, x, err);
    if (rc == 0) rc = check_role(x ? x->role : HOB_STR_NULL, err);
    if (rc == 0) rc = hob_agui_item_may(s, HOB_SPACE_TEXT, HOB_STR_NULL, id, err);
    if (rc == 0) rc = hob_agui_may_begin(s, id, x, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_TEXT_MESSAGE_START);
    hob_jsonw_kstr(w, "messageId", id);
    hob_jsonw_kstr(w, "role", x && x->role.n ? x->role : HOB_STR("assistant"));
    if (x) hob_jsonw_kstr_opt(w, "name", x->name);
    hob_agui_put_extra(s, x);
    rc = hob_agui_send(s, err);
    if (!hob_agui_happened(rc)) return rc;
    hob_agui_known_add_message(s, id, hob_agui_owner(x), true);
    hob_agui_item_add(s, HOB_SPACE_TEXT, hob_agui_owner(x), id);
    return rc;
}

/* A piece of something open. */
int hob_agui_piece(hob_agui_session *s, hob_agui_space space, hob_str id, hob_str delta,
                   hob_error *err) {
    hob_agui_item *item;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_item_need(s, space, id, &item, err);
    if (rc < 0) return rc;
    hob_jsonw *w =
        hob_agui_begin(s, space == HOB_SPACE_CALL   ? HOB_AGUI_TOOL_CALL_ARGS
                          : space == HOB_SPACE_TEXT ? HOB_AGUI_TEXT_MESSAGE_CONTENT
                                                    : HOB_AGUI_REASONING_MESSAGE_CONTENT);
    hob_jsonw_kstr(w, space == HOB_SPACE_CALL ? "toolCallId" : "messageId", id);
    hob_jsonw_kstr(w, "delta", delta);
    hob_jsonw_kstr_opt(w, "subagentRunId", item->owner);
    return hob_agui_send(s, err);
}

int hob_agui_end(hob_agui_session *s, hob_agui_space space, hob_str id, hob_error *err) {
    hob_agui_item *item;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_item_need(s, space, id, &item, err);
    return rc < 0 ? rc : hob_agui_item_close(s, item, HOB_WHY_FINISH, err);
}

int hob_agui_message_content(hob_agui_session *s, hob_str id, hob_str delta, hob_error *err) {
    return hob_agui_piece(s, HOB_SPACE_TEXT, id, delta, err);
}

int hob_agui_message_end(hob_agui_session *s, hob_str id, hob_error *err) {
    return hob_agui_end(s, HOB_SPACE_TEXT, id, err);
}

/* ---- tool calls ------------------------------------------------------------------------------------------ */

static int check_parent(const hob_agui_session *s, const hob_agui_extra *x, hob_error *err) {
    if (!x || !x->parent.n) return 0;
    const hob_agui_seen *m = hob_agui_known_message(s, x->parent);
    if (m && !hob_str_eq(m->owner, x->subagent))
        return hob_fail(err, HOB_EINVAL, 0, "the call's message belongs to another agent");
    return hob_agui_need_id("parent message", x->parent, err);
}

static int may_call(hob_agui_session *s, hob_str id, const hob_agui_extra *x, hob_error *err) {
    bool again = x && x->flags & HOB_AGUI_REOPEN;
    const hob_agui_call *c = hob_agui_known_call(s, id);
    if (again && !c) return not_there("call", id, err);
    if (c && (!again || c->answered)) return used("call", id, err);
    int rc = check_parent(s, x, err);
    return rc < 0 ? rc : hob_agui_known_room(s, err);
}

/* A client keeps a call in the message that it names, or in one with the call's own id. */
static void note_call(hob_agui_session *s, hob_str id, const hob_agui_extra *x) {
    hob_agui_call *c = hob_agui_known_add_call(s, id, hob_agui_owner(x));
    if (c && hob_list_empty(&c->link)) hob_list_push(&s->run_calls, &c->link);
    if (x && x->parent.n)
        hob_agui_known_add_message(s, x->parent, x->subagent, false);
    else
        hob_agui_known_add_message(s, id, hob_agui_owner(x), true);
    hob_agui_item_add(s, HOB_SPACE_CALL, hob_agui_owner(x), id);
}

int hob_agui_tool_call_start(hob_agui_session *s, hob_str id, hob_str name, const hob_agui_extra *x,
                             hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = hob_agui_need_extra(s, x, err);
    if (rc == 0) rc = hob_agui_need_id("tool's name", name, err);
    if (rc == 0) rc = hob_agui_item_may(s, HOB_SPACE_CALL, HOB_STR_NULL, id, err);
    if (rc == 0) rc = may_call(s, id, x, err);
    if (rc < 0) return rc;
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_TOOL_CALL_START);
    hob_jsonw_kstr(w, "toolCallId", id);
    hob_jsonw_kstr(w, "toolCallName", name);
    if (x) hob_jsonw_kstr_opt(w, "parentMessageId", x->parent);
    hob_agui_put_extra(s, x);
    rc = hob_agui_send(s, err);
    if (hob_agui_happened(rc)) note_call(s, id, x);
    return rc;
}

int hob_agui_tool_call_args(hob_agui_session *s, hob_str id, hob_str delta, hob_error *err) {
    return hob_agui_piece(s, HOB_SPACE_CALL, id, delta, err);
}

int hob_agui_tool_call_end(hob_agui_session *s, hob_str id, hob_error *err) {
    return hob_agui_end(s, HOB_SPACE_CALL, id, err);
}

static int may_answer(hob_agui_session *s, hob_str message_id, hob_str call, hob_error *err) {
    const hob_agui_call *c = hob_agui_known_call(s, call);
    int rc = hob_agui_need_id("message id", message_id, err);
    if (rc < 0) return rc;
    if (!c) return not_there("call", call, err);
    if (c->answered) return used("result of the call", call, err);
    if (hob_agui_item_get(s, HOB_SPACE_CALL, HOB_STR_NULL, call))
        return hob_fail(err, HOB_EINVAL, 0, "the call is still open; end it before its result");
    if (hob_agui_known_message(s, message_id)) return used("message", message_id, err);
    return hob_agui_known_room(s, err);
}

/* `content` is JSON. */
static int answer(hob_agui_session *s, hob_str message_id, hob_str call, hob_str content,
                  hob_error *err) {
    hob_agui_call *c = hob_agui_known_call(s, call);
    hob_jsonw *w = hob_agui_begin(s, HOB_AGUI_TOOL_CALL_RESULT);
    hob_jsonw_kstr(w, "messageId", message_id);
    hob_jsonw_kstr(w, "toolCallId", call);
    hob_jsonw_kraw(w, "content", content);
    hob_jsonw_kstr(w, "role", HOB_STR("tool"));
    hob_jsonw_kstr_opt(w, "subagentRunId", c->owner);
    int rc = hob_agui_send(s, err);
    if (!hob_agui_happened(rc)) return rc;
    c->answered = true;
    hob_agui_known_add_message(s, message_id, c->owner, true);
    return rc;
}

int hob_agui_tool_call_result(hob_agui_session *s, hob_str message_id, hob_str call, hob_str text,
                              hob_error *err) {
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = may_answer(s, message_id, call, err);
    if (rc < 0) return rc;
    hob_buf quoted;
    hob_buf_init(&quoted, HOB_AGUI_FRAME_MAX);
    rc = hob_json_quote(&quoted, text);
    rc = rc < 0 ? hob_fail(err, rc, 0, "the result is too large")
                : answer(s, message_id, call, hob_buf_str(&quoted), err);
    hob_buf_finish(&quoted);
    return rc;
}

int hob_agui_tool_call_result_parts(hob_agui_session *s, hob_str message_id, hob_str call,
                                    hob_str parts_json, hob_error *err) {
    const hob_json *parts;
    int rc = hob_agui_need_run(s, err);
    if (rc == 0) rc = may_answer(s, message_id, call, err);
    if (rc == 0) rc = hob_agui_need_parts(s, parts_json, &parts, err);
    if (rc < 0) return rc;
    if (s->dialect == HOB_AGUI_1_0) return answer(s, message_id, call, parts_json, err);
    hob_buf text; /* older clients know texts only */
    hob_buf_init(&text, HOB_AGUI_FRAME_MAX);
    for (const hob_json *p = hob_json_first(parts); p; p = hob_json_next(p))
        hob_buf_add(&text, hob_json_get_str(p, "text"));
    rc = text.err ? hob_fail(err, HOB_ETOOBIG, 0, "the result is too large")
                  : hob_agui_tool_call_result(s, message_id, call, hob_buf_str(&text), err);
    hob_buf_finish(&text);
    return rc;
}
