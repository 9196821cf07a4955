/* How the library behaves as a guest in somebody else's program: REL-30, and case 17. */
#include "support/check.h"
#include "support/host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char script[] =
    "{'rules':[{'when':{'step':1},'reply':[{'text':'I look.'},{'tool':'bash','args':{'command':'echo "
    "seen'}}]},{'reply':[{'text':'It says {{result}}','chunk':2}]}]}";

static void work(const char *store) {
    host r;
    host_init(&r, script);
    r.ro.store = store;
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    assert_string_equal(host_text(&r), "It says seen\n");
    host_finish(&r);
}

/* ---- what belongs to the host stays as it was --------------------------------------------------------------- */

typedef struct belongings {
    struct sigaction actions[NSIG];
    sigset_t mask;
    char cwd[4096];
    mode_t umask;
    char *environment[512];
} belongings;

static void look_around(belongings *b) {
    memset(b, 0, sizeof *b);
    for (int sig = 1; sig < NSIG; sig++) sigaction(sig, NULL, &b->actions[sig]);
    pthread_sigmask(SIG_SETMASK, NULL, &b->mask);
    assert_non_null(getcwd(b->cwd, sizeof b->cwd));
    b->umask = umask(0);
    umask(b->umask);
    for (int i = 0; i < 511 && environ[i]; i++) b->environment[i] = environ[i];
}

static void test_session_manners__the_host_keeps_its_signals_folder_and_environment(void **state) {
    belongings before, after;
    (void)state;
    look_around(&before);
    work("memory");
    work("sqlite");
    look_around(&after);
    for (int sig = 1; sig < NSIG; sig++)
        if (before.actions[sig].sa_handler != after.actions[sig].sa_handler)
            fail_msg("signal %d is handled now", sig);
    assert_memory_equal(&before.mask, &after.mask, sizeof before.mask);
    assert_string_equal(before.cwd, after.cwd);
    assert_int_equal(before.umask, after.umask);
    assert_memory_equal(before.environment, after.environment, sizeof before.environment);
}

static void test_session_manners__nothing_is_said_on_the_standard_streams(void **state) {
    char path[] = "/tmp/hob-manners-XXXXXX";
    struct stat st;
    (void)state;
    fflush(NULL);
    int file = mkstemp(path), out = dup(1), err = dup(2);
    dup2(file, 1);
    dup2(file, 2);
    work("sqlite");
    fflush(NULL);
    fstat(file, &st);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    close(file);
    unlink(path);
    assert_int_equal(st.st_size, 0);
}

/* ---- many of everything ------------------------------------------------------------------------------------------ */

static void *work_in_a_thread(void *store) {
    work(store);
    return NULL;
}

static void test_session_manners__two_runtimes_on_two_threads(void **state) {
    pthread_t a, b;
    (void)state;
    assert_int_equal(pthread_create(&a, NULL, work_in_a_thread, (void *)(uintptr_t) "memory"), 0);
    assert_int_equal(pthread_create(&b, NULL, work_in_a_thread, (void *)(uintptr_t) "sqlite"), 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* The host forks while a runtime lives; the child ends, the parent goes on. */
static void test_session_manners__the_host_may_fork(void **state) {
    host r;
    int status;
    (void)state;
    host_init(&r, script);
    r.ro.store = "sqlite";
    r.so.permission_mode = "yolo";
    host_open(&r);
    assert_string_equal(host_prompt(&r, "go"), "completed");
    pid_t pid = fork();
    if (pid == 0) _exit(7);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_string_equal(host_prompt(&r, "again"), "completed");
    host_finish(&r);
}

/* The library comes and goes. Sanitizer builds have no shared library to try. */
static void test_session_manners__the_library_can_be_unloaded(void **state) {
    (void)state;
    if (access(HOB_BINARY_DIR "/libhob.so", R_OK) < 0) skip();
    for (int i = 0; i < 2; i++) {
        void *lib = dlopen(HOB_BINARY_DIR "/libhob.so", RTLD_NOW | RTLD_LOCAL);
        if (!lib) fail_msg("%s", dlerror());
        int (*create)(const hob_runtime_opts *, hob_runtime **, hob_error *);
        void (*destroy)(hob_runtime *);
        *(void **)&create = dlsym(lib, "hob_runtime_create");
        *(void **)&destroy = dlsym(lib, "hob_runtime_destroy");
        assert_true(create && destroy);
        hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
        hob_runtime *rt;
        hob_error err;
        o.store = "memory";
        assert_ok(create(&o, &rt, &err), err);
        destroy(rt);
        assert_int_equal(dlclose(lib), 0);
    }
}

/* ---- case 17: what is stored does not depend on who reads ------------------------------------------------------------ */

static void ignore(hob_session *s, hob_event *e, void *user) {
    (void)s, (void)e;
    ++*(int *)user;
}

static void log_of(int reader, char *log, size_t cap) {
    host r;
    hob_event *e;
    int seen = 0;
    host_init(&r, script);
    r.so.permission_mode = "yolo";
    host_open(&r);
    if (reader == 2) assert_ok(hob_session_on_event(r.s, ignore, &seen), r.err);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    while (reader == 1 && hob_session_next_event(r.s, 30000, &e) == 1) {
        seen++;
        hob_event_unref(e);
    }
    assert_string_equal(host_wait(&r), "completed");
    if (reader == 2) assert_ok(hob_session_on_event(r.s, NULL, NULL), r.err);
    if (reader) assert_true(seen > 10);
    snprintf(log, cap, "%s", host_log(&r));
    host_finish(&r);
}

static void test_session_manners__the_log_is_the_same_whoever_reads(void **state) {
    static char logs[3][16384];
    (void)state;
    for (int reader = 0; reader < 3; reader++) log_of(reader, logs[reader], sizeof logs[0]);
    assert_string_equal(logs[0], logs[1]);
    assert_string_equal(logs[0], logs[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_manners__the_host_keeps_its_signals_folder_and_environment),
        cmocka_unit_test(test_session_manners__nothing_is_said_on_the_standard_streams),
        cmocka_unit_test(test_session_manners__two_runtimes_on_two_threads),
        cmocka_unit_test(test_session_manners__the_host_may_fork),
        cmocka_unit_test(test_session_manners__the_library_can_be_unloaded),
        cmocka_unit_test(test_session_manners__the_log_is_the_same_whoever_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
