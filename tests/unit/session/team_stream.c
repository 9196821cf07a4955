/* What one reader sees of several agents: each answer's deltas add up to it and say whose they are. */
#include "support/agents.h"
#include "support/check.h"

#include <stdio.h>

enum { AGENTS = 3, TEXT_MAX = 1 << 16 };

typedef struct message {
    char id[32], agent[32], text[TEXT_MAX];
    size_t n;
    bool open, ended;
} message;

typedef struct watch {
    message at[8];
    size_t n, both; /* deltas of one while another was open, too */
} watch;

static void field(hob_event *e, const char *name, char *out, size_t size) {
    if (hob_event_field(e, name, out, size) < 0) out[0] = 0;
}

static message *find(watch *w, hob_event *e) {
    char id[32], agent[32];
    field(e, "message", id, sizeof id);
    snprintf(agent, sizeof agent, "%.*s", HOB_FMT(hob_event_agent(e)));
    assert_true(!hob_event_branch(e).n == !strcmp(agent, "joiner"));
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->at[i].id, id)) {
            assert_string_equal(w->at[i].agent, agent);
            return &w->at[i];
        }
    assert_true(w->n < HOB_ARRAY_LEN(w->at));
    message *m = &w->at[w->n++];
    snprintf(m->id, sizeof m->id, "%s", id);
    snprintf(m->agent, sizeof m->agent, "%s", agent);
    return m;
}

static void see(watch *w, hob_event *e) {
    static _Thread_local char text[TEXT_MAX];
    hob_event_type type = hob_event_type_of(e);
    if (type == HOB_EVENT_MESSAGE_OPEN) find(w, e)->open = true;
    if (type == HOB_EVENT_TEXT_DELTA) {
        message *m = find(w, e);
        size_t others = 0;
        assert_true(m->open && !m->ended);
        field(e, "text", text, sizeof text);
        m->n += (size_t)snprintf(m->text + m->n, sizeof m->text - m->n, "%s", text);
        for (size_t i = 0; i < w->n; i++) others += w->at[i].open && !w->at[i].ended;
        w->both += others > 1;
    }
    if (type == HOB_EVENT_ASSISTANT_MESSAGE) {
        message *m = find(w, e);
        hob_event_text(e, text, sizeof text);
        assert_string_equal(m->text, text);
        m->ended = true;
    }
}

/* ADK-59 */
static void test_session_team_stream__case_59_deltas_of_several_agents_add_up(void **state) {
    static watch w;
    host h;
    hob_event *e;
    (void)state;
    w = (watch){.n = 0};
    host_init(&h, "{'defaults':{'chunk':8,'delay_ms':1},'otherwise':["
                  "{'repeat':{'times':60,'reply':[{'text':'{{repeat}} words '}]}}]}");
    team_open(&h, in_order("all",
                           side_by_side("par", worker("w1", "one", "a"), worker("w2", "two", "b"),
                                        worker("w3", "three", "c"), NULL),
                           worker("joiner", "four", NULL), NULL));
    assert_ok(hob_session_prompt(h.s, hob_str_z("go"), &h.err), h.err);
    while (hob_session_next_event(h.s, 60000, &e) == 1) {
        see(&w, e);
        hob_event_unref(e);
    }
    assert_int_equal(w.n, AGENTS + 1);
    for (size_t i = 0; i < w.n; i++) assert_true(w.at[i].ended);
    assert_true(w.both > 0);
    assert_int_equal(host_count(&h, "assistant_message"), AGENTS + 1); /* one stored answer each */
    assert_int_equal(host_count(&h, "state_changed"), AGENTS);         /* of the whole ones */
    team_finish(&h);
}

static void test_session_team_stream__a_late_reader_gets_the_same(void **state) {
    static watch w;
    host h;
    hob_event *e;
    (void)state;
    w = (watch){.n = 0};
    host_init(&h, "{'defaults':{'chunk':8},'otherwise':["
                  "{'repeat':{'times':60,'reply':[{'text':'{{repeat}} words '}]}}]}");
    team_open(&h, side_by_side("par", worker("w1", "one", "a"), worker("w2", "two", "b"), NULL));
    assert_string_equal(host_prompt(&h, "go"), "completed");
    while (hob_session_next_event(h.s, 60000, &e) == 1) {
        see(&w, e);
        hob_event_unref(e);
    }
    assert_int_equal(w.n, 2);
    assert_true(w.at[0].ended && w.at[1].ended);
    team_finish(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_stream__case_59_deltas_of_several_agents_add_up),
        cmocka_unit_test(test_session_team_stream__a_late_reader_gets_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
