/* The envelope: what is written is read again, byte for byte, and so is what is not understood. */
#include "log/event.h"
#include "support/check.h"

#define TIME "\"ts\":\"2026-01-02T03:04:05.678Z\""
#define TIME_MS 1767323045678

static hob_event *encode(hob_draft *d, const char *data, uint64_t seq) {
    hob_event *e = NULL;
    hob_error err;
    hob_buf_addz(&d->data, data);
    assert_ok(hob_event_encode(d, HOB_STR("s-1"), seq, TIME_MS, &e, &err), err);
    hob_draft_finish(d);
    return e;
}

static int decode_error(const char *line) {
    hob_event *e = NULL;
    hob_error err = {0};
    int rc = hob_event_decode(hob_str_z(line), &e, &err);
    assert_null(e);
    assert_int_equal(err.code, rc);
    assert_true(err.message[0]);
    return rc;
}

static void test_log_event__is_written_in_a_fixed_order(void **state) {
    (void)state;
    hob_draft d;
    hob_draft_init(&d, HOB_EVENT_ASSISTANT_MESSAGE);
    d.turn = 2;
    d.run_id = HOB_STR("run-1");
    d.parent_run = HOB_STR("run-0");
    d.agent = HOB_STR("a");
    d.branch = HOB_STR("b");
    d.author = HOB_STR("model");
    d.is_entry = true;
    d.parent_entry = HOB_STR("e3");
    d.cause = HOB_STR("q2");
    hob_event *e = encode(&d, "{\"content\":[]}", 7);
    assert_str(
        hob_event_json(e),
        "{\"v\":1,\"seq\":7," TIME ",\"type\":\"assistant_message\",\"session_id\":\"s-1\","
        "\"run_id\":\"run-1\",\"parent_run\":\"run-0\",\"turn\":2,\"agent\":\"a\",\"branch\":\"b\","
        "\"author\":\"model\",\"entry\":\"e7\",\"parent_entry\":\"e3\",\"cause\":\"q2\","
        "\"data\":{\"content\":[]}}");
    assert_int_equal(hob_event_type_of(e), HOB_EVENT_ASSISTANT_MESSAGE);
    assert_int_equal(hob_event_seq(e), 7);
    assert_int_equal(hob_event_time(e), TIME_MS);
    assert_str(hob_event_name(e), "assistant_message");
    assert_str(hob_event_session(e), "s-1");
    assert_str(hob_event_run(e), "run-1");
    assert_str(hob_event_entry(e), "e7");
    assert_str(hob_event_data(e), "{\"content\":[]}");
    assert_str(e->parent_entry, "e3");
    assert_str(e->cause, "q2");
    hob_event_unref(e);
}

static void test_log_event__leaves_out_what_does_not_apply(void **state) {
    (void)state;
    hob_draft d;
    hob_draft_init(&d, HOB_EVENT_TEXT_DELTA);
    hob_event *e = encode(&d, "", 0);
    assert_str(hob_event_json(e),
               "{\"v\":1," TIME ",\"type\":\"text_delta\",\"session_id\":\"s-1\",\"data\":{}}");
    assert_int_equal(hob_event_seq(e), 0);
    assert_str(hob_event_run(e), "");
    hob_event_unref(e);
}

static void test_log_event__every_kind_survives_a_round_trip(void **state) {
    (void)state;
    for (int t = 1; t < HOB_EVENT_COUNT_; t++) {
        hob_draft d;
        hob_error err;
        hob_event *e, *again;
        hob_draft_init(&d, (hob_event_type)t);
        e = encode(&d, "{\"n\":1.50,\"t\":\"\\u00e9\"}", 9);
        assert_ok(hob_event_decode(e->json, &again, &err), err);
        assert_int_equal(again->type, t);
        assert_str(again->name, hob_event_type_name((hob_event_type)t));
        assert_true(hob_str_eq(again->json, e->json));
        assert_str(again->data, "{\"n\":1.50,\"t\":\"\\u00e9\"}");
        hob_event_unref(e);
        hob_event_unref(again);
    }
}

static void test_log_event__ephemeral_kinds_are_the_six_of_the_contract(void **state) {
    (void)state;
    static const char *const names[] = {"message_open",    "text_delta",        "thinking_delta",
                                        "tool_args_delta", "tool_output_delta", "progress"};
    size_t ephemeral = 0;
    for (int t = 1; t < HOB_EVENT_COUNT_; t++)
        ephemeral += !hob_event_type_durable((hob_event_type)t);
    assert_int_equal(ephemeral, HOB_ARRAY_LEN(names));
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++)
        assert_false(hob_event_type_durable(hob_event_type_from(hob_str_z(names[i]))));
}

static void test_log_event__what_a_newer_version_wrote_keeps_its_bytes(void **state) {
    (void)state;
    static const char line[] = "{\"v\":9,\"seq\":4," TIME
                               ",\"type\":\"dream_dreamt\",\"session_id\":\"s\",\"mood\":[1, 2],"
                               "\"run_id\":\"r\",\"data\":{\"of\":\"sheep\",\"n\":1e0}}";
    hob_event *e;
    hob_error err;
    assert_ok(hob_event_decode(hob_str_z(line), &e, &err), err);
    assert_int_equal(e->type, HOB_EVENT_UNKNOWN);
    assert_str(e->name, "dream_dreamt");
    assert_str(e->run_id, "r");
    assert_int_equal(e->seq, 4);
    assert_str(e->json, line);
    assert_str(e->data, "{\"of\":\"sheep\",\"n\":1e0}");
    hob_event_unref(e);
}

static void test_log_event__a_line_that_is_none_is_refused(void **state) {
    (void)state;
    assert_int_equal(decode_error(""), HOB_EPARSE);
    assert_int_equal(decode_error("null"), HOB_EPARSE);
    assert_int_equal(decode_error("[]"), HOB_EPARSE);
    assert_int_equal(decode_error("{}"), HOB_EPARSE);
    assert_int_equal(decode_error("{" TIME ",\"type\":\"note\""), HOB_EPARSE);
    assert_int_equal(decode_error("{" TIME ",\"type\":\"note\"}"), HOB_EPARSE);
    assert_int_equal(decode_error("{" TIME ",\"type\":\"note\",\"data\":null}"), HOB_EPARSE);
    assert_int_equal(decode_error("{" TIME ",\"type\":\"note\",\"data\":[]}"), HOB_EPARSE);
    assert_int_equal(decode_error("{" TIME ",\"type\":7,\"data\":{}}"), HOB_EPARSE);
    assert_int_equal(decode_error("{" TIME ",\"data\":{}}"), HOB_EPARSE);
    assert_int_equal(decode_error("{\"ts\":\"yesterday\",\"type\":\"note\",\"data\":{}}"),
                     HOB_EPARSE);
    assert_int_equal(decode_error("{\"type\":\"note\",\"data\":{}}"), HOB_EPARSE);
    assert_int_equal(decode_error("{\"seq\":-1," TIME ",\"type\":\"note\",\"data\":{}}"),
                     HOB_EPARSE);
}

static void test_log_event__numbers_out_of_range_are_none(void **state) {
    (void)state;
    static const char *const turns[] = {"-1", "1000000001", "99999999999999999999", "1.5", "\"2\""};
    for (size_t i = 0; i < HOB_ARRAY_LEN(turns); i++) {
        hob_event *e;
        hob_error err;
        hob_buf line;
        hob_buf_init(&line, 1000);
        hob_buf_addf(&line, "{" TIME ",\"type\":\"note\",\"turn\":%s,\"data\":{}}", turns[i]);
        assert_ok(hob_event_decode(hob_buf_str(&line), &e, &err), err);
        assert_int_equal(e->turn, 0);
        hob_event_unref(e);
        hob_buf_finish(&line);
    }
}

/* Ids and names never are written so; if one is, it is given as written. */
static void test_log_event__escapes_in_the_envelope_are_not_decoded(void **state) {
    (void)state;
    hob_event *e;
    hob_error err;
    assert_ok(
        hob_event_decode(
            HOB_STR("{" TIME ",\"type\":\"note\",\"author\":\"a\\u0062\",\"data\":{}}"), &e, &err),
        err);
    assert_str(e->author, "a\\u0062");
    hob_event_unref(e);
}

static void test_log_event__is_one_line(void **state) {
    (void)state;
    hob_draft d;
    hob_draft_init(&d, HOB_EVENT_NOTE);
    hob_event *e = encode(&d, "{\n\"kind\":\r\n\"a\\nb\"}", 1);
    assert_str(hob_event_data(e), "{ \"kind\":  \"a\\nb\"}");
    hob_event_unref(e);
}

static void test_log_event__data_that_is_no_object_is_not_written(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "[]", "{", "{}{}", "{\"a\":}", "{},\"x\":{}", "{},\"data\":{}", "{\"a\":\"\n\"}"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        hob_draft d;
        hob_error err;
        hob_event *e = NULL;
        hob_draft_init(&d, HOB_EVENT_NOTE);
        hob_buf_addz(&d.data, wrong[i]);
        int rc = hob_event_encode(&d, HOB_STR("s"), 1, 0, &e, &err);
        if (rc >= 0) assert_str(e->data, wrong[i]); /* nothing else may have come of it */
        assert_int_equal(rc, HOB_EPARSE);
        assert_null(e);
        hob_draft_finish(&d);
    }
}

static void test_log_event__has_a_ceiling(void **state) {
    (void)state;
    hob_error err;
    hob_event *e = NULL;
    hob_draft d;
    hob_draft_init(&d, HOB_EVENT_NOTE);
    hob_buf_addz(&d.data, "{\"text\":\"");
    char *p = hob_buf_reserve(&d.data, HOB_EVENT_MAX - 20);
    memset(p, 'x', HOB_EVENT_MAX - 20);
    d.data.n += HOB_EVENT_MAX - 20;
    hob_buf_addz(&d.data, "\"}");
    assert_ok(hob_event_encode(&d, HOB_STR("s"), 1, 0, &e, &err), err);
    assert_int_equal(hob_event_text(e, NULL, 0), HOB_EVENT_MAX - 20);
    hob_event_unref(e);
    e = NULL;
    hob_buf_addz(&d.data, "far more than what fits into it");
    assert_int_equal(hob_event_encode(&d, HOB_STR("s"), 1, 0, &e, &err), HOB_ETOOBIG);
    assert_null(e);
    hob_str line = hob_str_n(d.data.p, (size_t)HOB_EVENT_LINE_MAX + 1); /* never read */
    assert_int_equal(hob_event_decode(line, &e, &err), HOB_ETOOBIG);
    assert_null(e);
    hob_draft_finish(&d);
}

static void test_log_event__lives_until_the_last_reference(void **state) {
    (void)state;
    hob_draft d;
    hob_draft_init(&d, HOB_EVENT_NOTE);
    hob_event *e = encode(&d, "{}", 3), *other = hob_event_ref(e);
    hob_event_unref(e);
    assert_int_equal(hob_event_seq(other), 3);
    hob_event_unref(other);
    hob_event_unref(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_event__is_written_in_a_fixed_order),
        cmocka_unit_test(test_log_event__leaves_out_what_does_not_apply),
        cmocka_unit_test(test_log_event__every_kind_survives_a_round_trip),
        cmocka_unit_test(test_log_event__ephemeral_kinds_are_the_six_of_the_contract),
        cmocka_unit_test(test_log_event__what_a_newer_version_wrote_keeps_its_bytes),
        cmocka_unit_test(test_log_event__a_line_that_is_none_is_refused),
        cmocka_unit_test(test_log_event__numbers_out_of_range_are_none),
        cmocka_unit_test(test_log_event__escapes_in_the_envelope_are_not_decoded),
        cmocka_unit_test(test_log_event__is_one_line),
        cmocka_unit_test(test_log_event__data_that_is_no_object_is_not_written),
        cmocka_unit_test(test_log_event__has_a_ceiling),
        cmocka_unit_test(test_log_event__lives_until_the_last_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
