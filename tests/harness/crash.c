/* ctest: labels=threads,snapshots timeout=900 */
/*
 * Kills the real program at every point where something is about to happen or has just happened, and looks whether
 * anything was lost, doubled or left behind.
 *
 * The scenario has three turns with tools and one without: two reads side by side, a write, a shell command that
 * appends a line to a file outside hob's store, leaves a process behind and needs an approval. A follow-up is queued at the start, a steering
 * message while the write runs. The test build raises SIGKILL in itself at the HOB_CRASH_AT-th point: before and after
 * every append, every commit of the store, every effect.
 *
 * For every point: the program is started, driven over --input-format stream-json, dies; its log is read; it is resumed
 * and driven to the end. Then
 *   - every event that was read before is in the log, byte for byte, and sequence numbers have no gap;
 *   - the conversation that would be sent next is valid under the rules of both wire formats;
 *   - the shell command ran at most once; if the log does not know how it ended, the log says `unknown`;
 *   - the approval was asked for once;
 *   - no process is left.
 *
 * All points are walked in `make test` (HOB_CRASH_STEP=k: every k-th). In a second walk the program that resumes is
 * killed too: some of those pairs in `make test`, all that matter with HOB_LONG=1.
 */
#include "log/view.h"
#include "support/check.h"
#include "support/cli.h"
#include "support/process.h"
#include "support/wire_rules.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char script[] =
    "{'rules':["
    "{'when':{'turn':1},'reply':[{'text':'I look at both.'},{'tool':'read','args':{'path':'a.txt'}},"
    "{'tool':'read','args':{'path':'b.txt'}}]},"
    "{'when':{'turn':2},'reply':[{'tool':'write','args':{'path':'out.txt','content':'written'}}]},"
    "{'when':{'turn':3},'reply':[{'tool':'bash','args':{'command':'test $LC_HOB_MARK && echo ran >> count.txt; sleep 60 &'}}]},"
    "{'when':{'turn':4},'reply':[{'text':'All done.'}]}],"
    "'otherwise':[{'text':'And that was that.'}]}";

enum { MAX_EVENTS = 400 };

typedef struct walk {
    hob_test_cli *c;
    char token[64];
    char id[64];
    char *lines[MAX_EVENTS]; /* durable events as they were read, by seq */
    size_t read;             /* highest seq read */
    hob_buf pending;         /* unfinished line of output */
    bool steered, followed;
    char question[32]; /* call that waits for an approval */
} walk;

/* ---- driving the program ------------------------------------------------------------------------------- */

static void forget(walk *w) {
    for (size_t i = 0; i < MAX_EVENTS; i++) {
        hob_free(w->lines[i]);
        w->lines[i] = NULL;
    }
    w->read = 0;
    w->id[0] = w->question[0] = 0;
    w->steered = w->followed = false;
}

static void approve(walk *w, hob_str call) {
    char line[128];
    snprintf(line, sizeof line, "{\"type\":\"approve\",\"call\":\"%.*s\",\"approved\":true}\n",
             HOB_FMT(call));
    hob_test_send(w->c, line);
}

/* What a person would do on seeing this event. */
static void react(walk *w, const hob_json *e) {
    hob_str type = hob_json_get_str(e, "type");
    const hob_json *d = hob_json_get(e, "data");
    bool write_started =
        hob_str_eqz(type, "tool_started") && hob_str_eqz(hob_json_get_str(d, "tool"), "write");
    if (hob_str_eqz(type, "session"))
        snprintf(w->id, sizeof w->id, "%.*s", HOB_FMT(hob_json_get_str(e, "id")));
    if (hob_str_eqz(type, "user_message") && !w->followed) {
        w->followed = true;
        hob_test_send(w->c, "{\"type\":\"follow_up\",\"text\":\"and then?\"}\n");
    }
    if (write_started && !w->steered) {
        w->steered = true;
        hob_test_send(w->c, "{\"type\":\"steer\",\"text\":\"be quick\"}\n");
    }
    if (hob_str_eqz(type, "approval_requested")) approve(w, hob_json_get_str(d, "call"));
    if (hob_str_eqz(type, "settled")) hob_test_close_in(w->c);
}

static void on_line(walk *w, hob_str line) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *e;
    if (hob_json_parse(a, line, NULL, &e, NULL) < 0) fail_msg("not JSON: %.*s", HOB_FMT(line));
    int64_t seq = hob_json_get_int(e, "seq", 0);
    if (seq > 0) {
        assert_true(seq < MAX_EVENTS);
        assert_null(w->lines[seq]); /* nothing is told twice */
        w->lines[seq] = hob_dupz(line);
        w->read = (size_t)seq;
    }
    react(w, e);
    hob_arena_destroy(a);
}

/* Reads to the end of the output; true if the program was killed. */
static bool drive(walk *w) {
    char chunk[65536];
    ssize_t n;
    int status;
    hob_buf_reset(&w->pending);
    while ((n = read(w->c->out_fd, chunk, sizeof chunk)) > 0) {
        hob_buf_add(&w->pending, hob_str_n(chunk, (size_t)n));
        ptrdiff_t nl;
        while ((nl = hob_str_chr(hob_buf_str(&w->pending), '\n')) >= 0) {
            char *line = hob_dupz(hob_str_first(hob_buf_str(&w->pending), (size_t)nl));
            hob_buf_consume(&w->pending, (size_t)nl + 1);
            on_line(w, hob_str_z(line));
            hob_free(line);
        }
    }
    hob_test_close_in(w->c);
    assert_int_equal(waitpid(w->c->pid, &status, 0), w->c->pid);
    w->c->pid = 0;
    close(w->c->out_fd);
    close(w->c->err_fd);
    w->c->out_fd = w->c->err_fd = -1;
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed && !WIFEXITED(status)) fail_msg("ended with status %x", status);
    return killed;
}

#define ARGS                                                                                       \
    "-p", "--json", "--input-format", "stream-json", "-m", "scripted:script.json", "--allow",      \
        "write"

static bool start_and_drive(walk *w, long crash_at) {
    char at[40], token[96];
    snprintf(at, sizeof at, "HOB_CRASH_AT=%ld", crash_at);
    snprintf(token, sizeof token, "LC_HOB_MARK=%s", w->token); /* LC_*: handed on to commands */
    w->c->nenv = 0;
    hob_test_env(w->c, token);
    hob_test_env(w->c, at);
    if (w->id[0])
        HOB_START(w->c, ARGS, "-r", w->id);
    else
        HOB_START(w->c, ARGS);
    if (!w->id[0]) hob_test_send(w->c, "{\"type\":\"prompt\",\"text\":\"go\"}\n");
    if (w->question[0]) approve(w, hob_str_z(w->question));
    return drive(w);
}

/* ---- looking at the log ---------------------------------------------------------------------------------- */

typedef struct facts {
    hob_view *view;
    size_t events;
    int asked, resolved, finished_runs, started_runs, settled, unknown, bash_ok;
    bool active;
    char question[32];
} facts;

static void note(facts *f, const hob_event *e, const hob_json *d) {
    hob_str tool = hob_json_get_str(d, "tool"), outcome = hob_json_get_str(d, "outcome");
    if (e->type == HOB_EVENT_RUN_STARTED) f->started_runs++;
    if (e->type == HOB_EVENT_RUN_FINISHED) f->finished_runs++;
    if (e->type == HOB_EVENT_SETTLED) f->settled++;
    if (e->type == HOB_EVENT_APPROVAL_REQUESTED) {
        f->asked++;
        snprintf(f->question, sizeof f->question, "%.*s", HOB_FMT(hob_json_get_str(d, "call")));
    }
    if (e->type == HOB_EVENT_APPROVAL_RESOLVED) f->question[0] = 0;
    if (e->type != HOB_EVENT_TOOL_FINISHED || !hob_str_eqz(tool, "bash")) return;
    f->unknown += hob_str_eqz(outcome, "unknown");
    f->bash_ok += hob_str_eqz(outcome, "ok");
}

/* The stored log, through the program itself; every line read before must be in it. */
static void read_log(walk *w, facts *f) {
    *f = (facts){.view = hob_view_create()};
    w->c->nenv = 0;
    if (!w->id[0] || HOB_RUN(w->c, NULL, "sessions", "show", w->id, "--json") != 0)
        return; /* it never came to be */
    hob_str rest = hob_buf_str(&w->c->out), line;
    while (hob_str_split(&rest, '\n', &line)) {
        hob_event *e;
        hob_arena *a = hob_arena_create(0);
        if (line.n && hob_event_decode(line, &e, NULL) >= 0 && e->seq) {
            assert_int_equal(e->seq, ++f->events);
            if (w->lines[e->seq]) assert_str(line, w->lines[e->seq]);
            const hob_json *d = hob_event_parse(e, a);
            assert_ok(hob_view_apply(f->view, e, d, NULL), (hob_error){.message = "view"});
            note(f, e, d);
            hob_event_unref(e);
        }
        hob_arena_destroy(a);
    }
    for (size_t i = 1; i < MAX_EVENTS; i++)
        if (w->lines[i] && i > f->events) fail_msg("event %zu was read and is not in the log", i);
}

/* ---- one point -------------------------------------------------------------------------------------------------- */

static void prepare(walk *w, long n) {
    forget(w);
    snprintf(w->token, sizeof w->token, "hob-crash-%d-%ld", (int)getpid(), n);
    hob_test_folder_remove(&w->c->folder);
    hob_test_folder_make(&w->c->folder);
    hob_test_mkdir(&w->c->folder, "home");
    hob_test_quoted_file(w->c, "script.json", script);
    hob_test_file(&w->c->folder, "a.txt", hob_str_z("alpha\n"));
    hob_test_file(&w->c->folder, "b.txt", hob_str_z("beta\n"));
}

static int count_lines(hob_str s) {
    int n = 0;
    for (size_t i = 0; i < s.n; i++) n += s.p[i] == '\n';
    return n;
}

static void check_end(walk *w, const facts *f) {
    int ran = count_lines(hob_test_content(&w->c->folder, "count.txt"));
    if (!f->events) { /* died before the prompt was accepted */
        assert_int_equal(ran, 0);
        return;
    }
    assert_true(ran <= 1);
    if (f->bash_ok) assert_int_equal(ran, 1);
    if (ran == 1 && !f->bash_ok) assert_int_equal(f->unknown, 1);
    assert_true(f->asked <= 1);
    assert_int_equal(f->settled, 1);
    assert_int_equal(f->started_runs, f->finished_runs);
    hob_test_wire_rules(f->view->history);
}

/* Resumes until it is settled; with `again` > 0 the resumed program is killed too, at that point. */
static void recover(walk *w, facts *f, long again) {
    for (int tries = 0; tries < 50; tries++) {
        read_log(w, f);
        if (!w->id[0] || !f->events || f->settled) return;
        snprintf(w->question, sizeof w->question, "%s", f->question);
        hob_view_destroy(f->view);
        start_and_drive(w, again);
        assert_true(hob_test_processes_gone(w->token));
        again = 0;
    }
    fail_msg("it does not come to rest");
}

static bool walk_point(walk *w, long n, long again) {
    facts f;
    prepare(w, n);
    bool killed = start_and_drive(w, n);
    assert_true(hob_test_processes_gone(w->token));
    recover(w, &f, again);
    check_end(w, &f);
    hob_view_destroy(f.view);
    return killed;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

static void test_harness_crash__every_point(void **state) {
    walk w = {.c = *state};
    const char *step = getenv("HOB_CRASH_STEP");
    long k = step ? atol(step) : 1, n, points = 0;
    hob_buf_init(&w.pending, 64u << 20);
    for (n = 1; walk_point(&w, n, 0); n += k) points++;
    forget(&w);
    hob_buf_finish(&w.pending);
    print_message("crash points: %ld walked, every %ld-th of about %ld\n", points, k, n - 1);
    assert_true(points * k > 60);
}

/* The program that recovers dies as well. */
static void test_harness_crash__during_recovery(void **state) {
    walk w = {.c = *state};
    bool all = getenv("HOB_LONG") != NULL;
    long points = 0;
    hob_buf_init(&w.pending, 64u << 20);
    for (long n = 1, killed = 1; killed; n += all ? 1 : 9)
        for (long again = all ? 1 : 3; again < 60 && killed; again += all ? 2 : 11) {
            killed = walk_point(&w, n, again);
            points += killed;
        }
    forget(&w);
    hob_buf_finish(&w.pending);
    print_message("crash points during recovery: %ld\n", points);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_harness_crash__every_point, hob_test_cli_setup,
                                        hob_test_cli_teardown),
        cmocka_unit_test_setup_teardown(test_harness_crash__during_recovery, hob_test_cli_setup,
                                        hob_test_cli_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
