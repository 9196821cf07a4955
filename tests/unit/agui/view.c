/* Events of a session as events of an AG-UI run. */
/* ctest: labels=threads */
#include <hob/agui_project.h>

#include "log/event.h"
#include "support/agui.h"
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <stdlib.h>

#define Z(text) hob_str_z(text)

static test_wire wire;
static hob_error err;
static hob_agui_session *s;
static hob_agui_view *v;

/* An input's members beside the ids; NULL: a client of 1.0 without history. */
static void open_view(const char *members) {
    char json[2000];
    s = test_wire_open(&wire, HOB_AGUI_AS_JSON);
    snprintf(json, sizeof json, "{\"threadId\":\"t\",\"runId\":\"r\",%s}",
             members ? members : "\"messages\":[],\"protocolVersion\":\"1.0\"");
    hob_agui_input *in = test_input(json);
    assert_ok(hob_agui_run_start(s, in, &err), err);
    hob_agui_input_destroy(in);
    assert_ok(hob_agui_view_create(s, &v, &err), err);
    hob_buf_reset(&wire.lines);
}

static void close_view(void) {
    hob_agui_view_destroy(v);
    test_wire_close(&wire, s);
}

/* An event with ' for ", of the time 0. */
static int feed(const char *type, const char *data) {
    hob_buf line;
    hob_event *e;
    hob_buf_init(&line, 1 << 20);
    hob_buf_addf(&line,
                 "{'v':1,'seq':9,'ts':'1970-01-01T00:00:00.000Z','type':'%s','session_id':'s',"
                 "'entry':'e9','data':%s}",
                 type, data);
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] == '\'') line.p[i] = '"';
    assert_ok(hob_event_decode(hob_buf_str(&line), &e, &err), err);
    int rc = hob_agui_view_event(v, e, &err);
    hob_event_unref(e);
    hob_buf_finish(&line);
    if (rc < 0) fail_msg("%s: %s", type, err.message);
    return rc;
}

static void wire_is(const char *expected) {
    hob_buf b;
    hob_buf_init(&b, 1 << 20);
    for (const char *p = expected; *p; p++) hob_buf_addc(&b, *p == '\'' ? '"' : *p);
    test_wire_expect(&wire, hob_buf_z(&b));
    hob_buf_finish(&b);
}

static void end_completed(void) {
    feed("run_finished", "{'status':'completed','turns':1}");
    assert_int_equal(feed("settled", "{'status':'completed'}"), 1);
}

/* ---- answers --------------------------------------------------------------------------------------------------------- */

static void test_agui_view__an_answer_is_streamed_as_it_is_made(void **state) {
    (void)state;
    open_view(NULL);
    feed("message_open", "{'message':'m4'}");
    feed("thinking_delta", "{'message':'m4','block':0,'offset':0,'text':'hm'}");
    feed("text_delta", "{'message':'m4','block':1,'offset':0,'text':'He'}");
    feed("text_delta", "{'message':'m4','block':1,'offset':2,'text':'llo'}");
    feed("tool_args_delta", "{'message':'m4','block':2,'offset':0,'text':'{}','tool':'read',"
                            "'call':'m4.0'}");
    feed(
        "assistant_message",
        "{'message':'m4','model':'lab/x','stop':'tools','content':[{'type':'thinking','text':'hm'},"
        "{'type':'text','text':'Hello!'},{'type':'tool_call','call':'m4.0','name':'read',"
        "'args':{}}],'usage':{'input_tokens':3,'output_tokens':2,'cache_read_tokens':4}}");
    feed("tool_finished", "{'call':'m4.0','tool':'read','outcome':'ok','content':[{'type':'text',"
                          "'text':'a'},{'type':'text','text':'b'}]}");
    end_completed();
    wire_is("{'type':'REASONING_START','messageId':'m4-0'}\n"
            "{'type':'REASONING_MESSAGE_START','messageId':'m4-0','role':'reasoning'}\n"
            "{'type':'REASONING_MESSAGE_CONTENT','messageId':'m4-0','delta':'hm'}\n"
            "{'type':'REASONING_MESSAGE_END','messageId':'m4-0'}\n"
            "{'type':'REASONING_END','messageId':'m4-0'}\n"
            "{'type':'TEXT_MESSAGE_START','messageId':'m4-1','role':'assistant'}\n"
            "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m4-1','delta':'He'}\n"
            "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m4-1','delta':'llo'}\n"
            "{'type':'TOOL_CALL_START','toolCallId':'m4.0','toolCallName':'read',"
            "'parentMessageId':'m4'}\n"
            "{'type':'TOOL_CALL_ARGS','toolCallId':'m4.0','delta':'{}'}\n"
            "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m4-1','delta':'!'}\n"
            "{'type':'TEXT_MESSAGE_END','messageId':'m4-1'}\n"
            "{'type':'TOOL_CALL_END','toolCallId':'m4.0'}\n"
            "{'type':'TOOL_CALL_RESULT','messageId':'m4.0:result','toolCallId':'m4.0',"
            "'content':'a\\nb','role':'tool'}\n"
            "{'type':'RUN_FINISHED','threadId':'t','runId':'r','usage':[{'provider':'lab',"
            "'model':'x','inputTokens':7,'outputTokens':2,'totalTokens':9,'reasoningTokens':0,"
            "'cachedInputTokens':4,'cacheWriteInputTokens':0}]}\n");
    close_view();
}

static void test_agui_view__an_answer_that_was_not_streamed_comes_whole(void **state) {
    (void)state;
    open_view(NULL);
    feed("assistant_message",
         "{'message':'m4','content':[{'type':'text','text':'Hi'},{'type':'opaque','raw':{}},"
         "{'type':'tool_call','call':'m4.0','name':'f','args':{'a':1}},"
         "{'type':'tool_call','call':'m4.1','name':'g','args_text':'{bro'}]}");
    wire_is("{'type':'TEXT_MESSAGE_START','messageId':'m4-0','role':'assistant'}\n"
            "{'type':'TEXT_MESSAGE_CONTENT','messageId':'m4-0','delta':'Hi'}\n"
            "{'type':'TOOL_CALL_START','toolCallId':'m4.0','toolCallName':'f',"
            "'parentMessageId':'m4'}\n"
            "{'type':'TOOL_CALL_ARGS','toolCallId':'m4.0','delta':'{\\'a\\':1}'}\n"
            "{'type':'TOOL_CALL_START','toolCallId':'m4.1','toolCallName':'g',"
            "'parentMessageId':'m4'}\n"
            "{'type':'TOOL_CALL_ARGS','toolCallId':'m4.1','delta':'{bro'}\n"
            "{'type':'TEXT_MESSAGE_END','messageId':'m4-0'}\n"
            "{'type':'TOOL_CALL_END','toolCallId':'m4.0'}\n"
            "{'type':'TOOL_CALL_END','toolCallId':'m4.1'}\n");
    close_view();
}

static void test_agui_view__what_the_client_has_is_not_sent_again(void **state) {
    (void)state;
    open_view("\"protocolVersion\":\"1.0\",\"messages\":[{\"id\":\"u1\",\"role\":\"user\","
              "\"content\":\"hi\"},{\"id\":\"m4-0\",\"role\":\"assistant\",\"content\":\"Hi\"},"
              "{\"id\":\"m4\",\"role\":\"assistant\",\"toolCalls\":[{\"id\":\"m4.0\","
              "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
              "{\"id\":\"x\",\"role\":\"tool\",\"toolCallId\":\"m4.0\",\"content\":\"ok\"}]");
    feed("user_message", "{'content':[{'type':'text','text':'hi','message_id':'u1'}]}");
    feed("text_delta", "{'message':'m4','block':0,'offset':0,'text':'H'}");
    feed("assistant_message", "{'message':'m4','content':[{'type':'text','text':'Hi'},"
                              "{'type':'tool_call','call':'m4.0','name':'f','args':{}}]}");
    feed("tool_finished",
         "{'call':'m4.0','tool':'f','outcome':'ok','content':[{'type':'text','text':'ok'}]}");
    test_wire_silent(&wire);
    close_view();
}

static void test_agui_view__words_of_others_are_user_messages(void **state) {
    (void)state;
    open_view(NULL);
    feed("user_message", "{'content':[{'type':'text','text':'ctx','hidden':true},"
                         "{'type':'text','text':'one','message_id':'a'},"
                         "{'type':'text','text':'two','message_id':'b'}]}");
    feed("steer_delivered", "{'item':'i','content':[{'type':'text','text':'other way'}]}");
    wire_is("{'type':'TEXT_MESSAGE_START','messageId':'a','role':'user'}\n"
            "{'type':'TEXT_MESSAGE_CONTENT','messageId':'a','delta':'one'}\n"
            "{'type':'TEXT_MESSAGE_END','messageId':'a'}\n"
            "{'type':'TEXT_MESSAGE_START','messageId':'b','role':'user'}\n"
            "{'type':'TEXT_MESSAGE_CONTENT','messageId':'b','delta':'two'}\n"
            "{'type':'TEXT_MESSAGE_END','messageId':'b'}\n"
            "{'type':'TEXT_MESSAGE_START','messageId':'e9','role':'user'}\n"
            "{'type':'TEXT_MESSAGE_CONTENT','messageId':'e9','delta':'other way'}\n"
            "{'type':'TEXT_MESSAGE_END','messageId':'e9'}\n");
    close_view();
}

static void test_agui_view__an_answer_that_broke_off_makes_it_stale(void **state) {
    (void)state;
    open_view(NULL);
    feed("text_delta", "{'message':'m4','block':0,'offset':0,'text':'Hel'}");
    feed("tool_args_delta", "{'message':'m4','block':1,'offset':0,'text':'{','tool':'f',"
                            "'call':'m4.0'}");
    assert_int_equal(hob_agui_view_stale(v), 0);
    hob_buf_reset(&wire.lines);
    feed("turn_discarded", "{'message':'m4','reason':'x'}");
    wire_is(
        "{'type':'TEXT_MESSAGE_END','messageId':'m4-0'}\n"
        "{'type':'TOOL_CALL_END','toolCallId':'m4.0'}\n"
        "{'type':'TOOL_CALL_RESULT','messageId':'m4.0:result','toolCallId':'m4.0',"
        "'content':'discarded: the answer broke off','role':'tool'}\n"
        "{'type':'CUSTOM','name':'hob:turn_discarded','value':{'message':'m4','reason':'x'}}\n");
    assert_int_equal(hob_agui_view_stale(v), 1);
    assert_int_equal(hob_agui_view_stale(v), 0);
    close_view();
}

/* ---- approvals and ends ------------------------------------------------------------------------------------------------- */

static void test_agui_view__approvals_are_interrupts(void **state) {
    (void)state;
    open_view(NULL);
    feed("assistant_message", "{'message':'m4','content':[{'type':'tool_call','call':'m4.0',"
                              "'name':'bash','args':{'command':'ls'}}]}");
    feed("approval_requested", "{'call':'m4.0','tool':'bash','args':{'command':'ls'}}");
    feed("approval_requested", "{'call':'kid/m2.0','tool':'write','args':{},'child':'kid',"
                               "'agent':'helper'}");
    feed("approval_requested", "{'call':'m4.1','tool':'x','args':{}}");
    hob_buf_reset(&wire.lines);
    feed("approval_resolved", "{'call':'m4.1','approved':false,'by':'user'}");
    hob_buf_reset(&wire.lines);
    assert_int_equal(hob_agui_view_waiting(v), 2);
    assert_ok(hob_agui_view_park(v, &err), err);
#define SCHEMA                                                                                     \
    "'responseSchema':{'type':'object','properties':{'approved':{'type':'boolean'},'reason':"      \
    "{'type':'string'}},'required':['approved'],'additionalProperties':false}"
    wire_is("{'type':'RUN_FINISHED','threadId':'t','runId':'r','outcome':{'type':'interrupt',"
            "'interrupts':[{'id':'m4.0','reason':'tool_call',"
            "'message':'Allow bash {\\'command\\':\\'ls\\'}?','toolCallId':'m4.0'," SCHEMA ","
            "'metadata':{'hob':{'tool':'bash','args':{'command':'ls'}}}},"
            "{'id':'kid/m2.0','reason':'tool_call','message':'helper: Allow write?'," SCHEMA ","
            "'metadata':{'hob':{'tool':'write','args':{},'agent':'helper','child':'kid'}},"
            "'subagentRunId':'kid'}]}}\n");
    assert_int_equal(feed("tool_started", "{'call':'m4.0'}"), 1); /* it is over */
    close_view();
}

static void test_agui_view__questions_are_interrupts_with_their_schema(void **state) {
    (void)state;
    open_view(NULL);
    feed("approval_requested", "{'call':'m4.0','tool':'ask_user','args':{},'question':'Which?',"
                               "'schema':{'enum':['a']}}");
    feed("approval_requested", "{'call':'kid/m2.0','tool':'ask_user','args':{},'question':'Why?',"
                               "'child':'kid','agent':'helper'}");
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_view_park(v, &err), err);
    wire_is("{'type':'RUN_FINISHED','threadId':'t','runId':'r','outcome':{'type':'interrupt',"
            "'interrupts':[{'id':'m4.0','reason':'input_required','message':'Which?',"
            "'responseSchema':{'enum':['a']},'metadata':{'hob':{'tool':'ask_user','args':{}}}},"
            "{'id':'kid/m2.0','reason':'input_required','message':'helper: Why?',"
            "'responseSchema':{'type':'string'},'metadata':{'hob':{'tool':'ask_user','args':{},"
            "'agent':'helper','child':'kid'}},'subagentRunId':'kid'}]}}\n");
    close_view();
}

/* What began before the run on the wire is there in it, and so is that the run is paused. */
static void test_agui_view__a_paused_run_is_an_interrupt(void **state) {
    (void)state;
    open_view(NULL);
    static const char row[] =
        "{\"v\":1,\"seq\":3,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"agent_started\","
        "\"session_id\":\"s\",\"data\":{\"agent\":\"writer\"}}";
    assert_ok(hob_agui_view_began(v, hob_str_z(row), &err), err);
    assert_int_equal(hob_agui_view_began(v, HOB_STR("{}"), &err) < 0, 1);
    feed("run_paused", "{}");
    assert_int_equal(hob_agui_view_waiting(v), 1);
    feed("run_resumed", "{}");
    assert_int_equal(hob_agui_view_waiting(v), 0);
    hob_agui_view_paused(v);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_view_park(v, &err), err);
    wire_is(
        "{'type':'STEP_FINISHED','stepName':'writer'}\n"
        "{'type':'RUN_FINISHED','threadId':'t','runId':'r','outcome':{'type':'interrupt',"
        "'interrupts':[{'id':'hob:paused','reason':'hob:paused','message':'The run is paused. Go "
        "on with it?','responseSchema':{'type':'object','properties':{'approved':{'type':"
        "'boolean'}}}}]}}\n");
    close_view();
}

static void test_agui_view__ends_say_how_it_ended(void **state) {
    (void)state;
    static const struct {
        const char *finished, *wire;
    } rows[] = {
        {"{'status':'completed'}", "{'type':'RUN_FINISHED','threadId':'t','runId':'r'}\n"},
        {"{'status':'cancelled'}", "{'type':'RUN_FINISHED','threadId':'t','runId':'r','outcome':"
                                   "{'type':'cancelled'}}\n"},
        {"{'status':'limit','reason':'turns'}",
         "{'type':'RUN_ERROR','message':'the run stopped at a limit: turns','code':'limit'}\n"},
        {"{'status':'limit','reason':'quota_tokens'}",
         "{'type':'RUN_ERROR','message':'the run stopped at a limit: quota_tokens','code':'limit'}\n"},
        {"{'status':'failed','error':{'code':'HOB_EAUTH','message':'no key'}}",
         "{'type':'RUN_ERROR','message':'no key','code':'HOB_EAUTH'}\n"},
        {"{'status':'interrupted','reason':'killed'}",
         "{'type':'RUN_ERROR','message':'the run was interrupted and can be resumed: killed',"
         "'code':'interrupted'}\n"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) {
        open_view(NULL);
        feed("run_finished", rows[i].finished);
        assert_int_equal(feed("settled", "{}"), 1);
        wire_is(rows[i].wire);
        close_view();
    }
}

static void test_agui_view__a_receipt_leaves_the_call_to_the_client(void **state) {
    (void)state;
    open_view(NULL);
    feed("assistant_message", "{'message':'m4','content':[{'type':'tool_call','call':'m4.0',"
                              "'name':'confirm','args':{}}]}");
    feed("tool_finished", "{'call':'m4.0','tool':'confirm','outcome':'ok','pending':true,"
                          "'content':[{'type':'text','text':'wait'}]}");
    hob_buf_reset(&wire.lines);
    end_completed();
    wire_is("{'type':'RUN_FINISHED','threadId':'t','runId':'r','outcome':{'type':'success',"
            "'pendingToolCallIds':['m4.0']}}\n");
    close_view();
}

static void test_agui_view__images_in_results_are_parts(void **state) {
    (void)state;
    static const char made[] =
        "{'message':'m4','content':[{'type':'tool_call','call':'m4.0','name':'read','args':{}}]}";
    static const char done[] =
        "{'call':'m4.0','tool':'read','outcome':'ok','content':[{'type':'text','text':'x'},"
        "{'type':'image','media_type':'image/png','data':'eA=='}]}";
    open_view(NULL);
    feed("assistant_message", made);
    hob_buf_reset(&wire.lines);
    feed("tool_finished", done);
    wire_is("{'type':'TOOL_CALL_RESULT','messageId':'m4.0:result','toolCallId':'m4.0','content':"
            "[{'type':'text','text':'x'},{'type':'image','source':{'type':'data','value':'eA==',"
            "'mimeType':'image/png'}}],'role':'tool'}\n");
    close_view();
    open_view("\"messages\":[]"); /* older */
    feed("assistant_message", made);
    hob_buf_reset(&wire.lines);
    feed("tool_finished", done);
    wire_is("{'type':'TOOL_CALL_RESULT','messageId':'m4.0:result','toolCallId':'m4.0','content':"
            "'x','role':'tool'}\n");
    close_view();
}

/* ---- teams, state, the rest ----------------------------------------------------------------------------------------------- */

static void test_agui_view__agents_are_steps_and_children_sub_agents(void **state) {
    (void)state;
    open_view(NULL);
    feed("agent_started", "{'agent':'writer','kind':'llm'}");
    feed("child_started",
         "{'child':'k1','agent':'helper','depth':1,'prompt':'look','call':'m4.0'}");
    feed("child_finished", "{'child':'k1','agent':'helper','status':'completed','text':'seen'}");
    feed("child_reused", "{'child':'k1','agent':'helper','turn':2}");
    feed(
        "child_finished",
        "{'child':'k1','agent':'helper','status':'failed','reason':'no','usage':{'input_tokens':1}}");
    feed("child_finished", "{'child':'old','agent':'past','status':'completed','text':'x'}");
    feed("child_started", "{'child':'k2','agent':'slow','depth':1,'prompt':'p','background':true}");
    feed("agent_finished", "{'agent':'writer','status':'completed'}");
    end_completed();
    wire_is("{'type':'STEP_STARTED','stepName':'writer'}\n"
            "{'type':'SUBAGENT_STARTED','subagentRunId':'k1','name':'helper','description':'look',"
            "'parentToolCallId':'m4.0'}\n"
            "{'type':'SUBAGENT_FINISHED','subagentRunId':'k1','result':'seen','outcome':"
            "{'type':'success'}}\n"
            "{'type':'SUBAGENT_STARTED','subagentRunId':'k1#2','name':'helper'}\n"
            "{'type':'SUBAGENT_ERROR','subagentRunId':'k1#2','message':'no','code':'failed'}\n"
            "{'type':'SUBAGENT_STARTED','subagentRunId':'old','name':'past'}\n"
            "{'type':'SUBAGENT_FINISHED','subagentRunId':'old','result':'x','outcome':"
            "{'type':'success'}}\n"
            "{'type':'SUBAGENT_STARTED','subagentRunId':'k2','name':'slow','description':'p'}\n"
            "{'type':'STEP_FINISHED','stepName':'writer'}\n"
            "{'type':'SUBAGENT_FINISHED','subagentRunId':'k2','outcome':{'type':'suspended'}}\n"
            "{'type':'RUN_FINISHED','threadId':'t','runId':'r','usage':[{'inputTokens':1,"
            "'outputTokens':0,'totalTokens':1,'reasoningTokens':0,'cachedInputTokens':0,"
            "'cacheWriteInputTokens':0}]}\n");
    close_view();
}

static void test_agui_view__state_changes_are_deltas_beside_the_clients_own(void **state) {
    (void)state;
    open_view("\"protocolVersion\":\"1.0\",\"messages\":[],"
              "\"state\":{\"mine\":\"something of the client\",\"n\":1,\"gone\":true}");
    feed("state_changed",
         "{'delta':{'n':2,'user:lang':'de'},'removed':['gone'],'temp':['temp:x']}");
    wire_is("{'type':'STATE_DELTA','delta':[{'op':'remove','path':'/gone'},"
            "{'op':'replace','path':'/n','value':2},{'op':'add','path':'/user:lang',"
            "'value':'de'}]}\n");
    feed("state_changed", "{'temp':['temp:x']}");
    test_wire_silent(&wire);
    close_view();
}

/* Whether the client has what goes is not known: it does afterwards, and then it can go. */
static void test_agui_view__of_a_large_state_whole_members_are_told(void **state) {
    (void)state;
    open_view("\"protocolVersion\":\"1.0\",\"messages\":[],"
              "\"state\":{\"mine\":\"something of the client\",\"n\":[1,2]}");
    hob_agui_state_keep(s, 16);
    feed("state_changed", "{'delta':{'n':[1,3],'a/b':{}},'removed':['gone'],'temp':['temp:x']}");
    feed("state_changed", "{'temp':['temp:x']}");
    wire_is("{'type':'STATE_DELTA','delta':[{'op':'add','path':'/n','value':[1,3]},"
            "{'op':'add','path':'/a~1b','value':{}},{'op':'add','path':'/gone','value':null},"
            "{'op':'remove','path':'/gone'}]}\n");
    feed("state_changed", "{'delta':{'__proto__':1}}");
    wire_is("{'type':'CUSTOM','name':'hob:warning','value':{'code':'state','message':"
            "'the state changed, and is too large to be shown'}}\n");
    close_view();
}

static void test_agui_view__other_events_are_custom_or_nothing(void **state) {
    (void)state;
    open_view(NULL);
    feed("warning", "{'code':'x','text':'y'}");
    feed("tool_output_delta", "{'call':'m4.0','offset':0,'text':'o'}");
    wire_is("{'type':'CUSTOM','name':'hob:warning','value':{'code':'x','text':'y'}}\n"
            "{'type':'CUSTOM','name':'hob:tool_output_delta','value':{'call':'m4.0','offset':0,"
            "'text':'o'}}\n");
    feed("model_call_started", "{'model':'m','attempt':1,'message':'m4'}");
    feed("tool_decided", "{'call':'m4.0','tool':'x','decision':'allow'}");
    feed("run_started", "{'model':'m','origin':'prompt'}");
    feed("a_kind_of_tomorrow", "{}");
    test_wire_silent(&wire);
    close_view();
}

static void test_agui_view__goes_on_when_the_client_is_gone(void **state) {
    (void)state;
    open_view(NULL);
    wire.gone = true;
    feed("text_delta", "{'message':'m4','block':0,'offset':0,'text':'Hel'}");
    feed("assistant_message", "{'message':'m4','content':[{'type':'text','text':'Hello'}]}");
    end_completed();
    assert_false(hob_agui_is_running(s));
    close_view();
}

/* ---- real sessions -------------------------------------------------------------------------------------------------------------- */

/* With HOB_AGUI_RUNS=FILE each run goes there as a line: what the client had, the events, what it must have in the end.
 * tests/oracle/agui.sh has the real clients play them. */
static void dump(const char *had, hob_str lines, hob_str messages) {
    const char *name = getenv("HOB_AGUI_RUNS");
    FILE *f = name ? fopen(name, "a") : NULL;
    hob_str line;
    if (!f) return;
    fprintf(f, "{\"had\":%s,\"messages\":%.*s,\"events\":[", had, HOB_FMT(messages));
    for (bool first = true; hob_str_split(&lines, '\n', &line) && line.n; first = false)
        fprintf(f, "%s%.*s", first ? "" : ",", HOB_FMT(line));
    fputs("]}\n", f);
    fclose(f);
}

static void check_line(hob_str line, hob_str messages) {
    char type[64] = "", id[200] = "", member[220];
    hob_json_field(line, "type", type, sizeof type);
    if (hob_json_field(line, "messageId", id, sizeof id) < 0) return;
    snprintf(member, sizeof member, "\"id\":\"%s\"", id);
    if (hob_str_find(messages, Z(member)) < 0)
        fail_msg("%s of %s is not in %.*s", type, id, HOB_FMT(messages));
}

/* Every id that was streamed is in the conversation, under the same name. */
static void check_ids(host *h, const char *had, hob_agui_dialect dialect) {
    hob_page *page;
    hob_agui_json *messages;
    hob_str lines = hob_buf_str(&wire.lines), line;
    assert_ok(hob_session_history(h->s, &page, &h->err), h->err);
    assert_ok(hob_agui_messages(page, dialect, &messages, &h->err), h->err);
    while (hob_str_split(&lines, '\n', &line)) check_line(line, hob_agui_json_text(messages));
    dump(had, hob_buf_str(&wire.lines), hob_agui_json_text(messages));
    hob_agui_json_destroy(messages);
    hob_page_destroy(page);
}

/* Plays until the run on the wire has ended; the lines stay. */
static void play(host *h) {
    hob_event *e;
    int ended = 0;
    while (!ended) {
        int rc = hob_session_next_event(h->s, 50, &e);
        if (rc == 1) {
            ended = hob_agui_view_event(v, e, &err);
            hob_event_unref(e);
            assert_ok(ended, err);
        } else if (hob_agui_view_waiting(v) && hob_session_is_parked(h->s)) {
            assert_ok(hob_agui_view_park(v, &err), err);
            ended = 1;
        } else {
            assert_int_equal(rc, HOB_ETIMEDOUT);
        }
    }
}

#define HAD "[{\"id\":\"u\",\"role\":\"user\",\"content\":\"go\"}]"

static void begin(host *h, const char *script, hob_agui_dialect dialect) {
    host_init(h, script);
    h->so.approver = HOB_APPROVER_HOST;
    host_open(h);
    open_view(dialect == HOB_AGUI_1_0 ? "\"protocolVersion\":\"1.0\",\"messages\":" HAD
                                      : "\"messages\":" HAD);
    assert_ok(hob_agui_run_finish(s, Z(""), &err), err); /* begun anew: its start is to be seen */
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_start_ids(s, Z("r2"), Z(""), &err), err);
    assert_ok(hob_session_prompt_content(
                  h->s, Z("[{\"type\":\"text\",\"text\":\"go\",\"message_id\":\"u\"}]"), &h->err),
              h->err);
}

static void end(host *h) {
    close_view();
    host_finish(h);
}

static void stream_a_session(hob_agui_dialect dialect) {
    host h;
    begin(&h,
          "{'rules':[{'when':{'step':1},'reply':[{'thinking':'hm'},{'text':'I look.'},"
          "{'tool':'read','args':{'path':'script.json'}},{'text':'Both.','new_block':true},"
          "{'tool':'nothing'}]},{'reply':[{'text':'Done.'}]}]}",
          dialect);
    play(&h);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z("\"messageId\":\"m4.1:result\"")) > 0);
    check_ids(&h, HAD, dialect);
    end(&h);
}

static void test_agui_view__a_session_streams_what_its_history_says(void **state) {
    (void)state;
    stream_a_session(HOB_AGUI_1_0);
    stream_a_session(HOB_AGUI_OLDER);
}

static void test_agui_view__a_session_asks_and_goes_on_with_the_answer(void **state) {
    (void)state;
    host h;
    begin(&h,
          "{'rules':[{'when':{'step':1},'reply':[{'text':'May I?'},{'tool':'bash','args':"
          "{'command':'echo hi'}}]},{'reply':[{'text':'it said {{result}}'}]}]}",
          HOB_AGUI_1_0);
    play(&h);
    assert_true(hob_str_find(hob_buf_str(&wire.lines),
                             Z("\"toolCallId\":\"m4.0\",\"responseSchema\"")) > 0);
    check_ids(&h, HAD, HOB_AGUI_1_0);
    /* The answer begins the next run on the wire. */
    hob_agui_view_destroy(v);
    hob_buf_reset(&wire.lines);
    assert_ok(hob_agui_run_start_ids(s, Z("r3"), Z(""), &err), err);
    assert_ok(hob_agui_view_create(s, &v, &err), err);
    assert_ok(hob_session_confirm_tool_use(h.s, Z("m4.0"), HOB_VERDICT_ALLOW, Z(""), &h.err),
              h.err);
    play(&h);
    check_ids(
        &h,
        "[{\"id\":\"u\",\"role\":\"user\",\"content\":\"go\"},{\"id\":\"m4-0\",\"role\":"
        "\"assistant\",\"content\":\"May I?\"},{\"id\":\"m4\",\"role\":\"assistant\","
        "\"toolCalls\":[{\"id\":\"m4.0\",\"type\":\"function\",\"function\":{\"name\":\"bash\","
        "\"arguments\":\"{\\\"command\\\":\\\"echo hi\\\"}\"}}]}]",
        HOB_AGUI_1_0);
    assert_true(hob_str_find(hob_buf_str(&wire.lines), Z("it said hi")) > 0);
    end(&h);
}

static void test_agui_view__a_late_client_gets_the_rest(void **state) {
    (void)state;
    host h;
    hob_page *page;
    hob_agui_json *messages;
    begin(
        &h,
        "{'rules':[{'when':{'step':1},'reply':[{'thinking':'hm'},{'text':'a'},{'tool':'nothing'}]},"
        "{'reply':[{'text':'b'}]}]}",
        HOB_AGUI_1_0);
    assert_string_equal(host_wait(&h), "completed");
    /* Everything is in the snapshot; the events that led to it say nothing new. */
    assert_ok(hob_session_history(h.s, &page, &h.err), h.err);
    assert_ok(hob_agui_messages(page, HOB_AGUI_1_0, &messages, &h.err), h.err);
    assert_ok(hob_agui_messages_snapshot(s, hob_agui_json_text(messages), &err), err);
    play(&h);
    hob_str all = hob_buf_str(&wire.lines);
    assert_true(hob_str_find(all, Z("\"MESSAGES_SNAPSHOT\"")) > 0);
    assert_true(hob_str_find(all, Z("TEXT_MESSAGE")) < 0);
    assert_true(hob_str_find(all, Z("REASONING")) < 0);
    assert_true(hob_str_find(all, Z("TOOL_CALL_")) < 0);
    check_ids(&h, "[]", HOB_AGUI_1_0);
    hob_agui_json_destroy(messages);
    hob_page_destroy(page);
    end(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agui_view__an_answer_is_streamed_as_it_is_made),
        cmocka_unit_test(test_agui_view__an_answer_that_was_not_streamed_comes_whole),
        cmocka_unit_test(test_agui_view__what_the_client_has_is_not_sent_again),
        cmocka_unit_test(test_agui_view__words_of_others_are_user_messages),
        cmocka_unit_test(test_agui_view__an_answer_that_broke_off_makes_it_stale),
        cmocka_unit_test(test_agui_view__approvals_are_interrupts),
        cmocka_unit_test(test_agui_view__questions_are_interrupts_with_their_schema),
        cmocka_unit_test(test_agui_view__a_paused_run_is_an_interrupt),
        cmocka_unit_test(test_agui_view__ends_say_how_it_ended),
        cmocka_unit_test(test_agui_view__a_receipt_leaves_the_call_to_the_client),
        cmocka_unit_test(test_agui_view__images_in_results_are_parts),
        cmocka_unit_test(test_agui_view__agents_are_steps_and_children_sub_agents),
        cmocka_unit_test(test_agui_view__state_changes_are_deltas_beside_the_clients_own),
        cmocka_unit_test(test_agui_view__of_a_large_state_whole_members_are_told),
        cmocka_unit_test(test_agui_view__other_events_are_custom_or_nothing),
        cmocka_unit_test(test_agui_view__goes_on_when_the_client_is_gone),
        cmocka_unit_test(test_agui_view__a_session_streams_what_its_history_says),
        cmocka_unit_test(test_agui_view__a_session_asks_and_goes_on_with_the_answer),
        cmocka_unit_test(test_agui_view__a_late_client_gets_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
