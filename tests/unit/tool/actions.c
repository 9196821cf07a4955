/* What a reply gathers besides the answer. */
#include "support/check.h"
#include "tool/tool.h"

#include <stdio.h>

typedef struct fixture {
    hob_loop *loop;
    hob_reply *reply;
    hob_buf actions; /* as the event has them; "none" */
} fixture;

static void on_done(void *user, const hob_tool_result *r) {
    fixture *f = user;
    hob_jsonw w;
    hob_jsonw_init(&w, &f->actions);
    if (r->actions)
        hob_actions_write(r->actions, &w);
    else
        hob_buf_addz(&f->actions, "none");
}

static const hob_reply_handler handler = {NULL, on_done};

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    hob_buf_init(&f->actions, 1 << 20);
    *state = f;
    if (hob_loop_create(NULL, &f->loop, NULL) < 0) return -1;
    f->reply = hob_reply_create(f->loop, &handler, f);
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_loop_destroy(f->loop);
    hob_buf_finish(&f->actions);
    hob_free(f);
    return 0;
}

static const char *answered(fixture *f) {
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("x"));
    while (hob_loop_run_once(f->loop, 0) > 0) {
    }
    return hob_buf_z(&f->actions);
}

static int change(fixture *f, const char *delta, const char *removed) {
    return hob_reply_state(f->reply, hob_str_z(delta), hob_str_z(removed), NULL);
}

static void test_tool_actions__none_unless_asked(void **state) {
    assert_string_equal(answered(*state), "none");
}

static void test_tool_actions__changes_add_up(void **state) {
    fixture *f = *state;
    assert_int_equal(change(f, "{\"a\":1,\"b\":1}", ""), 0);
    assert_int_equal(change(f, "{\"temp:t\":\"secret\"}", "[\"a\"]"), 0);
    assert_string_equal(answered(f),
                        "{\"state_delta\":{\"b\":1},\"removed\":[\"a\"],\"temp\":[\"temp:t\"]}");
}

static void test_tool_actions__a_refused_change_leaves_the_others(void **state) {
    fixture *f = *state;
    assert_int_equal(change(f, "{\"a\":1}", ""), 0);
    assert_int_equal(change(f, "{\"a\":2,\"x/y\":1}", ""), HOB_EINVAL);
    assert_int_equal(change(f, "[1]", ""), HOB_EPARSE);
    assert_int_equal(change(f, "{\"b\":1}", "[\"b\"]"), HOB_EINVAL);
    assert_string_equal(answered(f), "{\"state_delta\":{\"a\":1}}");
}

static void test_tool_actions__one_call_has_a_ceiling(void **state) {
    fixture *f = *state;
    hob_buf b;
    hob_buf_init(&b, 8 << 20);
    hob_buf_addz(&b, "{\"a\":\"");
    for (int i = 0; i < HOB_ACTIONS_BYTES_MAX / 16; i++) hob_buf_addz(&b, "0123456789abcdef");
    hob_buf_addz(&b, "\"}");
    assert_int_equal(change(f, hob_buf_z(&b), ""), HOB_ETOOBIG);
    hob_buf_reset(&b);
    hob_buf_addz(&b, "{\"k\":0");
    for (int i = 0; i < HOB_ACTIONS_KEYS_MAX; i++) hob_buf_addf(&b, ",\"k%d\":0", i);
    hob_buf_addc(&b, '}');
    assert_int_equal(change(f, hob_buf_z(&b), ""), HOB_ETOOBIG);
    hob_buf_finish(&b);
    assert_string_equal(answered(f), "none");
}

static void test_tool_actions__everything_else(void **state) {
    fixture *f = *state;
    hob_reply_escalate(f->reply);
    hob_reply_skip_summarization(f->reply);
    assert_int_equal(hob_reply_transfer(f->reply, HOB_STR("one"), NULL), 0);
    assert_int_equal(hob_reply_transfer(f->reply, HOB_STR("two"), NULL), 0);
    assert_int_equal(hob_reply_transfer(f->reply, HOB_STR(""), NULL), HOB_EINVAL);
    assert_int_equal(hob_reply_artifact(f->reply, HOB_STR("dir/report.md"), 0, NULL), 0);
    assert_int_equal(hob_reply_artifact(f->reply, HOB_STR("dir/report.md"), 1, NULL), 0);
    assert_int_equal(hob_reply_artifact(f->reply, HOB_STR("x"), -1, NULL), HOB_EINVAL);
    assert_string_equal(answered(f), "{\"artifact_delta\":{\"dir/report.md\":1},"
                                     "\"transfer\":\"two\",\"escalate\":true,"
                                     "\"skip_summarization\":true}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tool_actions__none_unless_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tool_actions__changes_add_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tool_actions__a_refused_change_leaves_the_others,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_tool_actions__one_call_has_a_ceiling, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tool_actions__everything_else, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
