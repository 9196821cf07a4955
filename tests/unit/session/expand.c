/* Prompts that begin with a command of the definitions, and those that only look like it. */
#include "support/definitions.h"

static const char echo[] =
    "{'rules':[{'when':{'user':{'prefix':'wait'},'step':1},'reply':[{'tool':'gate'}]},"
    "{'when':{'user':{'contains':'write'},'step':1},"
    "'reply':[{'tool':'write','args':{'path':'out','content':'x'}}]}],"
    "'otherwise':[{'text':'{{user}}'}]}";

static void start(host *r) {
    host_init(r, echo);
    host_define(r, "commands", "fix", "", "Fix $1 in ${2:-all}.");
    host_define(r, "skills", "pdf", "disable-model-invocation: true\n", "Use pdftotext on $1.");
    host_open(r);
}

static void test_session_expand__a_known_command_is_what_it_stands_for(void **state) {
    host r;
    (void)state;
    start(&r);
    host_prompt(&r, "/fix 42");
    assert_string_equal(host_text(&r), "Fix 42 in all.");
    host_prompt(&r, "  /fix 'a b' here \n");
    assert_string_equal(host_text(&r), "Fix a b in here.");
    host_define_end(&r);
}

static void test_session_expand__anything_else_is_a_prompt(void **state) {
    static const char *const prompts[] = {
        "/etc/passwd is what?", "/fix/x",     "/fixed 1", "/",
        "see /fix 1",           "/skill:fix", "//fix",    "/FIX 1"};
    host r;
    (void)state;
    start(&r);
    for (size_t i = 0; i < HOB_ARRAY_LEN(prompts); i++) {
        host_prompt(&r, prompts[i]);
        assert_string_equal(host_text(&r), prompts[i]);
    }
    host_define_end(&r);
}

static void test_session_expand__the_log_has_what_was_typed_and_what_it_became(void **state) {
    host r;
    char typed[64], text[64];
    hob_page *page;
    (void)state;
    start(&r);
    host_prompt(&r, "/fix 42");
    hob_session_seek(r.s, 0);
    hob_event *e = host_until(&r, HOB_EVENT_USER_MESSAGE, NULL, NULL);
    hob_event_field(e, "content.0.typed", typed, sizeof typed);
    hob_event_field(e, "content.0.text", text, sizeof text);
    hob_event_unref(e);
    assert_string_equal(typed, "/fix 42");
    assert_string_equal(text, "Fix 42 in all.");
    hob_page_opts o = HOB_PAGE_OPTS_INIT;
    assert_ok(hob_runtime_sessions(r.rt, &o, &page, &r.err), r.err);
    assert_true(hob_str_find(hob_page_row(page, 0), HOB_STR("\"title\":\"/fix 42\"")) > 0);
    hob_page_destroy(page);
    host_define_end(&r);
}

static void test_session_expand__a_skill_by_the_user(void **state) {
    host r;
    (void)state;
    start(&r);
    host_prompt(&r, "/pdf a.pdf");
    assert_non_null(strstr(host_text(&r), "/skills/pdf\">\nUse pdftotext on a.pdf.\n</skill>"));
    host_prompt(&r, "/skill:pdf b.pdf");
    assert_non_null(strstr(host_text(&r), "Use pdftotext on b.pdf."));
    host_define_end(&r);
}

static void test_session_expand__the_first_block_counts(void **state) {
    host r;
    (void)state;
    start(&r);
    assert_ok(hob_session_prompt_content(r.s,
                                         HOB_STR("[{\"type\":\"text\",\"text\":\"/fix 1\"},"
                                                 "{\"type\":\"text\",\"text\":\"/fix 2\"}]"),
                                         &r.err),
              r.err);
    host_wait(&r);
    assert_non_null(strstr(host_text(&r), "Fix 1 in all."));
    assert_non_null(strstr(host_text(&r), "/fix 2"));
    host_define_end(&r);
}

static void test_session_expand__in_steering_and_follow_ups_too(void **state) {
    host r;
    gate g;
    (void)state;
    gate_init(&g, "gate", HOB_TOOL_READ_ONLY);
    host_init(&r, echo);
    host_define(&r, "commands", "fix", "", "Fix $1.");
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, HOB_STR("wait"), &r.err), r.err);
    gate_wait_started(&g, 1);
    assert_ok(hob_session_steer(r.s, HOB_STR("/fix 1"), &r.err), r.err);
    assert_ok(hob_session_follow_up(r.s, HOB_STR("/fix 2"), &r.err), r.err);
    gate_answer(&g, "done");
    host_wait(&r);
    assert_non_null(strstr(host_log(&r), "steer_delivered q8 \"Fix 1.\""));
    assert_string_equal(host_text(&r), "Fix 2.");
    host_define_end(&r);
    gate_finish(&g);
}

static void test_session_expand__sec_08_what_a_command_names_is_all_there_is(void **state) {
    host r;
    (void)state;
    host_init(&r, echo);
    host_define(&r, "commands", "look", "allowed-tools: Read\n", "write it");
    r.so.permission_mode = "yolo";
    host_open(&r);
    host_prompt(&r, "/look");
    assert_int_equal(hob_test_content(&r.folder, "out").n, 0);
    assert_non_null(strstr(host_log(&r), "command look may use Read only"));
    host_prompt(&r, "write");
    assert_true(hob_test_content(&r.folder, "out").n > 0);
    host_define_end(&r);
}

static void test_session_expand__a_skill_that_cannot_be_read_starts_nothing(void **state) {
    host r;
    (void)state;
    start(&r);
    hob_test_file(&r.folder, "skills/pdf/SKILL.md", HOB_STR("no front matter"));
    assert_int_equal(hob_session_prompt(r.s, HOB_STR("/pdf x"), &r.err), HOB_EPARSE);
    assert_int_equal(host_count(&r, "run_started"), 0);
    host_define_end(&r);
}

int main(void) {
#define T(name) cmocka_unit_test(test_session_expand__##name)
    const struct CMUnitTest tests[] = {
        T(a_known_command_is_what_it_stands_for),
        T(anything_else_is_a_prompt),
        T(the_log_has_what_was_typed_and_what_it_became),
        T(a_skill_by_the_user),
        T(the_first_block_counts),
        T(in_steering_and_follow_ups_too),
        T(sec_08_what_a_command_names_is_all_there_is),
        T(a_skill_that_cannot_be_read_starts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
