#include "agent/value.h"

/* What may stand between braces: [app:|user:|temp:]identifier[?]. */
typedef struct mark {
    hob_str key;
    bool optional;
    size_t length; /* with its braces, however many */
} mark;

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_key(hob_str s) {
    static const char *const scopes[] = {"app:", "user:", "temp:"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(scopes); i++) {
        if (!hob_str_starts(s, hob_str_z(scopes[i]))) continue;
        s = hob_str_skip(s, strlen(scopes[i]));
        break;
    }
    if (!s.n || (s.p[0] >= '0' && s.p[0] <= '9')) return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_word(s.p[i])) return false;
    return true;
}

/* Runs of braces count as one. */
static bool read_mark(hob_str s, mark *m) {
    size_t open = 0, close;
    while (open < s.n && s.p[open] == '{') open++;
    for (close = open; close < s.n && s.p[close] != '}' && s.p[close] != '{' && s.p[close] != '\n';)
        close++;
    if (close == s.n || s.p[close] != '}') return false;
    m->key = hob_str_trim(hob_str_n(s.p + open, close - open));
    m->optional = hob_str_ends(m->key, HOB_STR("?"));
    if (m->optional) m->key.n--;
    for (m->length = close; m->length < s.n && s.p[m->length] == '}' && m->length < close + open;)
        m->length++;
    return is_key(m->key);
}

static int put_value(const mark *m, const hob_state *state, hob_buf *out, hob_error *err) {
    hob_str value;
    const hob_json *v = NULL;
    if (!hob_state_find(state, m->key, &value)) {
        if (m->optional) return HOB_OK;
        return hob_fail(
            err, HOB_ENOENT, 0,
            "the instruction names {%.*s}, and the state has no such key: set it before, or write "
            "{%.*s?}",
            HOB_FMT(m->key), HOB_FMT(m->key));
    }
    hob_arena *a = hob_arena_create(0);
    bool text = hob_json_parse(a, value, NULL, &v, NULL) >= 0 && hob_json_is(v, HOB_JSON_STRING);
    hob_buf_add(out, text ? hob_json_str(v) : value);
    hob_arena_destroy(a);
    return HOB_OK;
}

int hob_instruction_expand(hob_str text, const hob_state *state, hob_buf *out, hob_error *err) {
    mark m;
    for (;;) {
        ptrdiff_t at = hob_str_chr(text, '{');
        hob_buf_add(out, at < 0 ? text : hob_str_first(text, (size_t)at));
        if (at < 0) break;
        text = hob_str_skip(text, (size_t)at);
        if (read_mark(text, &m)) {
            int rc = put_value(&m, state, out, err);
            if (rc < 0) return rc;
            text = hob_str_skip(text, m.length);
        } else {
            while (text.n && text.p[0] == '{') {
                hob_buf_addc(out, '{');
                text = hob_str_skip(text, 1);
            }
        }
    }
    return out->err ? hob_fail(err, HOB_ETOOBIG, 0, "the instruction with its values is too large")
                    : HOB_OK;
}
