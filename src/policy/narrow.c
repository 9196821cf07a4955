/*
 * narrow.c - a policy that refuses more than another.
 *
 * A narrowed policy adds refusals in front of the one it stands on and changes nothing behind them: rules of the base
 * are asked as before, with the narrower of the two modes. So whatever is said here, no call is decided more freely
 * than without it.
 *
 * Names come from files that were written for other programs too; `same_tools` says which of our tools they mean, so
 * that what such a file forbids is forbidden here.
 */
#include "policy/rule.h"

#include <stdio.h>

#define ENTRIES_MAX 1024
#define LAYERS_MAX 256 /* narrowings on one another */

static const struct {
    const char *theirs, *ours;
} same_tools[] = {{"webfetch", "web_fetch"}, {"todowrite", "todo"},
                  {"multiedit", "edit"},     {"askuserquestion", "ask_user"},
                  {"agent", "task"},         {"bashoutput", "job"},
                  {"killshell", "job"},      {"killbash", "job"}};

hob_str hob_tool_our_name(hob_str name) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(same_tools); i++)
        if (hob_str_ieq(name, hob_str_z(same_tools[i].theirs)))
            return hob_str_z(same_tools[i].ours);
    return name;
}

/* The entry with the tool's name as we have it. */
static hob_str in_our_words(hob_str entry, char *room, size_t cap) {
    ptrdiff_t open = hob_str_chr(entry, '(');
    hob_str name = hob_str_trim(hob_str_first(entry, open < 0 ? entry.n : (size_t)open));
    hob_str rest = open < 0 ? HOB_STR_NULL : hob_str_skip(entry, (size_t)open);
    hob_str ours = hob_tool_our_name(name);
    if (ours.p == name.p) return entry;
    int n = snprintf(room, cap, "%.*s%.*s", HOB_FMT(ours), HOB_FMT(rest));
    return n > 0 && (size_t)n < cap ? hob_str_n(room, (size_t)n) : entry;
}

static int read_entry(hob_rule *r, hob_str entry, hob_rule_use use, const hob_rule_place *place,
                      hob_error *err) {
    char room[HOB_RULE_MAX * 2];
    return hob_rule_init(r, in_our_words(entry, room, sizeof room), use, place, err);
}

int hob_narrow_entry_check(hob_str entry, bool disallowed, hob_error *err) {
    const hob_rule_place nowhere = {.cwd = HOB_STR("/"), .home = HOB_STR("/")};
    hob_rule r;
    int code = read_entry(&r, entry, disallowed ? HOB_RULE_DENY : HOB_RULE_ALLOW, &nowhere, err);
    if (code >= 0) hob_rule_finish(&r);
    return code;
}

/* ---- making --------------------------------------------------------------------------------- */

static int read_gate(hob_policy *p, const hob_narrow *n, hob_error *err) {
    if (n->ntools > ENTRIES_MAX || n->ndisallowed > ENTRIES_MAX)
        return hob_fail(err, HOB_ECONFIG, 0, "%.*s names more than %d tools", HOB_FMT(n->who),
                        ENTRIES_MAX);
    p->only = n->only;
    p->gate.at = n->only && n->ntools ? hob_alloc(n->ntools * sizeof(hob_rule)) : NULL;
    for (size_t i = 0; n->only && i < n->ntools; i++)
        if (read_entry(&p->gate.at[p->gate.n], n->tools[i], HOB_RULE_ALLOW, &p->place, NULL) >= 0)
            p->gate.n++;
    p->deny.at = n->ndisallowed ? hob_alloc(n->ndisallowed * sizeof(hob_rule)) : NULL;
    for (; p->deny.n < n->ndisallowed; p->deny.n++) {
        hob_str entry = n->disallowed[p->deny.n];
        int code = read_entry(&p->deny.at[p->deny.n], entry, HOB_RULE_DENY, &p->place, err);
        if (code < 0) return code;
    }
    return HOB_OK;
}

static int choose_mode(hob_policy *p, const hob_narrow *n, hob_error *err) {
    hob_mode mode = p->base->mode;
    if (n->mode.n && hob_mode_from(n->mode, &mode) < 0)
        return hob_fail(err, HOB_ECONFIG, 0, "%.*s: there is no permission mode \"%.*s\"",
                        HOB_FMT(n->who), HOB_FMT(n->mode));
    p->mode = hob_mode_wider(mode, p->base->mode) ? p->base->mode : mode;
    return HOB_OK;
}

static void set_words(hob_policy *p, const hob_narrow *n) {
    hob_buf words;
    hob_buf_init(&words, 2048);
    p->by = hob_dupz(n->who);
    hob_buf_addf(&words, "%.*s may use ", HOB_FMT(n->who));
    for (size_t i = 0; i < n->ntools && words.n < 512; i++)
        hob_buf_addf(&words, "%s%.*s", i ? ", " : "", HOB_FMT(hob_str_first(n->tools[i], 100)));
    hob_buf_addz(&words, n->ntools ? " only" : "no tools");
    p->reason = hob_dupz(hob_buf_str(&words));
    hob_buf_finish(&words);
}

static size_t layers_of(const hob_policy *p) {
    size_t n = 0;
    for (; p; p = p->base) n++;
    return n;
}

/* One that says what its base says. */
static hob_policy *layer(const hob_policy *base) {
    hob_policy *p = HOB_NEW(hob_policy);
    atomic_init(&p->refs, 1);
    p->base = hob_policy_ref((hob_policy *)(uintptr_t)base); /* only its count changes */
    p->mode = base->mode;
    p->cwd = hob_dupz(base->place.cwd);
    p->home = hob_dupz(base->place.home);
    p->place = base->place;
    p->place.cwd = hob_str_z(p->cwd);
    p->place.home = hob_str_z(p->home);
    return p;
}

int hob_policy_narrow(const hob_policy *base, const hob_narrow *n, hob_policy **out,
                      hob_error *err) {
    if (layers_of(base) > LAYERS_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "%.*s: there are %d narrowings already",
                        HOB_FMT(n->who), LAYERS_MAX);
    hob_policy *p = layer(base);
    set_words(p, n);
    int code = choose_mode(p, n, err);
    if (code >= 0) code = read_gate(p, n, err);
    if (code < 0)
        hob_policy_destroy(p);
    else
        *out = p;
    return code;
}

int hob_policy_move(const hob_policy *base, hob_str from, hob_str to, hob_policy **out,
                    hob_error *err) {
    if (layers_of(base) > LAYERS_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0, "rules were moved or narrowed %d times already",
                        LAYERS_MAX);
    hob_policy *p = layer(base);
    p->by = hob_dupz(HOB_STR_NULL);
    p->reason = hob_dupz(HOB_STR_NULL);
    p->from = hob_dupz(from);
    p->to = hob_dupz(to);
    p->place.from = hob_str_z(p->from);
    p->place.to = hob_str_z(p->to);
    p->place.before = base->place.to.n ? &base->place : NULL;
    *out = p;
    return HOB_OK;
}

/* ---- asking --------------------------------------------------------------------------------- */

bool hob_policy_narrowed(hob_policy_call *c, const hob_policy *p, hob_policy_answer *out) {
    for (; p->base; p = p->base) {
        if (hob_rules_decide(c, &p->deny, HOB_DENY, out)) return true;
        if (!p->only || hob_rules_decide(c, &p->gate, HOB_ALLOW, out)) continue;
        *out = (hob_policy_answer){.decision = HOB_DENY, .by = p->by, .reason = p->reason};
        return true;
    }
    return false;
}

static bool names(const hob_rules *list, hob_str tool, bool whole) {
    for (size_t i = 0; i < list->n; i++)
        if ((!whole || list->at[i].form == HOB_RULE_TOOL) && hob_rule_names(&list->at[i], tool))
            return true;
    return false;
}

bool hob_policy_offers(const hob_policy *p, hob_str tool) {
    for (; p->base; p = p->base)
        if (names(&p->deny, tool, true) || (p->only && !names(&p->gate, tool, false))) return false;
    return true;
}

hob_mode hob_policy_mode(const hob_policy *p) {
    return p->mode;
}
