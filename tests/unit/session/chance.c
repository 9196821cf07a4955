/* Games of chance: several threads do anything at any time, and the log must still make sense. */
/* ctest: labels=snapshots */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

#include <stdio.h>

/* One answer in three asks for tools; some answers fail, some are cut off. */
static const char script[] =
    "{'rules':["
    "{'when':{'user':'tools','step':1},'reply':[{'text':'I will '},{'tool':'quick','args':{}},"
    "{'tool':'slow','args':{}},{'tool':'danger','args':{}}]},"
    "{'when':{'user':'reads','step':1},'reply':[{'tool':'slow','args':{}},{'tool':'slow','args':"
    "{'n':2}},{'tool':'quick','args':{}}]},"
    "{'when':{'user':'fail'},'reply':[{'text':'no'},{'error':{'code':'invalid'}}]},"
    "{'when':{'user':'retry','attempt':1},'reply':[{'text':'no'},{'error':{'code':'network',"
    "'retry_after_ms':1}}]},"
    "{'when':{'user':'long'},'reply':[{'repeat':{'times':60,'reply':[{'text':'word '}]}}]},"
    "{'when':{'user':'slowly'},'reply':[{'text':'one two three four','chunk':3,'delay_ms':2}]},"
    "{'when':{'user':'never'},'reply':[{'text':'one'},{'wait':true}]},"
    "{'reply':[{'text':'re {{user}}'}]}]}";

typedef struct game {
    host r;
    hob_tool tools[3];
    pthread_mutex_t lock;
    hob_reply *waiting[64]; /* of slow tools */
    size_t nwaiting;
    atomic_bool over;
    uint64_t read; /* the reader's last seq */
    int gaps;
} game;

typedef struct player {
    game *g;
    pthread_t thread;
    unsigned seed;
} player;

static unsigned roll(player *p, unsigned n) {
    p->seed = p->seed * 1103515245u + 12345u;
    return (p->seed >> 16) % n;
}

/* ---- tools --------------------------------------------------------------------------------------------- */

static void run_slow(const hob_tool_call *call, hob_reply *reply, void *user) {
    game *g = user;
    (void)call;
    pthread_mutex_lock(&g->lock);
    bool kept = g->nwaiting < HOB_ARRAY_LEN(g->waiting);
    if (kept) g->waiting[g->nwaiting++] = reply;
    pthread_mutex_unlock(&g->lock);
    if (!kept) hob_reply_text(reply, HOB_OUTCOME_ERROR, hob_str_z("too many"));
}

/* Answers one that waits, after some output; the call may be long gone. */
static bool answer_one(game *g) {
    hob_reply *reply = NULL;
    pthread_mutex_lock(&g->lock);
    if (g->nwaiting) reply = g->waiting[--g->nwaiting];
    pthread_mutex_unlock(&g->lock);
    if (!reply) return false;
    hob_reply_output(reply, hob_str_z("half-way"));
    hob_reply_text(reply, HOB_OUTCOME_OK, hob_str_z("slow result"));
    return true;
}

/* ---- players -------------------------------------------------------------------------------------------- */

static void look_at_it(game *g) {
    hob_page *p;
    if (hob_session_info(g->r.s, &p, NULL) >= 0) hob_page_destroy(p);
    if (hob_session_tree(g->r.s, &p, NULL) >= 0) hob_page_destroy(p);
    if (hob_session_entries(g->r.s, 3, &p, NULL) >= 0) hob_page_destroy(p);
    if (hob_session_pending_confirmations(g->r.s, &p, NULL) >= 0) hob_page_destroy(p);
}

static void confirm_all(player *p) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v;
    hob_page *page;
    if (hob_session_pending_confirmations(p->g->r.s, &page, NULL) >= 0) {
        for (size_t i = 0; i < hob_page_count(page); i++)
            if (hob_json_parse(a, hob_page_row(page, i), NULL, &v, NULL) >= 0)
                hob_session_confirm_tool_use(p->g->r.s, hob_json_get_str(v, "call"),
                                             roll(p, 2) ? HOB_VERDICT_ALLOW : HOB_VERDICT_DENY,
                                             HOB_STR("chance"), NULL);
        hob_page_destroy(page);
    }
    hob_arena_destroy(a);
}

static void play_once(player *p) {
    static const char *const words[] = {"tools",  "reads", "fail",  "retry", "long",
                                        "slowly", "never", "hello", "hello"};
    hob_session *s = p->g->r.s;
    hob_str text = hob_str_z(words[roll(p, HOB_ARRAY_LEN(words))]);
    switch (roll(p, 14)) {
    case 0:
    case 1:
    case 2: hob_session_prompt(s, text, NULL); break;
    case 3: hob_session_steer(s, text, NULL); break;
    case 4: hob_session_follow_up(s, text, NULL); break;
    case 5: hob_session_cancel(s, (hob_queue_choice)roll(p, 3), NULL); break;
    case 6: hob_session_cancel_and_settle(s, HOB_QUEUED_DROP, 5, NULL); break;
    case 7: hob_session_set_thinking(s, roll(p, 2) ? "low" : "high", NULL); break;
    case 8: hob_session_move(s, "e3", NULL); break;
    case 9: look_at_it(p->g); break;
    case 10: confirm_all(p); break;
    case 11: hob_session_wait(s, (int64_t)roll(p, 3), NULL, NULL); break;
    case 12: hob_session_set_title(s, text, NULL); break;
    case 13: hob_session_cancel_confirmations(s, NULL); break;
    }
    if (roll(p, 2)) answer_one(p->g);
}

enum { ROUNDS = 150 };

static void *play(void *arg) {
    player *p = arg;
    for (int i = 0; i < ROUNDS; i++) play_once(p);
    return NULL;
}

static void *read_along(void *arg) {
    game *g = arg;
    hob_event *e;
    while (!atomic_load(&g->over)) {
        if (hob_session_next_event(g->r.s, 5, &e) != 1) continue;
        if (hob_event_seq(e)) {
            g->gaps += hob_event_seq(e) != g->read + 1;
            g->read = hob_event_seq(e);
        }
        hob_event_unref(e);
    }
    return NULL;
}

/* ---- the log ---------------------------------------------------------------------------------------------- */

static int count(host *r, const char *word) {
    int n = 0;
    for (const char *p = r->log; (p = strstr(p, word)); p++) n++;
    return n;
}

/* Everything that began has one end. */
static void assert_sense(game *g) {
    host *r = &g->r;
    char word[80], call[40];
    host_log(r);
    assert_int_equal(host_count(r, "run_started"), host_count(r, "run_finished"));
    assert_int_equal(host_count(r, "approval_requested"), host_count(r, "approval_resolved"));
    for (const char *p = r->log; (p = strstr(p, "\ntool_started ")); p++) {
        if (sscanf(p, "\ntool_started %39s", call) != 1) continue;
        snprintf(word, sizeof word, "\ntool_finished %s ", call);
        assert_int_equal(count(r, word), 1);
    }
    assert_int_equal(g->gaps, 0);
}

static void game_init(game *g, const char *store) {
    memset(g, 0, sizeof *g);
    pthread_mutex_init(&g->lock, NULL);
    host_init(&g->r, script);
    g->tools[0] = host_tool("quick", HOB_TOOL_READ_ONLY, NULL);
    g->tools[1] = host_silent_tool("slow", HOB_TOOL_READ_ONLY);
    g->tools[1].schema = "{\"type\":\"object\"}";
    g->tools[1].run = run_slow;
    g->tools[1].user = g;
    g->tools[2] = host_tool("danger", HOB_TOOL_UNSAFE, NULL);
    g->r.so.tools = g->tools;
    g->r.so.ntools = 3;
    g->r.so.approver = HOB_APPROVER_HOST;
    g->r.ro.store = store;
    host_config(&g->r, "retry.cap_s", "0.01");
    host_open(&g->r);
}

static void game_play(game *g, unsigned seed) {
    player p[3];
    pthread_t reader;
    pthread_create(&reader, NULL, read_along, g);
    for (unsigned i = 0; i < 3; i++) {
        p[i] = (player){.g = g, .seed = seed * 7919 + i};
        pthread_create(&p[i].thread, NULL, play, &p[i]);
    }
    for (int i = 0; i < 3; i++) pthread_join(p[i].thread, NULL);
    atomic_store(&g->over, true);
    pthread_join(reader, NULL);
}

static void game_end(game *g) {
    assert_ok(hob_session_abort(g->r.s, &g->r.err), g->r.err);
    while (answer_one(g)) {
    }
    assert_int_equal(hob_session_is_running(g->r.s), 0);
    assert_sense(g);
    host_finish(&g->r);
    pthread_mutex_destroy(&g->lock);
}

static void test_session_chance__in_memory(void **state) {
    static game g;
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        game_init(&g, "memory");
        game_play(&g, seed);
        game_end(&g);
    }
}

static void test_session_chance__on_disk(void **state) {
    static game g;
    (void)state;
    for (unsigned seed = 5; seed <= 6; seed++) {
        game_init(&g, "sqlite");
        game_play(&g, seed);
        game_end(&g);
    }
}

/* The disk fills up and empties meanwhile: runs end, nothing that was told is lost, and it goes on. */
static void test_session_chance__on_a_disk_that_fills_up(void **state) {
    static game g;
    player p[2];
    pthread_t reader;
    (void)state;
    game_init(&g, "sqlite");
    pthread_create(&reader, NULL, read_along, &g);
    for (unsigned i = 0; i < 2; i++) {
        p[i] = (player){.g = &g, .seed = 77 + i};
        pthread_create(&p[i].thread, NULL, play, &p[i]);
    }
    player me = {.g = &g, .seed = 5};
    for (int i = 0; i < 40; i++) {
        host_disk_full(i % 2 == 0);
        for (int k = 0; k < 3; k++) play_once(&me);
    }
    host_disk_full(false);
    for (int i = 0; i < 2; i++) pthread_join(p[i].thread, NULL);
    atomic_store(&g.over, true);
    pthread_join(reader, NULL);
    while (hob_session_prompt(g.r.s, hob_str_z("hello"), &g.r.err) == HOB_EBUSY)
        hob_session_abort(g.r.s, NULL);
    host_wait(&g.r);
    game_end(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_chance__in_memory),
        cmocka_unit_test(test_session_chance__on_disk),
        cmocka_unit_test(test_session_chance__on_a_disk_that_fills_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
