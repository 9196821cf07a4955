/*
 * policies.h - policies for tests, and calls in short form.
 */
#ifndef HOB_TESTS_POLICIES_H
#define HOB_TESTS_POLICIES_H

#include "policy/policy.h"
#include "support/check.h"

/* One rule of each kind at most; NULL = none. */
typedef struct policy_spec {
    hob_mode mode;
    const char *allow, *ask, *deny;
    const char *cwd, *home;
} policy_spec;

static inline hob_policy *policy_make(const policy_spec *s) {
    hob_str allow = hob_str_z(s->allow), ask = hob_str_z(s->ask), deny = hob_str_z(s->deny);
    hob_policy_opts o = {.mode = s->mode,
                         .allow = &allow,
                         .ask = &ask,
                         .deny = &deny,
                         .nallow = s->allow != NULL,
                         .nask = s->ask != NULL,
                         .ndeny = s->deny != NULL,
                         .cwd = hob_str_z(s->cwd),
                         .home = hob_str_z(s->home)};
    hob_policy *p = NULL;
    hob_error err = {0};
    assert_ok(hob_policy_create(&o, &p, &err), err);
    return p;
}

/* {"command": value} or {"path": value}, whatever bytes it has. */
static inline void policy_args(hob_buf *out, const char *key, hob_str value) {
    hob_jsonw w;
    hob_buf_reset(out);
    hob_jsonw_init(&w, out);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, key, value);
    hob_jsonw_object_end(&w);
}

static inline hob_policy_answer policy_ask(const hob_policy *p, const char *tool, hob_str args) {
    hob_policy_answer a = {0};
    hob_policy_check(p, hob_str_z(tool), HOB_TOOL_UNSAFE, args, &a);
    assert_non_null(a.by);
    assert_non_null(a.reason);
    return a;
}

static inline hob_decision policy_value(const hob_policy *p, const char *tool, const char *key,
                                        hob_str value) {
    hob_buf args;
    hob_buf_init(&args, 16 << 20);
    policy_args(&args, key, value);
    hob_decision d = policy_ask(p, tool, hob_buf_str(&args)).decision;
    hob_buf_finish(&args);
    return d;
}

#endif
