/*
 * process.h - finding processes by a token in their environment; this process as root.
 */
#ifndef HOB_TESTS_PROCESS_H
#define HOB_TESTS_PROCESS_H

#include <stdbool.h>

/* How many processes (zombies not counted) have the token in their environment, this one left out. */
int hob_test_processes_with(const char *token);
/* Polls until there are none, at most for 10 s; false if some are left. */
bool hob_test_processes_gone(const char *token);

/* Who is not root becomes it in a namespace of its own, where that may be. Before there are threads. */
bool hob_test_become_root(void);

#endif
