/*
 * mode.c - another permission mode for a session that is open.
 *
 * A policy never changes; the session gets another one, made as the first one was: from the configuration, the caller's
 * rules, and what its agent's definition takes away. So the administrator's word counts as it did.
 */
#include "session/crew.h"
#include "session/session.h"

#include <limits.h>
#include <stdlib.h>

/* ---- the caller's rules ---------------------------------------------------------------------------------- */

static char **dup_rules(const char *const *rules) {
    size_t n = 0;
    while (rules && rules[n]) n++;
    if (!n) return NULL;
    char **copy = hob_alloc((n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++) copy[i] = hob_dupz(hob_str_z(rules[i]));
    return copy;
}

static void free_rules(char **rules) {
    for (size_t i = 0; rules && rules[i]; i++) hob_free(rules[i]);
    hob_free(rules);
}

void hob_session_keep_rules(hob_session *s, const hob_session_opts *o) {
    s->allow = dup_rules(o->allow);
    s->deny = dup_rules(o->deny);
}

void hob_session_drop_rules(hob_session *s) {
    free_rules(s->allow);
    free_rules(s->deny);
    s->allow = s->deny = NULL;
}

/* ---- another policy -------------------------------------------------------------------------------------- */

/* Names are compared; where the folder leads that is a link of the host's is looked at once, here. */
int hob_session_read_policy(const hob_session *s, const hob_config *c, hob_policy **out,
                            hob_error *err) {
    char real[PATH_MAX];
    bool led = s->cwd && realpath(s->cwd, real) && strcmp(real, s->cwd) != 0;
    return hob_policy_from_config(c, hob_str_z(s->cwd), led ? hob_str_z(real) : HOB_STR_NULL, out,
                                  err);
}

static int make_policy(hob_session *s, const char *mode, hob_policy **out, hob_error *err) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    hob_config *c;
    o.permission_mode = mode;
    o.allow = (const char *const *)s->allow;
    o.deny = (const char *const *)s->deny;
    int rc = hob_session_wish(s, &o, &c, err);
    if (rc < 0) return rc;
    rc = hob_session_read_policy(s, c, out, err);
    hob_config_destroy(c);
    return rc;
}

/* What stands on the policy is made anew when it is needed. */
static void forget_narrowed(hob_session *s) {
    HOB_LIST_EACH (it, &s->strands) {
        hob_strand *st = HOB_CONTAINER(it, hob_strand, link);
        hob_policy_destroy(st->narrowed);
        st->narrowed = NULL;
    }
    if (s->builtins) hob_builtins_set_policy(s->builtins, s->policy);
}

static int narrow(hob_session *s, hob_error *err) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    if (!s->agent_name[0]) return HOB_OK;
    o.agent_name = s->agent_name;
    int rc = hob_session_choose_agent(s, &o, err);
    if (rc >= 0) rc = hob_session_narrow_to_agent(s, err);
    hob_session_forget_choice(s);
    return rc;
}

static int check_mode(hob_session *s, hob_mode wanted, hob_error *err) {
    if (hob_policy_mode(s->policy) == wanted) return HOB_OK;
    return hob_fail(err, HOB_EACCES, 0, "the agent %s may have no wider mode than %s",
                    s->agent_name, hob_mode_name(hob_policy_mode(s->policy)));
}

static int change(hob_session *s, const char *word, hob_error *err) {
    hob_policy *old = s->policy, *fresh;
    hob_mode mode, was = s->mode;
    if (hob_mode_from(hob_str_z(word), &mode) < 0)
        return hob_fail(err, HOB_EINVAL, 0,
                        "unknown permission mode %.60s: ask accept-edits plan yolo", word);
    if (s->line) return hob_fail(err, HOB_EACCES, 0, "a sub-agent has the mode of its parent");
    if (s->crew && hob_session_active(s))
        return hob_fail(err, HOB_EBUSY, 0, "agents are at work: wait for them, or cancel");
    int rc = make_policy(s, word, &fresh, err);
    if (rc < 0) return rc;
    s->policy = fresh;
    s->mode = mode;
    rc = narrow(s, err);
    if (rc >= 0) rc = check_mode(s, mode, err);
    if (rc >= 0 && s->crew) rc = hob_crew_fit_policies(s->crew, err);
    if (rc < 0) {
        hob_policy *not_wanted = s->policy;
        s->policy = old;
        s->mode = was;
        old = not_wanted;
        if (s->agent_name[0]) hob_tools_narrow(s->tools, s->policy);
    }
    forget_narrowed(s);
    hob_policy_destroy(old);
    return rc;
}

/* ---- the call -------------------------------------------------------------------------------------------- */

typedef struct setting {
    hob_op op;
    const char *mode;
} setting;

static void start(hob_op *op) {
    hob_session *s = op->s;
    hob_error err;
    int rc = hob_session_usable(s, &err);
    if (rc >= 0) rc = change(s, HOB_CONTAINER(op, setting, op)->mode, &err);
    if (rc >= 0 && s->view->id.n) rc = hob_session_say_settings(s, &err);
    hob_session_commit(s);
    hob_session_kick(s);
    if (rc < 0)
        hob_op_done(op, rc, &err);
    else
        hob_session_op_after(s, op);
}

int hob_session_set_permission_mode(hob_session *s, const char *mode, hob_error *err) {
    setting x = {.op = {.start = start}, .mode = mode ? mode : ""};
    return hob_session_run(s, &x.op, err);
}
