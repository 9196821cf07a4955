/*
 * providers.c - provider objects and keys for models that were resolved.
 */
#include "model/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT_MAX (16u << 20)

/* ---- scripts ------------------------------------------------------------------------------------------ */

static int read_fd(int fd, hob_buf *out) {
    for (;;) {
        char *to = hob_buf_reserve(out, 65536);
        if (!to) return HOB_ETOOBIG;
        ssize_t n = read(fd, to, 65536);
        if (n == 0) return HOB_OK;
        if (n < 0 && errno != EINTR) return HOB_EIO;
        if (n > 0) out->n += (size_t)n;
    }
}

int hob_script_code(int error) {
    if (error == ENOENT || error == ENOTDIR) return HOB_ENOENT;
    if (error == EACCES || error == EPERM) return HOB_EACCES;
    return error == ELOOP || error == ENAMETOOLONG ? HOB_EINVAL : HOB_EIO;
}

static int read_file(const char *path, hob_buf *out, hob_error *err) {
    struct stat st;
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe or a terminal would make us wait */
    if (fd < 0)
        return hob_fail_errno(err, hob_script_code(errno), "cannot open the script %s", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return hob_fail(err, HOB_EINVAL, 0, "the script %s is not a file", path);
    }
    int rc = read_fd(fd, out);
    if (rc == HOB_ETOOBIG)
        rc = hob_fail(err, rc, 0, "the script %s is over %u MiB", path, SCRIPT_MAX >> 20);
    else if (rc < 0)
        rc = hob_fail_errno(err, rc, "cannot read the script %s", path);
    close(fd);
    return rc;
}

static int script_provider(hob_models *m, const hob_provider_env *env, hob_str file,
                           hob_provider **out, hob_error *err) {
    hob_provider *kept = hob_map_get(m->scripts, file);
    hob_buf text;
    hob_error why;
    if (kept) {
        *out = kept;
        return HOB_OK;
    }
    char *path = hob_dupz(file);
    hob_buf_init(&text, SCRIPT_MAX);
    int rc = read_file(path, &text, err);
    if (rc == HOB_OK) {
        rc = hob_provider_scripted_create(env, hob_buf_str(&text), out, &why);
        if (rc < 0)
            hob_fail(err, rc, why.sub, "%s: %s", path, why.message);
        else
            (void)hob_map_put(m->scripts, file, *out);
    }
    hob_buf_finish(&text);
    hob_free(path);
    return rc;
}

/* ---- the others ------------------------------------------------------------------------------------------ */

static hob_provider_config config_of(const hob_models *m, const hob_provider_row *r) {
    return (hob_provider_config){.name = r->name,
                                 .base_url = r->base_url,
                                 .api_key = r->key,
                                 .headers = r->headers,
                                 .nheaders = r->nheaders,
                                 .connect_timeout_ms = m->connect_timeout_ms,
                                 .idle_timeout_ms = m->idle_timeout_ms,
                                 .key_source = r->key_source,
                                 .api_key_cmd = r->key_cmd,
                                 .old_max_tokens = r->old_max_tokens,
                                 .quirks = r->quirks,
                                 .nquirks = r->nquirks};
}

int hob_models_provider(hob_models *m, const hob_provider_env *env, const hob_model_info *info,
                        hob_provider **out, hob_error *err) {
    if (hob_str_eqz(info->api, "scripted")) return script_provider(m, env, info->script, out, err);
    hob_provider_row *r = hob_models_row(m, info->provider);
    if (!r) return hob_fail(err, HOB_ENOENT, 0, "no provider %.*s", HOB_FMT(info->provider));
    int rc = hob_models_check_key(m, info, err);
    if (rc == HOB_OK && !r->object) {
        hob_provider_config c = config_of(m, r);
        rc = hob_str_eqz(r->api, "anthropic")
                 ? hob_provider_anthropic_create(env, &c, &r->object, err)
                 : hob_provider_openai_chat_create(env, &c, &r->object, err);
    }
    if (rc == HOB_OK) *out = r->object;
    return rc;
}

int hob_models_check_key(hob_models *m, const hob_model_info *info, hob_error *err) {
    const hob_provider_row *r = hob_models_row(m, info->provider);
    if (hob_str_eqz(info->api, "scripted") || (r && hob_row_credentialed(r))) return HOB_OK;
    if (r && r->missing.n)
        return hob_fail(err, HOB_EAUTH, 0,
                        "no key for %.*s: its api_key is $%.*s, and that variable is not set",
                        HOB_FMT(info->provider), HOB_FMT(r->missing));
    return hob_fail(
        err, HOB_EAUTH, 0,
        "no key for %.*s: neither the variable %s is set, nor providers.%.*s.api_key or "
        "api_key_cmd in the configuration. Set one of them, or try \"hob demo\", which needs "
        "none",
        HOB_FMT(info->provider), r && r->variable ? r->variable : "for it",
        HOB_FMT(info->provider));
}
