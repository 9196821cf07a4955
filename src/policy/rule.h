/*
 * rule.h - one permission rule: `tool` or `tool(pattern)`, and how it is compared with a call.
 */
#ifndef HOB_SRC_POLICY_RULE_H
#define HOB_SRC_POLICY_RULE_H

#include "policy/policy.h"

#include <stdatomic.h>

#define HOB_RULE_MAX 256                 /* bytes of a rule */
#define HOB_GLOB_MAX (HOB_RULE_MAX + 16) /* of a pattern made from one */
#define HOB_RULE_COMMAND_MAX (64u << 10) /* of a command that patterns with "*" are tried on */
#define HOB_PATH_CLEAN_MAX (16u << 10)   /* of a path made absolute */

/* The same pattern is read in two ways, both to the safe side: what allows must fit exactly and be
 * understood completely; what denies or asks must only look like it. */
typedef enum hob_rule_use { HOB_RULE_ALLOW, HOB_RULE_ASK, HOB_RULE_DENY } hob_rule_use;

typedef enum hob_match {
    HOB_MATCH_NO,
    HOB_MATCH_YES,
    HOB_MATCH_DOUBT /* cannot be told; only for HOB_RULE_ASK and HOB_RULE_DENY, where it counts */
} hob_match;

typedef enum hob_rule_form {
    HOB_RULE_TOOL,    /* every call of the tool */
    HOB_RULE_COMMAND, /* bash */
    HOB_RULE_PATH     /* read, write, edit, patch, ls */
} hob_rule_form;

typedef struct hob_rule {
    hob_rule_form form;
    hob_rule_use use;
    char *tool;    /* may end in "*" */
    char *pattern; /* of a command without its ":*", words one space apart; of a path, as written */
    bool more;     /* a command pattern that ended in ":*": further words may follow */
    char *base;    /* of a path: what the pattern is relative to, "" or ending in "/" */
    bool anchored; /* a path pattern that stands where it says: "/x", "~/x", "./x" */
    char *by;      /* "deny: bash(rm:*)" */
    char *reason, *doubt;
} hob_rule;

typedef struct hob_rule_place hob_rule_place;
struct hob_rule_place {
    hob_str cwd, home;
    hob_str real; /* where cwd leads; "" = it is no link */
    /* what lies beneath `to` is judged as what lies beneath `from`, and then as `before` has it */
    hob_str from, to;
    const hob_rule_place *before; /* NULL = nothing was moved before */
};

int hob_rule_init(hob_rule *r, hob_str text, hob_rule_use use, const hob_rule_place *place,
                  hob_error *err);
void hob_rule_finish(hob_rule *r);
/* The rule speaks of that tool; case is ignored. */
bool hob_rule_names(const hob_rule *r, hob_str tool);
/* args: NULL if they could not be read. */
hob_match hob_rule_match(const hob_rule *r, const hob_json *args, const hob_rule_place *place);

/* command.c */
hob_match hob_command_match(const hob_rule *r, hob_str command);
/* path.c: text into `out`: absolute if the folder is known, without ".", ".." and doubled slashes.
 * HOB_EINVAL: it leaves what is known. */
int hob_path_clean(hob_str path, hob_str cwd, hob_buf *out);
void hob_path_move(hob_buf *path, const hob_rule_place *place);
/* Where a path of a call is, for rules: from the folder or home, moved. HOB_EINVAL: it cannot be told. */
int hob_path_place(hob_str path, const hob_rule_place *place, hob_buf *out);
/* The pattern fits the path or a folder around it, at any depth and in any case. */
bool hob_path_looks_like(hob_str pattern, hob_str path);
/* protect.c: true also if it cannot be told. */
bool hob_path_protected(hob_str path, const hob_rule_place *place);
/* rule.c: does a call of a tool that edits lead to a protected path? args as in hob_rule_match. */
bool hob_call_protected(hob_str tool, const hob_json *args, const hob_rule_place *place);
hob_match hob_path_match(const hob_rule *r, hob_str path, const hob_rule_place *place);

/* policy.c, narrow.c: a list of rules, and a policy as the two of them see it. */
typedef struct hob_rules {
    hob_rule *at;
    size_t n;
} hob_rules;
void hob_rules_finish(hob_rules *list);

struct hob_policy {
    atomic_int refs;
    hob_mode mode;
    hob_rules deny, ask, allow;
    char *cwd, *home, *real;
    hob_rule_place place;
    /* of a narrowed one, which has no ask and allow rules of its own */
    hob_policy *base;
    bool only;      /* what is not in `gate` is refused */
    hob_rules gate; /* read as HOB_RULE_ALLOW: what fits exactly may pass */
    char *by, *reason;
    char *from, *to; /* of one that was moved */
};

/* A call that is being decided. */
typedef struct hob_policy_call {
    hob_str tool, args;
    hob_arena *arena; /* made when the first pattern needs the arguments */
    const hob_json *read;
    hob_rule_place place;
} hob_policy_call;
bool hob_rules_decide(hob_policy_call *c, const hob_rules *list, hob_decision decision,
                      hob_policy_answer *out);
/* narrow.c: what the narrowings of a policy refuse. */
bool hob_policy_narrowed(hob_policy_call *c, const hob_policy *p, hob_policy_answer *out);

/* glob.c: "*" stops at '/' if `slash`, and then "**" does not; "?" is one character. Time is linear in
 * the text: nothing is tried twice. */
enum { HOB_GLOB_SLASH = 1, HOB_GLOB_NOCASE = 2, HOB_GLOB_ANYWHERE = 4 };
bool hob_glob_match(hob_str pattern, hob_str text, unsigned flags);

#endif
