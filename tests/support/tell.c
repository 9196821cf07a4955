#include "support/tell.h"

#include "support/check.h"

#include <stdio.h>

void tell_init(tell *t) {
    *t = (tell){.view = hob_view_create()};
    hob_buf_init(&t->text, 64u << 20);
}

void tell_finish(tell *t) {
    hob_view_destroy(t->view);
    hob_buf_finish(&t->text);
}

/* Written by hand, so that kinds which this version does not know can be told too. */
int64_t tell_event(tell *t, const char *type, const char *parent, const char *data) {
    hob_arena *a = hob_arena_create(0);
    hob_event *e;
    hob_buf *b = &t->text;
    t->seq++;
    hob_buf_reset(b);
    hob_buf_addf(b,
                 "{'v':1,'seq':%llu,'ts':'2026-01-02T03:04:05.%03dZ','type':'%s','session_id':'s',",
                 (unsigned long long)t->seq, (int)(t->seq % 1000), type);
    if (parent) hob_buf_addf(b, "'entry':'e%llu',", (unsigned long long)t->seq);
    if (parent && *parent) hob_buf_addf(b, "'parent_entry':'%s',", parent);
    hob_buf_addf(b, "'data':%s}", data);
    for (size_t i = 0; i < b->n; i++) {
        if (b->p[i] == '\'') b->p[i] = '"';
    }
    assert_ok(hob_event_decode(hob_buf_str(b), &e, &t->err), t->err);
    int rc = hob_view_apply(t->view, e, hob_event_parse(e, a), &t->err);
    hob_event_unref(e); /* the view keeps what it needs */
    hob_arena_destroy(a);
    return rc < 0 ? rc : (int64_t)t->seq;
}

const char *tell_path(tell *t) {
    const hob_history *h = t->view->history;
    hob_buf_reset(&t->text);
    for (size_t i = 0; i < hob_history_count(h); i++) {
        bool user = hob_history_role(h, i) == HOB_ROLE_USER;
        hob_buf_addf(&t->text, "%s%llu:%s %.*s", i ? " " : "",
                     (unsigned long long)h->nodes[h->path[i]].seq, user ? "user" : "assistant",
                     HOB_FMT(hob_history_content(h, i)));
        for (size_t k = 0; k < hob_history_results(h, i); k++)
            hob_buf_addf(&t->text, " %s%.*s", hob_history_result_failed(h, i, k) ? "!" : ">",
                         HOB_FMT(hob_history_result_content(h, i, k)));
    }
    for (size_t i = 0; i < t->text.n; i++) {
        if (t->text.p[i] == '"') t->text.p[i] = '\'';
    }
    return hob_buf_z(&t->text);
}
