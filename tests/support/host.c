#include "support/host.h"

#include "support/check.h"
#include "support/describe.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- life -------------------------------------------------------------------------------------- */

void host_script(host *r, const char *script) {
    hob_buf text;
    hob_buf_init(&text, 1u << 20);
    for (const char *p = script; *p; p++) hob_buf_addc(&text, *p == '\'' ? '"' : *p);
    hob_test_file(&r->folder, "script.json", hob_buf_str(&text));
    hob_buf_finish(&text);
    snprintf(r->model, sizeof r->model, "scripted:%s/script.json", r->dir);
}

void host_init(host *r, const char *script) {
    memset(r, 0, sizeof *r);
    hob_test_folder_make(&r->folder);
    r->dir = r->folder.path;
    host_script(r, script);
    r->config = hob_config_create();
    r->ro = (hob_runtime_opts)HOB_RUNTIME_OPTS_INIT;
    r->so = (hob_session_opts)HOB_SESSION_OPTS_INIT;
    r->ro.config = r->config;
    r->ro.store = "memory";
    r->ro.state_dir = r->dir;
    r->so.model = r->model;
    r->so.cwd = r->dir;
}

void host_config(host *r, const char *path, const char *json) {
    if (hob_config_set(r->config, path, hob_str_z(json), HOB_ORIGIN_FLAG, &r->err) < 0)
        fail_msg("%s", r->err.message);
}

void host_open(host *r) {
    if (!r->rt && hob_runtime_create(&r->ro, &r->rt, &r->err) < 0)
        fail_msg("runtime: %s", r->err.message);
    if (hob_session_create(r->rt, &r->so, &r->s, &r->err) < 0)
        fail_msg("session: %s", r->err.message);
}

void host_close(host *r) {
    hob_session_detach(r->s);
    hob_runtime_destroy(r->rt);
    hob_result_destroy(r->result);
    r->s = NULL;
    r->rt = NULL;
    r->result = NULL;
}

void host_finish(host *r) {
    host_close(r);
    hob_config_destroy(r->config);
    hob_test_folder_remove(&r->folder);
}

void host_reopen(host *r, hob_on_unfinished what) {
    hob_session_id(r->s, r->id, sizeof r->id);
    host_close(r);
    r->so.choice = HOB_SESSION_OPEN;
    r->so.id = r->id;
    r->so.on_unfinished = what;
    host_open(r);
}

void host_run_and_kill(host *r, const char *prompt, hob_event_type when, const char *field,
                       const char *value) {
    int pipefd[2], status;
    assert_int_equal(pipe(pipefd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        host_open(r);
        hob_session_id(r->s, r->id, sizeof r->id);
        if (hob_session_prompt(r->s, hob_str_z(prompt), &r->err) < 0) _exit(1);
        host_until(r, when, field, value);
        if (write(pipefd[1], r->id, sizeof r->id) != sizeof r->id) _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(read(pipefd[0], r->id, sizeof r->id), sizeof r->id);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(pipefd[0]);
    close(pipefd[1]);
    r->so.choice = HOB_SESSION_OPEN;
    r->so.id = r->id;
}

void host_disk_full(bool full) {
    struct rlimit l;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &l);
    l.rlim_cur = full ? 0 : RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* ---- work ---------------------------------------------------------------------------------------- */

const char *host_wait(host *r) {
    static _Thread_local char status[32];
    hob_result_destroy(r->result);
    r->result = NULL;
    if (hob_session_wait(r->s, 60000, &r->result, &r->err) < 0)
        fail_msg("wait: %s", r->err.message);
    hob_str st = hob_result_status(r->result);
    snprintf(status, sizeof status, "%.*s", (int)st.n, st.p);
    return status;
}

const char *host_prompt(host *r, const char *text) {
    if (hob_session_prompt(r->s, hob_str_z(text), &r->err) < 0)
        fail_msg("prompt: %s", r->err.message);
    return host_wait(r);
}

const char *host_text(host *r) {
    hob_str t = hob_result_text(r->result);
    snprintf(r->text, sizeof r->text, "%.*s", (int)t.n, t.p ? t.p : "");
    return r->text;
}

hob_event *host_until(host *r, hob_event_type type, const char *field, const char *value) {
    hob_event *e;
    char got[256];
    for (;;) {
        int rc = hob_session_next_event(r->s, 60000, &e);
        if (rc <= 0) fail_msg("no such event: next_event returned %d", rc);
        if (hob_event_type_of(e) == type &&
            (!field || (hob_event_field(e, field, got, sizeof got) >= 0 && !strcmp(got, value))))
            return e;
        hob_event_unref(e);
    }
}

/* ---- the log --------------------------------------------------------------------------------------- */

static void describe(host *r, const hob_json *e) {
    hob_buf line;
    size_t n = strlen(r->log);
    hob_buf_init(&line, 4096);
    hob_test_describe(e, &line);
    snprintf(r->log + n, sizeof r->log - n, "%s\n", hob_buf_z(&line));
    hob_buf_finish(&line);
}

static void each_event(host *r, void (*fn)(host *, const hob_json *)) {
    hob_page *p = NULL;
    uint64_t after = 0;
    do {
        hob_page_destroy(p);
        if (hob_session_entries(r->s, after, &p, &r->err) < 0)
            fail_msg("entries: %s", r->err.message);
        for (size_t i = 0; i < hob_page_count(p); i++) {
            hob_arena *a = hob_arena_create(0);
            const hob_json *e;
            assert_true(hob_json_parse(a, hob_page_row(p, i), NULL, &e, NULL) >= 0);
            after = (uint64_t)hob_json_get_int(e, "seq", 0);
            fn(r, e);
            hob_arena_destroy(a);
        }
    } while (hob_page_next(p).n);
    hob_page_destroy(p);
}

const char *host_log(host *r) {
    r->log[0] = 0;
    each_event(r, describe);
    return r->log;
}

int host_count(host *r, const char *type) {
    int n = 0;
    size_t len = strlen(type);
    for (const char *p = host_log(r); p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        n += !strncmp(p, type, len) && (p[len] == ' ' || p[len] == '\n');
    return n;
}

/* ---- tools ------------------------------------------------------------------------------------------------ */

static void run_quick(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call;
    if (user) ++*(int *)user;
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("quick result"));
}

static void run_silent(const hob_tool_call *call, hob_reply *reply, void *user) {
    (void)call, (void)reply, (void)user;
}

hob_tool host_tool(const char *name, hob_tool_class class_, int *count) {
    hob_tool t = HOB_TOOL_INIT;
    t.name = name;
    t.description = "a tool";
    t.class_ = class_;
    t.run = run_quick;
    t.user = count;
    return t;
}

hob_tool host_silent_tool(const char *name, hob_tool_class class_) {
    hob_tool t = host_tool(name, class_, NULL);
    t.run = run_silent;
    return t;
}

/* ---- gates ------------------------------------------------------------------------------------------------ */

static void gate_run(const hob_tool_call *call, hob_reply *reply, void *user) {
    gate *g = user;
    (void)call;
    pthread_mutex_lock(&g->lock);
    g->reply = reply;
    g->started++;
    pthread_cond_broadcast(&g->cond);
    pthread_mutex_unlock(&g->lock);
}

static void gate_cancel(const hob_tool_call *call, int hard, void *user) {
    gate *g = user;
    (void)call, (void)hard;
    pthread_mutex_lock(&g->lock);
    hob_reply *reply = g->reply;
    g->reply = NULL;
    g->cancelled++;
    pthread_mutex_unlock(&g->lock);
    if (reply) hob_reply_text(reply, HOB_OUTCOME_CANCELLED, hob_str_z("stopped by the gate"));
}

void gate_init(gate *g, const char *name, hob_tool_class class_) {
    memset(g, 0, sizeof *g);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->cond, NULL);
    g->tool = (hob_tool)HOB_TOOL_INIT;
    g->tool.name = name;
    g->tool.description = "waits until it is let go";
    g->tool.class_ = class_;
    g->tool.run = gate_run;
    g->tool.cancel = gate_cancel;
    g->tool.user = g;
}

void gate_wait_started(gate *g, int n) {
    pthread_mutex_lock(&g->lock);
    while (g->started < n) pthread_cond_wait(&g->cond, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

void gate_answer(gate *g, const char *text) {
    pthread_mutex_lock(&g->lock);
    hob_reply *reply = g->reply;
    g->reply = NULL;
    pthread_mutex_unlock(&g->lock);
    if (reply) hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z(text));
}

void gate_finish(gate *g) {
    pthread_cond_destroy(&g->cond);
    pthread_mutex_destroy(&g->lock);
}
