#include "support/crash.h"

#include "support/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void crash_must(int rc, const hob_error *err, const char *what) {
    if (rc >= 0) return;
    fprintf(stderr, "%s: %s\n", what, err ? err->message : "");
    _exit(3);
}

void crash_open(host *h, const char *id) {
    crash_must(hob_runtime_create(&h->ro, &h->rt, &h->err), &h->err, "runtime");
    h->so.id = id;
    h->so.choice = HOB_SESSION_OPEN;
    int rc = hob_session_create(h->rt, &h->so, &h->s, &h->err);
    if (rc == HOB_ENOENT) {
        h->so.choice = HOB_SESSION_NEW;
        rc = hob_session_create(h->rt, &h->so, &h->s, &h->err);
    }
    crash_must(rc, &h->err, "session");
}

bool crash_write_log(hob_session *s, FILE *out) {
    hob_page *p = NULL;
    hob_error err;
    uint64_t after = 0;
    bool prompted = false;
    do {
        hob_page_destroy(p);
        crash_must(hob_session_entries(s, after, &p, &err), &err, "entries");
        for (size_t i = 0; i < hob_page_count(p); i++, after++) {
            hob_str row = hob_page_row(p, i);
            prompted = prompted || hob_str_find(row, HOB_STR("\"type\":\"user_message\"")) >= 0;
            if (out) fprintf(out, "%.*s\n", HOB_FMT(row));
        }
    } while (hob_page_next(p).n);
    hob_page_destroy(p);
    return prompted;
}

void crash_leave_log(host *h) {
    FILE *out = fopen(hob_test_path(&h->folder, "log"), "w");
    crash_write_log(h->s, out);
    fclose(out);
}

bool crash_fork(host *h, void (*work)(host *h), long at) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char text[24];
        snprintf(text, sizeof text, "%ld", at);
        setenv("HOB_CRASH_AT", text, 1);
        work(h);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("point %ld: ended with status %x", at, status);
    return false;
}

void crash_read_log(host *h, hob_view *view, crash_event_fn fn, void *user) {
    hob_str rest = hob_test_content(&h->folder, "log"), line;
    uint64_t n = 0;
    while (hob_str_split(&rest, '\n', &line)) {
        hob_event *e;
        hob_error err;
        if (!line.n) continue;
        hob_arena *a = hob_arena_create(0);
        assert_ok(hob_event_decode(line, &e, &err), err);
        assert_int_equal(e->seq, ++n);
        const hob_json *d = hob_event_parse(e, a);
        assert_ok(hob_view_apply(view, e, d, &err), err);
        fn(e, d, user);
        hob_event_unref(e);
        hob_arena_destroy(a);
    }
}

void crash_desk(hob_test_cli *c, const char *script, long at) {
    static char variable[40];
    hob_test_folder_remove(&c->folder);
    hob_test_folder_make(&c->folder);
    hob_test_mkdir(&c->folder, "home");
    hob_test_quoted_file(c, "script.json", script);
    snprintf(variable, sizeof variable, "HOB_CRASH_AT=%ld", at);
    c->nenv = 0;
    hob_test_env(c, variable);
}

long crash_step(long otherwise) {
    const char *step = getenv("HOB_CRASH_STEP");
    return step ? atol(step) : otherwise;
}
