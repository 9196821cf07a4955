/*
 * hub_open.c - what a session may be that is opened over HTTP: whose it is, in which folder, in which mode.
 *
 * The caller's token only narrows: a folder beneath the server's roots, a permission mode not wider than the token's.
 */
#include "serve/callers.h"
#include "serve/hub_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- whose ------------------------------------------------------------------------------------------------- */

static int say_missing(hob_str id, hob_error *err) {
    return hob_fail(err, HOB_ENOENT, 0, "there is no session %.*s", HOB_FMT(id));
}

int hob_hub_find(hob_hub *h, const hob_caller *c, hob_str id, hob_page **row, hob_error *err) {
    hob_tenant of = HOB_TENANT_INIT;
    if (!hob_id_valid(id)) return say_missing(id, err);
    char *name = hob_dupz(id);
    char *app = c ? hob_dupz(c->tenant) : NULL, *user = c ? hob_dupz(c->principal) : NULL;
    of.app_name = app;
    of.user_id = user;
    int rc = hob_runtime_session_row(h->rt, name, &of, row, err);
    if (rc == HOB_ENOENT) rc = say_missing(id, err);
    hob_free(name);
    hob_free(app);
    hob_free(user);
    return rc;
}

/* ---- where ------------------------------------------------------------------------------------------------- */

static bool is_beneath(const char *path, const char *root) {
    size_t n = strlen(root);
    while (n > 1 && root[n - 1] == '/') n--;
    return !strncmp(path, root, n) && (n == 1 || !path[n] || path[n] == '/');
}

static bool is_ours(const hob_hub *h, const char *real) {
    char root[PATH_MAX];
    for (char **r = h->server->roots; r && *r; r++)
        if (realpath(*r, root) && is_beneath(real, root)) return true;
    return false;
}

/* Nothing is there, in a folder of ours: whether there is something elsewhere is not told. */
static bool is_missing_here(const hob_hub *h, char *path) {
    char real[PATH_MAX];
    for (char *end; (end = strrchr(path, '/')) && end != path;) {
        *end = 0;
        if (realpath(path, real)) return is_ours(h, real);
    }
    return false;
}

int hob_hub_folder(const hob_hub *h, hob_str path, char *out, size_t cap, hob_error *err) {
    char real[PATH_MAX];
    char *given = hob_dupz(path);
    bool absolute = given[0] == '/' && strlen(given) == path.n;
    bool there = absolute && realpath(given, real);
    bool missing = absolute && !there && is_missing_here(h, given);
    hob_free(given);
    if (!absolute) return hob_fail(err, HOB_EINVAL, 0, "cwd must be an absolute path");
    if (missing) return hob_fail(err, HOB_ENOENT, 0, "there is no folder %.*s", HOB_FMT(path));
    if (!there || !is_ours(h, real) || strlen(real) >= cap)
        return hob_fail(
            err, HOB_EACCES, 0,
            "%.*s is not beneath the folders that this server works in: name one that is, or have it "
            "added to the server's roots",
            HOB_FMT(path));
    snprintf(out, cap, "%s", real);
    return HOB_OK;
}

/* ---- how strong ---------------------------------------------------------------------------------------------- */

bool hob_mode_within(hob_str mode, hob_str most) {
    return hob_mode_rank(mode) <= hob_mode_rank(most);
}

static const char *mode_name(int rank) {
    static const char *const order[] = {"plan", "ask", "accept-edits", "yolo"};
    return order[rank];
}

static int rank_of_server(const hob_hub *h) {
    int most = hob_mode_rank(hob_str_z(h->server->max_mode));
    return most < 0 ? hob_mode_rank(HOB_STR("accept-edits")) : most;
}

/* Who sets the bound: a server is told when it starts, a token in its row. */
static int fail_mode(const hob_hub *h, const hob_caller *c, int most, hob_error *err) {
    if (most == rank_of_server(h))
        return hob_fail(
            err, HOB_EACCES, 0,
            "this server gives the permission mode %s at most: that is its max_mode, whatever the "
            "token",
            mode_name(most));
    return hob_fail(err, HOB_EACCES, 0,
                    "the token '%.*s' may use the permission mode %s at most: max_mode in its row "
                    "of the token file says so",
                    HOB_FMT(c->name), mode_name(most));
}

static int rank_allowed(const hob_hub *h, const hob_caller *c) {
    int most = rank_of_server(h);
    if (c && c->max_mode.n) most = HOB_MIN(most, hob_mode_rank(c->max_mode));
    return HOB_MAX(most, 0);
}

int hob_hub_mode(const hob_hub *h, const hob_caller *c, hob_str wish, const char **out,
                 hob_error *err) {
    int most = rank_allowed(h, c), mode = hob_mode_rank(wish);
    hob_str said = hob_config_get(hob_runtime_config(h->rt), "permissions.mode"); /* quoted */
    if (!wish.n) {
        mode = said.n > 2 ? hob_mode_rank(hob_str_n(said.p + 1, said.n - 2))
                          : hob_mode_rank(HOB_STR("ask"));
        mode = HOB_MIN(HOB_MAX(mode, 0), most);
    }
    if (mode < 0)
        return hob_fail(err, HOB_EINVAL, 0,
                        "there is no permission mode %.*s: plan, ask, accept-edits, yolo",
                        HOB_FMT(wish));
    if (mode > most) return fail_mode(h, c, most, err);
    *out = mode_name(mode);
    return HOB_OK;
}

void hob_room_note_mode(hob_room *room) {
    char mode[sizeof room->mode];
    hob_page *info;
    if (hob_session_info(room->s, &info, NULL) < 0) return;
    hob_json_field(hob_page_row(info, 0), "permission_mode", mode, sizeof mode);
    hob_page_destroy(info);
    pthread_mutex_lock(&room->hub->lock);
    memcpy(room->mode, mode, sizeof mode);
    pthread_mutex_unlock(&room->hub->lock);
}

/* One at a time, so that what is noted is what is in force. */
int hob_room_set_mode(hob_room *room, const char *mode, hob_error *err) {
    pthread_mutex_lock(&room->hub->moding);
    int rc = hob_session_set_permission_mode(room->s, mode, err);
    if (rc >= 0) hob_room_note_mode(room);
    pthread_mutex_unlock(&room->hub->moding);
    return rc;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

void hob_hub_fill_options(hob_hub *h, const hob_caller *c, hob_session_opts *o) {
    o->app_name = c->tenant;
    o->user_id = c->principal;
    o->approver = HOB_APPROVER_HOST;
    o->definitions = h->server->definitions;
    if (h->server->flags & HOB_SERVER_CONTEXT_FILES) o->flags |= HOB_SESSION_CONTEXT_FILES;
}

static int check_parent(hob_str row, hob_error *err) {
    char parent[160];
    if (hob_json_field(row, "parent", parent, sizeof parent) <= 0) return HOB_OK;
    return hob_fail(err, HOB_EACCES, 0, "this session works for %s: talk to that one", parent);
}

static int check_folder(hob_hub *h, hob_str row, hob_error *err) {
    char cwd[PATH_MAX], real[PATH_MAX];
    int n = hob_json_field(row, "cwd", cwd, sizeof cwd);
    return n <= 0 ? HOB_OK : hob_hub_folder(h, hob_str_z(cwd), real, sizeof real, err);
}

int hob_room_open_session(hob_room *room, const hob_caller *c, hob_page *row, hob_error *err) {
    hob_hub *h = room->hub;
    hob_caller owner = {.tenant = hob_str_z(room->tenant), .principal = hob_str_z(room->principal)};
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    int rc = check_parent(hob_page_row(row, 0), err);
    if (rc >= 0) rc = check_folder(h, hob_page_row(row, 0), err);
    if (rc < 0) return rc;
    hob_hub_fill_options(h, &owner, &o);
    o.choice = HOB_SESSION_OPEN;
    o.id = room->id;
    /* What a server was busy with goes on, whoever comes first after a restart: a client or resume.c. */
    room->marked = hob_marks_has(h->marks, room->id);
    o.on_unfinished = room->marked ? HOB_UNFINISHED_RESUME : HOB_UNFINISHED_LEAVE;
    o.permission_mode = mode_name(rank_allowed(h, c));
    o.flags |= HOB_SESSION_KEEP_MODE;
    return hob_session_create(h->rt, &o, &room->s, err);
}
