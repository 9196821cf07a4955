/* A thousand commands that try to leave something behind, each killed at another moment. */
/* ctest: labels=long timeout=900 */
#include "exec/exec.h"
#include "support/check.h"
#include "support/job.h"
#include "support/process.h"

#define ROUNDS 1000

static const char *const ESCAPES[] = {
    /* a daemon */
    "(setsid sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 &' &) ; sleep 1000",
    /* deaf */
    "trap '' TERM INT HUP; sh -c 'sleep 1000 & wait' & sleep 1000; sleep 1000",
    /* many */
    "for i in $(seq 25); do sleep 1000 & setsid sleep 1000 & done; wait",
    /* new ones all the time */
    "while :; do (setsid sleep 1000 &); done",
    /* one that is always another: each starts the next and ends */
    "hop() { (hop &) ; }; hop; sleep 1000",
};

static void run_for(hob_test_job *t, int64_t ms) {
    int64_t until = hob_loop_now(t->loop) + ms;
    while (!t->ended && hob_loop_now(t->loop) < until) hob_loop_run_once(t->loop, 1);
}

static void test_exec_survivors__there_are_none(void **state) {
    hob_test_job *t = *state;
    for (int round = 0; round < ROUNDS; round++) {
        hob_test_job_start(t, ESCAPES[(size_t)round % HOB_ARRAY_LEN(ESCAPES)]);
        run_for(t, round * 7 % 17);
        hob_job_cancel(t->job, true);
        hob_test_job_wait(t);
        if (t->result.error.code) fail_msg("round %d: %s", round, t->result.error.message);
        if (hob_test_processes_with(t->token)) fail_msg("round %d left something behind", round);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_exec_survivors__there_are_none, hob_test_job_setup,
                                        hob_test_job_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
