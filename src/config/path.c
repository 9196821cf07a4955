/*
 * path.c - dotted paths. Provider and model names may hold dots, so a key can be quoted like a JSON
 * string: providers.lab.models."gpt-4.1".context
 */
#include "config/tree.h"

static bool plain_char(char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || strchr("_-/:@+$", c);
}

static bool plain(hob_str key) {
    for (size_t i = 0; i < key.n; i++) {
        if (!key.p[i] || !plain_char(key.p[i])) return false;
    }
    return key.n > 0;
}

/* The length of the quoted string that s starts with, quotes included; 0 if it has no end. */
static size_t quoted_length(hob_str s) {
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] == '\\')
            i++;
        else if (s.p[i] == '"')
            return i + 1;
    }
    return 0;
}

static int take_key(hob_str *rest, hob_arena *a, hob_str *key) {
    if (rest->n == 0 || rest->p[0] != '"') {
        ptrdiff_t dot = hob_str_chr(*rest, '.');
        *key = hob_str_first(*rest, dot < 0 ? rest->n : (size_t)dot);
        *rest = hob_str_skip(*rest, key->n);
        return key->n > 0 ? HOB_OK : HOB_EINVAL;
    }
    hob_str quoted = hob_str_first(*rest, quoted_length(*rest));
    const hob_json *v;
    if (quoted.n == 0 || hob_json_parse(a, quoted, NULL, &v, NULL) < 0) return HOB_EINVAL;
    *key = hob_json_str(v);
    *rest = hob_str_skip(*rest, quoted.n);
    return HOB_OK;
}

int hob_path_parse(hob_path *p, const char *text, hob_arena *a) {
    hob_str rest = hob_str_z(text);
    p->n = 0;
    if (rest.n == 0) return HOB_OK; /* the root */
    for (;;) {
        if (p->n == HOB_PATH_MAX || take_key(&rest, a, &p->keys[p->n]) < 0) return HOB_EINVAL;
        p->n++;
        if (rest.n == 0) return HOB_OK;
        if (rest.p[0] != '.') return HOB_EINVAL;
        rest = hob_str_skip(rest, 1);
    }
}

void hob_path_print(const hob_path *p, hob_buf *out) {
    for (size_t i = 0; i < p->n; i++) {
        if (i) hob_buf_addc(out, '.');
        if (plain(p->keys[i]))
            hob_buf_add(out, p->keys[i]);
        else
            hob_json_quote(out, p->keys[i]);
    }
}
