/*
 * settings.c - options and configuration turned into a session's parts, and written into its log.
 */
#include "session/bare.h"
#include "session/crew.h"
#include "session/session.h"
#include "session/task.h"

#include <limits.h>
#include <stdlib.h>

/* ---- model ------------------------------------------------------------------------------------------- */

/* The name under which the session finds its model again, from any folder. */
static char *name_model(const hob_model_info *m) {
    char *script = hob_dupz(m->script), path[PATH_MAX], name[PATH_MAX + 16];
    if (hob_str_eqz(m->api, "scripted"))
        snprintf(name, sizeof name, "scripted:%s", realpath(script, path) ? path : script);
    else
        snprintf(name, sizeof name, "%.*s/%.*s", HOB_FMT(m->provider), HOB_FMT(m->id));
    hob_free(script);
    return hob_dupz(hob_str_z(name));
}

int hob_session_find_model(hob_session *s, hob_str hint, hob_model_found *out, hob_error *err) {
    hob_provider_env env = {.loop = s->rt->loop, .http = s->rt->http, .pool = s->rt->pool};
    hob_model_info info;
    hob_provider *provider;
    int rc = hob_models_resolve(s->rt->models, hint, &info, err);
    if (rc >= 0) rc = hob_models_check_key(s->rt->models, &info, err);
    if (rc >= 0) rc = hob_models_provider(s->rt->models, &env, &info, &provider, err);
    if (rc < 0) return rc;
    if (!hob_str_eqz(info.api, "scripted")) hob_http_preload(s->rt->http);
    *out = (hob_model_found){.info = info, .provider = provider, .name = name_model(&info)};
    return HOB_OK;
}

int hob_session_use_model(hob_session *s, hob_str hint, hob_error *err) {
    hob_model_found found;
    int rc = hob_session_find_model(s, hint, &found, err);
    if (rc < 0) return rc;
    s->model = found.info;
    s->provider = found.provider;
    if (found.info.thinking != HOB_THINKING_DEFAULT) s->thinking = found.info.thinking;
    hob_free(s->model_name);
    s->model_name = found.name;
    return HOB_OK;
}

/* The wish of the caller, else what the session used, else the configuration; an empty hint is the
 * default of a provider that has a key. */
static int choose_model(hob_session *s, const hob_session_opts *o, hob_error *err) {
    hob_str own = hob_session_agent_model(s);
    hob_str hint = o->model           ? hob_str_z(o->model)
                   : own.n            ? own
                   : s->view->model.n ? s->view->model
                                      : hob_config_str(s->rt->config, "model");
    hob_str level = o->thinking           ? hob_str_z(o->thinking)
                    : s->view->thinking.n ? s->view->thinking
                                          : hob_config_str(s->rt->config, "thinking");
    if (level.n && hob_thinking_from(level, &s->thinking) < 0)
        return hob_fail(err, HOB_EINVAL, 0,
                        "unknown thinking level %.*s: off minimal low medium high xhigh",
                        HOB_FMT(level));
    hob_thinking wanted = s->thinking;
    int rc = hob_session_use_model(s, hint, err);
    if (rc < 0 && own.n && !o->model) hob_session_blame_agent(s, err);
    if (rc >= 0 && o->thinking)
        s->thinking = wanted; /* said by itself counts more than in the hint */
    return rc;
}

/* ---- policy and limits: the mode is this process's; one that the log remembers is only ever a narrower one ----------- */

/* Rules of the configuration and of the caller, as one JSON list; later rules take nothing away. */
static void join_rules(const hob_config *c, const char *path, const char *const *more,
                       hob_buf *out) {
    hob_jsonw w;
    hob_jsonw_init(&w, out);
    hob_jsonw_array(&w);
    for (const hob_json *v = hob_json_first(hob_config_json(c, path)); v; v = hob_json_next(v))
        hob_jsonw_str(&w, hob_json_str(v));
    for (size_t i = 0; more && more[i]; i++) hob_jsonw_str(&w, hob_str_z(more[i]));
    hob_jsonw_array_end(&w);
}

static int add_rules(hob_config *c, const char *path, const char *const *more, hob_error *err) {
    hob_buf list;
    if (!more || !more[0]) return HOB_OK;
    hob_buf_init(&list, 1u << 20);
    join_rules(c, path, more, &list);
    int rc = list.err ? hob_fail(err, HOB_ETOOBIG, 0, "too many rules for %s", path)
                      : hob_config_set(c, path, hob_buf_str(&list), HOB_ORIGIN_FLAG, err);
    hob_buf_finish(&list);
    return rc;
}

static int set_mode(hob_config *c, const char *mode, hob_error *err) {
    hob_buf word;
    if (!mode) return HOB_OK;
    hob_buf_init(&word, 4096);
    hob_json_quote(&word, hob_str_z(mode));
    int rc = hob_config_set(c, "permissions.mode", hob_buf_str(&word), HOB_ORIGIN_FLAG, err);
    hob_buf_finish(&word);
    return rc;
}

/* HOB_SESSION_KEEP_MODE: what the process says is the most that the session's own mode can be; what is configured is only
 * for sessions that have none. An administrator's policy binds both. */
static int keep_mode(const hob_session *s, const hob_session_opts *o, hob_config *c,
                     hob_error *err) {
    hob_str own = s->view->permission_mode;
    hob_mode most, mode;
    if (!(s->flags & HOB_SESSION_KEEP_MODE) || hob_mode_from(own, &mode) < 0) return HOB_OK;
    int rc = hob_mode_from(hob_config_str(c, "permissions.mode"), &most);
    if (rc < 0 || (o->permission_mode && hob_mode_wider(mode, most))) return rc;
    return set_mode(c, hob_mode_name(mode), err);
}

/* 0 = not said. A limit beyond LIMIT_MAX is as good as none, and a double still holds it exactly. */
#define LIMIT_MAX 9e14
static int set_limit(hob_config *c, const char *path, double said, hob_error *err) {
    char number[32];
    if (!(said > 0)) return HOB_OK;
    snprintf(number, sizeof number, "%.15g", HOB_MIN(said, LIMIT_MAX));
    return hob_config_set(c, path, hob_str_z(number), HOB_ORIGIN_FLAG, err);
}

static int set_limits(hob_config *c, const hob_session_opts *o, hob_error *err) {
    int rc = set_limit(c, "budget.turns", (double)o->max_turns, err);
    if (rc >= 0) rc = set_limit(c, "budget.tokens", (double)o->max_tokens, err);
    if (rc >= 0) rc = set_limit(c, "budget.tool_calls", (double)o->max_tool_calls, err);
    if (rc >= 0) rc = set_limit(c, "budget.seconds", (double)o->timeout_ms / 1000, err);
    if (rc >= 0) rc = set_limit(c, "budget.cost_usd", o->max_cost_usd, err);
    return rc;
}

/* The caller's wishes meet the same administrator's policy as any flag. */
static int set_wishes(hob_config *c, const hob_session_opts *o, hob_error *err) {
    int rc = set_mode(c, o->permission_mode, err);
    if (rc >= 0) rc = add_rules(c, "permissions.allow", o->allow, err);
    if (rc >= 0) rc = add_rules(c, "permissions.deny", o->deny, err);
    if (rc >= 0) rc = set_limits(c, o, err);
    return rc;
}

static void choose_limits(hob_session *s, const hob_config *c) {
    s->limits = (hob_limits){
        .turns = hob_config_int(c, "budget.turns", 0),
        .tokens = hob_config_int(c, "budget.tokens", 0),
        .tool_calls = hob_config_int(c, "budget.tool_calls", 0),
        .ms = (int64_t)(hob_config_double(c, "budget.seconds", 0) * 1000 + 0.5),
        .cost_usd = hob_config_double(c, "budget.cost_usd", 0),
    };
}

/* What is the session's own only narrows; what is said with HOB_SESSION_KEEP_LIMITS becomes its own. */
static void keep_limits(hob_session *s, const hob_session_opts *o) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *own = NULL;
    if (s->view->limits.n && hob_json_parse(a, s->view->limits, NULL, &own, NULL) >= 0)
        s->own_limits = hob_limits_read(own);
    hob_arena_destroy(a);
    hob_limits said = {.turns = o->max_turns,
                       .tokens = o->max_tokens,
                       .tool_calls = o->max_tool_calls,
                       .ms = o->timeout_ms,
                       .cost_usd = o->max_cost_usd};
    if (s->flags & HOB_SESSION_KEEP_LIMITS) s->own_limits = hob_limits_narrow(s->own_limits, said);
    s->limits = hob_limits_narrow(s->limits, s->own_limits);
}

static int refuse_missing(const hob_config *c, const char *path, hob_str said, hob_error *err) {
    hob_str source = HOB_STR("");
    hob_config_origin(c, path, &source);
    return hob_fail(err, HOB_ECONFIG, 0, "%s%s%.*s (%.*s) is not available in this version: %s",
                    path, said.n ? " " : "", HOB_FMT(said), HOB_FMT(source),
                    said.n ? "set it to \"auto\" or \"off\"" : "leave it out");
}

/* What guards something and does not exist yet is refused: going on without it would be a lie. */
static int check_guards(const hob_config *c, hob_error *err) {
    hob_str level = hob_config_get(c, "sandbox.level");
    if (hob_str_eqz(level, "\"full\"") || hob_str_eqz(level, "\"landlock\""))
        return refuse_missing(c, "sandbox.level", level, err);
    if (hob_json_first(hob_config_json(c, "hooks")))
        return refuse_missing(c, "hooks", HOB_STR(""), err);
    return HOB_OK;
}

static int take_policy(hob_session *s, const hob_inherited *in, hob_error *err) {
    int rc = check_guards(s->rt->config, err);
    s->policy = hob_policy_ref(in->policy);
    s->mode = hob_policy_mode(in->policy);
    s->limits = in->limits;
    return rc;
}

int hob_session_wish(hob_session *s, const hob_session_opts *o, hob_config **out, hob_error *err) {
    hob_config *c = hob_config_dup(s->rt->config);
    int rc = check_guards(c, err);
    if (rc >= 0) rc = set_wishes(c, o, err);
    if (rc < 0)
        hob_config_destroy(c);
    else
        *out = c;
    return rc;
}

static int choose_policy(hob_session *s, const hob_session_opts *o, hob_error *err) {
    hob_config *c;
    if (s->given) return take_policy(s, s->given, err);
    int rc = hob_session_wish(s, o, &c, err);
    if (rc < 0) return rc;
    rc = keep_mode(s, o, c, err);
    if (rc >= 0) rc = hob_session_read_policy(s, c, &s->policy, err);
    if (rc >= 0) rc = hob_mode_from(hob_config_str(c, "permissions.mode"), &s->mode);
    if (rc >= 0) choose_limits(s, c);
    if (rc >= 0) hob_session_keep_rules(s, o);
    hob_config_destroy(c);
    return rc;
}

/* ---- tools -------------------------------------------------------------------------------------------------- */

static int open_workspace(hob_session *s, const hob_session_opts *o, hob_error *err) {
    hob_str roots[64];
    size_t n = 0;
    roots[n++] = hob_str_z(s->cwd);
    for (size_t i = 0; o->add_dirs && o->add_dirs[i]; i++) {
        if (n == HOB_ARRAY_LEN(roots))
            return hob_fail(err, HOB_ETOOBIG, 0, "more than 63 further folders");
        roots[n++] = hob_str_z(o->add_dirs[i]);
    }
    hob_arena *a = hob_arena_create(0);
    hob_str readable[64];
    size_t m = hob_session_skill_folders(s, a, readable, HOB_ARRAY_LEN(readable));
    int rc = hob_workspace_open_with(roots, n, readable, m, &s->workspace, err);
    hob_arena_destroy(a);
    return rc;
}

int hob_session_add_host_tool(hob_session *s, const hob_tool *tool, hob_error *err) {
    bool flags = tool->size > offsetof(hob_tool, flags);
    if (flags && tool->flags & (HOB_TOOL_QUESTION | HOB_TOOL_HIDDEN))
        return hob_fail(err, HOB_EINVAL, 0, "a tool has a flag that is not for hosts");
    int rc = hob_tools_add(s->tools, tool, err);
    if (rc >= 0) hob_tools_mark(s->tools, hob_str_z(tool->name));
    return rc;
}

/* Tools of the host are the child's, too; what its policy would refuse whatever it is asked, it does not have. */
static int take_tools(hob_session *s, hob_session *parent, hob_error *err) {
    const hob_tool *t;
    int rc = HOB_OK;
    for (size_t i = 0; rc >= 0 && (t = hob_tools_at(parent->tools, i)); i++)
        if (hob_tools_marked(t)) rc = hob_session_add_host_tool(s, t, err);
    hob_tools_narrow(s->tools, s->policy);
    return rc;
}

static int add_tools(hob_session *s, const hob_session_opts *o, hob_error *err) {
    int rc = HOB_OK;
    if (s->cwd && !(o->flags & HOB_SESSION_NO_BUILTIN_TOOLS)) {
        rc = open_workspace(s, o, err);
        if (rc >= 0) rc = hob_runtime_exec(s->rt, &s->tool_env.exec, err);
        if (rc < 0) return rc;
        s->tool_env.loop = s->rt->loop;
        s->tool_env.pool = s->rt->pool;
        s->tool_env.workspace = s->workspace;
        s->tool_env.policy = s->policy;
        s->tool_env.envp = (const char *const *)s->rt->envp;
        s->tool_env.timeout_ms =
            (int64_t)(hob_config_double(s->rt->config, "tools.timeout_s", 0) * 1000);
        s->tool_env.max_head = (size_t)hob_config_int(s->rt->config, "tools.output_bytes", 0) / 2;
        s->tool_env.max_tail = s->tool_env.max_head;
        rc = hob_builtins_create(&s->tool_env, s->tools, &s->builtins, err);
    }
    for (size_t i = 0; rc >= 0 && i < o->ntools; i++) /* as wide as the host's header has them */
        rc = hob_session_add_host_tool(
            s, (const hob_tool *)((const char *)o->tools + i * o->tools->size), err);
    if (rc >= 0 && s->given) rc = take_tools(s, s->given->parent, err);
    if (rc >= 0) rc = hob_session_init_memory(s, o, err);
    if (rc >= 0) rc = hob_question_tool_add(s, err);
    if (rc >= 0) rc = hob_task_tool_add(s, err);
    if (rc >= 0) rc = hob_session_offer_skills(s, err);
    return rc;
}

static int take_callbacks(hob_session *s, const hob_agent_callbacks *c, hob_error *err) {
    if (!c) return HOB_OK;
    int rc = hob_take_options(&s->callbacks, sizeof s->callbacks, c, c->size, err);
    if (rc >= 0) s->callbacks.size = sizeof s->callbacks;
    return rc;
}

static int take_backend(hob_session *s, const hob_session_opts *o, hob_error *err) {
    if (!o->backend) return HOB_OK;
    int rc = hob_take_options(&s->backend, sizeof s->backend, o->backend, o->backend->size, err);
    if (rc < 0) return rc;
    s->backend.size = sizeof s->backend;
    if (!s->backend.name) s->backend.name = "the host";
    s->backend_user = o->backend_user;
    s->tool_env.backend = &s->backend;
    s->tool_env.backend_user = o->backend_user;
    return HOB_OK;
}

int hob_session_apply_options(hob_session *s, const hob_session_opts *o, hob_error *err) {
    s->flags = o->flags;
    s->approver = o->approver;
    s->definitions = hob_definitions_ref(o->definitions);
    if (!s->given) s->depth = s->view->depth;
    if (s->bare) {
        keep_limits(s, o);
        return hob_session_fit_bare(s, err);
    }
    int rc = take_callbacks(s, o->callbacks, err);
    if (rc >= 0) rc = take_backend(s, o, err);
    if (rc >= 0) rc = hob_session_choose_agent(s, o, err);
    if (rc >= 0) rc = choose_policy(s, o, err);
    if (rc >= 0) rc = hob_session_narrow_to_agent(s, err);
    if (rc >= 0) rc = add_tools(s, o, err);
    if (rc >= 0) rc = choose_model(s, o, err);
    if (rc >= 0) rc = hob_session_build_prompt(s, o, err);
    if (rc >= 0 && s->crew) rc = hob_crew_fit(s->crew, err);
    if (rc >= 0) keep_limits(s, o);
    hob_session_forget_choice(s);
    return rc;
}

/* ---- what the log must say ----------------------------------------------------------------------------------------- */

static void write_own_limits(const hob_session *s, hob_jsonw *w) {
    hob_buf own;
    hob_jsonw text;
    hob_buf_init(&own, 1024);
    hob_jsonw_init(&text, &own);
    hob_jsonw_object(&text);
    hob_say_limits(&text, "limits", &s->own_limits);
    hob_jsonw_object_end(&text);
    hob_str value = hob_str_skip(hob_buf_str(&own), strlen("{\"limits\":"));
    value.n--;
    if (value.n > 2 && !hob_str_eq(value, s->view->limits)) hob_jsonw_kraw(w, "limits", value);
    hob_buf_finish(&own);
}

static void write_settings(hob_session *s, hob_jsonw *w) {
    const hob_view *v = s->view;
    hob_str model = hob_str_z(s->model_name), mode = hob_str_z(hob_mode_name(s->mode));
    hob_str level = s->thinking ? hob_str_z(hob_thinking_name(s->thinking)) : HOB_STR_NULL;
    hob_str system = hob_buf_str(&s->system);
    if (!hob_str_eq(v->model, model)) hob_jsonw_kstr(w, "model", model);
    if (!hob_str_eq(v->thinking, level) && level.n) hob_jsonw_kstr(w, "thinking", level);
    if (!hob_str_eq(v->permission_mode, mode)) hob_jsonw_kstr(w, "permission_mode", mode);
    if (!hob_str_eq(v->system_prompt, system)) hob_jsonw_kstr(w, "system_prompt", system);
    if (!hob_str_eq(v->agent, hob_str_z(s->agent_name)))
        hob_jsonw_kstr(w, "agent", hob_str_z(s->agent_name));
    write_own_limits(s, w);
}

static void write_parent(const hob_session *s, hob_jsonw *w) {
    const hob_inherited *in = s->line;
    hob_jsonw_key(w, "parent");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "session", hob_str_z(in->parent->id));
    hob_jsonw_kstr_opt(w, "call", in->call);
    hob_jsonw_kstr(w, "agent", in->agent.name);
    hob_jsonw_kint(w, "depth", in->depth);
    hob_jsonw_object_end(w);
}

int hob_session_say_settings(hob_session *s, hob_error *err) {
    bool opened = s->view->id.n > 0;
    hob_draft d;
    hob_jsonw w;
    hob_draft_init(&d, opened ? HOB_EVENT_CONFIG_CHANGED : HOB_EVENT_SESSION_OPENED);
    hob_jsonw_init(&w, &d.data);
    hob_jsonw_object(&w);
    if (!opened) {
        hob_jsonw_kstr(&w, "cwd", hob_str_z(s->cwd));
        hob_jsonw_kstr(&w, "version", HOB_STR(HOB_VERSION));
        hob_jsonw_kstr(&w, "app_name", hob_str_z(s->app_name));
        hob_jsonw_kstr(&w, "user_id", hob_str_z(s->user_id));
        if (s->forked_from[0]) {
            hob_jsonw_key(&w, "forked_from");
            hob_jsonw_object(&w);
            hob_jsonw_kstr(&w, "session", hob_str_z(s->forked_from));
            hob_jsonw_kint(&w, "seq", (int64_t)s->forked_seq);
            hob_jsonw_object_end(&w);
        }
    }
    if (!opened && s->line) write_parent(s, &w);
    if (!opened) hob_jsonw_kstr_opt(&w, "key", s->key);
    if (!opened) s->key = HOB_STR_NULL;
    write_settings(s, &w);
    hob_jsonw_object_end(&w);
    if (opened && d.data.n <= 2) { /* nothing differs */
        hob_draft_finish(&d);
        return hob_session_say_warning(s, err);
    }
    int rc = hob_session_append(s, &d, err);
    return rc < 0 ? rc : hob_session_say_warning(s, err);
}
