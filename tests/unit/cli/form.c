/* Questions of the model in a terminal: what is shown, and what lines become. */
#include "cli/show.c"

#include "cli/form.c"
#include "cli/out.c"
#include "cli/signals.c"

#include "support/check.h"

typedef struct paper {
    hob_form *f;
    hob_buf b;
    hob_error err;
} paper;

static void paper_init(paper *p, const char *question, const char *schema) {
    p->f = hob_form_create(hob_str_z(question), hob_str_z(schema));
    hob_buf_init(&p->b, 1u << 20);
}

static void paper_finish(paper *p) {
    hob_form_destroy(p->f);
    hob_buf_finish(&p->b);
}

static const char *shown(paper *p) {
    hob_buf_reset(&p->b);
    hob_form_show(p->f, &p->b);
    hob_form_hint(p->f, &p->b);
    return hob_buf_z(&p->b);
}

static int take(paper *p, const char *line) {
    return hob_form_take(p->f, hob_str_z(line), &p->err);
}

/* What one line becomes; NULL: it is not taken. */
static const char *became(const char *schema, const char *line) {
    static char text[300];
    paper p;
    paper_init(&p, "?", schema);
    int got = take(&p, line);
    snprintf(text, sizeof text, "%.*s", HOB_FMT(hob_form_answer(p.f)));
    paper_finish(&p);
    return got == 1 ? text : NULL;
}

static void test_cli_form__a_line_becomes_what_is_wanted(void **state) {
    static const struct {
        const char *schema, *line, *answer;
    } cases[] = {
        {"", "it's \"so\"", "\"it's \\\"so\\\"\""},
        {"", "", NULL},
        {"{\"type\":\"string\"}", "7", "\"7\""},
        {"{\"type\":\"string\",\"default\":\"x\"}", "", "\"x\""},
        {"{\"type\":\"integer\"}", "7", "7"},
        {"{\"type\":\"number\"}", "seven", NULL},
        {"{\"type\":\"number\"}", "\"7\"", NULL},
        {"{\"type\":\"boolean\"}", "Yes", "true"},
        {"{\"type\":\"boolean\"}", "n", "false"},
        {"{\"type\":\"boolean\"}", "perhaps", NULL},
        {"{\"enum\":[\"red\",2,null]}", "1", "\"red\""},
        {"{\"enum\":[\"red\",2,null]}", "3", "null"},
        {"{\"enum\":[\"red\",2,null]}", "red", "\"red\""},
        {"{\"enum\":[\"red\",2,null]}", "4", NULL},
        {"{\"enum\":[\"red\",2,null]}", "0", NULL},
        {"{\"oneOf\":[{\"const\":\"r\",\"title\":\"Red\"},{\"const\":\"b\"}]}", "1", "\"r\""},
        {"{\"oneOf\":[{\"const\":\"r\",\"title\":\"Red\"},{\"const\":\"b\"}]}", "Red", "\"r\""},
        {"{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\",\"c\"]}}", "1, 3", "[\"a\",\"c\"]"},
        {"{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\",\"c\"]}}", "1,9", NULL},
        {"{\"type\":\"array\"}", "[1, {}]", "[1, {}]"},
        {"{\"type\":\"array\"}", "1,", NULL},
        {"{\"type\":[\"null\",\"integer\"]}", "7", "7"},
    };
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        const char *got = became(cases[i].schema, cases[i].line);
        if (!cases[i].answer)
            assert_null(got);
        else
            assert_string_equal(got ? got : "(not taken)", cases[i].answer);
    }
}

static void test_cli_form__an_object_is_asked_member_by_member(void **state) {
    paper p;
    (void)state;
    paper_init(
        &p, "How?\nSay it.",
        "{\"type\":\"object\",\"properties\":{\"colour\":{\"enum\":[\"red\",\"blue\"],"
        "\"description\":\"of the door\"},\"size\":{\"type\":\"integer\",\"title\":\"Size\"},"
        "\"name\":{\"type\":\"string\"}},\"required\":[\"colour\",\"name\"]}");
    assert_string_equal(shown(&p), "How?\n    | Say it.\n"
                                   "  colour: of the door\n    1) red\n    2) blue\n"
                                   "  the number of one; /no and why: ");
    assert_int_equal(take(&p, "pink"), HOB_EINVAL);
    assert_string_equal(p.err.message, "there is no choice pink: 1 to 2");
    assert_int_equal(take(&p, "2"), 0);
    assert_string_equal(shown(&p), "  Size\n  a number; empty: none; /no and why: ");
    assert_int_equal(take(&p, ""), 0);
    assert_string_equal(shown(&p), "  name\n  your answer; /no and why: ");
    assert_int_equal(take(&p, ""), HOB_EINVAL);
    assert_int_equal(take(&p, "Eva"), 1);
    assert_true(hob_str_eqz(hob_form_answer(p.f), "{\"colour\":\"blue\",\"name\":\"Eva\"}"));
    paper_finish(&p);
}

static void test_cli_form__a_member_that_is_not_taken_leaves_no_trace(void **state) {
    paper p;
    (void)state;
    paper_init(&p, "?",
               "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"array\",\"items\":{"
               "\"enum\":[1]}}}}");
    assert_int_equal(take(&p, "x"), HOB_EINVAL);
    assert_int_equal(take(&p, "5"), 0);
    assert_int_equal(take(&p, "1,2"), HOB_EINVAL);
    assert_int_equal(take(&p, "1"), 1);
    assert_true(hob_str_eqz(hob_form_answer(p.f), "{\"a\":5,\"b\":[1]}"));
    paper_finish(&p);
}

static void test_cli_form__nothing_of_it_reaches_the_terminal_as_it_is(void **state) {
    paper p;
    (void)state;
    paper_init(&p, "a\033[2Jb",
               "{\"enum\":[\"x\\u001b[31m\",\"one\\ntwo\"],\"title\":\"t\\u0007\",\"description\":"
               "\"d\\u009b\",\"default\":\"\\u001b\"}");
    const char *text = shown(&p);
    for (const char *c = text; *c; c++) assert_true((unsigned char)*c >= ' ' || *c == '\n');
    assert_non_null(strstr(text, "a^[[2Jb\n"));
    assert_non_null(strstr(text, "1) x^[[31m\n"));
    assert_non_null(strstr(text, "2) one two\n"));
    paper_finish(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cli_form__a_line_becomes_what_is_wanted),
        cmocka_unit_test(test_cli_form__an_object_is_asked_member_by_member),
        cmocka_unit_test(test_cli_form__a_member_that_is_not_taken_leaves_no_trace),
        cmocka_unit_test(test_cli_form__nothing_of_it_reaches_the_terminal_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
