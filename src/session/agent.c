/*
 * agent.c - a session that is one of the agents that stand in files.
 *
 * Its definition is looked up when the session is opened and narrows what the options gave: policy, turns, tools. The
 * log has the agent's name, so that a session that is opened again is the same agent; if that is not there any more,
 * or not trusted, the session is not opened: it would have more than it had.
 */
#include "session/task.h"

#include "config/discover.h"

struct hob_agent_choice {
    hob_arena *arena;
    hob_definition x;
    bool fresh; /* it is not what the log has: its wishes count before the session's own */
};

void hob_session_forget_choice(hob_session *s) {
    if (!s->choice) return;
    hob_arena_destroy(s->choice->arena);
    hob_free(s->choice);
    s->choice = NULL;
}

static int say_gone(hob_session *s, hob_str name, hob_error *err) {
    hob_error why;
    int code = hob_definitions_missing(s->definitions, HOB_DEFINITION_AGENT, name, &why);
    return hob_fail(err, code, 0,
                    "the session is the agent %.*s, and without it it would have more than it had: "
                    "%s (or choose another agent; \"\" is hob's own)",
                    HOB_FMT(name), why.message);
}

/* A child was told which one it is by whoever started it. */
static int take_given(hob_session *s) {
    const hob_inherited *in = s->given;
    if (in->builtin) return HOB_OK;
    s->choice = HOB_NEW(hob_agent_choice);
    s->choice->arena = hob_arena_create(0);
    s->choice->x = in->agent;
    s->choice->fresh = !hob_str_eq(in->agent.name, s->view->agent);
    snprintf(s->agent_name, sizeof s->agent_name, "%.*s", HOB_FMT(in->agent.name));
    return HOB_OK;
}

int hob_session_choose_agent(hob_session *s, const hob_session_opts *o, hob_error *err) {
    if (s->given) return take_given(s);
    hob_str name = o->agent_name ? hob_str_z(o->agent_name) : s->view->agent;
    if (!name.n) return HOB_OK;
    hob_agent_choice *c = HOB_NEW(hob_agent_choice);
    c->arena = hob_arena_create(0);
    c->fresh = !hob_str_eq(name, s->view->agent);
    s->choice = c;
    int code =
        hob_definitions_copy(s->definitions, HOB_DEFINITION_AGENT, name, c->arena, &c->x, NULL);
    if (code >= 0) {
        snprintf(s->agent_name, sizeof s->agent_name, "%.*s", HOB_FMT(name));
        return HOB_OK;
    }
    return o->agent_name ? hob_definitions_missing(s->definitions, HOB_DEFINITION_AGENT, name, err)
                         : say_gone(s, name, err);
}

/* ---- what it takes away ------------------------------------------------------------------------------ */

int hob_session_narrow_to_agent(hob_session *s, hob_error *err) {
    hob_policy *narrowed = NULL;
    if (!s->choice) return HOB_OK;
    const hob_definition *x = &s->choice->x;
    hob_narrow n = s->crew ? hob_definition_narrow_part(x, s->choice->arena)
                           : hob_definition_narrow(x, s->choice->arena);
    int code = hob_policy_narrow(s->policy, &n, &narrowed, err);
    if (code < 0) return code;
    hob_policy_destroy(s->policy);
    s->policy = narrowed;
    s->mode = hob_policy_mode(narrowed);
    hob_tools_narrow(s->tools, narrowed);
    bool fewer = x->max_turns && (!s->limits.turns || x->max_turns < s->limits.turns);
    if (fewer) s->limits.turns = x->max_turns;
    return HOB_OK;
}

/* ---- what it asks for ---------------------------------------------------------------------------------- */

hob_str hob_session_agent_model(const hob_session *s) {
    const hob_agent_choice *c = s->choice;
    bool counts = c && (c->fresh || !s->view->model.n);
    return counts ? c->x.model : HOB_STR_NULL;
}

void hob_session_blame_agent(const hob_session *s, hob_error *err) {
    hob_error why;
    if (!err) return;
    why = *err;
    hob_fail(err, why.code, why.sub, "the agent %s asks for a model: %s; choose one for it",
             s->agent_name, why.message);
}

bool hob_session_add_instruction(const hob_session *s, hob_buf *out) {
    if (!s->choice || !s->choice->x.text.n) return false;
    hob_buf_add(out, s->choice->x.text);
    hob_buf_addc(out, '\n');
    return true;
}

static int add_skill(hob_session *s, hob_str name, hob_buf *out, hob_error *err) {
    hob_arena *a = s->choice->arena;
    hob_definition x;
    hob_str workspace, body;
    hob_buf text;
    int code = hob_definitions_copy(s->definitions, HOB_DEFINITION_SKILL, name, a, &x, &workspace);
    if (code < 0) return hob_definitions_missing(s->definitions, HOB_DEFINITION_SKILL, name, err);
    hob_buf_init(&text, HOB_DISCOVER_FILE_MAX + 1);
    code = hob_skill_text(&x, workspace, &text, &body, err);
    if (code >= 0) {
        hob_buf_addc(out, '\n');
        hob_skill_write(&x, body, out);
    }
    hob_buf_finish(&text);
    return code;
}

int hob_session_add_skills(hob_session *s, hob_buf *out, hob_error *err) {
    hob_error why;
    int code = HOB_OK;
    for (size_t i = 0; s->choice && i < s->choice->x.skills.n && code >= 0; i++)
        code = add_skill(s, s->choice->x.skills.at[i], out, &why);
    if (code < 0)
        return hob_fail(err, code, why.sub, "the agent %s: %s", s->agent_name, why.message);
    hob_session_list_skills(s, out);
    return HOB_OK;
}
