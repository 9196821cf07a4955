/*
 * Anything at any time: inputs drawn by chance, allowed or not, with crashes in between. Whatever happens, the promises
 * hold (sim_check), the log follows from the inputs in it (sim_replay), a fold gives the state (sim_refold), and the
 * work can be brought to an end.
 *
 * HOB_LONG=1 plays more games; HOB_SEED=n plays one of them again.
 */
#include "support/check.h"
#include "support/sim.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct game {
    sim s;
    uint64_t dice;
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

/* ---- moves ---------------------------------------------------------------------------------- */

static const char *some_calls(game *g) {
    static const char *const lists[] = {
        "look:a",
        "look:a look:b look:c",
        "bash:a",
        "bash:a bash:b look:c",
        "put:a look:b",
        "none:x bash:a",
        "look:bad put:~",
        "send:a look:b send:c",
        "look:a look:a look:a look:a look:b",
        "send:a send:b",
        "put:a put:a",
        ("look:1 look:2 look:3 look:4 look:5 look:6 look:7 look:8 look:9 look:10 look:11 look:12 "
         "look:13 look:14 look:15 look:16 look:17 look:18"),
    };
    return lists[roll(g, HOB_ARRAY_LEN(lists))];
}

static void some_answer(game *g) {
    hob_stop stop = (hob_stop)roll(g, HOB_STOP_CONTINUE + 1);
    if (chance(g, 50)) stop = HOB_STOP_TOOLS;
    sim_answer(&g->s, chance(g, 50) ? "text" : "", chance(g, 75) ? some_calls(g) : "", stop);
}

static void some_failure(game *g) {
    static const int codes[] = {HOB_ENET, HOB_ERATE, HOB_EAUTH, HOB_EPROTO, HOB_ECANCELLED};
    int code = codes[roll(g, HOB_ARRAY_LEN(codes))];
    if (chance(g, 40))
        sim_stopped(&g->s, chance(g, 50) ? "half" : "", chance(g, 30) ? some_calls(g) : NULL);
    else
        sim_fail(&g->s, code, chance(g, 70) ? -1 : (int64_t)roll(g, 100000), chance(g, 50));
}

static void some_result(game *g) {
    static const hob_outcome outcomes[] = {HOB_OUTCOME_OK, HOB_OUTCOME_OK, HOB_OUTCOME_ERROR,
                                           HOB_OUTCOME_CANCELLED, HOB_OUTCOME_UNKNOWN};
    char call[64];
    unsigned k = roll(g, 20);
    if (g->s.run.ncalls && chance(g, 90)) k = roll(g, (unsigned)g->s.run.ncalls);
    snprintf(call, sizeof(call), "%s.%u", g->s.run.message, k);
    sim_result(&g->s, call, outcomes[roll(g, HOB_ARRAY_LEN(outcomes))], "result");
}

static void some_verdict(game *g) {
    char call[64];
    snprintf(call, sizeof(call), "%s.%u", g->s.run.message, roll(g, 4));
    sim_verdict(&g->s, call, chance(g, 60), chance(g, 50) ? "because" : "");
}

static void some_cancel(game *g) {
    sim_cancel(&g->s, chance(g, 70) ? HOB_ENDING_CANCEL : HOB_ENDING_ABORT,
               (hob_queue_fate)roll(g, 3));
}

static void some_crash(game *g) {
    size_t lost = chance(g, 50) ? 0 : roll(g, 6);
    sim_crash(&g->s, g->s.n - HOB_MIN(lost, g->s.n));
    if (chance(g, 70)) sim_reopen(&g->s);
    if (hob_run_unfinished(&g->s.run)) sim_settle(&g->s);
    sim_tick(&g->s, 0);
}

static void some_change(game *g) {
    hob_run_env *env = &g->s.env;
    switch (roll(g, 8)) {
    case 0: env->can_ask = !env->can_ask; break;
    case 1: env->after_batch = !env->after_batch; break;
    case 2: env->steer_all = !env->steer_all; break;
    case 3: env->limits.turns = roll(g, 8); break;
    case 4: env->limits.tokens = roll(g, 2) * (2000 + roll(g, 8000)); break;
    case 5: env->limits.tool_calls = roll(g, 10); break;
    case 6: env->limits.ms = roll(g, 2) * (1000 + roll(g, 100000)); break;
    case 7: env->policy = g->s.policies[roll(g, (unsigned)g->s.npolicies)]; break;
    }
}

/* Mostly what fits, sometimes anything. */
static void move(game *g) {
    sim *s = &g->s;
    unsigned what = roll(g, 100);
    if (what < 6) {
        sim_prompt(s, "prompt");
    } else if (what < 12) {
        sim_steer(s, "steer");
    } else if (what < 18) {
        sim_follow_up(s, "follow-up");
    } else if (what < 22) {
        some_cancel(g);
    } else if (what < 27) {
        some_crash(g);
    } else if (what < 31) {
        some_change(g);
    } else if (what < 38) {
        sim_tick(s, roll(g, 20000));
    } else if (what < 44) {
        some_failure(g);
    } else if (what < 47) {
        sim_pause(s, chance(g, 40));
    } else if (!hob_run_active(&s->run)) {
        sim_prompt(s, "prompt");
    } else if (hob_run_parked(&s->run)) {
        some_verdict(g);
    } else if (s->run.phase == HOB_PHASE_MODEL) {
        some_answer(g);
    } else {
        some_result(g);
    }
}

/* ---- games ---------------------------------------------------------------------------------- */

/* Every effect gets an outcome until nothing is under way. */
static void bring_to_an_end(sim *s) {
    hob_effect list[HOB_EFFECTS_MAX];
    char call[64];
    sim_cancel(s, HOB_ENDING_ABORT, HOB_QUEUE_DROP);
    for (int i = 0; hob_run_active(&s->run); i++) {
        assert_in_range(i, 0, 100);
        size_t n = hob_run_pending(&s->run, list);
        assert_true(n > 0);
        assert_int_equal(list[0].stop != HOB_ENDING_NONE, 1);
        snprintf(call, sizeof(call), "%.*s", HOB_FMT(list[0].key));
        if (list[0].kind == HOB_EFFECT_CALL_MODEL)
            sim_stopped(s, "", NULL);
        else
            sim_result(s, call, HOB_OUTCOME_CANCELLED, "");
    }
    assert_true(s->run.settled);
    assert_int_equal(hob_run_pending(&s->run, list), 0);
}

static uint64_t at_play; /* for the one line that says which game was lost */

static void play(uint64_t seed) {
    game g = {.dice = seed * 0x9e3779b97f4a7c15u + 1};
    sim_init(&g.s);
    sim_policy(&g.s, HOB_MODE_ASK, NULL, NULL);
    sim_policy(&g.s, HOB_MODE_YOLO, "send", "none");
    sim_prompt(&g.s, "prompt");
    for (unsigned i = 20 + roll(&g, 60); i > 0; i--) {
        move(&g);
        if (chance(&g, 10)) sim_refold(&g.s);
    }
    bring_to_an_end(&g.s);
    sim_refold(&g.s);
    sim_finish(&g.s);
}

static void test_run_random__promises_hold(void **state) {
    (void)state;
    const char *one = getenv("HOB_SEED"), *all = getenv("HOB_LONG");
    uint64_t games = all ? 20000 : 400;
    if (one) {
        play(strtoull(one, NULL, 10));
        return;
    }
    for (at_play = 0; at_play < games; at_play++) play(at_play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_random__promises_hold),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) print_error("HOB_SEED=%llu plays it again\n", (unsigned long long)at_play);
    return failed;
}
