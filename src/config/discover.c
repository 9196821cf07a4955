/*
 * discover.c - the files of one declared folder.
 *
 * Only the folder that was named is listed, and for skills exactly one level below it: nothing is
 * searched for. Where a file really lies is asked after following links, and that place decides.
 */
#include "config/discover.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "config/file.h"

#define PATH_ROOM (PATH_MAX + 512)

typedef struct names {
    char *at[HOB_DISCOVER_ENTRIES];
    size_t n;
    bool more;
} names;

static int check_place(const char *path, const char *workspace, hob_error *err) {
    char real[PATH_MAX];
    if (!workspace) return HOB_OK;
    if (hob_path_canonical(path, real) < 0)
        return hob_fail_errno(err, HOB_ENOENT, "cannot be found");
    if (!hob_path_beneath(hob_str_z(real), hob_str_z(workspace)))
        return hob_fail(err, HOB_EACCES, 0, "is a link that leaves the workspace");
    const char *why = hob_path_ignored(real, workspace);
    return why ? hob_fail(err, HOB_EACCES, 0, "%s", why) : HOB_OK;
}

/* The message is what follows the path. */
static int read_file(const char *path, const char *workspace, hob_buf *text, hob_error *err) {
    hob_file_opts o = {.path = path, .beneath = workspace, .max = HOB_DISCOVER_FILE_MAX};
    int code = check_place(path, workspace, err);
    if (code == HOB_OK) code = hob_file_read(&o, text, NULL, err);
    if (code == HOB_OK && !hob_utf8_valid(hob_buf_str(text)))
        code = hob_fail(err, HOB_EPARSE, 0, "is not valid UTF-8");
    return code;
}

int hob_discover_read(const char *path, const char *workspace, hob_buf *text, hob_error *err) {
    hob_error why = {.code = HOB_OK};
    int code = read_file(path, workspace, text, &why);
    return code < 0 ? hob_fail(err, code, why.sub, "%s %s", path, why.message) : HOB_OK;
}

/* The part of a name before the ending that makes it one of ours; "" = it is not. */
static hob_str stem_of(const hob_discover *o, const char *name, bool *yaml) {
    static const char *const endings[] = {".md", ".yaml", ".yml"};
    hob_str s = hob_str_z(name);
    if (name[0] == '.') return HOB_STR_NULL;
    if (o->folders) return s;
    for (size_t i = 0; i < (o->yaml ? HOB_ARRAY_LEN(endings) : 1); i++) {
        hob_str ending = hob_str_z(endings[i]);
        *yaml = i > 0;
        if (hob_str_ends(s, ending)) return hob_str_first(s, s.n - ending.n);
    }
    return HOB_STR_NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list(const hob_discover *o, names *out, hob_error *err) {
    DIR *dir = opendir(o->dir);
    if (!dir && (errno == ENOENT || errno == ENOTDIR)) return HOB_OK;
    if (!dir) return hob_fail_errno(err, HOB_EIO, "%s cannot be listed", o->dir);
    for (struct dirent *e; (e = readdir(dir));) {
        bool yaml;
        if (!stem_of(o, e->d_name, &yaml).n) continue;
        out->more = out->n == HOB_DISCOVER_ENTRIES;
        if (out->more) break;
        out->at[out->n++] = hob_dupz(hob_str_z(e->d_name));
    }
    closedir(dir);
    qsort(out->at, out->n, sizeof(out->at[0]), by_name);
    return HOB_OK;
}

static int hand_over(const hob_discover *o, const char *name, hob_found_fn fn, void *user) {
    char path[PATH_ROOM];
    bool yaml = false;
    hob_str stem = stem_of(o, name, &yaml);
    hob_buf text;
    hob_error why = {.code = HOB_OK};
    snprintf(path, sizeof(path), "%s/%s%s", o->dir, name, o->folders ? "/SKILL.md" : "");
    struct stat st;
    if (o->folders && lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return HOB_OK; /* not a skill: something that lies beside them */
    hob_buf_init(&text, HOB_DISCOVER_FILE_MAX + 1);
    int code = read_file(path, o->workspace, &text, &why);
    hob_found f = {.path = path, .stem = stem, .yaml = yaml, .text = hob_buf_str(&text)};
    if (code < 0) f.why = why.message;
    code = fn(&f, user);
    hob_buf_finish(&text);
    return code;
}

static int tell_folder(const hob_discover *o, const char *why, hob_found_fn fn, void *user) {
    hob_found f = {.path = o->dir, .why = why};
    return fn(&f, user);
}

static int walk(const hob_discover *o, const names *all, hob_found_fn fn, void *user) {
    int code = HOB_OK;
    for (size_t i = 0; i < all->n && code >= 0; i++) code = hand_over(o, all->at[i], fn, user);
    if (code >= 0 && all->more)
        code = tell_folder(o, "has too many files; not all of them were read", fn, user);
    return code;
}

int hob_discover_dir(const hob_discover *o, hob_found_fn fn, void *user, hob_error *err) {
    hob_error why = {.code = HOB_OK};
    int code = check_place(o->dir, o->workspace, &why);
    if (code == HOB_ENOENT && (why.sub == ENOENT || why.sub == ENOTDIR)) return HOB_OK;
    if (code < 0) return tell_folder(o, why.message, fn, user);
    names *all = HOB_NEW(names);
    code = list(o, all, err);
    if (code == HOB_OK) code = walk(o, all, fn, user);
    for (size_t i = 0; i < all->n; i++) hob_free(all->at[i]);
    hob_free(all);
    return code;
}
