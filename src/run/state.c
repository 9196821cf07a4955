/*
 * state.c - what the calls of one answer do besides answering: changes of state, and wishes about how it goes on.
 *
 * The changes of all calls become one state_changed when the last of them has ended, whatever the order in which they
 * ended: they are laid over each other in the order of the calls. It is said before anything else, so it stands in the
 * same commit as the last result, and no model is asked without it.
 */
#include "run/run.h"

void hob_call_read_actions(hob_run *r, hob_call *c, const hob_json *actions) {
    c->delta = hob_arena_dup(r->arena, hob_json_raw(hob_json_get(actions, "state_delta")));
    c->removed = hob_arena_dup(r->arena, hob_json_raw(hob_json_get(actions, "removed")));
    c->temp = hob_arena_dup(r->arena, hob_json_raw(hob_json_get(actions, "temp")));
    c->transfer = hob_arena_dup(r->arena, hob_json_get_str(actions, "transfer"));
    c->escalate = hob_json_get_bool(actions, "escalate", false);
    c->skip_summarization = hob_json_get_bool(actions, "skip_summarization", false);
}

static bool changes(const hob_call *c) {
    return c->delta.n || c->removed.n || c->temp.n;
}

/* Of several wishes the last call's counts; the results are the answer only if every call says so. A receipt is enough
 * for now: whoever waits for the result need not be told more. */
void hob_run_batch_done(hob_run *r) {
    bool all = !r->cut, pending = false;
    for (size_t i = 0; i < r->ncalls; i++) {
        const hob_call *c = &r->calls[i];
        r->state_due = r->state_due || changes(c);
        r->escalate = r->escalate || c->escalate;
        if (c->transfer.n) r->transfer = c->transfer;
        all = all && c->skip_summarization;
        pending = pending || c->pending;
    }
    if (pending || (all && r->ncalls)) r->want_model = false;
}

void hob_run_batch_begin(hob_run *r) {
    r->state_due = r->escalate = false;
    r->transfer = HOB_STR_NULL;
}

void hob_run_read_wishes(hob_run *r, const hob_json *actions) {
    r->escalate = hob_json_get_bool(actions, "escalate", false);
    r->transfer = hob_arena_dup(r->arena, hob_json_get_str(actions, "transfer"));
}

/* ---- saying it --------------------------------------------------------------------------------- */

/* Names without their values: as if they were set to null, which is not written. */
static hob_str as_delta(hob_arena *a, hob_str names) {
    const hob_json *list;
    hob_buf b;
    hob_jsonw w;
    if (!names.n || hob_json_parse(a, names, NULL, &list, NULL) < 0) return HOB_STR_NULL;
    hob_buf_init(&b, HOB_EVENT_MAX);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    for (const hob_json *v = hob_json_first(list); v; v = hob_json_next(v)) {
        hob_jsonw_key_n(&w, hob_json_str(v));
        hob_jsonw_null(&w);
    }
    hob_jsonw_object_end(&w);
    hob_str made = b.err ? HOB_STR_NULL : hob_arena_dup(a, hob_buf_str(&b));
    hob_buf_finish(&b);
    return made;
}

/* What cannot be read was not written by hob, and changes nothing. */
static void lay_over(hob_state *overlay, hob_arena *a, hob_str delta, hob_str removed) {
    hob_change change;
    if (hob_change_init(&change, a, delta, removed, NULL) < 0) return;
    hob_overlay_add(overlay, &change);
    hob_change_finish(&change);
}

int hob_run_say_state(const hob_run *r, hob_draft *out) {
    hob_arena *a = hob_arena_create(0);
    hob_state overlay = {.count = 0};
    hob_str call = HOB_STR_NULL;
    size_t n = 0;
    for (size_t i = 0; i < r->ncalls; i++) {
        const hob_call *c = &r->calls[i];
        if (!changes(c)) continue;
        call = n++ ? HOB_STR_NULL : c->call;
        lay_over(&overlay, a, c->delta, c->removed);
        lay_over(&overlay, a, as_delta(a, c->temp), HOB_STR_NULL);
    }
    hob_jsonw w = hob_say(r, HOB_EVENT_STATE_CHANGED, out);
    out->cause = hob_str_z(r->message);
    hob_overlay_write(&overlay, "delta", &w);
    hob_jsonw_kstr_opt(&w, "call", call);
    hob_say_end(&w);
    hob_state_finish(&overlay);
    hob_arena_destroy(a);
    return HOB_SAID_LAST;
}

/* ---- temp: -------------------------------------------------------------------------------------- */

int hob_run_say_temp_lost(const hob_run *r, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_WARNING, out);
    hob_jsonw_kstr(&w, "code", HOB_STR("temp_lost"));
    hob_jsonw_kstr(&w, "text",
                   HOB_STR("the program that had the temp: state of this run is gone, and with it "
                           "the values"));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* Changes that the host makes meanwhile are not the batch's. */
void hob_run_state_changed(hob_run *r, const hob_event *e, const hob_json *d) {
    if (hob_json_count(hob_json_get(d, "temp"))) r->temp_named = true;
    if (!hob_str_eqz(e->author, "host")) r->state_due = false;
}
