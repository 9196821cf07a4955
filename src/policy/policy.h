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
    hob_str real; /* where cwd leads, if links are followed. "" = it is no link */
} hob_policy_opts;
/* HOB_ECONFIG naming the rule that cannot be read. */
int hob_policy_create(const hob_policy_opts *o, hob_policy **out, hob_error *err);
/* Mode and rules as the configuration has them; the error also says where the rule stands. */
int hob_policy_from_config(const hob_config *c, hob_str cwd, hob_str real, hob_policy **out,
                           hob_error *err);
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

/* ---- narrowing: what an agent, a skill or a child may do of what its caller may ------------------ */

typedef struct hob_narrow {
    hob_str who;               /* "agent reviewer"; said in refusals */
    bool only;                 /* nothing but `tools` may be used; otherwise `tools` says nothing */
    const hob_str *tools;      /* "name", "mcp__files__*" or "name(pattern)" */
    const hob_str *disallowed; /* the same; wins over tools */
    size_t ntools, ndisallowed;
    hob_str mode; /* "" = as before; one that is wider does not count */
} hob_narrow;
/* The one way to narrow. *out refuses whatever `base` refuses, holds a reference to it, and can be narrowed again. An
 * entry of `tools` that cannot be read grants nothing; HOB_ECONFIG names one of `disallowed`, or a mode. */
int hob_policy_narrow(const hob_policy *base, const hob_narrow *n, hob_policy **out,
                      hob_error *err);
/* The same rules for a copy of a folder: a path beneath `to` is judged as the same one beneath `from`, and relative
 * paths, which are relative to the copy now, as they were. Both absolute, without a slash at the end. */
int hob_policy_move(const hob_policy *base, hob_str from, hob_str to, hob_policy **out,
                    hob_error *err);
/* May there be a call of this tool that no narrowing refuses? A tool that is not offered is not described to the
 * model either. */
bool hob_policy_offers(const hob_policy *p, hob_str tool);
hob_mode hob_policy_mode(const hob_policy *p);
/* Could this entry of a narrowing be used? For `disallowed` it must be; names of other programs' tools count as
 * ours. */
int hob_narrow_entry_check(hob_str entry, bool disallowed, hob_error *err);
hob_str hob_tool_our_name(hob_str name); /* "WebFetch" -> "web_fetch"; else as it is */

int hob_mode_from(hob_str word, hob_mode *out); /* HOB_EINVAL */
const char *hob_mode_name(hob_mode m);
bool hob_mode_wider(hob_mode a, hob_mode b); /* plan < ask < accept-edits < yolo */

#endif
