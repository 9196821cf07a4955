/*
 * place_clear.c - what is left of the worktrees of a session that is being removed.
 *
 * The notes in its folder say where they came from (place.c). One after the other is looked at, and removed if it is
 * unchanged; what somebody may still want stays, with its note.
 */
#include "session/place.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_MAX = 64 * 1024, NOTES_MAX = 10000 };

typedef struct clearing {
    hob_runtime *rt;
    hob_arena *arena;
    hob_str folder;
    hob_str *names; /* of children */
    size_t n;
    hob_page *kept;
    hob_worktree w;
    hob_worktree_op *op;
    hob_timer later;
    hob_places_fn done;
    void *user;
} clearing;

static void go_on(clearing *c) {
    hob_timer_start(&c->later, hob_loop_now(c->rt->loop));
}

/* ---- one of them ------------------------------------------------------------------------------------------------- */

static int env_of(clearing *c, hob_worktree_fn done, hob_worktree_env *out, hob_error *err) {
    *out = (hob_worktree_env){.envp = (const char *const *)c->rt->envp, .done = done, .user = c};
    return hob_runtime_exec(c->rt, &out->exec, err);
}

static void add_kept(clearing *c, hob_str folder, hob_str branch) {
    hob_buf row;
    hob_jsonw w;
    hob_buf_init(&row, 64 * 1024);
    hob_jsonw_init(&w, &row);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "folder", folder);
    hob_jsonw_kstr_opt(&w, "branch", branch);
    hob_jsonw_object_end(&w);
    hob_page_add(c->kept, hob_buf_str(&row));
    hob_buf_finish(&row);
}

static void keep(clearing *c, const hob_error *why) {
    add_kept(c, hob_str_z(c->w.folder), hob_str_z(c->w.branch));
    hob_log(HOB_LOG_INFO, "session", "the worktree %s was kept%s%s", c->w.folder,
            why ? ": " : ", it has changes", why ? why->message : "");
    go_on(c);
}

static void on_removed(void *user, const hob_worktree_news *n) {
    clearing *c = user;
    if (n->code < 0) {
        keep(c, &n->err);
        return;
    }
    hob_place_forget(&c->w);
    go_on(c);
}

static void on_looked(void *user, const hob_worktree_news *n) {
    clearing *c = user;
    hob_worktree_env env;
    hob_error err;
    if (n->code < 0 || n->changed) {
        keep(c, n->code < 0 ? &n->err : NULL);
        return;
    }
    int rc = env_of(c, on_removed, &env, &err);
    if (rc >= 0) rc = hob_worktree_remove(&env, &c->w, &c->op, &err);
    if (rc < 0) keep(c, &err);
}

static bool read_note(clearing *c, hob_str name) {
    hob_buf path;
    const hob_json *note = NULL;
    hob_buf_init(&path, PATH_MAX + 300);
    hob_buf_addf(&path, "%.*s/%.*s.json", HOB_FMT(c->folder), HOB_FMT(name));
    char *text = hob_arena_bytes(c->arena, NOTE_MAX);
    int fd = open(hob_buf_z(&path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, NOTE_MAX);
    if (fd >= 0) close(fd);
    bool good = n > 0 &&
                hob_json_parse(c->arena, hob_str_n(text, (size_t)n), NULL, &note, NULL) >= 0 &&
                hob_place_read(note, c->arena, &c->w);
    path.n -= 5; /* it speaks of the folder beside it, and of no other */
    good = good && hob_str_eqz(hob_buf_str(&path), c->w.folder);
    hob_buf_finish(&path);
    return good;
}

/* Whose note says nothing: it is somewhere there. */
static void keep_unknown(clearing *c, hob_str name) {
    hob_buf folder;
    hob_buf_init(&folder, PATH_MAX + 300);
    hob_buf_addf(&folder, "%.*s/%.*s", HOB_FMT(c->folder), HOB_FMT(name));
    add_kept(c, hob_buf_str(&folder), HOB_STR_NULL);
    hob_buf_finish(&folder);
    go_on(c);
}

static void clear_one(clearing *c, hob_str name) {
    struct stat st;
    hob_worktree_env env;
    hob_error err;
    if (!read_note(c, name)) {
        keep_unknown(c, name);
        return;
    }
    if (lstat(c->w.folder, &st) < 0) { /* by hand, or it never was there */
        hob_place_forget(&c->w);
        go_on(c);
        return;
    }
    int rc = env_of(c, on_looked, &env, &err);
    if (rc >= 0) rc = hob_worktree_look(&env, &c->w, &c->op, &err);
    if (rc < 0) keep(c, &err);
}

static void on_later(hob_timer *t) {
    clearing *c = HOB_CONTAINER(t, clearing, later);
    if (c->n) {
        clear_one(c, c->names[--c->n]);
        return;
    }
    c->done(c->user);
    hob_arena_destroy(c->arena);
    hob_free(c->names);
    hob_free(c);
}

/* ---- all of them -------------------------------------------------------------------------------------------------- */

static void add(clearing *c, hob_str name) {
    c->names = hob_realloc(c->names, (c->n + 1) * sizeof *c->names);
    c->names[c->n++] = hob_arena_dup(c->arena, name);
}

static void list(clearing *c) {
    DIR *d = opendir(c->folder.p);
    const struct dirent *e;
    while (d && c->n < NOTES_MAX && (e = readdir(d))) {
        hob_str name = hob_str_z(e->d_name);
        if (hob_str_ends(name, HOB_STR(".json"))) add(c, hob_str_first(name, name.n - 5));
    }
    if (d) closedir(d);
}

void hob_places_clear(hob_runtime *rt, const hob_places *of, hob_places_fn done, void *user) {
    clearing *c = HOB_NEW(clearing);
    hob_buf folder;
    *c = (clearing){.rt = rt, .arena = hob_arena_create(0), .done = done, .user = user};
    c->kept = of->kept;
    hob_timer_init(&c->later, rt->loop, on_later);
    hob_buf_init(&folder, PATH_MAX + 300);
    if (*rt->state_dir && hob_place_find_folder(rt, of->parent, &folder)) {
        c->folder = hob_arena_dup(c->arena, hob_buf_str(&folder));
        if (of->child.n)
            add(c, of->child);
        else
            list(c);
    }
    hob_buf_finish(&folder);
    go_on(c);
}
