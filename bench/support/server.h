/*
 * server.h - a server in a process of its own, for benchmarks: what it costs is its own.
 */
#ifndef HOB_BENCH_SERVER_H
#define HOB_BENCH_SERVER_H

#include "rig.h"

#include <sys/types.h>

#define BENCH_TOKEN "0123456789abcdef0123456789abcdef"

typedef struct bench_server {
    pid_t pid;
    int port;
} bench_server;

/* hob, on a scripted model: "pace" streams for ten seconds, fifty pieces a second; "pour" streams 200,000 as fast as they
 * are taken; all else is answered at once. */
bool bench_server_start(bench_server *s, const bench_rig *r);
/* A bare program that sends `total` bytes to each connection, `piece` at a time, with a write(2) each. */
bool bench_server_start_raw(bench_server *s, size_t total, size_t piece);
/* Node with @ag-ui/encoder: bench/peers/agui.mjs. False: there is no node, or it could not be installed. */
bool bench_server_start_node(bench_server *s);
void bench_server_stop(bench_server *s);
double bench_server_cpu_ms(const bench_server *s);
double bench_server_rss_mb(const bench_server *s);

/* ---- the other side ---------------------------------------------------------------------------------------- */
int bench_dial(int port);
void bench_ask_for(int fd, const char *method, const char *path, const char *headers,
                   const char *body);
/* A call on a connection that stays: the answer's status. */
int bench_call(int fd, const char *method, const char *path, const char *body);
/* Reads to the end; how many bytes, and how often `mark` was in them (NULL = not counted). */
size_t bench_read_all(int fd, const char *mark, size_t *marks);

#endif
