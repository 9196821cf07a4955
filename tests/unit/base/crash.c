/* ctest: labels=threads */
/* Kill points, in child processes: the environment is read once a process. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *three_points(void *name) {
    for (int i = 0; i < 3; i++) hob_crash_point(name);
    return NULL;
}

/* Six points in two threads; returns the status of the child. */
static int run_child(const char *at, const char *log) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("HOB_CRASH_AT", at, 1);
        setenv("HOB_CRASH_LOG", log, 1);
        pthread_t other;
        if (pthread_create(&other, NULL, three_points, "other") != 0) _exit(2);
        three_points("main");
        pthread_join(other, NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void test_base_crash__kills_at_the_nth_point(void **state) {
    (void)state;
    for (int n = 1; n <= 6; n++) {
        char at[8];
        snprintf(at, sizeof(at), "%d", n);
        int status = run_child(at, "");
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGKILL);
    }
}

static void test_base_crash__passes_without_or_behind_the_last(void **state) {
    (void)state;
    static const char *const at[] = {"", "0", "7", "-1", "x"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(at); i++) {
        int status = run_child(at[i], "");
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void test_base_crash__logs_every_point_up_to_the_kill(void **state) {
    (void)state;
    char path[] = "/tmp/hob-crash-XXXXXX", line[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    run_child("4", path);
    FILE *f = fdopen(fd, "r");
    int n, points = 0;
    bool killer = false;
    char name[16];
    while (fgets(line, sizeof(line), f)) {
        assert_int_equal(sscanf(line, "%d %15s", &n, name), 2);
        assert_true(strcmp(name, "main") == 0 || strcmp(name, "other") == 0);
        killer = killer || n == 4;
        points++;
    }
    fclose(f);
    unlink(path);
    assert_true(killer);
    /* The thread that lives a moment longer may have come one point further. */
    assert_true(points >= 2 && points <= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_crash__kills_at_the_nth_point),
        cmocka_unit_test(test_base_crash__passes_without_or_behind_the_last),
        cmocka_unit_test(test_base_crash__logs_every_point_up_to_the_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
