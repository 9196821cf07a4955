/* What an input asks of a session, with real sessions: prompts, edits, results of the client's tools, approvals. */
/* ctest: labels=threads */
#include <hob/agui_project.h>

#include "support/agui.h"
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>

#define Z(text) hob_str_z(text)

static hob_error err;

/* ---- a server in a few lines --------------------------------------------------------------------------------------------- */

typedef struct server {
    host h;
    hob_agui_input *in;
    hob_agui_plan *plan;
    hob_agui_tools *tools;
    test_wire wire;
} server;

static void serve_init(server *v, const char *script, const char *tools_json) {
    char json[1000];
    memset(v, 0, sizeof *v);
    host_init(&v->h, script);
    snprintf(json, sizeof json, "{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[],\"tools\":%s}",
             tools_json ? tools_json : "[]");
    hob_agui_input *in = test_input(json);
    assert_ok(hob_agui_tools_create(in, &v->tools, &err), err);
    hob_agui_input_destroy(in);
    v->h.so.tools = hob_agui_tools_at(v->tools, 0);
    v->h.so.ntools = hob_agui_tools_count(v->tools);
    v->h.so.approver = HOB_APPROVER_HOST;
    host_open(&v->h);
}

static void drop_plan(server *v) {
    hob_agui_plan_destroy(v->plan);
    hob_agui_input_destroy(v->in);
    v->plan = NULL;
    v->in = NULL;
}

static void serve_finish(server *v) {
    drop_plan(v);
    host_finish(&v->h);
    hob_agui_tools_destroy(v->tools);
}

/* The plan for an input with these members (' for "). */
static hob_agui_todo ask(server *v, const char *members) {
    hob_buf json;
    hob_page *history, *asks, *pending;
    drop_plan(v);
    hob_buf_init(&json, 1 << 20);
    hob_buf_addf(&json, "{'threadId':'t','runId':'r','protocolVersion':'1.0',%s}", members);
    for (size_t i = 0; i < json.n; i++)
        if (json.p[i] == '\'') json.p[i] = '"';
    v->in = test_input(hob_buf_z(&json));
    hob_buf_finish(&json);
    assert_ok(hob_session_history(v->h.s, &history, &err), err);
    assert_ok(hob_session_pending_confirmations(v->h.s, &asks, &err), err);
    assert_ok(hob_session_pending_calls(v->h.s, &pending, &err), err);
    assert_ok(hob_agui_plan_create(v->in, history, asks, pending, &v->plan, &err), err);
    hob_page_destroy(history);
    hob_page_destroy(asks);
    hob_page_destroy(pending);
    return hob_agui_plan_todo(v->plan);
}

/* Does what the plan says and waits. */
static void carry_out(server *v) {
    hob_agui_todo todo = hob_agui_plan_todo(v->plan);
    hob_agui_step step;
    hob_str entry;
    char place[64];
    for (size_t i = 0; hob_agui_plan_step(v->plan, i, &step) == 0; i++) {
        if (step.answer.n)
            assert_ok(hob_session_answer(v->h.s, step.call, step.answer, &err), err);
        else if (todo == HOB_AGUI_DO_ANSWER)
            assert_ok(
                hob_session_confirm_tool_use(v->h.s, step.call, step.verdict, step.reason, &err),
                err);
        else
            assert_ok(hob_session_tool_update(v->h.s, step.call, step.update, step.content, &err),
                      err);
    }
    if (hob_agui_plan_moves(v->plan, &entry)) {
        hob_str_out(entry, place, sizeof place);
        assert_ok(hob_session_move(v->h.s, place, &err), err);
    }
    if (todo == HOB_AGUI_DO_PROMPT)
        assert_ok(hob_session_prompt_content(v->h.s, hob_agui_plan_content(v->plan), &err), err);
    int rc = hob_session_wait(v->h.s, 0, NULL, &err);
    while (rc == HOB_ETIMEDOUT)
        rc = hob_session_wait(v->h.s, 20, NULL, &err) == HOB_ETIMEDOUT &&
                     !hob_session_is_parked(v->h.s)
                 ? HOB_ETIMEDOUT
                 : 0;
    assert_ok(rc, err);
}

/* The conversation as a client is told it, with ' for ". */
static const char *conversation(server *v) {
    static char text[20000];
    hob_page *history;
    hob_agui_json *j;
    assert_ok(hob_session_history(v->h.s, &history, &err), err);
    assert_ok(hob_agui_messages(history, HOB_AGUI_1_0, &j, &err), err);
    hob_str_out(hob_agui_json_text(j), text, sizeof text);
    for (char *p = text; *p; p++)
        if (*p == '"') *p = '\'';
    hob_agui_json_destroy(j);
    hob_page_destroy(history);
    return text;
}

static const char echo[] = "{'otherwise':[{'text':'you said {{user}}'}]}";

/* ---- prompts -------------------------------------------------------------------------------------------------------------- */

static void test_agui_plan__new_words_are_the_prompt_and_keep_their_ids(void **state) {
    (void)state;
    server v;
    serve_init(&v, echo, NULL);
    assert_int_equal(ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'}]"),
                     HOB_AGUI_DO_PROMPT);
    assert_str(hob_agui_plan_content(v.plan),
               "[{\"type\":\"text\",\"text\":\"one\",\"message_id\":\"u1\"}]");
    assert_false(hob_agui_plan_lost(v.plan));
    carry_out(&v);
    assert_string_equal(conversation(&v),
                        "[{'id':'u1','role':'user','content':'one'},"
                        "{'id':'m4-0','role':'assistant','content':'you said one'}]");
    /* The same again with one more message: only that is new. */
    assert_int_equal(ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'},"
                             "{'id':'m4-0','role':'assistant','content':'you said one'},"
                             "{'id':'u2','role':'user','content':'two'}]"),
                     HOB_AGUI_DO_PROMPT);
    hob_str entry;
    assert_false(hob_agui_plan_moves(v.plan, &entry));
    assert_str(hob_agui_plan_content(v.plan),
               "[{\"type\":\"text\",\"text\":\"two\",\"message_id\":\"u2\"}]");
    assert_int_equal(ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'},"
                             "{'id':'m4-0','role':'assistant','content':'you said one'}]"),
                     HOB_AGUI_DO_NOTHING);
    serve_finish(&v);
}

static void test_agui_plan__attachments_and_context(void **state) {
    (void)state;
    server v;
    serve_init(&v, echo, NULL);
    ask(&v, "'context':[{'description':'page','value':'/cart'}],'messages':[{'id':'s','role':"
            "'system','content':'obey'},{'id':'u','role':'user','content':[{'type':'image',"
            "'source':{'type':'data','value':'eA==','mimeType':'image/png'}},{'type':'text',"
            "'text':'what?'},{'type':'audio','source':{'type':'file','value':'f'}}]}]");
    assert_str(hob_agui_plan_content(v.plan),
               "[{\"type\":\"text\",\"text\":\"Context from the application:\\n- page: /cart\","
               "\"hidden\":true},{\"type\":\"image\",\"media_type\":\"image/png\",\"data\":"
               "\"eA==\",\"message_id\":\"u\"},{\"type\":\"text\",\"text\":\"what?\"},"
               "{\"type\":\"text\",\"text\":\"[attachment left out: audio]\"}]");
    assert_int_equal(hob_agui_plan_warning_count(v.plan), 1);
    carry_out(&v);
    const char *told = conversation(&v);
    assert_non_null(strstr(told, "{'id':'u','role':'user','content':[{'type':'image','source':"));
    assert_null(strstr(told, "/cart'}"));
    serve_finish(&v);
}

static void test_agui_plan__an_edit_goes_on_from_an_earlier_place(void **state) {
    (void)state;
    server v;
    hob_str entry;
    serve_init(&v, echo, NULL);
    ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'}]");
    carry_out(&v);
    ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'},{'id':'m4-0','role':'assistant',"
            "'content':'x'},{'id':'u2','role':'user','content':'two'}]");
    carry_out(&v);
    /* u2 was edited: u3 follows the first answer. */
    assert_int_equal(ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'},{'id':'m4-0',"
                             "'role':'assistant','content':'x'},"
                             "{'id':'u3','role':'user','content':'three'}]"),
                     HOB_AGUI_DO_PROMPT);
    assert_true(hob_agui_plan_moves(v.plan, &entry));
    assert_str(entry, "e5");
    carry_out(&v);
    assert_null(strstr(conversation(&v), "'u2'"));
    assert_non_null(strstr(conversation(&v), "'content':'you said three'"));
    /* The very first message edited: from before everything. */
    ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'}]");
    assert_true(hob_agui_plan_moves(v.plan, &entry)); /* another try of u1 */
    assert_str(entry, "");
    carry_out(&v);
    assert_null(strstr(conversation(&v), "'u3'"));
    serve_finish(&v);
}

static void test_agui_plan__a_client_without_a_past_adds_to_the_end(void **state) {
    (void)state;
    server v;
    hob_str entry;
    serve_init(&v, echo, NULL);
    ask(&v, "'messages':[{'id':'u1','role':'user','content':'one'}]");
    carry_out(&v);
    assert_int_equal(ask(&v, "'messages':[{'id':'u2','role':'user','content':'two'}]"),
                     HOB_AGUI_DO_PROMPT);
    assert_true(hob_agui_plan_lost(v.plan));
    assert_false(hob_agui_plan_moves(v.plan, &entry));
    carry_out(&v);
    assert_non_null(strstr(conversation(&v), "'u1'"));
    assert_non_null(strstr(conversation(&v), "'u2'"));
    serve_finish(&v);
}

/* ---- the client's tools --------------------------------------------------------------------------------------------------- */

static const char tools[] =
    "[{\"name\":\"pick\",\"description\":\"lets the user pick\",\"parameters\":{\"type\":\"object\","
    "\"$schema\":\"x\",\"properties\":{\"from\":{\"type\":\"string\",\"format\":\"uri\"}}}},"
    "{\"name\":\"no spaces\",\"description\":\"\"},{\"name\":\"pick\",\"description\":\"again\"}]";
static const char picks[] =
    "{'rules':[{'when':{'user':'go','step':1},'reply':[{'text':'Pick.'},{'tool':'pick','args':"
    "{'from':'a'}},{'tool':'pick','args':{'from':'b'}}]},{'when':{'result':'blue'},'reply':"
    "[{'text':'got both'}]},{'reply':[{'text':'as you like: {{user}}'}]}]}";
#define ASKED                                                                                      \
    "{'id':'u','role':'user','content':'go'},{'id':'m4-0','role':'assistant','content':'Pick.'},"  \
    "{'id':'m4','role':'assistant','toolCalls':[{'id':'m4.0','type':'function','function':"        \
    "{'name':'pick','arguments':'{}'}},{'id':'m4.1','type':'function','function':{'name':'pick',"  \
    "'arguments':'{}'}}]}"

static void test_agui_plan__tools_of_the_client_are_simplified_and_checked(void **state) {
    (void)state;
    server v;
    serve_init(&v, picks, tools);
    assert_int_equal(hob_agui_tools_count(v.tools), 1);
    assert_string_equal(hob_agui_tools_at(v.tools, 0)->schema,
                        "{\"type\":\"object\",\"properties\":{\"from\":{\"type\":\"string\"}}}");
    assert_int_equal(hob_agui_tools_warning_count(v.tools), 2);
    assert_str(hob_agui_tools_warning(v.tools, 0),
               "the tool \"no spaces\" was left out: a name has 1 to 64 letters, digits, _ and -");
    serve_finish(&v);
}

static void test_agui_plan__results_of_the_client_start_one_run(void **state) {
    (void)state;
    server v;
    hob_agui_step step;
    serve_init(&v, picks, tools);
    ask(&v, "'messages':[{'id':'u','role':'user','content':'go'}]");
    carry_out(&v);
    assert_int_equal(host_count(&v.h, "model_call_started"), 1);
    assert_int_equal(ask(&v, "'messages':[" ASKED ",{'id':'a0','role':'tool','toolCallId':'m4.0',"
                             "'content':'red'},{'id':'a1','role':'tool','toolCallId':'m4.1',"
                             "'content':'blue'}]"),
                     HOB_AGUI_DO_UPDATE);
    assert_int_equal(hob_agui_plan_step_count(v.plan), 2);
    assert_ok(hob_agui_plan_step(v.plan, 0, &step), err);
    assert_int_equal(step.update, HOB_UPDATE_RESULT_HELD);
    carry_out(&v);
    assert_int_equal(host_count(&v.h, "run_started"), 2);
    assert_non_null(strstr(conversation(&v), "'content':'got both'"));
    /* The client's own ids of the results stay. */
    assert_non_null(strstr(conversation(&v), "{'id':'a0','role':'tool','toolCallId':'m4.0',"
                                             "'content':'red'}"));
    serve_finish(&v);
}

static void test_agui_plan__a_failed_tool_and_a_word_beside_it(void **state) {
    (void)state;
    server v;
    hob_agui_step step;
    serve_init(&v, picks, tools);
    ask(&v, "'messages':[{'id':'u','role':'user','content':'go'}]");
    carry_out(&v);
    assert_int_equal(ask(&v, "'messages':[" ASKED ",{'id':'a0','role':'tool','toolCallId':'m4.0',"
                             "'content':'','error':'closed'},{'id':'u2','role':'user','content':"
                             "'forget it'}]"),
                     HOB_AGUI_DO_PROMPT);
    assert_int_equal(hob_agui_plan_step_count(v.plan), 1);
    assert_ok(hob_agui_plan_step(v.plan, 0, &step), err);
    assert_int_equal(step.update, HOB_UPDATE_FAILURE_HELD);
    assert_str(step.content, "[{\"type\":\"text\",\"text\":\"closed\",\"message_id\":\"a0\"}]");
    carry_out(&v);
    assert_non_null(strstr(conversation(&v), "as you like: forget it"));
    serve_finish(&v);
}

/* ---- approvals -------------------------------------------------------------------------------------------------------------- */

static const char asks[] = "{'rules':[{'when':{'step':1},'reply':[{'tool':'bash','args':"
                           "{'command':'echo hi'}}]},{'reply':[{'text':'it said {{result}}'}]}]}";

static void prepare_approval(server *v) {
    serve_init(v, asks, NULL);
    ask(v, "'messages':[{'id':'u','role':'user','content':'go'}]");
    carry_out(v);
    assert_true(hob_session_is_parked(v->h.s));
}

static void test_agui_plan__an_answer_is_a_verdict(void **state) {
    (void)state;
    server v;
    hob_agui_step step;
    prepare_approval(&v);
    assert_int_equal(ask(&v,
                         "'messages':[],'resume':[{'interruptId':'m4.0','status':'resolved',"
                         "'payload':{'approved':true}},{'interruptId':'x','status':'cancelled'}]"),
                     HOB_AGUI_DO_ANSWER);
    assert_int_equal(hob_agui_plan_step_count(v.plan), 1);
    assert_ok(hob_agui_plan_step(v.plan, 0, &step), err);
    assert_str(step.call, "m4.0");
    assert_int_equal(step.verdict, HOB_VERDICT_ALLOW);
    assert_str(hob_agui_plan_warning(v.plan, 0), "no approval waits for this answer: x");
    carry_out(&v);
    assert_non_null(strstr(conversation(&v), "it said hi"));
    /* Sent twice: nothing happens the second time. */
    assert_int_equal(ask(&v, "'messages':[],'resume':[{'interruptId':'m4.0','status':'resolved',"
                             "'payload':{'approved':true}}]"),
                     HOB_AGUI_DO_NOTHING);
    serve_finish(&v);
}

/* The payload is the answer, whatever it looks like; only what cannot be one is a refusal. */
static void test_agui_plan__a_payload_answers_a_question(void **state) {
    static const struct {
        const char *schema, *entry, *told;
    } cases[] = {
        {"", "'status':'resolved','payload':'blue'", "told blue"},
        {",'schema':{'type':'object'}", "'status':'resolved','payload':{'approved':true}",
         "told {\\'approved\\':true}"},
        {",'schema':{'type':'object','properties':{'approved':{'type':'boolean'}}}",
         "'status':'resolved','payload':{'approved':false}", "told {\\'approved\\':false}"},
        {"", "'status':'resolved','payload':{'approved':false,'reason':'no time'}",
         "told the user did not answer: no time"},
        {"", "'status':'cancelled'", "told the user did not answer: the user left the question"},
    };
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        server v;
        char text[600];
        snprintf(text, sizeof text,
                 "{'rules':[{'when':{'step':1},'reply':[{'tool':'ask_user','args':{'question':"
                 "'Which?'%s}}]}],'otherwise':[{'text':'told {{result}}'}]}",
                 cases[i].schema);
        serve_init(&v, text, NULL);
        ask(&v, "'messages':[{'id':'u','role':'user','content':'go'}]");
        carry_out(&v);
        snprintf(text, sizeof text, "'messages':[],'resume':[{'interruptId':'m4.0',%s}]",
                 cases[i].entry);
        assert_int_equal(ask(&v, text), HOB_AGUI_DO_ANSWER);
        carry_out(&v);
        if (!strstr(conversation(&v), cases[i].told))
            fail_msg("%s is not in %s", cases[i].told, conversation(&v));
        serve_finish(&v);
    }
}

static void test_agui_plan__questions_are_answered_in_any_order_also_some_of_them(void **state) {
    (void)state;
    server v;
    hob_agui_step step;
    serve_init(&v,
               "{'rules':[{'when':{'step':1},'reply':[{'tool':'bash','args':{'command':'a'}},"
               "{'tool':'bash','args':{'command':'b'}}]}]}",
               NULL);
    ask(&v, "'messages':[{'id':'u','role':'user','content':'go'}]");
    carry_out(&v);
#define YES(id) "{'interruptId':'" id "','status':'resolved','payload':{'approved':true}}"
    assert_int_equal(ask(&v, "'messages':[],'resume':[" YES("m4.1") "," YES("m4.0") "]"),
                     HOB_AGUI_DO_ANSWER);
    assert_int_equal(hob_agui_plan_step_count(v.plan), 2);
    assert_int_equal(ask(&v, "'messages':[],'resume':[" YES("m4.1") "]"), HOB_AGUI_DO_ANSWER);
    assert_int_equal(hob_agui_plan_step_count(v.plan), 1);
    assert_ok(hob_agui_plan_step(v.plan, 0, &step), err);
    assert_str(step.call, "m4.1");
    assert_int_equal(ask(&v, "'messages':[],'resume':[" YES("m4.2") "]"), HOB_AGUI_DO_ASK_AGAIN);
    serve_finish(&v);
}

static void test_agui_plan__a_paused_run_goes_on_or_is_given_up(void **state) {
    (void)state;
    static const struct {
        const char *entry;
        hob_agui_pause pause;
    } cases[] = {
        {"", HOB_AGUI_PAUSE_STAY},
        {"{'interruptId':'hob:paused','status':'resolved'}", HOB_AGUI_PAUSE_GO_ON},
        {"{'interruptId':'hob:paused','status':'resolved','payload':{'approved':true}}",
         HOB_AGUI_PAUSE_GO_ON},
        {"{'interruptId':'hob:paused','status':'resolved','payload':{'approved':false}}",
         HOB_AGUI_PAUSE_STAY},
        {"{'interruptId':'hob:paused','status':'cancelled'}", HOB_AGUI_PAUSE_GIVE_UP},
    };
    server v;
    serve_init(&v, echo, NULL);
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        char members[200];
        snprintf(members, sizeof members, "'messages':[],'resume':[%s]", cases[i].entry);
        assert_int_equal(ask(&v, members), HOB_AGUI_DO_NOTHING);
        assert_int_equal(hob_agui_plan_pause(v.plan), cases[i].pause);
        assert_int_equal(hob_agui_plan_warning_count(v.plan), 0);
    }
    serve_finish(&v);
}

static void test_agui_plan__anything_but_yes_is_no(void **state) {
    (void)state;
    static const char *const entries[] = {
        "'status':'cancelled'", "'status':'resolved'", "'status':'resolved','payload':true",
        "'status':'resolved','payload':{'approved':'true'}",
        "'status':'resolved','payload':{'approved':false,'reason':'no'}"};
    server v;
    prepare_approval(&v);
    for (size_t i = 0; i < HOB_ARRAY_LEN(entries); i++) {
        char members[200];
        hob_agui_step step;
        snprintf(members, sizeof members, "'messages':[],'resume':[{'interruptId':'m4.0',%s}]",
                 entries[i]);
        assert_int_equal(ask(&v, members), HOB_AGUI_DO_ANSWER);
        assert_ok(hob_agui_plan_step(v.plan, 0, &step), err);
        assert_int_equal(step.verdict, HOB_VERDICT_DENY);
    }
    serve_finish(&v);
}

static void test_agui_plan__an_approval_is_not_passed_over(void **state) {
    (void)state;
    server v;
    hob_page *rows;
    prepare_approval(&v);
    assert_int_equal(ask(&v, "'messages':[{'id':'u2','role':'user','content':'sneak past'}]"),
                     HOB_AGUI_DO_ASK_AGAIN);
    assert_int_equal(hob_agui_plan_step_count(v.plan), 0);
    /* The run on the wire asks again. */
    hob_agui_session *s = test_wire_open(&v.wire, HOB_AGUI_AS_JSON);
    hob_agui_view *view;
    assert_ok(hob_agui_run_start(s, v.in, &err), err);
    assert_ok(hob_agui_view_create(s, &view, &err), err);
    assert_int_equal(hob_agui_view_park(view, &err), HOB_EIDLE);
    assert_ok(hob_session_pending_confirmations(v.h.s, &rows, &err), err);
    assert_ok(hob_agui_view_asked(view, hob_page_row(rows, 0), &err), err);
    assert_ok(hob_agui_view_park(view, &err), err);
    assert_true(hob_str_find(hob_buf_str(&v.wire.lines), Z("\"interrupts\":[{\"id\":\"m4.0\"")) >
                0);
    hob_page_destroy(rows);
    hob_agui_view_destroy(view);
    test_wire_close(&v.wire, s);
    serve_finish(&v);
}

static void test_agui_plan__state_is_an_object(void **state) {
    (void)state;
    server v;
    hob_state *all;
    hob_agui_json *j;
    serve_init(&v, echo, NULL);
    assert_ok(hob_session_apply_state_delta(v.h.s, Z("{\"n\":1,\"user:l\":[\"x\"]}"), Z(""), &err),
              err);
    assert_ok(hob_session_state(v.h.s, &all, NULL, &err), err);
    assert_ok(hob_agui_state_json(all, &j, &err), err);
    assert_str(hob_agui_json_text(j), "{\"n\":1,\"user:l\":[\"x\"]}");
    hob_agui_json_destroy(j);
    hob_state_destroy(all);
    serve_finish(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_plan__new_words_are_the_prompt_and_keep_their_ids),
        cmocka_unit_test(test_agui_plan__attachments_and_context),
        cmocka_unit_test(test_agui_plan__an_edit_goes_on_from_an_earlier_place),
        cmocka_unit_test(test_agui_plan__a_client_without_a_past_adds_to_the_end),
        cmocka_unit_test(test_agui_plan__tools_of_the_client_are_simplified_and_checked),
        cmocka_unit_test(test_agui_plan__results_of_the_client_start_one_run),
        cmocka_unit_test(test_agui_plan__a_failed_tool_and_a_word_beside_it),
        cmocka_unit_test(test_agui_plan__an_answer_is_a_verdict),
        cmocka_unit_test(test_agui_plan__a_payload_answers_a_question),
        cmocka_unit_test(test_agui_plan__questions_are_answered_in_any_order_also_some_of_them),
        cmocka_unit_test(test_agui_plan__a_paused_run_goes_on_or_is_given_up),
        cmocka_unit_test(test_agui_plan__anything_but_yes_is_no),
        cmocka_unit_test(test_agui_plan__an_approval_is_not_passed_over),
        cmocka_unit_test(test_agui_plan__state_is_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
