/*
 * sessions.c - session/new, load, resume and fork: four ways to an open session.
 */
#include <hob/memory.h>

#include "acp/acp.h"

#include <limits.h>
#include <stdio.h>

#define MAX_DIRS 63

/* ---- what the editor asks for ---------------------------------------------------------------- */

typedef struct wish {
    hob_acp_request *q;
    hob_arena *arena;
    hob_acp_folder folder;
    const char *id;  /* of an existing one; NULL = new */
    const char *cwd; /* NUL-terminated, as add_dirs */
    const char *dirs[MAX_DIRS + 1];
    hob_buf remarks;
} wish;

static int read_path(wish *x, const hob_json *v, const char *what, const char **out,
                     hob_error *err) {
    hob_str path = hob_json_str(v);
    if (!path.n || path.p[0] != '/' || memchr(path.p, 0, path.n))
        return hob_fail(err, HOB_EINVAL, 0, "`%s` must be an absolute path", what);
    if (path.n >= PATH_MAX)
        return hob_fail(err, HOB_EINVAL, 0,
                        "`%s` is longer than any path: %zu bytes, and %d is the most", what, path.n,
                        PATH_MAX - 1);
    *out = hob_arena_dup(x->arena, path).p;
    return HOB_OK;
}

static int read_dirs(wish *x, hob_error *err) {
    const hob_json *list = hob_json_get(x->q->params, "additionalDirectories");
    size_t n = 0;
    int code = HOB_OK;
    if (hob_json_count(list) > MAX_DIRS)
        return hob_fail(err, HOB_ETOOBIG, 0, "at most %d `additionalDirectories` are possible",
                        MAX_DIRS);
    for (const hob_json *v = hob_json_first(list); v && code >= 0; v = hob_json_next(v))
        code = read_path(x, v, "additionalDirectories", &x->dirs[n++], err);
    return code;
}

/* They are not started, and the user is told; a session without them is better than none. */
static void remark_servers(wish *x) {
    const hob_json *list = hob_json_get(x->q->params, "mcpServers");
    const char *between = "";
    if (!hob_json_count(list)) return;
    hob_buf_addz(&x->remarks, "MCP servers are not available in this version of hob; not used: ");
    for (const hob_json *v = hob_json_first(list); v; v = hob_json_next(v)) {
        hob_str name = hob_json_get_str(v, "name");
        hob_buf_addf(&x->remarks, "%s%.*s", between,
                     HOB_FMT(hob_str_first(name, hob_utf8_prefix(name, 100))));
        between = ", ";
    }
    hob_buf_addc(&x->remarks, '\n');
    hob_log(HOB_LOG_WARN, "acp", "%s", hob_buf_z(&x->remarks));
}

static int read_wish(wish *x, hob_acp_request *q, hob_error *err) {
    hob_acp *a = q->acp;
    *x = (wish){.q = q, .arena = hob_arena_create(1u << 20)};
    x->folder = (hob_acp_folder){.size = sizeof x->folder, .rt = a->rt};
    x->folder.session = (hob_session_opts)HOB_SESSION_OPTS_INIT;
    hob_buf_init(&x->remarks, 16 * 1024);
    if (a->nsessions >= HOB_ACP_SESSIONS)
        return hob_fail(err, HOB_ELIMIT, 0, "%d sessions are open: close one of them",
                        HOB_ACP_SESSIONS);
    int code = read_path(x, hob_json_get(q->params, "cwd"), "cwd", &x->cwd, err);
    if (code >= 0) code = read_dirs(x, err);
    if (code >= 0 && a->o.folder) code = a->o.folder(x->cwd, &x->folder, a->o.user, err);
    if (code >= 0) remark_servers(x);
    return code;
}

static void finish_wish(wish *x) {
    hob_buf_finish(&x->remarks);
    hob_arena_destroy(x->arena);
}

/* ---- opening -------------------------------------------------------------------------------- */

hob_acp_session *hob_acp_find(hob_acp *x, hob_str id) {
    HOB_LIST_EACH (it, &x->sessions) {
        hob_acp_session *s = HOB_CONTAINER(it, hob_acp_session, link);
        if (hob_str_eqz(id, s->id)) return s;
    }
    return NULL;
}

static hob_acp_session *make(const wish *x) {
    hob_acp_session *s = HOB_NEW(hob_acp_session);
    s->acp = x->q->acp;
    s->rt = x->folder.rt;
    s->cwd = hob_dupz(hob_str_z(x->cwd));
    hob_list_init(&s->link);
    hob_list_init(&s->calls);
    hob_list_init(&s->permits);
    hob_list_init(&s->errands);
    hob_buf_init(&s->waiting, HOB_ACP_ID_MAX);
    hob_buf_init(&s->usage, 4096);
    hob_buf_init(&s->remarks, 64 * 1024);
    hob_buf_add(&s->remarks, hob_buf_str(&x->remarks));
    return s;
}

void hob_acp_session_free(hob_acp_session *s, bool detach) {
    if (detach)
        hob_session_detach(s->s);
    else
        hob_session_close(s->s);
    hob_acp_permissions_drop(s);
    hob_acp_errands_drop(s);
    while (!hob_list_empty(&s->calls))
        hob_acp_call_free(s, HOB_LIST_FIRST(&s->calls, hob_acp_call, link));
    if (s->link.next != &s->link) s->acp->nsessions--;
    hob_list_remove(&s->link);
    hob_buf_finish(&s->waiting);
    hob_buf_finish(&s->usage);
    hob_buf_finish(&s->remarks);
    hob_free(s->cwd);
    hob_free(s);
}

/* A prompt names what is left of a run that a dead process did not finish: until then nothing goes on by itself, since
 * the editor has no turn to show it in. */
static int open_session(wish *x, unsigned flags, hob_acp_session **out, hob_error *err) {
    hob_session_opts *o = &x->folder.session;
    char warning[700];
    o->choice = x->id ? HOB_SESSION_OPEN : HOB_SESSION_NEW;
    o->id = x->id;
    o->cwd = x->cwd;
    o->add_dirs = x->dirs;
    o->approver = HOB_APPROVER_HOST;
    o->on_unfinished = HOB_UNFINISHED_LEAVE;
    o->flags |= flags;
    if (x->id) o->flags |= HOB_SESSION_KEEP_MODE; /* it stays what it was told to be */
    hob_acp_session *s = make(x);
    o->app_name = hob_str_z(s->acp->of.app_name);
    o->user_id = hob_str_z(s->acp->of.user_id);
    o->backend = &hob_acp_backend;
    o->backend_user = s;
    int code = hob_session_create(s->rt, o, &s->s, err);
    if (code < 0) {
        hob_acp_session_free(s, true);
        return code;
    }
    if (hob_session_init_warning(s->s, warning, sizeof warning) > 0)
        hob_buf_addf(&s->remarks, "%s\n", warning);
    hob_session_id(s->s, s->id, sizeof s->id);
    hob_list_push(&s->acp->sessions, &s->link);
    s->acp->nsessions++;
    s->context = hob_acp_context(s);
    s->titled = x->id && !(flags & HOB_SESSION_FORK); /* the list has it */
    *out = s;
    return HOB_OK;
}

static int find_stored(wish *x, hob_error *err) {
    hob_str id = hob_json_get_str(x->q->params, "sessionId");
    x->id = hob_arena_dup(x->arena, id).p;
    return hob_acp_check_stored(x->q->acp, id, err);
}

/* ---- answers -------------------------------------------------------------------------------- */

static void answer(hob_acp_request *q, hob_acp_session *s, bool with_id) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, 4u << 20);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    if (with_id) hob_jsonw_kstr(&w, "sessionId", hob_str_z(s->id));
    hob_acp_write_options(s, &w);
    hob_jsonw_object_end(&w);
    hob_acp_result(q->acp, q->id, hob_buf_str(&b));
    hob_buf_finish(&b);
    hob_acp_send_commands(s);
}

int hob_acp_session_new(hob_acp_request *q, hob_error *err) {
    wish x;
    hob_acp_session *s = NULL;
    int code = read_wish(&x, q, err);
    if (code >= 0) code = open_session(&x, 0, &s, err);
    if (code >= 0) answer(q, s, true);
    finish_wish(&x);
    return code;
}

int hob_acp_session_fork(hob_acp_request *q, hob_error *err) {
    wish x;
    hob_acp_session *s = NULL;
    int code = read_wish(&x, q, err);
    if (code >= 0) code = find_stored(&x, err);
    if (code >= 0) code = open_session(&x, HOB_SESSION_FORK, &s, err);
    if (code >= 0) answer(q, s, true);
    finish_wish(&x);
    return code;
}

/* What waits since another editor was there, and what is left of a run. */
static void pick_up(hob_acp_session *s) {
    char unfinished[8] = "";
    hob_error err;
    hob_page *page = NULL;
    if (hob_acp_permission_ask_all(s, &err) < 0)
        hob_log(HOB_LOG_WARN, "acp", "%s: %s", s->id, err.message);
    if (hob_session_info(s->s, &page, NULL) >= 0)
        hob_json_field(hob_page_row(page, 0), "unfinished", unfinished, sizeof unfinished);
    hob_page_destroy(page);
    if (!strcmp(unfinished, "true"))
        hob_acp_notice(s, "info",
                       "The last run was interrupted; the next prompt goes on from what it did");
    if (hob_acp_is_paused(s))
        hob_acp_notice(s, "info", "The last run is paused; it goes on with the next prompt");
}

/* One that this editor has open already is shown once more, not opened twice. */
static int take_up(hob_acp_request *q, bool replay, hob_error *err) {
    wish x;
    hob_acp_session *s = hob_acp_find(q->acp, hob_json_get_str(q->params, "sessionId"));
    bool known = s != NULL;
    if (known && s->state != HOB_ACP_IDLE)
        return hob_fail(err, HOB_EBUSY, 0, "session %s is at work here", s->id);
    int code = read_wish(&x, q, err);
    if (code >= 0 && !known) code = find_stored(&x, err);
    if (code >= 0 && !known) code = open_session(&x, 0, &s, err);
    if (code >= 0 && replay) code = hob_acp_replay(s, err);
    if (code >= 0) answer(q, s, false);
    if (code >= 0 && !known) pick_up(s);
    finish_wish(&x);
    return code;
}

int hob_acp_session_load(hob_acp_request *q, hob_error *err) {
    return take_up(q, true, err);
}

int hob_acp_session_resume(hob_acp_request *q, hob_error *err) {
    return take_up(q, false, err);
}
