/*
 * shared_tools.h - a shared session told in few words: JSON with single quotes, a history as one line.
 */
#ifndef HOB_TESTS_SHARED_TOOLS_H
#define HOB_TESTS_SHARED_TOOLS_H

#include <hob/shared.h>

#include "support/check.h"

#include "base/base.h"

#include <stdio.h>

enum { TALK_TEXTS = 16 };

typedef struct talk {
    hob_shared *s;
    hob_error err;
    char texts[TALK_TEXTS][2048];
    unsigned next;
    char line[16384];
} talk;

/* ' -> " in a buffer that lives for some calls. */
static inline hob_str quoted(talk *t, const char *text) {
    char *to = t->texts[t->next++ % TALK_TEXTS];
    if (!text) return HOB_STR_NULL;
    assert_true(strlen(text) < sizeof t->texts[0]);
    size_t n = 0;
    for (; text[n]; n++) to[n] = text[n] == '\'' ? '"' : text[n];
    to[n] = 0;
    return hob_str_n(to, n);
}

static inline void talk_init(talk *t, const char *state) {
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    memset(t, 0, sizeof *t);
    o.id = hob_str_z("s-1");
    o.app_name = hob_str_z("app");
    o.user_id = hob_str_z("ann");
    o.state = quoted(t, state);
    assert_ok(hob_shared_create(&o, &t->s, &t->err), t->err);
}

static inline void talk_finish(talk *t) {
    hob_shared_unref(t->s);
}

/* "author" or "author@branch". */
static inline hob_shared_event event_of(talk *t, const char *who, const char *content) {
    hob_shared_event e = HOB_SHARED_EVENT_INIT;
    hob_str rest = hob_str_z(who);
    hob_str_split(&rest, '@', &e.author);
    e.branch = rest;
    e.content = quoted(t, content);
    return e;
}

static inline int append(talk *t, const hob_shared_event *e) {
    return hob_shared_append_event(t->s, e, NULL, &t->err);
}

static inline void must_append(talk *t, const hob_shared_event *e) {
    assert_ok(append(t, e), t->err);
}

static inline void say(talk *t, const char *who, const char *text) {
    char content[1024];
    snprintf(content, sizeof content, "[{'type':'text','text':'%s'}]", text);
    hob_shared_event e = event_of(t, who, content);
    must_append(t, &e);
}

static inline void call(talk *t, const char *who, const char *name) {
    char content[1024];
    snprintf(content, sizeof content,
             "[{'type':'tool_call','call':'%s','name':'look','args':{'n':1}}]", name);
    hob_shared_event e = event_of(t, who, content);
    must_append(t, &e);
}

static inline void result(talk *t, const char *who, const char *name, const char *text) {
    char content[1024];
    snprintf(content, sizeof content,
             "[{'type':'tool_result','call':'%s','content':[{'type':'text','text':'%s'}]}]", name,
             text);
    hob_shared_event e = event_of(t, who, content);
    must_append(t, &e);
}

static inline void sum_up(talk *t, uint64_t start, uint64_t end, const char *text) {
    char content[1024];
    hob_shared_event e = event_of(t, "root", NULL);
    snprintf(content, sizeof content, "[{'type':'text','text':'%s'}]", text);
    e.compaction.start = start;
    e.compaction.end = end;
    e.compaction.content = quoted(t, content);
    must_append(t, &e);
}

/* The state as one JSON-like line with single quotes; "-" for an absent key. */
static inline const char *value_of(talk *t, const char *key) {
    if (hob_shared_state_get(t->s, hob_str_z(key), t->line, sizeof t->line) < 0) return "-";
    return t->line;
}

static inline int add_pair(hob_str key, hob_str value, void *user) {
    return hob_buf_addf(user, "%.*s=%.*s ", HOB_FMT(key), HOB_FMT(value)) < 0;
}

static inline const char *state_line(talk *t, unsigned scopes) {
    hob_buf b;
    hob_buf_init(&b, sizeof t->line - 1);
    hob_shared_state_iterate(t->s, scopes, add_pair, &b);
    snprintf(t->line, sizeof t->line, "%.*s", HOB_FMT(hob_buf_str(&b)));
    hob_buf_finish(&b);
    return t->line;
}

/* "user u1 | model [...]": a single text block as its text, anything else as JSON with single quotes. */
static inline void add_content(hob_buf *b, const hob_shared_content *c) {
    static const char *const roles[] = {"user", "model", "tool"};
    static const char head[] = "[{\"type\":\"text\",\"text\":\"";
    hob_str s = c->content;
    hob_buf_addf(b, "%s%s ", b->n ? " | " : "", roles[c->role]);
    size_t at = b->n;
    if (hob_str_starts(s, HOB_STR("[{\"type\":\"text\",\"text\":\"")) &&
        hob_str_find(hob_str_skip(s, 1), HOB_STR("{")) == 0 &&
        hob_str_find(hob_str_skip(s, sizeof head - 1), HOB_STR("{")) < 0)
        s = hob_str_n(s.p + sizeof head - 1, s.n - (sizeof head - 1) - 3);
    hob_buf_add(b, s);
    for (; at < b->n; at++)
        if (b->p[at] == '"') b->p[at] = '\'';
}

static inline const char *history_line(talk *t, const hob_shared_history_opts *o) {
    hob_shared_history *h;
    hob_buf b;
    hob_buf_init(&b, sizeof t->line - 1);
    assert_ok(hob_shared_conversation_history_scoped(t->s, o, &h, &t->err), t->err);
    for (size_t i = 0; i < hob_shared_history_count(h); i++)
        add_content(&b, hob_shared_history_at(h, i));
    snprintf(t->line, sizeof t->line, "%.*s", HOB_FMT(hob_buf_str(&b)));
    hob_buf_finish(&b);
    hob_shared_history_destroy(h);
    return t->line;
}

/* agent and branch may be NULL. */
static inline const char *history(talk *t, const char *agent, const char *branch) {
    hob_shared_history_opts o = HOB_SHARED_HISTORY_OPTS_INIT;
    o.agent = hob_str_z(agent);
    o.branch = hob_str_z(branch);
    return history_line(t, &o);
}

static inline const char *narration(talk *t, const char *agent) {
    hob_shared_history_opts o = HOB_SHARED_HISTORY_OPTS_INIT;
    o.agent = hob_str_z(agent);
    o.policy = HOB_SHARED_NARRATE;
    return history_line(t, &o);
}

/* What would be stored; with single quotes. */
static inline const char *exported(talk *t) {
    hob_shared_snapshot *p;
    hob_shared_events_snapshot(t->s, &p);
    int n = hob_shared_export(p, t->line, sizeof t->line);
    assert_in_range(n, 1, sizeof t->line - 1);
    hob_shared_snapshot_unref(p);
    for (char *c = t->line; *c; c++)
        if (*c == '"') *c = '\'';
    return t->line;
}

/* Through the stored form and back. */
static inline void reload(talk *t) {
    static char text[16384];
    hob_shared_opts o = HOB_SHARED_OPTS_INIT;
    hob_shared_snapshot *p;
    hob_shared_events_snapshot(t->s, &p);
    int n = hob_shared_export(p, text, sizeof text);
    assert_in_range(n, 1, sizeof text - 1);
    hob_shared_snapshot_unref(p);
    hob_shared_unref(t->s);
    o.exported = hob_str_z(text);
    assert_ok(hob_shared_create(&o, &t->s, &t->err), t->err);
}

#endif
