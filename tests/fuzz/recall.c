/*
 * What memory makes of a text and of a query. The input is a text, a line end, and a query.
 *
 * Whatever the bytes are: a word is made of lower-case letters, digits and bytes of other scripts, so that no query is
 * syntax of an index; cutting a text at its words and joining them gives the same words; a text has all its own words;
 * relevance and score stay within their bounds. What looks like a credential is looked for, too.
 */
#include <assert.h>
#include <math.h>

#include "agent/memory.h"
#include "log/rank.h"
#include "store/recall.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool harmless(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static void check_words(hob_str text, hob_buf *joined) {
    hob_word_scan w;
    hob_str word;
    hob_word_scan_init(&w, text);
    while (hob_word_scan_next(&w, &word)) {
        assert(word.n > 0 && word.n <= HOB_WORD_MAX);
        for (size_t i = 0; i < word.n; i++) assert(harmless(word.p[i]));
        assert(hob_utf8_valid(word));
        hob_buf_add(joined, word);
        hob_buf_addc(joined, ' ');
    }
}

static void check_rank(hob_str text, hob_str query) {
    hob_rank r;
    hob_rank_init(&r, query);
    for (size_t i = 0; i < r.n; i++) r.words[i].having = i;
    hob_rank_weigh(&r, 100);
    double relevance = hob_rank_relevance(&r, text);
    assert(relevance >= 0 && relevance <= 1.000001);
    if (r.n) assert(hob_rank_relevance(&r, query) >= 0.999999);
    double score = hob_rank_score(relevance, 0.5, (int64_t)text.n * 1000000);
    assert(isfinite(score) && score >= 0 && score <= 1);
}

static void check_terms(hob_str text) {
    hob_store_memory m = {.text = text, .kind = text, .tags = &text, .ntags = 1};
    hob_buf terms;
    hob_buf_init(&terms, 1u << 24);
    hob_terms_of_item(&terms, 7, &m);
    for (size_t i = 0; i < terms.n; i++) assert(terms.p[i] == ' ' || harmless(terms.p[i]));
    hob_buf_finish(&terms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hob_str rest = hob_str_n(size ? (const char *)data : "", size), text = {0};
    hob_buf once, twice;
    hob_str_split(&rest, '\n', &text);
    hob_buf_init(&once, 1u << 24);
    hob_buf_init(&twice, 1u << 24);
    check_words(text, &once);
    check_words(hob_buf_str(&once), &twice);
    assert(hob_str_eq(hob_buf_str(&once), hob_buf_str(&twice)));
    check_rank(text, rest.p ? rest : text);
    check_terms(text);
    hob_credential_in(text);
    hob_memory_check_text(text, 8192, NULL);
    hob_memory_check_model(text, NULL);
    hob_buf_finish(&once);
    hob_buf_finish(&twice);
    return 0;
}
