#include "support/check.h"
#include "tool/tool.h"

typedef struct row {
    const char *schema, *value;
    const char *problem; /* "" = fits */
} row;

static void check_row(const row *w) {
    hob_schema *s = NULL;
    hob_error err = {.message = ""};
    const hob_json *v = NULL;
    hob_arena *arena = hob_arena_create(0);
    if (hob_schema_create(hob_str_z(w->schema), &s, &err) < 0)
        fail_msg("%s: %s", w->schema, err.message);
    assert_ok(hob_json_parse(arena, hob_str_z(w->value), NULL, &v, &err), err);
    int r = hob_schema_check(s, v, &err);
    const char *got = r < 0 ? err.message : "";
    if (strcmp(got, w->problem))
        fail_msg("%s of %s:\n  got      %s\n  expected %s", w->value, w->schema, got, w->problem);
    assert_int_equal(hob_schema_check(s, v, NULL), *w->problem ? HOB_EINVAL : 0);
    hob_schema_destroy(s);
    hob_arena_destroy(arena);
}

#define CHECK(rows)                                                                                \
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) check_row(&(rows)[i])

static void test_tool_schema__type(void **state) {
    static const row rows[] = {
        {"{}", "[1,{\"a\":null}]", ""},
        {"{\"type\":\"string\"}", "\"x\"", ""},
        {"{\"type\":\"string\"}", "1", "the value must be a string, not a number"},
        {"{\"type\":\"integer\"}", "1", ""},
        {"{\"type\":\"integer\"}", "-9223372036854775808", ""},
        {"{\"type\":\"integer\"}", "1.0", ""},
        {"{\"type\":\"integer\"}", "1e3", ""},
        {"{\"type\":\"integer\"}", "123456789012345678901234567890", ""},
        {"{\"type\":\"integer\"}", "1.5", "the value must be an integer, not a number"},
        {"{\"type\":\"integer\"}", "1e400", "the value must be an integer, not a number"},
        {"{\"type\":\"integer\"}", "\"1\"", "the value must be an integer, not a string"},
        {"{\"type\":\"number\"}", "1", ""},
        {"{\"type\":\"number\"}", "true", "the value must be a number, not a boolean"},
        {"{\"type\":\"boolean\"}", "false", ""},
        {"{\"type\":\"boolean\"}", "0", "the value must be a boolean, not a number"},
        {"{\"type\":\"null\"}", "null", ""},
        {"{\"type\":\"null\"}", "\"\"", "the value must be null, not a string"},
        {"{\"type\":\"array\"}", "{}", "the value must be an array, not an object"},
        {"{\"type\":\"object\"}", "[]", "the value must be an object, not an array"},
        {"{\"type\":[\"string\",\"null\"]}", "null", ""},
        {"{\"type\":[\"string\",\"null\"]}", "\"x\"", ""},
        {"{\"type\":[\"integer\",\"null\"]}", "[]",
         "the value must be null or an integer, not an array"},
    };
    (void)state;
    CHECK(rows);
}

#define PERSON                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"age\":{\"type\":"       \
    "\"integer\"}},\"required\":[\"name\"],\"additionalProperties\":false}"

static void test_tool_schema__objects(void **state) {
    static const row rows[] = {
        {PERSON, "{\"name\":\"a\"}", ""},
        {PERSON, "{\"name\":\"a\",\"age\":3}", ""},
        {PERSON, "{}", "name is missing"},
        {PERSON, "{\"nme\":\"a\"}", "name is missing; nme is unknown (did you mean name?)"},
        {PERSON, "{\"name\":1,\"age\":\"x\"}",
         "name must be a string, not a number; age must be an integer, not a string"},
        {PERSON, "{\"name\":\"a\",\"zzzzzzzz\":1}", "zzzzzzzz is unknown"},
        {"{\"properties\":{\"a\":{\"type\":\"null\"}}}", "{\"b\":1}", ""},
        {"{\"properties\":{\"a\":{\"type\":\"null\"}}}", "7", ""},
        {"{\"additionalProperties\":{\"type\":\"integer\"}}", "{\"a\":1,\"b\":2}", ""},
        {"{\"additionalProperties\":{\"type\":\"integer\"}}", "{\"a\":1,\"b\":\"\"}",
         "b must be an integer, not a string"},
        {"{\"required\":[\"x\"]}", "{\"x\":null}", ""},
        {"{\"required\":[\"x\"],\"additionalProperties\":false}", "{\"x\":null}", ""},
        {"{\"required\":[\"x\",\"y\"]}", "{}", "x is missing; y is missing"},
        /* of two members with one name both are looked at */
        {PERSON, "{\"name\":1,\"name\":\"a\"}", "name must be a string, not a number"},
    };
    (void)state;
    CHECK(rows);
}

static void test_tool_schema__paths(void **state) {
    static const char nested[] =
        "{\"properties\":{\"list\":{\"items\":{\"properties\":{\"n\":{\"type\":\"integer\"}},"
        "\"required\":[\"n\"]}}}}";
    static const row rows[] = {
        {nested, "{\"list\":[{\"n\":1},{\"n\":2}]}", ""},
        {nested, "{\"list\":[{\"n\":1},{},{\"n\":\"2\"}]}",
         "list[1].n is missing; list[2].n must be an integer, not a string"},
        {"{\"items\":{\"items\":{\"type\":\"null\"}}}", "[[],[null,0]]",
         "[1][1] must be null, not a number"},
    };
    (void)state;
    CHECK(rows);
}

static void test_tool_schema__numbers(void **state) {
    static const row rows[] = {
        {"{\"minimum\":1,\"maximum\":3}", "1", ""},
        {"{\"minimum\":1,\"maximum\":3}", "3", ""},
        {"{\"minimum\":1,\"maximum\":3}", "0", "the value must be at least 1"},
        {"{\"minimum\":1,\"maximum\":3}", "3.5", "the value must be at most 3"},
        {"{\"minimum\":0.5}", "0.25", "the value must be at least 0.5"},
        {"{\"minimum\":1}", "\"0\"", ""},
        {"{\"maximum\":9007199254740992}", "9007199254740993",
         "the value must be at most 9007199254740992"},
    };
    (void)state;
    CHECK(rows);
}

static void test_tool_schema__sizes(void **state) {
    static const row rows[] = {
        {"{\"minLength\":1}", "\"\"", "the value must have at least 1 characters"},
        {"{\"maxLength\":2}", "\"\\u00e4\\ud83d\\ude00\"", ""},
        {"{\"maxLength\":2}", "\"abc\"", "the value must have at most 2 characters"},
        {"{\"minItems\":1,\"maxItems\":2}", "[]", "the value must have at least 1 items"},
        {"{\"minItems\":1,\"maxItems\":2}", "[1,2]", ""},
        {"{\"minItems\":1,\"maxItems\":2}", "[1,2,3]", "the value must have at most 2 items"},
        {"{\"minLength\":1,\"minItems\":1}", "7", ""},
    };
    (void)state;
    CHECK(rows);
}

static void test_tool_schema__values(void **state) {
    static const row rows[] = {
        {"{\"enum\":[\"a\",1,null,{\"x\":[1,2]}]}", "\"a\"", ""},
        {"{\"enum\":[\"a\",1,null,{\"x\":[1,2]}]}", "1.0", ""},
        {"{\"enum\":[\"a\",1,null,{\"x\":[1,2]}]}", "{\"x\":[1,2]}", ""},
        {"{\"enum\":[\"a\",1]}", "\"b\"", "the value must be one of [\"a\",1]"},
        {"{\"enum\":[[1,2]]}", "[1]", "the value must be one of [[1,2]]"},
        {"{\"enum\":[[1,2]]}", "[1,2,3]", "the value must be one of [[1,2]]"},
        {"{\"enum\":[false]}", "0", "the value must be one of [false]"},
        {"{\"const\":{\"a\":1,\"b\":2}}", "{\"b\":2,\"a\":1}", ""},
        {"{\"const\":{\"a\":1}}", "{\"a\":1,\"b\":2}", "the value must be {\"a\":1}"},
        {"{\"const\":\"\\u0061\"}", "\"a\"", ""},
        {"{\"const\":null}", "0", "the value must be null"},
    };
    (void)state;
    CHECK(rows);
}

/* What a model sends has as many members as it likes. */
static void test_tool_schema__a_value_of_many_members(void **state) {
    hob_buf value;
    (void)state;
    hob_buf_init(&value, 16 << 20);
    for (int i = 0; i < 300000; i++) hob_buf_addf(&value, "%c\"a\":1", i ? ',' : '{');
    hob_buf_addc(&value, '}');
    check_row(&(row){"{\"const\":{\"a\":1}}", hob_buf_z(&value), ""});
    hob_buf_finish(&value);
}

static void test_tool_schema__choices(void **state) {
    static const char either[] = "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]}";
    static const char one[] = "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":5}]}";
    static const row rows[] = {
        {either, "\"x\"", ""},
        {either, "3", ""},
        {either, "[]", "the value fits none of the allowed forms"},
        {one, "3", ""},
        {one, "5.5", ""},
        {one, "6", "the value fits more than one of the allowed forms"},
        {one, "3.5", "the value fits none of the allowed forms"},
    };
    (void)state;
    CHECK(rows);
}

static void test_tool_schema__words_are_no_rules(void **state) {
    static const row rows[] = {
        {"{\"description\":1,\"default\":\"x\",\"title\":[],\"$schema\":\"y\"}", "0", ""},
    };
    (void)state;
    CHECK(rows);
}

static void test_tool_schema__a_long_list_of_problems_is_cut(void **state) {
    hob_schema *s;
    hob_error err = {.message = ""};
    const hob_json *v;
    hob_arena *arena = hob_arena_create(0);
    hob_buf value;
    (void)state;
    hob_buf_init(&value, 1 << 20);
    hob_buf_addz(&value, "{\"x\":1");
    for (int i = 0; i < 10000; i++) hob_buf_addf(&value, ",\"\xc3\xa4%d\":1", i);
    hob_buf_addz(&value, "}");
    assert_ok(hob_schema_create(HOB_STR(PERSON), &s, &err), err);
    assert_ok(hob_json_parse(arena, hob_buf_str(&value), NULL, &v, &err), err);
    assert_int_equal(hob_schema_check(s, v, &err), HOB_EINVAL);
    assert_true(strlen(err.message) > 400);
    assert_true(hob_utf8_valid(hob_str_z(err.message)));
    assert_true(hob_str_ends(hob_str_z(err.message), HOB_STR("…")));
    hob_buf_finish(&value);
    hob_schema_destroy(s);
    hob_arena_destroy(arena);
}

static void refused(const char *schema, const char *message) {
    hob_schema *s = NULL;
    hob_error err = {.message = ""};
    int r = hob_schema_create(hob_str_z(schema), &s, &err);
    if (r != HOB_EINVAL || strcmp(err.message, message))
        fail_msg("%s:\n  got      %d %s\n  expected %s", schema, r, err.message, message);
    assert_null(s);
}

static void test_tool_schema__refuses_what_it_does_not_know(void **state) {
    (void)state;
    refused("{\"format\":\"uri\"}",
            "the schema uses \"format\", which is not supported (docs/tools.md has the list)");
    refused("{\"properties\":{\"a\":{\"$ref\":\"#\"}}}",
            "the schema uses \"$ref\", which is not supported (docs/tools.md has the list)");
    refused("{\"pattern\":\"^a$\"}",
            "the schema's \"pattern\" is not supported: say it in the description and check in the "
            "tool");
}

static void test_tool_schema__refuses_malformed_schemas(void **state) {
    (void)state;
    refused("[]", "a schema must be an object, not []");
    refused("{\"items\":true}", "a schema must be an object, not true");
    refused("{\"type\":\"text\"}", "the schema's \"type\" is unknown: \"text\"");
    refused("{\"type\":3}", "the schema's \"type\" is unknown: 3");
    refused("{\"type\":[]}", "the schema's \"type\" is an empty list");
    refused("{\"properties\":[]}", "the schema's \"properties\" must be an object");
    refused("{\"required\":\"a\"}", "the schema's \"required\" must be a list of names");
    refused("{\"required\":[1]}", "the schema's \"required\" must list names");
    refused("{\"enum\":[]}", "the schema's \"enum\" must be a list of values");
    refused("{\"minimum\":\"1\"}", "the schema's \"minimum\" must be a number");
    refused("{\"maximum\":null}", "the schema's \"maximum\" must be a number");
    refused("{\"minLength\":-1}", "the schema's \"minLength\" must be an integer and not negative");
    refused("{\"maxItems\":1.5}", "the schema's \"maxItems\" must be an integer and not negative");
    refused("{\"anyOf\":{}}", "the schema's \"anyOf\" must be a list of schemas");
    refused("{\"oneOf\":[{}],\"anyOf\":[{}]}",
            "the schema's \"anyOf\" stands beside another anyOf or oneOf");
}

static void test_tool_schema__refuses_what_is_not_json(void **state) {
    hob_schema *s = NULL;
    hob_error err = {.message = ""};
    (void)state;
    assert_int_equal(hob_schema_create(HOB_STR("{\"type\":"), &s, &err), HOB_EINVAL);
    assert_true(hob_str_starts(hob_str_z(err.message), HOB_STR("the schema is not JSON: ")));
    assert_int_equal(hob_schema_create(HOB_STR(""), &s, NULL), HOB_EINVAL);
}

static void test_tool_schema__has_ceilings(void **state) {
    hob_schema *s = NULL;
    hob_buf text;
    (void)state;
    hob_buf_init(&text, 1 << 20);
    for (int i = 0; i < 33; i++) hob_buf_addz(&text, "{\"items\":");
    hob_buf_addz(&text, "{}");
    for (int i = 0; i < 33; i++) hob_buf_addz(&text, "}");
    assert_int_equal(hob_schema_create(hob_buf_str(&text), &s, NULL), HOB_ETOOBIG);

    hob_buf_reset(&text);
    hob_buf_addz(&text, "{\"required\":[\"x\"");
    for (int i = 0; i < 300; i++) hob_buf_addf(&text, ",\"p%d\"", i);
    hob_buf_addz(&text, "]}");
    assert_int_equal(hob_schema_create(hob_buf_str(&text), &s, NULL), HOB_ETOOBIG);

    hob_buf_reset(&text);
    while (text.n < 300 * 1024) hob_buf_addz(&text, "          ");
    assert_int_equal(hob_schema_create(hob_buf_str(&text), &s, NULL), HOB_ETOOBIG);
    hob_buf_finish(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tool_schema__type),
        cmocka_unit_test(test_tool_schema__objects),
        cmocka_unit_test(test_tool_schema__paths),
        cmocka_unit_test(test_tool_schema__numbers),
        cmocka_unit_test(test_tool_schema__sizes),
        cmocka_unit_test(test_tool_schema__values),
        cmocka_unit_test(test_tool_schema__a_value_of_many_members),
        cmocka_unit_test(test_tool_schema__choices),
        cmocka_unit_test(test_tool_schema__words_are_no_rules),
        cmocka_unit_test(test_tool_schema__a_long_list_of_problems_is_cut),
        cmocka_unit_test(test_tool_schema__refuses_what_it_does_not_know),
        cmocka_unit_test(test_tool_schema__refuses_malformed_schemas),
        cmocka_unit_test(test_tool_schema__refuses_what_is_not_json),
        cmocka_unit_test(test_tool_schema__has_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
