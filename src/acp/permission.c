/*
 * permission.c - approvals: what a session waits for is asked in the editor, and the answer given to the session.
 *
 * Two answers are offered, once and no. Whoever wants to be asked less chooses another mode. What the model asks the
 * user has answers of its own (question.c).
 *
 * A question lives until it is answered. If the run is cancelled meanwhile, the editor answers "cancelled" and nobody
 * waits for it any more. If the editor goes away the session goes on waiting, and asks again when it is loaded.
 */
#include "acp/acp.h"

#include "session/session.h"

#include <errno.h>
#include <unistd.h>

typedef struct permit {
    hob_acp_ask ask;
    hob_list link;
    hob_acp_session *s;
    char *call;
    bool question;
    char *schema; /* of its answer, JSON; "" = any text */
} permit;

static void free_permit(permit *p) {
    hob_acp_drop_ask(p->s->acp, &p->ask);
    hob_list_remove(&p->link);
    hob_free(p->call);
    hob_free(p->schema);
    hob_free(p);
}

void hob_acp_permissions_drop(hob_acp_session *s) {
    while (!hob_list_empty(&s->permits)) free_permit(HOB_LIST_FIRST(&s->permits, permit, link));
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void check(const permit *p, int code, const hob_error *err) {
    bool late = code == HOB_ENOENT || code == HOB_EEXIST; /* cancelled, or answered elsewhere */
    if (code < 0 && !late) hob_log(HOB_LOG_WARN, "acp", "%s: %s", p->s->id, err->message);
}

static void confirm(permit *p, hob_verdict v, hob_str reason) {
    hob_error err = {.code = HOB_OK};
    int code = hob_session_confirm_tool_use(p->s->s, hob_str_z(p->call), v, reason, &err);
    check(p, code, &err);
}

/* An editor that does not keep to the form would be asked for ever: the model is told instead. */
static void give(permit *p, hob_str answer) {
    hob_error err = {.code = HOB_OK};
    int code = hob_session_answer(p->s->s, hob_str_z(p->call), answer, &err);
    if (code == HOB_EINVAL || code == HOB_ETOOBIG)
        confirm(p, HOB_VERDICT_DENY, hob_str_z(err.message));
    else
        check(p, code, &err);
}

static void on_reply(permit *p, const hob_json *result) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *schema = NULL;
    hob_buf answer;
    hob_buf_init(&answer, 1u << 20);
    if (*p->schema) hob_json_parse(a, hob_str_z(p->schema), NULL, &schema, NULL);
    if (hob_acp_question_answer(schema, result, &answer))
        give(p, hob_buf_str(&answer));
    else
        confirm(p, HOB_VERDICT_DENY, HOB_STR_NULL);
    hob_buf_finish(&answer);
    hob_arena_destroy(a);
}

static void on_answer(hob_acp_ask *a, const hob_json *result, const hob_error *err) {
    permit *p = HOB_CONTAINER(a, permit, ask);
    const hob_json *outcome = hob_json_get(result, "outcome");
    hob_str option = hob_json_get_str(outcome, "optionId");
    hob_error why;
    if (err) {
        hob_fail(&why, HOB_EREFUSED, 0, "the editor could not ask the user: %.300s", err->message);
        confirm(p, HOB_VERDICT_DENY, hob_str_z(why.message));
    } else if (p->question) {
        on_reply(p, result);
    } else if (hob_str_eqz(option, "allow")) {
        confirm(p, HOB_VERDICT_ALLOW, HOB_STR_NULL);
    } else if (hob_str_eqz(option, "reject")) {
        confirm(p, HOB_VERDICT_DENY, HOB_STR("the user said no"));
    } else {
        confirm(p, HOB_VERDICT_DENY, HOB_STR("the question was cancelled"));
    }
    free_permit(p);
}

/* ---- the change that is asked for -------------------------------------------------------------- */

static bool read_all(int fd, hob_buf *out) {
    char piece[16 * 1024];
    ssize_t n = 1;
    while (n > 0 && !out->err) {
        n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            hob_buf_add(out, hob_str_n(piece, (size_t)n));
    }
    return n == 0 && !out->err;
}

/* Nothing is written before the answer, so what is in the file now is what will be replaced. */
static void find_change(hob_acp_session *s, const hob_json *args, hob_acp_change *out) {
    hob_str path = hob_json_get_str(args, "path"), content = hob_json_get_str(args, "content");
    hob_buf before, full;
    int fd = -1;
    if (!path.n || !s->s->workspace) return;
    int code = hob_workspace_open_file(s->s->workspace, path, &fd, NULL);
    if (code < 0 && code != HOB_ENOENT) return;
    hob_buf_init(&before, HOB_ACP_CHANGE_MAX);
    hob_buf_init(&full, 64 * 1024);
    if (path.p[0] != '/') hob_buf_addf(&full, "%s/", s->cwd);
    hob_buf_add(&full, path);
    hob_str old;
    if (code < 0 || read_all(fd, &before)) {
        old = hob_buf_str(&before);
        hob_acp_change_set(out, hob_buf_str(&full), code < 0 ? NULL : &old, content);
    }
    if (fd >= 0) close(fd);
    hob_buf_finish(&before);
    hob_buf_finish(&full);
}

/* ---- the question ------------------------------------------------------------------------------ */

static void write_option(hob_jsonw *w, const char *id, const char *name, const char *kind) {
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "optionId", hob_str_z(id));
    hob_jsonw_kstr(w, "name", hob_str_z(name));
    hob_jsonw_kstr(w, "kind", hob_str_z(kind));
    hob_jsonw_object_end(w);
}

static void write_call(hob_acp_session *s, hob_jsonw *w, const hob_json *d) {
    hob_str tool = hob_json_get_str(d, "tool");
    const hob_json *args = hob_json_get(d, "args");
    hob_acp_change change = {.path = NULL};
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "toolCallId", hob_json_get_str(d, "call"));
    hob_jsonw_kstr(w, "status", HOB_STR("pending"));
    hob_acp_write_call(s, w, tool, args);
    if (hob_str_eqz(tool, "write")) find_change(s, args, &change);
    if (change.path) {
        hob_jsonw_key(w, "content");
        hob_jsonw_array(w);
        hob_acp_write_change(w, &change);
        hob_jsonw_array_end(w);
    }
    hob_jsonw_object_end(w);
    hob_acp_change_finish(&change);
}

static void write_question(hob_acp_session *s, hob_buf *out, const hob_json *d) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "sessionId", hob_str_z(s->id));
    hob_jsonw_key(&w, "toolCall");
    write_call(s, &w, d);
    hob_jsonw_key(&w, "options");
    hob_jsonw_array(&w);
    if (hob_json_get(d, "question")) {
        hob_acp_question_options(&w, hob_json_get(d, "schema"));
    } else {
        write_option(&w, "allow", "Allow", "allow_once");
        write_option(&w, "reject", "Reject", "reject_once");
    }
    hob_jsonw_array_end(&w);
    hob_jsonw_object_end(&w);
}

static int send(permit *p, const hob_json *d, hob_error *err) {
    hob_acp_way way = HOB_ACP_OPTIONS;
    hob_buf params;
    if (p->question) way = hob_acp_question_way(p->s, hob_json_get(d, "schema"));
    if (way == HOB_ACP_NO_WAY)
        return hob_fail(err, HOB_ENOSYS, 0,
                        "this editor cannot show such a question, only choices and yes or no: ask "
                        "that way, or end your turn with the question");
    hob_buf_init(&params, 96u << 20);
    if (way == HOB_ACP_FORM)
        hob_acp_question_form(p->s, d, &params);
    else
        write_question(p->s, &params, d);
    int code = hob_acp_send_ask(
        p->s->acp, &p->ask,
        way == HOB_ACP_FORM ? "elicitation/create" : "session/request_permission", &params, err);
    hob_buf_finish(&params);
    return code;
}

void hob_acp_permission_ask(hob_acp_session *s, const hob_json *d) {
    permit *p = HOB_NEW(permit);
    hob_error err;
    p->s = s;
    p->ask.answered = on_answer;
    p->call = hob_dupz(hob_json_get_str(d, "call"));
    p->question = hob_json_get(d, "question") != NULL;
    p->schema = hob_dupz(hob_json_raw(hob_json_get(d, "schema")));
    hob_list_push(&s->permits, &p->link);
    hob_acp_call_asked(s, d);
    if (send(p, d, &err) < 0) {
        confirm(p, HOB_VERDICT_DENY, hob_str_z(err.message));
        free_permit(p);
    }
}

int hob_acp_permission_ask_all(hob_acp_session *s, hob_error *err) {
    hob_page *page = NULL;
    const hob_json *row;
    int code = hob_session_pending_confirmations(s->s, &page, err);
    for (size_t i = 0; code >= 0 && i < hob_page_count(page); i++) {
        hob_arena *a = hob_arena_create(0);
        if (hob_json_parse(a, hob_page_row(page, i), NULL, &row, NULL) >= 0)
            hob_acp_permission_ask(s, row);
        hob_arena_destroy(a);
    }
    hob_page_destroy(page);
    return code;
}
