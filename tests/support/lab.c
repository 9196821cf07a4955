#include "support/lab.h"

#include "support/check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static unsigned roll(unsigned *seed, unsigned n) {
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % n;
}

unsigned lab_roll(lab *l, unsigned n) {
    return roll(&l->seed, n);
}

/* ---- answers -------------------------------------------------------------------------------------------- */

typedef struct turn {
    bool thinks, cut, refused;
    unsigned words, calls,
        ids; /* ids: where those of the calls begin; small ones come again and again */
} turn;

static void anthropic_block(httpd_exchange *x, unsigned i, const char *start, const char *delta) {
    httpd_sendf(x,
                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%u,"
                "\"content_block\":%s}\n\n",
                i, start);
    httpd_sendf(
        x,
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%u,"
        "\"delta\":%s}\n\n"
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%u}\n\n",
        i, delta, i);
}

static void anthropic(httpd_exchange *x, const turn *r) {
    char start[200], delta[200];
    unsigned i = 0;
    httpd_sendf(x,
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"r\","
                "\"usage\":{\"input_tokens\":9}}}\n\n");
    if (r->thinks) {
        anthropic_block(x, i, "{\"type\":\"thinking\",\"thinking\":\"\"}",
                        "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}");
        httpd_sendf(x,
                    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"
                    "%u,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s%u\"}}\n\n",
                    i, r->ids);
        i++;
    }
    for (unsigned k = 0; k < r->words; k++, i++) {
        snprintf(delta, sizeof delta, "{\"type\":\"text_delta\",\"text\":\"w\xc3\xb6rd \\\"%u\"}",
                 k);
        anthropic_block(x, i, "{\"type\":\"text\",\"text\":\"\"}", delta);
    }
    for (unsigned k = 0; k < r->calls; k++, i++) {
        snprintf(start, sizeof start,
                 "{\"type\":\"tool_use\",\"id\":\"toolu_%u\",\"name\":\"look\",\"input\":{}}",
                 r->ids + k);
        snprintf(delta, sizeof delta,
                 "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"n\\\": %u}\"}",
                 r->ids + k);
        anthropic_block(x, i, start, delta);
    }
    httpd_sendf(
        x,
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
        "\"%s\"},\"usage\":{\"output_tokens\":5}}\n\n"
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        r->refused ? "refusal"
        : r->cut   ? "max_tokens"
        : r->calls ? "tool_use"
                   : "end_turn");
}

static void chat(httpd_exchange *x, const turn *r) {
    for (unsigned k = 0; k < r->words; k++)
        httpd_sendf(
            x,
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"w\xc3\xb6rd \\\"%u\"}}]}\n\n",
            k);
    for (unsigned k = 0; k < r->calls; k++)
        httpd_sendf(
            x,
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%u,\"id\":"
            "\"call_%u\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":"
            "\"{\\\"n\\\":%u}\"}}]}}]}\n\n",
            k, r->ids + k, r->ids + k);
    httpd_sendf(x,
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}]}\n\n"
                "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5}}\n\n"
                "data: [DONE]\n\n",
                r->refused ? "content_filter"
                : r->cut   ? "length"
                : r->calls ? "tool_calls"
                           : "stop");
}

/* 400 when it is to fail. */
static int choose(lab *l, turn *out) {
    *out = (turn){.words = 1};
    if (!l->chance) return 200;
    unsigned what = roll(&l->chance, 16);
    out->ids = roll(&l->chance, 3) ? roll(&l->chance, 1000000) : roll(&l->chance, 3);
    out->words = roll(&l->chance, 3);
    out->thinks = roll(&l->chance, 4) == 0;
    if (what < 7) out->calls = 1 + roll(&l->chance, 3);
    if (what == 7) out->cut = true;
    if (what == 8) out->refused = true;
    if (!out->calls && !out->words) out->words = 1;
    return what == 9 ? 400 : 200;
}

static void answer(httpd_exchange *x, void *user) {
    lab *l = user;
    turn r;
    pthread_mutex_lock(&l->lock);
    if (!l->body.n) hob_buf_add(&l->body, httpd_body(x));
    bool hang = l->hang;
    int status = choose(l, &r);
    pthread_mutex_unlock(&l->lock);
    if (hang) {
        httpd_hang(x);
    } else if (status != 200) {
        httpd_reply(x, status, NULL, HOB_STR("{\"error\":{\"message\":\"no luck\"}}"));
    } else {
        httpd_begin(x, 200, "Content-Type: text/event-stream\r\n");
        if (hob_str_ends(httpd_path(x), HOB_STR("/chat/completions")))
            chat(x, &r);
        else
            anthropic(x, &r);
        httpd_end(x);
    }
}

/* ---- life ------------------------------------------------------------------------------------------------ */

/* Some calls fail, some change the state of the session. */
static void look(const hob_tool_call *call, hob_reply *reply, void *user) {
    char delta[64];
    uint64_t n = hob_str_hash(call->args);
    (void)user;
    static const char *const scopes[] = {"", "", "user:", "app:", "temp:"};
    snprintf(delta, sizeof delta, "{\"%sk%d\":%d}", scopes[n / 5 % 5], (int)(n % 5),
             (int)(n % 1000));
    if (n % 3 == 0) hob_reply_state(reply, hob_str_z(delta), HOB_STR_NULL, NULL);
    hob_reply_text(reply, n % 7 ? HOB_OUTCOME_OK : HOB_OUTCOME_ERROR, HOB_STR("seen \"it\"\n"));
}

void lab_init(lab *l, unsigned seed) {
    char text[160];
    memset(l, 0, sizeof *l);
    l->seed = seed;
    l->chance = seed * 7919 + 1;
    pthread_mutex_init(&l->lock, NULL);
    hob_buf_init(&l->body, 64u << 20);
    l->d = httpd_start(answer, l);
    host_init(&l->r, "{'otherwise':[{'text':'played'}]}");
    snprintf(text, sizeof text, "{\"api\":\"anthropic\",\"base_url\":\"http://127.0.0.1:%d\"}",
             httpd_port(l->d));
    host_config(&l->r, "providers.a", text);
    snprintf(text, sizeof text, "{\"api\":\"openai-chat\",\"base_url\":\"http://127.0.0.1:%d/v1\"}",
             httpd_port(l->d));
    host_config(&l->r, "providers.c", text);
    l->tools[0] = (hob_tool)HOB_TOOL_INIT;
    l->tools[0].name = "look";
    l->tools[0].description = "looks";
    l->tools[0].class_ = HOB_TOOL_READ_ONLY;
    l->tools[0].run = look;
    l->r.so.tools = l->tools;
    l->r.so.ntools = 1;
    l->r.so.flags = HOB_SESSION_NO_BUILTIN_TOOLS;
    l->r.so.model = seed % 2 ? "a/one" : "c/one";
    l->r.ro.store = "sqlite";
}

void lab_finish(lab *l) {
    host_finish(&l->r);
    httpd_stop(l->d);
    hob_buf_finish(&l->body);
    pthread_mutex_destroy(&l->lock);
}

void lab_forget(lab *l) {
    pthread_mutex_lock(&l->lock);
    hob_buf_reset(&l->body);
    pthread_mutex_unlock(&l->lock);
}

hob_str lab_body(lab *l) {
    pthread_mutex_lock(&l->lock);
    hob_str body = hob_buf_str(&l->body);
    pthread_mutex_unlock(&l->lock);
    return body;
}

/* ---- play -------------------------------------------------------------------------------------------------- */

static void stop_in_the_middle(lab *l) {
    pthread_mutex_lock(&l->lock);
    l->hang = true;
    pthread_mutex_unlock(&l->lock);
    if (hob_session_prompt(l->r.s, HOB_STR("wait"), &l->r.err) < 0)
        fail_msg("%s", l->r.err.message);
    hob_event_unref(host_until(&l->r, HOB_EVENT_MODEL_CALL_STARTED, NULL, NULL));
    assert_ok(hob_session_abort(l->r.s, &l->r.err), l->r.err);
    pthread_mutex_lock(&l->lock);
    l->hang = false;
    pthread_mutex_unlock(&l->lock);
}

/* To one of the newest entries, mostly; sometimes to the beginning. */
static void move(lab *l) {
    hob_page *tree;
    char entry[64] = "";
    assert_ok(hob_session_tree(l->r.s, &tree, &l->r.err), l->r.err);
    size_t n = hob_page_count(tree), back = 1 + lab_roll(l, 6);
    if (n >= back) hob_json_field(hob_page_row(tree, n - back), "entry", entry, sizeof entry);
    hob_page_destroy(tree);
    assert_ok(hob_session_move(l->r.s, lab_roll(l, 8) ? entry : "", &l->r.err), l->r.err);
}

static void play_once(lab *l) {
    static const char *const models[] = {"a/one", "a/two", "c/one", "c/two"};
    char text[40];
    snprintf(text, sizeof text, "say \"%u\"", lab_roll(l, 1000));
    switch (lab_roll(l, 20)) {
    case 0: hob_session_set_model(l->r.s, models[lab_roll(l, 4)], &l->r.err); break;
    case 1: hob_session_set_model(l->r.s, l->r.model, &l->r.err); break;
    case 2: move(l); break;
    case 3: hob_session_set_title(l->r.s, hob_str_z(text), &l->r.err); break;
    case 4: stop_in_the_middle(l); break;
    case 5: hob_session_set_thinking(l->r.s, lab_roll(l, 2) ? "low" : "off", &l->r.err); break;
    default: host_prompt(&l->r, text); break;
    }
}

void lab_play(lab *l, int actions) {
    while (actions-- > 0) play_once(l);
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

static sqlite3 *open_file(lab *l) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(hob_test_path(&l->r.folder, "hob.db"), &db), SQLITE_OK);
    return db;
}

void lab_sql(lab *l, const char *sql) {
    sqlite3 *db = open_file(l);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

int lab_count(lab *l, const char *sql) {
    sqlite3 *db = open_file(l);
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int n = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

static void copy_file(lab *l, const char *from, const char *to) {
    char a[400];
    hob_buf text;
    snprintf(a, sizeof a, "%s", hob_test_path(&l->r.folder, from));
    FILE *in = fopen(a, "rb"), *out = fopen(hob_test_path(&l->r.folder, to), "wb");
    assert_non_null(in);
    assert_non_null(out);
    hob_buf_init(&text, 1u << 30);
    for (size_t n = 1; n;) {
        char *p = hob_buf_reserve(&text, 65536);
        n = fread(p, 1, 65536, in);
        text.n += n;
    }
    assert_int_equal(fwrite(text.p, 1, text.n, out), text.n);
    hob_buf_finish(&text);
    fclose(in);
    fclose(out);
}

void lab_save(lab *l, const char *name) {
    lab_sql(l, "PRAGMA wal_checkpoint(TRUNCATE)");
    copy_file(l, "hob.db", name);
}

void lab_restore(lab *l, const char *name) {
    lab_sql(l, "PRAGMA wal_checkpoint(TRUNCATE)");
    unlink(hob_test_path(&l->r.folder, "hob.db-wal"));
    unlink(hob_test_path(&l->r.folder, "hob.db-shm"));
    copy_file(l, name, "hob.db");
}
