/*
 * trust.c - the folders the user trusts, remembered in the user's state folder and nowhere else.
 *
 * trust.json: {"v":1,"folders":["/a/canonical/path"]}. The whole path is the key: a folder beside or
 * below is another folder. A file that others could have written, or that cannot be understood, is an
 * error, and the folder counts as not trusted.
 */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/file.h"

#define MAX_BYTES (4u << 20)

typedef struct trusted {
    hob_buf text;
    hob_arena *arena;
    const hob_json *folders; /* array of strings; NULL = no file yet */
} trusted;

static void trusted_finish(trusted *t) {
    hob_buf_finish(&t->text);
    hob_arena_destroy(t->arena);
}

static int join(char *out, const char *dir, const char *name, hob_error *err) {
    int n = snprintf(out, PATH_MAX, "%s/%s", dir, name);
    if (n > 0 && n < PATH_MAX) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, ENAMETOOLONG, "the path of the state folder is too long");
}

static int canonical(const char *cwd, char *out, hob_error *err) {
    if (hob_path_canonical(cwd, out) < 0)
        return hob_fail_errno(err, HOB_ENOENT, "the folder %s cannot be used", cwd);
    if (!hob_utf8_valid(hob_str_z(out)))
        return hob_fail(err, HOB_EINVAL, 0, "the path of the folder is not valid UTF-8");
    return HOB_OK;
}

static int understand(trusted *t, const char *path, hob_error *err) {
    const hob_json *v;
    hob_error why = {0};
    if (hob_json_parse(t->arena, hob_buf_str(&t->text), NULL, &v, &why) < 0)
        return hob_fail(err, HOB_ECONFIG, 0, "%s: %s", path, why.message);
    if (hob_json_get_int(v, "v", 0) > 1)
        return hob_fail(err, HOB_EVERSION, 0, "%s was written by a newer version", path);
    t->folders = hob_json_get(v, "folders");
    if (!hob_json_is(t->folders, HOB_JSON_ARRAY))
        return hob_fail(err, HOB_ECONFIG, 0, "%s has no list of folders", path);
    return HOB_OK;
}

static int trusted_init(trusted *t, const char *state_dir, hob_error *err) {
    char path[PATH_MAX];
    *t = (trusted){.arena = hob_arena_create((size_t)64 << 20)};
    hob_buf_init(&t->text, MAX_BYTES);
    int code = join(path, state_dir, "trust.json", err);
    hob_file_opts o = {.path = path, .max = MAX_BYTES};
    hob_file_info info;
    hob_error why = {0};
    if (code == HOB_OK) code = hob_file_read(&o, &t->text, &info, &why);
    if (code == HOB_ENOENT) return HOB_OK;
    if (code < 0 && why.code) hob_fail(err, code, why.sub, "%s %s", path, why.message);
    if (code == HOB_OK && (info.owner != geteuid() || (info.mode & 022)))
        code = hob_fail(err, HOB_EACCES, 0, "%s could have been written by others; chmod 600 it",
                        path);
    if (code == HOB_OK) code = understand(t, path, err);
    if (code < 0) trusted_finish(t);
    return code;
}

static bool contains(const trusted *t, const char *folder) {
    for (const hob_json *v = hob_json_first(t->folders); v; v = hob_json_next(v)) {
        if (hob_str_eqz(hob_json_str(v), folder)) return true;
    }
    return false;
}

int hob_trust_check(const char *state_dir, const char *cwd, hob_error *err) {
    char folder[PATH_MAX];
    trusted t;
    if (!state_dir || !*state_dir) return 0;
    int code = canonical(cwd, folder, err);
    if (code == HOB_OK) code = trusted_init(&t, state_dir, err);
    if (code < 0) return code;
    code = contains(&t, folder);
    trusted_finish(&t);
    return code;
}

/* ---- adding --------------------------------------------------------------------------------- */

/* Two that add at the same time take turns. Closing the descriptor ends the lock. */
static int lock(const char *state_dir, hob_error *err) {
    char path[PATH_MAX];
    int code = join(path, state_dir, "trust.lock", err);
    if (code < 0) return code;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    while (fd >= 0 && fcntl(fd, F_OFD_SETLKW, &all) < 0) {
        if (errno == EINTR) continue;
        close(fd);
        fd = -1;
    }
    return fd >= 0 ? fd : hob_fail_errno(err, HOB_EIO, "%s cannot be locked", path);
}

static int write_all(int fd, hob_str s) {
    while (s.n > 0) {
        ssize_t n = write(fd, s.p, s.n);
        if (n < 0 && errno != EINTR) return HOB_EIO;
        s = hob_str_skip(s, n < 0 ? 0 : (size_t)n);
    }
    return fsync(fd) < 0 ? HOB_EIO : HOB_OK;
}

/* All of it or nothing: a new file takes the place of the old one. */
static int replace(const char *state_dir, hob_str text, hob_error *err) {
    char path[PATH_MAX], fresh[PATH_MAX];
    int code = join(path, state_dir, "trust.json", err);
    if (code == HOB_OK) code = join(fresh, state_dir, "trust.json.new", err);
    if (code < 0) return code;
    unlink(fresh); /* of one that was killed; nobody else writes while we hold the lock */
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return hob_fail_errno(err, HOB_EIO, "%s cannot be written", fresh);
    code = write_all(fd, text);
    close(fd);
    if (code < 0 || rename(fresh, path) < 0) {
        hob_fail_errno(err, HOB_EIO, "%s cannot be written", path);
        unlink(fresh);
        return HOB_EIO;
    }
    return HOB_OK;
}

typedef struct change {
    const char *add, *remove; /* one of them */
} change;

static void write_list(const trusted *t, const change *c, hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kint(&w, "v", 1);
    hob_jsonw_key(&w, "folders");
    hob_jsonw_array(&w);
    for (const hob_json *v = hob_json_first(t->folders); v; v = hob_json_next(v))
        if (!c->remove || !hob_str_eqz(hob_json_str(v), c->remove))
            hob_jsonw_raw(&w, hob_json_raw(v));
    if (c->add) hob_jsonw_str(&w, hob_str_z(c->add));
    hob_jsonw_array_end(&w);
    hob_jsonw_object_end(&w);
    hob_buf_addc(out, '\n');
}

/* 1 = it was changed, 0 = there was nothing to change. */
static int change_locked(const char *state_dir, const change *c, hob_error *err) {
    trusted t;
    int code = trusted_init(&t, state_dir, err);
    if (code < 0) return code;
    hob_buf text;
    hob_buf_init(&text, MAX_BYTES);
    bool needed = c->add ? !contains(&t, c->add) : contains(&t, c->remove);
    if (needed) {
        write_list(&t, c, &text);
        code = text.err ? hob_fail(err, HOB_ETOOBIG, 0, "too many folders are trusted")
                        : replace(state_dir, hob_buf_str(&text), err);
    }
    hob_buf_finish(&text);
    trusted_finish(&t);
    return code < 0 ? code : needed;
}

static int change_list(const char *state_dir, const change *c, hob_error *err) {
    if (state_dir[0] != '/')
        return hob_fail(err, HOB_EINVAL, 0, "the state folder %s cannot be used", state_dir);
    int code = hob_folder_make(state_dir, err);
    if (code < 0) return code;
    int fd = lock(state_dir, err);
    if (fd < 0) return fd;
    code = change_locked(state_dir, c, err);
    close(fd);
    return code;
}

static int check_state(const char *state_dir, hob_error *err) {
    return state_dir && *state_dir
               ? HOB_OK
               : hob_fail(err, HOB_EINVAL, 0, "there is no state folder: HOME is not set");
}

int hob_trust_add(const char *state_dir, const char *cwd, hob_error *err) {
    char folder[PATH_MAX];
    int code = check_state(state_dir, err);
    if (code == HOB_OK) code = canonical(cwd, folder, err);
    if (code == HOB_OK) code = change_list(state_dir, &(change){.add = folder}, err);
    return code < 0 ? code : HOB_OK;
}

int hob_trust_remove(const char *state_dir, const char *cwd, hob_error *err) {
    char folder[PATH_MAX];
    bool there = hob_path_canonical(cwd, folder) >= 0;
    int code = check_state(state_dir, err);
    return code < 0 ? code : change_list(state_dir, &(change){.remove = there ? folder : cwd}, err);
}

int hob_trust_list(const char *state_dir, hob_trust_fn fn, void *user, hob_error *err) {
    trusted t;
    int code = check_state(state_dir, err);
    if (code == HOB_OK) code = trusted_init(&t, state_dir, err);
    if (code < 0) return code;
    for (const hob_json *v = hob_json_first(t.folders); v; v = hob_json_next(v))
        fn(hob_json_str(v), user);
    trusted_finish(&t);
    return HOB_OK;
}
