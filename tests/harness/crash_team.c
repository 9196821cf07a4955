/* ctest: labels=threads timeout=900 */
/*
 * Kills a program whose agents work together at every point where something is about to happen or has just happened,
 * and looks whether anything was lost, doubled or left open.
 *
 * The program is a host of the library, as an embedder would write one (work(), in a process of its own). Its team: three
 * agents side by side, of which one only reads, one has a tool that may be repeated, and one has a tool that may not and
 * needs an approval; then a loop of a writer and a critic, left in its second round; then a function in C; then one agent
 * that sums up. The test build raises SIGKILL in itself at the HOB_CRASH_AT-th point.
 *
 * For every point the program dies, is started again, and comes to its end. Then
 *   - each agent began once and ended once, as often as in a run that nobody disturbed, and well;
 *   - the call that may not be repeated ran at most once; if the log does not know how it ended, it says `unknown`;
 *   - it was asked for once;
 *   - the state and the final answer are the same as undisturbed;
 *   - the conversation as each agent sees it is valid under the rules of both wire formats.
 *
 * HOB_CRASH_STEP=k: every k-th point.
 */
#include "log/history_view.h"
#include "support/agents.h"
#include "support/check.h"
#include "support/crash.h"
#include "support/wire_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char script[] =
    "{'rules':["
    "{'when':{'system':'reader','step':1},'reply':[{'tool':'look'},{'tool':'look','id':'second'}]},"
    "{'when':{'system':'saver','step':1},'reply':[{'tool':'save'}]},"
    "{'when':{'system':'doer','step':1},'reply':[{'tool':'danger'}]},"
    "{'when':{'system':'critic of second','step':1},'reply':[{'tool':'exit_loop'}]},"
    "{'when':{'system':'writer of first'},'reply':[{'text':'second'}]},"
    "{'when':{'system':'writer'},'reply':[{'text':'first'}]},"
    "{'when':{'system':'sum'},'reply':[{'text':'all of it'}]}],"
    "'otherwise':[{'text':'done'}]}";

/* ---- the program ------------------------------------------------------------------------------------------- */

static void leave_line(const hob_test_folder *f, const char *name) {
    FILE *out = fopen(hob_test_path(f, name), "a");
    if (!out) _exit(3);
    fputs("ran\n", out);
    fclose(out);
}

static void run_tool(const hob_tool_call *call, hob_reply *reply, void *user) {
    if (hob_str_eqz(call->tool, "danger")) leave_line(user, "effects");
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("did it"));
}

static void run_function(const hob_agent_call *call, hob_reply *reply, void *user) {
    hob_error err;
    (void)call, (void)user;
    if (hob_reply_state(reply, hob_str_z("{\"mine\":true}"), hob_str_z(""), &err) < 0) _exit(3);
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("of C"));
}

static hob_agent *make_team(void) {
    hob_agent_opts o = HOB_AGENT_OPTS_INIT;
    o.name = "function";
    o.kind = HOB_AGENT_CUSTOM;
    o.flags = HOB_AGENT_RESTARTABLE;
    o.run = run_function;
    return in_order("all",
                    side_by_side("par", worker("r", "reader", "a"), worker("s", "saver", "b"),
                                 worker("d", "doer", "c"), NULL),
                    again("loop", 5, worker("w", "writer of {draft?}", "draft"),
                          worker("k", "critic of {draft}", NULL), NULL),
                    made_of(&o, NULL, 0), worker("joiner", "sum {a} {b} {c} {draft}", "answer"),
                    NULL);
}

static void approve(hob_session *s, hob_str call) {
    hob_error err;
    int rc = hob_session_confirm_tool_use(s, call, HOB_VERDICT_ALLOW, hob_str_z(""), &err);
    if (rc != HOB_EEXIST && rc != HOB_ENOENT) crash_must(rc, &err, "approve");
}

static void approve_waiting(hob_session *s) {
    hob_page *p;
    hob_error err;
    crash_must(hob_session_pending_confirmations(s, &p, &err), &err, "waiting");
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *row;
        crash_must(hob_json_parse(a, hob_page_row(p, i), NULL, &row, &err), &err, "row");
        approve(s, hob_json_get_str(row, "call"));
        hob_arena_destroy(a);
    }
    hob_page_destroy(p);
}

static void drive(hob_session *s) {
    hob_event *e;
    char call[64];
    int rc;
    approve_waiting(s);
    while ((rc = hob_session_next_event(s, 60000, &e)) == 1) {
        if (hob_event_type_of(e) == HOB_EVENT_APPROVAL_REQUESTED) {
            hob_event_field(e, "call", call, sizeof call);
            approve(s, hob_str_z(call));
        }
        hob_event_unref(e);
    }
    if (rc < 0) _exit(4);
}

static void work(host *h) {
    hob_tool tools[3] = {host_tool("look", HOB_TOOL_READ_ONLY, NULL),
                         host_tool("save", HOB_TOOL_IDEMPOTENT, NULL),
                         host_tool("danger", HOB_TOOL_UNSAFE, NULL)};
    static const char *const allow[] = {"look", "save", NULL};
    for (size_t i = 0; i < 3; i++) {
        tools[i].run = run_tool;
        tools[i].user = &h->folder;
    }
    h->so.tools = tools;
    h->so.ntools = 3;
    h->so.allow = allow;
    h->so.approver = HOB_APPROVER_HOST;
    h->so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
    h->so.team = make_team();
    h->ro.store = "sqlite";
    crash_open(h, "team");
    if (!crash_write_log(h->s, NULL))
        crash_must(hob_session_prompt(h->s, hob_str_z("go"), &h->err), &h->err, "prompt");
    drive(h->s);
    crash_leave_log(h);
    host_close(h);
}

/* ---- what it left behind ------------------------------------------------------------------------------------ */

typedef struct facts {
    hob_view *view;
    int asked, runs, ends, settled, done, unknown;
    hob_buf agents; /* "began NAME" and "ended NAME STATUS", a line each */
    hob_buf answer; /* the last text */
} facts;

static void note(const hob_event *e, const hob_json *d, void *user) {
    facts *f = user;
    hob_str outcome = hob_json_get_str(d, "outcome");
    if (e->type == HOB_EVENT_RUN_STARTED) f->runs++;
    if (e->type == HOB_EVENT_RUN_FINISHED) f->ends++;
    if (e->type == HOB_EVENT_SETTLED) f->settled++;
    if (e->type == HOB_EVENT_APPROVAL_REQUESTED) f->asked++;
    if (e->type == HOB_EVENT_AGENT_STARTED)
        hob_buf_addf(&f->agents, "began %.*s\n", HOB_FMT(e->agent));
    if (e->type == HOB_EVENT_AGENT_FINISHED)
        hob_buf_addf(&f->agents, "ended %.*s %.*s\n", HOB_FMT(e->agent),
                     HOB_FMT(hob_json_get_str(d, "status")));
    if (e->type == HOB_EVENT_ASSISTANT_MESSAGE) {
        hob_buf_reset(&f->answer);
        hob_buf_add(&f->answer,
                    hob_json_get_str(hob_json_first(hob_json_get(d, "content")), "text"));
    }
    if (e->type != HOB_EVENT_TOOL_FINISHED) return;
    if (!hob_str_eqz(hob_json_get_str(d, "tool"), "danger")) return;
    f->done += hob_str_eqz(outcome, "ok");
    f->unknown += hob_str_eqz(outcome, "unknown");
}

static void read_log(host *h, facts *f) {
    *f = (facts){.view = hob_view_create()};
    hob_buf_init(&f->agents, 1u << 16);
    hob_buf_init(&f->answer, 1u << 16);
    crash_read_log(h, f->view, note, f);
}

static void facts_finish(facts *f) {
    hob_view_destroy(f->view);
    hob_buf_finish(&f->agents);
    hob_buf_finish(&f->answer);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Agents side by side end in any order. */
static void sort_lines(hob_buf *text) {
    char *lines[64];
    size_t n = 0;
    hob_str rest = hob_buf_str(text), line;
    while (hob_str_split(&rest, '\n', &line) && n < 64)
        if (line.n) lines[n++] = hob_dupz(line);
    qsort(lines, n, sizeof lines[0], by_text);
    hob_buf_reset(text);
    for (size_t i = 0; i < n; i++) {
        hob_buf_addf(text, "%s\n", lines[i]);
        hob_free(lines[i]);
    }
}

static void check_views(const facts *f) {
    static const char *const who[][2] = {{"r", "par.r"}, {"s", "par.s"}, {"d", "par.d"},
                                         {"w", ""},      {"k", ""},      {"joiner", ""}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(who); i++) {
        hob_history_view v;
        hob_history_view_init(&v);
        hob_history_view_update(
            &v, f->view->history,
            &(hob_viewer){.agent = hob_str_z(who[i][0]), .branch = hob_str_z(who[i][1])});
        hob_test_wire_rules(v.seen);
        hob_history_view_finish(&v);
    }
}

static void check_state(const facts *f, const char *key, const char *expected) {
    hob_str value = HOB_STR("none");
    hob_state_get(&f->view->state, hob_str_z(key), &value);
    assert_str(value, expected);
}

static void check_end(host *h, const facts *f) {
    size_t ran = hob_test_content(&h->folder, "effects").n / strlen("ran\n");
    assert_true(ran <= 1);
    assert_int_equal(f->done + f->unknown, 1); /* one end */
    if (f->done) assert_int_equal(ran, 1);
    assert_true(f->asked == 1);
    assert_int_equal(f->settled, 1);
    assert_int_equal(f->runs, f->ends);
    check_state(f, "a", "\"done\"");
    check_state(f, "draft", "\"second\"");
    check_state(f, "mine", "true");
    check_state(f, "answer", "\"all of it\"");
    assert_str(hob_buf_str(&f->answer), "all of it");
    check_views(f);
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Killed at `at`, and the program that resumes it at `again`; returns whether the first was. */
static bool walk_point(long at, long again, const char *expected, hob_buf *agents) {
    host h;
    facts f;
    host_init(&h, script);
    bool killed = crash_fork(&h, work, at);
    if (killed && again && crash_fork(&h, work, again))
        assert_false(crash_fork(&h, work, 0));
    else if (killed && !again)
        assert_false(crash_fork(&h, work, 0));
    read_log(&h, &f);
    sort_lines(&f.agents);
    check_end(&h, &f);
    if (expected) assert_string_equal(hob_buf_z(&f.agents), expected);
    if (agents) hob_buf_add(agents, hob_buf_str(&f.agents));
    facts_finish(&f);
    host_finish(&h);
    return killed;
}

static void undisturbed(hob_buf *agents) {
    hob_buf_init(agents, 1u << 16);
    assert_false(walk_point(0, 0, NULL, agents));
}

static void test_harness_crash_team__every_point(void **state) {
    long k = crash_step(1), n, points = 0;
    hob_buf agents;
    (void)state;
    undisturbed(&agents);
    for (n = 1; walk_point(n, 0, hob_buf_z(&agents), NULL); n += k) points++;
    print_message("crash points: %ld walked, every %ld-th of about %ld\n", points, k, n - 1);
    assert_true(points * k > 100);
    hob_buf_finish(&agents);
}

/* The program that recovers dies as well. */
static void test_harness_crash_team__during_recovery(void **state) {
    bool all = getenv("HOB_LONG") != NULL;
    long points = 0;
    hob_buf agents;
    (void)state;
    undisturbed(&agents);
    for (long n = 1, killed = 1; killed; n += all ? 1 : 29)
        for (long again = all ? 1 : 5; again < 200 && killed; again += all ? 2 : 31) {
            killed = walk_point(n, again, hob_buf_z(&agents), NULL);
            points += killed;
        }
    print_message("crash points during recovery: %ld\n", points);
    hob_buf_finish(&agents);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_harness_crash_team__every_point),
        cmocka_unit_test(test_harness_crash_team__during_recovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
