/* RunAgentInput: what is refused, what is left out, what is understood. */
#include "support/agui.h"
#include "support/check.h"

#define Z(text) hob_str_z(text)

static hob_error err;

/* Members beside the two ids. */
static int parse(const char *members, hob_agui_input **out) {
    hob_buf json;
    hob_buf_init(&json, 1 << 20);
    hob_buf_addf(&json, "{\"threadId\":\"t\",\"runId\":\"r\"%s%s}", *members ? "," : "", members);
    int rc = hob_agui_input_parse(hob_buf_str(&json), out, &err);
    hob_buf_finish(&json);
    return rc;
}

static void test_agui_input__what_it_says(void **state) {
    (void)state;
    hob_agui_input *in;
    hob_agui_message m;
    hob_agui_tool t;
    hob_agui_context c;
    hob_agui_resume r;
    assert_ok(
        parse("\"protocolVersion\":\"1.0\",\"parentRunId\":\"p\",\"state\":[1,null],"
              "\"forwardedProps\":{\"x\":1},\"messages\":[{\"id\":\"u\",\"role\":\"user\","
              "\"content\":[{\"type\":\"text\",\"text\":\"a\\u00e9\"},{\"type\":\"image\","
              "\"source\":{\"type\":\"url\",\"value\":\"x\"}},{\"type\":\"text\",\"text\":\"b\"}]},"
              "{\"id\":\"m\",\"role\":\"tool\",\"toolCallId\":\"c\",\"content\":\"no\","
              "\"error\":\"e\"}],\"tools\":[{\"name\":\"n\",\"description\":\"d\","
              "\"parameters\":{\"type\":\"object\"}}],"
              "\"context\":[{\"description\":\"d\",\"value\":\"v\"}],\"resume\":["
              "{\"interruptId\":\"i\",\"status\":\"resolved\",\"payload\":{\"approved\":true}},"
              "{\"interruptId\":\"j\",\"status\":\"cancelled\"}]",
              &in),
        err);
    assert_str(hob_agui_input_thread_id(in), "t");
    assert_str(hob_agui_input_run_id(in), "r");
    assert_str(hob_agui_input_parent_run_id(in), "p");
    assert_int_equal(hob_agui_input_dialect(in), HOB_AGUI_1_0);
    assert_str(hob_agui_input_state(in), "[1,null]");
    assert_str(hob_agui_input_forwarded_props(in), "{\"x\":1}");
    assert_int_equal(hob_agui_input_message_count(in), 2);
    assert_ok(hob_agui_input_message(in, 0, &m), err);
    assert_str(m.text, "a\xc3\xa9"
                       "b");
    assert_str(m.role, "user");
    assert_ok(hob_agui_input_message(in, 1, &m), err);
    assert_str(m.text, "no");
    assert_str(m.tool_call, "c");
    assert_str(m.error, "e");
    assert_int_equal(hob_agui_input_message(in, 2, &m), HOB_ENOENT);
    assert_ok(hob_agui_input_tool(in, 0, &t), err);
    assert_str(t.name, "n");
    assert_str(t.parameters, "{\"type\":\"object\"}");
    assert_ok(hob_agui_input_context(in, 0, &c), err);
    assert_str(c.value, "v");
    assert_int_equal(hob_agui_input_resume_count(in), 2);
    assert_ok(hob_agui_input_resume(in, 0, &r), err);
    assert_str(r.payload, "{\"approved\":true}");
    assert_false(r.cancelled);
    assert_ok(hob_agui_input_resume(in, 1, &r), err);
    assert_true(r.cancelled);
    assert_int_equal(hob_agui_input_warning_count(in), 0);
    hob_agui_input_destroy(in);
}

static void test_agui_input__three_members_are_enough(void **state) {
    (void)state;
    hob_agui_input *in;
    assert_ok(parse("\"messages\":[]", &in), err);
    assert_int_equal(hob_agui_input_dialect(in), HOB_AGUI_OLDER);
    assert_str(hob_agui_input_state(in), "{}");
    assert_str(hob_agui_input_forwarded_props(in), "{}");
    assert_str(hob_agui_input_messages(in), "[]");
    assert_int_equal(hob_agui_input_tool_count(in), 0);
    hob_agui_input_destroy(in);
}

static void test_agui_input__wrong_values_are_refused_and_named(void **state) {
    (void)state;
    static const struct {
        const char *members, *says;
    } rows[] = {
        {"", "messages is missing"},
        {"\"messages\":{}", "messages must be an array"},
        {"\"messages\":[1]", "messages[0] must be an object"},
        {"\"messages\":[{\"id\":\"a\"}]", "messages[0].role must be a string"},
        {"\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]", "messages[0].id is missing"},
        {"\"messages\":[{\"id\":\"a\",\"role\":\"user\",\"content\":5}]",
         "messages[0].content must be a string or an array of parts"},
        {"\"messages\":[{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]",
         "messages[0].content[0].text is missing"},
        {"\"messages\":[{\"id\":\"a\",\"role\":\"tool\",\"content\":\"x\"}]",
         "messages[0].toolCallId is missing"},
        {"\"messages\":[{\"id\":\"a\",\"role\":\"assistant\",\"toolCalls\":[{\"id\":\"c\","
         "\"type\":\"function\",\"function\":{\"name\":\"x\"}}]}]",
         "messages[0].toolCalls[0].function.arguments is missing"},
        {"\"messages\":[],\"tools\":{}", "tools must be an array"},
        {"\"messages\":[],\"tools\":[{\"description\":\"x\"}]", "tools[0].name is missing"},
        {"\"messages\":[],\"context\":[{\"description\":\"d\",\"value\":1}]",
         "context[0].value must be a string"},
        {"\"messages\":[],\"resume\":[{\"status\":\"resolved\"}]",
         "resume[0].interruptId is missing"},
        {"\"messages\":[],\"resume\":[{\"interruptId\":\"a\",\"status\":5}]",
         "resume[0].status must be a string"},
        {"\"messages\":[],\"protocolVersion\":1", "protocolVersion must be a string"},
        {"\"messages\":[],\"protocolVersion\":\"1.0\",\"parentRunId\":null",
         "parentRunId is null; leave it out instead"},
        {"\"messages\":[],\"parentRunId\":\"\"", "parentRunId must have 1 to 1024 bytes"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) {
        hob_agui_input *in;
        assert_int_equal(parse(rows[i].members, &in), HOB_EPARSE);
        assert_string_equal(err.message, rows[i].says);
    }
}

static void test_agui_input__no_json_is_refused(void **state) {
    (void)state;
    static const char *const rows[] = {
        "", "[]", "null", "\"x\"", "42", "{\"threadId\":", "{}{}", "{\"threadId\":\"\xc3(\"}"};
    hob_agui_input *in;
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++)
        assert_int_equal(hob_agui_input_parse(Z(rows[i]), &in, &err), HOB_EPARSE);
    char *deep = hob_alloc(200001);
    memset(deep, '[', 200000);
    assert_true(hob_agui_input_parse(Z(deep), &in, &err) < 0);
    hob_free(deep);
}

static void test_agui_input__strangers_are_left_out_and_told(void **state) {
    (void)state;
    hob_agui_input *in;
    assert_ok(parse("\"x\":{\"a\":1},\"protocolVersion\":\"1.9\",\"messages\":["
                    "{\"id\":\"w\",\"role\":\"wizard\",\"content\":\"?\"},"
                    "{\"id\":\"u\",\"role\":\"user\",\"y\":1,\"content\":[{\"type\":\"hologram\"},"
                    "{\"type\":\"image\",\"source\":{\"type\":\"dream\"}},"
                    "{\"type\":\"binary\",\"mimeType\":\"a/b\"},"
                    "{\"type\":\"text\",\"text\":\"hi\"}]}],"
                    "\"resume\":[{\"interruptId\":\"a\",\"status\":\"maybe\"}]",
                    &in),
              err);
    assert_str(hob_agui_input_messages(in), "[{\"id\":\"u\",\"role\":\"user\",\"content\":"
                                            "[{\"type\":\"text\",\"text\":\"hi\"}]}]");
    assert_int_equal(hob_agui_input_resume_count(in), 0);
    static const char *const told[] = {
        "messages[0].role: \"wizard\" is not known; it was left out",
        "messages[1].content[0].type: \"hologram\" is not known; it was left out",
        "messages[1].content[1].source.type: \"dream\" is not known; it was left out",
        "messages[1].content[2].type: \"binary\" is not known; it was left out",
        "messages[1].y is not known and was left out",
        "resume[0].status has a word that is not known; it was left out",
        "x is not known and was left out",
        "protocolVersion 1.9 is served as 1.0",
    };
    assert_int_equal(hob_agui_input_warning_count(in), HOB_ARRAY_LEN(told));
    for (size_t i = 0; i < HOB_ARRAY_LEN(told); i++)
        assert_str(hob_agui_input_warning(in, i), told[i]);
    hob_agui_input_destroy(in);
}

static void test_agui_input__versions(void **state) {
    (void)state;
    hob_agui_input *in;
    assert_ok(parse("\"messages\":[],\"protocolVersion\":\"banana\"", &in), err);
    assert_int_equal(hob_agui_input_dialect(in), HOB_AGUI_1_0);
    assert_int_equal(hob_agui_input_warning_count(in), 1);
    hob_agui_input_destroy(in);
    assert_int_equal(parse("\"messages\":[],\"protocolVersion\":\"2.0\"", &in), HOB_EVERSION);
}

static void test_agui_input__null_is_absent_for_older_clients(void **state) {
    (void)state;
    hob_agui_input *in;
    assert_ok(parse("\"messages\":[{\"id\":\"a\",\"role\":\"assistant\",\"content\":null,"
                    "\"toolCalls\":null}],\"parentRunId\":null,\"tools\":null",
                    &in),
              err);
    assert_str(hob_agui_input_messages(in), "[{\"id\":\"a\",\"role\":\"assistant\"}]");
    assert_str(hob_agui_input_parent_run_id(in), "");
    hob_agui_input_destroy(in);
}

static void test_agui_input__half_a_character_does_not_travel_on(void **state) {
    (void)state;
    hob_agui_input *in;
    assert_ok(
        parse("\"messages\":[{\"id\":\"a\",\"role\":\"user\",\"content\":\"\\ud800 x\"}]", &in),
        err);
    assert_str(hob_agui_input_messages(in),
               "[{\"id\":\"a\",\"role\":\"user\",\"content\":\"\xef\xbf\xbd x\"}]");
    hob_agui_input_destroy(in);
}

/* A text of many small values takes many times its size: that is refused long before the machine is full of it. */
static void test_agui_input__values_have_a_ceiling_beside_the_text(void **state) {
    (void)state;
    hob_agui_input *in;
    hob_buf json;
    hob_buf_init(&json, 32 << 20);
    hob_buf_addz(&json, "{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[],\"state\":[0");
    for (int i = 0; i < 2500000; i++) hob_buf_addz(&json, ",0");
    hob_buf_addz(&json, "]}");
    assert_int_equal(hob_agui_input_parse(hob_buf_str(&json), &in, &err), HOB_ETOOBIG);
    hob_buf_reset(&json);
    hob_buf_addz(&json, "{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[],\"state\":\"");
    for (int i = 0; i < 15000000; i++) hob_buf_addz(&json, "\\n");
    hob_buf_addz(&json, "\"}");
    assert_ok(hob_agui_input_parse(hob_buf_str(&json), &in, &err), err);
    hob_agui_input_destroy(in);
    hob_buf_finish(&json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_input__what_it_says),
        cmocka_unit_test(test_agui_input__three_members_are_enough),
        cmocka_unit_test(test_agui_input__wrong_values_are_refused_and_named),
        cmocka_unit_test(test_agui_input__no_json_is_refused),
        cmocka_unit_test(test_agui_input__strangers_are_left_out_and_told),
        cmocka_unit_test(test_agui_input__versions),
        cmocka_unit_test(test_agui_input__null_is_absent_for_older_clients),
        cmocka_unit_test(test_agui_input__half_a_character_does_not_travel_on),
        cmocka_unit_test(test_agui_input__values_have_a_ceiling_beside_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
