#include "support/seen.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

void seen_attach(client *k, seen *s) {
    char header[64], path[100];
    snprintf(path, sizeof path, "/api/sessions/%s/events", s->id);
    snprintf(header, sizeof header, "Last-Event-ID: %llu\r\n", (unsigned long long)s->last);
    s->t = tail_open(k->port, k->token, path, header);
    assert_int_equal(tail_status(s->t), 200);
}

void seen_note(seen *s) {
    uint64_t seq = tail_seq(s->t);
    if (!seq) return;
    if (seq != s->last + 1)
        fail_msg("%s: event %llu after %llu", s->id, (unsigned long long)seq,
                 (unsigned long long)s->last);
    assert_true(seq < SEEN_EVENTS);
    s->last = seq;
    s->hash[seq] = hob_str_hash(tail_data(s->t));
    if (!strcmp(tail_event(s->t), "settled")) s->settled = true;
}

/* What is there already, and no more. */
void seen_drain(seen *s) {
    while (tail_next_within(s->t, 0)) seen_note(s);
}

void seen_to_end(seen *s) {
    while (!s->settled && tail_next(s->t)) seen_note(s);
    if (!s->settled)
        fail_msg("%s: the stream ended at event %llu", s->id, (unsigned long long)s->last);
}

/* Everything that was seen is in the log, as it was seen, and the log has no more than that. */
void seen_compare(client *k, const seen *s) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *page;
    uint64_t n = 0;
    client_expect(k, 200, "GET", NULL, "/api/sessions/%s/events?limit=1000", s->id);
    assert_true(hob_json_parse(a, hob_buf_str(&k->body), NULL, &page, NULL) >= 0);
    for (const hob_json *e = hob_json_first(hob_json_get(page, "events")); e;
         e = hob_json_next(e)) {
        n++;
        if (hob_str_hash(hob_json_raw(e)) != s->hash[n])
            fail_msg("%s: event %llu is another one in the log", s->id, (unsigned long long)n);
    }
    assert_int_equal(n, s->last);
    hob_arena_destroy(a);
}
