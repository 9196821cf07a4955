/*
 * A session opened from a snapshot is the session that folding its log gives: every member of its views, what it tells,
 * and the next request to the byte; whatever was done with it, and whatever happened to the snapshot.
 */
/* ctest: timeout=300 */
#include "log/keep.h"
#include "session/session.h"
#include "support/check.h"
#include "support/lab.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- everything there is to see of a session ------------------------------------------------------------- */

static void add_bytes(hob_buf *out, const void *p, size_t n) {
    for (size_t i = 0; i < n; i++) hob_buf_addf(out, "%02x", ((const unsigned char *)p)[i]);
    hob_buf_addc(out, '\n');
}

static void add_str(hob_buf *out, hob_str *s) {
    hob_buf_addf(out, "[%.*s]", HOB_FMT(*s));
    s->p = NULL;
}

/* What follows the end of a text in its array means nothing. */
#define CLEAN(text) memset((text) + strlen(text), 0, sizeof(text) - strlen(text))

/* All bytes of the struct but pointers: a member that is forgotten in a snapshot shows here. */
static void add_run(hob_buf *out, const hob_run *from) {
    hob_run r;
    memcpy(&r, from, sizeof r);
    hob_str *strs[] = {&r.session_id, &r.agent, &r.branch, &r.transfer};
    for (size_t i = 0; i < HOB_ARRAY_LEN(strs); i++) add_str(out, strs[i]);
    CLEAN(r.id);
    CLEAN(r.continues);
    CLEAN(r.last_status);
    CLEAN(r.message);
    CLEAN(r.model);
    CLEAN(r.end_reason);
    CLEAN(r.fail.message);
    CLEAN(r.next_prompt.item);
    r.arena = NULL;
    r.calls = NULL;
    add_bytes(out, &r, sizeof r);
}

static void add_view(hob_buf *out, const hob_view *from) {
    const hob_history *h = from->history;
    hob_view v;
    hob_jsonw w;
    memcpy(&v, from, sizeof v);
    hob_str *strs[] = {&v.id,           &v.cwd,           &v.model,           &v.thinking,
                       &v.title,        &v.system_prompt, &v.permission_mode, &v.forked_from,
                       &v.first_prompt, &v.app_name,      &v.user_id,         &v.parent,
                       &v.agent,        &v.limits};
    for (size_t i = 0; i < HOB_ARRAY_LEN(strs); i++) add_str(out, strs[i]);
    hob_jsonw_init(&w, out);
    hob_state_write(&v.state, HOB_SCOPE_SESSION | HOB_SCOPE_USER | HOB_SCOPE_APP | HOB_SCOPE_TEMP,
                    &w);
    v.arena = NULL;
    v.history = NULL;
    v.state.root = NULL;
    v.kids.at = NULL;
    v.kids.cap = 0;
    v.state_revision = 0; /* also counts how often it was opened */
    add_bytes(out, &v, sizeof v);
    hob_buf_addf(out, "%zu messages, leaf %llu, %zu bytes, generation %llu\n", hob_history_count(h),
                 (unsigned long long)hob_history_leaf(h), h->bytes,
                 (unsigned long long)h->generation);
}

static void add_page(hob_buf *out, int (*get)(hob_session *, hob_page **, hob_error *), lab *l) {
    hob_page *p;
    assert_ok(get(l->r.s, &p, &l->r.err), l->r.err);
    for (size_t i = 0; i < hob_page_count(p); i++) {
        hob_buf_add(out, hob_page_row(p, i));
        hob_buf_addc(out, '\n');
    }
    hob_page_destroy(p);
}

/* ---- the two ways ------------------------------------------------------------------------------------------ */

typedef struct seen {
    hob_buf text;
    bool cold;  /* it was opened from a snapshot */
    bool asked; /* and went on from it without the messages before */
} seen;

static void open_again(lab *l) {
    l->r.so.choice = HOB_SESSION_OPEN;
    l->r.so.id = l->r.id;
    l->r.so.model = NULL;
    host_open(&l->r);
}

static void ask(lab *l, seen *out) {
    lab_forget(l);
    hob_buf_addf(&out->text, "%s\n", host_prompt(&l->r, "next"));
    hob_buf_add(&out->text, lab_body(l));
    hob_buf_addc(&out->text, '\n');
}

static void look_first(lab *l, seen *out) {
    add_run(&out->text, &l->r.s->run);
    add_view(&out->text, l->r.s->view);
    hob_buf_addf(&out->text, "result %llu\n", (unsigned long long)l->r.s->result_seq);
    add_page(&out->text, hob_session_info, l);
    ask(l, out);
    out->asked = l->r.s->view->history->cold.count > 0;
}

static void look_at_all(lab *l, seen *out) {
    add_page(&out->text, hob_session_history, l);
    add_page(&out->text, hob_session_tree, l);
    ask(l, out);
}

static void look_with_another_model(lab *l, seen *out) {
    assert_ok(hob_session_set_model(l->r.s, "a/three", &l->r.err), l->r.err);
    ask(l, out);
}

static void look_from_elsewhere(lab *l, seen *out) {
    for (int i = 1; i < 20; i++) { /* to the first that is an entry */
        char entry[24];
        snprintf(entry, sizeof entry, "e%d", i);
        if (hob_session_move(l->r.s, entry, NULL) >= 0) break;
    }
    ask(l, out);
}

/* Opened anew for each way to go on. */
static void look_at(lab *l, const char *file, seen *out) {
    static void (*const ways[])(lab *, seen *) = {look_first, look_at_all, look_with_another_model,
                                                  look_from_elsewhere};
    hob_buf_init(&out->text, 256u << 20);
    for (size_t i = 0; i < HOB_ARRAY_LEN(ways); i++) {
        lab_restore(l, file);
        open_again(l);
        if (i == 0) out->cold = l->r.s->view->history->cold.count > 0;
        ways[i](l, out);
        host_close(&l->r);
    }
}

static void assert_same(const seen *a, const seen *b, unsigned seed) {
    size_t i = 0, n = HOB_MIN(a->text.n, b->text.n);
    while (i < n && a->text.p[i] == b->text.p[i]) i++;
    if (i == n && a->text.n == b->text.n) return;
    size_t from = i > 200 ? i - 200 : 0;
    fail_msg("seed %u: from byte %zu on\n%.*s\nand\n%.*s", seed, i,
             (int)HOB_MIN(a->text.n - from, (size_t)500), a->text.p + from,
             (int)HOB_MIN(b->text.n - from, (size_t)500), b->text.p + from);
}

/* With snapshots after every run, then some turns without. */
static void make_session(lab *l, unsigned seed) {
    lab_init(l, seed);
    setenv("HOB_TEST_SNAPSHOTS", "1", 1);
    host_open(&l->r);
    lab_play(l, 8 + (int)lab_roll(l, 16));
    l->r.so.model = NULL;
    if (lab_roll(l, 4) == 0) l->r.so.flags |= HOB_SESSION_FORK;
    host_reopen(&l->r, HOB_UNFINISHED_LEAVE);
    l->r.so.flags &= ~(unsigned)HOB_SESSION_FORK;
    lab_play(l, (int)lab_roll(l, 12));
    host_reopen(&l->r, HOB_UNFINISHED_LEAVE);
    hob_session_id(l->r.s, l->r.id, sizeof l->r.id);
    host_prompt(&l->r, "one more");
    host_close(&l->r);
    unsetenv("HOB_TEST_SNAPSHOTS");
    open_again(l);
    lab_play(l, (int)lab_roll(l, 5));
    host_close(&l->r);
    l->chance = 0;
    lab_save(l, "kept");
}

static void compare(unsigned seed, seen *snap) {
    seen fold = {.cold = false};
    lab l;
    make_session(&l, seed);
    look_at(&l, "kept", snap);
    lab_restore(&l, "kept");
    lab_sql(&l, "DELETE FROM snapshot");
    lab_save(&l, "bare");
    look_at(&l, "bare", &fold);
    assert_false(fold.cold);
    assert_same(snap, &fold, seed);
    hob_buf_finish(&snap->text);
    hob_buf_finish(&fold.text);
    lab_finish(&l);
}

enum { SEEDS = 10 };

static void test_session_snapshot__is_what_folding_gives(void **state) {
    int cold = 0, asked = 0;
    (void)state;
    int seeds = getenv("HOB_LONG") ? 400 : SEEDS;
    for (int i = 1; i <= seeds; i++) {
        seen s = {.cold = false};
        compare((unsigned)i, &s);
        cold += s.cold;
        asked += s.asked;
    }
    print_message("%d of %d were opened from a snapshot, %d went on from it\n", cold, seeds, asked);
    assert_true(cold > seeds / 2);
    assert_true(asked > seeds / 6);
}

/* ---- a snapshot that is of no use --------------------------------------------------------------------------- */

/* One session for all that follows: a few runs with calls, snapshots after each. */
static void make_plain(lab *l) {
    lab_init(l, 1);
    l->chance = 5;
    setenv("HOB_TEST_SNAPSHOTS", "1", 1);
    host_open(&l->r);
    hob_session_id(l->r.s, l->r.id, sizeof l->r.id);
    for (int i = 0; i < 6; i++) host_prompt(&l->r, "go on");
    l->chance = 0;
    host_prompt(&l->r, "last");
    host_close(&l->r);
    unsetenv("HOB_TEST_SNAPSHOTS");
    lab_save(l, "kept");
}

/* After each of these the log is folded, and all is as it was. */
static void test_session_snapshot__damage_of_any_field_costs_nothing_but_time(void **state) {
    static const char *const damages[] = {
        "DELETE FROM snapshot",
        "UPDATE snapshot SET seq = seq - 1",
        "UPDATE snapshot SET seq = seq + 1000",
        "UPDATE snapshot SET after = after - 1",
        "UPDATE snapshot SET after = 0",
        "UPDATE snapshot SET after = seq",
        "UPDATE snapshot SET head = x''",
        "UPDATE snapshot SET head = substr(head, 1, length(head) - 1)",
        "UPDATE snapshot SET head = replace(CAST(head AS TEXT), '\"messages\":', '\"messages\":1')",
        "UPDATE snapshot SET head = replace(CAST(head AS TEXT), '\"fold\":\"', '\"fold\":\"x')",
        "DELETE FROM snapshot_part",
        "DELETE FROM snapshot_part WHERE num = (SELECT max(num) FROM snapshot_part)",
        "DELETE FROM snapshot_part WHERE num = (SELECT min(num) FROM snapshot_part)",
        "INSERT INTO snapshot_part(session, body) SELECT session, body FROM snapshot_part",
        "UPDATE snapshot_part SET body = CAST(replace(CAST(body AS TEXT), 'go on', 'gone on') AS BLOB) WHERE instr(body, CAST('go on' AS BLOB))",
        "UPDATE snapshot_part SET session = 77",
        "UPDATE snapshot SET session = 77",
        "DROP TABLE snapshot_part",
    };
    seen good = {.cold = false};
    lab l;
    (void)state;
    make_plain(&l);
    look_at(&l, "kept", &good);
    assert_true(good.cold && good.asked);
    for (size_t i = 0; i < HOB_ARRAY_LEN(damages); i++) {
        seen s = {.cold = true};
        lab_restore(&l, "kept");
        lab_sql(&l, damages[i]);
        lab_save(&l, "bad");
        look_at(&l, "bad", &s);
        if (s.cold) fail_msg("not noticed: %s", damages[i]);
        assert_same(&s, &good, (unsigned)i);
        hob_buf_finish(&s.text);
    }
    hob_buf_finish(&good.text);
    lab_finish(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_snapshot__is_what_folding_gives),
        cmocka_unit_test(test_session_snapshot__damage_of_any_field_costs_nothing_but_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
