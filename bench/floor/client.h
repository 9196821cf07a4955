/*
 * client.h - the parts of client.c.
 */
#ifndef HOB_BENCH_FLOOR_CLIENT_H
#define HOB_BENCH_FLOOR_CLIENT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- text that grows; NUL-terminated ----------------------------------------------------------- */
typedef struct floor_text {
    char *p;
    size_t n, cap;
} floor_text;
void floor_add(floor_text *t, const char *p, size_t n);
void floor_addf(floor_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void floor_die(const char *what);

/* ---- the log: one row a message, one commit a row ------------------------------------------------- */
typedef struct floor_log {
    sqlite3 *db;
    sqlite3_stmt *insert;
    long seq;
} floor_log;
/* With `resume` the rows so far are added to `body` and counted. */
void floor_log_open(floor_log *l, const char *path, bool resume, floor_text *body, int *messages);
void floor_log_append(floor_log *l, const char *p, size_t n);
void floor_log_close(floor_log *l);

/* ---- one request, one streamed answer --------------------------------------------------------------- */
typedef struct floor_answer {
    floor_text text; /* of a text, also printed as it comes */
    bool tool, bash; /* a call, and of which tool */
    char id[32];
    long line;       /* its argument */
    floor_text rest; /* a line not yet whole */
} floor_answer;
void floor_http_open(const char *url);
void floor_http_post(const floor_text *body, floor_answer *a);
void floor_http_close(void);

/* ---- tools ------------------------------------------------------------------------------------------- */
void floor_tool_line(const char *path, long line, char *out, size_t cap);
void floor_tool_sh(long line, char *out, size_t cap);

#endif
