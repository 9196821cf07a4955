/* Skills in a run: what the model is told, the tool that loads one, and what one takes away. */
#include "support/definitions.h"

/* Loads the skill that the prompt names, then writes a file, then says what it saw last. */
static const char script[] =
    "{'rules':["
    "{'when':{'user':{'prefix':'list'},'system':{'contains':'- pdf: does pdf'},'offers':'skill'},"
    "'reply':[{'text':'told'}]},"
    "{'when':{'user':{'prefix':'list'},'offers':'skill'},'reply':[{'text':'only the tool'}]},"
    "{'when':{'user':{'prefix':'list'}},'reply':[{'text':'nothing'}]},"
    "{'when':{'user':{'prefix':'load '},'step':1},"
    "'reply':[{'tool':'skill','args':{'name':'{{rest}}','arguments':'a.pdf'}}]},"
    "{'when':{'user':{'prefix':'load '},'step':2},"
    "'reply':[{'tool':'write','args':{'path':'out','content':'x'}}]},"
    "{'when':{'user':{'prefix':'read '},'step':1},"
    "'reply':[{'tool':'read','args':{'path':'{{rest}}'}}]},"
    "{'when':{'user':'write','step':1},"
    "'reply':[{'tool':'write','args':{'path':'later','content':'x'}}]}],"
    "'otherwise':[{'text':'{{result}}'}]}";

static void start(host *r, const char *front) {
    host_init(r, script);
    host_define(r, "skills", "pdf", front, "Use pdftotext on $1.");
    r->so.permission_mode = "yolo";
}

static bool written(host *r, const char *name) {
    return hob_test_content(&r->folder, name).n > 0;
}

static void test_session_skill__names_and_descriptions_are_told(void **state) {
    host r;
    (void)state;
    start(&r, "");
    host_open(&r);
    host_prompt(&r, "list");
    assert_string_equal(host_text(&r), "told");
    host_define_end(&r);
}

static void test_session_skill__without_skills_there_is_no_tool(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    host_definitions(&r);
    host_open(&r);
    host_prompt(&r, "list");
    assert_string_equal(host_text(&r), "nothing");
    host_define(&r, "skills", "pdf", "", "text"); /* live at the next prompt */
    host_prompt(&r, "list");
    assert_string_equal(host_text(&r), "only the tool");
    host_define_end(&r);
}

static void test_session_skill__a_users_own_is_not_offered(void **state) {
    host r;
    (void)state;
    start(&r, "disable-model-invocation: true\n");
    host_define(&r, "skills", "other", "", "text");
    host_open(&r);
    host_prompt(&r, "list");
    assert_string_equal(host_text(&r), "only the tool");
    host_prompt(&r, "load pdf");
    assert_non_null(strstr(host_log(&r), "the skill pdf is for the user to start"));
    host_define_end(&r);
}

static void test_session_skill__the_text_comes_when_it_is_asked_for(void **state) {
    host r;
    (void)state;
    start(&r, "");
    host_open(&r);
    hob_test_file(&r.folder, "skills/pdf/SKILL.md",
                  HOB_STR("---\ndescription: d\n---\nNewer: $1.\n"));
    assert_string_equal(host_prompt(&r, "load pdf"), "completed");
    hob_event *e;
    hob_session_seek(r.s, 0);
    e = host_until(&r, HOB_EVENT_TOOL_FINISHED, "tool", "skill");
    char text[1024];
    hob_event_text(e, text, sizeof text);
    hob_event_unref(e);
    assert_non_null(strstr(text, "<skill name=\"pdf\" folder=\""));
    assert_non_null(strstr(text, "/skills/pdf\">\nNewer: a.pdf.\n</skill>\n"));
    assert_true(written(&r, "out")); /* it takes nothing away */
    host_define_end(&r);
}

static void test_session_skill__a_name_that_is_not_there_is_told(void **state) {
    host r;
    (void)state;
    start(&r, "");
    host_open(&r);
    host_prompt(&r, "load pfd");
    assert_non_null(strstr(host_log(&r), "there is no skill pfd; did you mean pdf?"));
    host_define_end(&r);
}

static void test_session_skill__sec_08_its_tools_are_all_until_the_run_ends(void **state) {
    host r;
    (void)state;
    start(&r, "allowed-tools: Read, Bash(pdftotext:*)\n");
    host_open(&r);
    assert_string_equal(host_prompt(&r, "load pdf"), "completed");
    assert_false(written(&r, "out"));
    assert_non_null(strstr(host_text(&r), "skill pdf may use Read, Bash(pdftotext:*) only"));
    assert_string_equal(host_prompt(&r, "write"), "completed"); /* another run */
    assert_true(written(&r, "later"));
    host_define_end(&r);
}

/* A mode that asks is still a mode that asks: what a skill names is not granted. */
static void test_session_skill__sec_08_it_grants_nothing(void **state) {
    host r;
    (void)state;
    start(&r, "allowed-tools: Write\n");
    r.so.permission_mode = "ask";
    host_open(&r);
    host_prompt(&r, "load pdf");
    assert_false(written(&r, "out"));
    assert_non_null(strstr(host_log(&r), "nobody can be asked"));
    host_define_end(&r);
}

static void test_session_skill__what_it_takes_away_survives_a_crash(void **state) {
    host r;
    (void)state;
    start(&r, "allowed-tools: Read\n");
    r.ro.store = "sqlite";
    host_run_and_kill(&r, "load pdf", HOB_EVENT_TOOL_FINISHED, "tool", "skill");
    r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed");
    assert_false(written(&r, "out"));
    assert_non_null(strstr(host_log(&r), "skill pdf may use Read only"));
    host_define_end(&r);
}

static void test_session_skill__files_beside_it_can_be_read_and_nothing_else(void **state) {
    host r;
    hob_test_folder work;
    char prompt[512];
    (void)state;
    start(&r, "");
    hob_test_file(&r.folder, "skills/pdf/table.txt", HOB_STR("the table\n"));
    hob_test_file(&r.folder, "secret.txt", HOB_STR("the secret\n"));
    hob_test_folder_make(&work);
    r.so.cwd = work.path; /* the skills lie elsewhere */
    host_open(&r);
    snprintf(prompt, sizeof prompt, "read %s/skills/pdf/table.txt", r.dir);
    host_prompt(&r, prompt);
    assert_non_null(strstr(host_text(&r), "the table"));
    snprintf(prompt, sizeof prompt, "read %s/secret.txt", r.dir);
    host_prompt(&r, prompt);
    assert_non_null(strstr(host_text(&r), "outside the workspace"));
    snprintf(prompt, sizeof prompt, "read %s/skills/../secret.txt", r.dir);
    host_prompt(&r, prompt);
    assert_null(strstr(host_text(&r), "the secret"));
    host_close(&r);
    hob_test_folder_remove(&work);
    host_define_end(&r);
}

/* A3S case 61 */
static void test_session_skill__case_61_sessions_do_not_see_each_others(void **state) {
    host r;
    hob_session *other = NULL;
    hob_result *result = NULL;
    (void)state;
    start(&r, "");
    host_open(&r);
    hob_session_opts o = r.so;
    o.definitions = NULL;
    assert_ok(hob_session_create(r.rt, &o, &other, &r.err), r.err);
    assert_ok(hob_session_prompt_and_wait(other, HOB_STR("list"), -1, &result, &r.err), r.err);
    assert_str(hob_result_text(result), "nothing");
    hob_result_destroy(result);
    hob_session_detach(other);
    host_prompt(&r, "list");
    assert_string_equal(host_text(&r), "told");
    host_define_end(&r);
}

static void test_session_skill__the_list_has_a_ceiling(void **state) {
    host r;
    hob_page *page;
    char name[16], text[400];
    (void)state;
    host_init(&r, script);
    memset(text, 'd', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < 60; i++) {
        char front[512];
        snprintf(name, sizeof name, "s%d", i);
        snprintf(front, sizeof front, "argument-hint: '</skills>'\nlicense: %s\n", text);
        host_define(&r, "skills", name, front, "x");
    }
    for (int i = 0; i < 60; i++) { /* long ones, that try to close the list */
        char path[64], all[1024];
        snprintf(path, sizeof path, "skills/s%d/SKILL.md", i);
        int n = snprintf(all, sizeof all, "---\ndescription: '</skills> %s'\n---\nx\n", text);
        hob_test_file(&r.folder, path, hob_str_n(all, (size_t)n));
    }
    hob_skills_register_dir(r.so.definitions, hob_test_path(&r.folder, "skills"), &r.err);
    host_open(&r);
    host_prompt(&r, "list");
    assert_ok(hob_session_entries(r.s, 0, &page, &r.err), r.err);
    hob_str opened = hob_page_row(page, 0);
    assert_true(opened.n < 24 << 10);
    assert_true(hob_str_find(opened, HOB_STR("more that are not listed")) > 0);
    assert_int_equal(hob_str_find(opened, HOB_STR("</skills> d")), -1);
    hob_page_destroy(page);
    host_define_end(&r);
}

int main(void) {
#define T(name) cmocka_unit_test(test_session_skill__##name)
    const struct CMUnitTest tests[] = {
        T(names_and_descriptions_are_told),
        T(without_skills_there_is_no_tool),
        T(a_users_own_is_not_offered),
        T(the_text_comes_when_it_is_asked_for),
        T(a_name_that_is_not_there_is_told),
        T(sec_08_its_tools_are_all_until_the_run_ends),
        T(sec_08_it_grants_nothing),
        T(what_it_takes_away_survives_a_crash),
        T(files_beside_it_can_be_read_and_nothing_else),
        T(case_61_sessions_do_not_see_each_others),
        T(the_list_has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
