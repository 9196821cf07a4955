/*
 * policy.c - may this call run?
 *
 *   0. a narrowing refuses it  -> deny (narrow.c)
 *   1. a deny rule             -> deny, in every mode
 *   2. plan mode, not a read   -> deny: no rule can allow it
 *   3. an ask rule             -> ask, in every mode, also in yolo
 *   4. an allow rule           -> allow
 *   5. what the mode says of this kind of tool; what makes programs run is no mere edit (protect.c)
 *
 * All rules of one use are equal: where they come from plays no part, so adding deny and ask rules can
 * only narrow.
 */
#include "policy/rule.h"

#define RULES_MAX 4096

typedef enum kind { READS, EDITS, RUNS, KINDS } kind;

/* The table of the modes. */
static const hob_decision defaults[][KINDS] = {
    [HOB_MODE_ASK] = {[READS] = HOB_ALLOW, [EDITS] = HOB_ASK, [RUNS] = HOB_ASK},
    [HOB_MODE_ACCEPT_EDITS] = {[READS] = HOB_ALLOW, [EDITS] = HOB_ALLOW, [RUNS] = HOB_ASK},
    [HOB_MODE_PLAN] = {[READS] = HOB_ALLOW, [EDITS] = HOB_DENY, [RUNS] = HOB_DENY},
    [HOB_MODE_YOLO] = {[READS] = HOB_ALLOW, [EDITS] = HOB_ALLOW, [RUNS] = HOB_ALLOW},
};

static const char *const mode_by[] = {
    [HOB_MODE_ASK] = "mode:ask",
    [HOB_MODE_ACCEPT_EDITS] = "mode:accept-edits",
    [HOB_MODE_PLAN] = "mode:plan",
    [HOB_MODE_YOLO] = "mode:yolo",
};

/* Built-in tools by name; others by what they say of themselves, but a server is never believed. */
static kind kind_of(hob_str tool, hob_tool_class class_) {
    static const struct {
        const char *name;
        kind kind;
    } builtins[] = {{"read", READS},  {"ls", READS},     {"glob", READS},     {"grep", READS},
                    {"write", EDITS}, {"edit", EDITS},   {"patch", EDITS},    {"bash", RUNS},
                    {"job", RUNS},    {"recall", READS}, {"remember", EDITS}, {"forget", EDITS}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(builtins); i++) {
        if (hob_str_ieq(tool, hob_str_z(builtins[i].name))) return builtins[i].kind;
    }
    bool delegates = hob_str_ieq(tool, HOB_STR("task")) && class_ == HOB_TOOL_IDEMPOTENT;
    if (delegates) return READS; /* what the sub-agent does is decided call by call */
    bool server = hob_str_ieq(hob_str_first(tool, 5), HOB_STR("mcp__"));
    return class_ == HOB_TOOL_READ_ONLY && !server ? READS : RUNS;
}

/* ---- checking ------------------------------------------------------------------------------- */

static const hob_json *arguments(hob_policy_call *c) {
    if (!c->arena) {
        c->arena = hob_arena_create(0);
        if (hob_json_parse(c->arena, c->args, NULL, &c->read, NULL) < 0) c->read = NULL;
    }
    return c->read;
}

bool hob_rules_decide(hob_policy_call *c, const hob_rules *list, hob_decision decision,
                      hob_policy_answer *out) {
    for (size_t i = 0; i < list->n; i++) {
        const hob_rule *r = &list->at[i];
        if (!hob_rule_names(r, c->tool)) continue;
        const hob_json *args = r->form == HOB_RULE_TOOL ? NULL : arguments(c);
        hob_match m = hob_rule_match(r, args, &c->place);
        if (m == HOB_MATCH_NO) continue;
        const char *why = m == HOB_MATCH_DOUBT ? r->doubt : r->reason;
        *out = (hob_policy_answer){.decision = decision, .by = r->by, .reason = why};
        return true;
    }
    return false;
}

static bool makes_run(hob_policy_call *c, hob_mode mode, kind k) {
    return mode == HOB_MODE_ACCEPT_EDITS && k == EDITS &&
           hob_call_protected(c->tool, arguments(c), &c->place);
}

static void decide_by_mode(hob_policy_call *c, hob_mode mode, kind k, hob_policy_answer *out) {
    const char *reason = "";
    hob_decision decision = defaults[mode][k];
    if (mode == HOB_MODE_PLAN && k == EDITS)
        reason = "in plan mode nothing is changed";
    else if (mode == HOB_MODE_PLAN && k == RUNS)
        reason = "in plan mode no command is run, not even one that only reads";
    if (makes_run(c, mode, k)) {
        decision = HOB_ASK;
        reason = "writing this file can make programs run, or change what agents may do";
    }
    *out = (hob_policy_answer){.decision = decision, .by = mode_by[mode], .reason = reason};
}

static bool decided_by_rules(hob_policy_call *c, const hob_policy *p, bool plan,
                             hob_policy_answer *out) {
    if (hob_rules_decide(c, &p->deny, HOB_DENY, out)) return true;
    return !plan && (hob_rules_decide(c, &p->ask, HOB_ASK, out) ||
                     hob_rules_decide(c, &p->allow, HOB_ALLOW, out));
}

void hob_policy_check(const hob_policy *p, hob_str tool, hob_tool_class class_, hob_str args,
                      hob_policy_answer *out) {
    hob_policy_call c = {.tool = tool, .args = args, .place = p->place};
    kind k = kind_of(tool, class_);
    hob_mode mode = p->mode;
    bool decided = hob_policy_narrowed(&c, p, out);
    while (p->base) p = p->base;
    if (!decided) decided = decided_by_rules(&c, p, mode == HOB_MODE_PLAN && k != READS, out);
    if (!decided) decide_by_mode(&c, mode, k, out);
    hob_arena_destroy(c.arena);
}

/* ---- making --------------------------------------------------------------------------------- */

static int read_rules(hob_policy *p, hob_rules *list, const hob_str *texts, size_t n,
                      hob_rule_use use, hob_error *err) {
    if (n > RULES_MAX)
        return hob_fail(err, HOB_ECONFIG, 0, "%zu permission rules are more than %d", n, RULES_MAX);
    list->at = n ? hob_alloc(n * sizeof(*list->at)) : NULL;
    for (; list->n < n; list->n++) {
        int code = hob_rule_init(&list->at[list->n], texts[list->n], use, &p->place, err);
        if (code < 0) return code;
    }
    return HOB_OK;
}

int hob_policy_create(const hob_policy_opts *o, hob_policy **out, hob_error *err) {
    if (o->mode < HOB_MODE_ASK || o->mode > HOB_MODE_YOLO)
        return hob_fail(err, HOB_ECONFIG, 0, "there is no permission mode %d", (int)o->mode);
    hob_policy *p = HOB_NEW(hob_policy);
    atomic_init(&p->refs, 1);
    p->mode = o->mode;
    p->cwd = hob_dupz(o->cwd);
    p->home = hob_dupz(o->home);
    p->real = hob_dupz(o->real);
    p->place = (hob_rule_place){
        .cwd = hob_str_z(p->cwd), .home = hob_str_z(p->home), .real = hob_str_z(p->real)};
    int code = read_rules(p, &p->deny, o->deny, o->ndeny, HOB_RULE_DENY, err);
    if (code == HOB_OK) code = read_rules(p, &p->ask, o->ask, o->nask, HOB_RULE_ASK, err);
    if (code == HOB_OK) code = read_rules(p, &p->allow, o->allow, o->nallow, HOB_RULE_ALLOW, err);
    if (code < 0)
        hob_policy_destroy(p);
    else
        *out = p;
    return code;
}

void hob_rules_finish(hob_rules *list) {
    for (size_t i = 0; i < list->n; i++) hob_rule_finish(&list->at[i]);
    hob_free(list->at);
}

hob_policy *hob_policy_ref(hob_policy *p) {
    if (p) atomic_fetch_add(&p->refs, 1);
    return p;
}

void hob_policy_destroy(hob_policy *p) {
    while (p && atomic_fetch_sub(&p->refs, 1) == 1) {
        hob_policy *base = p->base;
        hob_rules_finish(&p->deny);
        hob_rules_finish(&p->ask);
        hob_rules_finish(&p->allow);
        hob_rules_finish(&p->gate);
        hob_free(p->cwd);
        hob_free(p->home);
        hob_free(p->real);
        hob_free(p->by);
        hob_free(p->reason);
        hob_free(p->from);
        hob_free(p->to);
        hob_free(p);
        p = base;
    }
}

/* ---- from the configuration ------------------------------------------------------------------ */

static hob_str *strings_of(const hob_json *array, size_t *n) {
    *n = hob_json_count(array);
    hob_str *list = *n ? hob_alloc(*n * sizeof(*list)) : NULL, *to = list;
    for (const hob_json *v = hob_json_first(array); v; v = hob_json_next(v))
        *to++ = hob_json_str(v);
    return list;
}

/* A rule that cannot be read is in one of these; the longest list of sources is still a hint. */
static void say_where(const hob_config *c, hob_error *err) {
    hob_str allow, ask, deny;
    if (!err) return;
    hob_config_origin(c, "permissions.allow", &allow);
    hob_config_origin(c, "permissions.ask", &ask);
    hob_config_origin(c, "permissions.deny", &deny);
    hob_fail(err, err->code, 0, "%s (permissions are set in: allow %.*s; ask %.*s; deny %.*s)",
             err->message, HOB_FMT(allow), HOB_FMT(ask), HOB_FMT(deny));
}

int hob_policy_from_config(const hob_config *c, hob_str cwd, hob_str real, hob_policy **out,
                           hob_error *err) {
    hob_policy_opts o = {.cwd = cwd, .home = hob_config_home(c), .real = real};
    hob_str word = hob_config_str(c, "permissions.mode");
    if (hob_mode_from(word, &o.mode) < 0)
        return hob_fail(err, HOB_ECONFIG, 0, "there is no permission mode \"%.*s\"", HOB_FMT(word));
    hob_str *allow = strings_of(hob_config_json(c, "permissions.allow"), &o.nallow);
    hob_str *ask = strings_of(hob_config_json(c, "permissions.ask"), &o.nask);
    hob_str *deny = strings_of(hob_config_json(c, "permissions.deny"), &o.ndeny);
    o.allow = allow;
    o.ask = ask;
    o.deny = deny;
    int code = hob_policy_create(&o, out, err);
    if (code < 0) say_where(c, err);
    hob_free(allow);
    hob_free(ask);
    hob_free(deny);
    return code;
}
