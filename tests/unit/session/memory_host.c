/* Memory that the host keeps: two functions that answer now, later, from another thread, wrongly or never. */
#include "session/session.h"
#include "support/check.h"
#include "support/host.h"

#include <hob/ext/memory.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char script[] =
    "{'rules':["
    "{'when':{'user':{'prefix':'keep '},'step':1},'reply':[{'tool':'remember','args':{'text':'{{rest}}'}}]},"
    "{'when':{'user':{'prefix':'find '},'step':1},'reply':[{'tool':'recall','args':{'query':'{{rest}}'}}]},"
    "{'reply':[{'text':'{{result}}'}]}]}";

typedef enum way { NOW, LATER, FAIL, NEVER } way;

/* A memory for tests: an array, searched for the query as it stands. */
typedef struct keeper {
    hob_memory_ops ops;
    pthread_mutex_t lock;
    char ids[32][64], texts[32][200], users[32][32];
    size_t n;
    way how;
    int finds, changes;
    hob_memory_reply *waiting; /* NEVER: the last one */
    pthread_t threads[256];    /* LATER */
    size_t nthreads;
} keeper;

static host h;
static keeper k;

static void answer_find(hob_memory_reply *r, const char *user, const char *query, const char *same,
                        const char *id) {
    hob_store_memory found[32];
    hob_store_tenant numbers = {0};
    size_t n = 0;
    for (size_t i = 0; i < k.n; i++) {
        if (strcmp(k.users[i], user)) continue;
        numbers.items++;
        bool fits = *id     ? !strcmp(id, k.ids[i])
                    : *same ? !strcmp(same, k.texts[i])
                            : strstr(k.texts[i], query) != NULL;
        if (!fits) continue;
        found[n] = (hob_store_memory){.importance = 0.5, .score = 1};
        found[n].id = hob_str_z(k.ids[i]);
        found[n++].text = hob_str_z(k.texts[i]);
    }
    if (*id && !n)
        hob_memory_failed(r, HOB_ENOENT, "there is no such memory");
    else
        hob_memory_found(r, found, n, &numbers, hob_str_z(""));
}

static void apply(const hob_store_memory_change *c) {
    size_t i = 0;
    while (i < k.n && !hob_str_eqz(c->item.id, k.ids[i])) i++;
    if (c->op == HOB_STORE_CLEAR) k.n = 0;
    if (c->op == HOB_STORE_FORGET && i < k.n) k.users[i][0] = 0;
    if (c->op != HOB_STORE_REMEMBER) return;
    snprintf(k.ids[i], sizeof k.ids[i], "%.*s", HOB_FMT(c->item.id));
    snprintf(k.texts[i], sizeof k.texts[i], "%.*s", HOB_FMT(c->item.text));
    snprintf(k.users[i], sizeof k.users[i], "%.*s", HOB_FMT(c->user));
    if (i == k.n) k.n++;
}

/* An answer from a thread of its own. */
typedef struct later {
    hob_memory_reply *r;
    char user[64], query[200], same[200], id[64];
    bool change;
} later;

static void *answer_later(void *arg) {
    later *l = arg;
    usleep(1000);
    pthread_mutex_lock(&k.lock);
    if (l->change)
        hob_memory_done(l->r);
    else
        answer_find(l->r, l->user, l->query, l->same, l->id);
    pthread_mutex_unlock(&k.lock);
    free(l);
    return NULL;
}

static void start_later(const later *given) {
    later *l = malloc(sizeof *l);
    *l = *given;
    assert_true(k.nthreads < HOB_ARRAY_LEN(k.threads));
    pthread_create(&k.threads[k.nthreads++], NULL, answer_later, l);
}

static void put(char *to, size_t cap, hob_str s) {
    snprintf(to, cap, "%.*s", HOB_FMT(s));
}

static void find(const hob_store_memory_query *q, hob_memory_reply *r, void *user) {
    later l = {.r = r};
    assert_ptr_equal(user, &k);
    put(l.user, sizeof l.user, q->user);
    put(l.query, sizeof l.query, q->query);
    put(l.same, sizeof l.same, q->same);
    put(l.id, sizeof l.id, q->id);
    pthread_mutex_lock(&k.lock);
    k.finds++;
    if (k.how == NOW) answer_find(r, l.user, l.query, l.same, l.id);
    if (k.how == FAIL) hob_memory_failed(r, HOB_ENET, "the memory server is away");
    if (k.how == NEVER) k.waiting = r;
    if (k.how == LATER) start_later(&l);
    pthread_mutex_unlock(&k.lock);
}

static void change(const hob_store_memory_change *c, hob_memory_reply *r, void *user) {
    (void)user;
    pthread_mutex_lock(&k.lock);
    k.changes++;
    if (k.how != FAIL) apply(c);
    if (k.how == NOW) hob_memory_done(r);
    if (k.how == FAIL) hob_memory_failed(r, HOB_ENET, "the memory server is away");
    if (k.how == NEVER) k.waiting = r;
    if (k.how == LATER) start_later(&(later){.r = r, .change = true});
    pthread_mutex_unlock(&k.lock);
}

static int set_up(void **state) {
    (void)state;
    k = (keeper){.ops = {sizeof(hob_memory_ops), "array", find, change, &k}};
    pthread_mutex_init(&k.lock, NULL);
    host_init(&h, script);
    h.so.permission_mode = "yolo";
    h.ro.memory = &k.ops;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    host_finish(&h);
    for (size_t i = 0; i < k.nthreads; i++) pthread_join(k.threads[i], NULL);
    pthread_mutex_destroy(&k.lock);
    return 0;
}

static const char *result(const char *prompt) {
    assert_string_equal(host_prompt(&h, prompt), "completed");
    return host_text(&h);
}

static void test_session_memory_host__tools_use_it(void **state) {
    (void)state;
    for (k.how = NOW; k.how <= LATER; k.how++) {
        h.so.choice = HOB_SESSION_NEW;
        host_open(&h);
        assert_non_null(strstr(result("keep tea"), "remembered as m-"));
        assert_non_null(strstr(result("find te"), "\"text\":\"tea\""));
        assert_int_equal(k.n, 1); /* the second time it is renewed */
        hob_session_close(h.s);
        h.s = NULL;
    }
}

static void test_session_memory_host__calls_use_it(void **state) {
    (void)state;
    char id[HOB_MEMORY_ID_SIZE];
    hob_page *p = NULL;
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    k.how = LATER;
    host_open(&h);
    hob_memory *m = hob_session_memory(h.s);
    item.text = hob_str_z("tea");
    assert_int_equal(hob_memory_remember(m, &item, id, &h.err), 1);
    assert_ok(hob_memory_get(m, id, &p, &h.err), h.err);
    hob_page_destroy(p);
    assert_ok(hob_memory_forget(m, id, &h.err), h.err);
    assert_int_equal(hob_memory_get(m, id, &p, &h.err), HOB_ENOENT);
    assert_ok(hob_memory_clear(m, &h.err), h.err);
}

static void test_session_memory_host__its_error_is_a_result(void **state) {
    (void)state;
    host_open(&h);
    k.how = FAIL;
    assert_non_null(strstr(result("find tea"), "the memory server is away"));
    assert_non_null(strstr(result("keep tea"), "the memory server is away"));
    hob_memory_item item = HOB_MEMORY_ITEM_INIT;
    item.text = hob_str_z("tea");
    assert_int_equal(hob_memory_remember(hob_session_memory(h.s), &item, NULL, &h.err), HOB_ENET);
    assert_string_equal(h.err.message, "the memory server is away");
}

static void test_session_memory_host__unusable_at_opening_is_a_warning(void **state) {
    (void)state;
    char text[200];
    k.how = FAIL;
    host_open(&h);
    assert_null(hob_session_memory(h.s));
    assert_true(hob_session_init_warning(h.s, text, sizeof text) > 0);
    assert_string_equal(text, "this session has no memory: the memory server is away");
    assert_string_equal(host_prompt(&h, "hello"), "completed");
    assert_int_equal(host_count(&h, "warning"), 1);
}

/* A call that waits for it is cancelled; the answer after everything is gone does no harm. */
static void test_session_memory_host__an_answer_after_the_end_is_safe(void **state) {
    (void)state;
    host_open(&h);
    k.how = NEVER;
    assert_ok(hob_session_prompt(h.s, hob_str_z("find tea"), &h.err), h.err);
    hob_event_unref(host_until(&h, HOB_EVENT_TOOL_STARTED, NULL, NULL));
    assert_ok(hob_session_cancel_and_settle(h.s, HOB_QUEUED_RETURN, 20000, &h.err), h.err);
    assert_non_null(strstr(host_log(&h), "cancelled"));
    host_close(&h);
    assert_non_null(k.waiting);
    hob_memory_found(k.waiting, NULL, 0, NULL, hob_str_z(""));
}

static void test_session_memory_host__closing_while_it_works_is_clean(void **state) {
    (void)state;
    k.how = LATER;
    for (int i = 0; i < 20; i++) {
        h.so.choice = HOB_SESSION_NEW;
        host_open(&h);
        assert_ok(hob_session_prompt(h.s, hob_str_z(i % 2 ? "keep tea" : "find tea"), &h.err),
                  h.err);
        hob_session_detach(h.s);
        h.s = NULL;
        if (i % 5 == 4) host_close(&h);
    }
}

static void test_session_memory_host__it_must_have_both_functions(void **state) {
    (void)state;
    k.ops.change = NULL;
    assert_int_equal(hob_runtime_create(&h.ro, &h.rt, &h.err), HOB_EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(test_session_memory_host__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(tools_use_it),
        T(calls_use_it),
        T(its_error_is_a_result),
        T(unusable_at_opening_is_a_warning),
        T(an_answer_after_the_end_is_safe),
        T(closing_while_it_works_is_clean),
        T(it_must_have_both_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
