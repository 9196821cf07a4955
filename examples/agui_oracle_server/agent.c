/*
 * agent.c - the scripted agent: what it does is written in the prompt ("@tool", "@slow 40 25", …).
 *
 * It shows the whole producer API. A call that fails because nobody reads any more (HOB_ECLOSED) ends the work; the session
 * takes care that whatever is open is closed when a run ends.
 */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct agent {
    job *job;
    hob_agui_session *s;
    hob_error err;
    hob_agui_message last;
    hob_str rest; /* of the prompt, behind the verb */
} agent;

static hob_str z(const char *text) {
    return hob_str_z(text);
}

/* The bytes of the first n characters. */
static size_t characters(hob_str s, size_t n) {
    size_t i = 0;
    while (i < s.n && n--) {
        i++;
        while (i < s.n && ((unsigned char)s.p[i] & 0xc0) == 0x80) i++;
    }
    return i;
}

static size_t count(hob_str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* One assistant message in pieces, with pauses. Negative: stopped, or nobody reads. */
static int say_slowly(agent *a, hob_str text, size_t pieces, long pause_ms) {
    char id[37];
    hob_agui_make_id(id);
    size_t step = (count(text) + pieces - 1) / (pieces ? pieces : 1), at = 0;
    int rc = hob_agui_message_start(a->s, z(id), NULL, &a->err);
    while (rc == 0 && at < text.n) {
        hob_str rest = hob_str_n(text.p + at, text.n - at);
        size_t n = characters(rest, step ? step : 1);
        rc = hob_agui_message_content(a->s, z(id), hob_str_n(rest.p, n), &a->err);
        at += n;
        if (rc == 0 && pause_ms && !stream_sleep(a->job->stream, pause_ms)) rc = HOB_ECANCELLED;
    }
    if (rc == 0) rc = hob_agui_message_end(a->s, z(id), &a->err);
    thread_add_message(a->job->thread, id, hob_str_n(text.p, at));
    return rc;
}

static int say(agent *a, const char *text) {
    return say_slowly(a, z(text), 4, 0);
}

static int call(agent *a, hob_str tool, const char *args, char id[37]) {
    hob_agui_make_id(id);
    int rc = hob_agui_tool_call_start(a->s, z(id), tool, NULL, &a->err);
    if (rc == 0) rc = hob_agui_tool_call_args(a->s, z(id), hob_str_n(args, 5), &a->err);
    if (rc == 0) rc = hob_agui_tool_call_args(a->s, z(id), z(args + 5), &a->err);
    return rc < 0 ? rc : hob_agui_tool_call_end(a->s, z(id), &a->err);
}

static int result(agent *a, const char *call_id, const char *text) {
    char id[37];
    hob_agui_make_id(id);
    return hob_agui_tool_call_result(a->s, z(id), z(call_id), z(text), &a->err);
}

/* ---- what a prompt can ask for -------------------------------------------------------------------------- */

static int do_echo(agent *a) {
    return say_slowly(a, a->rest, 4, 0);
}

static int do_tool(agent *a) {
    char id[37];
    int rc = call(a, z("get_weather"), "{\"city\":\"Oslo\"}", id);
    if (rc == 0) rc = result(a, id, "{\"tempC\":7}");
    return rc < 0 ? rc : say(a, "It is 7 degrees in Oslo.");
}

/* The client's own tool: called and left to it. */
static int do_frontend(agent *a) {
    hob_agui_tool tool = {.name = z("confirm_order")};
    char id[37];
    hob_agui_input_tool(a->job->input, 0, &tool);
    return call(a, tool.name, "{\"sku\":\"A-1\"}", id);
}

static void make_question(question *q, size_t i, bool expired) {
    time_t at = time(NULL) + (expired ? -60 : 600);
    struct tm tm;
    hob_agui_make_id(q->id);
    snprintf(q->message, sizeof q->message, "Approve #%zu?", i);
    strftime(q->expires, sizeof q->expires, "%Y-%m-%dT%H:%M:%S.000Z", gmtime_r(&at, &tm));
}

/* The run ends with every question that is open. */
static int ask(agent *a) {
    hob_agui_interrupt all[INTERRUPTS];
    thread *t = a->job->thread;
    for (size_t i = 0; i < t->nopen; i++) {
        all[i] = (hob_agui_interrupt)HOB_AGUI_INTERRUPT_INIT;
        all[i].id = z(t->open[i].id);
        all[i].reason = z("tool_call");
        all[i].message = z(t->open[i].message);
        all[i].tool_call = z(t->open[i].call);
        all[i].expires_at = z(t->open[i].expires);
        all[i].response_schema =
            z("{\"type\":\"object\",\"properties\":{\"approved\":{\"type\":\"boolean\"}}}");
        all[i].metadata = z("{\"example\":true}");
    }
    int rc = hob_agui_run_interrupt_all(a->s, all, t->nopen, &a->err);
    if (rc != HOB_ENOENT) return rc;
    /* The client came back without its history. */
    for (size_t i = 0; i < t->nopen; i++) all[i].tool_call = z("");
    return hob_agui_run_interrupt_all(a->s, all, t->nopen, &a->err);
}

static int do_interrupt(agent *a) {
    thread *t = a->job->thread;
    char word[80];
    snprintf(word, sizeof word, "%.*s", (int)a->rest.n, a->rest.p);
    long n = strtol(word, NULL, 10);
    n = n < 1 ? 1 : n > INTERRUPTS ? INTERRUPTS : n;
    for (long i = 0; i < n; i++) {
        char args[40];
        snprintf(args, sizeof args, "{\"table\":\"t%ld\"}", i);
        make_question(&t->open[i], (size_t)i, strstr(word, "expired") != NULL);
        int rc = call(a, z("delete_rows"), args, t->open[i].call);
        if (rc < 0) return rc;
        t->nopen = (size_t)i + 1;
    }
    return ask(a);
}

/* The session finds out what changes from one state to the next. */
static int do_state(agent *a) {
    static const char *const states[] = {"{\"counter\":1,\"items\":[\"a\"]}",
                                         "{\"counter\":2,\"items\":[\"a\",\"b\"]}"};
    int rc = hob_agui_state_snapshot(a->s, z("{\"counter\":0,\"items\":[]}"), &a->err);
    if (rc == 0)
        rc = hob_agui_state_delta(a->s,
                                  z("[{\"op\":\"add\",\"path\":\"/items/-\",\"value\":\"a\"},"
                                    "{\"op\":\"replace\",\"path\":\"/counter\",\"value\":1}]"),
                                  &a->err);
    for (size_t i = 0; i < 2 && rc == 0; i++) rc = hob_agui_state_set(a->s, z(states[i]), &a->err);
    return rc;
}

static int do_state_next(agent *a) {
    char counter[24] = "0", patch[120];
    hob_json_field(hob_agui_state(a->s), "counter", counter, sizeof counter);
    snprintf(patch, sizeof patch, "[{\"op\":\"replace\",\"path\":\"/counter\",\"value\":%ld}]",
             strtol(counter, NULL, 10) + 1);
    return hob_agui_state_delta(a->s, z(patch), &a->err);
}

static int do_reason(agent *a) {
    char span[37], id[37];
    hob_agui_make_id(id);
    int rc = hob_agui_start_thinking(a->s, z("Planning"), span, &a->err);
    if (rc == 0) rc = hob_agui_reasoning_message_start(a->s, z(id), NULL, &a->err);
    if (rc == 0) rc = hob_agui_reasoning_message_content(a->s, z(id), z("First, "), &a->err);
    if (rc == 0) rc = hob_agui_reasoning_message_content(a->s, z(id), z("think."), &a->err);
    if (rc == 0) rc = hob_agui_reasoning_message_end(a->s, z(id), &a->err);
    if (rc == 0)
        rc = hob_agui_reasoning_encrypted(a->s, HOB_AGUI_OF_MESSAGE, z(id), z("b64=="), &a->err);
    if (rc == 0) rc = hob_agui_reasoning_end(a->s, z(span), &a->err);
    return rc < 0 ? rc : say(a, "42");
}

static int do_activity(agent *a) {
    char id[37];
    hob_agui_make_id(id);
    int rc = hob_agui_activity_snapshot(a->s, z(id), z("web_search"),
                                        z("{\"query\":\"owls\",\"found\":0}"), &a->err);
    if (rc < 0) return rc;
    return hob_agui_activity_delta(
        a->s, z(id), z("[{\"op\":\"replace\",\"path\":\"/found\",\"value\":3}]"), &a->err);
}

static int do_snapshot(agent *a) {
    int rc = say(a, "restated");
    if (rc < 0) return rc;
    char *messages = thread_messages(hob_agui_thread_id(a->s));
    rc = hob_agui_messages_snapshot(a->s, z(messages), &a->err);
    free(messages);
    return rc;
}

static int do_subagent(agent *a) {
    char sub[37], id[37];
    hob_agui_extra x = HOB_AGUI_EXTRA_INIT;
    hob_agui_make_id(sub);
    hob_agui_make_id(id);
    x.subagent = z(sub);
    int rc = hob_agui_subagent_start(a->s, z(sub), z("researcher"), NULL, &a->err);
    if (rc == 0) rc = hob_agui_message_start(a->s, z(id), &x, &a->err);
    if (rc == 0) rc = hob_agui_message_content(a->s, z(id), z("found it"), &a->err);
    if (rc == 0) rc = hob_agui_subagent_finish(a->s, z(sub), z(""), &a->err); /* ends the message */
    return rc < 0 ? rc : say(a, "done");
}

static int do_misc(agent *a) {
    int rc = hob_agui_step_start(a->s, z("plan"), NULL, &a->err);
    if (rc == 0) rc = hob_agui_custom(a->s, z("x"), z("null"), NULL, &a->err);
    if (rc == 0) rc = hob_agui_raw(a->s, z("{\"any\":[1,null]}"), z("example"), NULL, &a->err);
    if (rc == 0) rc = hob_agui_step_finish(a->s, z("plan"), z(""), &a->err);
    if (rc == 0)
        rc = hob_agui_run_usage(
            a->s, z("[{\"provider\":\"example\",\"inputTokens\":5,\"outputTokens\":1}]"), &a->err);
    return rc < 0 ? rc : say(a, "ok");
}

static int do_error(agent *a) {
    char id[37];
    hob_agui_make_id(id);
    int rc = hob_agui_message_start(a->s, z(id), NULL, &a->err);
    if (rc < 0) return rc;
    return hob_agui_run_error_with_code(a->s, z("the model is on fire"), z("MODEL_FAILED"),
                                        &a->err);
}

static int do_slow(agent *a) {
    char word[64], dots[1000];
    char *end;
    snprintf(word, sizeof word, "%.*s", (int)(a->rest.n < 63 ? a->rest.n : 63), a->rest.p);
    long n = strtol(word, &end, 10), ms = strtol(end, &end, 10);
    n = n < 1 ? 1 : n > 999 ? 999 : n;
    size_t skip = (size_t)(end - word);
    skip += skip < a->rest.n;
    hob_str text = hob_str_n(a->rest.p + skip, a->rest.n - skip);
    memset(dots, 'x', sizeof dots);
    if (!text.n) text = hob_str_n(dots, (size_t)n);
    if (!stream_sleep(a->job->stream, ms)) return HOB_ECANCELLED;
    return say_slowly(a, text, (size_t)n, ms);
}

static int do_silent(agent *a) {
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)(a->rest.n < 31 ? a->rest.n : 31), a->rest.p);
    if (!stream_sleep(a->job->stream, strtol(word, NULL, 10))) return HOB_ECANCELLED;
    return say(a, "back");
}

/* ---- a run ---------------------------------------------------------------------------------------------- */

static int do_prompt(agent *a) {
    static const struct {
        const char *verb;
        int (*act)(agent *a);
    } verbs[] = {
        {"@echo", do_echo},           {"@tool", do_tool},         {"@frontend", do_frontend},
        {"@interrupt", do_interrupt}, {"@state", do_state},       {"@state-next", do_state_next},
        {"@reason", do_reason},       {"@activity", do_activity}, {"@snapshot", do_snapshot},
        {"@subagent", do_subagent},   {"@misc", do_misc},         {"@error", do_error},
        {"@slow", do_slow},           {"@silent", do_silent},
    };
    hob_str text = a->last.text;
    size_t n = 0;
    while (n < text.n && text.p[n] != ' ') n++;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strlen(verbs[i].verb) != n || memcmp(verbs[i].verb, text.p, n)) continue;
        size_t skip = n + (n < text.n);
        a->rest = hob_str_n(text.p + skip, text.n - skip);
        return verbs[i].act(a);
    }
    a->rest = text;
    return do_echo(a);
}

static const hob_agui_resume *answer_of(agent *a, const char *id, hob_agui_resume *r) {
    for (size_t i = 0; hob_agui_input_resume(a->job->input, i, r) == 0; i++)
        if (r->interrupt.n == strlen(id) && !memcmp(r->interrupt.p, id, r->interrupt.n)) return r;
    return NULL;
}

/* Answers to what the last run asked: all of them, or the questions stay. 1: the work goes on. */
static int resume(agent *a) {
    thread *t = a->job->thread;
    hob_agui_resume r;
    bool approved = true;
    if (!t->nopen) return 1;
    for (size_t i = 0; i < t->nopen; i++) {
        if (!answer_of(a, t->open[i].id, &r)) return ask(a);
        approved = approved && !r.cancelled;
    }
    size_t n = t->nopen;
    t->nopen = 0;
    for (size_t i = 0; i < n; i++) {
        int rc = result(a, t->open[i].call, approved ? "done" : "refused by the user");
        if (rc < 0 && rc != HOB_ENOENT) return rc;
    }
    return say(a, approved ? "approved" : "denied");
}

static int work(agent *a) {
    int rc = resume(a);
    if (rc != 1) return rc;
    size_t n = hob_agui_input_message_count(a->job->input);
    if (n) hob_agui_input_message(a->job->input, n - 1, &a->last);
    if (a->last.role.n == 4 && !memcmp(a->last.role.p, "tool", 4)) {
        char text[1000];
        snprintf(text, sizeof text, "the tool said: %.*s", (int)a->last.text.n, a->last.text.p);
        return say(a, text);
    }
    return do_prompt(a);
}

static int to_stream(hob_agui_kind kind, hob_str bytes, void *user) {
    (void)kind;
    return stream_write(user, bytes);
}

static void run(agent *a, const hob_agui_sink *sink) {
    const hob_agui_input *in = a->job->input;
    if (hob_agui_session_create_with_thread_id(sink, hob_agui_input_thread_id(in), &a->s, &a->err) <
        0)
        return;
    thread_set_messages(a->job->thread, hob_agui_input_messages(in));
    int rc = hob_agui_run_start(a->s, in, &a->err);
    if (rc == 0) rc = work(a);
    if (rc == HOB_ECANCELLED) rc = hob_agui_run_cancelled(a->s, &a->err);
    if (rc < 0 && rc != HOB_ECLOSED) hob_agui_run_error(a->s, z(a->err.message), &a->err);
    hob_agui_run_finish(a->s, z(""), &a->err); /* does nothing if the run has ended */
    hob_agui_session_destroy(a->s);
}

void *agent_run(void *job_) {
    job *j = job_;
    hob_agui_sink sink = {sizeof sink, j->encoding, to_stream, NULL, j->stream};
    agent a = {.job = j};
    run(&a, &sink);
    thread_release(j->thread); /* before the end is seen: the client may come back at once */
    stream_end(j->stream);
    stream_release(j->stream);
    hob_agui_input_destroy(j->input);
    free(j);
    return NULL;
}

void agent_replay(stream *st, const hob_agui_input *in, hob_str messages) {
    hob_agui_sink sink = {sizeof sink, HOB_AGUI_AS_SSE, to_stream, NULL, st};
    hob_agui_session *s;
    hob_error err;
    if (hob_agui_session_create_with_thread_id(&sink, hob_agui_input_thread_id(in), &s, &err) < 0)
        return;
    int rc = hob_agui_run_start(s, in, &err);
    if (rc == 0) rc = hob_agui_messages_snapshot(s, messages, &err);
    if (rc < 0) hob_agui_run_error(s, z(err.message), &err);
    hob_agui_run_finish(s, z(""), &err);
    hob_agui_session_destroy(s);
}
