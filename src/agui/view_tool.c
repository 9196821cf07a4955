/*
 * view_tool.c - results of calls, and approvals: questions that end a run.
 */
#include "agui/view.h"

#include <stdio.h>

/* ---- results ------------------------------------------------------------------------------------------------------ */

static int send_result(hob_agui_view *v, hob_str call, const hob_json *content, hob_error *err) {
    char made[HOB_AGUI_MADE_ID];
    hob_buf text;
    hob_jsonw w;
    hob_str given = hob_agui_message_id(hob_json_first(content));
    bool parts = hob_agui_has_images(content) && v->out->dialect == HOB_AGUI_1_0;
    snprintf(made, sizeof made, "%.*s:result", HOB_FMT(hob_str_first(call, 140)));
    hob_str id = given.n ? given : hob_str_z(made);
    hob_buf_init(&text, HOB_AGUI_FRAME_MAX);
    if (parts) {
        hob_jsonw_init(&w, &text);
        hob_agui_write_content(&w, content, HOB_AGUI_1_0);
    } else {
        hob_agui_text_of(content, &text);
    }
    int rc = text.err ? hob_fail(err, HOB_ETOOBIG, 0, "the result of a call is too large")
             : parts  ? hob_agui_tool_call_result_parts(v->out, id, call, hob_buf_str(&text), err)
                      : hob_agui_tool_call_result(v->out, id, call, hob_buf_str(&text), err);
    hob_buf_finish(&text);
    if (rc == HOB_EEXIST && hob_agui_known_foreign(v->out, id)) v->stale = true;
    return rc;
}

int hob_view_result(hob_agui_view *v, const hob_event *e, const hob_json *d, hob_error *err) {
    hob_str call = hob_json_get_str(d, "call");
    bool receipt = e->type == HOB_EVENT_TOOL_UPDATED ? !hob_json_get_bool(d, "final", false)
                                                     : hob_json_get_bool(d, "pending", false);
    if (receipt) return 0; /* the call stays unanswered: the client's, or somebody's elsewhere */
    int rc = send_result(v, call, hob_json_get(d, "content"), err);
    if (rc == HOB_ENOENT) return 0; /* of a call that this client never saw */
    return hob_view_had(rc);
}

/* ---- approvals ------------------------------------------------------------------------------------------------------ */

static void drop(hob_agui_view *v, hob_view_ask *a) {
    hob_list_remove(&a->link);
    hob_free(a->call);
    hob_free(a->tool);
    hob_free(a->args);
    hob_free(a->child);
    hob_free(a->agent);
    hob_free(a->question);
    hob_free(a->schema);
    hob_free(a);
    v->nasks--;
}

void hob_view_asks_finish(hob_agui_view *v) {
    while (!hob_list_empty(&v->asks)) drop(v, HOB_LIST_FIRST(&v->asks, hob_view_ask, link));
}

static hob_view_ask *find(hob_agui_view *v, hob_str call) {
    HOB_LIST_EACH (it, &v->asks) {
        hob_view_ask *a = HOB_CONTAINER(it, hob_view_ask, link);
        if (hob_str_eqz(call, a->call)) return a;
    }
    return NULL;
}

int hob_view_asked(hob_agui_view *v, const hob_json *d, hob_error *err) {
    hob_str call = hob_json_get_str(d, "call");
    if (find(v, call)) return 0;
    if (v->nasks == HOB_VIEW_ASKS)
        return hob_fail(err, HOB_ETOOBIG, 0, "more than %d approvals wait", HOB_VIEW_ASKS);
    hob_view_ask *a = HOB_NEW(hob_view_ask);
    a->call = hob_dupz(call);
    a->tool = hob_dupz(hob_json_get_str(d, "tool"));
    a->args = hob_dupz(hob_json_raw(hob_json_get(d, "args")));
    a->child = hob_dupz(hob_json_get_str(d, "child"));
    a->agent = hob_dupz(hob_json_get_str(d, "agent"));
    a->question = hob_dupz(hob_json_get_str(d, "question"));
    a->schema = hob_dupz(hob_json_raw(hob_json_get(d, "schema")));
    hob_list_push(&v->asks, &a->link);
    v->nasks++;
    return 0;
}

int hob_agui_view_asked(hob_agui_view *v, hob_str confirmation, hob_error *err) {
    const hob_json *row;
    hob_arena_reset(v->scratch);
    int rc = hob_json_parse(v->scratch, confirmation, NULL, &row, err);
    return rc < 0 ? rc : hob_view_asked(v, row, err);
}

void hob_view_resolved(hob_agui_view *v, const hob_json *d) {
    hob_view_ask *a = find(v, hob_json_get_str(d, "call"));
    if (a) drop(v, a);
}

void hob_agui_view_paused(hob_agui_view *v) {
    v->paused = true;
}

size_t hob_agui_view_waiting(const hob_agui_view *v) {
    return v->nasks + v->paused;
}

/* ---- as interrupts ---------------------------------------------------------------------------------------------------- */

static hob_str keep(hob_agui_view *v, hob_buf *b) {
    hob_str s = hob_arena_dup(v->scratch, hob_buf_str(b));
    hob_buf_finish(b);
    return s;
}

static hob_str words(hob_agui_view *v, const hob_view_ask *a) {
    hob_buf b;
    hob_str args = hob_str_z(a->args);
    hob_buf_init(&b, 1 << 16);
    hob_buf_addf(&b, "%s%s", a->agent, *a->agent ? ": " : "");
    if (*a->question) {
        hob_buf_addz(&b, a->question);
        return keep(v, &b);
    }
    hob_buf_addf(&b, "Allow %s", a->tool);
    if (args.n > 2) {
        hob_buf_addz(&b, " ");
        hob_buf_add(&b, hob_str_first(args, hob_utf8_prefix(args, 300)));
        if (args.n > 300) hob_buf_addz(&b, "…");
    }
    hob_buf_addc(&b, '?');
    return keep(v, &b);
}

static hob_str details(hob_agui_view *v, const hob_view_ask *a) {
    hob_buf b;
    hob_jsonw w;
    hob_buf_init(&b, HOB_AGUI_FRAME_MAX);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_key(&w, "hob");
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "tool", hob_str_z(a->tool));
    if (*a->args) hob_jsonw_kraw(&w, "args", hob_str_z(a->args));
    hob_jsonw_kstr_opt(&w, "agent", hob_str_z(a->agent));
    hob_jsonw_kstr_opt(&w, "child", hob_str_z(a->child));
    hob_jsonw_object_end(&w);
    hob_jsonw_object_end(&w);
    return keep(v, &b);
}

static void fill(hob_agui_view *v, const hob_view_ask *a, hob_agui_interrupt *q) {
    *q = (hob_agui_interrupt)HOB_AGUI_INTERRUPT_INIT;
    q->id = hob_str_z(a->call);
    q->reason = HOB_STR("tool_call");
    q->message = words(v, a);
    q->metadata = details(v, a);
    q->response_schema =
        HOB_STR("{\"type\":\"object\",\"properties\":{\"approved\":{\"type\":\"boolean\"},"
                "\"reason\":{\"type\":\"string\"}},\"required\":[\"approved\"],"
                "\"additionalProperties\":false}");
    if (*a->question) {
        q->reason = HOB_STR("input_required");
        q->response_schema = *a->schema ? hob_str_z(a->schema) : HOB_STR("{\"type\":\"string\"}");
    }
    const hob_agui_call *c = hob_agui_known_call(v->out, q->id);
    if (c && !c->answered) q->tool_call = q->id;
    q->subagent = hob_view_child_id(v, hob_str_z(a->child));
}

static void fill_pause(hob_agui_interrupt *q) {
    *q = (hob_agui_interrupt)HOB_AGUI_INTERRUPT_INIT;
    q->id = HOB_STR(HOB_AGUI_PAUSED);
    q->reason = HOB_STR(HOB_AGUI_PAUSED);
    q->message = HOB_STR("The run is paused. Go on with it?");
    q->response_schema =
        HOB_STR("{\"type\":\"object\",\"properties\":{\"approved\":{\"type\":\"boolean\"}}}");
}

int hob_agui_view_park(hob_agui_view *v, hob_error *err) {
    size_t most = hob_agui_view_waiting(v), n = 0;
    if (!most) return hob_fail(err, HOB_EIDLE, 0, "nothing waits for a person");
    hob_arena_reset(v->scratch);
    hob_agui_interrupt *all = hob_alloc(most * sizeof *all);
    HOB_LIST_EACH (it, &v->asks) fill(v, HOB_CONTAINER(it, hob_view_ask, link), &all[n++]);
    if (v->paused) fill_pause(&all[n++]);
    int rc = hob_view_put_usage(v, err);
    if (rc == 0) rc = hob_view_said(hob_agui_run_interrupt_all(v->out, all, n, err));
    hob_free(all);
    v->ended = v->ended || rc == 0;
    return rc;
}
