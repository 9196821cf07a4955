#include "support/talk.h"

#include "support/check.h"

#include <stdio.h>

#define HOUR 3600000

static hob_str quoted(hob_buf *b, const char *z) {
    hob_buf_init(b, 64u << 20);
    hob_buf_addz(b, z);
    for (size_t i = 0; i < b->n; i++) {
        if (b->p[i] == '\'') b->p[i] = '"';
    }
    return hob_buf_str(b);
}

/* ---- life ----------------------------------------------------------------------------------- */

void talk_init(talk *t, const char *script) {
    hob_buf b;
    talk_init_raw(t, quoted(&b, script));
    hob_buf_finish(&b);
}

void talk_init_raw(talk *t, hob_str script) {
    hob_error err;
    memset(t, 0, sizeof(*t));
    hob_fake_clock_init(&t->clock, 1700000000000);
    assert_ok(hob_loop_create(&t->clock.base, &t->loop, &err), err);
    hob_provider_env env = {.loop = t->loop};
    assert_ok(hob_provider_scripted_create(&env, script, &t->provider, &err), err);
    t->history = hob_history_create();
    t->rq = (hob_model_request){.size = sizeof(t->rq), .attempt = 1, .max_output = 1000};
    t->rq.model = HOB_STR("test");
    t->rq.session = HOB_STR("s1");
    hob_buf_init(&t->said, 64u << 20);
}

void talk_finish(talk *t) {
    talk_cancel(t);
    hob_answer_destroy(t->answer);
    hob_history_destroy(t->history);
    t->provider->ops->destroy(t->provider);
    hob_loop_destroy(t->loop);
    hob_buf_finish(&t->said);
}

const char *talk_script_error(const char *script) {
    static char text[600];
    hob_provider_env env = {0};
    hob_provider *p = NULL;
    hob_error err;
    hob_buf b;
    int code = hob_provider_scripted_create(&env, quoted(&b, script), &p, &err);
    hob_buf_finish(&b);
    assert_true(code < 0);
    assert_null(p);
    assert_int_equal(code, err.code);
    snprintf(text, sizeof(text), "%s %s", hob_error_name(code), err.message);
    return text;
}

/* ---- the conversation so far ---------------------------------------------------------------- */

static void append(talk *t, hob_event_type type, bool message, hob_str data) {
    hob_error err;
    hob_event *e;
    hob_draft d;
    hob_draft_init(&d, type);
    d.is_entry = message;
    if (message) d.parent_entry = hob_str_z(t->entry);
    hob_buf_add(&d.data, data);
    assert_ok(hob_event_encode(&d, HOB_STR("s1"), ++t->seq, t->clock.wall, &e, &err), err);
    hob_draft_finish(&d);
    hob_arena *a = hob_arena_create(0);
    assert_ok(hob_history_apply(t->history, e, hob_event_parse(e, a), &err), err);
    hob_arena_destroy(a);
    hob_event_unref(e);
    if (message) snprintf(t->entry, sizeof(t->entry), "e%llu", (unsigned long long)t->seq);
}

void talk_user(talk *t, const char *text) {
    hob_buf b;
    hob_buf_init(&b, 64u << 20);
    hob_buf_addz(&b, "{\"content\":[{\"type\":\"text\",\"text\":");
    hob_json_quote(&b, hob_str_z(text));
    hob_buf_addz(&b, "}]}");
    append(t, HOB_EVENT_USER_MESSAGE, true, hob_buf_str(&b));
    hob_buf_finish(&b);
}

void talk_answer(talk *t, const char *content) {
    hob_buf b;
    talk_answer_raw(t, quoted(&b, content));
    hob_buf_finish(&b);
}

void talk_answer_raw(talk *t, hob_str json) {
    hob_buf data;
    hob_buf_init(&data, 64u << 20);
    hob_buf_addf(&data, "{\"message\":\"m%d\",\"model\":\"scripted/test\",\"content\":%.*s}",
                 ++t->answers, HOB_FMT(json));
    append(t, HOB_EVENT_ASSISTANT_MESSAGE, true, hob_buf_str(&data));
    hob_buf_finish(&data);
}

void talk_result(talk *t, int k, const char *outcome, const char *text) {
    hob_buf b;
    hob_buf_init(&b, 64u << 20);
    hob_buf_addf(&b, "{\"call\":\"m%d.%d\",\"outcome\":\"%s\",", t->answers, k, outcome);
    hob_buf_addz(&b, "\"content\":[{\"type\":\"text\",\"text\":");
    hob_json_quote(&b, hob_str_z(text));
    hob_buf_addz(&b, "}]}");
    append(t, HOB_EVENT_TOOL_FINISHED, false, hob_buf_str(&b));
    hob_buf_finish(&b);
}

/* ---- asking --------------------------------------------------------------------------------- */

static void on_progress(void *user) {
    talk *t = user;
    if ((size_t)t->grown < HOB_ARRAY_LEN(t->grown_at))
        t->grown_at[t->grown] = hob_loop_now(t->loop) - t->asked_at;
    t->grown++;
    if (t->cancel_when_grown) talk_cancel(t);
}

static void on_done(const hob_model_outcome *o, void *user) {
    talk *t = user;
    t->outcome = *o;
    t->call = NULL;
    t->ended++;
}

static int start(talk *t, hob_error *err) {
    static const hob_model_handler handler = {.progress = on_progress, .done = on_done};
    hob_answer_destroy(t->answer);
    t->answer = hob_answer_create();
    t->grown = t->ended = 0;
    t->asked_at = hob_loop_now(t->loop);
    t->rq.history = t->history;
    int code = t->provider->ops->start(t->provider, &t->rq, t->answer, &handler, t, &t->call, err);
    assert_int_equal(t->grown + t->ended, 0); /* nothing from inside start */
    return code;
}

void talk_start(talk *t) {
    hob_error err;
    assert_ok(start(t, &err), err);
}

int talk_try(talk *t) {
    hob_error err;
    int code = start(t, &err);
    if (code < 0) return code;
    talk_run(t);
    return t->outcome.code;
}

void talk_run(talk *t) {
    int64_t until = hob_loop_now(t->loop) + HOUR;
    while (t->call && hob_loop_now(t->loop) < until)
        hob_loop_run_once(t->loop, until - hob_loop_now(t->loop));
}

const char *talk_said(talk *t) {
    hob_buf_reset(&t->said);
    hob_answer_content(t->answer, HOB_STR("m"), HOB_STR("scripted"), t->outcome.code == HOB_OK,
                       &t->said);
    for (size_t i = 0; i < t->said.n; i++) {
        if (t->said.p[i] == '"') t->said.p[i] = '\'';
    }
    return hob_buf_z(&t->said);
}

const char *talk_ask(talk *t) {
    talk_start(t);
    talk_run(t);
    return talk_said(t);
}

void talk_cancel(talk *t) {
    if (t->call) t->provider->ops->cancel(t->call);
    t->call = NULL;
}
