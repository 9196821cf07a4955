/* A git worktree made, looked at and removed, on real repositories. */
#include "exec/worktree.h"

#include "support/check.h"
#include "support/job.h"
#include "support/repo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct lab {
    hob_test_folder folder;
    hob_loop *loop;
    hob_exec *exec;
    const char *envp[4];
    char home[128], repo[128], tree[128];
    hob_worktree w;
    char base[80], common[200], top[200], prefix[80];
    int done;
    hob_worktree_news news;
} lab;

static int setup(void **state) {
    lab *l = HOB_NEW(lab);
    hob_test_folder_make(&l->folder);
    assert_int_equal(hob_loop_create(NULL, &l->loop, NULL), HOB_OK);
    l->exec = hob_test_exec(l->loop);
    snprintf(l->home, sizeof l->home, "HOME=%s", l->folder.path);
    l->envp[0] = "PATH=/usr/local/bin:/usr/bin:/bin";
    l->envp[1] = l->home;
    repo_make(&l->folder, "repo");
    hob_test_mkdir(&l->folder, "state");
    snprintf(l->repo, sizeof l->repo, "%s/repo", l->folder.path);
    snprintf(l->tree, sizeof l->tree, "%s/state/task-1", l->folder.path);
    *state = l;
    return 0;
}

static int teardown(void **state) {
    lab *l = *state;
    hob_exec_destroy(l->exec);
    hob_loop_destroy(l->loop);
    hob_test_folder_remove(&l->folder);
    hob_free(l);
    return 0;
}

static void on_done(void *user, const hob_worktree_news *n) {
    lab *l = user;
    l->done++;
    l->news = *n;
    if (n->code < 0 || !n->found.base) return;
    snprintf(l->base, sizeof l->base, "%s", n->found.base);
    snprintf(l->common, sizeof l->common, "%s", n->found.repository);
    snprintf(l->top, sizeof l->top, "%s", n->found.top);
    snprintf(l->prefix, sizeof l->prefix, "%s", n->found.prefix);
}

static hob_worktree_env env_of(lab *l) {
    return (hob_worktree_env){.exec = l->exec, .envp = l->envp, .done = on_done, .user = l};
}

static void wait_for(lab *l) {
    while (!l->done) hob_loop_run_once(l->loop, 1000);
    l->done = 0;
}

typedef int act(const hob_worktree_env *, const hob_worktree *, hob_worktree_op **, hob_error *);

static int does(lab *l, act *what) {
    hob_worktree_env env = env_of(l);
    hob_worktree_op *op;
    hob_error err;
    assert_ok(what(&env, &l->w, &op, &err), err);
    wait_for(l);
    return l->news.code;
}

static int find(lab *l, const char *folder) {
    hob_worktree_env env = env_of(l);
    hob_worktree_op *op;
    hob_error err;
    assert_ok(hob_worktree_find(&env, hob_test_path(&l->folder, folder), &op, &err), err);
    wait_for(l);
    l->w = (hob_worktree){l->common, l->top, l->prefix, l->base, l->tree, "hob/task-1"};
    return l->news.code;
}

static void make(lab *l) {
    if (find(l, "repo") < 0) fail_msg("%s", l->news.err.message);
    if (does(l, hob_worktree_make) < 0) fail_msg("%s", l->news.err.message);
}

static const char *says(lab *l, const char *script) {
    return repo_says(&l->folder, "state/task-1", script);
}

/* ---- find ------------------------------------------------------------------------------------------- */

static void test_exec_worktree__finds_repository_tree_and_commit(void **state) {
    lab *l = *state;
    char real[4096];
    assert_int_equal(find(l, "repo/sub"), HOB_OK);
    assert_string_equal(l->prefix, "sub");
    assert_string_equal(l->top, realpath(l->repo, real));
    assert_string_equal(l->base, repo_says(&l->folder, "repo", "git rev-parse HEAD"));
}

/* A session that works in a linked worktree has its children begin there, not at the first tree. */
static void test_exec_worktree__begins_where_the_caller_stands(void **state) {
    lab *l = *state;
    repo_do(&l->folder, "repo",
            "git worktree add -q -b other ../linked && cd ../linked && echo 3 > c.txt && "
            "git add c.txt && git commit -q -m second");
    assert_int_equal(find(l, "linked"), HOB_OK);
    assert_string_equal(l->base, repo_says(&l->folder, "linked", "git rev-parse HEAD"));
    assert_int_equal(does(l, hob_worktree_make), HOB_OK);
    assert_string_equal(says(l, "cat c.txt"), "3");
}

static void test_exec_worktree__refuses_what_is_no_repository(void **state) {
    lab *l = *state;
    hob_test_mkdir(&l->folder, "plain");
    assert_int_equal(find(l, "plain"), HOB_EINVAL);
    assert_non_null(strstr(l->news.err.message, "is not in a git repository"));
    hob_test_mkdir(&l->folder, "empty");
    repo_do(&l->folder, "empty", "git init -q .");
    assert_int_equal(find(l, "empty"), HOB_EINVAL);
    assert_non_null(strstr(l->news.err.message, "no commit yet"));
    repo_do(&l->folder, "repo", "mkdir new");
    assert_int_equal(find(l, "repo/new"), HOB_EINVAL);
    assert_non_null(strstr(l->news.err.message, "not in the last commit"));
}

static void test_exec_worktree__refuses_a_repository_whose_files_are_elsewhere(void **state) {
    lab *l = *state;
    repo_do(&l->folder, "repo", "git config core.worktree /");
    assert_true(find(l, "repo") < 0);
}

static void test_exec_worktree__says_that_git_is_missing(void **state) {
    lab *l = *state;
    hob_worktree_env env = env_of(l);
    hob_worktree_op *op;
    hob_error err;
    l->envp[0] = "PATH=/nowhere:relative:";
    assert_int_equal(hob_worktree_find(&env, l->repo, &op, &err), HOB_ENOENT);
    assert_non_null(strstr(err.message, "not installed"));
}

/* A program in the tree is not git, whatever it is called. */
static void test_exec_worktree__takes_no_git_from_the_tree(void **state) {
    lab *l = *state;
    char path[300];
    repo_do(&l->folder, "repo",
            "mkdir bin && printf '#!/bin/sh\\ntouch ../../ran\\n' > bin/git && chmod +x bin/git");
    snprintf(path, sizeof path, "PATH=%s/bin:/usr/bin:/bin", l->repo);
    l->envp[0] = path;
    assert_int_equal(find(l, "repo"), HOB_OK);
}

/* ---- make ------------------------------------------------------------------------------------------- */

static void test_exec_worktree__makes_a_tree_and_a_branch(void **state) {
    lab *l = *state;
    make(l);
    assert_string_equal(says(l, "cat a.txt sub/b.txt; git symbolic-ref HEAD; git status -s"),
                        "one\ntwo\nrefs/heads/hob/task-1");
    assert_string_equal(repo_says(&l->folder, "repo", "git status -s; git branch --show-current"),
                        "main");
}

/* What is not committed stays with whoever has not committed it. */
static void test_exec_worktree__leaves_out_what_is_not_committed(void **state) {
    lab *l = *state;
    repo_do(&l->folder, "repo", "echo dirty > a.txt; echo staged > s.txt; git add s.txt");
    make(l);
    assert_string_equal(says(l, "cat a.txt; ls"), "one\na.txt\nsub");
}

/* SEC-13: hooks, monitors and filters of a repository, whatever their names are and wherever they are set. */
static void test_exec_worktree__runs_no_program_of_a_repository(void **state) {
    lab *l = *state;
    repo_do(
        &l->folder, "repo",
        "evil=\"touch $PWD/../ran; cat\"\n"
        "printf '#!/bin/sh\\n%s\\n' \"$evil\" > .git/evil && chmod +x .git/evil\n"
        "for h in post-checkout reference-transaction post-index-change; do "
        "cp .git/evil .git/hooks/$h; done\n"
        "printf 'a.txt filter=plain\\nsub/* filter=x=y\\n*.md filter=far\\n' > .gitattributes\n"
        "echo far > c.md; git -c core.hooksPath=/dev/null add . && "
        "git -c core.hooksPath=/dev/null commit -q -m two\n"
        "git config filter.plain.smudge \"$evil\"; git config filter.plain.clean \"$evil\"\n"
        "git config filter.plain.required true\n"
        "git config filter.x=y.process \"$evil\"; git config filter.x=y.required true\n"
        "git config core.fsmonitor \"$PWD/.git/evil\"; git config core.hooksPath .git/hooks\n"
        "printf '[filter \"far\"]\\nsmudge = %s\\nclean = %s\\n' \"$evil\" \"$evil\" > .git/far\n"
        "git config 'includeIf.gitdir:**/worktrees/**.path' \"$PWD/.git/far\"\n");
    make(l);
    assert_int_equal(does(l, hob_worktree_look), HOB_OK);
    assert_false(l->news.changed);
    assert_int_equal(does(l, hob_worktree_remove), HOB_OK);
    assert_int_equal(access(hob_test_path(&l->folder, "ran"), F_OK), -1);
    repo_do(&l->folder, "repo", "git status > /dev/null 2>&1; test -e ../ran"); /* it would have */
}

/* SEC-12 */
static void test_exec_worktree__writes_through_no_link_of_a_repository(void **state) {
    lab *l = *state;
    hob_worktree_env env = env_of(l);
    hob_worktree_op *op;
    hob_error err;
    repo_do(&l->folder, "repo", "mkdir ../outside && ln -s ../../outside .git/worktrees");
    assert_int_equal(find(l, "repo"), HOB_OK);
    assert_int_equal(hob_worktree_make(&env, &l->w, &op, &err), HOB_EACCES);
    assert_int_equal(hob_test_entries(&l->folder, "outside"), 0);
}

/* Whatever a killed attempt left: a half tree, git's own notes, locks, the branch. */
static void test_exec_worktree__makes_it_afresh_after_an_attempt_that_did_not_end(void **state) {
    lab *l = *state;
    make(l);
    repo_do(&l->folder, "repo",
            "rm ../state/task-1/.git; echo half > ../state/task-1/a.txt; "
            "touch .git/worktrees/task-1/index.lock .git/refs/heads/hob/task-1.lock");
    assert_int_equal(does(l, hob_worktree_make), HOB_OK);
    assert_string_equal(says(l, "cat a.txt; git status -s"), "one");
    assert_string_equal(repo_says(&l->folder, "repo", "git worktree list | wc -l"), "2");
}

/* git refuses to make one while another is half made. */
static void test_exec_worktree__is_made_beside_what_another_left_half_made(void **state) {
    lab *l = *state;
    repo_do(&l->folder, "repo",
            "mkdir -p .git/worktrees/task-2 .git/worktrees/task-3 && "
            "echo initializing > .git/worktrees/task-2/locked && "
            "touch .git/worktrees/task-3/gitdir .git/worktrees/task-3/commondir && "
            "git worktree add -q -b whole ../task-4");
    make(l);
    assert_string_equal(repo_says(&l->folder, "repo", "ls .git/worktrees"), "task-1\ntask-4");
}

static void test_exec_worktree__many_at_once_wait_for_one_another(void **state) {
    lab *l = *state;
    hob_worktree_env env = env_of(l);
    hob_worktree_op *op;
    hob_error err;
    char folder[12][160], branch[12][20];
    assert_int_equal(find(l, "repo"), HOB_OK);
    for (int i = 0; i < 12; i++) {
        snprintf(folder[i], sizeof folder[i], "%s/state/task-%d", l->folder.path, 100 + i);
        snprintf(branch[i], sizeof branch[i], "hob/task-%d", 100 + i);
        l->w.folder = folder[i];
        l->w.branch = branch[i];
        assert_ok(hob_worktree_make(&env, &l->w, &op, &err), err);
    }
    while (l->done < 12) {
        hob_loop_run_once(l->loop, 1000);
        if (l->news.code < 0) fail_msg("%s", l->news.err.message);
    }
    assert_string_equal(repo_says(&l->folder, "repo", "git worktree list | wc -l"), "13");
}

static void test_exec_worktree__leaves_nothing_of_one_that_cannot_be_made(void **state) {
    lab *l = *state;
    assert_int_equal(find(l, "repo"), HOB_OK);
    repo_do(&l->folder, "repo",
            "b=$(git rev-parse HEAD:a.txt); "
            "rm -f .git/objects/$(echo $b | cut -c1-2)/$(echo $b | cut -c3-)");
    assert_true(does(l, hob_worktree_make) < 0);
    assert_non_null(strstr(l->news.err.message, "git could not fill the worktree"));
    assert_int_equal(access(l->tree, F_OK), -1);
    assert_string_equal(repo_says(&l->folder, "repo", "git branch; git worktree list | wc -l"),
                        "* main\n1");
}

/* ---- look, remove ----------------------------------------------------------------------------------- */

static void assert_changed(lab *l, const char *script, int files, int commits) {
    repo_do(&l->folder, "state/task-1", script);
    assert_int_equal(does(l, hob_worktree_look), HOB_OK);
    assert_true(l->news.changed);
    assert_int_equal(l->news.files, files);
    assert_int_equal(l->news.commits, commits);
}

static void test_exec_worktree__sees_every_kind_of_change(void **state) {
    lab *l = *state;
    make(l);
    assert_int_equal(does(l, hob_worktree_look), HOB_OK);
    assert_false(l->news.changed);
    assert_changed(l, "echo x > a.txt", 1, 0);
    assert_changed(l, "git checkout -q a.txt; echo n > new.txt", 1, 0);
    assert_changed(l, "rm new.txt; git rm -q a.txt", 1, 0);
    assert_changed(l, "git reset -q --hard; git commit -q --allow-empty -m more", 0, 1);
    assert_changed(l, "git checkout -q --detach HEAD~1", 0, 0); /* its branch still has it */
    assert_changed(l,
                   "git checkout -q -B hob/task-1 HEAD; git config status.showUntrackedFiles no; "
                   "echo n > new.txt",
                   1, 0);
}

/* The file that says where git's data is lies in the tree: somebody there may have written another one. */
static void test_exec_worktree__does_not_believe_the_tree(void **state) {
    lab *l = *state;
    make(l);
    repo_do(&l->folder, "state/task-1",
            "cp -r \"$(git rev-parse --git-common-dir)\" evil && "
            "git config -f evil/config core.fsmonitor \"touch $PWD/../../ran; false\" && "
            "echo 'gitdir: evil' > .git");
    assert_int_equal(does(l, hob_worktree_look), HOB_OK);
    assert_true(l->news.changed);
    assert_int_equal(access(hob_test_path(&l->folder, "ran"), F_OK), -1);
}

static void test_exec_worktree__removes_tree_and_branch(void **state) {
    lab *l = *state;
    make(l);
    assert_int_equal(does(l, hob_worktree_remove), HOB_OK);
    assert_int_equal(access(l->tree, F_OK), -1);
    assert_string_equal(repo_says(&l->folder, "repo", "git branch; git worktree list | wc -l"),
                        "* main\n1");
}

static void test_exec_worktree__does_not_remove_one_that_is_locked(void **state) {
    lab *l = *state;
    make(l);
    repo_do(&l->folder, "repo", "git worktree lock ../state/task-1");
    assert_true(does(l, hob_worktree_remove) < 0);
    assert_string_equal(says(l, "cat a.txt"), "one");
}

#define T(name) cmocka_unit_test_setup_teardown(test_exec_worktree__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {T(finds_repository_tree_and_commit),
                                       T(begins_where_the_caller_stands),
                                       T(refuses_what_is_no_repository),
                                       T(refuses_a_repository_whose_files_are_elsewhere),
                                       T(says_that_git_is_missing),
                                       T(takes_no_git_from_the_tree),
                                       T(makes_a_tree_and_a_branch),
                                       T(leaves_out_what_is_not_committed),
                                       T(runs_no_program_of_a_repository),
                                       T(writes_through_no_link_of_a_repository),
                                       T(makes_it_afresh_after_an_attempt_that_did_not_end),
                                       T(is_made_beside_what_another_left_half_made),
                                       T(many_at_once_wait_for_one_another),
                                       T(leaves_nothing_of_one_that_cannot_be_made),
                                       T(sees_every_kind_of_change),
                                       T(does_not_believe_the_tree),
                                       T(removes_tree_and_branch),
                                       T(does_not_remove_one_that_is_locked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
