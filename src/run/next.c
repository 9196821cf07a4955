/*
 * next.c - the loop itself: given where the run stands and nothing new, what is written next?
 *
 *     prompt -> ready -> model -> tools -> ready -> model -> ... -> ready -> run_finished -> settled
 *
 * Read hob_run_next() at the end first; each phase is one function above it.
 */
#include "run/run.h"

#include <stdio.h>

/* ---- the end of a run -------------------------------------------------------------------------- */

const char *hob_run_status(const hob_run *r) {
    switch (r->ending) {
    case HOB_ENDING_NONE: return r->phase == HOB_PHASE_FAILED ? "failed" : "completed";
    case HOB_ENDING_CANCEL:
    case HOB_ENDING_ABORT: return "cancelled";
    case HOB_ENDING_SETTLE: return "interrupted";
    case HOB_ENDING_LIMIT: return "limit";
    case HOB_ENDING_FAILED: return "failed";
    }
    return "failed";
}

void hob_say_error(hob_jsonw *w, const hob_fault *f) {
    hob_jsonw_key(w, "error");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "code", hob_str_z(hob_error_name(f->code)));
    if (f->sub) hob_jsonw_kint(w, "status", f->sub);
    hob_jsonw_kstr(w, "message", hob_str_z(f->message));
    hob_jsonw_kbool(w, "retryable", f->retryable);
    hob_jsonw_object_end(w);
}

int hob_say_finished(const hob_run *r, const char *status, int64_t now, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_RUN_FINISHED, out);
    hob_jsonw_kstr(&w, "status", hob_str_z(status));
    hob_jsonw_kstr_opt(&w, "reason", hob_str_z(r->end_reason));
    if (!strcmp(status, "failed")) hob_say_error(&w, &r->fail);
    hob_spent_write(&w, &r->spent);
    hob_jsonw_kint(&w, "duration_ms", hob_run_elapsed(r, now));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* Not before everything that works for it has ended. */
static int finish(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    if (hob_run_has_children(r)) return HOB_SAID_NOTHING;
    if (r->strand) return HOB_SAID_END;
    return hob_say_finished(r, hob_run_status(r), env->now, out);
}

/* ---- asking the model --------------------------------------------------------------------------- */

static int say_discarded(const hob_run *r, const char *reason, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_TURN_DISCARDED, out);
    hob_jsonw_kstr(&w, "message", hob_str_z(r->message));
    hob_jsonw_kstr(&w, "reason", hob_str_z(reason));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* 80 % of a budget is said once. */
static int say_threshold(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    const hob_run *p = hob_run_purse(r, env);
    double used[2] = {(double)hob_usage_total(&p->spent.usage), p->spent.cost_usd};
    double max[2] = {(double)p->limits.tokens, p->limits.cost_usd};
    static const char *const names[2] = {"tokens", "cost"};
    for (int i = 0; i < 2; i++) {
        if (max[i] <= 0 || used[i] < 0.8 * max[i] || (p->thresholds & (1 << i))) continue;
        hob_jsonw w = hob_say(r, HOB_EVENT_BUDGET_THRESHOLD, out);
        hob_jsonw_kstr(&w, "limit", hob_str_z(names[i]));
        hob_jsonw_kint(&w, "percent", 80);
        hob_jsonw_key(&w, "value");
        hob_jsonw_double(&w, used[i]);
        hob_jsonw_key(&w, "max");
        hob_jsonw_double(&w, max[i]);
        hob_say_end(&w);
        return HOB_SAID_LAST;
    }
    return HOB_SAID_NOTHING;
}

static int ask_model(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    bool again = hob_run_asks_again(r);
    hob_stopper over = hob_run_over(r, env);
    char message[24];
    int64_t prompt, output;
    if (over.limit && env->others_first && !over.own) return HOB_SAID_NOTHING;
    if (over.limit) return hob_run_say_over(r, env, over, out);
    if (say_threshold(r, env, out)) return HOB_SAID_LAST;
    hob_run_reserve(r, env, &prompt, &output);
    snprintf(message, sizeof message, "m%llu", (unsigned long long)r->last_seq + 1);
    hob_jsonw w = hob_say(r, HOB_EVENT_MODEL_CALL_STARTED, out);
    out->turn = again ? r->turn : r->turn + 1;
    hob_jsonw_kstr(&w, "model", env->model);
    hob_jsonw_kint(&w, "attempt", again ? r->attempt + (r->phase == HOB_PHASE_RETRY) : 1);
    hob_jsonw_kstr(&w, "message", hob_str_z(message));
    hob_jsonw_kint(&w, "reserved_tokens", prompt + output);
    hob_jsonw_kint(&w, "output_limit", output);
    if (r->strand && hob_run_purse(r, env)->limits.cost_usd > 0) {
        hob_jsonw_key(&w, "reserved_usd");
        hob_jsonw_double(&w, ((double)prompt * env->input_usd + (double)output * env->output_usd) /
                                 1e6);
    }
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* What the user says is said to all strands. */
static int deliver_steer(const hob_run *r, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_STEER_DELIVERED, out);
    out->is_entry = true;
    out->author = HOB_STR("user");
    hob_jsonw_kstr(&w, "item", hob_str_z(r->steer.at[0].item));
    hob_jsonw_kraw(&w, "content", hob_str_z(r->steer.at[0].content));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* ---- phases -------------------------------------------------------------------------------------- */

static int next_ready(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    if (r->state_due) return hob_run_say_state(r, out);
    if (r->lost_model) return say_discarded(r, "the program that was receiving it stopped", out);
    if (r->ending) return finish(r, env, out);
    if (r->paused) return HOB_SAID_NOTHING;
    if (r->stuck && env->others_first) return HOB_SAID_NOTHING;
    if (r->stuck)
        return hob_say_limit(
            r,
            (hob_stopper){"repeated_action", HOB_REPEATS_REFUSE, HOB_REPEATS_REFUSE - 1, false, 0},
            out);
    const hob_run *queue = hob_run_purse(r, env);
    if (queue->steer.n && (!r->steered || env->steer_all)) return deliver_steer(queue, out);
    if (r->reports.n) return hob_run_say_report(r, out);
    if (!r->want_model || (r->strand && r->transfer.n)) return finish(r, env, out);
    return env->agents && !r->strand ? HOB_SAID_NOTHING : ask_model(r, env, out);
}

static bool may_retry(const hob_run *r, const hob_run_env *env) {
    return r->fail.retryable && r->attempt < env->retry_attempts &&
           r->fail.retry_after <= env->retry_cap_ms;
}

/* Half a second, doubled with each try, a quarter of it left to chance; what the provider asks for counts more. */
static int64_t retry_delay(const hob_run *r, const hob_run_env *env) {
    int64_t delay = 500, cap = env->retry_cap_ms;
    if (r->fail.retry_after >= 0) return r->fail.retry_after;
    for (int i = 1; i < r->attempt && delay < cap; i++) delay = delay > cap / 2 ? cap : delay * 2;
    delay = HOB_MIN(delay, cap);
    return delay - delay * (int64_t)r->fail.jitter / 4000;
}

static int schedule_retry(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    int64_t delay = retry_delay(r, env);
    hob_jsonw w = hob_say(r, HOB_EVENT_RETRY_SCHEDULED, out);
    hob_jsonw_kint(&w, "attempt", r->attempt + 1);
    hob_jsonw_kint(&w, "attempts", env->retry_attempts);
    hob_jsonw_kint(&w, "delay_ms", delay);
    hob_jsonw_kint(&w, "due", env->now + delay);
    hob_jsonw_kstr(&w, "error", hob_str_z(r->fail.message));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int next_failed(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    if (r->fail.shown) return say_discarded(r, r->fail.message, out);
    if (hob_run_held(r)) return HOB_SAID_NOTHING;
    if (!r->ending && may_retry(r, env)) return schedule_retry(r, env, out);
    return finish(r, env, out);
}

static int next_retry(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    if (r->ending) return finish(r, env, out);
    return !r->paused && env->now >= r->due ? ask_model(r, env, out) : HOB_SAID_NOTHING;
}

/* ---- between runs ---------------------------------------------------------------------------------- */

static int deliver_follow_up(const hob_run *r, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_FOLLOW_UP_DELIVERED, out);
    hob_jsonw_kstr(&w, "item", hob_str_z(r->follow.at[0].item));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static void write_queue(hob_jsonw *w, const hob_queue *q, const char *kind) {
    for (size_t i = 0; i < q->n; i++) {
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "item", hob_str_z(q->at[i].item));
        hob_jsonw_kstr(w, "kind", hob_str_z(kind));
        hob_jsonw_kraw(w, "content", hob_str_z(q->at[i].content));
        hob_jsonw_object_end(w);
    }
}

static int return_queue(const hob_run *r, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_QUEUE_RETURNED, out);
    hob_jsonw_kstr(&w, "reason", hob_str_z(r->fate == HOB_QUEUE_DROP ? "dropped" : r->last_status));
    hob_jsonw_key(&w, "items");
    hob_jsonw_array(&w);
    write_queue(&w, &r->steer, "steer");
    write_queue(&w, &r->follow, "follow_up");
    hob_jsonw_array_end(&w);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static int next_idle(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    bool completed = !strcmp(r->last_status, "completed");
    if (r->settled || r->unfinished) return HOB_SAID_NOTHING;
    if (r->next_prompt.content) return hob_say_started(r, env, "follow_up", out);
    if (completed && r->follow.n) return deliver_follow_up(r, out);
    if (!completed && r->fate != HOB_QUEUE_KEEP && r->steer.n + r->follow.n)
        return return_queue(r, out);
    hob_jsonw w = hob_say(r, HOB_EVENT_SETTLED, out);
    hob_jsonw_kstr(&w, "status", hob_str_z(r->last_status));
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* Without a follow-up on its way the message comes with the prompt, or was lost with the process that had it. */
static int next_prompt(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    if (!r->next_prompt.content) return r->ending ? finish(r, env, out) : HOB_SAID_NOTHING;
    hob_say_message(r, hob_str_z(r->next_prompt.content), out);
    out->cause = hob_str_z(r->next_prompt.item);
    return HOB_SAID_LAST;
}

int hob_run_next(const hob_run *r, const hob_run_env *env, hob_draft *out) {
    int64_t elapsed = hob_run_elapsed(r, env->now);
    if (r->phase != HOB_PHASE_IDLE && !r->ending && r->limits.ms && elapsed >= r->limits.ms)
        return hob_say_limit(
            r, (hob_stopper){"time", (double)elapsed, (double)r->limits.ms, false, 0}, out);
    if (r->phase != HOB_PHASE_IDLE && r->asked.seq)
        return r->ending || !env->can_ask_more ? hob_run_say_budget(r, false, NULL, out)
                                               : HOB_SAID_NOTHING;
    if (r->phase != HOB_PHASE_IDLE && !r->strand && !r->ending && r->temp_named && !env->temp_kept)
        return hob_run_say_temp_lost(r, out);
    switch (r->phase) {
    case HOB_PHASE_IDLE: return next_idle(r, env, out);
    case HOB_PHASE_PROMPT: return next_prompt(r, env, out);
    case HOB_PHASE_READY: return next_ready(r, env, out);
    case HOB_PHASE_MODEL: return HOB_SAID_NOTHING; /* its outcome is an input */
    case HOB_PHASE_FAILED: return next_failed(r, env, out);
    case HOB_PHASE_RETRY: return next_retry(r, env, out);
    case HOB_PHASE_TOOLS:
        return hob_run_held(r) ? HOB_SAID_NOTHING : hob_run_next_tools(r, env, out);
    case HOB_PHASE_AGENTS: return HOB_SAID_NOTHING; /* the workflow goes on: agent/flow.h */
    }
    return HOB_SAID_NOTHING;
}
