/*
 * read.c - one file's text into a definition.
 *
 * Whatever a file says about tools and permissions narrows: a list of tools is a list of those that
 * may be used at most, a wider permission mode is left out with a remark, and a limit that cannot be
 * understood refuses the whole file instead of not holding.
 */
#include "agent/definition.h"

/* ---- front matter ------------------------------------------------------------------------------ */

static bool is_fence(hob_str line) {
    while (line.n > 0 && strchr(" \t\r", line.p[line.n - 1])) line.n--;
    return hob_str_eqz(line, "---");
}

bool hob_front_matter_split(hob_str text, hob_str *front, hob_str *body, size_t *body_line) {
    hob_str rest = hob_str_starts(text, HOB_STR("\xef\xbb\xbf")) ? hob_str_skip(text, 3) : text,
            line;
    *front = HOB_STR_NULL;
    *body = rest;
    *body_line = 1;
    if (!hob_str_split(&rest, '\n', &line) || !is_fence(line)) return false;
    const char *start = rest.p ? rest.p : line.p + line.n;
    *front = hob_str_n(start, rest.n);
    for (size_t n = 2; hob_str_split(&rest, '\n', &line); n++) {
        if (!is_fence(line)) continue;
        *front = hob_str_n(start, (size_t)(line.p - start));
        *body = rest.p ? rest : hob_str_n(line.p + line.n, 0);
        *body_line = n + 1;
        return true;
    }
    return false;
}

static int read_front(hob_def_reader *r) {
    const hob_def_text *t = r->from;
    hob_str front;
    if (t->yaml) return hob_yaml_parse(r->a, t->text, 1, &r->front, r->line, r->err);
    if (hob_front_matter_split(t->text, &front, &r->body, &r->body_line))
        return hob_yaml_parse(r->a, front, 2, &r->front, r->line, r->err);
    *r->line = 1;
    if (front.p)
        return hob_fail(r->err, HOB_EPARSE, 0, "the front matter has no end: a line with only ---");
    if (t->kind != HOB_DEFINITION_COMMAND)
        return hob_fail(r->err, HOB_EPARSE, 0,
                        "has no front matter: name and description between two lines of ---");
    return hob_yaml_parse(r->a, HOB_STR(""), 1, &r->front, r->line, r->err);
}

/* ---- names ------------------------------------------------------------------------------------- */

static bool is_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool hob_agent_name_valid(hob_str s, const char **why) {
    *why = "a name is 1 to 64 letters, digits, - and _, and starts with a letter or _";
    if (s.n == 0 || s.n > HOB_DEFINITION_NAME_MAX) return false;
    if (!is_alnum(s.p[0]) && s.p[0] != '_') return false;
    if (s.p[0] >= '0' && s.p[0] <= '9') return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_') return false;
    *why = "the name \"user\" is reserved";
    return !hob_str_ieq(s, HOB_STR("user"));
}

bool hob_skill_name_valid(hob_str s, const char **why) {
    *why = "a name is 1 to 64 of a-z, 0-9 and single hyphens between them";
    if (s.n == 0 || s.n > HOB_DEFINITION_NAME_MAX) return false;
    for (size_t i = 0; i < s.n; i++) {
        bool hyphen = s.p[i] == '-';
        bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '-';
        if (hyphen ? edge : !is_alnum(s.p[i]) || (s.p[i] >= 'A' && s.p[i] <= 'Z')) return false;
    }
    return true;
}

bool hob_command_name_valid(hob_str s, const char **why) {
    *why = "the file's name is the command: 1 to 64 letters, digits, - and _";
    bool ok = s.n > 0 && s.n <= HOB_DEFINITION_NAME_MAX && is_alnum(s.p[0]);
    for (size_t i = 0; i < s.n && ok; i++) ok = is_alnum(s.p[i]) || s.p[i] == '-' || s.p[i] == '_';
    return ok;
}

/* ---- what all three have ----------------------------------------------------------------------- */

int hob_def_get_tools(hob_def_reader *r, const char *const *keys, size_t n) {
    bool said = false;
    for (size_t i = 0; i < n; i++) {
        bool before = said;
        hob_strs tools = r->out->tools;
        int code = hob_def_get_words(r, keys[i], &said, &tools);
        if (code < 0) return code;
        if (before && tools.at != r->out->tools.at)
            return hob_def_refuse(r, keys[i], "%s and %s say the same; use one", keys[0], keys[i]);
        r->out->tools = tools;
    }
    for (size_t i = 0; i < r->out->tools.n; i++)
        if (hob_str_eqz(r->out->tools.at[i], "*")) said = false;
    if (said)
        r->out->flags |= HOB_DEFINITION_TOOLS;
    else
        r->out->tools = (hob_strs){NULL, 0};
    return HOB_OK;
}

int hob_def_keep_text(hob_def_reader *r, hob_str s) {
    r->out->text = hob_arena_dup(r->a, hob_str_trim(s));
    if (!r->out->text.p) return hob_fail(r->err, HOB_ETOOBIG, 0, "too large");
    return HOB_OK;
}

int hob_definition_read(hob_arena *a, const hob_def_text *t, hob_definition *out, size_t *line,
                        hob_error *err) {
    hob_definition x = HOB_DEFINITION_INIT;
    hob_def_reader r = {.a = a, .from = t, .out = &x, .line = line, .err = err, .body_line = 1};
    *line = 0;
    x.kind = t->kind;
    if (!hob_utf8_valid(t->text)) return hob_fail(err, HOB_EPARSE, 0, "is not valid UTF-8");
    r.remarks = hob_arena_alloc(a, HOB_DEFINITION_REMARKS * sizeof(hob_str));
    if (!r.remarks) return hob_fail(err, HOB_ETOOBIG, 0, "too large");
    x.remarks.at = r.remarks;
    int code = read_front(&r);
    if (code < 0) return code;
    *line = 1;
    switch (t->kind) {
    case HOB_DEFINITION_AGENT: code = hob_agent_read(&r, &(hob_def_flow){0}); break;
    case HOB_DEFINITION_SKILL: code = hob_skill_read(&r); break;
    case HOB_DEFINITION_COMMAND: code = hob_command_read(&r); break;
    }
    if (code == HOB_OK) *out = x;
    return code;
}
