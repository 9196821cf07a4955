/*
 * roots.c - where the user's files live. Decided from the environment alone, before anything in the
 * workspace is looked at.
 */
#include "config/env.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

static char *join(hob_str dir, const char *tail) {
    hob_buf path;
    hob_buf_init(&path, PATH_MAX);
    hob_buf_add(&path, dir);
    while (path.n > 1 && path.p[path.n - 1] == '/') path.n--;
    hob_buf_addf(&path, "%s%s", path.n == 1 && path.p[0] == '/' ? "" : "/", tail);
    char *z = path.err ? NULL : hob_dupz(hob_buf_str(&path));
    hob_buf_finish(&path);
    return z;
}

/* What the user names may be relative to where the program was started. */
static int absolute(const char *variable, hob_str path, char **out, hob_error *err) {
    if (path.p[0] == '/') {
        *out = hob_dupz(path);
        return HOB_OK;
    }
    char cwd[PATH_MAX];
    if (!getcwd(cwd, sizeof(cwd)))
        return hob_fail_errno(err, HOB_ECONFIG, "%s is relative, and the current folder is unknown",
                              variable);
    char *name = hob_dupz(path);
    *out = join(hob_str_z(cwd), name);
    hob_free(name);
    return *out ? HOB_OK : hob_fail(err, HOB_ECONFIG, ENAMETOOLONG, "%s is too long", variable);
}

/* XDG base directories: an empty or relative value does not count. */
static char *xdg(const char *const *envp, const char *variable, const char *home,
                 const char *in_home) {
    hob_str dir;
    if (hob_env_get(envp, variable, &dir) && dir.p[0] == '/') return join(dir, "hob");
    return home ? join(hob_str_z(home), in_home) : NULL;
}

static int from_home(hob_str home, hob_roots *r, hob_error *err) {
    int code = absolute("HOB_HOME", home, &r->config_dir, err);
    if (code < 0) return code;
    r->state_dir = join(hob_str_z(r->config_dir), "state");
    r->cache_dir = join(hob_str_z(r->config_dir), "cache");
    return r->state_dir && r->cache_dir
               ? HOB_OK
               : hob_fail(err, HOB_ECONFIG, ENAMETOOLONG, "HOB_HOME is too long");
}

int hob_roots_find(const char *const *envp, hob_roots *out, hob_error *err) {
    hob_roots r = {0};
    hob_str value;
    int code = HOB_OK;
    if (hob_env_get(envp, "HOME", &value) && value.p[0] == '/') r.home = hob_dupz(value);
    if (hob_env_get(envp, "HOB_HOME", &value)) {
        code = from_home(value, &r, err);
    } else {
        r.config_dir = xdg(envp, "XDG_CONFIG_HOME", r.home, ".config/hob");
        r.state_dir = xdg(envp, "XDG_STATE_HOME", r.home, ".local/state/hob");
        r.cache_dir = xdg(envp, "XDG_CACHE_HOME", r.home, ".cache/hob");
    }
    r.file_named = hob_env_get(envp, "HOB_CONFIG", &value);
    if (code == HOB_OK && r.file_named)
        code = absolute("HOB_CONFIG", value, &r.file, err);
    else if (code == HOB_OK && r.config_dir)
        r.file = join(hob_str_z(r.config_dir), "config.json");
    if (code < 0)
        hob_roots_finish(&r);
    else
        *out = r;
    return code;
}

void hob_roots_finish(hob_roots *r) {
    hob_free(r->home);
    hob_free(r->config_dir);
    hob_free(r->state_dir);
    hob_free(r->cache_dir);
    hob_free(r->file);
    *r = (hob_roots){0};
}
