/* Sub-agents that work in a git worktree of their own. */
#include "support/check.h"
#include "support/host.h"
#include "support/repo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHILD "'system':{'contains':'work as a sub-agent'}"
#define APART(prompt)                                                                              \
    "{'tool':'task','args':{'agent':'general','prompt':'" prompt "','isolation':'worktree'}}"
#define WRITE(path, text) "{'tool':'write','args':{'path':'" path "','content':'" text "'}}"
#define GOT "{'reply':[{'text':'got: {{result}}'}]}"
#define SAID "{'when':{" CHILD "},'reply':[{'text':'child got: {{result}}'}]},"

typedef struct lab {
    host r;
    char repo[100], state[200];
} lab;

static void lab_init(lab *l, const char *script) {
    host_init(&l->r, script);
    repo_make(&l->r.folder, "repo");
    hob_test_mkdir(&l->r.folder, "state");
    snprintf(l->repo, sizeof l->repo, "%s/repo", l->r.dir);
    snprintf(l->state, sizeof l->state, "%s/state", l->r.dir);
    l->r.so.cwd = l->repo;
    l->r.so.permission_mode = "yolo";
    l->r.ro.state_dir = l->state;
    l->r.ro.store = "sqlite";
}

static const char *repo(lab *l, const char *script) {
    return repo_says(&l->r.folder, "repo", script);
}

/* A field of the newest event of this kind. */
static void last_field(lab *l, const char *type, const char *field, char out[300]) {
    hob_page *p;
    out[0] = 0;
    hob_session_id(l->r.s, l->r.id, sizeof l->r.id);
    assert_ok(hob_runtime_events(l->r.rt, l->r.id, 0, 1000, &p, &l->r.err), l->r.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_arena *a = hob_arena_create(0);
        const hob_json *e = NULL, *d;
        hob_json_parse(a, hob_page_row(p, i), NULL, &e, NULL);
        if (hob_str_eqz(hob_json_get_str(e, "type"), type)) {
            d = hob_json_get(hob_json_get(e, "data"), "worktree");
            hob_str_out(hob_json_get_str(d, field), out, 300);
        }
        hob_arena_destroy(a);
    }
    hob_page_destroy(p);
}

static int worktrees(lab *l) {
    return atoi(repo(l, "git worktree list | wc -l")) - 1;
}

/* ---- its life ------------------------------------------------------------------------------------------- */

static const char writes[] =
    "{'rules':["
    "{'when':{" CHILD ",'step':1},'reply':[" WRITE(
        "a.txt", "mine") "]}," SAID "{'when':{'step':1},'reply':[" APART("change it") "]}," GOT
                                                                                      "]}";

static void test_session_worktree__changes_are_kept_and_named(void **state) {
    lab l;
    char folder[300], branch[300], name[400], now[1000];
    (void)state;
    lab_init(&l, writes);
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    last_field(&l, "child_finished", "folder", folder);
    last_field(&l, "child_finished", "branch", branch);
    assert_string_equal(repo(&l, "cat a.txt; git status -s"), "one");
    snprintf(name, sizeof name, "cat '%s/a.txt'", folder);
    assert_string_equal(repo(&l, name), "mine");
    assert_memory_equal(folder, l.state, strlen(l.state));
    snprintf(now, sizeof now,
             "1 file not committed, 0 commits since %s. Folder and branch:\n> %s\n> %s\n",
             repo(&l, "git rev-parse HEAD | cut -c1-12"), folder, branch);
    assert_non_null(strstr(host_text(&l.r), now));
    assert_int_equal(host_count(&l.r, "child_placed"), 1);
    host_finish(&l.r);
}

static const char reads[] = "{'rules':[{'when':{" CHILD
                            ",'step':1},'reply':[{'tool':'read','args':{'path':'a.txt'}}]}," SAID
                            "{'when':{'step':1},'reply':[" APART("look at it") "]}," GOT "]}";

static void test_session_worktree__one_without_changes_is_removed(void **state) {
    lab l;
    (void)state;
    lab_init(&l, reads);
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    assert_non_null(
        strstr(host_text(&l.r), "changed nothing in its git worktree, which was removed"));
    assert_non_null(strstr(host_text(&l.r), "> child got: one"));
    assert_string_equal(repo(&l, "git branch; git worktree list | wc -l"), "* main\n1");
    assert_int_equal(hob_test_entries(&l.r.folder, "state/worktrees"), 0);
    assert_int_equal(host_count(&l.r, "child_placed"), 2);
    host_finish(&l.r);
}

static void test_session_worktree__an_agents_file_can_ask_for_it(void **state) {
    lab l;
    hob_definition x = HOB_DEFINITION_INIT;
    (void)state;
    lab_init(
        &l,
        "{'rules':[{'when':{" CHILD ",'step':1},'reply':[{'tool':'bash','args':{'command':"
        "'git branch --show-current; pwd; git commit -q --allow-empty -m mine'}}]}," SAID
        "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'apart','prompt':'x'}}]}," GOT
        "]}");
    x.name = hob_str_z("apart");
    x.description = hob_str_z("works apart");
    x.text = hob_str_z("You work as a sub-agent, apart.");
    x.flags = HOB_DEFINITION_WORKTREE;
    const char *envp[] = {"PATH=/usr/bin:/bin", "GIT_AUTHOR_NAME=t", NULL};
    l.r.ro.envp = envp;
    repo_do(&l.r.folder, "repo", "git config user.name t; git config user.email t@localhost");
    host_open(&l.r);
    assert_ok(hob_session_register_worker_agent(l.r.s, &x, &l.r.err), l.r.err);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    assert_non_null(strstr(host_text(&l.r), "> child got: hob/task-"));
    assert_non_null(strstr(host_text(&l.r), "0 files not committed, 1 commit since"));
    assert_string_equal(repo(&l, "git log --format=%s main..$(git branch --list 'hob/*' "
                                 "--format='%(refname)')"),
                        "mine");
    host_finish(&l.r);
}

static void test_session_worktree__side_by_side_they_do_not_meet(void **state) {
    lab l;
    (void)state;
    lab_init(&l,
             "{'rules':["
             "{'when':{" CHILD ",'user':{'contains':'first'},'step':1},'reply':[" WRITE(
                 "a.txt", "1") "]},"
                               "{'when':{" CHILD ",'step':1},'reply':[" WRITE(
                                   "a.txt", "2") "]}," SAID
                                                 "{'when':{'step':1},'reply':[" APART(
                                                     "first") "," APART("second") "]}," GOT "]}");
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    assert_string_equal(repo(&l, "for w in $(git worktree list --porcelain | grep ^worktree | "
                                 "cut -d' ' -f2); do cat $w/a.txt; echo; done | sort | xargs"),
                        "1 2 one");
    host_finish(&l.r);
}

/* A child of a child begins where that one stands, in a worktree of the same repository. */
static void test_session_worktree__of_a_worktree(void **state) {
    lab l;
    (void)state;
    lab_init(
        &l,
        "{'rules':["
        "{'when':{'user':{'contains':'inner'},'step':1},'reply':[{'tool':'read','args':{'path':'new.txt'}}]},"
        "{'when':{'user':{'contains':'inner'}},'reply':[{'text':'inner got {{result}}'}]},"
        "{'when':{" CHILD ",'step':1},'reply':[{'tool':'bash','args':{'command':"
        "'echo n > new.txt; git add new.txt; git -c user.name=t -c user.email=t@t commit -qm n'}}]},"
        "{'when':{" CHILD ",'step':2},'reply':[" APART(
            "inner") "]}," SAID "{'when':{'step':1},'reply':[" APART("outer") "]}," GOT "]}");
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    assert_non_null(strstr(host_text(&l.r), "inner got n"));
    assert_int_equal(worktrees(&l), 1);
    host_finish(&l.r);
}

/* ---- refused, and nothing is begun ------------------------------------------------------------------------- */

static void refused(lab *l, const char *words) {
    host_open(&l->r);
    assert_string_equal(host_prompt(&l->r, "go"), "completed");
    if (!strstr(host_text(&l->r), words)) fail_msg("%s", host_text(&l->r));
    assert_int_equal(host_count(&l->r, "child_started"), 0);
    host_finish(&l->r);
}

static void test_session_worktree__needs_a_repository(void **state) {
    lab l;
    (void)state;
    lab_init(&l, writes);
    repo_do(&l.r.folder, "repo", "rm -rf .git");
    refused(&l, "got: error:");
    lab_init(&l, writes);
    repo_do(&l.r.folder, "repo", "rm -rf .git && git init -q .");
    refused(&l, "has no commit yet");
}

static void test_session_worktree__needs_git(void **state) {
    lab l;
    const char *envp[] = {"PATH=/nowhere", NULL};
    (void)state;
    lab_init(&l, writes);
    l.r.ro.envp = envp;
    refused(&l, "git is needed and not installed");
}

static void test_session_worktree__is_never_inside_the_users_tree(void **state) {
    lab l;
    (void)state;
    lab_init(&l, writes);
    repo_do(&l.r.folder, "repo", "mkdir inside");
    snprintf(l.state, sizeof l.state, "%s/inside", l.repo);
    refused(&l, "lies inside the repository");
}

static void test_session_worktree__is_not_made_in_plan_mode(void **state) {
    lab l;
    (void)state;
    lab_init(&l, writes);
    l.r.so.permission_mode = "plan";
    refused(&l, "in plan mode nothing is changed");
}

/* ---- never stronger ------------------------------------------------------------------------------------------ */

static const char probes[] =
    "{'rules':[{'when':{" CHILD ",'user':{'contains':'one'},'step':1},'reply':[" WRITE(
        "sub/b.txt",
        "x") "]},"
             "{'when':{" CHILD
             ",'step':1},'reply':[{'tool':'read','args':{'path':'{{user}}'}}]}," SAID
             "{'when':{'user':{'contains':'relative'},'step':1},'reply':[" APART(
                 "one") "]},"
                        "{'when':{'step':1},'reply':[{'tool':'task','args':{'agent':'general','prompt':'{{user}}','isolation':"
                        "'worktree'}}]}," GOT "]}";

static void test_session_worktree__rules_count_for_the_copy(void **state) {
    static char rule[200];
    const char *deny[] = {"write(sub/**)", rule, NULL};
    lab l;
    (void)state;
    lab_init(&l, probes);
    snprintf(rule, sizeof rule, "read(%s/a.txt)", l.repo);
    l.r.so.deny = deny;
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "relative"), "completed");
    assert_non_null(strstr(host_text(&l.r), "the rule write(sub/**) forbids it"));
    assert_string_equal(host_prompt(&l.r, "a.txt"), "completed");
    assert_non_null(strstr(host_text(&l.r), "a.txt) forbids it"));
    assert_int_equal(worktrees(&l), 0);
    host_finish(&l.r);
}

static void test_session_worktree__the_callers_tree_is_out_of_reach(void **state) {
    lab l;
    char path[200];
    const char *dirs[3] = {0};
    (void)state;
    lab_init(&l, probes);
    snprintf(path, sizeof path, "%s/a.txt", l.repo);
    dirs[0] = l.r.dir; /* around the tree, so that it would lead back */
    l.r.so.add_dirs = dirs;
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, path), "completed");
    assert_null(strstr(host_text(&l.r), "child got: one"));
    assert_int_equal(worktrees(&l), 0);
    host_finish(&l.r);
}

static void test_session_worktree__a_folder_of_the_tree_is_that_of_the_copy(void **state) {
    lab l;
    (void)state;
    lab_init(&l, "{'rules':[{'when':{" CHILD ",'step':1},'reply':[" WRITE(
                     "b.txt", "mine") "]}," SAID "{'when':{'step':1},'reply':[" APART("x") "]}," GOT
                                                                                           "]}");
    hob_buf cwd;
    hob_buf_init(&cwd, 300);
    hob_buf_addf(&cwd, "%s/sub", l.repo);
    l.r.so.cwd = hob_buf_z(&cwd);
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    assert_string_equal(repo(&l, "cat sub/b.txt; cat ../state/worktrees/*/*/sub/b.txt"),
                        "two\nmine");
    host_finish(&l.r);
    hob_buf_finish(&cwd);
}

/* ---- crashes ---------------------------------------------------------------------------------------------------- */

static void killed_at(hob_event_type when, const char *field, const char *value,
                      const char *script) {
    lab l;
    lab_init(&l, script);
    host_run_and_kill(&l.r, "go", when, field, value);
    l.r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&l.r);
    assert_string_equal(host_wait(&l.r), "completed");
    assert_int_equal(host_count(&l.r, "child_started"), 1);
    assert_int_equal(host_count(&l.r, "child_finished"), 1);
    bool kept = script == writes;
    assert_int_equal(worktrees(&l), kept);
    assert_int_equal(atoi(repo(&l, "git branch --list 'hob/*' | wc -l")), kept);
    if (kept) assert_string_equal(repo(&l, "cat ../state/worktrees/*/task-*/a.txt"), "mine");
    host_finish(&l.r);
}

static void test_session_worktree__is_neither_lost_nor_doubled_by_a_crash(void **state) {
    (void)state;
    killed_at(HOB_EVENT_CHILD_STARTED, NULL, NULL, writes);
    killed_at(HOB_EVENT_CHILD_PLACED, "state", "made", writes);
    killed_at(HOB_EVENT_CHILD_FINISHED, NULL, NULL, writes);
    killed_at(HOB_EVENT_CHILD_PLACED, "state", "made", reads);
    killed_at(HOB_EVENT_CHILD_PLACED, "state", "unchanged", reads);
}

/* Somebody removed it by hand: the child does not go on as if nothing had been in it. */
static void test_session_worktree__that_is_gone_fails_its_child(void **state) {
    lab l;
    (void)state;
    lab_init(&l, writes);
    host_run_and_kill(&l.r, "go", HOB_EVENT_CHILD_PLACED, "state", "made");
    repo_do(&l.r.folder, "repo", "rm -rf ../state/worktrees/*/task-*");
    l.r.so.on_unfinished = HOB_UNFINISHED_RESUME;
    host_open(&l.r);
    assert_string_equal(host_wait(&l.r), "completed");
    assert_non_null(strstr(host_text(&l.r), "is gone"));
    assert_int_equal(host_count(&l.r, "child_finished"), 1);
    host_finish(&l.r);
}

/* ---- stopping ------------------------------------------------------------------------------------------------------ */

/* git hangs while it fills the tree. */
static void test_session_worktree__a_cancel_leaves_none_that_is_half_made(void **state) {
    lab l;
    static char path[200];
    const char *envp[] = {path, NULL};
    (void)state;
    lab_init(&l, writes);
    repo_do(
        &l.r.folder, "repo",
        "mkdir ../bin; printf '#!/bin/sh\\ncase $1 in reset) touch \"$0.hangs\"; sleep 600;; esac\\n"
        "exec %s \"$@\"\\n' $(command -v git) > ../bin/git; chmod +x ../bin/git");
    snprintf(path, sizeof path, "PATH=%s/bin:/usr/bin:/bin", l.r.dir);
    l.r.ro.envp = envp;
    host_open(&l.r);
    assert_ok(hob_session_prompt(l.r.s, hob_str_z("go"), &l.r.err), l.r.err);
    while (access(hob_test_path(&l.r.folder, "bin/git.hangs"), F_OK) < 0) usleep(2000);
    assert_int_equal(worktrees(&l), 1);
    assert_ok(hob_session_cancel(l.r.s, HOB_QUEUED_DROP, &l.r.err), l.r.err);
    assert_string_equal(host_wait(&l.r), "cancelled");
    assert_int_equal(host_count(&l.r, "child_finished"), 1);
    assert_string_equal(repo(&l, "git branch; git worktree list | wc -l"), "* main\n1");
    host_finish(&l.r);
}

/* ---- with its session ------------------------------------------------------------------------------------------------ */

static void test_session_worktree__goes_with_its_session_unless_it_has_changes(void **state) {
    lab l;
    (void)state;
    lab_init(&l, writes);
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    hob_session_id(l.r.s, l.r.id, sizeof l.r.id);
    hob_session_close(l.r.s);
    l.r.s = NULL;
    repo_do(&l.r.folder, "repo", "cd ../state/worktrees/*/task-*/ && git checkout -q a.txt");
    assert_int_equal(worktrees(&l), 1);
    assert_int_equal(hob_runtime_remove_session(l.r.rt, l.r.id, &l.r.err), 0);
    assert_string_equal(repo(&l, "git branch; git worktree list | wc -l"), "* main\n1");
    assert_int_equal(hob_test_entries(&l.r.folder, "state/worktrees"), 0);
    host_finish(&l.r);
}

static void test_session_worktree__with_changes_stays_without_its_session(void **state) {
    lab l;
    hob_page *kept;
    char folder[300], branch[300], named[300];
    (void)state;
    lab_init(&l, writes);
    host_open(&l.r);
    assert_string_equal(host_prompt(&l.r, "go"), "completed");
    last_field(&l, "child_finished", "folder", folder);
    last_field(&l, "child_finished", "branch", branch);
    hob_session_close(l.r.s);
    l.r.s = NULL;
    const char *child = strrchr(folder, '/') + 1;
    assert_int_equal(hob_runtime_remove_session(l.r.rt, child, &l.r.err), 1); /* alone */
    assert_int_equal(hob_runtime_remove_session_of(l.r.rt, l.r.id, NULL, &kept, &l.r.err), 1);
    assert_int_equal(hob_page_count(kept), 1);
    hob_json_field(hob_page_row(kept, 0), "folder", named, sizeof named);
    assert_string_equal(named, folder);
    hob_json_field(hob_page_row(kept, 0), "branch", named, sizeof named);
    assert_string_equal(named, branch);
    hob_page_destroy(kept);
    assert_string_equal(repo(&l, "cat ../state/worktrees/*/task-*/a.txt"), "mine");
    host_finish(&l.r);
}

#define T(name) cmocka_unit_test(test_session_worktree__##name)

int main(void) {
    const struct CMUnitTest tests[] = {T(changes_are_kept_and_named),
                                       T(one_without_changes_is_removed),
                                       T(an_agents_file_can_ask_for_it),
                                       T(side_by_side_they_do_not_meet),
                                       T(of_a_worktree),
                                       T(needs_a_repository),
                                       T(needs_git),
                                       T(is_never_inside_the_users_tree),
                                       T(is_not_made_in_plan_mode),
                                       T(rules_count_for_the_copy),
                                       T(the_callers_tree_is_out_of_reach),
                                       T(a_folder_of_the_tree_is_that_of_the_copy),
                                       T(is_neither_lost_nor_doubled_by_a_crash),
                                       T(that_is_gone_fails_its_child),
                                       T(a_cancel_leaves_none_that_is_half_made),
                                       T(goes_with_its_session_unless_it_has_changes),
                                       T(with_changes_stays_without_its_session)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
