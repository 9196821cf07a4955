/*
 * context.c - AGENTS.md and its like: instructions that lie beside the work.
 *
 * First the user's own, then from the root of the repository (the nearest folder upwards with a .git)
 * down to the current folder, at most one file a folder. Outside a repository only the current folder
 * counts. The text is data: it ends up in a labelled block that says where it comes from, cannot close
 * that block itself, and sets no tools and no permissions. All of it together has a ceiling; what was
 * cut or left out is said in `origins`.
 */
#include "config/config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/file.h"

#define DEFAULT_MAX (32u << 10)
#define MAX_FOLDERS 64

/* In the order of preference. The last is not looked for in the user's folder. */
static const char *const names[] = {"AGENTS.override.md", "AGENTS.md", "CLAUDE.md"};

typedef struct loader {
    hob_buf *text, *origins;
    size_t max, left;
    const char *beneath; /* NULL: the user's own files may be links to anywhere */
    hob_file_info seen[MAX_FOLDERS + 1];
    size_t nseen;
    hob_context_fn fn;
    void *user;
} loader;

static void report(loader *l, const char *path, const char *what) {
    hob_origin origin = l->beneath ? HOB_ORIGIN_WORKSPACE : HOB_ORIGIN_USER;
    if (l->fn) l->fn(hob_str_z(path), hob_str_z(what), origin, l->user);
    for (const char *p = path; *p; p++) {
        bool control = (unsigned char)*p < 0x20 || *p == 0x7f;
        hob_buf_addc(l->origins, control ? '?' : *p); /* one line a file, whatever its name */
    }
    hob_buf_addf(l->origins, ": %s\n", what);
}

static bool seen_before(loader *l, const hob_file_info *info) {
    for (size_t i = 0; i < l->nseen; i++) {
        if (l->seen[i].dev == info->dev && l->seen[i].ino == info->ino) return true;
    }
    if (l->nseen < HOB_ARRAY_LEN(l->seen)) l->seen[l->nseen++] = *info;
    return false;
}

/* Text that closes the block it stands in would speak with another's voice. */
static void add_quoted(hob_buf *out, hob_str s) {
    hob_str mark = HOB_STR("</instructions");
    while (s.n > 0) {
        size_t n = 0;
        while (n < s.n && !hob_str_ieq(hob_str_first(hob_str_skip(s, n), mark.n), mark)) n++;
        hob_buf_add(out, hob_str_first(s, n));
        if (n < s.n) {
            hob_buf_addz(out, "<\\/");
            n += 2;
        }
        s = hob_str_skip(s, n);
    }
}

static void add_block(loader *l, const char *path, hob_str content, bool cut) {
    hob_buf_addf(l->text, "<instructions from=\"%s\" path=", l->beneath ? "workspace" : "user");
    hob_json_quote(l->text, hob_str_z(path));
    hob_buf_addz(l->text, ">\n");
    add_quoted(l->text, content);
    if (content.n > 0 && content.p[content.n - 1] != '\n') hob_buf_addc(l->text, '\n');
    if (cut) hob_buf_addz(l->text, "[cut here: over the limit for instruction files]\n");
    hob_buf_addz(l->text, "</instructions>\n\n");
}

static void use_file(loader *l, const char *path, hob_str raw, uint64_t size) {
    hob_buf repaired;
    hob_buf_init(&repaired, l->left * 3 + 16); /* a broken byte becomes three */
    bool cut = size > raw.n;
    hob_utf8_repair(&repaired, hob_str_first(raw, cut ? hob_utf8_complete(raw) : raw.n));
    hob_str content = hob_buf_str(&repaired);
    size_t fits = hob_utf8_prefix(content, l->left);
    cut = cut || fits < content.n;
    content.n = fits;
    char what[128];
    if (raw.n == 0)
        snprintf(what, sizeof(what), "empty");
    else if (cut)
        snprintf(what, sizeof(what), "%zu of %llu bytes, cut: %zu bytes are the limit for all",
                 content.n, (unsigned long long)size, l->max);
    else
        snprintf(what, sizeof(what), "%zu bytes", content.n);
    report(l, path, what);
    if (raw.n > 0) add_block(l, path, content, cut);
    l->left -= content.n;
    hob_buf_finish(&repaired);
}

/* False: no such file, or not one to use; the next name may do. */
static bool try_file(loader *l, const char *path) {
    hob_file_opts o = {.path = path, .beneath = l->beneath, .max = l->left, .cut = true};
    hob_buf raw;
    hob_error why = {0};
    hob_file_info info;
    hob_buf_init(&raw, l->left + 1);
    int code = hob_file_read(&o, &raw, &info, &why);
    if (code < 0 && code != HOB_ENOENT) {
        char what[600];
        snprintf(what, sizeof(what), "left out, it %s", why.message);
        report(l, path, what);
    } else if (code == HOB_OK && seen_before(l, &info)) {
        report(l, path, "left out, the same file was there before");
    } else if (code == HOB_OK && l->left == 0 && info.size > 0) {
        report(l, path, "left out, the limit for all was reached before");
    } else if (code == HOB_OK) {
        use_file(l, path, hob_buf_str(&raw), info.size);
    }
    hob_buf_finish(&raw);
    return code == HOB_OK;
}

static void load_folder(loader *l, hob_str folder, size_t nnames) {
    bool used = false;
    for (size_t i = 0; i < nnames && !used; i++) {
        char path[PATH_MAX + 64];
        bool top = folder.n == 1 && folder.p[0] == '/';
        snprintf(path, sizeof(path), "%.*s/%s", top ? 0 : (int)folder.n, folder.p, names[i]);
        used = try_file(l, path);
    }
}

/* A .git that somebody else has put above our folder, as in /tmp, makes no repository. */
static bool marks_root(hob_str folder, uid_t cwd_owner) {
    char path[PATH_MAX + 8];
    struct stat st;
    snprintf(path, sizeof(path), "%.*s/.git", (int)folder.n, folder.p);
    if (lstat(path, &st) < 0) return false;
    return st.st_uid == geteuid() || st.st_uid == 0 || st.st_uid == cwd_owner;
}

static hob_str parent_of(hob_str folder) {
    const char *slash = memrchr(folder.p, '/', folder.n);
    return hob_str_first(folder, slash == folder.p ? 1 : (size_t)(slash - folder.p));
}

static hob_str find_root(hob_str cwd, uid_t owner) {
    hob_str folder = cwd;
    for (int i = 0; i < MAX_FOLDERS; i++) {
        if (marks_root(folder, owner)) return folder;
        if (folder.n == 1) break;
        folder = parent_of(folder);
    }
    return cwd;
}

static void load_chain(loader *l, const char *cwd) {
    char canonical[PATH_MAX], root_z[PATH_MAX];
    struct stat st;
    if (hob_path_canonical(cwd, canonical) < 0 || stat(canonical, &st) < 0) {
        report(l, cwd, "left out, there is no such folder");
        return;
    }
    hob_str all = hob_str_z(canonical), root = find_root(all, st.st_uid);
    memcpy(root_z, root.p, root.n);
    root_z[root.n] = '\0';
    l->beneath = root_z;
    size_t n = root.n;
    for (;;) {
        load_folder(l, hob_str_first(all, n), HOB_ARRAY_LEN(names));
        if (n == all.n) break;
        ptrdiff_t slash = hob_str_chr(hob_str_skip(all, n + 1), '/');
        n = slash < 0 ? all.n : n + 1 + (size_t)slash;
    }
    l->beneath = NULL;
}

int hob_context_load(const hob_context_opts *o, hob_buf *text, hob_buf *origins) {
    loader *l = HOB_NEW(loader);
    l->text = text;
    l->origins = origins;
    l->max = l->left = o->max_total ? o->max_total : DEFAULT_MAX;
    l->fn = o->fn;
    l->user = o->user;
    if (o->config_dir && *o->config_dir)
        load_folder(l, hob_str_z(o->config_dir), HOB_ARRAY_LEN(names) - 1);
    if (o->cwd) load_chain(l, o->cwd);
    hob_free(l);
    return text->err ? text->err : origins->err;
}

int hob_config_context(const hob_config *c, const char *cwd, hob_context_fn fn, void *user,
                       hob_error *err) {
    int64_t max = hob_config_int(c, "context.max_bytes", 0);
    hob_buf text, origins;
    if (max == 0) return HOB_OK; /* switched off */
    char *dir = hob_dupz(hob_config_dir(c));
    hob_context_opts o = {.cwd = cwd,
                          .config_dir = *dir ? dir : NULL,
                          .max_total = (size_t)max,
                          .fn = fn,
                          .user = user};
    hob_buf_init(&text, 16u << 20);
    hob_buf_init(&origins, 4u << 20);
    int rc = hob_context_load(&o, &text, &origins);
    hob_buf_finish(&text);
    hob_buf_finish(&origins);
    hob_free(dir);
    return rc < 0 ? hob_fail(err, rc, 0, "the instruction files of %s are too large", cwd) : HOB_OK;
}
