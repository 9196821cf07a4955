/*
 * options.c - the options of a prompt: one table for parsing, for the help and for docs/cli.md.
 */
#include "cli/ask.h"

#define AT(member) offsetof(hob_ask, member)

static const hob_opt table[] = {
    {'p', "print", HOB_OPT_FLAG, AT(print), NULL, "one run, its answer on stdout, then exit"},
    {0, "output-format", HOB_OPT_WORD, AT(output_format), "text|json|stream-json",
     "what stdout carries"},
    {0, "json", HOB_OPT_SAME, AT(output_format), "stream-json", "--output-format stream-json"},
    {0, "input-format", HOB_OPT_WORD, AT(input_format), "text|stream-json",
     "stream-json: stdin carries commands"},
    {'o', "output", HOB_OPT_TEXT, AT(out_file), "FILE", "write the answer to FILE as well"},

    {'c', "continue", HOB_OPT_FLAG, AT(cont), NULL, "the newest session of this folder"},
    {'r', "resume", HOB_OPT_MAYBE, AT(resume), "ID", "that session; without ID like -c"},
    {0, "fork", HOB_OPT_FLAG, AT(fork), NULL, "with -c or -r: work on a copy"},
    {0, "session-id", HOB_OPT_TEXT, AT(session_id), "ID", "the id of a new session"},
    {0, "no-session", HOB_OPT_FLAG, AT(no_session), NULL, "keep nothing on disk"},

    {'m', "model", HOB_OPT_TEXT, AT(model), "MODEL", "PROVIDER/MODEL[:THINKING], scripted:FILE"},
    {0, "thinking", HOB_OPT_WORD, AT(thinking), "off|minimal|low|medium|high|xhigh",
     "how much the model thinks"},
    {0, "system-prompt", HOB_OPT_TEXT, AT(system_prompt), "TEXT|@FILE", "instead of hob's own"},
    {0, "append-system-prompt", HOB_OPT_TEXT, AT(append_system_prompt), "TEXT|@FILE",
     "after the system prompt"},
    {0, "agent", HOB_OPT_TEXT, AT(agent), "NAME", "be that agent (hob agents); '' = hob's own"},
    {'i', "image", HOB_OPT_LIST, AT(images), "FILE", "add a picture (png, jpeg, gif, webp)"},
    {0, "add-dir", HOB_OPT_LIST, AT(add_dirs), "DIR", "a further folder for the tools"},

    {0, "permission-mode", HOB_OPT_WORD, AT(permission_mode), "ask|accept-edits|plan|yolo",
     "what tools may do without asking"},
    {0, "allow", HOB_OPT_LIST, AT(allow), "RULE", "calls that need no question"},
    {0, "deny", HOB_OPT_LIST, AT(deny), "RULE", "calls that are refused in every mode"},
    {0, "sandbox", HOB_OPT_WORD, AT(sandbox), "auto|full|landlock|off",
     "this version has none: auto or off"},
    {0, "trust", HOB_OPT_FLAG, AT(trust), NULL, "trust this folder's settings, for this run"},

    {0, "max-turns", HOB_OPT_COUNT, AT(max_turns), "N", "answers of the model"},
    {0, "max-tokens", HOB_OPT_COUNT, AT(max_tokens), "N", "tokens in all"},
    {0, "max-cost", HOB_OPT_NUMBER, AT(max_cost), "USD", "price in all"},
    {0, "max-tool-calls", HOB_OPT_COUNT, AT(max_tool_calls), "N", "calls in all"},
    {0, "timeout", HOB_OPT_NUMBER, AT(timeout), "SECONDS", "time in all"},

    {0, "offline", HOB_OPT_FLAG, AT(offline), NULL,
     "accepted: nothing but the model is ever called"},
    HOB_COMMON_OPTS(hob_ask),
    {'V', "version", HOB_OPT_FLAG, AT(version), NULL, "the version"},
};

const hob_opts hob_ask_opts = {table, HOB_ARRAY_LEN(table)};

void hob_ask_finish(hob_ask *a) {
    hob_words_finish(&a->add_dirs);
    hob_words_finish(&a->images);
    hob_words_finish(&a->allow);
    hob_words_finish(&a->deny);
}

bool hob_ask_continues(const hob_ask *a) {
    return a->cont || a->resume.given;
}

static int check_session(const hob_ask *a, hob_error *err) {
    if (a->cont && a->resume.given)
        return hob_fail(err, HOB_EINVAL, 0, "-c and -r name two sessions; use one of them");
    if (a->fork && !hob_ask_continues(a))
        return hob_fail(err, HOB_EINVAL, 0, "--fork copies a session: say which with -c or -r ID");
    if (a->no_session && (hob_ask_continues(a) || a->session_id))
        return hob_fail(err, HOB_EINVAL, 0,
                        "--no-session keeps nothing, so it cannot name or continue a session");
    if (a->session_id && hob_ask_continues(a))
        return hob_fail(err, HOB_EINVAL, 0,
                        "--session-id names a new session; to open one use -r %.128s",
                        a->session_id);
    if (a->session_id && !hob_id_valid(hob_str_z(a->session_id)))
        return hob_fail(
            err, HOB_EINVAL, 0,
            "'%.200s' cannot be a session id: letters, digits, '.', '_' and '-', at most 128",
            a->session_id);
    return HOB_OK;
}

static int check_formats(const hob_ask *a, hob_error *err) {
    bool commands = a->input_format && !strcmp(a->input_format, "stream-json");
    if (commands && a->output_format && strcmp(a->output_format, "stream-json"))
        return hob_fail(err, HOB_EINVAL, 0,
                        "--input-format stream-json needs --output-format stream-json");
    return HOB_OK;
}

int hob_ask_check(const hob_ask *a, const hob_rest *rest, hob_error *err) {
    int code = check_session(a, err);
    if (code >= 0) code = check_formats(a, err);
    if (code < 0) return code;
    if (a->sandbox && strcmp(a->sandbox, "auto") && strcmp(a->sandbox, "off"))
        return hob_fail(
            err, HOB_EINVAL, 0,
            "--sandbox %s is not available in this version; auto and off are (both: none)",
            a->sandbox);
    const char *first = rest->words.n && rest->literal > 0 ? rest->words.at[0] : NULL;
    if (first && !a->print && hob_command_find(hob_str_z(first)))
        return hob_fail(
            err, HOB_EINVAL, 0,
            "a command stands first: hob %s …; for a prompt that begins so: hob … -- %s …", first,
            first);
    return HOB_OK;
}
