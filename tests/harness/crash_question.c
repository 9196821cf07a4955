/* ctest: labels=threads,snapshots timeout=900 */
/*
 * Kills the program at every point while the model asks the user something, and a sub-agent asks something else; resumes
 * it until it has ended. Then each question was asked once and answered once, and each answer was told once.
 *
 * HOB_CRASH_STEP=k: every k-th point.
 */
#include "support/check.h"
#include "support/crash.h"

#include <string.h>
#include <unistd.h>

#define CHILD "'system':{'contains':'work as a sub-agent'}"

static const char script[] =
    "{'rules':["
    "{'when':{" CHILD ",'step':1},'reply':[{'tool':'ask_user','args':{'question':'Size?',"
    "'schema':{'enum':['small','large']}}}]},"
    "{'when':{" CHILD "},'reply':[{'text':'the size is {{result}}'}]},"
    "{'when':{'step':1},'reply':[{'tool':'ask_user','args':{'question':'Colour?'}}]},"
    "{'when':{'step':2},'reply':[{'tool':'task','args':{'agent':'general','prompt':'{{result}}'}}]}],"
    "'otherwise':[{'text':'{{result}}'}]}";

/* ---- in the program ------------------------------------------------------------------------------------ */

static void answer(hob_session *s, hob_str call, bool choice) {
    hob_error err;
    int rc = hob_session_answer(s, call, hob_str_z(choice ? "\"large\"" : "\"blue\""), &err);
    if (rc != HOB_EEXIST && rc != HOB_ENOENT) crash_must(rc, &err, "answer");
}

static void answer_waiting(hob_session *s) {
    hob_page *p;
    hob_error err;
    char call[300], schema[100];
    crash_must(hob_session_pending_confirmations(s, &p, &err), &err, "waiting");
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_json_field(hob_page_row(p, i), "call", call, sizeof call);
        bool choice = hob_json_field(hob_page_row(p, i), "schema.enum.0", schema, 100) > 0;
        answer(s, hob_str_z(call), choice);
    }
    hob_page_destroy(p);
}

static void work(host *h) {
    hob_event *e;
    char call[300], value[100];
    int rc;
    crash_open(h, "one");
    if (!crash_write_log(h->s, NULL))
        crash_must(hob_session_prompt(h->s, hob_str_z("go"), &h->err), &h->err, "prompt");
    answer_waiting(h->s);
    while ((rc = hob_session_next_event(h->s, 60000, &e)) == 1) {
        if (hob_event_type_of(e) == HOB_EVENT_APPROVAL_REQUESTED) {
            hob_event_field(e, "call", call, sizeof call);
            answer(h->s, hob_str_z(call), hob_event_field(e, "schema.enum.0", value, 100) > 0);
        }
        hob_event_unref(e);
    }
    if (rc < 0) _exit(4);
    crash_leave_log(h);
    hob_session_close(h->s);
    hob_runtime_destroy(h->rt);
}

/* ---- around it ------------------------------------------------------------------------------------------- */

typedef struct facts {
    int asked, resolved, blue, told, settled;
} facts;

static void note(const hob_event *e, const hob_json *d, void *user) {
    facts *f = user;
    hob_str text = hob_json_get_str(hob_json_first(hob_json_get(d, "content")), "text");
    f->asked += e->type == HOB_EVENT_APPROVAL_REQUESTED;
    f->resolved += e->type == HOB_EVENT_APPROVAL_RESOLVED && hob_json_get(d, "answer");
    f->blue += e->type == HOB_EVENT_TOOL_FINISHED && hob_str_eqz(text, "blue");
    f->told += e->type == HOB_EVENT_ASSISTANT_MESSAGE &&
               hob_str_find(text, HOB_STR("the size is large")) >= 0;
    f->settled += e->type == HOB_EVENT_SETTLED;
}

static bool walk_point(long n) {
    host h;
    facts f = {0};
    host_init(&h, script);
    h.ro.store = "sqlite";
    h.so.approver = HOB_APPROVER_HOST;
    bool killed = crash_fork(&h, work, n);
    if (killed) assert_false(crash_fork(&h, work, 0));
    hob_view *view = hob_view_create();
    crash_read_log(&h, view, note, &f);
    hob_view_destroy(view);
    if (f.asked != 2 || f.resolved != 2 || f.blue != 1 || f.told != 1 || f.settled != 1)
        fail_msg("point %ld: asked %d, answered %d, blue %d, told %d, settled %d", n, f.asked,
                 f.resolved, f.blue, f.told, f.settled);
    host_finish(&h);
    return killed;
}

static void test_harness_crash_question__every_point(void **state) {
    long k = crash_step(1), n, points = 0;
    (void)state;
    for (n = 1; walk_point(n); n += k) points++;
    print_message("crash points with questions: %ld walked, every %ld-th of about %ld\n", points, k,
                  n - 1);
    assert_true(points * k > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_harness_crash_question__every_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
