/*
 * narrow.c - what a run was told that it may not use any more.
 *
 * A skill or a command that names its tools takes the others away until the run ends. That stands in the event that
 * brought it (tool_finished.actions.narrow, content[].narrow), so it holds after a crash, too. Each one narrows what the
 * ones before left; nothing gives anything back.
 */
#include "run/run.h"

void hob_run_widen(hob_run *r) {
    hob_free(r->narrows);
    r->narrows = NULL;
    r->nnarrows = 0;
    r->narrow_seq = 0;
    r->narrow_all = false;
}

static bool has_room(const hob_run *r, hob_str more) {
    size_t used = r->narrows ? strlen(r->narrows) : 0;
    return r->nnarrows < HOB_NARROWS_MAX && used + more.n < HOB_NARROWS_BYTES;
}

/* What there is no room for takes everything away: a fold cannot fail, and must not forget it. */
void hob_run_narrow(hob_run *r, uint64_t seq, const hob_json *narrow) {
    hob_str more = hob_json_raw(narrow);
    hob_buf all;
    if (!hob_json_is(narrow, HOB_JSON_OBJECT)) return;
    r->narrow_seq = seq;
    r->narrow_all = r->narrow_all || !has_room(r, more);
    if (r->narrow_all) return;
    hob_buf_init(&all, HOB_NARROWS_BYTES + 16);
    if (r->narrows) hob_buf_addf(&all, "%s,", r->narrows);
    hob_buf_add(&all, more);
    hob_free(r->narrows);
    r->narrows = hob_dupz(hob_buf_str(&all));
    r->nnarrows++;
    hob_buf_finish(&all);
}

void hob_run_narrow_by_content(hob_run *r, uint64_t seq, const hob_json *content) {
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        hob_run_narrow(r, seq, hob_json_get(b, "narrow"));
}

/* ---- as a policy -------------------------------------------------------------------------------------- */

/* *p becomes narrower. */
static int add(hob_policy **p, const hob_narrow *n, hob_error *err) {
    hob_policy *next = NULL;
    int rc = hob_policy_narrow(*p, n, &next, err);
    if (rc < 0) return rc;
    hob_policy_destroy(*p);
    *p = next;
    return HOB_OK;
}

static int add_one(hob_policy **p, const hob_json *narrow, hob_arena *a, hob_error *err) {
    const hob_json *tools = hob_json_get(narrow, "tools");
    hob_str *list = hob_arena_alloc(a, (hob_json_count(tools) + 1) * sizeof *list);
    hob_narrow n = {.who = hob_json_get_str(narrow, "by"), .only = true, .tools = list};
    for (const hob_json *t = hob_json_first(tools); t; t = hob_json_next(t))
        list[n.ntools++] = hob_json_str(t);
    return add(p, &n, err);
}

static int add_all(const hob_run *r, hob_policy **p, hob_error *err) {
    const hob_narrow nothing = {.who = HOB_STR("a run that was narrowed too often"), .only = true};
    hob_arena *a = hob_arena_create(0);
    const hob_json *list = NULL;
    hob_buf text;
    hob_buf_init(&text, HOB_NARROWS_BYTES + 16);
    hob_buf_addf(&text, "[%s]", r->narrows ? r->narrows : "");
    int rc = hob_json_parse(a, hob_buf_str(&text), NULL, &list, err);
    for (const hob_json *n = hob_json_first(list); n && rc >= 0; n = hob_json_next(n))
        rc = add_one(p, n, a, err);
    if (rc >= 0 && r->narrow_all) rc = add(p, &nothing, err);
    hob_buf_finish(&text);
    hob_arena_destroy(a);
    return rc;
}

/* For what cannot be: whoever asks gets no. */
static hob_policy *deny_all(void) {
    const hob_str all = HOB_STR("*");
    const hob_policy_opts o = {.mode = HOB_MODE_PLAN, .deny = &all, .ndeny = 1};
    hob_policy *p = NULL;
    hob_policy_create(&o, &p, NULL);
    return p;
}

hob_policy *hob_run_narrow_policy(const hob_run *r, const hob_policy *base) {
    hob_policy *p = hob_policy_ref((hob_policy *)(uintptr_t)base); /* only its count changes */
    hob_error err;
    if (add_all(r, &p, &err) >= 0) return p;
    hob_log(HOB_LOG_ERROR, "run", "%.*s: %s", HOB_FMT(r->session_id), err.message);
    hob_policy_destroy(p);
    return deny_all();
}
