/*
 * rank.c - the order of what is recalled.
 */
#include "log/rank.h"

#include <math.h>

#define MONTH_MS (30.0 * 24 * 3600 * 1000)

static hob_str text_of(const hob_rank_word *w) {
    return hob_str_n(w->bytes, w->n);
}

static ptrdiff_t position(const hob_rank *r, hob_str word) {
    for (size_t i = 0; i < r->n; i++) {
        if (hob_str_eq(text_of(&r->words[i]), word)) return (ptrdiff_t)i;
    }
    return -1;
}

void hob_rank_init(hob_rank *r, hob_str query) {
    hob_word_scan w;
    hob_str word;
    r->n = 0;
    r->total = 0;
    hob_word_scan_init(&w, query);
    while (r->n < HOB_RANK_WORDS && hob_word_scan_next(&w, &word)) {
        if (position(r, word) >= 0) continue;
        r->words[r->n] = (hob_rank_word){.n = word.n};
        memcpy(r->words[r->n++].bytes, word.p, word.n);
    }
}

void hob_rank_weigh(hob_rank *r, size_t items) {
    r->total = 0;
    for (size_t i = 0; i < r->n; i++) {
        double having = (double)HOB_MAX(r->words[i].having, (size_t)1);
        r->words[i].weight = log(1 + (double)HOB_MAX(items, (size_t)1) / having);
        r->total += r->words[i].weight;
    }
}

double hob_rank_relevance(const hob_rank *r, hob_str text) {
    uint64_t seen = 0;
    double sum = 0;
    hob_word_scan w;
    hob_str word;
    if (r->n == 0) return 1;
    hob_word_scan_init(&w, text);
    while (hob_word_scan_next(&w, &word)) {
        ptrdiff_t at = position(r, word);
        if (at >= 0) seen |= (uint64_t)1 << at;
    }
    for (size_t i = 0; i < r->n; i++) sum += seen >> i & 1 ? r->words[i].weight : 0;
    return sum / r->total;
}

double hob_rank_score(double relevance, double importance, int64_t age_ms) {
    double age = (double)HOB_MAX(age_ms, (int64_t)0);
    return relevance * (0.7 * importance + 0.3 * exp(-age / MONTH_MS));
}
