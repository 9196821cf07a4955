/*
 * apply_call.c - what events change in one call: decided, asked about, started, ended. Part of apply().
 */
#include "run/run.h"

static hob_tool_class class_from(hob_str s) {
    return hob_str_eqz(s, "read_only")    ? HOB_TOOL_READ_ONLY
           : hob_str_eqz(s, "idempotent") ? HOB_TOOL_IDEMPOTENT
                                          : HOB_TOOL_UNSAFE;
}

static void count_repeats(hob_run *r, const hob_call *c) {
    uint64_t hash = hob_call_hash(c);
    r->repeats = hash == r->repeat_hash ? r->repeats + 1 : 1;
    r->repeat_hash = hash;
    if (r->repeats >= HOB_REPEATS_REFUSE) r->stuck = true;
}

static void tool_decided(hob_run *r, hob_call *c, const hob_json *d) {
    hob_str decision = hob_json_get_str(d, "decision");
    if (c->state == HOB_CALL_NEW) count_repeats(r, c);
    c->class_ = class_from(hob_json_get_str(d, "class"));
    c->warn = hob_json_get_bool(d, "warning", false);
    c->invalid = hob_json_get_bool(d, "invalid", false);
    c->beside = hob_json_get_bool(d, "parallel", false);
    c->declined = false;
    c->reason = hob_arena_dup(r->arena, hob_json_get_str(d, "reason"));
    c->state = hob_str_eqz(decision, "allow") ? HOB_CALL_ALLOWED
               : hob_str_eqz(decision, "ask") ? HOB_CALL_ASK
                                              : HOB_CALL_DENIED;
}

/* A question that was withdrawn leaves the call where it was: not started. */
static void approval_resolved(hob_run *r, hob_call *c, const hob_json *d) {
    hob_str by = hob_json_get_str(d, "by"), reason = hob_json_get_str(d, "reason");
    if (hob_json_get_bool(d, "approved", false)) {
        c->state = HOB_CALL_ALLOWED;
        c->approved = true;
        c->answer = hob_arena_dup(r->arena, hob_json_raw(hob_json_get(d, "answer")));
    } else if (hob_str_eqz(by, "end") || hob_str_eqz(by, "steer")) {
        c->state = HOB_CALL_ASK;
    } else {
        c->state = HOB_CALL_DENIED;
        c->declined = c->question;
        if (!reason.n && !c->question) reason = HOB_STR("the user refused it");
        c->reason = hob_arena_dup(r->arena, reason);
    }
}

static void tool_finished(hob_run *r, hob_call *c, const hob_json *d) {
    c->state = HOB_CALL_DONE;
    c->pending = hob_json_get_bool(d, "pending", false);
    r->fresh_bytes += hob_content_weight(hob_json_get(d, "content"));
    hob_call_read_actions(r, c, hob_json_get(d, "actions"));
    for (size_t i = 0; i < r->ncalls; i++)
        if (r->calls[i].state != HOB_CALL_DONE) return;
    r->phase = HOB_PHASE_READY;
    hob_run_batch_done(r);
}

void hob_run_call_event(hob_run *r, const hob_event *e, const hob_json *d) {
    if (hob_json_get(d, "child")) hob_run_child_event(r, e, d);
    hob_call *c = (hob_call *)hob_run_call(r, hob_json_get_str(d, "call"));
    if (!c || c->state == HOB_CALL_DONE) return; /* the first end wins */
    if (e->type == HOB_EVENT_TOOL_DECIDED) tool_decided(r, c, d);
    if (e->type == HOB_EVENT_APPROVAL_REQUESTED) {
        c->state = HOB_CALL_WAITING;
        c->question = hob_json_get(d, "question") != NULL;
        c->rule = hob_arena_dup(r->arena, hob_json_get_str(d, "rule"));
    }
    if (e->type == HOB_EVENT_APPROVAL_RESOLVED) approval_resolved(r, c, d);
    if (e->type == HOB_EVENT_TOOL_FINISHED) {
        hob_run_narrow(r, e->seq, hob_json_get(hob_json_get(d, "actions"), "narrow"));
        tool_finished(r, c, d);
    }
    if (e->type == HOB_EVENT_TOOL_STARTED) {
        if (!hob_json_get_bool(d, "again", false)) r->spent.tool_calls++;
        c->state = HOB_CALL_STARTED;
        c->started_seq = e->seq;
    }
}
