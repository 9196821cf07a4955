/* Trust: remembered for one folder, in the user's state folder, and believed only from there. */
#include "config/config.h"

#include <sys/wait.h>

#include "support/scratch.h"

typedef struct fixture {
    scratch s;
    char state[PATH_MAX * 2], ws[PATH_MAX * 2];
    hob_error err;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    scratch_init(&f->s);
    scratch_keep(f->state, scratch_path(&f->s, "a/b/state"));
    scratch_keep(f->ws, scratch_mkdir(&f->s, "ws"));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    scratch_finish(&f->s);
    hob_free(f);
    return 0;
}

static int check(fixture *f, const char *name) {
    char path[PATH_MAX * 2];
    scratch_keep(path, scratch_mkdir(&f->s, name));
    return hob_trust_check(f->state, path, &f->err);
}

static void add(fixture *f, const char *cwd) {
    assert_ok(hob_trust_add(f->state, cwd, &f->err), f->err);
}

static void test_config_trust__is_remembered_for_exactly_that_folder(void **state) {
    fixture *f = *state;
    assert_int_equal(check(f, "ws"), 0);
    add(f, f->ws);
    assert_int_equal(check(f, "ws"), 1);
    assert_int_equal(check(f, "ws/below"), 0);
    assert_int_equal(check(f, "ws-evil"), 0);
    assert_int_equal(check(f, "WS"), 0);
}

static void test_config_trust__sees_through_links(void **state) {
    fixture *f = *state;
    assert_int_equal(symlink("ws", scratch_path(&f->s, "link")), 0);
    add(f, scratch_path(&f->s, "link"));
    assert_int_equal(hob_trust_check(f->state, f->ws, NULL), 1);
    assert_int_equal(hob_trust_check(f->state, scratch_path(&f->s, "ws/../link/."), NULL), 1);
}

static void test_config_trust__file_is_private_and_whole(void **state) {
    fixture *f = *state;
    add(f, f->ws);
    add(f, f->ws); /* once is enough */
    add(f, scratch_mkdir(&f->s, "other"));
    struct stat st;
    assert_int_equal(stat(scratch_path(&f->s, "a/b/state/trust.json"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(f->state, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    char want[PATH_MAX * 5], got[PATH_MAX * 5] = "";
    snprintf(want, sizeof(want), "{\"v\":1,\"folders\":[\"%s\",\"%s/other\"]}\n", f->ws, f->s.dir);
    FILE *file = fopen(scratch_path(&f->s, "a/b/state/trust.json"), "r");
    assert_non_null(file);
    got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(got, want);
}

static void test_config_trust__believes_no_file_that_others_could_write(void **state) {
    fixture *f = *state;
    add(f, f->ws);
    assert_int_equal(chmod(scratch_path(&f->s, "a/b/state/trust.json"), 0620), 0);
    assert_int_equal(check(f, "ws"), HOB_EACCES);
    assert_int_equal(hob_trust_add(f->state, f->ws, &f->err), HOB_EACCES);
}

static void test_config_trust__a_broken_file_means_no(void **state) {
    fixture *f = *state;
    static const struct {
        const char *text;
        int code;
    } cases[] = {{"{", HOB_ECONFIG},
                 {"{\"v\":1}", HOB_ECONFIG},
                 {"[]", HOB_ECONFIG},
                 {"{\"v\":2,\"folders\":[]}", HOB_EVERSION}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        const char *path = scratch_write(&f->s, "a/b/state/trust.json", cases[i].text);
        assert_int_equal(chmod(path, 0600), 0);
        assert_int_equal(check(f, "ws"), cases[i].code);
        assert_int_equal(hob_trust_add(f->state, f->ws, &f->err), cases[i].code);
    }
}

static void test_config_trust__does_not_follow_a_planted_temporary(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, "victim", "mine\n");
    scratch_mkdir(&f->s, "a/b/state");
    assert_int_equal(symlink("../../../victim", scratch_path(&f->s, "a/b/state/trust.json.new")),
                     0);
    add(f, f->ws);
    assert_int_equal(check(f, "ws"), 1);
    struct stat st;
    assert_int_equal(stat(scratch_path(&f->s, "victim"), &st), 0);
    assert_int_equal(st.st_size, 5);
}

/* Eight processes add eight folders each; none is lost. */
static void test_config_trust__concurrent_adds_lose_nothing(void **state) {
    fixture *f = *state;
    pid_t pids[8];
    for (int p = 0; p < 8; p++) {
        for (int i = 0; i < 8; i++) {
            char name[32];
            snprintf(name, sizeof(name), "d%d-%d", p, i);
            scratch_mkdir(&f->s, name);
        }
    }
    for (int p = 0; p < 8; p++) {
        pids[p] = fork();
        if (pids[p] == 0) {
            int bad = 0;
            for (int i = 0; i < 8; i++) {
                char path[PATH_MAX * 2];
                snprintf(path, sizeof(path), "%s/d%d-%d", f->s.dir, p, i);
                bad |= hob_trust_add(f->state, path, NULL) < 0;
            }
            _exit(bad);
        }
    }
    for (int p = 0; p < 8; p++) {
        int status;
        assert_int_equal(waitpid(pids[p], &status, 0), pids[p]);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < 64; i++) {
        char name[32];
        snprintf(name, sizeof(name), "d%d-%d", i / 8, i % 8);
        assert_int_equal(check(f, name), 1);
    }
}

static void test_config_trust__needs_a_folder_and_a_state_folder(void **state) {
    fixture *f = *state;
    assert_int_equal(hob_trust_check("", f->ws, NULL), 0);
    assert_int_equal(hob_trust_add("", f->ws, NULL), HOB_EINVAL);
    assert_int_equal(hob_trust_add("relative", f->ws, NULL), HOB_EINVAL);
    assert_int_equal(hob_trust_check(f->state, scratch_path(&f->s, "none"), NULL), HOB_ENOENT);
    assert_int_equal(hob_trust_add(f->state, scratch_path(&f->s, "none"), NULL), HOB_ENOENT);
}

static void collect(hob_str folder, void *user) {
    hob_buf_addf(user, "%.*s\n", HOB_FMT(folder));
}

static void test_config_trust__is_taken_back_and_listed(void **state) {
    fixture *f = *state;
    char other[PATH_MAX * 2];
    hob_buf all;
    scratch_keep(other, scratch_mkdir(&f->s, "other"));
    hob_buf_init(&all, 1 << 16);
    assert_int_equal(hob_trust_remove(f->state, f->ws, &f->err), 0);
    add(f, f->ws);
    add(f, other);
    assert_int_equal(rmdir(other), 0); /* a folder that is gone can still be named */
    assert_int_equal(hob_trust_remove(f->state, other, &f->err), 1);
    assert_ok(hob_trust_list(f->state, collect, &all, &f->err), f->err);
    assert_int_equal(all.n, strlen(f->ws) + 1);
    assert_int_equal(hob_trust_remove(f->state, f->ws, &f->err), 1);
    assert_int_equal(check(f, "ws"), 0);
    hob_buf_finish(&all);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_config_trust__##name, setup, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(is_remembered_for_exactly_that_folder),
        CASE(sees_through_links),
        CASE(file_is_private_and_whole),
        CASE(believes_no_file_that_others_could_write),
        CASE(a_broken_file_means_no),
        CASE(does_not_follow_a_planted_temporary),
        CASE(concurrent_adds_lose_nothing),
        CASE(needs_a_folder_and_a_state_folder),
        CASE(is_taken_back_and_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
