#include "observe.h"

#include "support/check.h"

#include <stdio.h>

static const char *case_name, *case_on;

const char *on_store(void) {
    return case_on ? case_on : "memory";
}

void observe_case(const char *name, const char *on) {
    case_name = name;
    case_on = on;
}

/* ---- observations ------------------------------------------------------------------------------------------ */

void see_json(const char *what, hob_str json) {
    hob_buf line;
    hob_buf_init(&line, 1u << 20);
    hob_buf_addf(&line, "{\"case\":\"%s\",\"what\":", case_name);
    hob_json_quote(&line, hob_str_z(what));
    hob_buf_addz(&line, ",\"seen\":");
    hob_buf_add(&line, json);
    if (case_on) hob_buf_addf(&line, ",\"on\":\"%s\"", case_on);
    printf("%s}\n", hob_buf_z(&line));
    hob_buf_finish(&line);
}

void see_text(const char *what, const char *text) {
    hob_buf json;
    hob_buf_init(&json, 1u << 20);
    hob_json_quote(&json, hob_str_z(text));
    see_json(what, hob_buf_str(&json));
    hob_buf_finish(&json);
}

void see_int(const char *what, int64_t n) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    see_json(what, hob_str_z(text));
}

void see_bool(const char *what, bool yes) {
    see_json(what, hob_str_z(yes ? "true" : "false"));
}

void see_refused(const char *what, int code) {
    see_text(what, code < 0 ? "refused" : "accepted");
}

void see_lines(const char *what, const char *text) {
    hob_buf json;
    hob_buf_init(&json, 1u << 20);
    hob_buf_addc(&json, '[');
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        if (line != text) hob_buf_addc(&json, ',');
        hob_json_quote(&json, (hob_str){line, (size_t)(end - line)});
    }
    hob_buf_addc(&json, ']');
    see_json(what, hob_buf_str(&json));
    hob_buf_finish(&json);
}

static int add_pair(hob_str key, hob_str value, void *user) {
    hob_buf *json = user;
    if (hob_buf_str(json).n > 1) hob_buf_addc(json, ',');
    hob_json_quote(json, key);
    hob_buf_addc(json, ':');
    hob_buf_add(json, value);
    return 0;
}

void see_state(const char *what, hob_session *s) {
    hob_buf json;
    hob_buf_init(&json, 1u << 20);
    hob_buf_addc(&json, '{');
    hob_session_state_iterate(s, HOB_SCOPE_ALL, add_pair, &json);
    hob_buf_addc(&json, '}');
    see_json(what, hob_buf_str(&json));
    hob_buf_finish(&json);
}

/* ---- looking ------------------------------------------------------------------------------------------------ */

enum { TEXT_MAX = 65536 };

static void add_text(hob_buf *out, const hob_json *value) {
    if (hob_json_is(value, HOB_JSON_STRING)) hob_buf_add(out, hob_json_str(value));
    for (const hob_json *b = hob_json_first(value); b; b = hob_json_next(b))
        hob_buf_add(out, hob_json_get_str(b, "text"));
}

static void add_event(hob_buf *out, hob_str row, const char *type, const char *field) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *e;
    hob_buf text;
    hob_buf_init(&text, TEXT_MAX);
    assert_true(hob_json_parse(a, row, NULL, &e, NULL) >= 0);
    if (hob_str_eqz(hob_json_get_str(e, "type"), type))
        add_text(&text, hob_json_get(hob_json_get(e, "data"), field));
    if (hob_buf_str(&text).n) {
        if (!strcmp(type, "assistant_message"))
            hob_buf_addf(out, "%.*s: ", HOB_FMT(hob_json_get_str(e, "agent")));
        hob_buf_add(out, hob_buf_str(&text));
        hob_buf_addc(out, '\n');
    }
    hob_buf_finish(&text);
    hob_arena_destroy(a);
}

const char *fields_of(host *h, const char *type, const char *field) {
    static char text[TEXT_MAX];
    hob_page *p;
    hob_buf out;
    hob_buf_init(&out, TEXT_MAX);
    assert_ok(hob_session_entries(h->s, 0, &p, &h->err), h->err);
    for (size_t i = 0; i < hob_page_count(p); i++) add_event(&out, hob_page_row(p, i), type, field);
    hob_page_destroy(p);
    snprintf(text, sizeof text, "%s", hob_buf_z(&out));
    hob_buf_finish(&out);
    return text;
}

const char *said(host *h) {
    return fields_of(h, "assistant_message", "content");
}

const char *only(const char *lines, const char *words, bool at_start) {
    static char text[TEXT_MAX];
    size_t n = 0;
    for (const char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        size_t len = (size_t)(end + 1 - line);
        const char *at = memmem(line, len, words, strlen(words));
        if (!at || (at_start && at != line)) continue;
        memcpy(text + n, line, len);
        n += len;
    }
    text[n] = 0;
    return text;
}

/* ---- trials --------------------------------------------------------------------------------------------------- */

void trial_init(trial *t, const modeld_rule *rules) {
    host_init(&t->h, "{'otherwise':[]}");
    t->m = modeld_start(rules);
    modeld_use(t->m, &t->h, "anthropic");
    t->h.so.flags = HOB_SESSION_NO_BUILTIN_TOOLS | HOB_SESSION_NO_MEMORY;
    t->h.so.permission_mode = "yolo";
}

hob_agent *am(const char *name) {
    char instruction[80];
    snprintf(instruction, sizeof instruction, "I am %s", name);
    return worker(name, instruction, NULL);
}

void trial_open(trial *t, hob_agent *team) {
    team_open(&t->h, team ? team : am("a"));
}

void trial_finish(trial *t) {
    team_finish(&t->h);
    modeld_stop(t->m);
}
