/*
 * inherit.c - what a child has of its parent: never more.
 *
 * Everything that a session may do or spend is handed on here and nowhere else, so that what is added to sessions
 * later (a guard, a hook, a sandbox) is inherited by adding it here:
 *
 *   rights     the parent's policy, the same person to ask; what the agent's definition takes away comes on top of
 *              that when the child is opened, as with any session that is an agent (agent.c)
 *   folders    the parent's roots; of a child that works apart, what corresponds to them in its worktree
 *   callbacks  the session's: what guards the parent's calls guards the child's
 *   back end   the same files and commands
 *   tools      the parent's built-in and host tools that the policy still offers (settings.c copies them)
 *   model      the parent's, unless the definition names another
 *   memory     the parent's tenant, if the parent has one
 *   budget     what hob_run_grant() leaves, and the definition's own number of turns if that is less
 *   identity   application and user: app: and user: state is the parent's, too
 *   depth      one more; caps of the tree are those of its root
 */
#include "session/task.h"

#include <unistd.h>

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
    o->backend = parent->backend.size ? &parent->backend : NULL;
    o->backend_user = parent->backend_user;
}

/* ---- in a worktree ------------------------------------------------------------------------------------------ */

static bool is_beneath(const char *path, const char *folder) {
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && (path[n] == '/' || !path[n] || (n && folder[n - 1] == '/'));
}

static const char *join(hob_arena *a, const char *folder, const char *rest) {
    hob_buf b;
    hob_buf_init(&b, 16 * 1024);
    hob_buf_addf(&b, "%s%s%s", folder, *rest ? "/" : "", rest);
    const char *path = hob_arena_dup(a, hob_buf_str(&b)).p;
    hob_buf_finish(&b);
    return path;
}

/* One around the parent's tree would lead back into it. */
static const char *const *moved_roots(const char *const *dirs, const hob_worktree *w,
                                      hob_arena *a) {
    size_t n = 0, kept = 0, skip = strlen(w->top);
    while (dirs && dirs[n]) n++;
    const char **out = hob_arena_alloc(a, (n + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        bool inside = is_beneath(dirs[i], w->top);
        if (!inside && is_beneath(w->top, dirs[i])) continue;
        const char *rest = inside ? dirs[i] + skip + (dirs[i][skip] == '/') : "";
        const char *path = inside ? join(a, w->folder, rest) : dirs[i];
        if (access(path, F_OK) == 0) out[kept++] = path;
    }
    return kept ? out : NULL;
}

static const char *placed_words(const hob_worktree *w, hob_arena *a) {
    hob_buf b;
    hob_buf_init(&b, 32 * 1024);
    hob_buf_addf(
        &b,
        "%s\n\nYou work in a git worktree of your own, %s, on the branch %s, which began "
        "with the commit %s. What was not committed then is not in it. Stay in that folder. "
        "What you change there is kept, and who gave you the task is told where it is; "
        "commit it if you are asked to.",
        sub_words, w->folder, w->branch, w->base);
    const char *words = hob_arena_dup(a, hob_buf_str(&b)).p;
    hob_buf_finish(&b);
    return words;
}

int hob_child_move(hob_session *parent, const hob_worktree *w, hob_arena *a, hob_inherited *in,
                   hob_error *err) {
    hob_policy *moved;
    int rc = hob_policy_move(parent->policy, hob_str_z(w->top), hob_str_z(w->folder), &moved, err);
    if (rc < 0) return rc;
    hob_policy_destroy(in->policy);
    in->policy = moved;
    in->opts.cwd = join(a, w->folder, w->prefix);
    in->opts.add_dirs = moved_roots(in->opts.add_dirs, w, a);
    in->opts.append_system_prompt = placed_words(w, a);
    return HOB_OK;
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
