/*
 * task_tool.c - the tool `task`: what the model says, checked, and handed to task.c.
 */
#include "session/task.h"

#include "session/definitions.h"

enum { NAMED_MAX = 64, WORDS_MAX = 300, NAMES_MAX = 200, DESCRIPTION_MAX = 60 * 1024 };

#define YEAR_MS (INT64_C(1000) * 3600 * 24 * 365)

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"agent\":{\"type\":\"string\",\"description\":\"which sub-agent; one of those named above\"},"
    "\"prompt\":{\"type\":\"string\",\"description\":\"everything it must know: it sees nothing "
    "else of this conversation\"},"
    "\"background\":{\"type\":\"boolean\",\"description\":\"true: do not wait; its result comes as a "
    "message when it is done\"},"
    "\"isolation\":{\"enum\":[\"worktree\"],\"description\":\"worktree: it works in a git worktree "
    "of its own, made from the last commit, and its changes do not touch your files\"}},"
    "\"required\":[\"agent\",\"prompt\"],\"additionalProperties\":false}";

static const char purpose[] =
    "Hands a task to a sub-agent, which works by itself with tools of its own and answers with one "
    "message. Several calls in one answer run side by side. Sub-agents:\n";

static const char general_words[] =
    "for anything that takes several steps; has the same tools and rules as you";

/* ---- agents ----------------------------------------------------------------------------------------------- */

static hob_definition general(void) {
    hob_definition x = HOB_DEFINITION_INIT;
    x.kind = HOB_DEFINITION_AGENT;
    x.name = HOB_STR("general");
    x.description = hob_str_z(general_words);
    return x;
}

static bool is_named(const hob_buf *text, hob_str name) {
    hob_buf line;
    hob_buf_init(&line, 1024);
    hob_buf_addf(&line, "\n- %.*s: ", HOB_FMT(name));
    bool yes = hob_str_find(hob_buf_str(text), hob_buf_str(&line)) >= 0;
    hob_buf_finish(&line);
    return yes;
}

static void name_agents(hob_definitions *d, hob_buf *out, size_t *n) {
    hob_arena *a = hob_arena_create(0);
    hob_definition *all;
    size_t count = hob_definitions_all(d, HOB_DEFINITION_AGENT, a, &all);
    for (size_t i = 0; i < count && *n < NAMED_MAX; i++) {
        hob_str words =
            hob_str_first(all[i].description, hob_utf8_prefix(all[i].description, WORDS_MAX));
        if (is_named(out, all[i].name)) continue;
        hob_buf_addf(out, "- %.*s: %.*s\n", HOB_FMT(all[i].name), HOB_FMT(words));
        (*n)++;
    }
    hob_arena_destroy(a);
}

static void describe(hob_session *s, hob_buf *out) {
    size_t n = 0;
    hob_buf_addz(out, purpose);
    for (hob_session *at = s; at; at = at->line ? at->line->parent : NULL)
        name_agents(at->agents, out, &n);
    name_agents(s->definitions, out, &n);
    if (!is_named(out, HOB_STR("general"))) hob_buf_addf(out, "- general: %s\n", general_words);
}

/* The model may have made up the name: it is told those that there are. */
static int say_missing(hob_session *s, hob_str name, hob_error *err) {
    hob_error why = {.message = ""};
    hob_buf all, names;
    int code = hob_definitions_missing(s->definitions, HOB_DEFINITION_AGENT, name, &why);
    hob_buf_init(&all, DESCRIPTION_MAX);
    hob_buf_init(&names, DESCRIPTION_MAX);
    describe(s, &all);
    hob_str rest = hob_str_skip(hob_buf_str(&all), sizeof purpose - 1), line;
    while (hob_str_split(&rest, '\n', &line)) {
        ptrdiff_t colon = hob_str_chr(line, ':');
        if (colon < 2 || !hob_str_starts(line, HOB_STR("- ")) || names.n > NAMES_MAX) continue;
        hob_buf_addf(&names, "%s%.*s", names.n ? ", " : "",
                     HOB_FMT(hob_str_skip(hob_str_first(line, (size_t)colon), 2)));
    }
    hob_fail(err, code, 0, "%s; there are: %s", why.message, hob_buf_z(&names));
    hob_buf_finish(&names);
    hob_buf_finish(&all);
    return code;
}

int hob_task_agent(hob_session *s, hob_str name, hob_arena *a, hob_definition *out,
                   hob_error *err) {
    for (hob_session *at = s; at; at = at->line ? at->line->parent : NULL)
        if (hob_definitions_copy(at->agents, HOB_DEFINITION_AGENT, name, a, out, NULL) >= 0)
            return HOB_OK;
    if (hob_definitions_copy(s->definitions, HOB_DEFINITION_AGENT, name, a, out, NULL) >= 0)
        return HOB_OK;
    if (hob_str_eqz(name, "general")) {
        *out = general();
        return 1;
    }
    return say_missing(s, name, err);
}

/* ---- a call --------------------------------------------------------------------------------------------------- */

void hob_task_say_started(hob_reply *r, const char *id) {
    hob_buf words;
    hob_buf_init(&words, 1024);
    hob_buf_addf(&words,
                 "started in the background as %s; its result comes to you as a message when it is "
                 "done, so go on with something else or end your turn",
                 id);
    hob_reply_text(r, HOB_OUTCOME_OK, hob_buf_str(&words));
    hob_buf_finish(&words);
}

void hob_task_refuse(hob_reply *r, const hob_error *err) {
    char words[700];
    int n = snprintf(words, sizeof words, "error: %s", err->message);
    hob_reply_text(r, HOB_OUTCOME_ERROR, hob_str_n(words, (size_t)HOB_MIN(n, 699)));
}

/* A call that was made before, by a process that is gone: how far did it get? True: it is answered. */
static bool found_again(hob_session *s, const hob_kid *k, hob_reply *reply) {
    hob_task *t = hob_task_find(s, hob_str_z(k->id));
    if (k->background) {
        hob_task_say_started(reply, k->id);
        return true;
    }
    if (!k->open) {
        hob_task_answer_again(s, k, reply);
        return true;
    }
    if (!t) return false;
    if (t->stage != HOB_TASK_ENDED && !t->reply) { /* taken up before its call was */
        t->reply = reply;
        return true;
    }
    hob_error err;
    hob_fail(&err, HOB_EBUSY, 0, "the sub-agent %s is being let go of: try again", t->id);
    hob_task_refuse(reply, &err);
    return true;
}

/* To go on in the caller's folder would not be what was asked for. */
int hob_task_check_place(const hob_definition *x, hob_error *err) {
    if (!(x->flags & HOB_DEFINITION_WORKTREE)) return HOB_OK;
    return hob_fail(err, HOB_ENOSYS, 0,
                    "the agent %.*s wants a git worktree of its own, which a conversation with it "
                    "cannot have: choose another agent, or hand it a task",
                    HOB_FMT(x->name));
}

static int check_prompt(hob_str prompt, hob_error *err) {
    if (!hob_str_trim(prompt).n) return hob_fail(err, HOB_EINVAL, 0, "the prompt is empty");
    if (prompt.n > HOB_TASK_PROMPT_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "a prompt may have %d KiB at most",
                        HOB_TASK_PROMPT_MAX >> 10);
    return HOB_OK;
}

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_session *s = user;
    hob_arena *a = hob_arena_create(0);
    const hob_json *args = NULL;
    char id[129];
    hob_error err = {.message = ""};
    hob_task_start how = {.call = call->call, .reply = reply};
    hob_json_parse(a, call->args, NULL, &args, NULL); /* was checked against the schema */
    hob_str name = hob_json_get_str(args, "agent");
    how.prompt = hob_json_get_str(args, "prompt");
    hob_task_id(s, call->call, id);
    const hob_kid *kid = hob_kids_find(&s->view->kids, hob_str_z(id));
    if (!kid || !found_again(s, kid, reply)) {
        int rc = check_prompt(how.prompt, &err);
        if (rc >= 0) rc = hob_task_agent(s, name, a, &how.agent, &err);
        how.builtin = rc == 1;
        how.apart = (how.agent.flags & HOB_DEFINITION_WORKTREE) ||
                    hob_json_get_str(args, "isolation").n > 0;
        bool beside = how.agent.flags & HOB_DEFINITION_BACKGROUND;
        how.background = hob_json_get_bool(args, "background", beside);
        how.known = kid != NULL;
        if (rc >= 0) rc = hob_task_begin(s, &how, &err);
        if (rc < 0) hob_task_refuse(reply, &err);
    }
    hob_arena_destroy(a);
}

/* Whoever lets go of the parent, or failed to write its log, does not end the child: it goes on when the parent does. */
static void cancel(const hob_tool_call *call, int hard, void *user) {
    hob_session *s = user;
    char id[129];
    if (s->let_go || s->failed) return;
    hob_task_id(s, call->call, id);
    hob_task *t = hob_task_find(s, hob_str_z(id));
    if (t && !t->background) hob_task_stop(t, hard ? HOB_ENDING_ABORT : HOB_ENDING_CANCEL);
}

int hob_task_tool_add(hob_session *s, hob_error *err) {
    bool wanted = s->builtins || s->definitions || s->agents;
    hob_tool tool = {.size = sizeof tool,
                     .name = "task",
                     .schema = schema,
                     .class_ = HOB_TOOL_IDEMPOTENT,
                     .timeout_ms = YEAR_MS,
                     .run = run,
                     .cancel = cancel,
                     .user = s,
                     .flags = HOB_TOOL_PARALLEL};
    hob_buf words;
    if (!wanted || (s->flags & HOB_SESSION_NO_DELEGATION) ||
        !hob_policy_offers(s->policy, HOB_STR("task")))
        return HOB_OK;
    hob_tools_remove(s->tools, HOB_STR("task"));
    hob_buf_init(&words, DESCRIPTION_MAX);
    describe(s, &words);
    tool.description = hob_buf_z(&words);
    int rc = hob_tools_add(s->tools, &tool, err);
    hob_buf_finish(&words);
    return rc;
}
