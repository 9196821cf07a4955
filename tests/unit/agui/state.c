/* State that the client holds, and activities. */
#include "support/agui.h"
#include "support/check.h"

#include <stdio.h>

#define Z(text) hob_str_z(text)

static test_wire wire;
static hob_error err;

static hob_agui_session *running(const char *client_state) {
    char json[400];
    hob_agui_session *s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    snprintf(json, sizeof json,
             "{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[],\"protocolVersion\":\"1.0\","
             "\"state\":%s}",
             client_state);
    hob_agui_input *in = test_input(json);
    assert_ok(hob_agui_run_start(s, in, &err), err);
    hob_agui_input_destroy(in);
    hob_buf_reset(&wire.lines);
    return s;
}

static void test_agui_state__changes_are_found_against_the_inputs_state(void **state) {
    (void)state;
    hob_agui_session *s = running("{\"counter\":2,\"items\":[\"a\",\"b\"],\"note\":\"as it is\"}");
    assert_ok(hob_agui_state_set(
                  s, Z("{\"counter\":3,\"items\":[\"a\",\"b\"],\"note\":\"as it is\"}"), &err),
              err);
    test_wire_expect(&wire, "{\"type\":\"STATE_DELTA\",\"delta\":[{\"op\":\"replace\","
                            "\"path\":\"/counter\",\"value\":3}]}\n");
    assert_str(hob_agui_state(s), "{\"counter\":3,\"items\":[\"a\",\"b\"],\"note\":\"as it is\"}");
    test_wire_close(&wire, s);
}

static void test_agui_state__no_change_is_no_event(void **state) {
    (void)state;
    hob_agui_session *s = running("{\"a\":1,\"b\":[true]}");
    assert_ok(hob_agui_state_set(s, Z("{\"b\": [true], \"a\": 1.0}"), &err), err);
    test_wire_silent(&wire);
    test_wire_close(&wire, s);
}

static void test_agui_state__a_delta_longer_than_the_state_is_a_snapshot(void **state) {
    (void)state;
    hob_agui_session *s = running("{\"aaaaaaaaaaaaaaaaaaaa\":1,\"bbbbbbbbbbbbbbbbbbbbbbb\":2}");
    assert_ok(hob_agui_state_set(s, Z("[]"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"STATE_DELTA\",\"delta\":[{\"op\":\"replace\",\"path\":\"\","
                     "\"value\":[]}]}\n");
    assert_ok(hob_agui_state_set(s, Z("{\"a\":1,\"b\":2,\"c\":3}"), &err), err);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_state_set(s, Z("{\"d\":1,\"e\":2,\"f\":3}"), &err), err);
    test_wire_expect(&wire,
                     "{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{\"d\":1,\"e\":2,\"f\":3}}\n");
    test_wire_close(&wire, s);
}

static void test_agui_state__names_that_clients_refuse_to_patch_are_a_snapshot(void **state) {
    (void)state;
    hob_agui_session *s = running("{\"__proto__\":{\"x\":1},\"filler\":\"long enough to patch\"}");
    assert_ok(hob_agui_state_set(
                  s, Z("{\"__proto__\":{\"x\":1},\"filler\":\"long enough to patch!\"}"), &err),
              err);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z("STATE_DELTA")) > 0);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_state_set(
                  s, Z("{\"__proto__\":{\"x\":2},\"filler\":\"long enough to patch!\"}"), &err),
              err);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z("STATE_SNAPSHOT")) > 0);
    test_wire_close(&wire, s);
}

static void test_agui_state__a_patch_that_does_not_apply_is_refused(void **state) {
    (void)state;
    hob_agui_session *s = running("{\"a\":1}");
    assert_int_equal(
        hob_agui_state_delta(s, Z("[{\"op\":\"replace\",\"path\":\"/b\",\"value\":1}]"), &err),
        HOB_EINVAL);
    assert_int_equal(hob_agui_state_delta(s, Z("[{\"op\":\"swap\",\"path\":\"/a\"}]"), &err),
                     HOB_EPARSE);
    assert_int_equal(hob_agui_state_snapshot(s, Z("{a}"), &err), HOB_EPARSE);
    test_wire_silent(&wire);
    assert_str(hob_agui_state(s), "{\"a\":1}");
    assert_ok(hob_agui_state_delta(s, Z("[{\"op\":\"add\",\"path\":\"/b\",\"value\":null}]"), &err),
              err);
    assert_str(hob_agui_state(s), "{\"a\":1,\"b\":null}");
    test_wire_close(&wire, s);
}

/* Who has many clients keeps no large states: changes are told without comparing. */
static void test_agui_state__a_large_one_is_not_kept(void **state) {
    (void)state;
    hob_agui_session *s = running("{\"a\":1,\"filler\":\"over the limit\"}");
    hob_agui_state_keep(s, 16);
    assert_str(hob_agui_state(s), "");
    assert_int_equal(hob_agui_state_delta(s, Z("[{\"op\":\"swap\",\"path\":\"/a\"}]"), &err),
                     HOB_EPARSE);
    assert_ok(hob_agui_state_delta(s, Z("[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]"), &err),
              err);
    assert_ok(hob_agui_state_set(s, Z("{\"a\":1,\"filler\":\"the same\"}"), &err), err);
    assert_str(hob_agui_state(s), "");
    assert_ok(hob_agui_state_set(s, Z("{\"a\":1}"), &err), err);
    assert_str(hob_agui_state(s), "{\"a\":1}");
    assert_ok(hob_agui_state_set(s, Z("{\"a\":2}"), &err), err);
    test_wire_expect(
        &wire,
        "{\"type\":\"STATE_DELTA\",\"delta\":[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]}\n"
        "{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{\"a\":1,\"filler\":\"the same\"}}\n"
        "{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{\"a\":1}}\n"
        "{\"type\":\"STATE_DELTA\",\"delta\":[{\"op\":\"replace\",\"path\":\"/a\",\"value\":2}]}\n");
    test_wire_close(&wire, s);
}

static void test_agui_state__goes_on_in_the_next_run(void **state) {
    (void)state;
    hob_agui_session *s = running("{}");
    assert_ok(hob_agui_state_snapshot(s, Z("7"), &err), err);
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err);
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), err);
    assert_str(hob_agui_state(s), "7");
    test_wire_close(&wire, s);
}

static void test_agui_state__an_activity_is_shown_and_patched(void **state) {
    (void)state;
    hob_agui_session *s = running("{}");
    assert_int_equal(hob_agui_activity_delta(s, Z("a"), Z("[]"), &err), HOB_ENOENT);
    assert_int_equal(hob_agui_activity_snapshot(s, Z("a"), Z("search"), Z("[]"), &err), HOB_EINVAL);
    assert_ok(hob_agui_activity_snapshot(s, Z("a"), Z("search"), Z("{\"found\":0}"), &err), err);
    assert_int_equal(hob_agui_activity_delta(
                         s, Z("a"), Z("[{\"op\":\"replace\",\"path\":\"\",\"value\":1}]"), &err),
                     HOB_EINVAL);
    assert_ok(hob_agui_activity_delta(
                  s, Z("a"), Z("[{\"op\":\"replace\",\"path\":\"/found\",\"value\":3}]"), &err),
              err);
    test_wire_expect(&wire,
                     "{\"type\":\"ACTIVITY_SNAPSHOT\",\"messageId\":\"a\",\"activityType\":"
                     "\"search\",\"content\":{\"found\":0}}\n"
                     "{\"type\":\"ACTIVITY_DELTA\",\"messageId\":\"a\",\"activityType\":\"search\","
                     "\"patch\":[{\"op\":\"replace\",\"path\":\"/found\",\"value\":3}]}\n");
    test_wire_close(&wire, s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_state__changes_are_found_against_the_inputs_state),
        cmocka_unit_test(test_agui_state__no_change_is_no_event),
        cmocka_unit_test(test_agui_state__a_delta_longer_than_the_state_is_a_snapshot),
        cmocka_unit_test(test_agui_state__names_that_clients_refuse_to_patch_are_a_snapshot),
        cmocka_unit_test(test_agui_state__a_patch_that_does_not_apply_is_refused),
        cmocka_unit_test(test_agui_state__a_large_one_is_not_kept),
        cmocka_unit_test(test_agui_state__goes_on_in_the_next_run),
        cmocka_unit_test(test_agui_state__an_activity_is_shown_and_patched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
