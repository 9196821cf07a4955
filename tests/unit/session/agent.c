/* A session that is an agent of the definitions: its words, its model, and what it takes away. */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>

/* Says what it was offered and told. */
static const char script[] =
    "{'rules':["
    "{'when':{'user':'write','step':1},'reply':[{'tool':'write','args':{'path':'f','content':'x'}}]},"
    "{'when':{'user':'read','step':{'max':9}},'reply':[{'tool':'read','args':{'path':'f{{step}}'}}]},"
    "{'when':{'system':{'contains':'You review.'},'offers':'write'},'reply':[{'text':'reviewer with write'}]},"
    "{'when':{'system':{'contains':'You review.'}},'reply':[{'text':'reviewer'}]},"
    "{'when':{'system':{'prefix':'You are hob'}},'reply':[{'text':'hob'}]}],"
    "'otherwise':[{'text':'somebody else'}]}";

static void give(host *r, const char *fields) {
    char text[512];
    hob_test_mkdir(&r->folder, "agents");
    int n = snprintf(text, sizeof text, "---\nname: reviewer\ndescription: d\n%s---\nYou review.\n",
                     fields);
    hob_test_file(&r->folder, "agents/reviewer.md", hob_str_n(text, (size_t)n));
    if (!r->so.definitions)
        assert_ok(hob_definitions_create(NULL, &r->so.definitions, &r->err), r->err);
    assert_int_equal(
        hob_agents_register_dir(r->so.definitions, hob_test_path(&r->folder, "agents"), &r->err),
        1);
}

static void open_reviewer(host *r, const char *fields) {
    host_init(r, script);
    give(r, fields);
    r->so.agent_name = "reviewer";
    host_open(r);
}

static void finish(host *r) {
    hob_definitions_destroy(r->so.definitions);
    host_finish(r);
}

static void test_session_agent__its_words_come_first(void **state) {
    host r;
    (void)state;
    open_reviewer(&r, "");
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_string_equal(host_text(&r), "reviewer with write");
    finish(&r);
}

static void test_session_agent__what_it_may_not_use_is_not_offered(void **state) {
    host r;
    (void)state;
    open_reviewer(&r, "tools: Read\n");
    r.so.permission_mode = "yolo";
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_string_equal(host_text(&r), "reviewer");
    assert_string_equal(host_prompt(&r, "write"), "completed");
    assert_int_equal(hob_test_content(&r.folder, "f").n, 0);
    assert_non_null(strstr(host_log(&r), "there is no tool write"));
    finish(&r);
}

static void test_session_agent__case_54_a_rule_in_its_tools_is_a_limit(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    give(&r, "tools: Read, Write(docs/**)\n");
    r.so.agent_name = "reviewer";
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "write"), "completed");
    assert_non_null(strstr(host_log(&r), "agent reviewer may use Read, Write(docs/**) only"));
    assert_int_equal(hob_test_content(&r.folder, "f").n, 0);
    finish(&r);
}

static void test_session_agent__sec_08_its_mode_only_narrows(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    give(&r, "permissionMode: plan\n");
    r.so.agent_name = "reviewer";
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "write"), "completed");
    assert_int_equal(hob_test_content(&r.folder, "f").n, 0);
    finish(&r);
}

static void test_session_agent__its_turns_count_if_they_are_fewer(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    give(&r, "maxTurns: 2\n");
    r.so.agent_name = "reviewer";
    r.so.max_turns = 5;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "read"), "limit");
    assert_int_equal(host_count(&r, "assistant_message"), 2);
    finish(&r);
}

static void test_session_agent__a_session_opened_again_is_the_same(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    give(&r, "tools: Read\n");
    r.so.agent_name = "reviewer";
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "go");
    r.so.agent_name = NULL;
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    host_prompt(&r, "again");
    assert_string_equal(host_text(&r), "reviewer");
    finish(&r);
}

static void test_session_agent__sec_24_it_is_not_opened_without_its_agent(void **state) {
    host r;
    hob_session *s = NULL;
    char id[160];
    (void)state;
    open_reviewer(&r, "tools: Read\n");
    host_prompt(&r, "go");
    hob_session_id(r.s, id, sizeof id);
    hob_session_detach(r.s);
    r.s = NULL;
    hob_definitions_destroy(r.so.definitions);
    r.so.definitions = NULL;
    r.so.agent_name = NULL;
    r.so.choice = HOB_SESSION_OPEN;
    r.so.id = id;
    assert_int_equal(hob_session_create(r.rt, &r.so, &s, &r.err), HOB_ENOENT);
    assert_non_null(strstr(r.err.message, "the session is the agent reviewer"));
    r.so.agent_name = ""; /* said by whoever opens it */
    assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
    host_prompt(&r, "go");
    assert_string_equal(host_text(&r), "hob");
    finish(&r);
}

static void test_session_agent__an_unknown_name_is_told_with_a_near_one(void **state) {
    host r;
    hob_session *s = NULL;
    (void)state;
    host_init(&r, script);
    give(&r, "");
    r.so.agent_name = "reviwer";
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    assert_int_equal(hob_session_create(r.rt, &r.so, &s, &r.err), HOB_ENOENT);
    assert_string_equal(r.err.message, "there is no agent reviwer; did you mean reviewer?");
    finish(&r);
}

static void test_session_agent__its_model_counts_unless_another_is_said(void **state) {
    host r;
    hob_session *s = NULL;
    char model[64];
    (void)state;
    host_init(&r, script);
    give(&r, "model: nosuch/model\n");
    r.so.agent_name = "reviewer";
    host_open(&r); /* the host says which */
    hob_session_model(r.s, model, sizeof model);
    assert_non_null(strstr(model, "scripted"));
    r.so.model = NULL;
    r.so.choice = HOB_SESSION_IN_MEMORY;
    assert_int_equal(hob_session_create(r.rt, &r.so, &s, &r.err), HOB_ENOENT);
    assert_non_null(strstr(r.err.message, "the agent reviewer asks for a model"));
    finish(&r);
}

static void test_session_agent__skills_that_it_names_are_loaded_whole(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'system':{'contains':'Use pdftotext.'}},"
                  "'reply':[{'text':'knows'}]}],'otherwise':[{'text':'does not'}]}");
    give(&r, "skills: pdf\n");
    hob_test_mkdir(&r.folder, "skills");
    hob_test_mkdir(&r.folder, "skills/pdf");
    hob_test_file(&r.folder, "skills/pdf/SKILL.md",
                  HOB_STR("---\ndescription: reads PDF\n---\nUse pdftotext.\n"));
    r.so.agent_name = "reviewer";
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    assert_int_equal(hob_session_create(r.rt, &r.so, &r.s, &r.err), HOB_ENOENT);
    assert_string_equal(r.err.message, "the agent reviewer: there is no skill pdf");
    assert_int_equal(
        hob_skills_register_dir(r.so.definitions, hob_test_path(&r.folder, "skills"), &r.err), 1);
    assert_ok(hob_session_create(r.rt, &r.so, &r.s, &r.err), r.err);
    host_prompt(&r, "go");
    assert_string_equal(host_text(&r), "knows");
    finish(&r);
}

/* The host's handle goes, the session keeps what it has. */
static void test_session_agent__the_host_may_let_go_of_its_definitions(void **state) {
    host r;
    (void)state;
    open_reviewer(&r, "");
    hob_definitions_destroy(r.so.definitions);
    r.so.definitions = NULL;
    host_prompt(&r, "go");
    assert_string_equal(host_text(&r), "reviewer with write");
    finish(&r);
}

int main(void) {
#define T(name) cmocka_unit_test(test_session_agent__##name)
    const struct CMUnitTest tests[] = {
        T(its_words_come_first),
        T(what_it_may_not_use_is_not_offered),
        T(case_54_a_rule_in_its_tools_is_a_limit),
        T(sec_08_its_mode_only_narrows),
        T(its_turns_count_if_they_are_fewer),
        T(a_session_opened_again_is_the_same),
        T(sec_24_it_is_not_opened_without_its_agent),
        T(an_unknown_name_is_told_with_a_near_one),
        T(its_model_counts_unless_another_is_said),
        T(skills_that_it_names_are_loaded_whole),
        T(the_host_may_let_go_of_its_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
