/*
 * pending.c - effects that were decided and whose outcome is not known. A function of the state alone: this is why
 * a restart needs no code of its own.
 */
#include "run/run.h"

static hob_ending stop_of(const hob_run *r) {
    return r->hard ? HOB_ENDING_ABORT : r->ending;
}

static hob_effect tool_effect(const hob_run *r, const hob_call *c) {
    hob_effect e = {.kind = HOB_EFFECT_RUN_TOOL, .key = c->call, .call = c, .stop = stop_of(r)};
    if (c->class_ != HOB_TOOL_READ_ONLY) e.after_seq = c->started_seq;
    return e;
}

/* When the run must be looked at again though nothing happened: 0 = never. */
static int64_t next_due(const hob_run *r) {
    int64_t due = r->phase == HOB_PHASE_RETRY && !r->paused ? r->due : 0;
    if (r->limits.ms && r->active_since && !r->ending) {
        int64_t end = r->active_since + r->limits.ms - r->spent.ms;
        due = due ? HOB_MIN(due, end) : end;
    }
    return due;
}

size_t hob_run_pending(const hob_run *r, hob_effect out[HOB_EFFECTS_MAX]) {
    size_t n = 0;
    int64_t due = next_due(r);
    if (r->phase == HOB_PHASE_MODEL)
        out[n++] = (hob_effect){
            .kind = HOB_EFFECT_CALL_MODEL, .key = hob_str_z(r->message), .stop = stop_of(r)};
    for (size_t i = 0; r->phase == HOB_PHASE_TOOLS && i < r->ncalls && n < HOB_EFFECTS_MAX - 1; i++)
        if (r->calls[i].state == HOB_CALL_STARTED) out[n++] = tool_effect(r, &r->calls[i]);
    if (due) out[n++] = (hob_effect){.kind = HOB_EFFECT_TIMER, .key = HOB_STR("timer"), .due = due};
    return n;
}
