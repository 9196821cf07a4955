/*
 * lab.h - a server that speaks both wire formats and answers by chance, and a session of many kinds of turns with it.
 */
#ifndef HOB_TESTS_LAB_H
#define HOB_TESTS_LAB_H

#include "support/host.h"
#include "support/httpd.h"

typedef struct lab {
    host r;
    httpd *d;
    hob_tool tools[1];
    unsigned seed; /* of what the test does */
    /* the server's */
    pthread_mutex_t lock;
    unsigned chance; /* of what it answers; 0 = always a short text */
    bool hang;       /* it says nothing */
    hob_buf body;    /* of the first request since lab_forget */
} lab;

/* Providers a (anthropic) and c (openai-chat), a store in a file; nothing is opened. */
void lab_init(lab *l, unsigned seed);
void lab_finish(lab *l);
void lab_forget(lab *l);
hob_str lab_body(lab *l); /* of the first request since; lives until the next call */
unsigned lab_roll(lab *l, unsigned n);
void lab_play(lab *l,
              int actions); /* with the open session: prompts, models, moves, stops, titles */

/* The file of the store, put aside and back; no runtime is open. */
void lab_save(lab *l, const char *name);
void lab_restore(lab *l, const char *name);
void lab_sql(lab *l, const char *sql);
int lab_count(lab *l, const char *sql);

#endif
