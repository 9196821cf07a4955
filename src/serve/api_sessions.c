/*
 * api_sessions.c - sessions: list, create, show, change, delete, close, copy.
 */
#include "serve/api.h"
#include "serve/names.h"

#include <limits.h>
#include <stdio.h>

enum { TITLE_MAX = 1000 }; /* bytes, as of hob_session_set_title */

/* ---- list -------------------------------------------------------------------------------------------------------- */

void hob_api_sessions(hob_web_request *r) {
    const hob_caller *c = hob_web_caller(r);
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    hob_page *page = NULL;
    hob_error err;
    int64_t limit;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 50}, &limit)) return;
    o.limit = (size_t)limit;
    o.cursor = hob_api_z(r, hob_web_query(r, "cursor"));
    o.cwd = hob_api_z(r, hob_web_query(r, "cwd"));
    o.app_name = hob_api_z(r, c->tenant);
    o.user_id = hob_api_z(r, c->principal);
    if (hob_web_accepts(r, "text/event-stream")) {
        hob_api_sessions_live(r, &o);
        return;
    }
    int rc = hob_runtime_sessions(hob_api_runtime(r), &o, &page, &err);
    hob_api_conclude(r, rc, "sessions", page, &err);
}

/* ---- show -------------------------------------------------------------------------------------------------------- */

/* The row of the index; "live" is what the session says of itself while it is open here. */
static void write_session(hob_buf *b, const hob_page *row, const hob_page *info) {
    hob_str text = hob_page_row(row, 0);
    hob_buf_init(b, 4u << 20);
    hob_buf_add(b, hob_str_first(text, text.n - 1)); /* without its closing brace */
    hob_buf_addz(b, ",\"live\":");
    hob_buf_add(b, info ? hob_page_row(info, 0) : HOB_STR("null"));
    hob_buf_addc(b, '}');
}

static void answer_session(hob_web_request *r, int status, const hob_page *row,
                           const hob_page *info) {
    hob_buf b;
    write_session(&b, row, info);
    hob_web_answer_json(r, status, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void answer_room(hob_web_request *r, int status, hob_room *room) {
    hob_page *row = NULL, *info = NULL;
    hob_buf b;
    hob_error err;
    uint64_t news = hob_room_news(room);
    hob_str id = hob_str_z(hob_room_id(room));
    int rc = hob_hub_find(hob_api_hub(r), hob_web_caller(r), id, &row, &err);
    if (rc >= 0) rc = hob_session_info(hob_room_session(room), &info, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
    } else {
        write_session(&b, row, info);
        hob_room_show(room, news, hob_buf_str(&b));
        hob_web_answer_json(r, status, hob_buf_str(&b));
        hob_buf_finish(&b);
    }
    hob_page_destroy(row);
    hob_page_destroy(info);
}

bool hob_api_show_again(hob_web_request *r) {
    hob_str id = hob_web_param(r, "id"); /* another name of it is looked up later: that blocks */
    char *kept = hob_hub_shown(hob_api_hub(r), hob_web_caller(r), id);
    if (!kept) return false;
    hob_web_note(r, "session_id", id);
    hob_web_answer_json(r, 200, hob_str_z(kept));
    hob_free(kept);
    return true;
}

static void show(hob_web_request *r, int status) {
    hob_page *row;
    hob_room *room = hob_api_peek(r);
    if (room) {
        hob_web_note(r, "session_id", hob_api_id(r));
        answer_room(r, status, room);
        hob_hub_leave(room);
        return;
    }
    if (!hob_api_find(r, &row)) return;
    answer_session(r, status, row, NULL);
    hob_page_destroy(row);
}

void hob_api_show(hob_web_request *r) {
    show(r, 200);
}

/* ---- create ------------------------------------------------------------------------------------------------------ */

typedef struct wishes {
    hob_session_opts o;
    hob_str title;
    char cwd[PATH_MAX];
} wishes;

static bool take_words(hob_web_request *r, const hob_json *body, hob_session_opts *o) {
    const struct {
        const char *key;
        const char **to;
    } words[] = {{"id", &o->id},
                 {"model", &o->model},
                 {"thinking", &o->thinking},
                 {"agent", &o->agent_name},
                 {"system_prompt", &o->system_prompt}};
    hob_str text;
    for (size_t i = 0; i < HOB_ARRAY_LEN(words); i++) {
        bool model = words[i].to == &o->model;
        if (!(model ? hob_api_model(r, body, &text) : hob_api_text(r, body, words[i].key, &text)))
            return false;
        *words[i].to = hob_api_z(r, text);
    }
    return true;
}

/* Looked at before a session is made that would stay without it. */
static bool take_title(hob_web_request *r, const hob_json *body, hob_str *out) {
    hob_error err;
    int rc = HOB_OK;
    if (!hob_api_text(r, body, "title", out)) return false;
    for (size_t i = 0; i < out->n && rc >= 0; i++)
        if ((unsigned char)out->p[i] < ' ')
            rc = hob_fail(&err, HOB_EINVAL, 0, "a title is one line, without control characters");
    if (out->n > TITLE_MAX)
        rc = hob_fail(&err, HOB_ETOOBIG, 0, "a title has at most %d bytes", TITLE_MAX);
    if (rc < 0) hob_web_fail_hob(r, rc, &err);
    return rc >= 0;
}

static bool take_folder(hob_web_request *r, const hob_json *body, wishes *w) {
    hob_error err;
    hob_str path;
    char **roots = hob_web_server(r)->roots;
    if (!hob_api_text(r, body, "cwd", &path)) return false;
    if (!path.p && !(roots && roots[0])) return true; /* a session without a folder */
    if (!path.p) path = hob_str_z(roots[0]);
    int rc = hob_hub_folder(hob_api_hub(r), path, w->cwd, sizeof w->cwd, &err);
    if (rc < 0) hob_web_fail_hob(r, rc, &err);
    w->o.cwd = w->cwd;
    return rc >= 0;
}

static bool take_mode(hob_web_request *r, const hob_json *body, hob_session_opts *o) {
    hob_error err;
    hob_str wish;
    if (!hob_api_text(r, body, "permission_mode", &wish)) return false;
    int rc = hob_hub_mode(hob_api_hub(r), hob_web_caller(r), wish, &o->permission_mode, &err);
    if (rc < 0) hob_web_fail_hob(r, rc, &err);
    return rc >= 0;
}

static bool take_wishes(hob_web_request *r, const hob_json *body, wishes *w) {
    static const char *const known[] = {
        "id",    "title",  "cwd", "model", "thinking", "agent", "permission_mode", "system_prompt",
        "state", "budget", NULL};
    const hob_json *state = hob_json_get(body, "state");
    if (!hob_api_known(r, body, known) || !take_words(r, body, &w->o)) return false;
    if (!take_title(r, body, &w->title)) return false;
    if (!take_folder(r, body, w) || !take_mode(r, body, &w->o) || !hob_api_budget(r, body, &w->o))
        return false;
    if (state) w->o.state = hob_json_raw(state);
    return true;
}

/* The id that was wished for, as it will be. */
static int choose_id(hob_web_request *r, const char **id, hob_error *err) {
    char name[HOB_NAME_SIZE];
    if (!*id) return HOB_OK;
    int rc = hob_name_choose(hob_api_hub(r), hob_web_caller(r), hob_str_z(*id), name, err);
    if (rc >= 0) *id = hob_api_z(r, hob_str_z(name));
    return rc;
}

/* Its key stands in the session's first event, so that the same request again finds what it made, whatever came in
 * between. Without a wish the id follows from the key. False: answered. */
static bool take_key(hob_web_request *r, hob_session_opts *o, char key[HOB_KEY_SIZE]) {
    char name[HOB_NAME_SIZE];
    if (!hob_api_key(r, key)) return false;
    if (!key[0]) return true;
    o->key = key;
    if (o->id) return true;
    hob_name_keyed(hob_api_hub(r), hob_web_caller(r), hob_web_header(r, "idempotency-key"), name);
    o->id = hob_api_z(r, hob_str_z(name));
    return true;
}

/* True: this request made the session of that id before, which was answered; or another one with its key. */
static bool made_before(hob_web_request *r, const hob_session_opts *o) {
    char had[HOB_KEY_SIZE];
    hob_page *row;
    hob_str id = hob_str_z(o->id);
    if (!o->key) return false;
    if (hob_hub_find(hob_api_hub(r), hob_web_caller(r), id, &row, NULL) < 0) return false;
    hob_page_destroy(row);
    if (hob_hub_key_of(hob_api_hub(r), o->id, had, NULL) < 0) return false;
    int rc = hob_key_compare(had, o->key);
    if (rc == 0) return false;
    if (rc < 0) {
        hob_api_fail_reused(r);
        return true;
    }
    hob_web_answer_header(r, "Idempotency-Replayed", HOB_STR("true"));
    *hob_web_session(r) = hob_arena_dup(hob_web_arena(r), id);
    show(r, 201);
    return true;
}

void hob_api_create(hob_web_request *r) {
    const hob_json *body = hob_web_json(r);
    wishes w = {.o = HOB_SESSION_OPTS_INIT};
    char key[HOB_KEY_SIZE];
    hob_room *room;
    hob_error err;
    if (!body || !take_wishes(r, body, &w)) return;
    int rc = choose_id(r, &w.o.id, &err);
    if (rc >= 0 && (!take_key(r, &w.o, key) || made_before(r, &w.o))) return;
    if (rc >= 0) rc = hob_hub_make(hob_api_hub(r), hob_web_caller(r), &w.o, &room, &err);
    if (rc == HOB_EEXIST && made_before(r, &w.o)) return; /* by one that came at the same time */
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    if (w.title.n) rc = hob_session_set_title(hob_room_session(room), w.title, &err);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        answer_room(r, 201, room);
    hob_hub_leave(room);
}

/* ---- change ------------------------------------------------------------------------------------------------------ */

/* A title needs no open session. True: answered; false: it is open here. */
static bool rename_closed(hob_web_request *r, hob_str title) {
    hob_tenant of = hob_api_tenant(r);
    hob_room *room = hob_api_peek(r);
    hob_page *row;
    hob_error err;
    if (room) hob_hub_leave(room);
    if (room) return false;
    if (!hob_api_find(r, &row)) return true;
    hob_page_destroy(row);
    const char *id = hob_api_z(r, hob_api_id(r));
    int rc = hob_runtime_rename_session(hob_api_runtime(r), id, &of, title, &err);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        hob_api_show(r);
    return true;
}

typedef struct changes {
    hob_str title, model, thinking;
    const char *mode; /* one that the caller may use; NULL = as it is */
} changes;

static bool take_changes(hob_web_request *r, const hob_json *body, changes *x) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    if (!hob_api_text(r, body, "title", &x->title) || !hob_api_model(r, body, &x->model) ||
        !hob_api_text(r, body, "thinking", &x->thinking))
        return false;
    if (!hob_json_get(body, "permission_mode")) return true;
    if (!take_mode(r, body, &o)) return false;
    x->mode = o.permission_mode;
    return true;
}

static int change(hob_web_request *r, hob_room *room, const changes *x, hob_error *err) {
    hob_session *s = hob_room_session(room);
    int rc = HOB_OK;
    if (x->title.p) rc = hob_session_set_title(s, x->title, err);
    if (rc >= 0 && x->model.p) rc = hob_session_set_model(s, hob_api_z(r, x->model), err);
    if (rc >= 0 && x->thinking.p) rc = hob_session_set_thinking(s, hob_api_z(r, x->thinking), err);
    return rc >= 0 && x->mode ? hob_room_set_mode(room, x->mode, err) : rc;
}

void hob_api_change(hob_web_request *r) {
    static const char *const known[] = {"title", "model", "thinking", "permission_mode", NULL};
    const hob_json *body = hob_web_json(r);
    changes x = {.mode = NULL};
    hob_error err;
    if (!body || !hob_api_known(r, body, known) || !take_changes(r, body, &x)) return;
    if (x.title.p && !x.model.p && !x.thinking.p && !x.mode && rename_closed(r, x.title)) return;
    hob_room *room = hob_api_open(r);
    if (!room) return;
    int rc = change(r, room, &x, &err);
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        answer_room(r, 200, room);
    hob_hub_leave(room);
}

/* ---- the end ------------------------------------------------------------------------------------------------------ */

/* True: it is not open here any more. */
static bool let_go(hob_web_request *r, hob_farewell how) {
    hob_room *room = hob_api_peek(r);
    hob_error err;
    if (!room) return true;
    int rc = hob_hub_end(room, how, &err);
    if (rc < 0) hob_web_fail_hob(r, rc, &err);
    return rc >= 0;
}

void hob_api_close(hob_web_request *r) {
    if (!hob_api_is_there(r)) return;
    if (let_go(r, HOB_FAREWELL_CLOSE)) hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

static bool is_at_work(hob_web_request *r) {
    hob_room *room = hob_api_peek(r);
    if (!room) return false;
    bool yes = hob_session_is_running(hob_room_session(room)) > 0;
    hob_hub_leave(room);
    return yes;
}

/* Git worktrees with changes outlive their session; whoever removes it is told where they are. */
static void answer_kept(hob_web_request *r, hob_page *kept) {
    if (hob_page_count(kept)) {
        hob_api_answer_page(r, "kept", kept);
        return;
    }
    hob_page_destroy(kept);
    hob_web_answer(r, 204, NULL, HOB_STR_NULL);
}

void hob_api_delete(hob_web_request *r) {
    hob_page *kept;
    hob_error err;
    hob_str id = hob_api_id(r);
    if (!hob_api_is_there(r)) return;
    if (is_at_work(r)) {
        hob_web_fail(r, 409, "busy", "a run is under way: cancel it, or close the session, first");
        return;
    }
    if (!let_go(r, HOB_FAREWELL_LET_GO)) return;
    hob_tenant of = hob_api_tenant(r);
    int rc = hob_runtime_remove_session_of(hob_api_runtime(r), hob_api_z(r, id), &of, &kept, &err);
    if (rc < 0) {
        hob_web_fail_hob(r, rc, &err);
        return;
    }
    hob_hub_removed(hob_api_hub(r), hob_web_caller(r), id);
    answer_kept(r, kept);
}

/* ---- copies ------------------------------------------------------------------------------------------------------- */

static bool take_copy(hob_web_request *r, hob_fork_opts *o, hob_str *title) {
    static const char *const known[] = {"title", "entry", "id", NULL};
    const hob_json *body = hob_web_json(r);
    hob_str entry, id;
    if (!body || !hob_api_known(r, body, known) || !take_title(r, body, title) ||
        !hob_api_text(r, body, "entry", &entry) || !hob_api_text(r, body, "id", &id))
        return false;
    o->session = hob_api_z(r, hob_api_id(r));
    o->entry = hob_api_z(r, entry);
    o->id = hob_api_z(r, id);
    return true;
}

/* Reads the original and leaves it to whoever has it; the copy is nobody's yet. */
void hob_api_fork(hob_web_request *r) {
    hob_fork_opts o = HOB_FORK_OPTS_INIT;
    hob_tenant of = hob_api_tenant(r);
    hob_page *original, *copy = NULL;
    hob_str title;
    hob_error err;
    char id[160];
    o.of = &of;
    if (!take_copy(r, &o, &title) || !hob_api_find(r, &original)) return;
    hob_page_destroy(original);
    int rc = choose_id(r, &o.id, &err);
    if (rc >= 0) rc = hob_runtime_fork_session(hob_api_runtime(r), &o, &copy, &err);
    if (rc >= 0 && title.n) {
        hob_json_field(hob_page_row(copy, 0), "id", id, sizeof id);
        hob_page_destroy(copy);
        copy = NULL;
        rc = hob_runtime_rename_session(hob_api_runtime(r), id, &of, title, &err);
        if (rc >= 0)
            rc = hob_hub_find(hob_api_hub(r), hob_web_caller(r), hob_str_z(id), &copy, &err);
    }
    if (rc < 0)
        hob_web_fail_hob(r, rc, &err);
    else
        answer_session(r, 201, copy, NULL);
    hob_page_destroy(copy);
}

/* ---- by their words ------------------------------------------------------------------------------------------------- */

void hob_api_search(hob_web_request *r) {
    hob_search_opts o = HOB_SEARCH_OPTS_INIT;
    hob_tenant of = hob_api_tenant(r);
    hob_page *page = NULL;
    hob_error err;
    int64_t limit;
    if (!hob_web_query_int(r, "limit", (hob_web_range){1, 1000, 20}, &limit)) return;
    o.query = hob_api_z(r, hob_web_query(r, "q"));
    o.cursor = hob_api_z(r, hob_web_query(r, "cursor"));
    o.limit = (size_t)limit;
    o.of = &of;
    if (!o.query) {
        hob_web_fail(r, 400, "bad_request", "what is looked for? ?q=WORDS");
        return;
    }
    int rc = hob_runtime_search(hob_api_runtime(r), &o, &page, &err);
    hob_api_conclude(r, rc, "matches", page, &err);
}
