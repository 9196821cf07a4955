/*
 * flow_answer.c - functions of the host in a workflow: which are under way, and what their answers lead to.
 */
#include "agent/flow.h"

#include <stdio.h>

/* The agent's own words: of no turn of a model. */
hob_jsonw hob_flow_say(const hob_run *root, const hob_frame *fr, hob_event_type type,
                       hob_draft *out) {
    hob_jsonw w = hob_say(root, type, out);
    out->agent = hob_agent_name(fr->agent);
    out->branch = fr->branch ? hob_str_z(fr->branch) : HOB_STR_NULL;
    out->turn = 0;
    return w;
}

/* ---- answers of functions --------------------------------------------------------------------------------------- */

static void say_content(const hob_run *root, const hob_frame *fr, hob_str content, hob_draft *out) {
    char message[24];
    snprintf(message, sizeof message, "m%llu", (unsigned long long)root->last_seq + 1);
    hob_jsonw w = hob_flow_say(root, fr, HOB_EVENT_ASSISTANT_MESSAGE, out);
    out->is_entry = true;
    out->author = hob_agent_name(fr->agent);
    hob_jsonw_kstr(&w, "message", hob_str_z(message));
    hob_jsonw_kstr(&w, "model", HOB_STR(""));
    hob_jsonw_kstr(&w, "stop", HOB_STR("done"));
    hob_jsonw_kraw(&w, "content", content);
    hob_usage_write(&w, "usage", &(hob_usage){0});
    hob_jsonw_kint(&w, "cost_usd", 0);
    hob_jsonw_kstr(&w, "by", hob_str_z(hob_point_name(fr->point)));
    hob_say_end(&w);
}

static void say_delta(const hob_run *root, const hob_frame *fr, const hob_flow_answer *a,
                      hob_draft *out) {
    hob_jsonw w = hob_flow_say(root, fr, HOB_EVENT_STATE_CHANGED, out);
    hob_overlay_write(a->changes, "delta", &w);
    hob_say_end(&w);
}

static void say_answered(const hob_run *root, const hob_frame *fr, const hob_flow_answer *a,
                         hob_draft *out) {
    hob_jsonw w = hob_flow_say(root, fr, HOB_EVENT_CALLBACK_FINISHED, out);
    hob_jsonw_kstr(&w, "agent", hob_agent_name(fr->agent));
    hob_jsonw_kstr(&w, "point", hob_str_z(hob_point_name(fr->point)));
    hob_jsonw_kstr(&w, "outcome", hob_str_z(hob_outcome_name(a->outcome)));
    hob_jsonw_kbool(&w, "spoke", fr->spoke);
    if (a->escalate) hob_jsonw_kbool(&w, "escalate", true);
    hob_jsonw_kstr_opt(&w, "transfer", a->transfer);
    hob_jsonw_kstr_opt(&w, "reason", a->text);
    hob_say_end(&w);
}

int hob_flow_answered(const hob_flow *f, const hob_run *root, const hob_flow_answer *a,
                      hob_draft *out, hob_error *err) {
    const hob_frame *fr = &f->frames[a->frame];
    bool ok = a->outcome == HOB_OUTCOME_OK;
    if (fr->state != HOB_FRAME_ACTIVE || !fr->point)
        return hob_fail(err, HOB_EEXIST, 0, "the agent %s waits for no answer", fr->agent->o.name);
    if (ok && a->changes && a->changes->count && !fr->said_state) {
        say_delta(root, fr, a, out);
        return HOB_SAID_MORE;
    }
    if (ok && a->content.n && !fr->spoke) {
        say_content(root, fr, a->content, out);
        return HOB_SAID_MORE;
    }
    say_answered(root, fr, a, out);
    return HOB_SAID_LAST;
}

/* ---- pending -------------------------------------------------------------------------------------------------------- */

size_t hob_flow_pending(const hob_flow *f, size_t frame, const hob_run *root,
                        hob_effect out[HOB_EFFECTS_MAX]) {
    const hob_frame *fr = &f->frames[frame];
    if (fr->state != HOB_FRAME_ACTIVE || root->phase != HOB_PHASE_AGENTS) return 0;
    if (fr->agent->o.kind == HOB_AGENT_LLM && !fr->point) return hob_run_pending(fr->run, out);
    if (!fr->point || fr->lost) return 0;
    out[0] = (hob_effect){.kind = HOB_EFFECT_CALL_AGENT,
                          .key = hob_str_z(hob_point_name(fr->point)),
                          .after_seq = fr->point_seq,
                          .stop = fr->run->hard ? HOB_ENDING_ABORT : fr->run->ending};
    return 1;
}
