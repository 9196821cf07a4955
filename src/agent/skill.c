/*
 * skill.c - SKILL.md and prompt templates. Of a skill only what is listed is kept; its text is read
 * when it is asked for.
 */
#include "agent/definition.h"

static void remark_commands(hob_def_reader *r) {
    ptrdiff_t at = hob_str_find(r->body, HOB_STR("!`"));
    size_t line = r->body_line;
    if (at < 0) return;
    for (size_t i = 0; i < (size_t)at; i++) line += r->body.p[i] == '\n';
    hob_def_remark(r, line, "!`command` is not run, it stays as it stands");
}

static size_t characters(hob_str s) {
    size_t n = 0;
    for (size_t at = 0; at < s.n; n++) hob_utf8_next(s, &at);
    return n;
}

static int read_skill_name(hob_def_reader *r) {
    hob_str stem = r->from->stem;
    const char *why;
    int code = hob_def_get_line(r, "name", 1024, &r->out->name);
    if (code < 0) return code;
    if (!r->out->name.n) r->out->name = hob_arena_dup(r->a, stem);
    if (!hob_skill_name_valid(r->out->name, &why)) return hob_def_refuse(r, "name", "%s", why);
    if (!hob_str_eq(r->out->name, stem))
        return hob_def_refuse(r, "name", "the name %.*s is not that of its folder, %.*s",
                              HOB_FMT(r->out->name), HOB_FMT(hob_str_first(stem, 64)));
    return HOB_OK;
}

static int read_skill_or_command(hob_def_reader *r) {
    static const char *const known[] = {
        "name",          "description", "allowed-tools", "disable-model-invocation",
        "argument-hint", "model",       "user-invocable"};
    static const char *const tools[] = {"allowed-tools"};
    hob_definition *x = r->out;
    int code = hob_def_check_keys(r, known, HOB_ARRAY_LEN(known));
    if (code == HOB_OK) code = hob_def_get_text(r, "description", 16384, &x->description);
    if (code == HOB_OK) code = hob_def_get_line(r, "argument-hint", 1024, &x->argument_hint);
    if (code == HOB_OK) code = hob_def_get_line(r, "model", HOB_DEFINITION_LINE, &x->model);
    if (code == HOB_OK) code = hob_def_get_tools(r, tools, HOB_ARRAY_LEN(tools));
    if (code == HOB_OK)
        code = hob_def_get_flag(r, "disable-model-invocation", HOB_DEFINITION_USER_ONLY);
    if (code == HOB_OK) remark_commands(r);
    return code;
}

int hob_skill_read(hob_def_reader *r) {
    int code = read_skill_or_command(r);
    if (code == HOB_OK) code = read_skill_name(r);
    if (code < 0) return code;
    if (!r->out->description.n) return hob_def_refuse(r, "description", "has no description");
    if (characters(r->out->description) > HOB_DEFINITION_DESCRIPTION_MAX)
        return hob_def_refuse(r, "description", "description is longer than %d characters",
                              HOB_DEFINITION_DESCRIPTION_MAX);
    return HOB_OK;
}

/* Without a description the first line that says something has to do. */
static void describe(hob_definition *x) {
    hob_str rest = x->text, line = HOB_STR_NULL;
    while (!x->description.n && hob_str_split(&rest, '\n', &line)) {
        while (line.n && line.p[0] == '#') line = hob_str_skip(line, 1);
        line = hob_str_trim(line);
        x->description = hob_str_first(line, hob_utf8_prefix(line, 200));
    }
}

int hob_command_read(hob_def_reader *r) {
    const char *why;
    if (!hob_command_name_valid(r->from->stem, &why)) return hob_def_refuse(r, NULL, "%s", why);
    int code = read_skill_or_command(r);
    if (code == HOB_OK) code = hob_def_keep_text(r, r->body);
    if (code < 0) return code;
    r->out->name = hob_arena_dup(r->a, r->from->stem);
    describe(r->out);
    return HOB_OK;
}
