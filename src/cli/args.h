/*
 * args.h - one table of options a command, one parser for all tables.
 *
 * The parser looks at each argument once, from left to right. What follows an option that takes a
 * value is that value, whatever it looks like; `--` ends the options, and what comes after it is
 * taken literally. Nothing is guessed: an argument that is neither an option of the table nor a
 * plain word is an error, with the nearest name.
 */
#ifndef HOB_SRC_CLI_ARGS_H
#define HOB_SRC_CLI_ARGS_H

#include "base/base.h"

typedef enum hob_opt_kind {
    HOB_OPT_FLAG,   /* bool */
    HOB_OPT_TEXT,   /* const char * */
    HOB_OPT_WORD,   /* const char *, one of the words in `arg`: "a|b|c" */
    HOB_OPT_SAME,   /* const char *, set to `arg`: a short form of another option */
    HOB_OPT_COUNT,  /* int64_t, at least 1 */
    HOB_OPT_NUMBER, /* double, more than 0 */
    HOB_OPT_LIST,   /* hob_words, may be repeated */
    HOB_OPT_MAYBE   /* hob_maybe: takes the next argument only if that looks like an id */
} hob_opt_kind;

typedef struct hob_opt {
    char letter; /* 0 = none */
    const char *name;
    hob_opt_kind kind;
    size_t offset; /* in the command's struct */
    const char *arg;
    const char *help;
} hob_opt;

typedef struct hob_maybe {
    bool given;
    const char *value; /* NULL = none */
} hob_maybe;

typedef struct hob_words {
    const char **at; /* NULL-terminated; NULL when empty */
    size_t n;
} hob_words;

/* Plain words in their order; from `literal` on they came after `--`. */
typedef struct hob_rest {
    hob_words words;
    size_t literal;
} hob_rest;

typedef struct hob_opts {
    const hob_opt *at;
    size_t n;
} hob_opts;

/* argv is NULL-terminated and starts with the first argument. After an error (HOB_EINVAL) the rest
 * is still read, so that the output format that was asked for is known; `err` has the first one. */
int hob_args_parse(hob_opts table, char *const *argv, void *into, hob_rest *rest, hob_error *err);
void hob_words_add(hob_words *w, const char *word);
void hob_words_finish(hob_words *w);
void hob_words_join(hob_buf *out, const hob_words *w,
                    size_t first); /* from there on, with blanks */

#endif
