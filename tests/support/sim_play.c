#include "support/sim_play.h"

#include "support/check.h"

#include <stdio.h>

/* ---- one agent -------------------------------------------------------------------------------- */

static void as(sim *s, const char *agent) {
    sim_as(s, agent);
    if (s->flow->frames[s->who].state != HOB_FRAME_ACTIVE) fail_msg("%s is not at work", agent);
}

static void was_said(sim *s, int said) {
    if (said < 0) fail_msg("%s", s->err.message);
    assert_true(said > 0);
    s->who = -1;
    sim_refold(s);
}

void agent_says(sim *s, const char *agent, const char *text) {
    as(s, agent);
    was_said(s, sim_done(s, text));
}

void agent_calls(sim *s, const char *agent, const char *calls) {
    as(s, agent);
    was_said(s, sim_calls(s, calls));
}

void agent_acts(sim *s, const char *agent, int k, const char *actions) {
    char call[64];
    as(s, agent);
    snprintf(call, sizeof call, "%s.%d", sim_run_of(s)->message, k);
    was_said(s, actions ? sim_actions(s, call, actions) : sim_ok(s, call));
}

void agent_may(sim *s, const char *agent, int k, bool approved) {
    char call[64];
    as(s, agent);
    snprintf(call, sizeof call, "%s.%d", sim_run_of(s)->message, k);
    was_said(s, sim_verdict(s, call, approved, ""));
}

void agent_fails(sim *s, const char *agent, int code) {
    as(s, agent);
    was_said(s, sim_fail(s, code, -1, false));
}

/* ---- what is under way ------------------------------------------------------------------------ */

static size_t add_effects(sim *s, ptrdiff_t who, sim_effect *out, size_t n) {
    hob_effect list[HOB_EFFECTS_MAX];
    size_t found = who < 0 ? hob_run_pending(&s->run, list)
                           : hob_flow_pending(s->flow, (size_t)who, &s->run, list);
    for (size_t i = 0; i < found && n < SIM_EFFECTS_MAX; i++) {
        const hob_effect *e = &list[i];
        if (e->kind == HOB_EFFECT_TIMER) continue;
        out[n] = (sim_effect){.who = who, .kind = e->kind, .stop = e->stop != HOB_ENDING_NONE};
        hob_str_out(e->key, out[n].key, sizeof out[n].key);
        hob_str args = e->call ? e->call->args : HOB_STR_NULL; /* {"x":"…"} */
        if (e->call) hob_str_out(e->call->name, out[n].tool, sizeof out[n].tool);
        if (args.n > 8) hob_str_out(hob_str_n(args.p + 6, args.n - 8), out[n].arg, 64);
        n++;
    }
    return n;
}

size_t sim_effects(sim *s, sim_effect out[SIM_EFFECTS_MAX]) {
    size_t n = add_effects(s, -1, out, 0);
    for (size_t i = 0; s->flow && i < s->flow->n; i++) n = add_effects(s, (ptrdiff_t)i, out, n);
    return n;
}

static int64_t due_of(const hob_effect *list, size_t n, int64_t due) {
    for (size_t i = 0; i < n; i++)
        if (list[i].kind == HOB_EFFECT_TIMER && (!due || list[i].due < due)) due = list[i].due;
    return due;
}

int64_t sim_due(sim *s) {
    hob_effect list[HOB_EFFECTS_MAX];
    int64_t due = due_of(list, hob_run_pending(&s->run, list), 0);
    for (size_t i = 0; s->flow && i < s->flow->n; i++)
        due = due_of(list, hob_flow_pending(s->flow, i, &s->run, list), due);
    return due;
}

/* ---- how it ends -------------------------------------------------------------------------------- */

static void play_model(sim *s, const sim_effect *e) {
    const hob_frame *fr = e->who < 0 ? NULL : &s->flow->frames[e->who];
    const char *name = fr ? fr->agent->o.name : "run";
    char calls[100] = "";
    s->who = e->who;
    if (e->stop) {
        sim_stopped(s, "half", NULL);
        return;
    }
    if (sim_run_of(s)->turn == 1 && name[0] == 't')
        snprintf(calls, sizeof calls, "send:%s look:%s put:%s", name, name, name);
    if (sim_run_of(s)->turn == 1 && name[0] == 's') snprintf(calls, sizeof calls, "keep:%s", name);
    if (sim_run_of(s)->turn == 1 && name[0] == 'q') snprintf(calls, sizeof calls, "quit:%s", name);
    if (sim_run_of(s)->turn == 1 && name[0] == 'h' && fr->agent->n)
        snprintf(calls, sizeof calls, "hand:%s", fr->agent->agents[0]->o.name);
    if (sim_run_of(s)->turn == 1 && name[0] == 'b')
        snprintf(calls, sizeof calls, "hand:%s", s->flow->frames[fr->parent].agent->o.name);
    sim_answer(s, name, calls, *calls ? HOB_STOP_TOOLS : HOB_STOP_DONE);
}

static void play_tool(sim *s, const sim_effect *e) {
    char actions[200];
    s->who = e->who;
    if (e->stop) {
        sim_result(s, e->key, HOB_OUTCOME_CANCELLED, "stopped");
        return;
    }
    if (!strcmp(e->tool, "keep"))
        snprintf(actions, sizeof actions, "{'state_delta':{'k':'%s'}}", e->arg);
    else if (!strcmp(e->tool, "quit"))
        snprintf(actions, sizeof actions, "{'escalate':true}");
    else if (!strcmp(e->tool, "hand"))
        snprintf(actions, sizeof actions, "{'transfer':'%s'}", e->arg);
    else
        snprintf(actions, sizeof actions, "{}");
    sim_actions(s, e->key, actions);
}

void sim_play(sim *s, const sim_effect *e) {
    switch (e->kind) {
    case HOB_EFFECT_CALL_MODEL: play_model(s, e); break;
    case HOB_EFFECT_RUN_TOOL: play_tool(s, e); break;
    case HOB_EFFECT_CALL_AGENT:
        sim_answered(s, s->flow->frames[e->who].agent->o.name,
                     e->stop ? HOB_OUTCOME_CANCELLED : HOB_OUTCOME_OK,
                     strcmp(e->key, "run") ? NULL : "did it", NULL);
        break;
    case HOB_EFFECT_TIMER:
    case HOB_EFFECT_COUNT_: break;
    }
    s->who = -1;
}

static bool approve(sim *s, ptrdiff_t who, bool yes) {
    char call[64];
    s->who = who;
    const hob_run *r = sim_run_of(s);
    for (size_t i = 0; i < r->ncalls; i++) {
        if (r->calls[i].state != HOB_CALL_WAITING) continue;
        hob_str_out(r->calls[i].call, call, sizeof call);
        sim_verdict(s, call, yes, "");
        s->who = -1;
        return true;
    }
    s->who = -1;
    return false;
}

bool sim_approve(sim *s, bool yes) {
    if (approve(s, -1, yes)) return true;
    for (size_t i = 0; s->flow && i < s->flow->n; i++)
        if (s->flow->frames[i].state == HOB_FRAME_ACTIVE && approve(s, (ptrdiff_t)i, yes))
            return true;
    return false;
}

void sim_play_out(sim *s) {
    sim_effect list[SIM_EFFECTS_MAX];
    for (int i = 0; hob_run_active(&s->run); i++) {
        assert_in_range(i, 0, 5000);
        if (sim_effects(s, list))
            sim_play(s, &list[0]);
        else if (hob_run_held(&s->run) && hob_run_parked(&s->run))
            sim_pause(s, false);
        else if (!sim_approve(s, true) && sim_due(s))
            sim_tick(s, HOB_MAX(sim_due(s) - s->env.now, 0));
        else if (hob_run_active(&s->run) && !sim_effects(s, list) && !sim_due(s) &&
                 !hob_run_parked(&s->run))
            fail_msg("stuck after %s", sim_line(s, s->n - 1));
    }
    assert_int_equal(sim_effects(s, list), 0);
    assert_true(s->run.settled);
}
