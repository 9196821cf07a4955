/*
 * crew_tools.c - the tools of an agent of a workflow: what it may use of the session's, its own, and the two by which it
 * says how the work goes on.
 */
#include "session/crew.h"
#include "session/session.h"

enum { TEXT_MAX = 60 * 1024 };

/* ---- handing over ------------------------------------------------------------------------------------ */

static void run_transfer(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *args = NULL;
    hob_error err = {.code = HOB_OK};
    char text[200];
    (void)user;
    (void)hob_json_parse(a, call->args, NULL, &args, NULL);
    hob_str agent = hob_json_get_str(args, "agent_name");
    int rc = hob_reply_transfer(reply, agent, &err);
    if (rc < 0)
        snprintf(text, sizeof text, "error: %.180s", err.message);
    else
        snprintf(text, sizeof text, "%.*s goes on.", HOB_FMT(agent));
    hob_reply_text(reply, rc < 0 ? HOB_OUTCOME_ERROR : HOB_OUTCOME_OK, hob_str_z(text));
    hob_arena_destroy(a);
}

static bool write_targets(const hob_flow *f, size_t from, hob_buf *names, hob_buf *words) {
    bool any = false;
    for (size_t to = 0; to < f->n; to++) {
        if (!hob_flow_may_transfer(f, from, to)) continue;
        const hob_agent *a = f->frames[to].agent;
        hob_buf_addf(names, "%s\"%s\"", any ? "," : "", a->o.name);
        hob_buf_addf(words, "\n- %s%s%s", a->o.name, a->o.description ? ": " : "",
                     a->o.description ? a->o.description : "");
        any = true;
    }
    return any;
}

static int add_transfer(hob_crew *c, size_t frame, hob_tools *t, hob_error *err) {
    hob_buf names, words, schema;
    int rc = HOB_OK;
    hob_buf_init(&names, TEXT_MAX);
    hob_buf_init(&words, TEXT_MAX);
    hob_buf_init(&schema, 2 * TEXT_MAX);
    hob_buf_addz(&words,
                 "Hands the conversation over to another agent, when it fits the question better "
                 "than you. The agents:");
    if (write_targets(c->flow, frame, &names, &words)) {
        hob_buf_addf(
            &schema,
            "{\"type\":\"object\",\"properties\":{\"agent_name\":{\"type\":\"string\",\"enum\":[%s]}},"
            "\"required\":[\"agent_name\"],\"additionalProperties\":false}",
            hob_buf_z(&names));
        hob_tool tool = HOB_TOOL_INIT;
        tool.name = "transfer_to_agent";
        tool.description = hob_buf_z(&words);
        tool.schema = hob_buf_z(&schema);
        tool.class_ = HOB_TOOL_READ_ONLY; /* it changes nothing but who goes on */
        tool.run = run_transfer;
        rc = names.err || words.err || schema.err
                 ? hob_fail(err, HOB_ETOOBIG, 0, "the agents' descriptions are over 60 KiB")
                 : hob_tools_add(t, &tool, err);
    }
    hob_buf_finish(&names);
    hob_buf_finish(&words);
    hob_buf_finish(&schema);
    return rc;
}

/* ---- ending a loop --------------------------------------------------------------------------------------- */

static void run_exit(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_escalate(reply);
    hob_reply_text(reply, HOB_OUTCOME_OK,
                   HOB_STR("The loop ends when you have said your last word."));
}

static bool in_loop(const hob_flow *f, size_t i) {
    for (; i; i = f->frames[i].parent)
        if (f->frames[f->frames[i].parent].agent->o.kind == HOB_AGENT_LOOP) return true;
    return false;
}

static bool lists(const hob_agent *a, const char *name) {
    for (size_t i = 0; a->o.tools && a->o.tools[i]; i++)
        if (!strcmp(a->o.tools[i], name)) return true;
    return !a->o.tools;
}

static int add_exit(hob_crew *c, size_t frame, hob_tools *t, hob_error *err) {
    hob_tool tool = HOB_TOOL_INIT;
    if (!in_loop(c->flow, frame) || !lists(c->flow->frames[frame].agent, "exit_loop"))
        return HOB_OK;
    tool.name = "exit_loop";
    tool.description =
        "Ends the loop of agents that you are part of. Call it when its goal is reached.";
    tool.class_ = HOB_TOOL_READ_ONLY;
    tool.run = run_exit;
    return hob_tools_add(t, &tool, err);
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static bool is_offered(const hob_crew *c, size_t frame, hob_str name) {
    const hob_policy *p = c->members[frame].policy;
    return hob_tools_find(c->s->tools, name) && (!p || hob_policy_offers(p, name));
}

static int add_sessions(hob_crew *c, size_t frame, hob_tools *t, hob_error *err) {
    const hob_agent *a = c->flow->frames[frame].agent;
    const hob_tool *tool;
    int rc = HOB_OK;
    for (size_t i = 0; !a->o.tools && rc >= 0 && (tool = hob_tools_at(c->s->tools, i)); i++)
        if (is_offered(c, frame, hob_str_z(tool->name))) rc = hob_tools_add(t, tool, err);
    for (size_t i = 0; a->o.tools && rc >= 0 && a->o.tools[i]; i++) {
        hob_str name = hob_str_z(a->o.tools[i]);
        tool = hob_tools_find(c->s->tools, name);
        if (hob_str_eqz(name, "exit_loop")) continue;
        if (tool)
            rc = hob_tools_add(t, tool, err);
        else
            rc = hob_fail(err, HOB_ENOENT, 0,
                          "agent %s names the tool %s, and the session has none such", a->o.name,
                          a->o.tools[i]);
    }
    return rc;
}

int hob_crew_fit_tools(hob_crew *c, size_t frame, hob_error *err) {
    const hob_agent *a = c->flow->frames[frame].agent;
    hob_member *m = &c->members[frame];
    uint64_t version = hob_tools_version(c->s->tools);
    if (m->tools && m->tools_of == version) return HOB_OK;
    hob_tools *t = hob_tools_create();
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && i < a->o.nown_tools; i++)
        rc = hob_tools_add(t, &a->o.own_tools[i], err);
    if (rc >= 0) rc = add_sessions(c, frame, t, err);
    if (rc >= 0) rc = add_transfer(c, frame, t, err);
    if (rc >= 0) rc = add_exit(c, frame, t, err);
    if (rc < 0) {
        hob_tools_destroy(t);
        return rc;
    }
    hob_tools_destroy(m->tools);
    m->tools = t;
    m->tools_of = version;
    return HOB_OK;
}
