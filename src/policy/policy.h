/*
 * policy.h - may this call run? Pure, and it only narrows.
 *
 * Deny > ask > allow > what the mode says (contract §2a), whoever wrote the rule. A rule is `tool` or
 * `tool(pattern)`; a rule that cannot be read is an error when the policy is made, never ignored.
 */
#ifndef HOB_SRC_POLICY_H
#define HOB_SRC_POLICY_H

#include <hob/tool.h>

#include "base/json.h"
#include "config/config.h"

typedef enum hob_mode {
    HOB_MODE_ASK,
    HOB_MODE_ACCEPT_EDITS,
    HOB_MODE_PLAN,
    HOB_MODE_YOLO
} hob_mode;

typedef enum hob_decision { HOB_ALLOW, HOB_ASK, HOB_DENY } hob_decision;

typedef struct hob_policy hob_policy;

typedef struct hob_policy_opts {
    hob_mode mode;
    const hob_str *allow, *ask, *deny;
    size_t nallow, nask, ndeny;
    hob_str cwd;  /* absolute; what relative paths are relative to. "" = not known */
    hob_str home; /* what "~/" in a path rule stands for. "" = not known */
} hob_policy_opts;
/* HOB_ECONFIG naming the rule that cannot be read. */
int hob_policy_create(const hob_policy_opts *o, hob_policy **out, hob_error *err);
/* Mode and rules as the configuration has them; the error also says where the rule stands. */
int hob_policy_from_config(const hob_config *c, hob_str cwd, hob_policy **out, hob_error *err);
/* A policy never changes, so that workers may hold and ask it; the last reference destroys it. */
hob_policy *hob_policy_ref(hob_policy *p);
void hob_policy_destroy(hob_policy *p);

typedef struct hob_policy_answer {
    hob_decision decision;
    const char *by;     /* "mode:ask", "deny: bash(rm:*)"; lives as long as the policy */
    const char *reason; /* for the model and the user; "" if there is nothing to add; same life */
} hob_policy_answer;
/* args is the JSON text of the arguments, already checked against the tool's schema. Paths are compared as
 * written, without looking at the disk: a tool that follows a link asks again with where it leads. */
void hob_policy_check(const hob_policy *p, hob_str tool, hob_tool_class class_, hob_str args,
                      hob_policy_answer *out);

int hob_mode_from(hob_str word, hob_mode *out); /* HOB_EINVAL */
const char *hob_mode_name(hob_mode m);

#endif
