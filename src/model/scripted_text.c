/*
 * scripted_text.c - texts with templates: {{user}}, {{result}}, {{step}} …
 *
 * A template is "{{", a word of small letters, "}}"; a word that does not exist is an error. Anything
 * else with braces is text as it stands, so that source code needs no escapes; {{!user}} writes the
 * text {{user}}.
 */
#include "model/scripted.h"

/* In the order of hob_script_var, without the literal. */
static const char *const names[] = {"user", "rest", "result",   "tool",    "model",  "session",
                                    "step", "turn", "messages", "attempt", "repeat", NULL};

typedef struct token {
    size_t at, n; /* "{{…}}" in the text */
    hob_str word;
    bool escaped; /* {{!word}} */
} token;

static bool token_at(hob_str s, size_t at, token *t) {
    size_t i = at + 2;
    t->escaped = i < s.n && s.p[i] == '!';
    if (t->escaped) i++;
    size_t from = i;
    while (i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_')) i++;
    if (i == from || s.n - i < 2 || s.p[i] != '}' || s.p[i + 1] != '}') return false;
    t->word = hob_str_n(s.p + from, i - from);
    t->at = at;
    t->n = i + 2 - at;
    return true;
}

static bool next_token(hob_str s, size_t from, token *t) {
    for (;;) {
        ptrdiff_t hit = hob_str_find(hob_str_skip(s, from), HOB_STR("{{"));
        if (hit < 0) return false;
        from += (size_t)hit;
        if (token_at(s, from, t)) return true;
        from++;
    }
}

static void add_piece(hob_script_text *out, hob_script_var var, hob_str literal) {
    if (var == HOB_SCRIPT_LITERAL && literal.n == 0) return;
    out->pieces[out->n++] = (hob_script_piece){.var = var, .literal = literal};
    out->bytes += literal.n;
}

static int add_token(hob_script_reader *r, const hob_json *at, hob_str s, const token *t,
                     hob_script_text *out) {
    if (t->escaped) {
        add_piece(out, HOB_SCRIPT_LITERAL, HOB_STR("{{"));
        add_piece(out, HOB_SCRIPT_LITERAL, hob_str_n(s.p + t->at + 3, t->n - 3));
        return HOB_OK;
    }
    size_t i = 0;
    while (names[i] && !hob_str_eqz(t->word, names[i])) i++;
    if (!names[i]) return hob_script_unknown(r, at, "template", t->word, names);
    add_piece(out, (hob_script_var)(i + 1), HOB_STR_NULL);
    return HOB_OK;
}

static int compile(hob_script_reader *r, const hob_json *at, hob_str s, hob_script_text *out) {
    size_t n = 0;
    token t;
    for (size_t from = 0; next_token(s, from, &t); from = t.at + t.n) n++;
    *out = (hob_script_text){.pieces = hob_script_room(r, 3 * n + 1, sizeof(hob_script_piece))};
    if (!out->pieces) return HOB_ETOOBIG;
    size_t from = 0;
    for (; next_token(s, from, &t); from = t.at + t.n) {
        add_piece(out, HOB_SCRIPT_LITERAL, hob_str_n(s.p + from, t.at - from));
        int code = add_token(r, at, s, &t, out);
        if (code < 0) return code;
    }
    add_piece(out, HOB_SCRIPT_LITERAL, hob_str_skip(s, from));
    return HOB_OK;
}

int hob_script_text_read(hob_script_reader *r, const hob_json *v, const char *what,
                         hob_script_text *out) {
    hob_str s;
    int code = hob_script_string(r, v, what, &s);
    return code < 0 ? code : compile(r, v, s, out);
}

/* Written anew instead of taken raw: the script may have comments inside. The JSON reader's ceiling on
 * depth bounds the recursion. */
static void copy_value(hob_jsonw *w, const hob_json *v) {
    const hob_json *m = hob_json_first(v);
    switch (hob_json_type_of(v)) {
    case HOB_JSON_NULL:
    case HOB_JSON_BOOL:
    case HOB_JSON_NUMBER: hob_jsonw_raw(w, hob_json_raw(v)); return;
    case HOB_JSON_STRING: hob_jsonw_str(w, hob_json_str(v)); return;
    case HOB_JSON_ARRAY:
        hob_jsonw_array(w);
        for (; m; m = hob_json_next(m)) copy_value(w, m);
        hob_jsonw_array_end(w);
        return;
    case HOB_JSON_OBJECT:
        hob_jsonw_object(w);
        for (; m; m = hob_json_next(m)) {
            hob_jsonw_key_n(w, hob_json_key(m));
            copy_value(w, m);
        }
        hob_jsonw_object_end(w);
        return;
    }
}

int hob_script_text_json(hob_script_reader *r, const hob_json *v, hob_script_text *out) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, HOB_SCRIPT_MEMORY);
    hob_jsonw_init(&w, &b);
    copy_value(&w, v);
    hob_str s = hob_arena_dup(r->arena, hob_buf_str(&b));
    int code = b.err || !s.p ? hob_script_no_room(r) : HOB_OK;
    hob_buf_finish(&b);
    if (code < 0) return code;
    code = compile(r, v, s, out);
    out->json = true;
    return code;
}

/* ---- expanding ------------------------------------------------------------------------------ */

static hob_str word_of(const hob_script_view *v, hob_script_var var) {
    switch (var) {
    case HOB_SCRIPT_USER: return v->user;
    case HOB_SCRIPT_REST: return v->rest;
    case HOB_SCRIPT_RESULT: return v->result;
    case HOB_SCRIPT_TOOL: return v->tool;
    case HOB_SCRIPT_MODEL: return v->model;
    case HOB_SCRIPT_SESSION: return v->session;
    case HOB_SCRIPT_LITERAL:
    case HOB_SCRIPT_STEP:
    case HOB_SCRIPT_TURN:
    case HOB_SCRIPT_MESSAGES:
    case HOB_SCRIPT_ATTEMPT:
    case HOB_SCRIPT_REPEAT: break;
    }
    return HOB_STR_NULL;
}

static void add_word(hob_str s, bool json, hob_buf *out) {
    if (!json) {
        hob_buf_add(out, s);
        return;
    }
    hob_buf quoted;
    hob_buf_init(&quoted, out->max);
    int code = hob_json_quote(&quoted, s);
    if (code < 0)
        out->err = code;
    else
        hob_buf_add(out, hob_str_n(quoted.p + 1, quoted.n - 2));
    hob_buf_finish(&quoted);
}

static void add_number(int64_t n, hob_buf *out) {
    hob_buf_addf(out, "%lld", (long long)n);
}

void hob_script_text_expand(const hob_script_text *t, const hob_script_view *v, int64_t round,
                            hob_buf *out) {
    for (size_t i = 0; i < t->n; i++) {
        const hob_script_piece *p = &t->pieces[i];
        switch (p->var) {
        case HOB_SCRIPT_LITERAL: hob_buf_add(out, p->literal); break;
        case HOB_SCRIPT_STEP: add_number(v->step, out); break;
        case HOB_SCRIPT_TURN: add_number(v->turn, out); break;
        case HOB_SCRIPT_MESSAGES: add_number(v->messages, out); break;
        case HOB_SCRIPT_ATTEMPT: add_number(v->attempt, out); break;
        case HOB_SCRIPT_REPEAT: add_number(round, out); break;
        case HOB_SCRIPT_USER:
        case HOB_SCRIPT_REST:
        case HOB_SCRIPT_RESULT:
        case HOB_SCRIPT_TOOL:
        case HOB_SCRIPT_MODEL:
        case HOB_SCRIPT_SESSION: add_word(word_of(v, p->var), t->json, out); break;
        }
    }
}
