/* ctest: labels=threads */
/* What the model asks the user, in editors that can show more or less of it. */
#include "support/check.h"
#include "support/editor.h"

#include <stdio.h>

static const char script[] =
    "{'rules':["
    "{'when':{'user':'pick','step':1},'reply':[{'tool':'ask_user','args':{'question':'Which?',"
    "'schema':{'enum':['red',2]}}}]},"
    "{'when':{'user':'sure','step':1},'reply':[{'tool':'ask_user','args':{'question':'Sure?',"
    "'schema':{'type':'boolean'}}}]},"
    "{'when':{'user':'name','step':1},'reply':[{'tool':'ask_user','args':{'question':'Name?'}}]},"
    "{'when':{'user':'form','step':1},'reply':[{'tool':'ask_user','args':{'question':'How?',"
    "'schema':{'type':'object','properties':{'n':{'type':'integer','title':'N','maximum':5},"
    "'c':{'oneOf':[{'const':'r','title':'Red'},{'const':'b'}]},"
    "'m':{'type':'array','items':{'enum':['x','y']}}},'required':['n']}}}]},"
    "{'when':{'user':'deep','step':1},'reply':[{'tool':'ask_user','args':{'question':'Deep?',"
    "'schema':{'type':'object','properties':{'o':{'type':'object'}}}}}]}],"
    "'otherwise':[{'text':'<{{result}}>'}]}";

static int setup(void **state) {
    int rc = hob_test_editor_setup(state, script);
    hob_test_editor *e = *state;
    e->offers = "{'elicitation':{'form':{}}}";
    e->h.so.permission_mode = "yolo";
    e->option = NULL;
    return rc;
}

static void begin(hob_test_editor *e, const char *text) {
    hob_test_editor_start(e);
    hob_test_editor_session(e);
    hob_test_editor_begin(e, text);
}

/* Waits for this request and answers it. */
static void serve(hob_test_editor *e, const char *request, const char *result) {
    char line[500];
    const hob_json *m = hob_test_editor_until(e, request);
    snprintf(line, sizeof line, "{'jsonrpc':'2.0','id':%.*s,'result':%s}",
             HOB_FMT(hob_json_raw(hob_json_get(m, "id"))), result);
    hob_test_editor_send(e, line);
}

/* What the model was told. */
static void assert_told(hob_test_editor *e, const char *told) {
    hob_test_editor_until(e, "{'id':77,");
    const char *seen = hob_test_editor_seen(e);
    if (!strstr(seen, told)) fail_msg("%s\nis not in\n%s", told, seen);
}

static void test_acp_question__choices_are_options(void **state) {
    hob_test_editor *e = *state;
    begin(e, "pick");
    serve(e,
          "'options':[{'optionId':'choice-0','name':'red','kind':'allow_once'},"
          "{'optionId':'choice-1','name':'2','kind':'allow_once'},"
          "{'optionId':'decline','name':'Do not answer','kind':'reject_once'}]",
          "{'outcome':{'outcome':'selected','optionId':'choice-1'}}");
    assert_told(e, "<2>");
}

static void test_acp_question__yes_or_no_are_options(void **state) {
    hob_test_editor *e = *state;
    e->offers = "{}";
    begin(e, "sure");
    serve(e, "'optionId':'false','name':'No'",
          "{'outcome':{'outcome':'selected','optionId':'false'}}");
    assert_told(e, "<false>");
}

static void test_acp_question__can_be_declined(void **state) {
    hob_test_editor *e = *state;
    begin(e, "sure");
    serve(e, "session/request_permission",
          "{'outcome':{'outcome':'selected','optionId':'decline'}}");
    assert_told(e, "<the user did not answer>");
}

static void test_acp_question__a_choice_that_is_none_is_no_answer(void **state) {
    hob_test_editor *e = *state;
    begin(e, "pick");
    serve(e, "session/request_permission",
          "{'outcome':{'outcome':'selected','optionId':'choice-9'}}");
    assert_told(e, "<the user did not answer>");
}

static void test_acp_question__a_text_is_a_form_of_one_field(void **state) {
    hob_test_editor *e = *state;
    begin(e, "name");
    serve(e,
          "'method':'elicitation/create','params':{'sessionId':'S','toolCallId':'m4.0','mode':"
          "'form','message':'Name?','requestedSchema':{'type':'object','properties':{'answer':"
          "{'type':'string'}},'required':['answer']}}",
          "{'action':'accept','content':{'answer':'Eva'}}");
    assert_told(e, "<Eva>");
}

static void test_acp_question__an_object_is_a_form(void **state) {
    hob_test_editor *e = *state;
    begin(e, "form");
    serve(e,
          "'requestedSchema':{'type':'object','properties':{'n':{'type':'integer','title':'N',"
          "'maximum':5},'c':{'type':'string','oneOf':[{'const':'r','title':'Red'},{'const':'b',"
          "'title':'b'}]},'m':{'type':'array','items':{'type':'string','enum':['x','y']}}},"
          "'required':['n']}",
          "{'action':'accept','content':{'n':3,'m':['y']}}");
    assert_told(e, "<{\\'n\\':3,\\'m\\':[\\'y\\']}>");
}

static void test_acp_question__a_form_that_does_not_fit_is_no_answer(void **state) {
    hob_test_editor *e = *state;
    begin(e, "form");
    serve(e, "elicitation/create", "{'action':'accept','content':{'n':9}}");
    assert_told(e, "<the user did not answer: the answer does not fit: n must be at most 5>");
}

static void test_acp_question__an_editor_without_forms_is_named(void **state) {
    hob_test_editor *e = *state;
    e->offers = "{}";
    begin(e, "name");
    assert_told(e, "<the user did not answer: this editor cannot show such a question, only");
}

static void test_acp_question__what_no_form_can_show_is_not_asked(void **state) {
    hob_test_editor *e = *state;
    begin(e, "deep");
    assert_told(e, "this editor cannot show such a question");
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_acp_question__##name, setup, hob_test_editor_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(choices_are_options),
        TEST(yes_or_no_are_options),
        TEST(can_be_declined),
        TEST(a_choice_that_is_none_is_no_answer),
        TEST(a_text_is_a_form_of_one_field),
        TEST(an_object_is_a_form),
        TEST(a_form_that_does_not_fit_is_no_answer),
        TEST(an_editor_without_forms_is_named),
        TEST(what_no_form_can_show_is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
