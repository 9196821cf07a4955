/*
 * api_budget.c - "budget" of a new session: what each of its runs may use, for as long as there is the session.
 *
 * The names are those of the configuration. A budget only narrows: what the server's configuration or the caller's token
 * allows is the most that can be asked for.
 */
#include "serve/api.h"

#include <math.h>
#include <stdlib.h>

typedef struct limit {
    const char *name, *setting;
    hob_quota quota;
    double unit; /* of the quota, against what is said; 0 = it has none */
} limit;

static const limit limits[] = {
    {"turns", "budget.turns", 0, 0},
    {"tokens", "budget.tokens", HOB_QUOTA_TOKENS, 1},
    {"tool_calls", "budget.tool_calls", 0, 0},
    {"seconds", "budget.seconds", 0, 0},
    {"cost_usd", "budget.cost_usd", HOB_QUOTA_COST, 1e6},
};
enum { TURNS, TOKENS, TOOL_CALLS, SECONDS, COST, COUNT };

/* Whole, but for time and money. */
static bool is_amount(size_t i, const hob_json *v, double *out) {
    *out = hob_json_double(v);
    return hob_json_is(v, HOB_JSON_NUMBER) && *out > 0 && *out <= 1e15 &&
           (i == SECONDS || i == COST || *out == floor(*out));
}

/* The most that may be asked for; 0 = anything. */
static double most(hob_web_request *r, const limit *l) {
    hob_str said = hob_config_get(hob_runtime_config(hob_api_runtime(r)), l->setting);
    const hob_caller *c = hob_web_caller(r);
    const char *text = hob_api_z(r, said);
    double config = text ? strtod(text, NULL) : 0;
    double quota = l->unit > 0 ? (double)c->limits[l->quota] / l->unit : 0;
    if (!(config > 0)) return quota;
    return quota > 0 ? HOB_MIN(config, quota) : config;
}

static bool take(hob_web_request *r, const hob_json *budget, size_t i, double *out) {
    const hob_json *v = hob_json_get(budget, limits[i].name);
    *out = 0;
    if (!v) return true;
    if (!is_amount(i, v, out)) {
        hob_web_fail(r, 400, "bad_request", "budget.%s must be %s over 0", limits[i].name,
                     i == SECONDS || i == COST ? "a number" : "a whole number");
        return false;
    }
    double ceiling = most(r, &limits[i]);
    if (!(ceiling > 0) || *out <= ceiling) return true;
    hob_web_fail(r, 403, "forbidden", "budget.%s can be %g at most here", limits[i].name, ceiling);
    return false;
}

bool hob_api_budget(hob_web_request *r, const hob_json *body, hob_session_opts *o) {
    static const char *const known[] = {"turns",   "tokens",   "tool_calls",
                                        "seconds", "cost_usd", NULL};
    const hob_json *budget = hob_json_get(body, "budget");
    double said[COUNT];
    if (!budget) return true;
    if (!hob_json_is(budget, HOB_JSON_OBJECT)) {
        hob_web_fail(r, 400, "bad_request", "budget must be an object, as in the configuration");
        return false;
    }
    if (!hob_api_known(r, budget, known)) return false;
    for (size_t i = 0; i < COUNT; i++)
        if (!take(r, budget, i, &said[i])) return false;
    o->max_turns = (int64_t)said[TURNS];
    o->max_tokens = (int64_t)said[TOKENS];
    o->max_tool_calls = (int64_t)said[TOOL_CALLS];
    o->timeout_ms = (int64_t)ceil(said[SECONDS] * 1000);
    o->max_cost_usd = said[COST];
    o->flags |= HOB_SESSION_KEEP_LIMITS;
    return true;
}
