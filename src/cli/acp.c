/*
 * acp.c - `hob acp`: an editor drives sessions over standard input and output.
 *
 * The editor names a folder with each session. Settings, trust and definitions are those of that folder, so each folder
 * has its own configuration and runtime; sessions of all of them stand in the same store.
 */
#include <hob/acp.h>

#include "cli/cli.h"

#include <stdio.h>
#include <unistd.h>

#define FOLDERS_MAX 32

typedef struct acp_opts {
    hob_common common;
    const char *model, *thinking, *agent, *permission_mode;
    hob_words allow, deny;
    bool local;
} acp_opts;
#define AT(member) offsetof(acp_opts, member)
static const hob_opt table[] = {
    {'m', "model", HOB_OPT_TEXT, AT(model), "MODEL", "PROVIDER/MODEL[:THINKING], scripted:FILE"},
    {0, "thinking", HOB_OPT_WORD, AT(thinking), "off|minimal|low|medium|high|xhigh",
     "how much the model thinks"},
    {0, "agent", HOB_OPT_TEXT, AT(agent), "NAME", "be that agent (hob agents)"},
    {0, "permission-mode", HOB_OPT_WORD, AT(permission_mode), "ask|accept-edits|plan|yolo",
     "what tools may do without asking, at first"},
    {0, "allow", HOB_OPT_LIST, AT(allow), "RULE", "calls that need no question"},
    {0, "deny", HOB_OPT_LIST, AT(deny), "RULE", "calls that are refused in every mode"},
    {0, "local", HOB_OPT_FLAG, AT(local), NULL, "leave the editor's files and terminals alone"},
    HOB_COMMON_OPTS(acp_opts),
};
static const hob_opts opts = {table, HOB_ARRAY_LEN(table)};

/* A folder in which sessions were opened. */
typedef struct place {
    hob_cli cli; /* configuration and runtime */
    hob_definitions *definitions;
} place;

typedef struct serving {
    const acp_opts *opts;
    hob_cli *cli; /* of the folder in which we were started: the first place's runtime */
    place *places[FOLDERS_MAX];
    size_t n;
} serving;

/* ---- folders --------------------------------------------------------------------------------- */

static void close_place(place *p) {
    hob_runtime_destroy(p->cli.rt);
    hob_config_destroy(p->cli.config);
    hob_definitions_destroy(p->definitions);
    hob_free(p);
}

/* Somebody sits at the editor: what they said of this folder before counts. */
static int open_place(serving *x, const char *cwd, place **out, hob_error *err) {
    if (x->n == FOLDERS_MAX)
        return hob_fail(err, HOB_ELIMIT, 0, "sessions of %d folders were opened: start hob again",
                        FOLDERS_MAX);
    if (access(cwd, X_OK) < 0)
        return hob_fail_errno(err, HOB_ENOENT, "the folder %s cannot be used", cwd);
    place *p = HOB_NEW(place);
    p->cli = (hob_cli){.envp = x->cli->envp, .quiet = x->cli->quiet, .verbose = x->cli->verbose};
    int n = snprintf(p->cli.cwd, sizeof p->cli.cwd, "%s", cwd);
    bool fits = n >= 0 && (size_t)n < sizeof p->cli.cwd;
    bool trusted = fits && hob_cli_trusts(&p->cli);
    int code = fits ? hob_cli_start(&p->cli, trusted, err)
                    : hob_fail(err, HOB_EINVAL, 0, "the folder's name is too long");
    if (code >= 0) code = hob_cli_definitions_open(&p->cli, trusted, &p->definitions, err);
    if (code < 0) {
        close_place(p);
        return code;
    }
    x->places[x->n++] = *out = p;
    return HOB_OK;
}

static int find_place(serving *x, const char *cwd, place **out, hob_error *err) {
    for (size_t i = 0; i < x->n; i++) {
        *out = x->places[i];
        if (!strcmp((*out)->cli.cwd, cwd)) return HOB_OK;
    }
    return open_place(x, cwd, out, err);
}

static int on_folder(const char *cwd, hob_acp_folder *f, void *user, hob_error *err) {
    serving *x = user;
    const acp_opts *o = x->opts;
    place *p = NULL;
    int code = find_place(x, cwd, &p, err);
    if (code < 0) return code;
    f->rt = p->cli.rt;
    f->session.model = o->model;
    f->session.thinking = o->thinking;
    f->session.agent_name = o->agent;
    f->session.permission_mode = o->permission_mode;
    f->session.allow = o->allow.at;
    f->session.deny = o->deny.at;
    f->session.flags = HOB_SESSION_CONTEXT_FILES;
    f->session.definitions = p->definitions;
    return HOB_OK;
}

/* ---- the command ------------------------------------------------------------------------------- */

static int on_look(void *user) {
    (void)user;
    return hob_signals_waiting();
}

static int serve(hob_cli *cli, const acp_opts *o, hob_error *err) {
    serving x = {.opts = o, .cli = cli};
    hob_acp_opts acp = HOB_ACP_OPTS_INIT;
    acp.in = STDIN_FILENO;
    acp.out = STDOUT_FILENO;
    acp.flags = o->local ? HOB_ACP_LOCAL : 0;
    acp.folder = on_folder;
    acp.stopped = on_look;
    acp.user = &x;
    int code = hob_cli_config(cli, false, err);
    if (code >= 0) code = hob_cli_check_store(cli, err);
    if (code >= 0) code = hob_cli_start(cli, false, err);
    if (code >= 0) code = hob_acp_serve(cli->rt, &acp, err);
    hob_signals_runtime(NULL);
    while (x.n) close_place(x.places[--x.n]);
    return code;
}

static int run(hob_cli *cli, char *const *argv) {
    acp_opts o = {.model = NULL};
    hob_rest rest;
    hob_error err = {.code = HOB_OK};
    int code, result = hob_cli_parse(cli, &hob_command_acp, argv, &o, &rest);
    if (result >= 0) goto out;
    code = rest.words.n ? hob_command_misused(&hob_command_acp, &rest.words, &err) : HOB_OK;
    if (code >= 0 && isatty(STDIN_FILENO) == 1)
        hob_tell_note(cli, "this is for editors, which start it themselves: docs/acp.md");
    if (code >= 0) code = serve(cli, &o, &err);
    int signal = hob_signals_take();
    if (code < 0 && !signal) hob_tell_error(cli, &err);
    result = signal ? HOB_EXIT_SIGNAL + signal : code < 0 ? hob_exit_of(code) : HOB_EXIT_OK;
out:
    hob_words_finish(&rest.words);
    hob_words_finish(&o.allow);
    hob_words_finish(&o.deny);
    return result;
}

const hob_command hob_command_acp = {
    .name = "acp",
    .usage = "acp [options]",
    .summary = "for editors: the Agent Client Protocol on standard input and output",
    .opts = &opts,
    .run = run,
};
