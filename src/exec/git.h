/*
 * git.h - git, run so that nothing in a repository gets a program of its choice run.
 *
 * A repository may come from anybody. Its configuration and attributes can name programs that git starts by itself:
 * hooks, a file system monitor, filters at every check-out, helpers of a remote. So a command here has an environment
 * made from nothing, and settings that override all of that; they are given by environment, because a setting whose
 * name has a "=" in it cannot be overridden by -c. Filters have names that nobody knows beforehand: they are asked for
 * (`config --get-regexp`) in the folder in which the next command runs, and each is switched off by name.
 *
 * git itself is looked for in absolute folders of PATH, outside of the tree that it is run on. All calls are [loop].
 */
#ifndef HOB_SRC_EXEC_GIT_H
#define HOB_SRC_EXEC_GIT_H

#include "exec/exec.h"

enum { HOB_GIT_FILTERS = 128, HOB_GIT_OUTPUT = 256 * 1024 };

typedef struct hob_git hob_git;
/* `avoid`: no program is taken from beneath this folder; "" = none. HOB_ENOENT: there is no git. */
int hob_git_create(hob_exec *x, const char *const *envp, hob_str avoid, hob_git **out,
                   hob_error *err);
void hob_git_destroy(hob_git *g);
void hob_git_stop(hob_git *g); /* kills what runs; no callback */

typedef struct hob_git_call {
    const char *program;     /* another one than git, by absolute path; NULL = git */
    const char *const *args; /* without the program's name */
    const char *cwd;
    const char *git_dir, *work_tree; /* NULL = found from the folder */
    int64_t timeout_ms;
} hob_git_call;

/* status: the exit code, or negative: could not be run or did not end by itself, and err says why. The output is that
 * of stdout and stderr; HOB_ETOOBIG if there was more than HOB_GIT_OUTPUT of it. May start the next command. */
typedef void (*hob_git_fn)(void *user, int status, hob_str output, const hob_error *err);
int hob_git_run(hob_git *g, const hob_git_call *c, hob_git_fn done, void *user, hob_error *err);

/* Switches off the filters that an answer of `config --null --name-only --get-regexp ^filter\.` names. */
int hob_git_refuse_filters(hob_git *g, hob_str answer, hob_error *err);

#endif
