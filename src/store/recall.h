/*
 * recall.h - how any store finds what is remembered. The store brings an index of terms; which terms an item
 * has, which candidates are looked at and in which order they come is decided here, once for all stores.
 *
 * Terms are words of the text and labels (tags, kind, author, session). Each carries the number of its
 * tenant, so that the lists of one tenant hold nothing of another's, and cost nothing because of them. A term
 * is made of letters, digits and bytes >= 0x80 only: it can be no syntax of whatever index it stands in.
 *
 * The cost of a recall is bounded whatever the memory holds: of the items with a word the newest CANDIDATES
 * are considered, and rare words come first.
 */
#ifndef HOB_SRC_STORE_RECALL_H
#define HOB_SRC_STORE_RECALL_H

#include "log/rank.h"
#include "store/request.h"

enum {
    HOB_RECALL_CANDIDATES = 512,
    HOB_TERMS_MAX = 256 << 10 /* bytes of all terms of an item: every other byte may be a word */
};

/* All terms of an item, with a blank between them. */
void hob_terms_of_item(hob_buf *out, int64_t tenant, const hob_store_memory *m);

typedef struct hob_recall_source {
    /* Numbers below `below` of items that have every term (no terms: all items of the tenant), highest first.
     * How many, at most max; -1: it failed. */
    ptrdiff_t (*find)(void *user, const hob_str *terms, size_t n, int64_t below, int64_t *nums,
                      size_t max);
    /* The item, until the next call. 0 or -1. */
    int (*look)(void *user, int64_t num, hob_store_memory *out);
    void *user;
    int64_t tenant;
    size_t items; /* of the tenant */
} hob_recall_source;

typedef struct hob_found {
    int64_t num;
    double relevance, score;
} hob_found;

/* The numbers of what r->wanted asks for, in r's memory; r->next for pages. How many, or -1. */
ptrdiff_t hob_recall_find(const hob_recall_source *s, hob_store_req *r, hob_found **out);
int hob_store_say_no_memory(hob_error *err, hob_str id);
int hob_store_say_memory_full(hob_error *err, size_t max);

#endif
