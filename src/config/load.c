/*
 * load.c - the files and the environment, in an order that matters: where the user's files are is
 * decided first, from the environment alone; the workspace is read last, and only its one file.
 */
#include "config/impl.h"

#include <errno.h>
#include <limits.h>

#include "config/file.h"
#include "config/read.h"

#define ADMIN_FILE "/etc/hob/config.json"
#define WORKSPACE_FILE "/.hob/config.json"

typedef struct loading {
    const hob_config_load_opts *opts;
    hob_layers layers;
    hob_roots roots;
    hob_notes notes;
    hob_file_info user; /* of the user's file, if it is there */
    bool has_user;
} loading;

/* Reads a file into the layer of its origin. HOB_ENOENT is for the caller to judge; every other
 * failure is a configuration error: a file that is there has to count. */
static int load_file(loading *l, hob_origin origin, const hob_file_opts *o, hob_file_info *info,
                     hob_error *err) {
    hob_buf text;
    hob_error why = {0};
    hob_buf_init(&text, HOB_CONFIG_MAX_FILE);
    int code = hob_file_read(o, &text, info, &why);
    bool users_again = code == HOB_OK && origin == HOB_ORIGIN_WORKSPACE && l->has_user &&
                       info->dev == l->user.dev && info->ino == l->user.ino;
    hob_reading r = {.origin = origin,
                     .source = o->path,
                     .text = hob_buf_str(&text),
                     .envp = l->opts->envp,
                     .expand = origin == HOB_ORIGIN_USER || origin == HOB_ORIGIN_ADMIN,
                     .notes = &l->notes,
                     .policy = origin == HOB_ORIGIN_ADMIN ? l->layers.of[HOB_LAYER_POLICY] : NULL};
    if (code == HOB_ENOENT)
        hob_fail(err, code, why.sub, "%s %s", o->path, why.message);
    else if (code < 0)
        code = hob_fail(err, HOB_ECONFIG, why.sub, "%s %s", o->path, why.message);
    else if (!users_again)
        code = hob_setting_read_text(&r, l->layers.of[origin], err);
    hob_buf_finish(&text);
    return code;
}

static int load_admin(loading *l, hob_error *err) {
    const char *path = l->opts->admin_file ? l->opts->admin_file : ADMIN_FILE;
    hob_file_opts o = {.path = path, .max = HOB_CONFIG_MAX_FILE};
    hob_error e;
    int code = load_file(l, HOB_ORIGIN_ADMIN, &o, NULL, &e);
    if (code < 0 && code != HOB_ENOENT && err) *err = e;
    return code == HOB_ENOENT ? HOB_OK : code;
}

static int load_user(loading *l, hob_error *err) {
    if (!l->roots.file) return HOB_OK;
    hob_file_opts o = {.path = l->roots.file, .max = HOB_CONFIG_MAX_FILE};
    hob_error e;
    int code = load_file(l, HOB_ORIGIN_USER, &o, &l->user, &e);
    l->has_user = code == HOB_OK;
    if (code == HOB_ENOENT && !l->roots.file_named) return HOB_OK;
    if (code == HOB_ENOENT)
        return hob_fail(err, HOB_ECONFIG, e.sub,
                        "HOB_CONFIG: %s; name a file that is there, or "
                        "unset HOB_CONFIG",
                        e.message);
    if (code < 0 && err) *err = e;
    return code;
}

static int load_workspace(loading *l, hob_error *err) {
    char root[PATH_MAX], path[PATH_MAX + sizeof(WORKSPACE_FILE)];
    if (!l->opts->cwd) return HOB_OK;
    if (hob_path_canonical(l->opts->cwd, root) < 0)
        return hob_fail_errno(err, HOB_ECONFIG, "the folder %s cannot be used", l->opts->cwd);
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    memcpy(path, root, n);
    memcpy(path + n, WORKSPACE_FILE, sizeof(WORKSPACE_FILE));
    hob_file_opts o = {.path = path, .beneath = root, .max = HOB_CONFIG_MAX_FILE};
    hob_error e;
    hob_file_info info;
    int code = load_file(l, HOB_ORIGIN_WORKSPACE, &o, &info, &e);
    if (code < 0 && code != HOB_ENOENT && err) *err = e;
    return code == HOB_ENOENT ? HOB_OK : code;
}

static int load_all(loading *l, hob_error *err) {
    int code = hob_roots_find(l->opts->envp, &l->roots, err);
    if (code == HOB_OK) code = load_admin(l, err);
    if (code == HOB_OK) code = load_user(l, err);
    if (code == HOB_OK)
        code = hob_env_read(l->opts->envp, l->layers.of[HOB_ORIGIN_ENV], &l->notes, err);
    if (code == HOB_OK) code = load_workspace(l, err);
    return code;
}

static const int loaded_layers[] = {HOB_ORIGIN_ADMIN, HOB_ORIGIN_USER, HOB_ORIGIN_WORKSPACE,
                                    HOB_ORIGIN_ENV, HOB_LAYER_POLICY};

int hob_config_load(hob_config *c, const hob_config_load_opts *o, hob_error *err) {
    if (!c || !o || o->size < sizeof(*o))
        return hob_fail(err, HOB_EINVAL, 0,
                        "hob_config_load: no configuration or options; start "
                        "from HOB_CONFIG_LOAD_OPTS_INIT");
    loading l = {.opts = o, .layers = c->layers};
    l.layers.trusted = o->trusted != 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(loaded_layers); i++)
        l.layers.of[loaded_layers[i]] = hob_setting_create(HOB_STR(""));
    int code = load_all(&l, err);
    if (code == HOB_OK) code = hob_config_adopt(c, &l.layers, err);
    if (code < 0) {
        for (size_t i = 0; i < HOB_ARRAY_LEN(loaded_layers); i++)
            hob_setting_destroy(l.layers.of[loaded_layers[i]]);
        hob_notes_finish(&l.notes);
        hob_roots_finish(&l.roots);
        return code;
    }
    hob_notes_finish(&c->notes);
    hob_roots_finish(&c->roots);
    c->notes = l.notes;
    c->roots = l.roots;
    return HOB_OK;
}
