/*
 * shelf.c - session/list, close and delete: what is stored, and putting it back.
 */
#include "acp/acp.h"

#include <hob/stored.h>
#include <limits.h>

/* ---- list ----------------------------------------------------------------------------------- */

static void write_session(hob_jsonw *w, hob_str row) {
    const hob_json *r = NULL;
    hob_arena *a = hob_arena_create(0);
    if (hob_json_parse(a, row, NULL, &r, NULL) >= 0) {
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "sessionId", hob_json_get_str(r, "id"));
        hob_jsonw_kstr(w, "cwd", hob_json_get_str(r, "cwd"));
        hob_jsonw_kstr_opt(w, "title", hob_json_get_str(r, "title"));
        hob_jsonw_kstr_opt(w, "updatedAt", hob_json_get_str(r, "updated"));
        hob_jsonw_object_end(w);
    }
    hob_arena_destroy(a);
}

static void answer_list(hob_acp_request *q, const hob_page *page) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "sessions");
    hob_jsonw_array(&w);
    for (size_t i = 0; i < hob_page_count(page); i++) write_session(&w, hob_page_row(page, i));
    hob_jsonw_array_end(&w);
    hob_jsonw_kstr_opt(&w, "nextCursor", hob_page_next(page));
    hob_jsonw_object_end(&w);
    hob_acp_result(q->acp, q->id, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* HOB_EINVAL: longer than anything that it could find. */
static int take_word(hob_acp_request *q, hob_arena *a, const char *key, const char **out,
                     hob_error *err) {
    hob_str word = hob_json_get_str(q->params, key);
    if (!word.n) return HOB_OK;
    if (word.n >= PATH_MAX || memchr(word.p, 0, word.n))
        return hob_fail(err, HOB_EINVAL, 0,
                        "`%s` cannot be what you mean: it has %zu bytes, or a NUL", key, word.n);
    *out = hob_arena_dup(a, word).p;
    return HOB_OK;
}

int hob_acp_session_list(hob_acp_request *q, hob_error *err) {
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    hob_page *page = NULL;
    hob_arena *a = hob_arena_create(1u << 20);
    o.app_name = q->acp->of.app_name;
    o.user_id = q->acp->of.user_id;
    int code = take_word(q, a, "cwd", &o.cwd, err);
    if (code >= 0) code = take_word(q, a, "cursor", &o.cursor, err);
    if (code >= 0) code = hob_runtime_sessions(q->acp->rt, &o, &page, err);
    if (code >= 0) answer_list(q, page);
    hob_page_destroy(page);
    hob_arena_destroy(a);
    return code;
}

/* The library also takes the beginning of an id; an editor names the whole. */
int hob_acp_check_stored(hob_acp *x, hob_str id, hob_error *err) {
    char found[129] = "", *name = hob_dupz(id);
    hob_page *page = NULL;
    if (hob_id_valid(id) && hob_runtime_find_session_of(x->rt, name, &x->of, &page, NULL) >= 0)
        hob_json_field(hob_page_row(page, 0), "id", found, sizeof found);
    hob_page_destroy(page);
    hob_free(name);
    if (hob_str_eqz(id, found)) return HOB_OK;
    return hob_fail(err, HOB_ENOENT, 0, "there is no session %.*s",
                    HOB_FMT(hob_str_first(id, hob_utf8_prefix(id, 128))));
}

/* ---- close ---------------------------------------------------------------------------------- */

void hob_acp_close_end(hob_acp_session *s) {
    hob_acp *x = s->acp;
    hob_buf id = s->waiting;
    hob_buf_init(&s->waiting, 0);
    hob_acp_session_free(s, false);
    hob_acp_result(x, hob_buf_str(&id), HOB_STR("{}"));
    hob_buf_finish(&id);
}

/* What runs is cancelled first, and closed when it is settled: meanwhile the editor can still answer what tools asked
 * of it. */
int hob_acp_session_close(hob_acp_request *q, hob_error *err) {
    hob_acp_session *s = q->s;
    bool running = hob_session_is_running(s->s) > 0;
    if (s->state == HOB_ACP_CLOSING)
        return hob_fail(err, HOB_EBUSY, 0, "session %s is being closed", s->id);
    int code = running ? hob_session_cancel(s->s, HOB_QUEUED_DROP, err) : HOB_OK;
    if (code < 0) return code;
    if (s->state == HOB_ACP_WORKING) hob_acp_prompt_cancelled(s);
    s->state = HOB_ACP_CLOSING;
    hob_buf_reset(&s->waiting);
    hob_buf_add(&s->waiting, q->id);
    if (!running) hob_acp_close_end(s);
    return HOB_OK;
}

/* ---- title ---------------------------------------------------------------------------------- */

static void answer_title(hob_acp_request *q, hob_str title) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 16 * 1024);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "title", title);
    hob_jsonw_object_end(&w);
    hob_acp_result(q->acp, q->id, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* Of any session of the list, open or not. */
int hob_acp_set_title(hob_acp_request *q, hob_error *err) {
    hob_str id = hob_json_get_str(q->params, "sessionId");
    hob_str title = hob_str_trim(hob_json_get_str(q->params, "title"));
    hob_acp_session *s = hob_acp_find(q->acp, id);
    if (!title.n) return hob_fail(err, HOB_EINVAL, 0, "`title` must be a line of text");
    int code = s ? hob_session_set_title(s->s, title, err) : hob_acp_check_stored(q->acp, id, err);
    if (code >= 0 && !s) {
        char *name = hob_dupz(id);
        code = hob_runtime_rename_session(q->acp->rt, name, &q->acp->of, title, err);
        hob_free(name);
    }
    if (code >= 0) answer_title(q, title);
    return code;
}

/* ---- delete --------------------------------------------------------------------------------- */

/* The answer has no place for what stays: the log has. */
static void tell_kept(hob_str id, const hob_page *kept) {
    char folder[PATH_MAX];
    for (size_t i = 0; i < hob_page_count(kept); i++) {
        hob_json_field(hob_page_row(kept, i), "folder", folder, sizeof folder);
        hob_log(HOB_LOG_WARN, "acp", "%.*s: kept the git worktree %s", HOB_FMT(id), folder);
    }
}

static int remove_stored(hob_acp *x, hob_str id, hob_error *err) {
    char *name = hob_dupz(id);
    hob_page *kept;
    int code = hob_runtime_remove_session_of(x->rt, name, &x->of, &kept, err);
    if (code >= 0) {
        tell_kept(id, kept);
        hob_page_destroy(kept);
    }
    hob_free(name);
    return code;
}

int hob_acp_session_delete(hob_acp_request *q, hob_error *err) {
    hob_str id = hob_json_get_str(q->params, "sessionId");
    hob_acp_session *s = hob_acp_find(q->acp, id);
    if (s && hob_session_is_running(s->s) > 0)
        return hob_fail(err, HOB_EBUSY, 0, "session %s is at work: cancel it first", s->id);
    if (s) hob_acp_session_free(s, false);
    int code = hob_acp_check_stored(q->acp, id, err);
    if (code >= 0) code = remove_stored(q->acp, id, err);
    if (code == HOB_ENOENT) code = HOB_OK; /* what is not there is deleted */
    if (code >= 0) hob_acp_result(q->acp, q->id, HOB_STR("{}"));
    return code;
}
