/* Queues, cut-off answers, repeats and branches, as a host sees them: cases 6, 8, 9, 17, 22, 23 and traps 3-5, 7, 8. */
/* ctest: labels=snapshots */
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>

typedef struct stage {
    host r;
    gate g;
} stage;

static void stage_open(stage *s, const char *script, unsigned flags) {
    host_init(&s->r, script);
    gate_init(&s->g, "a", HOB_TOOL_READ_ONLY);
    s->r.so.tools = &s->g.tool;
    s->r.so.ntools = 1;
    s->r.so.flags = flags;
    host_open(&s->r);
}

static void stage_close(stage *s) {
    host_finish(&s->r);
    gate_finish(&s->g);
}

static void say(stage *s, int (*how)(hob_session *, hob_str, hob_error *), const char *text) {
    assert_ok(how(s->r.s, hob_str_z(text), &s->r.err), s->r.err);
}

/* ---- queues ---------------------------------------------------------------------------------------------- */

static const char echo[] =
    "{'rules':[{'when':{'user':'go','step':1},'reply':[{'tool':'a','args':{}}]},"
    "{'reply':[{'text':'re {{user}}'}]}]}";

static void steer_twice(stage *s, unsigned flags, const char *first, const char *second) {
    stage_open(s, echo, flags);
    say(s, hob_session_prompt, "go");
    gate_wait_started(&s->g, 1);
    say(s, hob_session_steer, first);
    say(s, hob_session_steer, second);
    gate_answer(&s->g, "done");
    assert_string_equal(host_wait(&s->r), "completed");
    host_log(&s->r);
}

/* IMP-6 */
static void test_session_turns__two_steers_come_one_a_turn(void **state) {
    stage s;
    (void)state;
    steer_twice(&s, 0, "S1", "S2");
    assert_non_null(strstr(s.r.log, "steer_delivered q8 \"S1\"\n"
                                    "model_call_started\n"
                                    "assistant_message done \"re S1\"\n"
                                    "steer_delivered q9 \"S2\"\n"
                                    "model_call_started\n"
                                    "assistant_message done \"re S2\"\n"
                                    "run_finished completed\n"));
    stage_close(&s);
}

/* IMP-6 */
static void test_session_turns__or_all_at_once(void **state) {
    stage s;
    (void)state;
    steer_twice(&s, HOB_SESSION_STEER_ALL, "S1", "S2");
    assert_non_null(strstr(s.r.log, "steer_delivered q8 \"S1\"\n"
                                    "steer_delivered q9 \"S2\"\n"
                                    "model_call_started\n"
                                    "assistant_message done \"re S2\"\n"
                                    "run_finished completed\n"));
    stage_close(&s);
}

/* TRAP-4: two messages of the same words are two. */
static void test_session_turns__the_same_words_twice_stay_two(void **state) {
    stage s;
    (void)state;
    steer_twice(&s, 0, "S", "S");
    assert_int_equal(host_count(&s.r, "steer_delivered"), 2);
    assert_non_null(strstr(s.r.log, "steer_delivered q8 \"S\"\n"));
    assert_non_null(strstr(s.r.log, "steer_delivered q9 \"S\"\n"));
    stage_close(&s);
}

/* IMP-8: a follow-up waits while one turn with tools leads to another. */
static void test_session_turns__a_follow_up_waits_for_more_tools(void **state) {
    stage s;
    (void)state;
    stage_open(&s,
               "{'rules':[{'when':{'user':'go','step':{'max':3}},'reply':[{'tool':'a','args':{}}]},"
               "{'reply':[{'text':'re {{user}}'}]}]}",
               0);
    say(&s, hob_session_prompt, "go");
    gate_wait_started(&s.g, 1);
    say(&s, hob_session_follow_up, "F");
    for (int i = 1; i <= 3; i++) {
        gate_wait_started(&s.g, i);
        assert_int_equal(host_count(&s.r, "follow_up_delivered"), 0);
        gate_answer(&s.g, "done");
    }
    assert_string_equal(host_wait(&s.r), "completed");
    assert_non_null(strstr(host_log(&s.r), "assistant_message done \"re go\"\n"
                                           "run_finished completed\n"
                                           "follow_up_delivered q8\n"
                                           "run_started follow_up\n"
                                           "user_message \"F\"\n"));
    assert_string_equal(host_text(&s.r), "re F");
    stage_close(&s);
}

/* IMP-9: text that streams is finished first; its calls are not made. */
static void test_session_turns__a_steer_stands_after_the_answer_it_met(void **state) {
    stage s;
    (void)state;
    stage_open(&s,
               "{'rules':[{'when':{'user':'go','step':1},'reply':[{'text':'one ','delay_ms':1},"
               "{'text':'two','delay_ms':400},{'tool':'a','args':{}}]},"
               "{'reply':[{'text':'re {{user}}'}]}]}",
               0);
    say(&s, hob_session_prompt, "go");
    hob_event_unref(host_until(&s.r, HOB_EVENT_TEXT_DELTA, NULL, NULL));
    say(&s, hob_session_steer, "S");
    assert_string_equal(host_wait(&s.r), "completed");
    assert_non_null(strstr(host_log(&s.r),
                           "steer_queued q5 \"S\"\n"
                           "assistant_message tools \"one two\"\n"
                           "tool_finished m4.0 a skipped \"skipped: the user steered\"\n"
                           "steer_delivered q5 \"S\"\n"
                           "model_call_started\n"));
    assert_int_equal(s.g.started, 0);
    stage_close(&s);
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

/* IMP-22 */
static void test_session_turns__a_cut_off_answer_makes_no_call(void **state) {
    stage s;
    (void)state;
    stage_open(
        &s,
        "{'rules':[{'when':{'step':1},'reply':[{'tool':'a','args':{}},{'tool':'a','args':{}},"
        "{'stop':'length'}]},{'reply':[{'text':'{{result}}'}]}]}",
        0);
    assert_string_equal(host_prompt(&s.r, "go"), "completed");
    assert_int_equal(s.g.started, 0);
    assert_int_equal(host_count(&s.r, "tool_finished"), 2);
    assert_int_equal(host_count(&s.r, "tool_started"), 0);
    assert_non_null(strstr(host_text(&s.r), "cut off at its length limit"));
    stage_close(&s);
}

/* IMP-23 */
static void test_session_turns__the_fourth_identical_call_ends_the_run(void **state) {
    host r;
    int ran = 0;
    hob_tool t = host_tool("a", HOB_TOOL_READ_ONLY, &ran);
    hob_page *p;
    (void)state;
    host_init(&r, "{'otherwise':[{'tool':'a','args':{}}]}");
    r.so.tools = &t;
    r.so.ntools = 1;
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "limit");
    assert_int_equal(hob_result_code(r.result), HOB_ELIMIT);
    assert_int_equal(ran, 3);
    assert_non_null(strstr(host_log(&r), "tool_finished m19.0 a denied"));
    assert_non_null(strstr(r.log, "run_finished limit repeated_action\n"));
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    hob_str third = hob_page_row(p, 6);
    assert_true(hob_str_find(third, HOB_STR("third identical call")) > 0);
    hob_page_destroy(p);
    host_finish(&r);
}

/* ---- readers ------------------------------------------------------------------------------------------------- */

static void ignore(hob_session *s, hob_event *e, void *user) {
    (void)s, (void)e, (void)user;
}

static void *read_all(void *arg) {
    host *r = arg;
    hob_event *e;
    while (hob_session_next_event(r->s, 30000, &e) == 1) hob_event_unref(e);
    return NULL;
}

enum { NOBODY, CALLBACK, READER, POLLER, WAYS };

/* The log of the same work, read in this way. */
static void work(int way, char *log, size_t cap) {
    stage s;
    pthread_t thread;
    stage_open(&s, echo, 0);
    if (way == CALLBACK) hob_session_on_event(s.r.s, ignore, NULL);
    if (way == POLLER) assert_true(hob_session_fd(s.r.s) >= 0);
    say(&s, hob_session_prompt, "go");
    if (way == READER) pthread_create(&thread, NULL, read_all, &s.r);
    gate_wait_started(&s.g, 1);
    say(&s, hob_session_follow_up, "F");
    gate_answer(&s.g, "done");
    assert_string_equal(host_wait(&s.r), "completed");
    if (way == READER) pthread_join(thread, NULL);
    snprintf(log, cap, "%s", host_log(&s.r));
    stage_close(&s);
}

/* IMP-17 */
static void test_session_turns__who_reads_does_not_matter_to_the_log(void **state) {
    static char logs[WAYS][8192];
    (void)state;
    for (int i = 0; i < WAYS; i++) work(i, logs[i], sizeof logs[i]);
    assert_true(strlen(logs[NOBODY]) > 300);
    for (int i = 1; i < WAYS; i++) assert_string_equal(logs[i], logs[NOBODY]);
}

typedef struct witness {
    int seen, wrong;
} witness;

/* An event that is told of is in the store already, also for another runtime on the same file. */
static void look_into_the_store(host *r, hob_runtime *other, hob_event *e, witness *w) {
    hob_page *p;
    if (!hob_event_seq(e)) return;
    assert_ok(hob_runtime_events(other, r->id, hob_event_seq(e) - 1, 1, &p, &r->err), r->err);
    w->seen++;
    w->wrong += hob_page_count(p) != 1;
    hob_page_destroy(p);
}

/* TRAP-1 */
static void test_session_turns__what_is_told_is_stored(void **state) {
    host r;
    hob_runtime *other;
    hob_event *e;
    witness w = {0};
    (void)state;
    host_init(
        &r, "{'rules':[{'when':{'step':1},'reply':[{'tool':'read','args':{'path':'script.json'}}]},"
            "{'reply':[{'text':'fine'}]}]}");
    r.ro.store = "sqlite";
    host_open(&r);
    hob_session_id(r.s, r.id, sizeof r.id);
    assert_ok(hob_runtime_create(&r.ro, &other, &r.err), r.err);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    while (hob_session_next_event(r.s, 30000, &e) == 1) {
        look_into_the_store(&r, other, e, &w);
        hob_event_unref(e);
    }
    assert_int_equal(w.seen, 12);
    assert_int_equal(w.wrong, 0);
    hob_runtime_destroy(other);
    host_finish(&r);
}

/* ---- the tree -------------------------------------------------------------------------------------------------- */

static const char count[] = "{'otherwise':[{'text':'turn {{turn}}'}]}";

/* TRAP-5: where the conversation goes on is written down. */
static void test_session_turns__the_head_survives_a_restart(void **state) {
    host r;
    hob_page *p;
    (void)state;
    host_init(&r, count);
    r.ro.store = "sqlite";
    host_open(&r);
    host_prompt(&r, "one");
    host_prompt(&r, "two");
    assert_ok(hob_session_move(r.s, "e5", &r.err), r.err); /* the answer to "one" */
    host_reopen(&r, HOB_UNFINISHED_RESUME);
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 2);
    hob_page_destroy(p);
    assert_string_equal(host_prompt(&r, "another two"), "completed");
    assert_string_equal(host_text(&r), "turn 2");
    assert_ok(hob_session_tree(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 6); /* nothing was lost */
    hob_page_destroy(p);
    host_finish(&r);
}

/* TRAP-7: only messages are places to go on from; settings and titles do not move the head. */
static void test_session_turns__only_messages_are_branch_points(void **state) {
    host r;
    hob_page *p;
    (void)state;
    host_init(&r, count);
    host_open(&r);
    host_prompt(&r, "one");
    assert_ok(hob_session_set_title(r.s, hob_str_z("a title"), &r.err), r.err); /* event 8 */
    assert_ok(hob_session_set_thinking(r.s, "high", &r.err), r.err);            /* event 9 */
    assert_int_equal(hob_session_move(r.s, "e8", &r.err), HOB_ENOENT);
    assert_int_equal(hob_session_move(r.s, "e4", &r.err), HOB_ENOENT);
    assert_int_equal(hob_session_move(r.s, "5", &r.err), HOB_ENOENT);
    host_prompt(&r, "two");
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 4);
    assert_true(hob_str_find(hob_page_row(p, 2), HOB_STR("\"parent_entry\":\"e5\"")) > 0);
    hob_page_destroy(p);
    host_finish(&r);
}

/* TRAP-8: a write and a read of the same file in one answer happen in the order of the answer. */
static void test_session_turns__calls_on_one_file_keep_their_order(void **state) {
    host r;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':["
                  "{'tool':'write','args':{'path':'f','content':'first\\n'}},"
                  "{'tool':'read','args':{'path':'f'}},"
                  "{'tool':'write','args':{'path':'f','content':'second\\n'}},"
                  "{'tool':'read','args':{'path':'f'}}]},{'reply':[{'text':'{{result}}'}]}]}");
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_non_null(strstr(host_text(&r), "second"));
    host_log(&r);
    const char *ends[] = {"tool_finished m4.0", "tool_started m4.1",  "tool_finished m4.1",
                          "tool_started m4.2",  "tool_finished m4.2", "tool_started m4.3"};
    for (size_t i = 1; i < 6; i++) assert_true(strstr(r.log, ends[i - 1]) < strstr(r.log, ends[i]));
    assert_non_null(strstr(strstr(r.log, "tool_finished m4.1"), "first"));
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_turns__two_steers_come_one_a_turn),
        cmocka_unit_test(test_session_turns__or_all_at_once),
        cmocka_unit_test(test_session_turns__the_same_words_twice_stay_two),
        cmocka_unit_test(test_session_turns__a_follow_up_waits_for_more_tools),
        cmocka_unit_test(test_session_turns__a_steer_stands_after_the_answer_it_met),
        cmocka_unit_test(test_session_turns__a_cut_off_answer_makes_no_call),
        cmocka_unit_test(test_session_turns__the_fourth_identical_call_ends_the_run),
        cmocka_unit_test(test_session_turns__who_reads_does_not_matter_to_the_log),
        cmocka_unit_test(test_session_turns__what_is_told_is_stored),
        cmocka_unit_test(test_session_turns__the_head_survives_a_restart),
        cmocka_unit_test(test_session_turns__only_messages_are_branch_points),
        cmocka_unit_test(test_session_turns__calls_on_one_file_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
