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
} hob_policy_opts;
int hob_policy_create(const hob_policy_opts *o, hob_policy **out, hob_error *err); /* HOB_ECONFIG */
void hob_policy_destroy(hob_policy *p);

typedef struct hob_policy_answer {
    hob_decision decision;
    const char *by;     /* "mode:ask", "deny: bash(rm:*)"; lives as long as the policy */
    const char *reason; /* for the model and the user; "" if there is nothing to add; same life */
} hob_policy_answer;
/* args is the JSON text of the arguments, already checked against the tool's schema. */
void hob_policy_check(const hob_policy *p, hob_str tool, hob_tool_class class_, hob_str args,
                      hob_policy_answer *out);

int hob_mode_from(hob_str word, hob_mode *out); /* HOB_EINVAL */
const char *hob_mode_name(hob_mode m);

#endif
