/*
 * search.h - finding sessions by the words of their messages and titles: what any store agrees on.
 *
 * A document is a message (of the user or the model: its text, no calls and no results) or the title of a session. It is
 * found by a query if it has every word of it; the last word may be the beginning of one. Documents come newest first, by
 * a key made of the time and the number of their event, so that a page is a range of keys.
 */
#ifndef HOB_SRC_STORE_SEARCH_H
#define HOB_SRC_STORE_SEARCH_H

#include "log/words.h"
#include "store/request.h"

enum {
    HOB_SEARCH_WORDS = 16,         /* of a query; more are not looked at */
    HOB_SEARCH_TEXT_MAX = 32 << 10 /* bytes of a document that are looked at */
};

typedef struct hob_search_doc {
    int64_t ms;
    hob_str role; /* user | assistant | title */
    hob_buf text;
} hob_search_doc;

void hob_search_doc_init(hob_search_doc *d);
void hob_search_doc_finish(hob_search_doc *d);
/* The document that an event is; false: none. */
bool hob_search_read(hob_search_doc *d, hob_str json);
void hob_search_title(hob_search_doc *d, hob_str title, int64_t ms);
int64_t hob_search_key(int64_t ms, uint64_t seq);

typedef struct hob_search_query {
    char words[HOB_SEARCH_WORDS][HOB_WORD_MAX + 4];
    size_t n;
} hob_search_query;

void hob_search_parse(hob_search_query *q, hob_str text);
bool hob_search_fits(const hob_search_query *q, hob_str text);
/* What stands around the first word that was found, on one line. */
hob_str hob_search_snippet(const hob_search_query *q, hob_str text, hob_arena *mem);
/* The words of a text, each once, with `tenant` before it and a blank between them. */
void hob_search_terms(hob_buf *out, int64_t tenant, hob_str text);

#endif
