/* REL-30: a library is a guest in the host's process. It leaves signals, streams, folder, environment and descriptors as
 * it found them, lives beside itself in other threads, and stands a fork. */
#include "support/check.h"
#include "support/host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Streams, files, a command and its output, a refused call: the whole house at work. */
static const char all_of_it[] =
    "{'rules':[{'when':{'step':1},'reply':[{'text':'working'},"
    "{'tool':'write','args':{'path':'f','content':'x'}},"
    "{'tool':'bash','args':{'command':'echo out; echo err >&2; exit 3'}},"
    "{'tool':'nosuch','args':{}}]},{'reply':[{'text':'done'}]}]}";

static void work(host *r) {
    host_init(r, all_of_it);
    r->ro.store = "sqlite";
    r->so.permission_mode = "yolo";
    host_open(r);
    assert_string_equal(host_prompt(r, "go"), "completed");
    assert_int_equal(host_count(r, "tool_finished"), 3);
}

/* ---- what the host had ---------------------------------------------------------------------------------- */

static void test_session_guest__signals_are_the_hosts(void **state) {
    struct sigaction before[65], now;
    sigset_t mask_before, mask;
    host r;
    (void)state;
    memset(before, 0, sizeof before);
    for (int i = 1; i <= 64; i++) sigaction(i, NULL, &before[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    work(&r);
    for (int i = 1; i <= 64; i++) {
        if (sigaction(i, NULL, &now) < 0) continue; /* one of the C library's own */
        assert_true(now.sa_handler == before[i].sa_handler);
        assert_int_equal(now.sa_flags, before[i].sa_flags);
    }
    host_finish(&r);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i <= 64; i++)
        assert_int_equal(sigismember(&mask, i), sigismember(&mask_before, i));
}

/* The lines of /proc/self/task/N/status that begin with `key`, for each thread but this one. */
static int count_threads(const char *key, const char *value) {
    char path[64 + 256], line[256];
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.' || atoi(e->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof line, f))
            n += !strncmp(line, key, strlen(key)) && strstr(line, value);
        if (f) fclose(f);
    }
    closedir(d);
    return n;
}

static void *nothing(void *arg) {
    return arg;
}

/* A sanitizer has a thread of its own, from the first one on. One that ended is seen for a moment longer. */
static int threads_of_others(void) {
    pthread_t thread;
    int n = -1, last;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    do {
        last = n;
        usleep(5000);
        n = count_threads("SigBlk:", "");
    } while (n != last);
    return n;
}

/* The host's handlers run on the host's threads: ours take no signal. */
static void test_session_guest__its_threads_take_no_signal(void **state) {
    host r;
    (void)state;
    int before = threads_of_others();
    work(&r);
    int ours = count_threads("SigBlk:", "") - before;
    assert_in_range(ours, 2, 1 + 1 + 4); /* loop, writer, at most four workers */
    int open = count_threads("SigBlk:", "0000000000000000");
    assert_true(open <= before);
    host_finish(&r);
    for (int i = 0; i < 1000 && count_threads("SigBlk:", "") > before; i++) usleep(1000);
    assert_int_equal(count_threads("SigBlk:", ""), before); /* and are gone with the runtime */
}

static void test_session_guest__folder_mask_and_environment_stay(void **state) {
    char cwd[4096], now[4096];
    host r;
    hob_buf env, env_now;
    (void)state;
    hob_buf_init(&env, 1u << 20);
    hob_buf_init(&env_now, 1u << 20);
    assert_non_null(getcwd(cwd, sizeof cwd));
    mode_t mask = umask(027);
    for (char **e = environ; *e; e++) hob_buf_addf(&env, "%s\n", *e);
    work(&r);
    host_finish(&r);
    for (char **e = environ; *e; e++) hob_buf_addf(&env_now, "%s\n", *e);
    assert_int_equal(umask(mask), 027);
    assert_non_null(getcwd(now, sizeof now));
    assert_string_equal(now, cwd);
    assert_string_equal(hob_buf_z(&env_now), hob_buf_z(&env));
    hob_buf_finish(&env);
    hob_buf_finish(&env_now);
}

/* ---- descriptors ------------------------------------------------------------------------------------------ */

typedef struct fds {
    int n, inherited; /* open, and open beyond an exec */
} fds;

static fds count_fds(void) {
    fds c = {0};
    for (int i = 3; i < 1024; i++) {
        int flags = fcntl(i, F_GETFD);
        c.n += flags >= 0;
        c.inherited += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return c;
}

static void test_session_guest__descriptors_are_closed_and_not_inherited(void **state) {
    host r;
    (void)state;
    work(&r); /* what is opened once for all is */
    host_finish(&r);
    fds before = count_fds();
    work(&r);
    assert_true(hob_session_fd(r.s) > 2);
    fds during = count_fds();
    host_finish(&r);
    assert_true(during.n > before.n);
    assert_int_equal(during.inherited, before.inherited);
    assert_int_equal(count_fds().n, before.n);
}

/* ---- streams and pipes -------------------------------------------------------------------------------------- */

/* In a process of its own, since cmocka writes too: how much the library writes to stdout and stderr. */
static void test_session_guest__says_nothing_on_the_hosts_streams(void **state) {
    int fd = memfd_create("streams", MFD_CLOEXEC), status;
    struct stat st;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        host r;
        dup2(fd, 1);
        dup2(fd, 2);
        work(&r);
        hob_session_set_model(r.s, "nosuch/model", &r.err);
        host_finish(&r);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 0);
    close(fd);
}

static int listen_somewhere(int *port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 8), 0);
    getsockname(fd, (struct sockaddr *)&a, &n);
    *port = ntohs(a.sin_port);
    return fd;
}

/* Takes connections and resets them at once. */
static void *slam(void *arg) {
    struct linger at_once = {.l_onoff = 1};
    for (;;) {
        int c = accept(*(int *)arg, NULL, NULL);
        if (c < 0) return NULL;
        setsockopt(c, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(c);
    }
}

/* A peer that hangs up while we write does not kill a host that left SIGPIPE alone. */
static void test_session_guest__a_broken_pipe_kills_nobody(void **state) {
    host r;
    pthread_t thread;
    char provider[200];
    int port, fd = listen_somewhere(&port);
    static char big[2 << 20];
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    memset(big, 'x', sizeof big - 1);
    host_init(&r, "{'otherwise':[]}");
    snprintf(provider, sizeof provider,
             "{\"api\":\"openai-chat\",\"base_url\":\"http://127.0.0.1:%d/v1\"}", port);
    host_config(&r, "providers.lab", provider);
    host_config(&r, "retry.attempts", "3");
    host_config(&r, "retry.cap_s", "0.01");
    pthread_create(&thread, NULL, slam, &fd);
    r.so.model = "lab/m";
    host_open(&r);
    assert_string_equal(host_prompt(&r, big), "failed");
    host_finish(&r);
    shutdown(fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(fd);
}

/* ---- threads and processes -------------------------------------------------------------------------------------- */

static void *work_alone(void *arg) {
    host r;
    (void)arg;
    work(&r);
    host_finish(&r);
    return NULL;
}

static void test_session_guest__two_runtimes_in_two_threads(void **state) {
    pthread_t threads[2];
    (void)state;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work_alone, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

/* The host forks while a run is under way: the child leaves, the parent goes on. */
static void test_session_guest__the_host_may_fork(void **state) {
    host r;
    gate g;
    int status;
    (void)state;
    host_init(&r, "{'rules':[{'when':{'step':1},'reply':[{'tool':'a','args':{}}]},"
                  "{'reply':[{'text':'{{result}}'}]}]}");
    gate_init(&g, "a", HOB_TOOL_READ_ONLY);
    r.so.tools = &g.tool;
    r.so.ntools = 1;
    r.ro.store = "sqlite";
    host_open(&r);
    assert_ok(hob_session_prompt(r.s, hob_str_z("go"), &r.err), r.err);
    gate_wait_started(&g, 1);
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) _exit(7);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(WEXITSTATUS(status), 7);
    }
    gate_answer(&g, "found");
    assert_string_equal(host_wait(&r), "completed");
    assert_string_equal(host_text(&r), "found");
    host_finish(&r);
    gate_finish(&g);
}

/* ---- loaded at run time ------------------------------------------------------------------------------------------- */

typedef struct library {
    void *so;
    int (*runtime_create)(const hob_runtime_opts *, hob_runtime **, hob_error *);
    void (*runtime_destroy)(hob_runtime *);
    int (*session_create)(hob_runtime *, const hob_session_opts *, hob_session **, hob_error *);
    int (*prompt_and_wait)(hob_session *, hob_str, int64_t, hob_result **, hob_error *);
    void (*result_destroy)(hob_result *);
    void (*session_close)(hob_session *);
} library;

static void library_load(library *l) {
    l->so = dlopen(HOB_BINARY_DIR "/libhob.so", RTLD_NOW | RTLD_LOCAL);
    if (!l->so) fail_msg("%s", dlerror());
    *(void **)&l->runtime_create = dlsym(l->so, "hob_runtime_create");
    *(void **)&l->runtime_destroy = dlsym(l->so, "hob_runtime_destroy");
    *(void **)&l->session_create = dlsym(l->so, "hob_session_create");
    *(void **)&l->prompt_and_wait = dlsym(l->so, "hob_session_prompt_and_wait");
    *(void **)&l->result_destroy = dlsym(l->so, "hob_result_destroy");
    *(void **)&l->session_close = dlsym(l->so, "hob_session_close");
}

static void library_use(library *l, const char *model) {
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_session_opts so = HOB_SESSION_OPTS_INIT;
    hob_runtime *rt;
    hob_session *s;
    hob_result *result;
    hob_error err;
    ro.store = "memory";
    so.model = model;
    assert_ok(l->runtime_create(&ro, &rt, &err), err);
    assert_ok(l->session_create(rt, &so, &s, &err), err);
    assert_ok(l->prompt_and_wait(s, hob_str_z("hi"), 30000, &result, &err), err);
    l->result_destroy(result);
    l->session_close(s);
    l->runtime_destroy(rt);
}

/* Twice, with an end in between: nothing of the first stays in the way of the second. */
static void test_session_guest__can_be_loaded_and_unloaded(void **state) {
    host r;
    library l;
    (void)state;
    if (access(HOB_BINARY_DIR "/libhob.so", R_OK) < 0) {
        if (getenv("CI") && !strcmp(getenv("CI"), "true") &&
            access(HOB_BINARY_DIR "/hob", X_OK) == 0)
            fail_msg("libhob.so is missing");
        skip(); /* a build with sanitizers makes no shared library */
    }
    host_init(&r, "{'otherwise':[{'text':'hello'}]}");
    for (int i = 0; i < 2; i++) {
        library_load(&l);
        library_use(&l, r.model);
        assert_int_equal(dlclose(l.so), 0);
    }
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_guest__its_threads_take_no_signal),
        cmocka_unit_test(test_session_guest__signals_are_the_hosts),
        cmocka_unit_test(test_session_guest__folder_mask_and_environment_stay),
        cmocka_unit_test(test_session_guest__descriptors_are_closed_and_not_inherited),
        cmocka_unit_test(test_session_guest__says_nothing_on_the_hosts_streams),
        cmocka_unit_test(test_session_guest__a_broken_pipe_kills_nobody),
        cmocka_unit_test(test_session_guest__two_runtimes_in_two_threads),
        cmocka_unit_test(test_session_guest__the_host_may_fork),
        cmocka_unit_test(test_session_guest__can_be_loaded_and_unloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
