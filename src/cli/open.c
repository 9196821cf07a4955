/*
 * open.c - the session that the options ask for.
 */
#include <hob/memory.h>

#include "cli/ask.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define PROMPT_FILE_MAX (1u << 20)

typedef struct opening {
    hob_session_opts o;
    hob_words dirs; /* made absolute; strings are ours */
    hob_buf system, append;
} opening;

static void opening_finish(opening *x) {
    for (size_t i = 0; i < x->dirs.n; i++) hob_free((void *)(uintptr_t)x->dirs.at[i]);
    hob_words_finish(&x->dirs);
    hob_buf_finish(&x->system);
    hob_buf_finish(&x->append);
}

static int add_dirs(opening *x, const hob_words *dirs, hob_error *err) {
    char path[PATH_MAX];
    for (size_t i = 0; i < dirs->n; i++) {
        if (!realpath(dirs->at[i], path))
            return hob_fail_errno(err, HOB_EINVAL, "--add-dir %s cannot be used", dirs->at[i]);
        hob_words_add(&x->dirs, hob_dupz(hob_str_z(path)));
    }
    x->o.add_dirs = x->dirs.at;
    return HOB_OK;
}

/* TEXT or @FILE; a text that begins with @ is written @@. */
static int read_text(const char *arg, hob_buf *to, const char **out, hob_error *err) {
    if (!arg) return HOB_OK;
    if (arg[0] != '@' || arg[1] == '@') {
        *out = arg[0] == '@' ? arg + 1 : arg;
        return HOB_OK;
    }
    int code = hob_cli_file_read(arg + 1, PROMPT_FILE_MAX, to, err);
    if (code < 0) return code;
    if (!hob_utf8_valid(hob_buf_str(to)) || memchr(to->p, 0, to->n))
        return hob_fail(err, HOB_EINVAL, 0, "%s is not UTF-8 text", arg + 1);
    *out = hob_buf_z(to);
    return HOB_OK;
}

/* A policy may ask for more than the flag; the session refuses what does not exist. */
static int set_sandbox(hob_cli *cli, const hob_ask *a, hob_error *err) {
    if (!a->sandbox) return HOB_OK;
    hob_str json = strcmp(a->sandbox, "off") ? HOB_STR("\"auto\"") : HOB_STR("\"off\"");
    return hob_config_set(cli->config, "sandbox.level", json, HOB_ORIGIN_FLAG, err);
}

/* Settings that later versions use. They guard nothing, so that a remark is enough. */
static void on_setting(const char *path, hob_str json, hob_origin origin, hob_str source,
                       void *user) {
    static const char *const later[] = {"mcp_servers.", "lanes."};
    (void)json, (void)origin;
    for (size_t i = 0; i < HOB_ARRAY_LEN(later); i++)
        if (hob_str_starts(hob_str_z(path), hob_str_z(later[i])))
            hob_tell_note(user, "%.*s: %s has no effect in this version", HOB_FMT(source), path);
}

/* Without a folder the library keeps sessions in memory: right for a host that said so, a loss here. */
int hob_cli_check_store(hob_cli *cli, hob_error *err) {
    bool said = hob_config_origin(cli->config, "store", NULL) != HOB_ORIGIN_BUILTIN;
    if (said || hob_config_state_dir(cli->config).n) return HOB_OK;
    return hob_fail(err, HOB_ECONFIG, 0,
                    "there is no folder to keep the session in: set HOME or HOB_HOME, or give "
                    "--no-session");
}

int hob_ask_start(hob_cli *cli, const hob_ask *a, hob_error *err) {
    int code = hob_cli_config(cli, a->trust, err);
    if (code >= 0) code = set_sandbox(cli, a, err);
    if (code >= 0) hob_config_each(cli->config, on_setting, cli);
    if (code >= 0 && !a->no_session) code = hob_cli_check_store(cli, err);
    return code < 0 ? code : hob_cli_start(cli, a->trust, err);
}

static void choose(const hob_ask *a, bool prompted, hob_session_opts *o) {
    o->choice = HOB_SESSION_NEW;
    o->id = a->session_id;
    if (a->no_session) o->choice = HOB_SESSION_IN_MEMORY;
    if (hob_ask_continues(a)) {
        o->choice = a->resume.value ? HOB_SESSION_OPEN : HOB_SESSION_CONTINUE;
        if (o->choice ==
            HOB_SESSION_CONTINUE) { /* the newest of one's own, not of a server's callers */
            o->app_name = HOB_STR("hob");
            o->user_id = HOB_STR("local");
        }
        o->id = a->resume.value;
        o->flags |= a->fork ? HOB_SESSION_FORK : 0;
    }
    o->on_unfinished = prompted ? HOB_UNFINISHED_SETTLE : HOB_UNFINISHED_RESUME;
}

static void set_limits(const hob_ask *a, hob_session_opts *o) {
    o->max_turns = a->max_turns;
    o->max_tokens = a->max_tokens;
    o->max_tool_calls = a->max_tool_calls;
    o->max_cost_usd = a->max_cost;
    o->timeout_ms = a->timeout > 1e12 ? INT64_MAX / 2 : (int64_t)(a->timeout * 1000 + 0.999);
}

static void tell_warning(hob_cli *cli, hob_session *s) {
    char text[700];
    if (hob_session_init_warning(s, text, sizeof text) > 0) hob_tell_note(cli, "%s", text);
}

int hob_ask_open(hob_cli *cli, const hob_ask *a, bool prompted, hob_approver approver,
                 hob_session **out, hob_error *err) {
    opening x = {.o = HOB_SESSION_OPTS_INIT};
    /* A session that is named goes on in its own folder, unless another one is named too. */
    x.o.cwd = a->resume.value && !a->common.cd ? NULL : cli->cwd;
    x.o.model = a->model;
    x.o.thinking = a->thinking;
    x.o.agent_name = a->agent;
    x.o.permission_mode = a->permission_mode;
    x.o.allow = a->allow.at;
    x.o.deny = a->deny.at;
    x.o.approver = approver;
    x.o.flags = HOB_SESSION_CONTEXT_FILES;
    choose(a, prompted, &x.o);
    set_limits(a, &x.o);
    int code = add_dirs(&x, &a->add_dirs, err);
    if (code >= 0) code = read_text(a->system_prompt, &x.system, &x.o.system_prompt, err);
    if (code >= 0)
        code = read_text(a->append_system_prompt, &x.append, &x.o.append_system_prompt, err);
    if (code >= 0) code = hob_cli_definitions_open(cli, a->trust, &x.o.definitions, err);
    if (code >= 0) code = hob_session_create(cli->rt, &x.o, out, err);
    if (code >= 0) tell_warning(cli, *out);
    /* Without a prompt it is opened to go on. */
    if (code >= 0 && !prompted && hob_session_is_paused(*out) == 1)
        code = hob_session_resume(*out, err);
    hob_definitions_destroy(x.o.definitions);
    opening_finish(&x);
    return code;
}

/* One text of what the session says about itself, in the arena. */
static hob_str info_text(hob_session *s, const char *key, hob_arena *a) {
    hob_page *page = NULL;
    const hob_json *info = NULL;
    hob_str text = HOB_STR("");
    if (hob_session_info(s, &page, NULL) < 0) return text;
    if (hob_json_parse(a, hob_page_row(page, 0), NULL, &info, NULL) >= 0)
        text = hob_arena_dup(a, hob_json_get_str(info, key));
    hob_page_destroy(page);
    return text;
}

void hob_ask_tell_context(hob_cli *cli, hob_session *s) {
    hob_str line;
    hob_arena *a = hob_arena_create(0);
    hob_str rest = hob_str_trim(info_text(s, "context_files", a));
    while (rest.n && hob_str_split(&rest, '\n', &line))
        hob_tell_note(cli, "instructions: %.*s", HOB_FMT(line));
    hob_arena_destroy(a);
}

/* ---- the first line of stream-json ----------------------------------------------------------- */

void hob_ask_session_line(hob_session *s, hob_buf *out) {
    char id[160], model[512], cwd[PATH_MAX];
    hob_jsonw w;
    hob_arena *a = hob_arena_create(0);
    hob_session_id(s, id, sizeof id);
    hob_session_model(s, model, sizeof model);
    hob_session_cwd(s, cwd, sizeof cwd);
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "type", HOB_STR("session"));
    hob_jsonw_kstr(&w, "id", hob_str_z(id));
    hob_jsonw_kstr(&w, "model", hob_str_z(model));
    hob_jsonw_kstr(&w, "cwd", hob_str_z(cwd));
    hob_jsonw_kstr_opt(&w, "agent", info_text(s, "agent", a));
    hob_jsonw_kstr(&w, "sandbox", HOB_STR("none"));
    hob_jsonw_kstr(&w, "permission_mode", info_text(s, "permission_mode", a));
    hob_jsonw_kstr(&w, "version", hob_str_z(hob_version()));
    hob_jsonw_object_end(&w);
    hob_arena_destroy(a);
}
