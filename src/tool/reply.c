/*
 * reply.c - one answer, from any thread, delivered on the loop.
 *
 * Three parties hold a reply: the tool until it answers, the receiver until it is told or drops it,
 * and a message on its way between them. The last one frees it.
 *
 * The loop may be gone when a dropped tool answers at last. So `dropped` is set under the lock, and
 * nothing is posted afterwards; what was posted before is run by the loop, at the latest when it ends.
 *
 * Output on the way is for people who watch. It is gathered and handed on a few times a second, whole
 * characters at a time; of more than they could read only the newest part is kept.
 */
#include "tool/tool.h"

#include <pthread.h>
#include <stdatomic.h>

#define OUTPUT_EVERY_MS 50
#define MAX_PENDING (16 * 1024)
#define MAX_TEXT (1024 * 1024)         /* of an answer in words; beyond it head and tail are kept */
#define MAX_CONTENT (32 * 1024 * 1024) /* of an answer in blocks, as JSON */

struct hob_reply {
    hob_loop *loop;
    hob_reply_handler handler;
    void *user;
    atomic_int refs;
    hob_arena *kept; /* the call's own data; NULL = none */
    hob_state state; /* what the call may read */
    hob_actions actions;

    pthread_mutex_t lock; /* guards the next four */
    bool dropped;
    bool output_posted; /* a delivery is on its way, or its timer runs */
    hob_buf pending;
    size_t left_out; /* bytes of output that were dropped since the last delivery */

    hob_tool_result result; /* content is ours */
    hob_msg output_msg, done_msg;

    hob_timer timer; /* the rest is the loop's alone */
    int64_t last_output;
};

static void unref(hob_reply *r) {
    if (atomic_fetch_sub(&r->refs, 1) > 1) return;
    hob_buf_finish(&r->pending);
    hob_free((char *)r->result.content.p);
    hob_arena_destroy(r->kept);
    hob_state_finish(&r->state);
    hob_actions_finish(&r->actions);
    pthread_mutex_destroy(&r->lock);
    hob_free(r);
}

/* ---- output, on the loop ------------------------------------------------------------------- */

/* The rest of a character whose beginning was left out. */
static void drop_broken_start(hob_reply *r) {
    while (r->pending.n > 0 && ((unsigned char)r->pending.p[0] & 0xC0) == 0x80) {
        hob_buf_consume(&r->pending, 1);
        r->left_out++;
    }
}

/* Takes what can be shown; a character cut off by the end stays, unless this is the end. */
static void take_output(hob_reply *r, hob_buf *out, bool last) {
    pthread_mutex_lock(&r->lock);
    r->output_posted = false;
    if (r->left_out) drop_broken_start(r);
    if (r->left_out) hob_buf_addf(out, "[… %zu bytes left out …]\n", r->left_out);
    r->left_out = 0;
    hob_str all = hob_buf_str(&r->pending);
    size_t n = last ? all.n : hob_utf8_complete(all);
    hob_utf8_repair(out, hob_str_first(all, n));
    hob_buf_consume(&r->pending, n);
    pthread_mutex_unlock(&r->lock);
}

static void deliver_output(hob_reply *r, bool last) {
    hob_buf out;
    hob_buf_init(&out, 4 * MAX_PENDING);
    take_output(r, &out, last);
    r->last_output = hob_loop_now(r->loop);
    if (out.n > 0 && r->handler.output) r->handler.output(r->user, hob_buf_str(&out));
    hob_buf_finish(&out);
}

static bool is_dropped(hob_reply *r) {
    pthread_mutex_lock(&r->lock);
    bool dropped = r->dropped;
    pthread_mutex_unlock(&r->lock);
    return dropped;
}

static void on_timer(hob_timer *t) {
    hob_reply *r = HOB_CONTAINER(t, hob_reply, timer);
    deliver_output(r, false); /* the timer has no reference: whoever ends the reply stops it */
}

static void on_output_msg(hob_msg *m) {
    hob_reply *r = HOB_CONTAINER(m, hob_reply, output_msg);
    int64_t next = r->last_output + OUTPUT_EVERY_MS;
    if (is_dropped(r)) {
        unref(r);
        return;
    }
    if (hob_loop_now(r->loop) < next)
        hob_timer_start(&r->timer, next);
    else
        deliver_output(r, false); /* may drop the reply */
    unref(r);
}

/* ---- the answer, on the loop --------------------------------------------------------------- */

static void on_done_msg(hob_msg *m) {
    hob_reply *r = HOB_CONTAINER(m, hob_reply, done_msg);
    if (!is_dropped(r)) {
        hob_timer_stop(&r->timer);
        deliver_output(r, true);
    }
    if (!is_dropped(r)) {
        r->handler.done(r->user, &r->result);
        unref(r); /* the receiver's */
    }
    unref(r);
}

hob_reply *hob_reply_create(hob_loop *l, const hob_reply_handler *h, void *user) {
    hob_reply *r = HOB_NEW(hob_reply);
    r->loop = l;
    r->handler = *h;
    r->user = user;
    atomic_init(&r->refs, 2);
    pthread_mutex_init(&r->lock, NULL);
    hob_actions_init(&r->actions);
    hob_buf_init(&r->pending, MAX_PENDING);
    r->output_msg.fn = on_output_msg;
    r->done_msg.fn = on_done_msg;
    r->last_output = hob_loop_now(l) - OUTPUT_EVERY_MS;
    hob_timer_init(&r->timer, l, on_timer);
    return r;
}

void hob_reply_keep(hob_reply *r, hob_arena *a) {
    r->kept = a;
}

const hob_state *hob_reply_keep_state(hob_reply *r, const hob_state *s) {
    hob_state_copy(&r->state, s);
    return &r->state;
}

hob_actions *hob_reply_actions(hob_reply *r) {
    return &r->actions;
}

void hob_reply_mute(hob_reply *r) {
    hob_timer_stop(&r->timer);
    pthread_mutex_lock(&r->lock);
    r->dropped = true;
    pthread_mutex_unlock(&r->lock);
}

void hob_reply_drop(hob_reply *r) {
    if (!r) return;
    hob_reply_mute(r);
    unref(r);
}

/* ---- from any thread ----------------------------------------------------------------------- */

/* Posts, unless the receiver went away; the message holds a reference. */
static void post(hob_reply *r, hob_msg *m) {
    if (r->dropped) return;
    atomic_fetch_add(&r->refs, 1);
    hob_loop_post(r->loop, m);
}

/* Makes room for n more bytes: the oldest go. */
static void make_room(hob_reply *r, size_t n) {
    if (r->pending.n + n <= MAX_PENDING) return;
    size_t excess = r->pending.n + n - MAX_PENDING;
    hob_buf_consume(&r->pending, excess);
    r->left_out += excess;
}

void hob_reply_output(hob_reply *r, hob_str chunk) {
    if (chunk.n == 0) return;
    pthread_mutex_lock(&r->lock);
    if (chunk.n > MAX_PENDING) {
        r->left_out += chunk.n - MAX_PENDING;
        chunk = hob_str_skip(chunk, chunk.n - MAX_PENDING);
    }
    make_room(r, chunk.n);
    hob_buf_add(&r->pending, chunk);
    if (!r->output_posted) {
        r->output_posted = true;
        post(r, &r->output_msg);
    }
    pthread_mutex_unlock(&r->lock);
}

/* Takes the content of `b`. */
static void answer(hob_reply *r, const hob_tool_result *result, hob_buf *b) {
    r->result = *result;
    r->result.actions = hob_actions_any(&r->actions) ? &r->actions : NULL;
    r->result.content = hob_str_n(hob_dupz(hob_buf_str(b)), b->n);
    hob_buf_finish(b);
    pthread_mutex_lock(&r->lock);
    post(r, &r->done_msg);
    pthread_mutex_unlock(&r->lock);
    unref(r);
}

static void write_text(hob_buf *out, hob_str text) {
    hob_jsonw w;
    hob_buf_init(out, MAX_CONTENT);
    hob_jsonw_init(&w, out);
    hob_jsonw_array(&w);
    if (text.n > 0) {
        hob_jsonw_object(&w);
        hob_jsonw_kstr(&w, "type", HOB_STR("text"));
        hob_jsonw_kstr(&w, "text", text);
        hob_jsonw_object_end(&w);
    }
    hob_jsonw_array_end(&w);
}

void hob_reply_words(hob_reply *r, const hob_tool_result *result, hob_str text) {
    hob_tool_result whole = *result;
    hob_buf json;
    write_text(&json, text);
    if (json.err) {
        hob_buf_finish(&json);
        write_text(&json, HOB_STR("[… the answer is larger than 32 MiB and left out …]"));
        whole.truncated = true;
    }
    answer(r, &whole, &json);
}

void hob_reply_text(hob_reply *r, hob_outcome outcome, hob_str text) {
    hob_tool_result result = {.outcome = outcome, .exit_code = -1};
    if (text.n <= MAX_TEXT) {
        hob_reply_words(r, &result, text);
        return;
    }
    hob_buf shown;
    hob_capture c;
    hob_capture_init(&c, MAX_TEXT / 2, MAX_TEXT / 2);
    hob_capture_add(&c, text);
    hob_buf_init(&shown, 4 * MAX_TEXT);
    hob_capture_write(&c, &shown);
    hob_capture_finish(&c);
    result.truncated = true;
    hob_reply_words(r, &result, hob_buf_str(&shown));
    hob_buf_finish(&shown);
}

void hob_reply_pass(hob_reply *r) {
    hob_tool_result result = {.outcome = HOB_OUTCOME_OK, .exit_code = -1, .passed = true};
    hob_reply_words(r, &result, HOB_STR_NULL);
}

void hob_reply_file(hob_reply *r, hob_str text) {
    hob_tool_result result = {.outcome = HOB_OUTCOME_OK, .exit_code = -1};
    hob_reply_words(r, &result, text);
}

void hob_reply_command(hob_reply *r, const hob_command_end *end) {
    hob_tool_result result = {
        .outcome = HOB_OUTCOME_OK, .exit_code = end->exit_code, .truncated = end->truncated != 0};
    hob_reply_words(r, &result, end->output);
}

static bool is_block(const hob_json *b) {
    hob_str type = hob_json_get_str(b, "type");
    if (hob_str_eqz(type, "text")) return hob_json_is(hob_json_get(b, "text"), HOB_JSON_STRING);
    return hob_str_eqz(type, "image") && hob_json_get_str(b, "media_type").n > 0 &&
           hob_json_get_str(b, "data").n > 0;
}

static bool are_blocks(hob_str json) {
    static const hob_json_opts opts = {.max_depth = 64}; /* inside an event it is deeper */
    hob_arena *arena = hob_arena_create(4 * MAX_CONTENT);
    const hob_json *v = NULL;
    bool good = json.n <= MAX_CONTENT && hob_json_parse(arena, json, &opts, &v, NULL) == HOB_OK &&
                hob_json_is(v, HOB_JSON_ARRAY);
    for (const hob_json *b = good ? hob_json_first(v) : NULL; b && good; b = hob_json_next(b))
        good = is_block(b);
    hob_arena_destroy(arena);
    return good;
}

void hob_reply_result(hob_reply *r, const hob_tool_result *result) {
    if (!are_blocks(result->content)) {
        hob_tool_result wrong = {.outcome = HOB_OUTCOME_ERROR, .exit_code = result->exit_code};
        hob_reply_words(
            r, &wrong,
            HOB_STR("the tool's answer is not a JSON array of text and image blocks of at "
                    "most 32 MiB; it ran, but its result is lost"));
        return;
    }
    hob_buf copy;
    hob_buf_init(&copy, MAX_CONTENT);
    hob_buf_add(&copy, result->content);
    answer(r, result, &copy);
}

void hob_reply_content(hob_reply *r, hob_outcome outcome, hob_str content_json) {
    hob_tool_result result = {.outcome = outcome, .content = content_json, .exit_code = -1};
    hob_reply_result(r, &result);
}
