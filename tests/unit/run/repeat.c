/* The same call again and again. */
#include "support/check.h"
#include "support/sim.h"

#include <stdio.h>

/* One turn with one call, answered with "ok". */
static void turn(sim *s, const char *call) {
    char id[40];
    snprintf(id, sizeof(id), "%s.0", s->run.message);
    sim_calls(s, call);
    sim_ok(s, id);
}

static void test_run_repeat__third_warns_fourth_is_refused_and_ends_the_run(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    turn(&s, "bash:a");
    turn(&s, "bash:a");
    sim_log(&s);
    turn(&s, "bash:a");
    sim_calls(&s, "bash:a");
    assert_log(&s, "14 assistant_message m13 tools bash(m13.0)\n"
                   "15 tool_decided m13.0 bash allow mode:yolo warning\n"
                   "16 tool_started m13.0 bash unsafe\n"
                   "17 tool_finished m13.0 ok 'ok' 'warning: this is the third i..'\n"
                   "18 model_call_started m18 turn=4\n"
                   "19 assistant_message m18 tools bash(m18.0)\n"
                   "20 tool_decided m18.0 bash deny repeat_guard\n"
                   "21 tool_finished m18.0 denied 'denied: the same call was ma..'\n"
                   "22 limit_reached repeated_action value=4 max=3\n"
                   "23 run_finished limit reason=repeated_action turns=4 tool_calls=3\n"
                   "24 settled limit\n");
    sim_finish(&s);
}

static void test_run_repeat__another_call_in_between_starts_anew(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    for (int i = 0; i < 5; i++) {
        turn(&s, "bash:a");
        turn(&s, "bash:a");
        turn(&s, i % 2 ? "look:a" : "bash:b");
    }
    sim_done(&s, "gone");
    assert_string_equal(sim_line(&s, s.n - 1), "81 settled completed");
    sim_finish(&s);
}

/* Within one answer, and with another call behind it. */
static void test_run_repeat__in_one_answer_ends_the_run_too(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    sim_calls(&s, "look:a look:a look:a look:a look:b");
    sim_log(&s);
    for (int i = 0; i < 5; i++) {
        char call[24];
        snprintf(call, sizeof(call), "m3.%d", i);
        if (i != 3) sim_ok(&s, call);
    }
    assert_log(&s, "15 tool_finished m3.0 ok 'ok'\n"
                   "16 tool_finished m3.1 ok 'ok'\n"
                   "17 tool_finished m3.2 ok 'ok' 'warning: this is the third i..'\n"
                   "18 tool_finished m3.4 ok 'ok'\n"
                   "19 limit_reached repeated_action value=4 max=3\n"
                   "20 run_finished limit reason=repeated_action turns=1 tool_calls=4\n"
                   "21 settled limit\n");
    sim_finish(&s);
}

static void test_run_repeat__next_prompt_starts_anew(void **state) {
    (void)state;
    sim s;
    sim_init(&s);
    sim_prompt(&s, "go");
    turn(&s, "bash:a");
    turn(&s, "bash:a");
    turn(&s, "bash:a");
    sim_calls(&s, "bash:a");
    sim_prompt(&s, "again");
    sim_log(&s);
    turn(&s, "bash:a");
    assert_log(&s, "28 assistant_message m27 tools bash(m27.0)\n"
                   "29 tool_decided m27.0 bash allow mode:yolo\n"
                   "30 tool_started m27.0 bash unsafe\n"
                   "31 tool_finished m27.0 ok 'ok'\n"
                   "32 model_call_started m32 turn=2\n");
    sim_finish(&s);
}

/* What the tool said may be written in any way that JSON allows. */
static void test_run_repeat__warning_is_added_to_any_content(void **state) {
    (void)state;
    static const struct {
        const char *given, *kept;
    } rows[] = {
        {"", "[W]"},
        {"[]", "[W]"},
        {" [ ]\n", "[W]"},
        {"\n[{\"type\":\"text\",\"text\":\"ok\"}] ", "[{\"type\":\"text\",\"text\":\"ok\"},W]"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) {
        char want[400], *w;
        sim s;
        sim_init(&s);
        sim_prompt(&s, "go");
        sim_calls(&s, "look:a look:a look:a");
        sim_input(&s, &(hob_input){.kind = HOB_INPUT_TOOL_FINISHED,
                                   .call = HOB_STR("m3.2"),
                                   .exit_code = -1,
                                   .content = hob_str_z(rows[i].given)});
        w = strchr(rows[i].kept, 'W');
        snprintf(
            want, sizeof(want),
            "\"content\":%.*s{\"type\":\"text\",\"text\":\"warning: this is the third identical call in a row; "
            "the next one will be refused and end the run\"}%s,\"duration_ms\":0,\"warning\":true}",
            (int)(w - rows[i].kept), rows[i].kept, w + 1);
        assert_non_null(strstr(sim_json(&s, s.n - 1), want));
        sim_finish(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_repeat__third_warns_fourth_is_refused_and_ends_the_run),
        cmocka_unit_test(test_run_repeat__another_call_in_between_starts_anew),
        cmocka_unit_test(test_run_repeat__in_one_answer_ends_the_run_too),
        cmocka_unit_test(test_run_repeat__next_prompt_starts_anew),
        cmocka_unit_test(test_run_repeat__warning_is_added_to_any_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
