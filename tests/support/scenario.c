#include "support/scenario.h"

#include "support/check.h"

#include <stdio.h>

void scenario_init(sim *s) {
    sim_init(s);
    sim_policy(s, HOB_MODE_YOLO, "send", NULL);
}

static void answer(sim *s) {
    static const char *const calls[] = {"look:a look:b", "send:c put:d", "look:e"};
    size_t answers = 0;
    for (size_t i = 0; i < hob_history_count(s->view->history); i++)
        answers += hob_history_role(s->view->history, i) == HOB_ROLE_ASSISTANT;
    if (answers < HOB_ARRAY_LEN(calls))
        sim_calls(s, calls[answers]);
    else
        sim_done(s, "done");
}

static bool waits_for_approval(sim *s, char call[64]) {
    if (!hob_run_parked(&s->run)) return false;
    for (size_t i = 0; i < s->run.ncalls; i++) {
        if (s->run.calls[i].state == HOB_CALL_WAITING)
            snprintf(call, 64, "%.*s", HOB_FMT(s->run.calls[i].call));
    }
    return true;
}

bool scenario_step(sim *s) {
    hob_effect list[HOB_EFFECTS_MAX];
    size_t n = hob_run_pending(&s->run, list);
    char call[64];
    s->env.now += 10;
    if (!sim_count(s, HOB_EVENT_USER_MESSAGE) && !hob_run_active(&s->run)) {
        sim_prompt(s, "go");
    } else if (waits_for_approval(s, call)) {
        if (!sim_count(s, HOB_EVENT_FOLLOW_UP_QUEUED)) sim_follow_up(s, "then that");
        sim_verdict(s, call, true, "");
    } else if (n && list[0].kind == HOB_EFFECT_CALL_MODEL) {
        answer(s);
    } else if (n) {
        bool last = hob_str_eqz(list[0].call->args, "{\"x\":\"e\"}");
        snprintf(call, sizeof(call), "%.*s", HOB_FMT(list[n - 1].key));
        if (last && !sim_count(s, HOB_EVENT_STEER_QUEUED)) sim_steer(s, "left");
        sim_ok(s, call);
    } else {
        return false;
    }
    return true;
}

void scenario_run(sim *s) {
    for (int i = 0; scenario_step(s); i++) assert_in_range(i, 0, 100);
    assert_false(hob_run_active(&s->run));
    assert_true(s->run.settled);
}
