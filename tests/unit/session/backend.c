/* A back end of the host does the work of read, write and bash; what comes before the work stays. */
#include <hob/ext/backend.h>

#include "support/check.h"
#include "support/host.h"

#include <stdio.h>
#include <unistd.h>

static const char script[] =
    "{'rules':["
    "{'when':{'user':'read','step':1},'reply':[{'tool':'read','args':{'path':'sub/../a.txt'}}]},"
    "{'when':{'user':'link','step':1},'reply':[{'tool':'read','args':{'path':'link.txt'}}]},"
    "{'when':{'user':'out','step':1},'reply':[{'tool':'read','args':{'path':'../../etc/passwd'}}]},"
    "{'when':{'user':'none','step':1},'reply':[{'tool':'read','args':{'path':'none.txt'}}]},"
    "{'when':{'user':'image','step':1},'reply':[{'tool':'read','args':{'path':'i.gif'}}]},"
    "{'when':{'user':'write','step':1},'reply':[{'tool':'write','args':{'path':'a.txt','content':"
    "'new'}}]},"
    "{'when':{'user':'stray','step':1},'reply':[{'tool':'write','args':{'path':'../x','content':''}}]},"
    "{'when':{'user':'input','step':1},'reply':[{'tool':'bash','args':{'command':'cat','stdin':'in'}}]},"
    "{'when':{'user':'short','step':1},'reply':[{'tool':'bash','args':{'command':'run it','timeout_s':"
    "1}}]},"
    "{'when':{'user':'run','step':1},'reply':[{'tool':'bash','args':{'command':'run it'}}]},"
    "{'when':{'user':'child','step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':"
    "'read'}}]}],"
    "'otherwise':[{'text':'{{result}}'}]}";

typedef enum manner { DOES, PASSES, REFUSES, SILENT } manner;

typedef struct desk {
    host h;
    manner manner;
    int asked;
    char seen[600]; /* what it was asked for, last */
    pthread_mutex_t lock;
    hob_reply *held; /* SILENT */
    int cancelled;
} desk;

/* ---- the back end: on the loop's thread ----------------------------------------------------------- */

static bool decline(desk *d, hob_reply *r) {
    pthread_mutex_lock(&d->lock);
    d->asked++;
    if (d->manner == SILENT) d->held = r;
    pthread_mutex_unlock(&d->lock);
    if (d->manner == PASSES) hob_reply_pass(r);
    if (d->manner == REFUSES) hob_reply_text(r, HOB_OUTCOME_ERROR, HOB_STR("not today"));
    return d->manner != DOES;
}

static void back_read(const hob_backend_call *c, hob_reply *r, void *user) {
    desk *d = user;
    snprintf(d->seen, sizeof d->seen, "read %.*s", HOB_FMT(c->path));
    if (!decline(d, r)) hob_reply_file(r, HOB_STR("one\nunsaved\n"));
}

static void back_write(const hob_backend_call *c, hob_reply *r, void *user) {
    desk *d = user;
    snprintf(d->seen, sizeof d->seen, "write %.*s %d '%.*s' '%.*s'", HOB_FMT(c->path), c->existed,
             HOB_FMT(c->before), HOB_FMT(c->content));
    if (!decline(d, r)) hob_reply_text(r, HOB_OUTCOME_OK, HOB_STR_NULL);
}

static void back_run(const hob_backend_call *c, hob_reply *r, void *user) {
    desk *d = user;
    hob_command_end end = {
        .size = sizeof end, .exit_code = 3, .truncated = 1, .output = HOB_STR("printed\n")};
    snprintf(d->seen, sizeof d->seen, "run %.*s in %.*s", HOB_FMT(c->command), HOB_FMT(c->cwd));
    if (!decline(d, r)) hob_reply_command(r, &end);
}

static void back_cancel(const hob_backend_call *c, int hard, void *user) {
    desk *d = user;
    hob_command_end end = {.size = sizeof end, .exit_code = 137, .output = HOB_STR("so far\n")};
    (void)c, (void)hard;
    d->cancelled++;
    hob_reply *r = d->held;
    d->held = NULL;
    if (r) hob_reply_command(r, &end);
}

static const hob_backend_ops ops = {
    .size = sizeof ops,
    .name = "the desk",
    .read = back_read,
    .write = back_write,
    .run = back_run,
    .cancel = back_cancel,
};

/* ---- life ------------------------------------------------------------------------------------------ */

static int setup(void **state) {
    desk *d = HOB_NEW(desk);
    host_init(&d->h, script);
    pthread_mutex_init(&d->lock, NULL);
    hob_test_file(&d->h.folder, "a.txt", HOB_STR("on disk\n"));
    hob_test_file(&d->h.folder, "i.gif", HOB_STR("GIF89a picture"));
    hob_test_mkdir(&d->h.folder, "sub");
    hob_test_link(&d->h.folder, "a.txt", "link.txt");
    d->h.so.permission_mode = "yolo";
    d->h.so.backend = &ops;
    d->h.so.backend_user = d;
    *state = d;
    return 0;
}

static int teardown(void **state) {
    desk *d = *state;
    host_finish(&d->h);
    if (d->held) hob_reply_text(d->held, HOB_OUTCOME_OK, HOB_STR_NULL); /* after all is gone */
    pthread_mutex_destroy(&d->lock);
    hob_free(d);
    return 0;
}

static const char *say(void **state, const char *text) {
    desk *d = *state;
    host_open(&d->h);
    assert_string_equal(host_prompt(&d->h, text), "completed");
    return host_text(&d->h);
}

/* What it was asked for, with the folder as D. */
static void assert_asked(desk *d, const char *expected) {
    char text[600];
    const char *at = strstr(d->seen, d->h.dir);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*sD%s", (int)(at - d->seen), d->seen, at + strlen(d->h.dir));
    assert_string_equal(text, expected);
}

/* ---- read ------------------------------------------------------------------------------------------ */

static void test_session_backend__read_shows_its_view(void **state) {
    desk *d = *state;
    assert_string_equal(say(state, "read"), "one\nunsaved\n");
    assert_asked(d, "read D/a.txt");
}

static void test_session_backend__read_asks_for_where_a_link_leads(void **state) {
    desk *d = *state;
    assert_string_equal(say(state, "link"), "one\nunsaved\n");
    assert_asked(d, "read D/a.txt");
}

static void test_session_backend__read_finds_what_is_not_on_the_disk(void **state) {
    desk *d = *state;
    assert_string_equal(say(state, "none"), "one\nunsaved\n");
    assert_asked(d, "read D/none.txt");
}

static void test_session_backend__read_of_what_is_outside_is_not_asked(void **state) {
    desk *d = *state;
    say(state, "out");
    assert_int_equal(d->asked, 0);
}

static void test_session_backend__images_are_read_here(void **state) {
    desk *d = *state;
    say(state, "image");
    assert_int_equal(d->asked, 0);
}

static void test_session_backend__read_that_fails_is_the_disk_and_says_so(void **state) {
    desk *d = *state;
    d->manner = REFUSES;
    assert_string_equal(say(state, "read"), "on disk\n\n[this is what the disk has; the desk did "
                                            "not give its view: not today]");
}

static void test_session_backend__read_that_passes_is_as_without(void **state) {
    desk *d = *state;
    d->manner = PASSES;
    assert_string_equal(say(state, "read"), "on disk\n");
    assert_int_equal(d->asked, 1);
}

/* ---- write ----------------------------------------------------------------------------------------- */

static void test_session_backend__write_is_done_there(void **state) {
    desk *d = *state;
    assert_string_equal(say(state, "write"), "overwrote a.txt (3 bytes)");
    assert_asked(d, "write D/a.txt 1 'on disk\n' 'new'");
    assert_str(hob_test_content(&d->h.folder, "a.txt"), "on disk\n");
}

static void test_session_backend__write_that_passes_is_done_here(void **state) {
    desk *d = *state;
    d->manner = PASSES;
    assert_string_equal(say(state, "write"), "overwrote a.txt (3 bytes)");
    assert_str(hob_test_content(&d->h.folder, "a.txt"), "new");
}

static void test_session_backend__write_that_fails_is_a_failed_call(void **state) {
    desk *d = *state;
    d->manner = REFUSES;
    assert_string_equal(say(state, "write"), "not written: the desk: not today");
    assert_str(hob_test_content(&d->h.folder, "a.txt"), "on disk\n");
}

static void test_session_backend__write_outside_is_not_asked(void **state) {
    desk *d = *state;
    say(state, "stray");
    assert_int_equal(d->asked, 0);
}

static void test_session_backend__rules_come_first(void **state) {
    static const char *const deny[] = {"write", NULL};
    desk *d = *state;
    d->h.so.deny = deny;
    assert_non_null(strstr(say(state, "write"), "denied"));
    assert_int_equal(d->asked, 0);
}

/* ---- run ------------------------------------------------------------------------------------------- */

static void test_session_backend__a_command_runs_there(void **state) {
    desk *d = *state;
    assert_string_equal(say(state, "run"), "[\xE2\x80\xA6]\nprinted\nexit code 3");
    assert_asked(d, "run run it in D");
}

static void test_session_backend__a_command_with_input_runs_here(void **state) {
    desk *d = *state;
    assert_string_equal(say(state, "input"), "in");
    assert_int_equal(d->asked, 0);
}

static void test_session_backend__a_command_that_cannot_start_says_why(void **state) {
    desk *d = *state;
    d->manner = REFUSES;
    assert_string_equal(say(state, "run"), "not run: the desk: not today");
}

static void test_session_backend__a_command_that_takes_too_long_is_ended(void **state) {
    desk *d = *state;
    d->manner = SILENT;
    const char *text = say(state, "short");
    assert_non_null(strstr(text, "so far\ntimed out after 1 s"));
    assert_int_equal(d->cancelled, 1);
}

static void wait_asked(desk *d) {
    for (bool asked = false; !asked; usleep(1000)) {
        pthread_mutex_lock(&d->lock);
        asked = d->held != NULL;
        pthread_mutex_unlock(&d->lock);
    }
}

static void test_session_backend__cancel_reaches_it(void **state) {
    desk *d = *state;
    d->manner = SILENT;
    host_open(&d->h);
    assert_ok(hob_session_prompt(d->h.s, HOB_STR("run"), &d->h.err), d->h.err);
    wait_asked(d);
    assert_ok(hob_session_cancel_and_settle(d->h.s, HOB_QUEUED_DROP, 10000, &d->h.err), d->h.err);
    assert_int_equal(d->cancelled, 1);
    if (!strstr(host_log(&d->h), "tool_finished m4.0 bash cancelled \"so far"))
        fail_msg("%s", d->h.log);
}

/* An answer that comes when everybody is gone is no harm (teardown gives it). */
static void test_session_backend__a_session_does_not_wait_for_it_to_let_go(void **state) {
    desk *d = *state;
    d->manner = SILENT;
    host_open(&d->h);
    assert_ok(hob_session_prompt(d->h.s, HOB_STR("read"), &d->h.err), d->h.err);
    wait_asked(d);
    host_close(&d->h);
}

static void test_session_backend__sub_agents_have_it_too(void **state) {
    desk *d = *state;
    assert_non_null(strstr(say(state, "child"), "unsaved"));
    assert_asked(d, "read D/a.txt");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_session_backend__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(read_shows_its_view),
        TEST(read_asks_for_where_a_link_leads),
        TEST(read_finds_what_is_not_on_the_disk),
        TEST(read_of_what_is_outside_is_not_asked),
        TEST(images_are_read_here),
        TEST(read_that_fails_is_the_disk_and_says_so),
        TEST(read_that_passes_is_as_without),
        TEST(write_is_done_there),
        TEST(write_that_passes_is_done_here),
        TEST(write_that_fails_is_a_failed_call),
        TEST(write_outside_is_not_asked),
        TEST(rules_come_first),
        TEST(a_command_runs_there),
        TEST(a_command_with_input_runs_here),
        TEST(a_command_that_cannot_start_says_why),
        TEST(a_command_that_takes_too_long_is_ended),
        TEST(cancel_reaches_it),
        TEST(a_session_does_not_wait_for_it_to_let_go),
        TEST(sub_agents_have_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
