/*
 * view_team.c - agents of a workflow are steps; sub-agents, which have sessions of their own, are sub-agents.
 */
#include "agui/view.h"

#include <stdio.h>

/* The branch names a place in the team; the agent alone may be at work twice. */
int hob_view_step(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    hob_str name = e->branch.n ? e->branch : hob_json_get_str(d, "agent");
    name = hob_str_first(name, hob_utf8_prefix(name, HOB_AGUI_ID_MAX));
    if (e->type == HOB_EVENT_AGENT_STARTED)
        return hob_view_had(hob_agui_step_start(v->out, name, NULL, err));
    int rc = hob_agui_step_finish(v->out, name, HOB_STR_NULL, err);
    return rc == HOB_ENOENT ? 0 : hob_view_said(rc); /* begun before this run on the wire */
}

/* ---- sub-agents ------------------------------------------------------------------------------------------------------ */

static hob_view_kid *find(hob_agui_view *v, hob_str child) {
    HOB_LIST_EACH (it, &v->kids) {
        hob_view_kid *k = HOB_CONTAINER(it, hob_view_kid, link);
        if (hob_str_eqz(child, k->child)) return k;
    }
    return NULL;
}

hob_str hob_view_child_id(hob_agui_view *v, hob_str child) {
    const hob_view_kid *k = find(v, child);
    return k ? hob_str_z(k->id) : child;
}

static void drop(hob_agui_view *v, hob_view_kid *k) {
    hob_list_remove(&k->link);
    hob_free(k->child);
    hob_free(k->id);
    hob_free(k);
    v->nkids--;
}

void hob_view_kids_finish(hob_agui_view *v) {
    while (!hob_list_empty(&v->kids)) drop(v, HOB_LIST_FIRST(&v->kids, hob_view_kid, link));
}

static int start(hob_agui_view *v, const hob_json *d, hob_error *err) {
    char id[HOB_AGUI_MADE_ID];
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    hob_str child = hob_json_get_str(d, "child"), prompt = hob_json_get_str(d, "prompt");
    hob_str name = hob_json_get_str(d, "agent");
    int64_t turn = hob_json_get_int(d, "turn", 1);
    if (turn > 1)
        snprintf(id, sizeof id, "%.*s#%lld", HOB_FMT(child), (long long)turn);
    else
        snprintf(id, sizeof id, "%.*s", HOB_FMT(child));
    x.description = hob_str_first(prompt, hob_utf8_prefix(prompt, 1000));
    x.tool_call = hob_json_get_str(d, "call");
    int rc =
        hob_agui_subagent_start(v->out, hob_str_z(id), name.n ? name : HOB_STR("agent"), &x, err);
    if (!hob_agui_happened(rc)) return hob_view_had(rc);
    hob_view_kid *k = HOB_NEW(hob_view_kid);
    k->child = hob_dupz(child);
    k->id = hob_dupz(hob_str_z(id));
    hob_list_push(&v->kids, &k->link);
    v->nkids++;
    return 0;
}

int hob_view_child_started(hob_agui_view *v, const hob_json *d, hob_error *err) {
    if (find(v, hob_json_get_str(d, "child"))) return 0;
    if (v->nkids < HOB_VIEW_KIDS) return start(v, d, err);
    return hob_fail(err, HOB_ETOOBIG, 0, "more than %d sub-agents at once", HOB_VIEW_KIDS);
}

static int finish(hob_agui_view *v, hob_str id, const hob_json *d, hob_error *err) {
    hob_str status = hob_json_get_str(d, "status"), text = hob_json_get_str(d, "text");
    hob_str reason = hob_json_get_str(d, "reason");
    if (!hob_str_eqz(status, "completed"))
        return hob_agui_subagent_error(v->out, id, reason.n ? reason : text, status, err);
    hob_buf result;
    hob_buf_init(&result, HOB_AGUI_FRAME_MAX);
    int rc = hob_json_quote(&result, text);
    rc = rc < 0 ? hob_fail(err, rc, 0, "the result of a sub-agent is too large")
                : hob_agui_subagent_finish(v->out, id, hob_buf_str(&result), err);
    hob_buf_finish(&result);
    return rc;
}

/* One that began in an earlier run on the wire begins here, so that its end has a beginning. */
int hob_view_child_finished(hob_agui_view *v, const hob_json *d, hob_error *err) {
    hob_str child = hob_json_get_str(d, "child");
    hob_view_add_usage(v, HOB_STR_NULL, hob_json_get(d, "usage"));
    int rc = hob_view_child_started(v, d, err);
    hob_view_kid *k = find(v, child);
    if (rc < 0 || !k) return rc;
    rc = finish(v, hob_str_z(k->id), d, err);
    drop(v, k);
    return hob_view_said(rc);
}

int hob_view_suspend_children(hob_agui_view *v, hob_error *err) {
    while (!hob_list_empty(&v->kids)) {
        hob_view_kid *k = HOB_LIST_FIRST(&v->kids, hob_view_kid, link);
        int rc = hob_agui_subagent_suspend(v->out, hob_str_z(k->id), HOB_STR_NULL, err);
        drop(v, k);
        if (!hob_agui_happened(rc)) return rc;
    }
    return 0;
}
