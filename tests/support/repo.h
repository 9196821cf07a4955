/*
 * repo.h - a git repository in a temporary folder. git is a test dependency: scripts/setup test.
 */
#ifndef HOB_TESTS_REPO_H
#define HOB_TESTS_REPO_H

#include "support/folder.h"

/* FOLDER/name with one commit: a.txt "one\n", sub/b.txt "two\n". */
void repo_make(const hob_test_folder *f, const char *name);
/* A shell script in that folder; the test fails if it does. The user's and the machine's settings do not count. */
void repo_do(const hob_test_folder *f, const char *name, const char *script);
/* The same; what it printed, without the line break at its end, until the next call. */
const char *repo_says(const hob_test_folder *f, const char *name, const char *script);

#endif
