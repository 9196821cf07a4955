/* Finding and owning sessions: twice, by prefix, of another folder, fenced; and options that make no sense. */
/* ctest: labels=snapshots */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

#include <dirent.h>
#include <unistd.h>

static const char hello[] = "{'otherwise':[{'text':'turn {{turn}}'}]}";

static void open_store(host *r) {
    host_init(r, hello);
    r->ro.store = "sqlite";
    assert_ok(hob_runtime_create(&r->ro, &r->rt, &r->err), r->err);
}

/* A stored session with this id, used once and let go of. */
static void make(host *r, const char *id) {
    r->so.choice = HOB_SESSION_NEW;
    r->so.id = id;
    host_open(r);
    host_prompt(r, "hi");
    hob_session_detach(r->s);
    r->s = NULL;
}

static int open_id(host *r, const char *id) {
    r->so.choice = HOB_SESSION_OPEN;
    r->so.id = id;
    return hob_session_create(r->rt, &r->so, &r->s, &r->err);
}

static void assert_opens(host *r, const char *id, const char *full) {
    char got[129];
    assert_ok(open_id(r, id), r->err);
    hob_session_id(r->s, got, sizeof got);
    assert_string_equal(got, full);
    hob_session_detach(r->s);
    r->s = NULL;
}

/* ---- owning --------------------------------------------------------------------------------------- */

static void test_session_open__twice_in_one_program_is_busy(void **state) {
    host r;
    char pid[32];
    (void)state;
    open_store(&r);
    make(&r, "one");
    assert_ok(open_id(&r, "one"), r.err);
    hob_session *first = r.s;
    assert_int_equal(open_id(&r, "one"), HOB_EBUSY);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    assert_non_null(strstr(r.err.message, pid));
    r.s = first;
    assert_string_equal(host_prompt(&r, "still mine"), "completed");
    hob_session_detach(first);
    assert_opens(&r, "one", "one");
    host_finish(&r);
}

typedef struct racer {
    host *r;
    pthread_t thread;
    hob_session *s;
    int rc;
} racer;

static void *race(void *arg) {
    racer *x = arg;
    x->rc = hob_session_create(x->r->rt, &x->r->so, &x->s, NULL);
    return NULL;
}

static void test_session_open__one_of_many_wins(void **state) {
    host r;
    racer x[4];
    int won = 0;
    (void)state;
    open_store(&r);
    make(&r, "one");
    r.so.choice = HOB_SESSION_OPEN;
    for (int i = 0; i < 4; i++) {
        x[i] = (racer){.r = &r};
        pthread_create(&x[i].thread, NULL, race, &x[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(x[i].thread, NULL);
        won += x[i].rc >= 0;
        assert_true(x[i].rc >= 0 || x[i].rc == HOB_EBUSY);
    }
    assert_int_equal(won, 1);
    for (int i = 0; i < 4; i++) hob_session_detach(x[i].s);
    host_finish(&r);
}

/* Makes the owner of this store look dead, as if its lock were on another machine. */
static void forget_owners(host *r) {
    char path[512];
    const char *dir = hob_test_path(&r->folder, "hob.db.owners");
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.') unlink(path);
    }
    closedir(d);
}

/* REL-25: whoever was taken over from can write nothing more, and says so. */
static void test_session_open__who_was_taken_over_from_is_fenced(void **state) {
    host r, other;
    (void)state;
    open_store(&r);
    make(&r, "one");
    assert_ok(open_id(&r, "one"), r.err);
    forget_owners(&r);
    other = r;
    other.s = NULL;
    other.result = NULL;
    assert_ok(hob_runtime_create(&other.ro, &other.rt, &other.err), other.err);
    assert_ok(open_id(&other, "one"), other.err);
    assert_string_equal(host_prompt(&other, "from the new one"), "completed");
    for (int i = 0; i < 2; i++)
        assert_int_equal(hob_session_prompt(r.s, hob_str_z("from the old one"), &r.err),
                         HOB_EFENCED);
    assert_string_equal(host_wait(&r), "failed");
    assert_int_equal(hob_result_code(r.result), HOB_EFENCED);
    assert_string_equal(host_prompt(&other, "again"), "completed");
    assert_null(strstr(host_log(&other), "from the old one"));
    assert_int_equal(host_count(&other, "user_message"), 3);
    host_close(&other);
    host_finish(&r);
}

/* ---- finding ---------------------------------------------------------------------------------------- */

static void test_session_open__by_a_unique_prefix(void **state) {
    host r;
    (void)state;
    open_store(&r);
    make(&r, "abc");
    make(&r, "abcd");
    make(&r, "abd");
    assert_opens(&r, "abd", "abd");
    assert_opens(&r, "abcd", "abcd");
    make(&r, "x-y");
    assert_opens(&r, "x-", "x-y");
    assert_opens(&r, "abc", "abc"); /* one that is meant exactly is not ambiguous */
    assert_int_equal(open_id(&r, "ab"), HOB_EAMBIGUOUS);
    assert_non_null(strstr(r.err.message, "3 sessions"));
    assert_int_equal(open_id(&r, "b"), HOB_ENOENT);
    assert_int_equal(open_id(&r, ""), HOB_EINVAL);
    assert_int_equal(open_id(&r, "../x"), HOB_EINVAL);
    host_finish(&r);
}

/* What another terminal has just opened in this folder, and not used yet, is no session to go on with. */
static void test_session_open__continue_passes_over_unused_ones(void **state) {
    host r;
    hob_session *unused;
    char got[64];
    (void)state;
    open_store(&r);
    make(&r, "used");
    r.so.choice = HOB_SESSION_NEW;
    r.so.id = "unused";
    assert_ok(hob_session_create(r.rt, &r.so, &unused, &r.err), r.err);
    r.so.choice = HOB_SESSION_CONTINUE;
    r.so.id = NULL;
    host_open(&r);
    hob_session_id(r.s, got, sizeof got);
    assert_string_equal(got, "used");
    hob_session_detach(unused);
    host_finish(&r);
}

/* ---- folders ------------------------------------------------------------------------------------------ */

static void test_session_open__from_another_folder(void **state) {
    host r;
    hob_page *p;
    (void)state;
    open_store(&r);
    make(&r, "one");
    hob_test_mkdir(&r.folder, "elsewhere");
    r.so.cwd = hob_test_path(&r.folder, "elsewhere");
    assert_ok(open_id(&r, "one"), r.err);
    assert_ok(hob_session_workspace(r.s, &p, &r.err), r.err);
    assert_non_null(memmem(hob_page_row(p, 0).p, hob_page_row(p, 0).n, "elsewhere", 9));
    hob_page_destroy(p);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_string_equal(host_text(&r), "turn 2");
    host_finish(&r);
}

/* A folder that is gone is named; the session can be opened with another, or without. */
static void test_session_open__in_a_folder_that_is_gone(void **state) {
    host r;
    char dir[128];
    (void)state;
    open_store(&r);
    hob_test_mkdir(&r.folder, "gone");
    snprintf(dir, sizeof dir, "%s", hob_test_path(&r.folder, "gone"));
    r.so.cwd = dir;
    make(&r, "one");
    rmdir(dir);
    assert_true(open_id(&r, "one") < 0);
    assert_non_null(strstr(r.err.message, dir));
    r.so.cwd = NULL;
    assert_true(open_id(&r, "one") < 0); /* the session's own folder */
    r.so.cwd = r.dir;
    assert_opens(&r, "one", "one");
    host_finish(&r);
}

/* ---- options --------------------------------------------------------------------------------------------- */

typedef struct bigger {
    hob_session_opts o;
    void *more;
} bigger;

static void assert_refused(host *r, const hob_session_opts *o, const char *word) {
    r->err.message[0] = 0;
    assert_int_equal(hob_session_create(r->rt, o, &r->s, &r->err), HOB_EINVAL);
    if (!strstr(r->err.message, word)) fail_msg("%s: %s", word, r->err.message);
}

/* TRAP-9 */
static void test_session_open__options_that_are_not_understood_are_refused(void **state) {
    host r;
    const char *const dirs[] = {"relative", NULL};
    (void)state;
    open_store(&r);
    hob_session_opts o = r.so;
    hob_session_opts fine = o;
#define REFUSED(member, value, word)                                                               \
    do {                                                                                           \
        o = fine;                                                                                  \
        o.member = value;                                                                          \
        assert_refused(&r, &o, word);                                                              \
    } while (0)
    REFUSED(choice, (hob_choice)77, "choice");
    REFUSED(approver, (hob_approver)77, "approver");
    REFUSED(on_unfinished, (hob_on_unfinished)77, "on_unfinished");
    REFUSED(flags, 1u << 30, "flags");
    REFUSED(flags, HOB_SESSION_FORK, "FORK"); /* of a new session */
    REFUSED(cwd, "relative", "cwd");
    REFUSED(add_dirs, dirs, "relative");
    REFUSED(max_turns, -1, "max_turns");
    REFUSED(max_tokens, -1, "max_tokens");
    REFUSED(max_tool_calls, -1, "max_tool_calls");
    REFUSED(timeout_ms, -1, "timeout_ms");
    REFUSED(max_cost_usd, -0.5, "max_cost_usd");
    REFUSED(thinking, "hard", "thinking");
    REFUSED(id, "no/id", "id");
    o = fine;
    o.choice = HOB_SESSION_CONTINUE;
    o.id = "one";
    assert_refused(&r, &o, "id");
    bigger b = {.o = fine, .more = NULL};
    b.o.size = sizeof b;
    assert_ok(hob_session_create(r.rt, &b.o, &r.s, &r.err), r.err); /* of a newer header, unused */
    hob_session_detach(r.s);
    b.more = &b;
    assert_refused(&r, &b.o, "newer");
    r.s = NULL;
    host_finish(&r);
}

static void test_session_open__runtime_options_that_are_not_understood_are_refused(void **state) {
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    hob_runtime *rt;
    hob_error err;
    (void)state;
    o.loop = (hob_loop_mode)7;
    assert_int_equal(hob_runtime_create(&o, &rt, &err), HOB_EINVAL);
    o = (hob_runtime_opts)HOB_RUNTIME_OPTS_INIT;
    o.store = "papyrus:x";
    assert_int_equal(hob_runtime_create(&o, &rt, &err), HOB_ECONFIG);
}

/* ---- size ---------------------------------------------------------------------------------------------------- */

static void test_session_open__ten_thousand_messages(void **state) {
    host r;
    hob_page *p;
    (void)state;
    host_init(&r, hello);
    host_open(&r);
    hob_session_id(r.s, r.id, sizeof r.id);
    for (int i = 0; i < 5000; i++) assert_string_equal(host_prompt(&r, "hi"), "completed");
    hob_session_detach(r.s);
    assert_ok(open_id(&r, r.id), r.err);
    assert_string_equal(host_prompt(&r, "hi"), "completed");
    assert_string_equal(host_text(&r), "turn 5001");
    assert_ok(hob_session_history(r.s, &p, &r.err), r.err);
    assert_int_equal(hob_page_count(p), 10002);
    hob_page_destroy(p);
    host_finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_open__twice_in_one_program_is_busy),
        cmocka_unit_test(test_session_open__one_of_many_wins),
        cmocka_unit_test(test_session_open__who_was_taken_over_from_is_fenced),
        cmocka_unit_test(test_session_open__by_a_unique_prefix),
        cmocka_unit_test(test_session_open__continue_passes_over_unused_ones),
        cmocka_unit_test(test_session_open__from_another_folder),
        cmocka_unit_test(test_session_open__in_a_folder_that_is_gone),
        cmocka_unit_test(test_session_open__options_that_are_not_understood_are_refused),
        cmocka_unit_test(test_session_open__runtime_options_that_are_not_understood_are_refused),
        cmocka_unit_test(test_session_open__ten_thousand_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
