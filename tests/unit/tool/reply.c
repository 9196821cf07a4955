/* ctest: labels=threads */
#include "support/check.h"
#include "tool/tool.h"

#include <pthread.h>

typedef struct fixture {
    hob_loop *loop;
    hob_fake_clock clock;
    hob_reply *reply;
    bool drop_in_output;
    hob_buf log; /* "output TEXT\n" and "done OUTCOME CONTENT\n" */
} fixture;

static void on_output(void *user, hob_str chunk) {
    fixture *f = user;
    hob_buf_addf(&f->log, "output %.*s\n", HOB_FMT(chunk));
    if (!f->drop_in_output) return;
    hob_reply_drop(f->reply);
    f->reply = NULL;
}

static void on_done(void *user, const hob_tool_result *r) {
    fixture *f = user;
    hob_buf_addf(&f->log, "done %d %.*s\n", (int)r->outcome, HOB_FMT(r->content));
    f->reply = NULL;
}

static const hob_reply_handler handler = {on_output, on_done};

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    hob_fake_clock_init(&f->clock, 0);
    f->clock.base.virtual_time = false; /* only the tests move it */
    hob_buf_init(&f->log, 8 << 20);
    *state = f;
    if (hob_loop_create(&f->clock.base, &f->loop, NULL) < 0) return -1;
    f->reply = hob_reply_create(f->loop, &handler, f);
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_loop_destroy(f->loop);
    hob_buf_finish(&f->log);
    hob_free(f);
    return 0;
}

static void settle(fixture *f) {
    while (hob_loop_run_once(f->loop, 0) > 0) {
    }
}

#define ASSERT_LOG(f, text)                                                                        \
    do {                                                                                           \
        settle(f);                                                                                 \
        assert_str(hob_buf_str(&(f)->log), text);                                                  \
    } while (0)

static void test_tool_reply__text_becomes_a_block(void **state) {
    fixture *f = *state;
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("two\n\"lines\""));
    assert_int_equal(f->log.n, 0); /* never from inside the call */
    ASSERT_LOG(f, "done 0 [{\"type\":\"text\",\"text\":\"two\\n\\\"lines\\\"\"}]\n");
}

static void test_tool_reply__empty_text_is_no_block(void **state) {
    fixture *f = *state;
    hob_reply_text(f->reply, HOB_OUTCOME_ERROR, HOB_STR(""));
    ASSERT_LOG(f, "done 1 []\n");
}

static void test_tool_reply__broken_text_is_repaired(void **state) {
    fixture *f = *state;
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("a\xff\xc3"));
    ASSERT_LOG(f, "done 0 [{\"type\":\"text\",\"text\":\"a\xEF\xBF\xBD\xEF\xBF\xBD\"}]\n");
}

static void test_tool_reply__content_is_passed_on(void **state) {
    fixture *f = *state;
    const char *json = "[ {\"type\":\"text\",\"text\":\"x\"}, {\"type\":\"image\",\"media_type\":"
                       "\"image/png\",\"data\":\"AAAA\",\"more\":1} ]";
    hob_reply_content(f->reply, HOB_OUTCOME_OK, hob_str_z(json));
    settle(f);
    hob_str log = hob_str_skip(hob_buf_str(&f->log), strlen("done 0 "));
    assert_str(hob_str_first(log, log.n - 1), json);
}

static void test_tool_reply__content_that_is_no_content_is_an_error(void **state) {
    fixture *f = *state;
    static const char *const bad[] = {
        "",
        "{}",
        "[1]",
        "[{\"type\":\"text\"}]",
        "[{\"type\":\"video\"}]",
        "[{\"type\":\"image\",\"data\":\"x\"}]",
        "[{\"type\":\"text\",\"text\":\"x\"}",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        if (!f->reply) f->reply = hob_reply_create(f->loop, &handler, f);
        hob_buf_reset(&f->log);
        hob_reply_content(f->reply, HOB_OUTCOME_OK, hob_str_z(bad[i]));
        settle(f);
        assert_true(hob_str_starts(hob_buf_str(&f->log), HOB_STR("done 1 [{\"type\":\"text\"")));
    }
}

static void test_tool_reply__very_long_text_keeps_both_ends(void **state) {
    fixture *f = *state;
    size_t n = 3 << 20;
    char *text = hob_alloc(n);
    memset(text, 'x', n);
    memcpy(text, "BEGIN", 5);
    memcpy(text + n - 3, "END", 3);
    hob_reply_text(f->reply, HOB_OUTCOME_OK, hob_str_n(text, n));
    hob_free(text);
    settle(f);
    hob_str log = hob_buf_str(&f->log);
    assert_true(log.n < (1 << 20) + 200);
    assert_true(hob_str_find(log, HOB_STR("BEGIN")) > 0);
    assert_true(hob_str_find(log, HOB_STR("[… 2097152 bytes left out …]")) > 0);
    assert_true(hob_str_ends(log, HOB_STR("END\"}]\n")));
}

static void test_tool_reply__output_comes_before_the_answer(void **state) {
    fixture *f = *state;
    hob_reply_output(f->reply, HOB_STR("one "));
    hob_reply_output(f->reply, HOB_STR("two"));
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("x"));
    ASSERT_LOG(f, "output one two\ndone 0 [{\"type\":\"text\",\"text\":\"x\"}]\n");
}

static void test_tool_reply__output_is_gathered(void **state) {
    fixture *f = *state;
    hob_reply_output(f->reply, HOB_STR("a"));
    ASSERT_LOG(f, "output a\n"); /* the first at once */
    hob_reply_output(f->reply, HOB_STR("b"));
    settle(f);
    hob_fake_clock_advance(&f->clock, 49);
    hob_reply_output(f->reply, HOB_STR("c"));
    ASSERT_LOG(f, "output a\n");
    hob_fake_clock_advance(&f->clock, 1);
    ASSERT_LOG(f, "output a\noutput bc\n");
    hob_reply_output(f->reply, HOB_STR("d"));
    settle(f);
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR(""));
    ASSERT_LOG(f, "output a\noutput bc\noutput d\ndone 0 []\n");
}

static void test_tool_reply__characters_stay_whole(void **state) {
    fixture *f = *state;
    hob_reply_output(f->reply, HOB_STR("x\xf0\x9f"));
    ASSERT_LOG(f, "output x\n");
    hob_fake_clock_advance(&f->clock, 50);
    hob_reply_output(f->reply, HOB_STR("\x98\x80"));
    ASSERT_LOG(f, "output x\noutput \xf0\x9f\x98\x80\n");
    hob_fake_clock_advance(&f->clock, 50);
    hob_reply_output(f->reply, HOB_STR("\xc3"));
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR(""));
    ASSERT_LOG(f, "output x\noutput \xf0\x9f\x98\x80\noutput \xEF\xBF\xBD\ndone 0 []\n");
}

static void test_tool_reply__of_too_much_output_the_newest_is_shown(void **state) {
    fixture *f = *state;
    char chunk[1000];
    memset(chunk, 'x', sizeof(chunk));
    for (int i = 0; i < 1000; i++) hob_reply_output(f->reply, hob_str_n(chunk, sizeof(chunk)));
    hob_reply_output(f->reply, HOB_STR("END"));
    settle(f);
    hob_str log = hob_buf_str(&f->log);
    assert_true(log.n < 17 * 1024);
    assert_true(hob_str_starts(log, HOB_STR("output [… 983619 bytes left out …]\nxxx")));
    assert_true(hob_str_ends(log, HOB_STR("xEND\n")));
    hob_reply_drop(f->reply);
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("")); /* the tool's reference is still good */
}

static void test_tool_reply__after_a_drop_nothing_comes(void **state) {
    fixture *f = *state;
    hob_reply_output(f->reply, HOB_STR("a"));
    hob_reply_drop(f->reply);
    hob_reply_output(f->reply, HOB_STR("b"));
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("x"));
    ASSERT_LOG(f, "");
}

static void test_tool_reply__an_answer_on_its_way_can_be_dropped(void **state) {
    fixture *f = *state;
    hob_reply_output(f->reply, HOB_STR("a"));
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("x"));
    hob_reply_drop(f->reply);
    ASSERT_LOG(f, "");
}

static void test_tool_reply__can_be_dropped_while_output_is_delivered(void **state) {
    fixture *f = *state;
    hob_reply *reply = f->reply;
    f->drop_in_output = true;
    hob_reply_output(reply, HOB_STR("a"));
    ASSERT_LOG(f, "output a\n");
    hob_reply_text(reply, HOB_OUTCOME_OK, HOB_STR("x"));
    ASSERT_LOG(f, "output a\n");
}

static void test_tool_reply__can_be_dropped_by_the_last_output(void **state) {
    fixture *f = *state;
    f->drop_in_output = true;
    hob_reply_output(f->reply, HOB_STR("a"));
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR("x"));
    ASSERT_LOG(f, "output a\n");
}

static void test_tool_reply__a_late_answer_finds_no_loop(void **state) {
    fixture *f = *state;
    hob_reply *reply = f->reply;
    hob_reply_output(reply, HOB_STR("a"));
    settle(f);
    hob_reply_output(reply, HOB_STR("b"));
    settle(f); /* its timer runs */
    hob_reply_drop(reply);
    hob_loop_destroy(f->loop);
    hob_reply_output(reply, HOB_STR("c"));
    hob_reply_text(reply, HOB_OUTCOME_OK, HOB_STR("x"));
    assert_int_equal(hob_loop_create(&f->clock.base, &f->loop, NULL), 0);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void *talk_and_answer(void *arg) {
    hob_reply *r = arg;
    for (int i = 0; i < 200; i++) hob_reply_output(r, HOB_STR("word "));
    hob_reply_text(r, HOB_OUTCOME_OK, HOB_STR("done"));
    return NULL;
}

static void test_tool_reply__answers_come_from_any_thread(void **state) {
    enum { THREADS = 8, ROUNDS = 20 };
    fixture *f = *state;
    pthread_t threads[THREADS];
    hob_reply_drop(f->reply);
    hob_reply_text(f->reply, HOB_OUTCOME_OK, HOB_STR(""));
    for (int round = 0; round < ROUNDS; round++) {
        fixture many[THREADS];
        for (int i = 0; i < THREADS; i++) {
            many[i] = (fixture){.loop = f->loop};
            hob_buf_init(&many[i].log, 1 << 20);
            many[i].reply = hob_reply_create(f->loop, &handler, &many[i]);
            pthread_create(&threads[i], NULL, talk_and_answer, many[i].reply);
        }
        for (int i = 0; i < THREADS; i++) {
            bool drop = (i + round) % 3 == 0; /* some are given up at any moment */
            hob_loop_run_once(f->loop, 0);
            if (drop && many[i].reply) hob_reply_drop(many[i].reply);
            while (!drop && many[i].reply) hob_loop_run_once(f->loop, 10);
        }
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        settle(f);
        for (int i = 0; i < THREADS; i++) hob_buf_finish(&many[i].log);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(test_tool_reply__text_becomes_a_block),
        T(test_tool_reply__empty_text_is_no_block),
        T(test_tool_reply__broken_text_is_repaired),
        T(test_tool_reply__content_is_passed_on),
        T(test_tool_reply__content_that_is_no_content_is_an_error),
        T(test_tool_reply__very_long_text_keeps_both_ends),
        T(test_tool_reply__output_comes_before_the_answer),
        T(test_tool_reply__output_is_gathered),
        T(test_tool_reply__characters_stay_whole),
        T(test_tool_reply__of_too_much_output_the_newest_is_shown),
        T(test_tool_reply__after_a_drop_nothing_comes),
        T(test_tool_reply__an_answer_on_its_way_can_be_dropped),
        T(test_tool_reply__can_be_dropped_while_output_is_delivered),
        T(test_tool_reply__can_be_dropped_by_the_last_output),
        T(test_tool_reply__a_late_answer_finds_no_loop),
        T(test_tool_reply__answers_come_from_any_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
