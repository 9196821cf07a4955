/* A wire that is written in parts and read back is the same wire: what follows is encoded the same, to the byte. */
#include "talk.h"

static const hob_encode_opts lab = {.provider = {"lab", 3}};

#define SAID(t) "[{\"type\":\"text\",\"text\":\"" t "\"}]"

/* An answer with two calls, every third of them under an id that was there before; some think first. */
static void one_turn(talk *t, unsigned n) {
    char message[24], content[400], call[32];
    snprintf(message, sizeof message, "m%llu", (unsigned long long)t->seq + 1);
    snprintf(
        content, sizeof content,
        "[%s{\"type\":\"tool_call\",\"call\":\"%s.0\",\"id\":\"c%u\",\"name\":\"read\",\"args\":"
        "{}},{\"type\":\"tool_call\",\"call\":\"%s.1\",\"id\":\"d%u\",\"name\":\"ls\",\"args\":{}}]",
        n % 2 ? "{\"type\":\"thinking\",\"text\":\"hm\",\"signature\":\"sig\"}," : "", message,
        n % 3 ? n : n / 3, message, n % 3 ? n : n - 1);
    talk_answer(t, "lab/m-1", message, content);
    for (unsigned k = 0; k < 2; k++) {
        snprintf(call, sizeof call, "%s.%u", message, k);
        talk_result(t, call, n % 5 ? "ok" : "error", SAID("a rather long result of a call"));
    }
    if (n % 4 == 0) talk_user(t, SAID("go on"));
}

/* What a store would keep. */
typedef struct kept {
    hob_arena *arena;
    hob_buf head;
    hob_str parts[64];
    size_t n;
} kept;

static void keep(kept *k, hob_wire *w) {
    const hob_str *more;
    hob_jsonw j;
    size_t n = hob_wire_parts(w, k->arena, &more);
    for (size_t i = 0; i < n; i++) k->parts[k->n++] = hob_arena_dup(k->arena, more[i]);
    hob_buf_reset(&k->head);
    hob_jsonw_init(&j, &k->head);
    hob_wire_write(w, &j);
}

static void kept_init(kept *k) {
    *k = (kept){.arena = hob_arena_create(0)};
    hob_buf_init(&k->head, 1u << 20);
}

static void kept_finish(kept *k) {
    hob_buf_finish(&k->head);
    hob_arena_destroy(k->arena);
}

static int read_back(const kept *k, hob_wire **out) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v;
    assert_int_equal(hob_json_parse(a, hob_buf_str(&k->head), NULL, &v, NULL), 0);
    int rc = hob_wire_read(v, k->parts, k->n, out);
    hob_arena_destroy(a);
    return rc;
}

static void assert_body(talk *t, hob_wire **wire, hob_encode_fn fn, const hob_buf *expected) {
    hob_model_request rq = talk_request(t);
    rq.wire = wire;
    rq.thinking = HOB_THINKING_LOW;
    hob_buf b = talk_body(&rq, &lab, fn);
    assert_true(hob_str_eq(hob_buf_str(&b), hob_buf_str(expected)));
    hob_buf_finish(&b);
}

/* Keeps the wire every few turns, goes on from what was kept, and compares with one that never stopped. */
static void assert_goes_on(hob_encode_fn fn) {
    talk t;
    kept k;
    talk_init(&t);
    kept_init(&k);
    talk_user(&t, SAID("start"));
    for (unsigned n = 1; n <= 40; n++) {
        hob_wire *again = NULL;
        hob_model_request rq = talk_request(&t);
        rq.thinking = HOB_THINKING_LOW;
        one_turn(&t, n);
        if (n % 3 == 0 && t.wire) keep(&k, t.wire);
        if (k.n) assert_int_equal(read_back(&k, &again), 0);
        size_t encoded = again ? again->text.n : 0;
        hob_buf b = talk_body(&rq, &lab, fn);
        assert_body(&t, &again, fn, &b);
        if (k.n) assert_true(encoded && again->encoded < b.n); /* it did go on */
        hob_buf_finish(&b);
        hob_wire_destroy(again);
    }
    kept_finish(&k);
    talk_finish(&t);
}

static void test_model_wire_keep__goes_on_where_it_was(void **state) {
    (void)state;
    assert_goes_on(hob_encode_anthropic);
    assert_goes_on(hob_encode_openai_chat);
}

/* ---- what is not what was written ------------------------------------------------------------------------ */

static void make(kept *k) {
    talk t;
    talk_init(&t);
    kept_init(k);
    talk_user(&t, SAID("start"));
    for (unsigned n = 1; n <= 600; n++) {
        one_turn(&t, n);
        if (n % 300) continue;
        hob_model_request rq = talk_request(&t);
        hob_buf b = talk_body(&rq, &lab, hob_encode_openai_chat);
        keep(k, t.wire);
        hob_buf_finish(&b);
    }
    assert_true(k->n > 4); /* a long text is in several pieces */
    talk_finish(&t);
}

static void assert_worthless(const kept *k) {
    hob_wire *w = NULL;
    assert_int_equal(read_back(k, &w), HOB_EPARSE);
    assert_null(w);
}

static void test_model_wire_keep__changed_parts_are_worthless(void **state) {
    (void)state;
    hob_wire *w;
    kept k;
    make(&k);
    assert_int_equal(read_back(&k, &w), 0);
    hob_wire_destroy(w);
    for (size_t i = 0; i < k.n; i++) {
        hob_str whole = k.parts[i];
        k.parts[i] = hob_str_first(whole, whole.n - 1);
        if (whole.n) assert_worthless(&k);
        k.parts[i] = whole;
        for (size_t at = 0; at < whole.n; at += 997) {
            ((char *)whole.p)[at] ^= 1;
            assert_worthless(&k);
            ((char *)whole.p)[at] ^= 1;
        }
    }
    kept_finish(&k);
}

static void test_model_wire_keep__missing_doubled_and_swapped_parts_are_worthless(void **state) {
    (void)state;
    kept k;
    make(&k);
    k.n--;
    assert_worthless(&k);
    k.n++;
    k.parts[k.n] = k.parts[k.n - 1];
    k.n++;
    assert_worthless(&k);
    k.n--;
    hob_str first = k.parts[0];
    k.parts[0] = k.parts[1];
    k.parts[1] = first;
    assert_worthless(&k);
    k.n = 0;
    assert_worthless(&k);
    kept_finish(&k);
}

static void test_model_wire_keep__wrong_members_are_worthless(void **state) {
    static const char *const wrong[] = {
        "{\"api\":\"other\"}", "{\"role\":7}",  "{\"text\":-1}", "{\"text\":99999999999}",
        "{\"ids\":1}",         "{\"parts\":1}", "{\"sum\":1}",   "[]",
    };
    (void)state;
    kept k;
    make(&k);
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        kept bad = k;
        hob_buf_init(&bad.head, 1u << 20);
        if (wrong[i][0] == '{') { /* of equal members the last one counts */
            hob_buf_add(&bad.head, hob_str_first(hob_buf_str(&k.head), k.head.n - 1));
            hob_buf_addf(&bad.head, ",%s", wrong[i] + 1);
        } else {
            hob_buf_addz(&bad.head, wrong[i]);
        }
        assert_worthless(&bad);
        hob_buf_finish(&bad.head);
    }
    kept_finish(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_wire_keep__goes_on_where_it_was),
        cmocka_unit_test(test_model_wire_keep__changed_parts_are_worthless),
        cmocka_unit_test(test_model_wire_keep__missing_doubled_and_swapped_parts_are_worthless),
        cmocka_unit_test(test_model_wire_keep__wrong_members_are_worthless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
