#include "support/modeld.h"

#include "support/check.h"

#include <stdio.h>

enum { REQUESTS_MAX = 256 };

struct modeld {
    httpd *server;
    const modeld_rule *rules;
    pthread_mutex_t lock;
    char *bodies[REQUESTS_MAX];
    size_t n;
};

/* ---- answering ------------------------------------------------------------------------------------------ */

static bool has(hob_str body, const char *words) {
    return hob_str_find(body, hob_str_z(words)) >= 0;
}

static const modeld_rule *rule_for(const modeld *m, hob_str body) {
    const modeld_rule *r = m->rules;
    while (r->text || r->tool) {
        if ((!r->when || has(body, r->when)) && (!r->unless || !has(body, r->unless))) break;
        r++;
    }
    return r;
}

static void keep(modeld *m, hob_str body) {
    pthread_mutex_lock(&m->lock);
    if (m->n < REQUESTS_MAX) m->bodies[m->n++] = hob_dupz(body);
    pthread_mutex_unlock(&m->lock);
}

static void put_event(hob_buf *out, const char *json, hob_str filling) {
    hob_buf text;
    hob_buf_init(&text, 1u << 20);
    hob_json_quote(&text, filling);
    hob_buf_addz(out, "data: ");
    for (const char *p = json; *p; p++) {
        if (*p == '#')
            hob_buf_add(out, hob_buf_str(&text));
        else
            hob_buf_addc(out, *p == '\'' ? '"' : *p);
    }
    hob_buf_addz(out, "\n\n");
    hob_buf_finish(&text);
}

static void answer_anthropic(const modeld_rule *r, hob_str args, hob_buf *out) {
    put_event(out, "{'type':'message_start','message':{'id':'m','usage':{'input_tokens':9}}}",
              HOB_STR_NULL);
    if (r->tool) {
        put_event(out,
                  "{'type':'content_block_start','index':0,'content_block':{'type':'tool_use',"
                  "'id':'toolu_1','name':#,'input':{}}}",
                  hob_str_z(r->tool));
        put_event(out,
                  "{'type':'content_block_delta','index':0,'delta':{'type':'input_json_delta',"
                  "'partial_json':#}}",
                  args);
    } else {
        put_event(out,
                  "{'type':'content_block_start','index':0,'content_block':{'type':'text',"
                  "'text':''}}",
                  HOB_STR_NULL);
        put_event(out,
                  "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':#}}",
                  hob_str_z(r->text));
    }
    put_event(out, "{'type':'content_block_stop','index':0}", HOB_STR_NULL);
    put_event(out, "{'type':'message_delta','delta':{'stop_reason':#},'usage':{'output_tokens':5}}",
              hob_str_z(r->tool ? "tool_use" : "end_turn"));
    put_event(out, "{'type':'message_stop'}", HOB_STR_NULL);
}

static void answer_chat(const modeld_rule *r, hob_str args, hob_buf *out) {
    hob_buf delta;
    hob_buf_init(&delta, 1u << 20);
    if (r->tool) {
        hob_buf_addf(&delta,
                     "{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'call_1',"
                     "'type':'function','function':{'name':'%s','arguments':#}}]}}]}",
                     r->tool);
        put_event(out, hob_buf_z(&delta), args);
    } else {
        put_event(out, "{'choices':[{'index':0,'delta':{'content':#}}]}", hob_str_z(r->text));
    }
    put_event(out, "{'choices':[{'index':0,'delta':{},'finish_reason':#}]}",
              hob_str_z(r->tool ? "tool_calls" : "stop"));
    put_event(out, "{'choices':[],'usage':{'prompt_tokens':9,'completion_tokens':5}}",
              HOB_STR_NULL);
    hob_buf_addz(out, "data: [DONE]\n\n");
    hob_buf_finish(&delta);
}

static void answer(httpd_exchange *x, void *user) {
    modeld *m = user;
    const modeld_rule *r = rule_for(m, httpd_body(x));
    bool chat = hob_str_ends(httpd_path(x), HOB_STR("/chat/completions"));
    hob_buf out, args;
    keep(m, httpd_body(x));
    if (!r->text && !r->tool) {
        httpd_reply(x, 400, NULL, HOB_STR("{\"error\":{\"message\":\"no rule fits\"}}"));
        return;
    }
    hob_buf_init(&out, 1u << 20);
    hob_buf_init(&args, 1u << 20);
    for (const char *p = r->args ? r->args : "{}"; *p; p++)
        if (*p == '#')
            hob_buf_addf(&args, "%u", httpd_number(x));
        else
            hob_buf_addc(&args, *p == '\'' ? '"' : *p);
    (chat ? answer_chat : answer_anthropic)(r, hob_buf_str(&args), &out);
    httpd_begin(x, 200, "Content-Type: text/event-stream\r\n");
    httpd_send(x, hob_buf_str(&out));
    httpd_end(x);
    hob_buf_finish(&out);
    hob_buf_finish(&args);
}

/* ---- life ------------------------------------------------------------------------------------------------- */

modeld *modeld_start(const modeld_rule *rules) {
    modeld *m = HOB_NEW(modeld);
    m->rules = rules;
    pthread_mutex_init(&m->lock, NULL);
    m->server = httpd_start(answer, m);
    return m;
}

void modeld_stop(modeld *m) {
    httpd_stop(m->server);
    for (size_t i = 0; i < m->n; i++) hob_free(m->bodies[i]);
    pthread_mutex_destroy(&m->lock);
    hob_free(m);
}

void modeld_use(modeld *m, host *h, const char *api) {
    char text[200];
    snprintf(text, sizeof text, "{\"api\":\"%s\",\"base_url\":\"http://127.0.0.1:%d/v1\"}", api,
             httpd_port(m->server));
    host_config(h, "providers.lab", text);
    h->so.model = "lab/any-name";
}

/* ---- looking ---------------------------------------------------------------------------------------------- */

size_t modeld_count(modeld *m) {
    pthread_mutex_lock(&m->lock);
    size_t n = m->n;
    pthread_mutex_unlock(&m->lock);
    return n;
}

hob_str modeld_body(modeld *m, const char *words, size_t nth) {
    size_t n = modeld_count(m);
    for (size_t i = 0; i < n; i++)
        if (has(hob_str_z(m->bodies[i]), words) && nth-- == 0) return hob_str_z(m->bodies[i]);
    fail_msg("%s was not asked that often", words);
    return HOB_STR_NULL;
}

static void put_line(hob_buf *out, const char *what, hob_str text) {
    hob_buf_addz(out, what);
    hob_buf_add(out, text);
    hob_buf_addc(out, '\n');
}

/* Chat messages have their blocks in one text, with a blank line between. */
static void put_text(hob_buf *out, const char *who, hob_str text) {
    ptrdiff_t at;
    while ((at = hob_str_find(text, HOB_STR("\n\n"))) >= 0) {
        put_line(out, who, hob_str_first(text, (size_t)at));
        text = hob_str_skip(text, (size_t)at + 2);
    }
    put_line(out, who, text);
}

static hob_str text_of(const hob_json *content) {
    if (hob_json_is(content, HOB_JSON_STRING)) return hob_json_str(content);
    return hob_json_get_str(hob_json_first(content), "text");
}

static void put_block(hob_buf *out, const char *who, const hob_json *b) {
    hob_str type = hob_json_get_str(b, "type");
    if (hob_str_eqz(type, "text")) put_line(out, who, hob_json_get_str(b, "text"));
    if (hob_str_eqz(type, "tool_result"))
        put_line(out, "result ", text_of(hob_json_get(b, "content")));
    if (!hob_str_eqz(type, "tool_use")) return;
    hob_buf_addf(out, "call %.*s ", HOB_FMT(hob_json_get_str(b, "name")));
    put_line(out, "", hob_json_raw(hob_json_get(b, "input")));
}

static void put_calls(hob_buf *out, const hob_json *calls) {
    for (const hob_json *c = hob_json_first(calls); c; c = hob_json_next(c)) {
        const hob_json *f = hob_json_get(c, "function");
        hob_buf_addf(out, "call %.*s ", HOB_FMT(hob_json_get_str(f, "name")));
        put_line(out, "", hob_json_get_str(f, "arguments"));
    }
}

static void put_message(hob_buf *out, const hob_json *m) {
    hob_str role = hob_json_get_str(m, "role");
    const hob_json *content = hob_json_get(m, "content");
    const char *who = hob_str_eqz(role, "user") ? "user: " : "model: ";
    if (hob_str_eqz(role, "system")) return;
    if (hob_str_eqz(role, "tool")) {
        put_line(out, "result ", text_of(content));
        return;
    }
    if (hob_json_is(content, HOB_JSON_STRING)) put_text(out, who, hob_json_str(content));
    for (const hob_json *b = hob_json_first(content); b; b = hob_json_next(b))
        put_block(out, who, b);
    put_calls(out, hob_json_get(m, "tool_calls"));
}

const char *modeld_talk(modeld *m, const char *words, size_t nth) {
    static _Thread_local char text[65536];
    hob_arena *a = hob_arena_create(0);
    const hob_json *body;
    hob_buf out;
    hob_buf_init(&out, sizeof text);
    assert_true(hob_json_parse(a, modeld_body(m, words, nth), NULL, &body, NULL) >= 0);
    for (const hob_json *one = hob_json_first(hob_json_get(body, "messages")); one;
         one = hob_json_next(one))
        put_message(&out, one);
    snprintf(text, sizeof text, "%.*s", HOB_FMT(hob_buf_str(&out)));
    hob_buf_finish(&out);
    hob_arena_destroy(a);
    return text;
}
