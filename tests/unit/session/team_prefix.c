/* Requests of agents that work together only grow: what was sent stays the same to the byte, and is not made again. */
#include "model/wire.h"
#include "session/crew.h"
#include "session/session.h"
#include "support/agents.h"
#include "support/check.h"
#include "support/modeld.h"

#include <stdio.h>

typedef struct trial {
    host h;
    modeld *m;
} trial;

static void trial_init(trial *t, const char *api, const modeld_rule *rules) {
    host_init(&t->h, "{'otherwise':[]}");
    t->m = modeld_start(rules);
    modeld_use(t->m, &t->h, api);
    t->h.so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
}

static void trial_finish(trial *t) {
    team_finish(&t->h);
    modeld_stop(t->m);
}

static void in_both(void (*run)(const char *api)) {
    run("anthropic");
    run("openai-chat");
}

/* ---- the same to the byte ------------------------------------------------------------------------------------------ */

/* The messages of a request, without the marks that move and the brackets that close them. */
static char *messages(hob_str body) {
    static const char mark[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";
    hob_arena *a = hob_arena_create(0);
    const hob_json *v;
    hob_buf out;
    ptrdiff_t at;
    hob_buf_init(&out, 1u << 20);
    assert_true(hob_json_parse(a, body, NULL, &v, NULL) >= 0);
    hob_str rest = hob_json_raw(hob_json_get(v, "messages"));
    rest = hob_str_skip(rest, (size_t)HOB_MAX(hob_str_find(rest, HOB_STR("\"user\"")), 0));
    while ((at = hob_str_find(rest, hob_str_z(mark))) >= 0) {
        hob_buf_add(&out, hob_str_first(rest, (size_t)at));
        rest = hob_str_skip(rest, (size_t)at + strlen(mark));
    }
    hob_buf_add(&out, rest);
    while (out.n && strchr("]}", out.p[out.n - 1])) out.n--;
    char *text = hob_dupz(hob_buf_str(&out));
    hob_buf_finish(&out);
    hob_arena_destroy(a);
    return text;
}

static void check_grows(modeld *m, const char *who, size_t n) {
    char *before = messages(modeld_body(m, who, 0));
    for (size_t i = 1; i < n; i++) {
        char *now = messages(modeld_body(m, who, i));
        if (strncmp(before, now, strlen(before)) != 0)
            fail_msg("%s, request %zu: %s does not begin as %s", who, i, now, before);
        assert_true(strlen(now) > strlen(before));
        hob_free(before);
        before = now;
    }
    hob_free(before);
}

/* Three turns a run and several runs, restarts between them, a sibling that talks and calls meanwhile. */
static void stable(const char *api) {
    const modeld_rule rules[] = {{.when = "I am editor", .text = "fine"},
                                 {.when = "I look", .unless = "quick result", .tool = "look"},
                                 {.when = "I look", .text = "looked"},
                                 {.text = NULL}};
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    trial_init(&t, api, rules);
    t.h.ro.store = "sqlite";
    t.h.so.tools = &look;
    t.h.so.ntools = 1;
    team_open(&t.h, in_order("all",
                             side_by_side("par", worker("a", "I look as a", "x"),
                                          worker("b", "I look as b", "y"), NULL),
                             worker("editor", "I am editor of {x}", NULL), NULL));
    assert_string_equal(host_prompt(&t.h, "one"), "completed");
    assert_string_equal(host_prompt(&t.h, "two"), "completed");
    host_reopen(&t.h, HOB_UNFINISHED_RESUME);
    assert_string_equal(host_prompt(&t.h, "three"), "completed");
    check_grows(t.m, "I look as a", 4);
    check_grows(t.m, "I look as b", 4);
    check_grows(t.m, "I am editor", 3);
    trial_finish(&t);
}

static void test_session_team_prefix__what_was_sent_stays_the_same_to_the_byte(void **state) {
    (void)state;
    in_both(stable);
}

/* ---- what it costs ---------------------------------------------------------------------------------------------- */

enum { TURNS = 40, HEAD_MAX = 512 };

typedef struct measure {
    size_t encoded, text;
} measure;

static void start_measure(hob_op *op) {
    measure *m = op->user;
    const hob_wire *w = op->s->crew->members[0].strand->wire;
    *m = (measure){w->encoded, w->text.n};
    hob_op_done(op, HOB_OK, NULL);
}

typedef struct turns {
    int left;
    hob_reply *last; /* is answered when all is measured */
} turns;

static void note_turn(const hob_tool_call *call, hob_reply *reply, void *user) {
    turns *t = user;
    (void)call;
    if (--t->left == 0)
        t->last = reply;
    else
        hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("some words of a result"));
}

/* Forty turns: what was encoded in all of them is what the last request has, and a head for each. */
static void test_session_team_prefix__a_turn_costs_what_is_new(void **state) {
    const modeld_rule rules[] = {{.tool = "look", .args = "{'n':#}"}, {.text = NULL}};
    turns turn = {.left = TURNS};
    hob_tool look = host_tool("look", HOB_TOOL_READ_ONLY, NULL);
    trial t;
    measure m;
    (void)state;
    look.schema = "{\"type\":\"object\"}";
    look.run = note_turn;
    look.user = &turn;
    trial_init(&t, "openai-chat", rules);
    t.h.so.tools = &look;
    t.h.so.ntools = 1;
    team_open(&t.h, worker("a", "I am a", NULL));
    assert_ok(hob_session_prompt(t.h.s, hob_str_z("go"), &t.h.err), t.h.err);
    for (int i = 0; i < TURNS; i++)
        hob_event_unref(host_until(&t.h, HOB_EVENT_TOOL_STARTED, NULL, NULL));
    hob_op op = {.start = start_measure, .s = t.h.s, .user = &m};
    assert_ok(hob_op_run(t.h.rt, &op, &t.h.err), t.h.err);
    hob_reply_text(turn.last, HOB_OUTCOME_OK, hob_str_z("enough"));
    assert_true(m.text > 0 && m.encoded < m.text + TURNS * HEAD_MAX);
    trial_finish(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_team_prefix__what_was_sent_stays_the_same_to_the_byte),
        cmocka_unit_test(test_session_team_prefix__a_turn_costs_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
