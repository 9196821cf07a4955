/*
 * plan_read.c - what the log has: messages, and where they stand; calls.
 */
#include "agui/plan.h"

#include "agui/content.h"
#include "log/event.h"

#include <stdio.h>

typedef struct reading {
    hob_agui_plan *p;
    hob_plan_place here;
} reading;

static void note(hob_agui_plan *p, hob_map *in, hob_str id, const hob_plan_place *where) {
    hob_plan_place *at = HOB_ARENA_NEW(p->arena, hob_plan_place);
    if (!at || !id.n) return;
    *at = *where;
    hob_map_put(in, id, at);
}

static void know(hob_agui_plan *p, hob_str id, const hob_plan_place *where) {
    note(p, p->known, id, where);
}

static int know_said(hob_str id, const hob_json *first, const hob_json *end, void *user) {
    reading *r = user;
    (void)first;
    (void)end;
    know(r->p, id, &r->here);
    return 0;
}

static void know_answer(reading *r, const hob_json *d) {
    hob_str message = hob_json_get_str(d, "message");
    const hob_json *content = hob_json_get(d, "content");
    char id[HOB_AGUI_MADE_ID];
    size_t i = 0;
    know(r->p, message, &r->here);
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b)) {
        snprintf(id, sizeof id, "%.*s-%zu", HOB_FMT(hob_str_first(message, 100)), i++);
        know(r->p, hob_str_z(id), &r->here);
        note(r->p, r->p->calls, hob_json_get_str(b, "call"), &r->here);
    }
}

/* A result stands with the answer that made its call. */
static void know_result(reading *r, const hob_json *d) {
    char id[HOB_AGUI_MADE_ID];
    hob_str call = hob_json_get_str(d, "call");
    snprintf(id, sizeof id, "%.*s:result", HOB_FMT(hob_str_first(call, 140)));
    know(r->p, hob_str_z(id), &r->here);
    know(r->p, hob_agui_message_id(hob_json_first(hob_json_get(d, "content"))), &r->here);
}

static int read_row(reading *r, hob_str row, hob_error *err) {
    hob_event *e;
    int rc = hob_event_decode(row, &e, err);
    if (rc < 0) return rc;
    const hob_json *d = hob_event_parse(e, r->p->arena);
    if (e->entry.n) {
        r->here.before = r->here.entry;
        r->here.entry = hob_arena_dup(r->p->arena, e->entry);
    }
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE)
        know_answer(r, d);
    else if (!e->entry.n)
        know_result(r, d);
    else
        hob_agui_each_said(hob_json_get(d, "content"), r->here.entry, know_said, r);
    hob_event_unref(e);
    return 0;
}

int hob_plan_read_history(hob_agui_plan *p, const hob_page *history, hob_error *err) {
    reading r = {.p = p};
    int rc = 0;
    for (size_t i = 0; history && i < hob_page_count(history) && rc == 0; i++)
        rc = read_row(&r, hob_page_row(history, i), err);
    p->last = r.here.entry;
    return rc;
}
