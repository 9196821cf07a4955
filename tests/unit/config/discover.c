/* The files of a declared folder: which are found, and which never count. */
#include "config/discover.h"

#include "support/scratch.h"

typedef struct fixture {
    scratch s;
    char dir[PATH_MAX * 2];
    hob_discover o;
    hob_buf seen;
} fixture;

static int setup(void **state) {
    fixture *f = HOB_NEW(fixture);
    scratch_init(&f->s);
    hob_buf_init(&f->seen, 1 << 20);
    f->o.workspace = f->s.dir;
    f->o.yaml = true;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    hob_buf_finish(&f->seen);
    scratch_finish(&f->s);
    hob_free(f);
    return 0;
}

static int note(const hob_found *found, void *user) {
    fixture *f = user;
    if (found->why)
        hob_buf_addf(&f->seen, "%.*s: %s\n", HOB_FMT(found->stem), found->why);
    else
        hob_buf_addf(&f->seen, "%.*s%s=%.*s\n", HOB_FMT(found->stem), found->yaml ? "(yaml)" : "",
                     HOB_FMT(found->text));
    return HOB_OK;
}

static void assert_found(fixture *f, const char *dir, const char *want) {
    hob_error err = {0};
    scratch_keep(f->dir, scratch_path(&f->s, dir));
    f->o.dir = f->dir;
    hob_buf_reset(&f->seen);
    assert_ok(hob_discover_dir(&f->o, note, f, &err), err);
    assert_string_equal(hob_buf_z(&f->seen), want);
}

static void test_config_discover__in_the_order_of_names_and_no_deeper(void **state) {
    fixture *f = *state;
    scratch_write(&f->s, "d/b.md", "B");
    scratch_write(&f->s, "d/a.yaml", "A");
    scratch_write(&f->s, "d/c.yml", "C");
    scratch_write(&f->s, "d/.hidden.md", "H");
    scratch_write(&f->s, "d/notes.txt", "N");
    scratch_write(&f->s, "d/sub/x.md", "X");
    assert_found(f, "d", "a(yaml)=A\nb=B\nc(yaml)=C\n");
    f->o.yaml = false;
    assert_found(f, "d", "b=B\n");
    assert_found(f, "none", "");
}

/* SEC-07: exactly NAME/SKILL.md. */
static void test_config_discover__skills_one_level_below_only(void **state) {
    fixture *f = *state;
    f->o.folders = true;
    scratch_write(&f->s, "d/one/SKILL.md", "1");
    scratch_write(&f->s, "d/one/two/SKILL.md", "2");
    scratch_write(&f->s, "d/SKILL.md", "0");
    scratch_write(&f->s, "d/loose.md", "L");
    scratch_write(&f->s, "d/node_modules/SKILL.md", "D");
    scratch_write(&f->s, "d/node_modules/pkg/SKILL.md", "D");
    assert_found(f, "d", "node_modules: is in a folder of dependencies\none=1\n");
}

static void test_config_discover__links_may_not_leave_nor_reach_dependencies(void **state) {
    fixture *f = *state;
    scratch other;
    scratch_init(&other);
    scratch_write(&other, "secret.md", "S");
    scratch_write(&f->s, "node_modules/p/x.md", "X");
    scratch_write(&f->s, "docs/y.md", "Y");
    scratch_mkdir(&f->s, "d");
    assert_int_equal(symlink(scratch_path(&other, "secret.md"), scratch_path(&f->s, "d/a.md")), 0);
    assert_int_equal(symlink("../node_modules/p/x.md", scratch_path(&f->s, "d/b.md")), 0);
    assert_int_equal(symlink("../docs/y.md", scratch_path(&f->s, "d/c.md")), 0);
    assert_int_equal(symlink("nowhere", scratch_path(&f->s, "d/d.md")), 0);
    assert_int_equal(symlink(other.dir, scratch_path(&f->s, "out")), 0);
    assert_found(f, "d",
                 "a: is a link that leaves the workspace\nb: is in a folder of dependencies\nc=Y\n"
                 "d: cannot be found: No such file or directory\n");
    assert_found(f, "out", ": is a link that leaves the workspace\n");
    f->o.workspace = NULL; /* the user's own files may lie anywhere */
    assert_found(f, "out", "secret=S\n");
    scratch_finish(&other);
}

static void test_config_discover__what_is_no_text_file(void **state) {
    fixture *f = *state;
    scratch_mkdir(&f->s, "d/dir.md");
    assert_int_equal(mkfifo(scratch_path(&f->s, "d/pipe.md"), 0600), 0);
    scratch_write(&f->s, "d/broken.md", "\xff\xfe");
    hob_buf big;
    hob_buf_init(&big, 1 << 20);
    while (big.n <= HOB_DISCOVER_FILE_MAX) hob_buf_addz(&big, "0123456789abcdef");
    scratch_write(&f->s, "d/large.md", hob_buf_z(&big));
    hob_buf_finish(&big);
    assert_found(f, "d",
                 "broken: is not valid UTF-8\ndir: is not a regular file\n"
                 "large: is larger than 262144 bytes\npipe: is not a regular file\n");
    f->o.workspace = NULL;
    assert_found(f, "d",
                 "broken: is not valid UTF-8\ndir: is not a regular file\n"
                 "large: is larger than 262144 bytes\npipe: is not a regular file\n");
}

static void test_config_discover__what_git_ignores(void **state) {
    fixture *f = *state;
    scratch_mkdir(&f->s, ".git/info");
    scratch_write(&f->s, ".git/info/exclude", "excluded.md\n");
    scratch_write(&f->s, ".gitignore",
                  "# comment\n*.local.md\n!kept.local.md\n/gone/\n**/deep/z.md\n");
    scratch_write(&f->s, "d/.gitignore", "inner.md\nd/\n");
    scratch_write(&f->s, "d/a.md", "A");
    scratch_write(&f->s, "d/inner.md", "I");
    scratch_write(&f->s, "d/excluded.md", "E");
    scratch_write(&f->s, "d/x.local.md", "X");
    scratch_write(&f->s, "d/kept.local.md", "K");
    assert_found(f, "d",
                 "a=A\nexcluded: is ignored by git\ninner: is ignored by git\nkept.local=K\n"
                 "x.local: is ignored by git\n");
    scratch_write(&f->s, "gone/kept.local.md", "K");
    assert_found(f, "gone", ": is ignored by git\n");
    scratch_write(&f->s, "a/b/deep/z.md", "Z");
    assert_found(f, "a/b/deep", "z: is ignored by git\n");
}

static void test_config_discover__patterns_as_git_reads_them(void **state) {
    fixture *f = *state;
    static const struct {
        const char *patterns, *path;
        bool ignored;
    } rows[] = {
        {"x.md", "a/b/x.md", true},
        {"/x.md", "a/x.md", false},
        {"a/x.md", "a/x.md", true},
        {"a/x.md", "b/a/x.md", false},
        {"a/**", "a/b/x.md", true},
        {"a/**/x.md", "a/x.md", true},
        {"a/**/x.md", "a/b/c/x.md", true},
        {"**/b/x.md", "a/b/x.md", true},
        {"a/*.md", "a/b/x.md", false},
        {"b", "a/b/x.md", true},
        {"b/", "a/b/x.md", true},
        {"x.md/", "a/x.md", false},
        {"?.md", "a/x.md", true},
        {"[a-w].md", "a/x.md", false},
        {"a\n!a/x.md", "a/x.md", true},
        {"*.md\n!x.md", "a/x.md", false},
        {"*.md \r", "a/x.md", true},
        {"a/**/b/**/c/x.md", "a/1/b/2/3/c/x.md", true},
        {"a/**/b/**/c/x.md", "a/1/b/2/3/x.md", false},
    };
    scratch_mkdir(&f->s, ".git");
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) {
        scratch_write(&f->s, ".gitignore", rows[i].patterns);
        bool got = hob_path_ignored(scratch_path(&f->s, rows[i].path), f->s.dir) != NULL;
        if (got != rows[i].ignored) fail_msg("%s and %s", rows[i].patterns, rows[i].path);
    }
    assert_int_equal(rmdir(scratch_path(&f->s, ".git")), 0);
    scratch_write(&f->s, ".gitignore", "*");
    assert_null(hob_path_ignored(scratch_path(&f->s, "a/x.md"), f->s.dir));
}

static void test_config_discover__a_folder_has_a_ceiling(void **state) {
    fixture *f = *state;
    scratch_mkdir(&f->s, "d");
    for (int i = 0; i <= HOB_DISCOVER_ENTRIES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "d/%05d.md", i);
        scratch_write(&f->s, name, "");
    }
    f->o.dir = scratch_path(&f->s, "d");
    assert_int_equal(hob_discover_dir(&f->o, note, f, NULL), HOB_OK);
    assert_true(hob_str_ends(hob_buf_str(&f->seen),
                             HOB_STR("\n: has too many files; not all of them were read\n")));
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_config_discover__##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(in_the_order_of_names_and_no_deeper),
        T(skills_one_level_below_only),
        T(links_may_not_leave_nor_reach_dependencies),
        T(what_is_no_text_file),
        T(what_git_ignores),
        T(patterns_as_git_reads_them),
        T(a_folder_has_a_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
