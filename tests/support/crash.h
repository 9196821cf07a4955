/*
 * crash.h - programs that are killed at a point (HOB_CRASH_AT) and started again, and the log that they leave.
 */
#ifndef HOB_TESTS_CRASH_H
#define HOB_TESTS_CRASH_H

#include "log/view.h"
#include "support/cli.h"
#include "support/host.h"

#include <stdio.h>

/* ---- in the program that is killed: failures end it, and with it the test -------------------------------------- */

void crash_must(int rc, const hob_error *err, const char *what);
void crash_open(host *h, const char *id); /* that session, made if it is not there */
/* The stored log, a line an event, if `out` is not NULL; whether a prompt is in it. */
bool crash_write_log(hob_session *s, FILE *out);
void crash_leave_log(host *h); /* into the folder, for crash_read_log */

/* ---- around it ------------------------------------------------------------------------------------------------- */

/* Does `work` in a process of its own. True if that was killed; any other end but a good one fails the test. */
bool crash_fork(host *h, void (*work)(host *h), long at);
/* Each event of the log that was left, in order and without a gap, folded into `view`. */
typedef void (*crash_event_fn)(const hob_event *e, const hob_json *data, void *user);
void crash_read_log(host *h, hob_view *view, crash_event_fn fn, void *user);
/* For a run of hob itself: an empty folder with a script, and the point. */
void crash_desk(hob_test_cli *c, const char *script, long at);
/* How far to step: HOB_CRASH_STEP, else this. */
long crash_step(long otherwise);

#endif
