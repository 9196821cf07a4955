/*
 * rank.h - what is worth remembering now: relevance, importance, age. Pure; the time is an input.
 */
#ifndef HOB_SRC_LOG_RANK_H
#define HOB_SRC_LOG_RANK_H

#include "log/words.h"

enum { HOB_RANK_WORDS = 32 }; /* different words of a query that count; the rest is not looked at */

/* A word of what is asked for. It counts the more, the fewer items have it. */
typedef struct hob_rank_word {
    char bytes[HOB_WORD_MAX];
    size_t n;
    size_t having; /* items that have it */
    double weight;
} hob_rank_word;

typedef struct hob_rank {
    hob_rank_word words[HOB_RANK_WORDS];
    size_t n;
    double total; /* of the weights */
} hob_rank;

void hob_rank_init(hob_rank *r, hob_str query); /* its different words */
/* Once `having` is known of every word. */
void hob_rank_weigh(hob_rank *r, size_t items);
/* 0 none of the words … 1 all of them; 1 if nothing was asked for. */
double hob_rank_relevance(const hob_rank *r, hob_str text);
/* relevance x (0.7 importance + 0.3 e^(-age / 30 days)) */
double hob_rank_score(double relevance, double importance, int64_t age_ms);

#endif
