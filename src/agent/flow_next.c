/*
 * flow_next.c - which agent works next. Read hob_flow_next() at the end first.
 *
 * A frame that is active is asked what it does next; a workflow agent asks its agents. What comes back is either
 * something said, or that nothing can be said now, or that the agent is at its end: then its end is told.
 */
#include "agent/flow.h"

#include <stdio.h>

typedef struct next {
    const hob_flow *f;
    const hob_run *root;
    const hob_flow_env *env;
    hob_draft *out;
    bool others_first; /* nobody ends the run with a limit while another can go on */
} next;

/* How the work of an agent ended. */
typedef struct ending {
    const char *status; /* NULL = not yet */
    char reason[200];
    hob_fault fault; /* code 0 = none */
    hob_str transfer;
    bool escalate;
} ending;

static int ask(const next *n, size_t i);

/* ---- saying ----------------------------------------------------------------------------------------- */

static hob_jsonw say(const next *n, const hob_frame *fr, hob_event_type type) {
    return hob_flow_say(n->root, fr, type, n->out);
}

/* One that was handed over to works where the other did. */
static void branch_of(const next *n, size_t i, size_t slot) {
    const hob_frame *up = &n->f->frames[n->f->frames[slot].parent];
    hob_str base = slot && up->branch ? hob_str_z(up->branch) : HOB_STR_NULL;
    if (slot != i && n->f->frames[slot].branch) base = hob_str_z(n->f->frames[slot].branch);
    hob_buf *made = &n->out->made;
    hob_buf_add(made, base);
    if (slot == i && slot && up->agent->o.kind == HOB_AGENT_PARALLEL)
        hob_buf_addf(made, "%s%s.%s", base.n ? "." : "", up->agent->o.name,
                     n->f->frames[i].agent->o.name);
    n->out->branch = hob_buf_str(made);
}

static int start(const next *n, size_t i, size_t slot, int iteration) {
    const hob_frame *fr = &n->f->frames[i], *place = &n->f->frames[slot];
    if (hob_run_held(n->root)) return HOB_SAID_NOTHING;
    hob_jsonw w = say(n, fr, HOB_EVENT_AGENT_STARTED);
    branch_of(n, i, slot);
    hob_jsonw_kstr(&w, "agent", hob_agent_name(fr->agent));
    hob_jsonw_kstr(&w, "kind", hob_str_z(hob_agent_kind_name(fr->agent->o.kind)));
    if (slot != i) hob_jsonw_kstr(&w, "slot", hob_agent_name(place->agent));
    if (iteration) hob_jsonw_kint(&w, "iteration", iteration);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int finish(const next *n, size_t i, const ending *e) {
    const hob_frame *fr = &n->f->frames[i];
    hob_jsonw w = say(n, fr, HOB_EVENT_AGENT_FINISHED);
    hob_jsonw_kstr(&w, "agent", hob_agent_name(fr->agent));
    hob_jsonw_kstr(&w, "status", hob_str_z(e->status));
    hob_jsonw_kstr_opt(&w, "reason", hob_str_z(e->reason));
    hob_jsonw_kstr_opt(&w, "transfer", e->transfer);
    if (e->escalate) hob_jsonw_kbool(&w, "escalate", true);
    if (e->fault.code) hob_say_error(&w, &e->fault);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int call_back(const next *n, size_t i, hob_point p) {
    const hob_frame *fr = &n->f->frames[i];
    if (hob_run_held(n->root)) return HOB_SAID_NOTHING;
    hob_jsonw w = say(n, fr, HOB_EVENT_CALLBACK_STARTED);
    hob_jsonw_kstr(&w, "agent", hob_agent_name(fr->agent));
    hob_jsonw_kstr(&w, "point", hob_str_z(hob_point_name(p)));
    if (fr->lost) hob_jsonw_kbool(&w, "again", true);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* ---- the end of an agent ---------------------------------------------------------------------------------- */

/* Text, or what the schema promises. */
void hob_flow_output(const hob_frame *fr, hob_buf *out) {
    hob_str text = hob_str_n(fr->text, fr->text_n);
    if (fr->agent->schema)
        hob_buf_add(out, hob_str_trim(text));
    else
        hob_json_quote(out, text);
}

static int store_output(const next *n, size_t i) {
    const hob_frame *fr = &n->f->frames[i];
    hob_jsonw w = say(n, fr, HOB_EVENT_STATE_CHANGED);
    hob_state change = {.count = 0};
    hob_buf value;
    hob_buf_init(&value, HOB_EVENT_MAX);
    hob_flow_output(fr, &value);
    hob_state_assign(&change, hob_str_z(fr->agent->o.output_key), hob_buf_str(&value));
    hob_overlay_write(&change, "delta", &w);
    hob_state_finish(&change);
    hob_buf_finish(&value);
    hob_jsonw_kbool(&w, "output", true);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int check_output(const hob_frame *fr, hob_error *err) {
    const hob_json *v = NULL;
    hob_str text = hob_str_n(fr->text, fr->text_n);
    if (!fr->agent->schema) return HOB_OK;
    hob_arena *a = hob_arena_create(0);
    int rc = hob_json_parse(a, text, NULL, &v, err);
    if (rc >= 0) rc = hob_schema_check(fr->agent->schema, v, err);
    hob_arena_destroy(a);
    return rc;
}

static void fail_with(ending *e, const char *what, const char *why) {
    e->status = "failed";
    e->fault = (hob_fault){.code = HOB_EAGENT};
    snprintf(e->fault.message, sizeof e->fault.message, "%.150s: %.300s", what, why);
}

/* After its own work: the output, the last word of the host, the end. */
static int wind_up(const next *n, size_t i, ending *e) {
    const hob_frame *fr = &n->f->frames[i];
    bool well = !strcmp(e->status, "completed");
    hob_error err = {.code = HOB_OK};
    if (well && fr->text && !fr->stored && !fr->replaced) {
        well = check_output(fr, &err) >= 0;
        if (!well) fail_with(e, "the answer does not fit output_schema", err.message);
        if (well && fr->agent->o.output_key) return store_output(n, i);
    }
    bool asked = fr->passed & 1u << HOB_POINT_AFTER || n->root->ending;
    if (well && !asked && hob_flow_calls(n->f, fr, HOB_POINT_AFTER))
        return call_back(n, i, HOB_POINT_AFTER);
    return finish(n, i, e);
}

/* ---- kinds of agents: each says something, or nothing, or fills in the end --------------------------------- */

static void transfer(const next *n, const hob_frame *fr, ending *e) {
    ptrdiff_t to = hob_flow_index(n->f, fr->run->transfer);
    char whom[80];
    snprintf(whom, sizeof whom, "it asked for \"%.64s\"", fr->run->transfer.p);
    if (to < 0 || !hob_flow_may_transfer(n->f, (size_t)(fr - n->f->frames), (size_t)to)) {
        fail_with(e, "the agent handed over to one that it cannot hand over to", whom);
    } else if (n->f->frames[fr->slot].transfers >= HOB_TRANSFERS_MAX) {
        fail_with(e, "the agents handed over to each other too often", "no end is in sight");
    } else {
        e->status = "transferred";
        e->transfer = fr->run->transfer;
    }
}

static void end_of_strand(const next *n, const hob_frame *fr, ending *e) {
    const hob_run *r = fr->run;
    e->status = hob_run_status(r);
    e->escalate = fr->escalated;
    snprintf(e->reason, sizeof e->reason, "%s", r->end_reason);
    if (!strcmp(e->status, "failed")) e->fault = r->fail;
    if (!strcmp(e->status, "completed") && r->transfer.n) transfer(n, fr, e);
}

static int next_llm(const next *n, size_t i, ending *e) {
    const hob_frame *fr = &n->f->frames[i];
    hob_run_env env;
    n->env->strand(n->env->user, i, &env);
    env.others_first = n->others_first;
    int said = hob_run_decide(fr->run, &env, &(hob_input){.kind = HOB_INPUT_NEXT}, n->out, NULL);
    if (said != HOB_SAID_END) return said;
    end_of_strand(n, fr, e);
    return HOB_SAID_NOTHING;
}

static int next_custom(const next *n, size_t i, ending *e) {
    const hob_frame *fr = &n->f->frames[i];
    if (!(fr->passed & 1u << HOB_POINT_RUN) && !fr->run->ending)
        return call_back(n, i, HOB_POINT_RUN);
    end_of_strand(n, fr, e);
    return HOB_SAID_NOTHING;
}

static size_t child(const next *n, size_t i, size_t k) {
    size_t at = i + 1;
    for (size_t j = 0; j < k; j++) at += n->f->frames[at].agent->total;
    return at;
}

/* The one who holds the slot goes on; one that was handed over to begins. */
static int go_on(const next *n, size_t slot) {
    size_t holder = n->f->frames[slot].holder;
    if (hob_flow_slot_vacant(n->f, slot)) return start(n, holder, slot, 0);
    return ask(n, holder);
}

/* Nothing begins once the run is ending. */
static int end_with_run(const next *n, ending *e) {
    e->status = hob_run_status(n->root);
    snprintf(e->reason, sizeof e->reason, "%s", n->root->end_reason);
    return HOB_SAID_NOTHING;
}

static void copy_end(const next *n, size_t slot, ending *e) {
    const hob_frame *h = &n->f->frames[n->f->frames[slot].holder];
    if (n->root->ending) {
        end_with_run(n, e);
        return;
    }
    e->status = "failed";
    snprintf(e->reason, sizeof e->reason, "%s%s%.100s", h->agent->o.name,
             h->run->end_reason[0] ? ": " : " did not complete", h->run->end_reason);
    e->fault = h->run->fail;
    if (e->fault.code) return;
    e->fault.code = HOB_EAGENT;
    snprintf(e->fault.message, sizeof e->fault.message, "%s", e->reason);
}

static bool ended_well(const next *n, size_t slot) {
    return n->f->frames[n->f->frames[slot].holder].completed;
}

static bool escalated(const next *n, size_t slot) {
    return n->f->frames[n->f->frames[slot].holder].escalated;
}

static int next_sequence(const next *n, size_t i, ending *e) {
    const hob_frame *fr = &n->f->frames[i];
    bool loop = fr->agent->o.kind == HOB_AGENT_LOOP;
    for (size_t k = 0; k < fr->agent->n; k++) {
        size_t c = child(n, i, k);
        bool vacant = hob_flow_slot_vacant(n->f, c), fresh = vacant && n->f->frames[c].holder == c;
        if (vacant && n->root->ending) return end_with_run(n, e);
        if (fresh && loop && !k) return start(n, c, c, HOB_MAX(fr->iteration, 1));
        if (!hob_flow_slot_done(n->f, c)) return go_on(n, c);
        if (!ended_well(n, c)) {
            copy_end(n, c, e);
            return HOB_SAID_NOTHING;
        }
        e->escalate = e->escalate || escalated(n, c);
        if (e->escalate && (loop || hob_agent_has(fr->agent, HOB_AGENT_STOP_ON_ESCALATE))) break;
    }
    e->status = "completed";
    return HOB_SAID_NOTHING;
}

/* Escalating ends the nearest loop, and no other. */
static int next_loop(const next *n, size_t i, ending *e) {
    const hob_frame *fr = &n->f->frames[i];
    int said = next_sequence(n, i, e);
    if (said || !e->status || strcmp(e->status, "completed")) return said;
    bool out = e->escalate || fr->iteration >= fr->agent->o.max_iterations;
    e->escalate = false;
    if (out) return HOB_SAID_NOTHING;
    if (n->root->ending) return end_with_run(n, e);
    e->status = NULL;
    size_t first = child(n, i, 0);
    return start(n, first, first, fr->iteration + 1);
}

/* All begin before the first is asked; all come to their end. The first in order that failed says why. */
static int next_parallel(const next *n, size_t i, ending *e) {
    const hob_frame *fr = &n->f->frames[i];
    bool all = true;
    for (size_t k = 0; k < fr->agent->n; k++) {
        size_t c = child(n, i, k);
        if (hob_flow_slot_vacant(n->f, c) && !n->root->ending) return go_on(n, c);
    }
    for (size_t k = 0; k < fr->agent->n; k++) {
        size_t c = child(n, i, k);
        if (hob_flow_slot_vacant(n->f, c) || hob_flow_slot_done(n->f, c)) continue;
        int said = go_on(n, c);
        if (said) return said;
        all = false;
    }
    if (!all) return HOB_SAID_NOTHING;
    e->status = "completed";
    for (size_t k = 0; k < fr->agent->n; k++) {
        size_t c = child(n, i, k);
        if (hob_flow_slot_vacant(n->f, c)) return end_with_run(n, e);
        e->escalate = e->escalate || escalated(n, c);
        if (ended_well(n, c)) continue;
        copy_end(n, c, e);
        return HOB_SAID_NOTHING;
    }
    return HOB_SAID_NOTHING;
}

static bool holds(const next *n, const hob_agent *a) {
    if (a->o.condition) return hob_condition_holds(hob_str_z(a->o.condition), n->env->state);
    return a->o.holds(n->env->state, a->o.user) != 0;
}

/* What was chosen is what was started: the question is asked once. */
static int next_conditional(const next *n, size_t i, ending *e) {
    const hob_agent *a = n->f->frames[i].agent;
    bool over = n->f->frames[i].passed & 1u << HOB_POINT_AFTER; /* none was chosen */
    for (size_t k = 0; k < a->n; k++) {
        size_t c = child(n, i, k);
        bool vacant = hob_flow_slot_vacant(n->f, c);
        if (vacant && !n->f->frames[c].transfers) continue;
        if (vacant && n->root->ending) return end_with_run(n, e);
        if (!hob_flow_slot_done(n->f, c)) return go_on(n, c);
        e->status = "completed";
        e->escalate = escalated(n, c);
        if (!ended_well(n, c)) copy_end(n, c, e);
        return HOB_SAID_NOTHING;
    }
    if (n->root->ending) return end_with_run(n, e);
    size_t k = over || holds(n, a) ? 0 : 1;
    if (k < a->n && !over) return start(n, child(n, i, k), child(n, i, k), 0);
    e->status = "completed";
    return HOB_SAID_NOTHING;
}

/* ---- one frame --------------------------------------------------------------------------------------------- */

static int work(const next *n, size_t i, ending *e) {
    switch (n->f->frames[i].agent->o.kind) {
    case HOB_AGENT_LLM: return next_llm(n, i, e);
    case HOB_AGENT_SEQUENTIAL: return next_sequence(n, i, e);
    case HOB_AGENT_PARALLEL: return next_parallel(n, i, e);
    case HOB_AGENT_LOOP: return next_loop(n, i, e);
    case HOB_AGENT_CONDITIONAL: return next_conditional(n, i, e);
    case HOB_AGENT_CUSTOM: return next_custom(n, i, e);
    }
    return HOB_SAID_NOTHING;
}

static int say_point_lost(const next *n, const hob_frame *fr) {
    hob_jsonw w = say(n, fr, HOB_EVENT_CALLBACK_FINISHED);
    hob_jsonw_kstr(&w, "agent", hob_agent_name(fr->agent));
    hob_jsonw_kstr(&w, "point", hob_str_z(hob_point_name(fr->point)));
    hob_jsonw_kstr(&w, "outcome", HOB_STR("unknown"));
    hob_jsonw_kbool(&w, "spoke", false);
    hob_jsonw_kstr(
        &w, "reason",
        HOB_STR(
            "the program stopped while this agent was at work: it may have done some, all or none "
            "of it"));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* A function whose process is gone is called again only if that does no harm. */
static int next_point(const next *n, size_t i) {
    const hob_frame *fr = &n->f->frames[i];
    bool again = fr->point != HOB_POINT_RUN || hob_agent_has(fr->agent, HOB_AGENT_RESTARTABLE);
    if (!fr->lost) return HOB_SAID_NOTHING;
    return again && !n->root->ending ? call_back(n, i, fr->point) : say_point_lost(n, fr);
}

static int ask(const next *n, size_t i) {
    const hob_frame *fr = &n->f->frames[i];
    ending e = {.status = NULL};
    if (fr->state != HOB_FRAME_ACTIVE) return HOB_SAID_NOTHING;
    if (fr->point) return next_point(n, i);
    bool fresh = !(fr->passed & 1u << HOB_POINT_BEFORE);
    if (fresh && hob_flow_calls(n->f, fr, HOB_POINT_BEFORE) && !fr->run->ending)
        return call_back(n, i, HOB_POINT_BEFORE);
    if (fr->replaced || fr->faulted)
        end_of_strand(n, fr, &e);
    else if (work(n, i, &e) != HOB_SAID_NOTHING)
        return HOB_SAID_LAST;
    e.escalate = e.escalate || fr->escalated; /* also by its own callbacks */
    return e.status ? wind_up(n, i, &e) : HOB_SAID_NOTHING;
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */

static bool may_be_left(const hob_agent *a) {
    return a->o.kind == HOB_AGENT_LLM && !hob_agent_has(a, HOB_AGENT_NO_PARENT_TRANSFER);
}

/* Whose pending call has its result goes on. Else who spoke last, if it and all above it are LLM agents that could hand the conversation back. */
static size_t first_holder(const hob_flow *f, const hob_run *root, hob_str last) {
    ptrdiff_t caller = root->caller[0] ? hob_flow_index(f, hob_str_z(root->caller)) : -1;
    if (caller >= 0 && f->frames[caller].agent->o.kind == HOB_AGENT_LLM) return (size_t)caller;
    ptrdiff_t i = last.n ? hob_flow_index(f, last) : -1;
    if (i < 0) return 0;
    for (size_t k = (size_t)i; k != 0; k = f->frames[k].parent)
        if (!may_be_left(f->frames[k].agent)) return 0;
    return f->frames[0].agent->o.kind == HOB_AGENT_LLM ? (size_t)i : 0;
}

static int say_conflicts(const hob_flow *f, const hob_run *root, hob_draft *out) {
    hob_jsonw w = hob_say(root, HOB_EVENT_WARNING, out);
    hob_buf text;
    hob_buf_init(&text, 1u << 17);
    hob_buf_addf(&text, "set by agents that work side by side, the later one counts: %.*s",
                 HOB_FMT(hob_buf_str(&f->conflicts)));
    hob_jsonw_kstr(&w, "code", HOB_STR("state_conflict"));
    hob_jsonw_kstr(&w, "text", hob_buf_str(&text));
    hob_say_end(&w);
    hob_buf_finish(&text);
    return HOB_SAID_LAST;
}

/* A call of a strand or a function of the host, or one that is to be asked for again soon. */
static bool is_under_way(const hob_flow *f) {
    for (size_t i = 0; i < f->n; i++) {
        const hob_frame *fr = &f->frames[i];
        if (fr->state != HOB_FRAME_ACTIVE) continue;
        if (fr->point || fr->run->phase == HOB_PHASE_MODEL || fr->run->phase == HOB_PHASE_RETRY)
            return true;
        for (size_t k = 0; fr->run->phase == HOB_PHASE_TOOLS && k < fr->run->ncalls; k++)
            if (fr->run->calls[k].state == HOB_CALL_STARTED) return true;
    }
    return false;
}

/* What is under way is within the limits, and what was reserved for it and not used is there for others again: so a
 * limit is the last thing to be said. */
int hob_flow_next(const hob_flow *f, const hob_run *root, const hob_flow_env *env, hob_draft *out) {
    next n = {f, root, env, out, true};
    if (root->phase == HOB_PHASE_READY && root->want_model && !root->ending && !root->lost_model)
        return start(&n, first_holder(f, root, env->last_agent), 0, 0);
    if (root->phase != HOB_PHASE_AGENTS) return HOB_SAID_NOTHING;
    if (f->conflicts.n) return say_conflicts(f, root, out);
    int said = go_on(&n, 0);
    if (said || is_under_way(f)) return said;
    n.others_first = false;
    return go_on(&n, 0);
}
