/* Error codes, messages, the out-of-memory handler and the log sink. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_base_error__every_code_has_name_and_text(void **state) {
    (void)state;
    static const int codes[] = {
#define X(name, value, text, retryable) HOB_##name,
        HOB_ERRORS(X)
#undef X
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(codes); i++) {
        assert_int_equal(codes[i], -(int)i - 1); /* without gaps: they are stored */
        assert_true(hob_str_starts(hob_str_z(hob_error_name(codes[i])), HOB_STR("HOB_E")));
        assert_string_not_equal(hob_error_text(codes[i]), "unknown error");
    }
    assert_string_equal(hob_error_name(HOB_EBUSY), "HOB_EBUSY");
    assert_string_equal(hob_error_text(HOB_EBUSY), "busy");
    assert_int_equal(hob_error_retryable(HOB_ERATE), 1);
    assert_int_equal(hob_error_retryable(HOB_EAUTH), 0);
}

static void test_base_error__unknown_codes_are_harmless(void **state) {
    (void)state;
    assert_string_equal(hob_error_name(0), "HOB_OK");
    assert_string_equal(hob_error_name(-9999), "HOB_E?");
    assert_string_equal(hob_error_text(-9999), "unknown error");
    assert_int_equal(hob_error_retryable(-9999), 0);
}

static void test_base_error__fail_fills_and_returns(void **state) {
    (void)state;
    hob_error e = {0};
    assert_int_equal(hob_fail(&e, HOB_ENET, 503, "no answer from %s", "host"), HOB_ENET);
    assert_int_equal(e.code, HOB_ENET);
    assert_int_equal(e.sub, 503);
    assert_string_equal(e.message, "no answer from host");
    assert_int_equal(hob_fail(NULL, HOB_ENET, 0, "nobody asked"), HOB_ENET);
}

static void test_base_error__fail_may_quote_the_error_it_replaces(void **state) {
    (void)state;
    hob_error e = {0};
    hob_fail(&e, HOB_EPARSE, 0, "line 3");
    hob_fail(&e, HOB_ECONFIG, 0, "config.json: %s", e.message);
    assert_string_equal(e.message, "config.json: line 3");
}

static void test_base_error__errno_is_told_and_kept(void **state) {
    (void)state;
    hob_error e = {0};
    errno = ENOENT;
    assert_int_equal(hob_fail_errno(&e, HOB_EIO, "cannot open %s", "x"), HOB_EIO);
    assert_int_equal(e.sub, ENOENT);
    assert_string_equal(e.message, "cannot open x: No such file or directory");
    assert_int_equal(errno, ENOENT);
}

static void test_base_error__long_messages_stay_utf8(void **state) {
    (void)state;
    char text[1200];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 3 < sizeof(text); i += 3) memcpy(text + i, "\xe2\x82\xac", 4);
        hob_error e = {0};
        hob_fail(&e, HOB_EIO, 0, "%s", text);
        assert_true(strlen(e.message) > sizeof(e.message) - 5);
        assert_true(hob_utf8_valid(hob_str_z(e.message)));
    }
}

static void test_base_error__version_is_the_header_one(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", HOB_VERSION_MAJOR, HOB_VERSION_MINOR,
             HOB_VERSION_PATCH);
    assert_string_equal(hob_version(), text);
}

/* An allocation that cannot succeed is the point here, not a mistake for the sanitizers to stop. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

static jmp_buf escape;
static size_t wanted_seen;

static void note_oom(size_t wanted, void *user) {
    wanted_seen = wanted;
    longjmp(*(jmp_buf *)user, 1);
}

/* The host gets the first word when a small allocation fails, and need not die. */
static void test_base_error__oom_handler_is_called(void **state) {
    (void)state;
    volatile size_t absurd = SIZE_MAX / 2;
    hob_set_oom_handler(note_oom, &escape);
    if (setjmp(escape) == 0) {
        hob_free(hob_realloc(NULL, absurd));
        fail_msg("got %zu bytes", absurd);
    }
    assert_int_equal(wanted_seen, SIZE_MAX / 2);
    hob_set_oom_handler(NULL, NULL);
}

/* Without a handler, or with one that returns: one line that says why, then the end. */
static void test_base_error__oom_default_tells_and_aborts(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        volatile size_t absurd = SIZE_MAX / 2;
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL); /* cmocka has its own */
        dup2(ends[1], STDERR_FILENO);
        hob_free(hob_realloc(NULL, absurd));
        _exit(0);
    }
    close(ends[1]);
    char text[8192] = "";
    size_t n = 0;
    ssize_t got;
    while ((got = read(ends[0], text + n, sizeof(text) - 1 - n)) > 0) n += (size_t)got;
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "hob: out of memory (9223372036854775807 bytes wanted)\n"));
}

typedef struct seen {
    int calls;
    hob_log_level level;
    char area[32], message[2048];
} seen;

static void note_log(hob_log_level level, hob_str area, hob_str message, void *user) {
    seen *s = user;
    s->calls++;
    s->level = level;
    snprintf(s->area, sizeof(s->area), "%.*s", HOB_FMT(area));
    snprintf(s->message, sizeof(s->message), "%.*s", HOB_FMT(message));
}

static void test_base_error__log_sink_gets_what_its_level_admits(void **state) {
    (void)state;
    seen s = {0};
    hob_log(HOB_LOG_ERROR, "net", "nobody listens");
    hob_set_log_sink(note_log, HOB_LOG_WARN, &s);
    hob_log(HOB_LOG_INFO, "net", "too quiet");
    assert_int_equal(s.calls, 0);
    hob_log(HOB_LOG_WARN, "net", "retry %d", 2);
    hob_set_log_sink(NULL, HOB_LOG_ERROR, NULL);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.level, HOB_LOG_WARN);
    assert_string_equal(s.area, "net");
    assert_string_equal(s.message, "retry 2");
}

static void test_base_error__log_lines_are_cut_between_characters(void **state) {
    (void)state;
    seen s = {0};
    char text[3000];
    for (size_t i = 0; i + 3 < sizeof(text); i += 3) memcpy(text + i, "\xe2\x82\xac", 4);
    hob_set_log_sink(note_log, HOB_LOG_DEBUG, &s);
    hob_log(HOB_LOG_DEBUG, "x", "a%s", text);
    hob_set_log_sink(NULL, HOB_LOG_ERROR, NULL);
    assert_true(strlen(s.message) > 1000);
    assert_true(hob_utf8_valid(hob_str_z(s.message)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_error__every_code_has_name_and_text),
        cmocka_unit_test(test_base_error__unknown_codes_are_harmless),
        cmocka_unit_test(test_base_error__fail_fills_and_returns),
        cmocka_unit_test(test_base_error__fail_may_quote_the_error_it_replaces),
        cmocka_unit_test(test_base_error__errno_is_told_and_kept),
        cmocka_unit_test(test_base_error__long_messages_stay_utf8),
        cmocka_unit_test(test_base_error__version_is_the_header_one),
        cmocka_unit_test(test_base_error__oom_handler_is_called),
        cmocka_unit_test(test_base_error__oom_default_tells_and_aborts),
        cmocka_unit_test(test_base_error__log_sink_gets_what_its_level_admits),
        cmocka_unit_test(test_base_error__log_lines_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
