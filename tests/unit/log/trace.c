/* Spans of a log. */
#include "log/trace.h"
#include "support/check.h"

#include <stdio.h>

typedef struct fold {
    hob_trace *t;
    hob_arena *arena;
    uint64_t seq;
    char out[16384]; /* ended spans: one line each */
} fold;

static void note(const hob_span *s, void *user) {
    fold *f = user;
    size_t at = strlen(f->out);
    snprintf(f->out + at, sizeof f->out - at, "%s %lld-%lld %s%s parent=%s\n", s->name,
             (long long)s->start, (long long)s->end, s->status ? s->status : "open",
             s->failed ? " failed" : "", s->parent[0] ? "yes" : "no");
}

static void fold_init(fold *f) {
    *f = (fold){.t = hob_trace_create(), .arena = hob_arena_create(0)};
}

static void fold_finish(fold *f) {
    hob_trace_destroy(f->t);
    hob_arena_destroy(f->arena);
}

/* An event at `ts` of run r1; ' stands for ". */
static void feed_on(fold *f, int64_t ts, hob_event_type type, const char *branch,
                    const char *data) {
    hob_draft d;
    hob_event *e;
    hob_error err;
    hob_draft_init(&d, type);
    d.run_id = HOB_STR("r1");
    d.branch = hob_str_z(branch);
    for (const char *p = data; *p; p++) hob_buf_addc(&d.data, *p == '\'' ? '"' : *p);
    assert_ok(hob_event_encode(&d, HOB_STR("s1"), ++f->seq, ts, &e, &err), err);
    hob_trace_apply(f->t, e, hob_event_parse(e, f->arena), note, f);
    hob_event_unref(e);
    hob_draft_finish(&d);
}

static void feed(fold *f, int64_t ts, hob_event_type type, const char *data) {
    feed_on(f, ts, type, "", data);
}

static void test_log_trace__a_run_with_its_calls(void **state) {
    fold f;
    (void)state;
    fold_init(&f);
    feed(&f, 100, HOB_EVENT_RUN_STARTED, "{'model':'lab/m','origin':'prompt'}");
    feed(&f, 100, HOB_EVENT_MODEL_CALL_STARTED, "{'model':'lab/m','attempt':1,'message':'m2'}");
    feed(&f, 150, HOB_EVENT_MODEL_CALL_FAILED, "{'message':'m2','code':'rate_limited'}");
    feed(&f, 160, HOB_EVENT_MODEL_CALL_STARTED, "{'model':'lab/m','attempt':2,'message':'m4'}");
    feed(&f, 200, HOB_EVENT_ASSISTANT_MESSAGE, "{'message':'m4','stop':'tools'}");
    feed(&f, 200, HOB_EVENT_APPROVAL_REQUESTED, "{'call':'m4.0','tool':'bash'}");
    feed(&f, 300, HOB_EVENT_APPROVAL_RESOLVED, "{'call':'m4.0','approved':true,'by':'host'}");
    feed(&f, 300, HOB_EVENT_TOOL_STARTED, "{'call':'m4.0','tool':'bash','class':'unsafe'}");
    feed(&f, 350, HOB_EVENT_TOOL_FINISHED,
         "{'call':'m4.0','tool':'bash','outcome':'error','exit_code':3}");
    feed(&f, 400, HOB_EVENT_RUN_FINISHED, "{'status':'completed'}");
    assert_string_equal(f.out, "chat m 100-150 rate_limited failed parent=yes\n"
                               "chat m 160-200 tools parent=yes\n"
                               "approval 200-300 approved parent=yes\n"
                               "execute_tool bash 300-350 error failed parent=yes\n"
                               "invoke_agent 100-400 completed parent=no\n");
    assert_true(hob_trace_idle(f.t));
    fold_finish(&f);
}

/* What a dead process left open ends with the run. */
static void test_log_trace__everything_ends_with_the_run(void **state) {
    fold f;
    (void)state;
    fold_init(&f);
    feed(&f, 1, HOB_EVENT_RUN_STARTED, "{'model':'lab/m'}");
    feed(&f, 2, HOB_EVENT_TOOL_STARTED, "{'call':'c','tool':'bash'}");
    feed(&f, 3, HOB_EVENT_CHILD_STARTED,
         "{'child':'k','agent':'scout','call':'c','background':true}");
    feed(&f, 9, HOB_EVENT_RUN_FINISHED, "{'status':'interrupted'}");
    assert_string_equal(f.out, "execute_tool bash 2-9 interrupted failed parent=yes\n"
                               "invoke_agent 1-9 interrupted failed parent=no\n");
    assert_false(hob_trace_idle(f.t)); /* it works on in the background */
    feed(&f, 12, HOB_EVENT_CHILD_FINISHED, "{'child':'k','agent':'scout','status':'completed'}");
    assert_true(hob_trace_idle(f.t));
    fold_finish(&f);
}

static void keep_parent(const hob_span *s, void *user) {
    char *out = user;
    if (s->kind == HOB_SPAN_MODEL) memcpy(out, s->parent, 17);
    if (s->kind == HOB_SPAN_AGENT && !strcmp(s->key, "b")) memcpy(out + 20, s->id, 17);
}

/* Agents side by side: what happens on a branch belongs to whoever works there. */
static void test_log_trace__calls_belong_to_their_agent(void **state) {
    fold f;
    char got[40] = {0};
    (void)state;
    fold_init(&f);
    feed(&f, 1, HOB_EVENT_RUN_STARTED, "{'model':'lab/m'}");
    feed_on(&f, 1, HOB_EVENT_AGENT_STARTED, "", "{'agent':'team','kind':'parallel'}");
    feed_on(&f, 1, HOB_EVENT_AGENT_STARTED, "team.b", "{'agent':'b','kind':'llm'}");
    feed_on(&f, 1, HOB_EVENT_AGENT_STARTED, "team.a", "{'agent':'a','kind':'llm'}");
    feed_on(&f, 2, HOB_EVENT_MODEL_CALL_STARTED, "team.b", "{'model':'lab/m','message':'m5'}");
    hob_trace_open(f.t, keep_parent, got);
    assert_string_equal(got, got + 20);
    feed_on(&f, 3, HOB_EVENT_AGENT_FINISHED, "team.b", "{'agent':'b','status':'completed'}");
    assert_string_equal(f.out, "invoke_agent b 1-3 completed parent=yes\n");
    fold_finish(&f);
}

static void copy_span(const hob_span *s, void *user) {
    char *out = user;
    if (s->kind == HOB_SPAN_RUN) snprintf(out, 80, "%s %s", s->trace, s->parent);
}

static void test_log_trace__of_the_caller(void **state) {
    static const char context[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    fold f;
    char got[80], data[160], next[56], trace[33], parent[17];
    (void)state;
    fold_init(&f);
    snprintf(data, sizeof data, "{'model':'m','traceparent':'%s'}", context);
    feed(&f, 1, HOB_EVENT_RUN_STARTED, data);
    hob_trace_open(f.t, copy_span, got);
    assert_string_equal(got, "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331");
    hob_traceparent_write(hob_str_z(context), HOB_STR("s1"), HOB_STR("r1"), 7, next);
    assert_true(hob_traceparent_read(hob_str_z(next), trace, parent));
    assert_string_equal(trace, "0af7651916cd43dd8448eb211c80319c");
    hob_span_name(got, HOB_STR("s1"), 7);
    assert_string_equal(parent, got);
    fold_finish(&f);
}

static void test_log_trace__what_is_no_context(void **state) {
    static const char *const bad[] = {
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
    char trace[33], parent[17];
    (void)state;
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++)
        assert_false(hob_traceparent_read(hob_str_z(bad[i]), trace, parent));
    assert_true(hob_traceparent_read(
        HOB_STR("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-later"), trace, parent));
}

static void write_otlp(const hob_span *s, void *user) {
    hob_jsonw w;
    hob_jsonw_init(&w, user);
    hob_span_write_otlp(s, &w);
}

static void test_log_trace__as_otlp(void **state) {
    fold f;
    hob_buf out;
    (void)state;
    fold_init(&f);
    hob_buf_init(&out, 65536);
    feed(&f, 1794742833974, HOB_EVENT_RUN_STARTED, "{'model':'gemini/pro','origin':'prompt'}");
    hob_trace_open(f.t, write_otlp, &out);
    assert_string_equal(
        hob_buf_z(&out),
        "{\"traceId\":\"1ba4551a540227a95c92daaa18f3cad3\",\"spanId\":\"86baa4d2a1fa23ba\",\"nam"
        "e\":\"invoke_agent\",\"kind\":1,\"startTimeUnixNano\":\"1794742833974000000\",\"endTimeU"
        "nixNano\":\"0000000\",\"attributes\":[{\"key\":\"gen_ai.conversation.id\",\"value\":{\"str"
        "ingValue\":\"s1\"}},{\"key\":\"gen_ai.operation.name\",\"value\":{\"stringValue\":\"invoke"
        "_agent\"}},{\"key\":\"gen_ai.agent.name\",\"value\":{\"stringValue\":\"hob\"}},{\"key\":\"ge"
        "n_ai.provider.name\",\"value\":{\"stringValue\":\"gcp.gemini\"}},{\"key\":\"gen_ai.reque"
        "st.model\",\"value\":{\"stringValue\":\"pro\"}},{\"key\":\"hob.run.id\",\"value\":{\"stringV"
        "alue\":\"r1\"}},{\"key\":\"hob.run.origin\",\"value\":{\"stringValue\":\"prompt\"}}],\"statu"
        "s\":{}}");
    hob_buf_finish(&out);
    fold_finish(&f);
}

/* A log that never ends anything costs no more than the ceiling. */
static void test_log_trace__is_bounded(void **state) {
    fold f;
    char data[64];
    size_t n = 0;
    (void)state;
    fold_init(&f);
    feed(&f, 1, HOB_EVENT_RUN_STARTED, "{'model':'m'}");
    for (int i = 0; i < 3000; i++) {
        snprintf(data, sizeof data, "{'call':'c%d','tool':'t'}", i);
        feed(&f, 1, HOB_EVENT_TOOL_STARTED, data);
    }
    feed(&f, 2, HOB_EVENT_RUN_FINISHED, "{'status':'failed'}");
    for (const char *p = f.out; (p = strchr(p, '\n')); p++) n++;
    assert_true(hob_trace_idle(f.t));
    assert_true(n > 100);
    fold_finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_trace__a_run_with_its_calls),
        cmocka_unit_test(test_log_trace__everything_ends_with_the_run),
        cmocka_unit_test(test_log_trace__calls_belong_to_their_agent),
        cmocka_unit_test(test_log_trace__of_the_caller),
        cmocka_unit_test(test_log_trace__what_is_no_context),
        cmocka_unit_test(test_log_trace__as_otlp),
        cmocka_unit_test(test_log_trace__is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
