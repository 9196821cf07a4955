/*
 * budget.c - limits, as arithmetic.
 *
 * A call to the model is reserved for before it is made: the estimated prompt plus the output limit. The output
 * limit sent is lowered to what is left; if nothing is left, the run ends instead of overspending.
 */
#include "run/run.h"

enum { BYTES_PER_TOKEN = 4 };

bool hob_run_asks_again(const hob_run *r) {
    return r->redo || r->phase == HOB_PHASE_RETRY;
}

int64_t hob_run_elapsed(const hob_run *r, int64_t now) {
    return r->spent.ms + (r->active_since && now > r->active_since ? now - r->active_since : 0);
}

/* The provider's own count and what came after it; without one, everything by its size. */
static int64_t prompt_estimate(const hob_run *r, const hob_run_env *env) {
    size_t bytes = r->fresh_bytes;
    if (!r->context_tokens) bytes = HOB_MAX(bytes, env->path_bytes) + env->fixed_bytes;
    return r->context_tokens + (int64_t)(bytes / BYTES_PER_TOKEN);
}

/* Limits bind the whole run, however many strands it has: what others have under way is not there any more. */
const hob_run *hob_run_purse(const hob_run *r, const hob_run_env *env) {
    return env->root ? env->root : r;
}

static int64_t token_room(const hob_run *purse, int64_t prompt) {
    return purse->limits.tokens - hob_usage_total(&purse->spent.usage) -
           hob_run_granted(purse).tokens - purse->reserved.tokens - prompt;
}

static int64_t cost_room(const hob_run *purse, const hob_run_env *env, int64_t prompt) {
    double left = purse->limits.cost_usd - purse->spent.cost_usd - hob_run_granted(purse).cost_usd -
                  purse->reserved.usd - (double)prompt * env->input_usd / 1e6;
    if (left <= 0) return 0;
    if (env->output_usd <= 0) return INT64_MAX;
    double tokens = left / env->output_usd * 1e6;
    return tokens > 1e15 ? INT64_MAX : (int64_t)tokens;
}

void hob_run_reserve(const hob_run *r, const hob_run_env *env, int64_t *prompt, int64_t *output) {
    const hob_run *purse = hob_run_purse(r, env);
    *prompt = prompt_estimate(r, env);
    *output = env->max_output;
    if (purse->limits.tokens) *output = HOB_MIN(*output, token_room(purse, *prompt));
    if (purse->limits.cost_usd > 0) *output = HOB_MIN(*output, cost_room(purse, env, *prompt));
}

/* Enough for the prompt and a word. */
static double cost_need(const hob_run *purse, const hob_run_env *env, int64_t prompt) {
    double left = purse->limits.cost_usd - purse->spent.cost_usd - hob_run_granted(purse).cost_usd -
                  purse->reserved.usd;
    double least = ((double)prompt * env->input_usd + env->output_usd) / 1e6;
    return env->priced && purse->spent.cost_known ? HOB_MAX(least - left, 1e-9) : 0;
}

/* A limit that cannot be checked counts as reached. */
static bool over_cost(const hob_run *purse, const hob_run_env *env, int64_t prompt) {
    return !env->priced || !purse->spent.cost_known || cost_room(purse, env, prompt) < 1;
}

hob_stopper hob_run_over(const hob_run *r, const hob_run_env *env) {
    const hob_run *purse = hob_run_purse(r, env);
    const hob_limits *max = &purse->limits, *own = &r->limits;
    const hob_spent *spent = &purse->spent;
    int64_t prompt = prompt_estimate(r, env), tokens = hob_usage_total(&spent->usage);
    int64_t turns = spent->turns + hob_run_granted(purse).turns;
    bool again = hob_run_asks_again(r);
    if (max->turns && !again && turns >= max->turns)
        return (hob_stopper){"turns", (double)turns, (double)max->turns, false, 1};
    if (own->turns && !again && r->spent.turns >= own->turns)
        return (hob_stopper){"turns", (double)r->spent.turns, (double)own->turns, r->strand, 1};
    if (max->tokens && token_room(purse, prompt) < 1)
        return (hob_stopper){"tokens", (double)(tokens + prompt), (double)max->tokens, false,
                             (double)(1 - token_room(purse, prompt))};
    if (max->cost_usd > 0 && over_cost(purse, env, prompt))
        return (hob_stopper){"cost", spent->cost_usd, max->cost_usd, false,
                             cost_need(purse, env, prompt)};
    return (hob_stopper){NULL, 0, 0, false, 0};
}

/* ---- more of it ---------------------------------------------------------------------------- */

static int say_asked(const hob_run *r, hob_stopper s, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_BUDGET_REQUESTED, out);
    hob_jsonw_kstr(&w, "limit", hob_str_z(s.limit));
    hob_jsonw_key(&w, "value");
    hob_jsonw_double(&w, s.value);
    hob_jsonw_key(&w, "max");
    hob_jsonw_double(&w, s.max);
    hob_jsonw_key(&w, "need");
    hob_jsonw_double(&w, s.need);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

/* Agents of a workflow do not: what one gets another would spend. */
int hob_run_say_over(const hob_run *r, const hob_run_env *env, hob_stopper s, hob_draft *out) {
    bool asks = env->can_ask_more && !r->refused && !r->strand && !s.own && s.need > 0;
    return asks ? say_asked(r, s, out) : hob_say_limit(r, s, out);
}

int hob_run_say_budget(const hob_run *r, bool granted, const hob_limits *limits, hob_draft *out) {
    hob_jsonw w = hob_say(r, HOB_EVENT_BUDGET_RESOLVED, out);
    hob_jsonw_kint(&w, "request", (int64_t)r->asked.seq);
    hob_jsonw_kbool(&w, "granted", granted);
    if (granted) hob_say_limits(&w, "limits", limits);
    hob_say_end(&w);
    return HOB_SAID_LAST;
}

static void budget_resolved(hob_run *r, const hob_json *d) {
    const hob_json *l = hob_json_get(d, "limits");
    memset(&r->asked, 0, sizeof r->asked);
    r->refused = !hob_json_get_bool(d, "granted", false);
    if (r->refused) return;
    r->limits.turns = hob_json_get_int(l, "turns", r->limits.turns);
    r->limits.tokens = hob_json_get_int(l, "tokens", r->limits.tokens);
    r->limits.tool_calls = hob_json_get_int(l, "tool_calls", r->limits.tool_calls);
    r->limits.cost_usd = hob_json_get_double(l, "cost_usd", r->limits.cost_usd);
}

void hob_run_budget_event(hob_run *r, const hob_event *e, const hob_json *d) {
    if (hob_json_get(d, "child")) {
        hob_run_child_event(r, e, d);
    } else if (e->type == HOB_EVENT_BUDGET_RESOLVED) {
        budget_resolved(r, d);
    } else {
        r->asked.seq = e->seq;
        r->asked.need = hob_json_get_double(d, "need", 0);
        hob_str_out(hob_json_get_str(d, "limit"), r->asked.limit, sizeof r->asked.limit);
    }
}
