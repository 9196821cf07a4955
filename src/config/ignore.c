/*
 * ignore.c - places in a workspace whose files nobody who works there has written: folders of
 * dependencies, and what git ignores.
 *
 * The .gitignore files from the root of the repository down to the file are read as git reads them:
 * the last pattern that fits decides, and nothing comes back below a folder that is ignored. No git is
 * run. Outside a repository only the folders of dependencies count.
 */
#include "config/discover.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "config/file.h"

#define MAX_FOLDERS 64
#define MAX_BYTES (64u << 10)
#define MAX_PATTERN 512
#define MAX_STARS 8 /* in one pattern: matching takes time */

static const char *const dependencies[] = {
    "node_modules", "bower_components", "site-packages", "vendor", "third_party", ".venv",
    "venv",         "__pycache__",      "jspm_packages",
};

typedef struct chain {
    hob_str root;
    struct {
        hob_str dir; /* a prefix of the path */
        hob_buf text;
    } at[MAX_FOLDERS];
    size_t n;
} chain;

static bool in_dependencies(hob_str path) {
    for (hob_str part; hob_str_split(&path, '/', &part);) {
        for (size_t i = 0; i < HOB_ARRAY_LEN(dependencies); i++)
            if (hob_str_eqz(part, dependencies[i])) return true;
    }
    return false;
}

/* ---- one pattern ----------------------------------------------------------------------------- */

static bool part_fits(hob_str pattern, hob_str part) {
    char p[MAX_PATTERN + 1], s[NAME_MAX + 1];
    if (pattern.n > MAX_PATTERN || part.n > NAME_MAX) return false;
    memcpy(p, pattern.p, pattern.n);
    memcpy(s, part.p, part.n);
    p[pattern.n] = s[part.n] = '\0';
    return fnmatch(p, s, FNM_PATHNAME) == 0;
}

/* Part by part; "**" stands for any number of them. When a part does not fit, the last "**" takes one
 * more and all after it is tried again: no pattern takes longer than pattern times path. */
static bool parts_fit(hob_str pattern, hob_str path) {
    hob_str head, first, again_pattern = HOB_STR_NULL, again_path = HOB_STR_NULL;
    bool starred = false;
    while (path.p) {
        hob_str p = pattern, s = path;
        bool more = hob_str_split(&p, '/', &head);
        hob_str_split(&s, '/', &first);
        if (more && hob_str_eqz(head, "**")) {
            if (!p.p) return true;
            starred = true;
            again_pattern = pattern = p;
            again_path = path;
        } else if (more && part_fits(head, first)) {
            pattern = p;
            path = s;
        } else if (starred) {
            hob_str_split(&again_path, '/', &first);
            pattern = again_pattern;
            path = again_path;
        } else {
            return false;
        }
    }
    return !pattern.p;
}

typedef struct pattern {
    hob_str text;
    bool negated, folder, anchored;
} pattern;

static bool pattern_read(hob_str line, pattern *out) {
    size_t stars = 0;
    pattern p = {.text = line};
    while (p.text.n > 0 && strchr(" \t\r", p.text.p[p.text.n - 1])) p.text.n--;
    if (p.text.n == 0 || p.text.n > MAX_PATTERN || p.text.p[0] == '#') return false;
    p.negated = p.text.p[0] == '!';
    if (p.negated) p.text = hob_str_skip(p.text, 1);
    p.folder = hob_str_ends(p.text, HOB_STR("/"));
    if (p.folder) p.text.n--;
    p.anchored = hob_str_chr(p.text, '/') >= 0;
    if (hob_str_starts(p.text, HOB_STR("/"))) p.text = hob_str_skip(p.text, 1);
    for (size_t i = 0; i < p.text.n; i++) stars += p.text.p[i] == '*';
    *out = p;
    return p.text.n > 0 && stars <= MAX_STARS;
}

static bool pattern_fits(const pattern *p, hob_str relative, bool folder) {
    if (p->folder && !folder) return false;
    if (p->anchored) return parts_fit(p->text, relative);
    const char *slash = memrchr(relative.p, '/', relative.n);
    return part_fits(p->text, hob_str_skip(relative, slash ? (size_t)(slash + 1 - relative.p) : 0));
}

/* ---- all of them ------------------------------------------------------------------------------ */

static bool is_repository(hob_str dir) {
    char path[PATH_MAX + 8];
    struct stat st;
    snprintf(path, sizeof(path), "%.*s/.git", (int)dir.n, dir.p);
    return lstat(path, &st) == 0;
}

static hob_str parent_of(hob_str path) {
    const char *slash = memrchr(path.p, '/', path.n);
    return hob_str_first(path, slash ? (size_t)(slash - path.p) : 0);
}

static bool find_root(hob_str path, hob_str *root) {
    hob_str dir = parent_of(path);
    for (int i = 0; i < MAX_FOLDERS; i++, dir = parent_of(dir)) {
        if (is_repository(dir)) {
            *root = dir;
            return true;
        }
        if (dir.n == 0) break;
    }
    return false;
}

static void load(chain *c, hob_str dir, const char *name) {
    char path[PATH_MAX + 32];
    if (c->n == MAX_FOLDERS) return;
    snprintf(path, sizeof(path), "%.*s/%s", (int)dir.n, dir.p, name);
    hob_file_opts o = {.path = path, .max = MAX_BYTES, .cut = true};
    c->at[c->n].dir = dir;
    hob_buf_init(&c->at[c->n].text, MAX_BYTES + 1);
    hob_file_read(&o, &c->at[c->n].text, NULL, NULL); /* none is as good as an empty one */
    c->n++;
}

static bool is_ignored(const chain *c, hob_str path, bool folder) {
    bool ignored = false;
    for (size_t i = 0; i < c->n; i++) {
        hob_str rest = hob_buf_str(&c->at[i].text), line, dir = c->at[i].dir;
        if (rest.n == 0 || path.n <= dir.n + 1 || !hob_path_beneath(path, dir)) continue;
        pattern p;
        while (hob_str_split(&rest, '\n', &line)) {
            if (pattern_read(line, &p) && pattern_fits(&p, hob_str_skip(path, dir.n + 1), folder))
                ignored = !p.negated;
        }
    }
    return ignored;
}

static size_t next_end(hob_str path, size_t from) {
    ptrdiff_t slash = hob_str_chr(hob_str_skip(path, from), '/');
    return slash < 0 ? path.n : from + (size_t)slash;
}

/* From the root down to the path; each folder's own file is read before what is in it is asked. */
static bool git_ignores(chain *c, hob_str path, bool folder) {
    load(c, c->root, ".git/info/exclude");
    load(c, c->root, ".gitignore");
    for (size_t n = c->root.n; n < path.n;) {
        n = next_end(path, n + 1);
        hob_str here = hob_str_first(path, n);
        if (is_ignored(c, here, folder || n < path.n)) return true;
        if (n < path.n) load(c, here, ".gitignore");
    }
    return false;
}

const char *hob_path_ignored(const char *path, const char *workspace) {
    hob_str s = hob_str_z(path), inside = hob_str_skip(s, strlen(workspace));
    if (in_dependencies(inside)) return "is in a folder of dependencies";
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    chain *c = HOB_NEW(chain);
    bool ignored = find_root(s, &c->root) && git_ignores(c, s, folder);
    for (size_t i = 0; i < c->n; i++) hob_buf_finish(&c->at[i].text);
    hob_free(c);
    return ignored ? "is ignored by git" : NULL;
}
