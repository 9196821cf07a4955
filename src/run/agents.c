/*
 * agents.c - a run whose work is done by the agents of a workflow.
 *
 * The run itself keeps what belongs to all of them: its message, the queues, limits and totals, its end. Each LLM agent
 * at work is a strand: a hob_run of its own on its branch, with its own steps and calls. agent/flow.c decides which agent
 * works when, and calls what stands here while it applies events: these functions are part of apply().
 */
#include "run/run.h"

void hob_run_strand_begin(hob_run *r, const hob_run *root, hob_str agent, hob_str branch) {
    hob_run_init(r, root->session_id);
    r->strand = true;
    r->settled = false;
    r->paused = root->paused;
    r->agent = agent;
    r->branch = branch;
    memcpy(r->id, root->id, sizeof r->id);
    r->last_seq = root->last_seq;
    r->spent.cost_known = true;
    r->phase = HOB_PHASE_READY;
    r->want_model = true;
}

void hob_run_strand_resume(hob_run *r, const hob_run *root) {
    memcpy(r->id, root->id, sizeof r->id);
    hob_run_mark_lost(r);
}

void hob_run_agents_begin(hob_run *root) {
    root->phase = HOB_PHASE_AGENTS;
    root->want_model = root->steered = false;
    root->agents_parked = false;
}

void hob_run_agents_end(hob_run *root, const hob_run *failed) {
    root->phase = HOB_PHASE_READY;
    root->want_model = root->steered = false;
    root->agents_parked = false;
    root->reserved.tokens = 0;
    root->reserved.usd = 0;
    if (!failed || root->ending) return;
    root->ending = failed->ending == HOB_ENDING_LIMIT ? HOB_ENDING_LIMIT : HOB_ENDING_FAILED;
    root->fail = failed->fail;
    memcpy(root->end_reason, failed->end_reason, sizeof root->end_reason);
}

void hob_run_agents_park(hob_run *root, bool parked, int64_t ts) {
    root->agents_parked = parked;
    root->last_ts = ts;
    hob_run_update_clock(root, ts);
}

void hob_run_agents_book(hob_run *root, const hob_spent *before, const hob_spent *now) {
    hob_spent *sum = &root->spent;
    sum->turns += now->turns - before->turns;
    sum->tool_calls += now->tool_calls - before->tool_calls;
    hob_usage used = now->usage;
    hob_usage_sub(&used, &before->usage);
    hob_usage_add(&sum->usage, &used);
    sum->cost_usd += now->cost_usd - before->cost_usd;
    sum->cost_known = sum->cost_known && now->cost_known;
}
