/*
 * Workflows drawn by chance, and anything at any time: outcomes in any order, failures, steering, stops, crashes. Whatever
 * happens, the promises hold (sim_check), the log follows from the inputs in it (sim_replay), a fold gives the state
 * (sim_refold), and the work can be brought to an end.
 *
 * HOB_LONG=1 plays more games; HOB_SEED=n plays one of them again.
 */
#include "log/history_view.h"
#include "support/check.h"
#include "support/sim_agents.h"
#include "support/sim_play.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct game {
    sim s;
    uint64_t dice;
    int made;                 /* agents */
    hob_history_view *sights; /* what each agent sees, as it goes on */
} game;

static unsigned roll(game *g, unsigned sides) {
    g->dice ^= g->dice << 13;
    g->dice ^= g->dice >> 7;
    g->dice ^= g->dice << 17;
    return (unsigned)(g->dice >> 33) % sides;
}

static bool chance(game *g, unsigned percent) {
    return roll(g, 100) < percent;
}

/* ---- trees ---------------------------------------------------------------------------------- */

static void some_callbacks(game *g, hob_agent_opts *o, hob_agent_callbacks *c) {
    *c = watchers();
    if (chance(g, 50)) c->before_agent = NULL;
    if (chance(g, 50)) c->after_agent = NULL;
    if (chance(g, 25)) o->callbacks = c;
}

static hob_agent_kind some_kind(game *g, int depth) {
    static const hob_agent_kind kinds[] = {HOB_AGENT_SEQUENTIAL,  HOB_AGENT_PARALLEL,
                                           HOB_AGENT_PARALLEL,    HOB_AGENT_LOOP,
                                           HOB_AGENT_CONDITIONAL, HOB_AGENT_LLM};
    if (depth > 0 && chance(g, 70)) return kinds[roll(g, HOB_ARRAY_LEN(kinds))];
    return chance(g, 80) ? HOB_AGENT_LLM : HOB_AGENT_CUSTOM;
}

/* What an agent does stands in its name (sim_play.h). */
static void some_name(game *g, hob_agent_kind kind, char out[16]) {
    static const char first[] = "tsqhbaaw";
    snprintf(out, 16, "%c%d", kind == HOB_AGENT_LLM ? first[roll(g, 8)] : 'x', g->made++);
}

static hob_agent *some_agent(game *g, int depth) {
    static const char *const conditions[] = {"k", "!k", "k == \"s1\"", "out != 1"};
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    hob_agent_callbacks c;
    hob_agent *agents[4];
    char name[16];
    o.kind = some_kind(g, depth);
    some_name(g, o.kind, name);
    o.name = name;
    some_callbacks(g, &o, &c);
    size_t n = o.kind == HOB_AGENT_CUSTOM        ? 0
               : o.kind == HOB_AGENT_LLM         ? (depth > 0 ? roll(g, 3) : 0)
               : o.kind == HOB_AGENT_CONDITIONAL ? 1 + roll(g, 2)
                                                 : 1 + roll(g, 4);
    for (size_t i = 0; i < n; i++) agents[i] = some_agent(g, depth - 1);
    if (o.kind == HOB_AGENT_CUSTOM) o.run = watchers().before_agent;
    if (o.kind == HOB_AGENT_CONDITIONAL) o.condition = conditions[roll(g, 4)];
    if (o.kind == HOB_AGENT_LOOP) o.max_iterations = 1 + (int)roll(g, 3);
    if (o.kind == HOB_AGENT_LLM && chance(g, 30)) o.output_key = chance(g, 50) ? "out" : "k";
    if (o.kind == HOB_AGENT_LLM && chance(g, 20)) o.max_turns = 1 + roll(g, 2);
    o.flags = roll(g, 16);
    return made_of(&o, agents, n);
}

/* ---- moves ---------------------------------------------------------------------------------- */

static void some_failure(game *g, const sim_effect *e) {
    static const int codes[] = {HOB_ENET, HOB_ERATE, HOB_EAUTH, HOB_EPROTO, HOB_ECANCELLED};
    sim *s = &g->s;
    s->who = e->who;
    if (e->kind == HOB_EFFECT_RUN_TOOL)
        sim_result(s, e->key, chance(g, 50) ? HOB_OUTCOME_ERROR : HOB_OUTCOME_UNKNOWN, "no");
    else if (e->kind == HOB_EFFECT_CALL_AGENT)
        sim_answered(s, s->flow->frames[e->who].agent->o.name, HOB_OUTCOME_ERROR, "no", NULL);
    else if (chance(g, 40))
        sim_stopped(s, chance(g, 50) ? "half" : "", NULL);
    else
        sim_fail(s, codes[roll(g, 5)], chance(g, 70) ? -1 : (int64_t)roll(g, 100000),
                 chance(g, 50));
    s->who = -1;
}

static void some_answer(game *g, const sim_effect *e) {
    static const char *const calls[] = {"look:a look:b",
                                        "send:a",
                                        "none:x put:~",
                                        "keep:a keep:b",
                                        "quit:a",
                                        "hand:x",
                                        "look:a look:a look:a look:a"};
    sim *s = &g->s;
    s->who = e->who;
    if (e->kind == HOB_EFFECT_CALL_MODEL)
        sim_answer(s, "text", chance(g, 70) ? calls[roll(g, 7)] : "",
                   chance(g, 60) ? HOB_STOP_TOOLS : (hob_stop)roll(g, HOB_STOP_CONTINUE + 1));
    else if (e->kind == HOB_EFFECT_CALL_AGENT)
        sim_reply(s, s->flow->frames[e->who].agent->o.name,
                  (hob_flow_answer){.outcome = HOB_OUTCOME_OK,
                                    .content = chance(g, 50) ? HOB_STR("[{\"type\":\"text\"}]")
                                                             : HOB_STR_NULL,
                                    .escalate = chance(g, 20),
                                    .transfer = chance(g, 10) ? HOB_STR("x1") : HOB_STR_NULL},
                  chance(g, 30) ? "{'k':1}" : NULL);
    else
        sim_play(s, e);
    s->who = -1;
}

static void some_outcome(game *g) {
    sim_effect list[SIM_EFFECTS_MAX];
    size_t n = sim_effects(&g->s, list);
    if (!n) {
        if (!sim_approve(&g->s, chance(g, 60))) sim_tick(&g->s, roll(g, 20000));
        return;
    }
    const sim_effect *e = &list[roll(g, (unsigned)n)];
    unsigned how = roll(g, 10);
    if (how < 2)
        some_failure(g, e);
    else if (how < 5)
        some_answer(g, e);
    else
        sim_play(&g->s, e);
}

/* ---- what agents see ------------------------------------------------------------------------- */

static void forget_sights(game *g) {
    for (size_t i = 0; g->sights && i < g->s.flow->n; i++) hob_history_view_finish(&g->sights[i]);
    hob_free(g->sights);
    g->sights = NULL;
}

static void begin_sights(game *g) {
    g->sights = hob_alloc(g->s.flow->n * sizeof *g->sights);
    for (size_t i = 0; i < g->s.flow->n; i++) hob_history_view_init(&g->sights[i]);
}

static hob_viewer viewer_of(const hob_frame *fr) {
    hob_viewer who = {.agent = hob_agent_name(fr->agent), .branch = hob_str_z(fr->branch)};
    who.current_only = fr->agent->o.flags & HOB_AGENT_NO_PARENT_TRANSFER;
    who.isolate = fr->agent->o.flags & HOB_AGENT_NO_PEER_TRANSFER;
    who.keep_responses = fr->agent->o.flags & HOB_AGENT_STOP_ON_ESCALATE;
    who.asked = strtoull(fr->run->message + 1, NULL, 10);
    return who;
}

/* It begins with words of the user, and ends with something to answer to. */
static void check_request(const hob_history *h) {
    assert_true(h->npath > 0);
    const hob_node *last = &h->nodes[h->path[h->npath - 1]];
    bool goes_on = hob_str_find(last->event->data, HOB_STR("\"stop\":\"continue\"")) >= 0;
    assert_true(last->role == HOB_ROLE_USER || last->nresults || goes_on);
}

/* A model that is at work was asked with the same, whether it was kept or is made anew. */
static void check_sights(game *g) {
    for (size_t i = 0; i < g->s.flow->n; i++) {
        const hob_frame *fr = &g->s.flow->frames[i];
        if (fr->state != HOB_FRAME_ACTIVE || fr->run->phase != HOB_PHASE_MODEL) continue;
        hob_viewer who = viewer_of(fr);
        hob_history_view anew;
        hob_history_view_init(&anew);
        hob_history_view_update(&anew, g->s.view->history, &who);
        hob_history_view_update(&g->sights[i], g->s.view->history, &who);
        char *kept = hob_dupz(hob_str_z(sim_told(&g->s, g->sights[i].seen)));
        assert_string_equal(sim_told(&g->s, anew.seen), kept);
        assert_int_equal(anew.seen->bytes, g->sights[i].seen->bytes);
        check_request(anew.seen);
        hob_free(kept);
        hob_history_view_finish(&anew);
    }
}

/* ---- crashes ----------------------------------------------------------------------------------- */

static void some_crash(game *g) {
    forget_sights(g);
    begin_sights(g);
    size_t lost = chance(g, 50) ? 0 : roll(g, 8);
    sim_crash(&g->s, g->s.n - HOB_MIN(lost, g->s.n));
    if (chance(g, 70)) sim_reopen(&g->s);
    if (hob_run_unfinished(&g->s.run)) sim_settle(&g->s);
    sim_tick(&g->s, 0);
}

static void some_change(game *g) {
    hob_run_env *env = &g->s.env;
    switch (roll(g, 7)) {
    case 0: env->can_ask = !env->can_ask; break;
    case 1: env->after_batch = !env->after_batch; break;
    case 2: env->steer_all = !env->steer_all; break;
    case 3: env->limits.turns = roll(g, 12); break;
    case 4: env->limits.tokens = roll(g, 2) * (3000 + roll(g, 8000)); break;
    case 5: env->limits.tool_calls = roll(g, 10); break;
    case 6: env->policy = g->s.policies[roll(g, (unsigned)g->s.npolicies)]; break;
    }
}

static void move(game *g) {
    sim *s = &g->s;
    unsigned what = roll(g, 100);
    if (!hob_run_active(&s->run) || what < 2) {
        sim_prompt(s, "prompt");
    } else if (what < 7) {
        sim_steer(s, "steer");
    } else if (what < 10) {
        sim_follow_up(s, "follow-up");
    } else if (what < 12) {
        sim_cancel(s, chance(g, 70) ? HOB_ENDING_CANCEL : HOB_ENDING_ABORT,
                   (hob_queue_fate)roll(g, 3));
    } else if (what < 16) {
        some_crash(g);
    } else if (what < 20) {
        some_change(g);
    } else if (what < 24) {
        sim_approve(s, chance(g, 70));
    } else if (what < 27) {
        sim_pause(s, chance(g, 40));
    } else {
        some_outcome(g);
    }
}

/* ---- games ---------------------------------------------------------------------------------- */

static uint64_t at_play; /* for the one line that says which game was lost */

static void play(uint64_t seed) {
    game g = {.dice = seed * 0x9e3779b97f4a7c15u + 1};
    sim_init(&g.s);
    sim_policy(&g.s, HOB_MODE_ASK, NULL, NULL);
    sim_policy(&g.s, HOB_MODE_YOLO, "send", "none");
    sim_agents(&g.s, some_agent(&g, 3));
    sim_prompt(&g.s, "prompt");
    begin_sights(&g);
    for (unsigned i = 20 + roll(&g, 80); i > 0; i--) {
        move(&g);
        check_sights(&g);
        if (chance(&g, 5)) sim_refold(&g.s);
    }
    if (chance(&g, 50)) sim_cancel(&g.s, HOB_ENDING_ABORT, HOB_QUEUE_DROP);
    sim_play_out(&g.s);
    sim_refold(&g.s);
    forget_sights(&g);
    sim_finish(&g.s);
}

static void test_agent_random__promises_hold(void **state) {
    (void)state;
    const char *one = getenv("HOB_SEED"), *all = getenv("HOB_LONG");
    uint64_t games = all ? 20000 : 300;
    if (one) {
        play(strtoull(one, NULL, 10));
        return;
    }
    for (at_play = 0; at_play < games; at_play++) play(at_play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_random__promises_hold),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) print_error("HOB_SEED=%llu plays it again\n", (unsigned long long)at_play);
    return failed;
}
