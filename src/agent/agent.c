/*
 * agent.c - the keys of an agent's file: those of Claude Code and of a3s, as far as they narrow.
 */
#include "agent/definition.h"

#define TEXT_MAX (256u << 10)

static int mode_from(hob_str word, hob_mode *out) {
    static const struct {
        const char *word;
        hob_mode mode;
    } others[] = {{"default", HOB_MODE_ASK},
                  {"acceptEdits", HOB_MODE_ACCEPT_EDITS},
                  {"bypassPermissions", HOB_MODE_YOLO}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(others); i++) {
        if (!hob_str_eqz(word, others[i].word)) continue;
        *out = others[i].mode;
        return HOB_OK;
    }
    return hob_mode_from(word, out);
}

static int read_mode(hob_def_reader *r) {
    hob_str word = HOB_STR_NULL;
    hob_mode mode;
    int code = hob_def_get_line(r, "permissionMode", HOB_DEFINITION_LINE, &word);
    if (code < 0 || !word.n) return code;
    if (mode_from(word, &mode) < 0)
        return hob_def_refuse(r, "permissionMode",
                              "permissionMode has to be ask, accept-edits, plan or yolo");
    if (hob_mode_wider(mode, r->from->widest))
        hob_def_remark(r, hob_def_line(r, "permissionMode"),
                       "permissionMode %s is wider than %s and does not count", hob_mode_name(mode),
                       hob_mode_name(r->from->widest));
    else
        r->out->permission_mode = hob_str_z(hob_mode_name(mode));
    return HOB_OK;
}

static int read_isolation(hob_def_reader *r) {
    hob_str word = HOB_STR_NULL;
    int code = hob_def_get_line(r, "isolation", HOB_DEFINITION_LINE, &word);
    if (code < 0 || !word.n || hob_str_eqz(word, "none")) return code;
    if (!hob_str_eqz(word, "worktree"))
        return hob_def_refuse(r, "isolation", "isolation has to be worktree or none");
    r->out->flags |= HOB_DEFINITION_WORKTREE;
    return HOB_OK;
}

static int read_instruction(hob_def_reader *r) {
    static const char *const keys[] = {"prompt", "instruction", "instructions"};
    hob_str text = HOB_STR_NULL;
    for (size_t i = 0; i < HOB_ARRAY_LEN(keys); i++) {
        hob_str one = HOB_STR_NULL;
        int code = hob_def_get_text(r, keys[i], TEXT_MAX, &one);
        if (code < 0) return code;
        if (!text.n) text = one;
    }
    if (text.n && hob_str_trim(r->body).n)
        hob_def_remark(r, r->body_line, "the text does not count, prompt is set above");
    return hob_def_keep_text(r, text.n ? text : r->body);
}

static int read_agent_name(hob_def_reader *r) {
    const char *why;
    int code = hob_def_get_line(r, "name", 1024, &r->out->name);
    if (code < 0) return code;
    if (!r->out->name.n) return hob_def_refuse(r, "name", "has no name");
    if (!hob_agent_name_valid(r->out->name, &why)) return hob_def_refuse(r, "name", "%s", why);
    return HOB_OK;
}

static int read_turns(hob_def_reader *r) {
    int64_t steps = 0;
    int code = hob_def_get_count(r, "maxTurns", &r->out->max_turns);
    if (code == HOB_OK) code = hob_def_get_count(r, "max_steps", &steps);
    if (steps && (!r->out->max_turns || steps < r->out->max_turns)) r->out->max_turns = steps;
    return code;
}

/* A limit that cannot be read would not hold; a grant that cannot be read grants nothing. */
static int check_entries(hob_def_reader *r) {
    hob_error why;
    const hob_strs *no = &r->out->disallowed_tools, *yes = &r->out->tools;
    for (size_t i = 0; i < no->n; i++)
        if (hob_narrow_entry_check(no->at[i], true, &why) < 0)
            return hob_def_refuse(r, "disallowedTools", "%s", why.message);
    for (size_t i = 0; i < yes->n; i++)
        if (hob_narrow_entry_check(yes->at[i], false, &why) < 0)
            hob_def_remark(r, hob_def_line(r, "tools"), "%s: it grants nothing", why.message);
    return HOB_OK;
}

static int read_rest(hob_def_reader *r) {
    hob_definition *x = r->out;
    bool said;
    int code = hob_def_get_words(r, "skills", &said, &x->skills);
    if (code == HOB_OK) code = read_turns(r);
    if (code == HOB_OK) code = hob_def_get_flag(r, "background", HOB_DEFINITION_BACKGROUND);
    if (code == HOB_OK) code = read_isolation(r);
    if (code == HOB_OK) code = read_mode(r);
    if (code == HOB_OK) code = read_instruction(r);
    return code;
}

int hob_agent_read(hob_def_reader *r, hob_def_flow *flow) {
    static const char *const known[] = {
        "name",      "description", "model",          "tools",        "disallowedTools",
        "maxTurns",  "max_steps",   "permissionMode", "background",   "isolation",
        "skills",    "prompt",      "instruction",    "instructions", "allowed-tools",
        "kind",      "type",        "agents",         "sub_agents",   "max_iterations",
        "condition", "output_key",  "output_schema",  "history"};
    static const char *const tools[] = {"tools", "allowed-tools"};
    hob_definition *x = r->out;
    bool said;
    int code = hob_def_flow_read(r, flow);
    if (code == HOB_OK) code = hob_def_check_keys(r, known, HOB_ARRAY_LEN(known));
    if (code == HOB_OK) code = read_agent_name(r);
    if (code == HOB_OK) code = hob_def_get_text(r, "description", 16384, &x->description);
    if (code == HOB_OK) code = hob_def_get_line(r, "model", HOB_DEFINITION_LINE, &x->model);
    if (code == HOB_OK) code = hob_def_get_tools(r, tools, HOB_ARRAY_LEN(tools));
    if (code == HOB_OK) code = hob_def_get_words(r, "disallowedTools", &said, &x->disallowed_tools);
    if (code == HOB_OK) code = check_entries(r);
    if (code == HOB_OK) code = read_rest(r);
    if (code == HOB_OK && !x->description.n)
        hob_def_remark(r, 1, "no description: a model cannot know when to use it");
    if (code == HOB_OK && flow->kind != HOB_AGENT_LLM && x->text.n)
        hob_def_remark(r, r->body_line, "the text does not count: its agents have their own");
    if (hob_str_eqz(x->model, "inherit")) x->model = HOB_STR_NULL;
    return code;
}
