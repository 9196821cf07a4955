/*
 * expand.c - "$NAME" in the provider settings of the user and the administrator.
 */
#include "config/env.h"

bool hob_env_get(const char *const *envp, const char *name, hob_str *out) {
    size_t n = strlen(name);
    for (; envp && *envp; envp++) {
        if (strncmp(*envp, name, n) != 0 || (*envp)[n] != '=') continue;
        *out = hob_str_z(*envp + n + 1);
        return out->n > 0;
    }
    return false;
}

static bool name_char(char c, bool first) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return letter || (!first && c >= '0' && c <= '9');
}

static size_t name_length(hob_str s) {
    size_t n = 0;
    while (n < s.n && name_char(s.p[n], n == 0)) n++;
    return n;
}

/* What stands behind a '$': the bytes it takes up (without the '$') and the name in it. */
static int reference(hob_str s, size_t *length, hob_str *name) {
    bool braced = s.n > 0 && s.p[0] == '{';
    hob_str from = hob_str_skip(s, braced ? 1 : 0);
    *name = hob_str_first(from, name_length(from));
    *length = name->n + (braced ? 2 : 0);
    if (!braced) return HOB_OK;
    return name->n > 0 && name->n < from.n && from.p[name->n] == '}' ? HOB_OK : HOB_EINVAL;
}

int hob_expand(hob_str s, const char *const *envp, hob_buf *out, hob_str *missing) {
    *missing = HOB_STR_NULL;
    while (s.n > 0) {
        ptrdiff_t dollar = hob_str_chr(s, '$');
        hob_buf_add(out, hob_str_first(s, dollar < 0 ? s.n : (size_t)dollar));
        if (dollar < 0) break;
        s = hob_str_skip(s, (size_t)dollar + 1);
        hob_str name, value;
        size_t length = 0;
        if (reference(s, &length, &name) < 0) return HOB_EINVAL;
        char *z = hob_dupz(name);
        bool found = name.n > 0 && hob_env_get(envp, z, &value);
        hob_free(z);
        if (name.n > 0 && !found && missing->n == 0) *missing = name;
        if (found)
            hob_buf_add(out, value);
        else
            hob_buf_addf(out, "$%.*s", (int)length, s.p);
        bool escaped = name.n == 0 && s.n > 0 && s.p[0] == '$';
        s = hob_str_skip(s, escaped ? 1 : length);
    }
    return out->err;
}
