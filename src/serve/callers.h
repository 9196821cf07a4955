/*
 * callers.h - who may ask: tokens, rights, rates and quotas.
 *
 * The set in force is replaced whole when the token file is read again. A row that says the same as before stays the
 * same caller; others are gone, and with them their streams. Requests under way keep the caller that they
 * began with. What a caller has taken of its quotas belongs to its name and outlives the reload.
 */
#ifndef HOB_SRC_SERVE_CALLERS_H
#define HOB_SRC_SERVE_CALLERS_H

#include "serve/http.h"

typedef struct hob_callers hob_callers;

enum {
    HOB_TOKEN_MIN = 16, /* bytes of a token */
    HOB_TOKEN_MAX = 512,
    HOB_CALLERS_MAX = 4096,
    HOB_CALLER_STREAMS = 1000,     /* at the same time, of a row that says nothing else */
    HOB_CALLER_BUFFER = 256 << 20, /* bytes, in the same way */
    HOB_TOKEN_FILE_MAX = 4 << 20
};

hob_callers *hob_callers_create(hob_str max_mode); /* the strongest mode that a row may name */
void hob_callers_destroy(hob_callers *c);
/* One caller with all rights in place of those there were. HOB_EINVAL: too short, or not printable. */
int hob_callers_set_token(hob_callers *c, hob_str token, hob_error *err);
/* A token file's text in place of those there were; on failure they stay. HOB_ECONFIG. [any] */
int hob_callers_set_text(hob_callers *c, hob_str text, hob_error *err);
/* HOB_EACCES: others can read it. HOB_ECONFIG. [any] */
int hob_callers_load(hob_callers *c, const char *file, hob_error *err);
/* The caller with this token, to be unref'ed; NULL if there is none. Takes the same time for every wrong token of its
 * length. [any] */
const hob_caller *hob_callers_find(hob_callers *c, hob_str token);
/* The caller with this name, in the same way. [any] */
const hob_caller *hob_callers_named(hob_callers *c, hob_str name);
/* What somebody with this name spent: it is spent, also over a limit. A name that nobody had since the start: nothing.
 * [any], never blocks for long */
void hob_callers_spend(hob_callers *c, hob_str name, int64_t tokens, int64_t micro_usd);
/* A run began for who has this name; how many did, since the start. [any] */
void hob_callers_count_run(hob_callers *c, hob_str name);
int64_t hob_caller_runs(const hob_caller *c);
size_t hob_callers_count(hob_callers *c);
/* Its row was removed or says something else now. [any] */
bool hob_caller_gone(const hob_caller *c);
/* May it make one more request now? 0, or after how many seconds. One thread. */
int hob_caller_rate(const hob_caller *c, int64_t now_ms);
int64_t hob_caller_rated(
    const hob_caller *c); /* how many of per_minute are used; the same thread */

/* Requests and connections of the callers of this name. One thread. */
typedef struct hob_caller_turn {
    unsigned working, waiting;
    size_t conns;
} hob_caller_turn;
hob_caller_turn *hob_caller_turns(const hob_caller *c);

/* tokens.c: what a row says, before it becomes a caller. Slices borrow from the arena. */
typedef struct hob_token_row {
    hob_caller caller;        /* no `use` */
    hob_str token;            /* either this … */
    unsigned char digest[32]; /* … or its SHA-256, which is set in any case */
} hob_token_row;
typedef int (*hob_token_fn)(const hob_token_row *row, void *user); /* negative = stop with that */
int hob_tokens_parse(hob_str text, hob_str max_mode, hob_token_fn fn, void *user, hob_error *err);
void hob_token_digest(hob_str token, unsigned char out[32]);
int hob_mode_rank(hob_str mode); /* of plan, ask, accept-edits, yolo; -1 = none of them */

#endif
