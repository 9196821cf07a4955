/*
 * inherit.c - what a child has of its parent: never more.
 *
 * Everything that a session may do or spend is handed on here and nowhere else, so that what is added to sessions
 * later (a guard, a hook, a sandbox) is inherited by adding it here:
 *
 *   rights     the parent's policy, the same person to ask; what the agent's definition takes away comes on top of
 *              that when the child is opened, as with any session that is an agent (agent.c)
 *   folders    the parent's roots
 *   callbacks  the session's: what guards the parent's calls guards the child's
 *   tools      the parent's built-in and host tools that the policy still offers (settings.c copies them)
 *   model      the parent's, unless the definition names another
 *   memory     the parent's tenant, if the parent has one
 *   budget     what hob_run_grant() leaves, and the definition's own number of turns if that is less
 *   identity   application and user: app: and user: state is the parent's, too
 *   depth      one more; caps of the tree are those of its root
 */
#include "session/task.h"

/* ---- caps ------------------------------------------------------------------------------------------------ */

static hob_session *root_of(hob_session *s) {
    while (s->line) s = s->line->parent;
    return s;
}

static int64_t count_live(const hob_session *s) {
    int64_t n = 0;
    HOB_LIST_EACH (it, &s->tasks) {
        const hob_task *t = HOB_CONTAINER(it, hob_task, link);
        if (t->stage != HOB_TASK_ENDED) n += 1 + (t->s ? count_live(t->s) : 0);
    }
    return n;
}

/* Those that ended say how many they had; those at work are asked. */
static int64_t count_all(const hob_session *s) {
    int64_t n = hob_kids_in_all(&s->view->kids);
    HOB_LIST_EACH (it, &s->tasks) {
        const hob_task *t = HOB_CONTAINER(it, hob_task, link);
        const hob_kid *kid = hob_kids_find(&s->view->kids, hob_str_z(t->id));
        n += !kid;
        if (t->s && t->stage != HOB_TASK_ENDED) n += count_all(t->s) - (kid ? kid->children : 0);
    }
    return n;
}

/* A workspace may lower what is built in, not raise it. */
static int64_t cap(const hob_session *s, const char *path, int64_t otherwise) {
    int64_t said = hob_config_int(s->rt->config, path, otherwise);
    bool own = hob_config_origin(s->rt->config, path, NULL) != HOB_ORIGIN_WORKSPACE;
    return own ? said : HOB_MIN(said, otherwise);
}

int hob_child_check(hob_session *parent, hob_error *err) {
    hob_session *root = root_of(parent);
    int64_t depth = cap(root, "budget.depth", HOB_TASK_DEPTH);
    int64_t at_once = cap(root, "budget.children", HOB_TASK_CHILDREN);
    int64_t in_all = cap(root, "budget.descendants", HOB_TASK_DESCENDANTS);
    if (parent->depth + 1 > depth)
        return hob_fail(err, HOB_EDEPTH, (int)depth,
                        "sub-agents may be nested %lld deep (budget.depth): do it here instead",
                        (long long)depth);
    if (count_live(root) >= at_once)
        return hob_fail(err, HOB_ELIMIT, 0,
                        "%lld sub-agents are at work, as many as may be at once (budget.children): "
                        "wait for one of them",
                        (long long)at_once);
    if (count_all(root) >= in_all)
        return hob_fail(err, HOB_ELIMIT, 0,
                        "%lld sub-agents were started, as many as a session may have in all "
                        "(budget.descendants): do it here instead",
                        (long long)in_all);
    return HOB_OK;
}

/* ---- the options ------------------------------------------------------------------------------------------ */

static const char sub_words[] =
    "You work as a sub-agent: another agent gave you this task and cannot answer questions. Do it, "
    "then end with one message that says what you found or did, completely and without preamble: "
    "that message is all it gets.";

static const char *z(hob_arena *a, hob_str s) {
    return s.n ? hob_arena_dup(a, s).p : NULL;
}

static const char *const *further_roots(hob_session *parent, hob_arena *a) {
    size_t n = parent->workspace ? hob_workspace_roots(parent->workspace) : 0;
    if (n < 2) return NULL;
    const char **dirs = hob_arena_alloc(a, n * sizeof *dirs);
    for (size_t i = 1; i < n; i++) dirs[i - 1] = z(a, hob_workspace_root(parent->workspace, i));
    return dirs;
}

static void fill_options(hob_session *parent, const hob_definition *x, hob_arena *a,
                         hob_session_opts *o) {
    const unsigned kept = HOB_SESSION_NO_BUILTIN_TOOLS | HOB_SESSION_CONTEXT_FILES |
                          HOB_SESSION_NO_DELEGATION | HOB_SESSION_STEER_AFTER_BATCH;
    *o = (hob_session_opts)HOB_SESSION_OPTS_INIT;
    o->cwd = z(a, hob_str_z(parent->cwd));
    o->add_dirs = further_roots(parent, a);
    if (!x->model.n) o->model = z(a, hob_str_z(parent->model_name));
    if (!x->model.n && parent->thinking)
        o->thinking = z(a, hob_str_z(hob_thinking_name(parent->thinking)));
    o->append_system_prompt = sub_words;
    o->approver = parent->approver;
    o->flags = parent->flags & kept;
    if (!parent->memory) o->flags |= HOB_SESSION_NO_MEMORY;
    o->definitions = parent->definitions;
    o->app_name = hob_arena_dup(a, hob_str_z(parent->app_name));
    o->user_id = hob_arena_dup(a, hob_str_z(parent->user_id));
    o->callbacks = parent->callbacks.size ? &parent->callbacks : NULL;
}

void hob_child_inherit(hob_session *parent, const hob_definition *agent, hob_arena *a,
                       hob_inherited *out) {
    *out = (hob_inherited){.parent = parent,
                           .agent = *agent,
                           .depth = parent->depth + 1,
                           .policy = hob_policy_ref(parent->policy),
                           .limits = parent->limits};
    fill_options(parent, agent, a, &out->opts);
}
