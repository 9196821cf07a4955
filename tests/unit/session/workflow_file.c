/* Workflows that stand in files. */
#include "support/definitions.h"

/* Each agent says which words it was given and what it was told. */
static const char script[] =
    "{'rules':["
    "{'when':{'system':{'contains':'Write.'},'step':1,'user':'tools'},"
    "'reply':[{'tool':'write','args':{'path':'out','content':'x'}}]},"
    "{'when':{'system':{'contains':'Write.'}},'reply':[{'text':'a long draft'}]},"
    "{'when':{'system':{'contains':'Shorten: a long draft'}},'reply':[{'text':'short'}]},"
    "{'when':{'system':{'contains':'Judge.'},'offers':'exit_loop','step':1},"
    "'reply':[{'text':'good'},{'tool':'exit_loop'}]},"
    "{'when':{'system':{'contains':'Yes.'}},'reply':[{'text':'yes'}]},"
    "{'when':{'system':{'contains':'No.'}},'reply':[{'text':'no'}]}],"
    "'otherwise':[{'text':'{{user}}'}]}";

static void file(host *r, const char *name, const char *text) {
    char path[64];
    if (access(hob_test_path(&r->folder, "agents"), F_OK) < 0) hob_test_mkdir(&r->folder, "agents");
    snprintf(path, sizeof path, "agents/%s", name);
    hob_test_file(&r->folder, path, hob_str_z(text));
}

static int live(host *r) {
    return hob_agents_register_dir(host_definitions(r), hob_test_path(&r->folder, "agents"),
                                   &r->err);
}

static void start(host *r) {
    host_init(r, script);
    file(r, "writer.md", "---\nname: writer\ndescription: w\noutput_key: draft\n---\nWrite.\n");
    file(
        r, "desk.yaml",
        "name: desk\nkind: sequential\ndescription: writes and shortens\n"
        "agents:\n  - writer\n  - name: editor\n    description: e\n    prompt: 'Shorten: {draft}'\n");
}

static void test_session_workflow_file__a_sequence_of_named_and_inline_agents(void **state) {
    host r;
    (void)state;
    start(&r);
    assert_int_equal(live(&r), 2);
    r.so.agent_name = "desk";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "about hobs"), "completed");
    assert_string_equal(host_text(&r), "short");
    assert_int_equal(host_count(&r, "agent_started"), 3);
    host_define_end(&r);
}

static void test_session_workflow_file__a_session_opened_again_is_the_same(void **state) {
    host r;
    (void)state;
    start(&r);
    live(&r);
    r.so.agent_name = "desk";
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "one");
    r.so.agent_name = NULL;
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_prompt(&r, "two"), "completed");
    assert_string_equal(host_text(&r), "short");
    assert_int_equal(host_count(&r, "agent_started"), 6);
    host_define_end(&r);
}

static void test_session_workflow_file__goes_on_after_a_crash(void **state) {
    host r;
    (void)state;
    start(&r);
    live(&r);
    r.so.agent_name = "desk";
    r.ro.store = "sqlite";
    host_run_and_kill(&r, "about hobs", HOB_EVENT_STATE_CHANGED, NULL, NULL);
    r.so.agent_name = NULL;
    r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&r);
    assert_string_equal(host_wait(&r), "completed");
    assert_string_equal(host_text(&r), "short");
    assert_int_equal(host_count(&r, "state_changed"), 1); /* the writer worked once */
    host_define_end(&r);
}

static void test_session_workflow_file__sec_08_an_agent_has_what_its_file_leaves_it(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    file(&r, "writer.md",
         "---\nname: writer\ndescription: w\ntools: Read, Write(docs/**)\n---\nWrite.\n");
    file(&r, "desk.yaml", "name: desk\nkind: sequential\ndescription: d\nagents: [writer]\n");
    live(&r);
    r.so.agent_name = "desk";
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "tools"), "completed");
    assert_int_equal(hob_test_content(&r.folder, "out").n, 0);
    assert_non_null(strstr(host_log(&r), "agent writer may use Read, Write(docs/**)"));
    host_define_end(&r);
}

static void test_session_workflow_file__sec_08_and_what_the_workflow_around_it_leaves(
    void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    file(&r, "writer.md", "---\nname: writer\ndescription: w\n---\nWrite.\n");
    file(&r, "desk.yaml",
         "name: desk\nkind: sequential\ndescription: d\npermission_mode: plan\nagents: [writer]\n");
    live(&r);
    r.so.agent_name = "desk";
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "tools"), "completed");
    assert_int_equal(hob_test_content(&r.folder, "out").n, 0);
    host_define_end(&r);
}

static void test_session_workflow_file__a_loop_ends_when_one_says_so(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    file(&r, "review.yaml",
         "name: review\nkind: loop\nmax_iterations: 5\ndescription: d\nagents:\n"
         "  - {name: judge, description: j, prompt: Judge., tools: [read]}\n");
    assert_int_equal(live(&r), 1);
    r.so.agent_name = "review";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "look"), "completed");
    assert_int_equal(host_count(&r, "agent_started"), 2);
    host_define_end(&r);
}

static void test_session_workflow_file__a_condition_on_the_state(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    file(
        &r, "fork.yaml",
        "name: fork\nkind: conditional\ncondition: ready\ndescription: d\nagents:\n"
        "  - {name: a, description: j, prompt: Yes.}\n  - {name: b, description: j, prompt: No.}\n");
    assert_int_equal(live(&r), 1);
    r.so.agent_name = "fork";
    host_open(&r);
    host_prompt(&r, "go");
    assert_string_equal(host_text(&r), "no");
    host_define_end(&r);
}

static void refused(const char *desk, const char *other, const char *why) {
    host r;
    hob_session *s = NULL;
    host_init(&r, script);
    file(&r, "desk.yaml", desk);
    if (other) file(&r, "other.yaml", other);
    live(&r);
    r.so.agent_name = "desk";
    assert_ok(hob_runtime_create(&r.ro, &r.rt, &r.err), r.err);
    assert_true(hob_session_create(r.rt, &r.so, &s, &r.err) < 0);
    if (!strstr(r.err.message, why)) fail_msg("%s", r.err.message);
    host_define_end(&r);
}

static void test_session_workflow_file__what_cannot_be_is_said(void **state) {
    (void)state;
    refused("name: desk\nkind: sequential\ndescription: d\nagents: [other]\n",
            "name: other\nkind: sequential\ndescription: d\nagents: [desk]\n",
            "the agent desk is part of itself: desk > other > desk");
    refused("name: desk\nkind: sequential\ndescription: d\nagents: [othr]\n",
            "name: other\ndescription: d\nprompt: x\n",
            "there is no agent othr; did you mean other?");
    refused("name: desk\nkind: parallel\ndescription: d\nagents: [other, other]\n",
            "name: other\ndescription: d\nprompt: x\n", "two agents other in one tree");
    refused("name: desk\nkind: loop\ndescription: d\nagents: [other]\n", NULL,
            "desk.yaml:2: a loop needs max_iterations, at least 1");
    refused("name: desk\ndescription: d\nkind: conditional\nagents: [other]\n", NULL,
            "desk.yaml:3: has no condition");
    refused("name: desk\nkind: parallel\ndescription: d\nagents: []\n", NULL,
            "desk.yaml:4: agents has to be a list of 1 to 256 agents");
    refused(
        "name: desk\nkind: parallel\ndescription: d\nagents:\n  - name: x\n    disalowedTools: a\n",
        NULL, "desk.yaml:4: agents: number 1: disalowedTools is not known; did you mean");
    refused("name: desk\nkind: sequence\ndescription: d\nagents: [a]\n", NULL,
            "desk.yaml:2: kind has to be llm, sequential, parallel, loop or conditional");
    refused("name: desk\nkind: sequential\noutput_key: x\ndescription: d\nagents: [a]\n", NULL,
            "desk.yaml:3: output_key, output_schema and history are for llm agents");
    refused("name: desk\ndescription: d\noutput_schema: {type: nonsense}\nprompt: x\n", NULL,
            "desk.yaml:3: output_schema");
}

static void test_session_workflow_file__a_plain_agent_with_an_output(void **state) {
    host r;
    (void)state;
    host_init(&r, script);
    file(&r, "writer.md", "---\nname: writer\ndescription: w\noutput_key: draft\n---\nWrite.\n");
    live(&r);
    r.so.agent_name = "writer";
    host_open(&r);
    host_prompt(&r, "go");
    assert_string_equal(host_text(&r), "a long draft");
    assert_int_equal(host_count(&r, "state_changed"), 1);
    host_define_end(&r);
}

int main(void) {
#define T(name) cmocka_unit_test(test_session_workflow_file__##name)
    const struct CMUnitTest tests[] = {
        T(a_sequence_of_named_and_inline_agents),
        T(a_session_opened_again_is_the_same),
        T(goes_on_after_a_crash),
        T(sec_08_an_agent_has_what_its_file_leaves_it),
        T(sec_08_and_what_the_workflow_around_it_leaves),
        T(a_loop_ends_when_one_says_so),
        T(a_condition_on_the_state),
        T(what_cannot_be_is_said),
        T(a_plain_agent_with_an_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
