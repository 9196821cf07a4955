/* ctest: labels=threads timeout=600 */
/*
 * Kills a program whose tool and whose host save artifacts at every point where something is about to happen or has just
 * happened. It is started again and comes to its end. Then
 *   - every version that the log tells of is there, with its bytes, and no other;
 *   - versions have no gaps, also of the name that belongs to the user.
 */
#include "support/check.h"
#include "support/crash.h"

#include <stdio.h>
#include <stdlib.h>

static const char script[] = "{'rules':[{'when':{'step':1},'reply':[{'tool':'make'}]}],"
                             "'otherwise':[{'text':'it is {{result}}'}]}";
static const char *const names[] = {"f", "user:g", "h"};
static char large[100000];

/* ---- the program ------------------------------------------------------------------------------------------- */

static void must(bool good, const char *what, const hob_error *err) {
    crash_must(good ? 0 : -1, err, what);
}

static hob_artifact_item item_of(const char *name) {
    hob_artifact_item item = HOB_ARTIFACT_ITEM_INIT;
    item.name = hob_str_z(name);
    item.bytes = hob_str_n(large, name[0] == 'f' ? sizeof large : 100);
    return item;
}

static void make(const hob_tool_call *call, hob_reply *reply, void *user) {
    hob_error err;
    (void)call, (void)user;
    for (size_t i = 0; i < 2; i++) {
        hob_artifact_item item = item_of(names[i]);
        must(hob_reply_artifact_save(reply, &item, &err) >= 0, "save", &err);
    }
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("made"));
}

/* How often the log tells of a version of this name; each of them is there. */
static int64_t told(host *h, hob_page *log, const char *name) {
    int64_t n = 0;
    for (size_t i = 0; i < hob_page_count(log); i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *row, *d, *v;
        hob_artifact *got;
        must(hob_json_parse(a, hob_page_row(log, i), NULL, &row, &h->err) >= 0, "row", &h->err);
        d = hob_json_get(row, "data");
        if (hob_json_get(d, "actions")) d = hob_json_get(d, "actions");
        v = hob_json_get(hob_json_get(d, "artifact_delta"), name);
        if (v) {
            int64_t version = -1;
            hob_str expected = item_of(name).bytes;
            hob_json_int(v, &version);
            must(version == n++, "a gap", NULL);
            must(hob_session_artifact_load(h->s, hob_str_z(name), version, &got, &h->err) >= 0,
                 name, &h->err);
            must(hob_str_eq(hob_artifact_bytes(got), expected), "other bytes", NULL);
            hob_artifact_destroy(got);
        }
        hob_arena_destroy(a);
    }
    return n;
}

static int64_t stored(host *h, const char *name) {
    hob_artifact_query q = HOB_ARTIFACT_QUERY_INIT;
    hob_page *p;
    q.name = hob_str_z(name);
    int rc = hob_session_artifacts(h->s, &q, &p, &h->err);
    if (rc == HOB_ENOENT) return 0;
    must(rc >= 0, name, &h->err);
    int64_t n = (int64_t)hob_page_count(p);
    hob_page_destroy(p);
    return n;
}

/* While a run is taken up again there may be more than the log told a moment ago. */
static void check(host *h, bool at_rest) {
    hob_page *log;
    must(hob_session_entries(h->s, 0, &log, &h->err) >= 0, "entries", &h->err);
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++) {
        int64_t said = told(h, log, names[i]), there = stored(h, names[i]);
        must(at_rest ? said == there : said <= there, "not what the log says", NULL);
    }
    hob_page_destroy(log);
}

static void work(host *h) {
    hob_tool tool = host_tool("make", HOB_TOOL_IDEMPOTENT, NULL);
    hob_artifact_item item = item_of("h");
    tool.run = make;
    h->so.tools = &tool;
    h->so.ntools = 1;
    h->so.permission_mode = "yolo";
    h->so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
    h->ro.store = "sqlite";
    crash_open(h, "one");
    check(h, false); /* what was left */
    if (!crash_write_log(h->s, NULL))
        must(hob_session_prompt(h->s, hob_str_z("go"), &h->err) >= 0, "prompt", &h->err);
    must(hob_session_wait(h->s, -1, NULL, &h->err) >= 0, "wait", &h->err);
    for (int i = 0; i < 2; i++)
        must(hob_session_artifact_save(h->s, &item, NULL, &h->err) >= 0, "save", &h->err);
    check(h, true);
    must(stored(h, "f") == 1 && stored(h, "user:g") == 1 && stored(h, "h") >= 2, "counts", NULL);
    host_close(h);
}

/* ---- the walk ----------------------------------------------------------------------------------------------- */

static bool walk_point(long at) {
    host h;
    host_init(&h, script);
    bool killed = crash_fork(&h, work, at);
    if (killed) assert_false(crash_fork(&h, work, 0));
    host_finish(&h);
    return killed;
}

static void test_harness_crash_artifacts__every_point(void **state) {
    long k = crash_step(1), n, points = 0;
    (void)state;
    for (n = 1; walk_point(n); n += k) points++;
    print_message("crash points: %ld walked, every %ld-th of about %ld\n", points, k, n - 1);
    assert_true(points * k > 40);
}

int main(void) {
    for (size_t i = 0; i < sizeof large; i++) large[i] = (char)('a' + i % 19);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_harness_crash_artifacts__every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
