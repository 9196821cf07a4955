/*
 * script.c - the text of the mock's answers.
 *
 * Every event of the stream is an HTTP chunk of its own, as providers send them: a client that works
 * per chunk pays for it here as it would out there.
 */
#include "mock.h"

#include <stdio.h>

static unsigned number_after(hob_str s, const char *prefix) {
    hob_str rest, digits;
    int64_t n = 0;
    if (!hob_str_starts(s, hob_str_z(prefix))) return 0;
    rest = hob_str_skip(s, strlen(prefix));
    hob_str_split(&rest, '-', &digits);
    return hob_str_int(digits, &n) == HOB_OK && n > 0 ? (unsigned)n : 0;
}

bench_script bench_script_of(hob_str path, hob_str model) {
    bench_script s = {.chat = hob_str_ends(path, HOB_STR("/chat/completions")), .deltas = 8};
    unsigned n;
    if ((n = number_after(model, "text-")) || (n = number_after(model, "deltas-"))) s.deltas = n;
    if ((n = number_after(model, "paced-"))) {
        s.deltas = n;
        s.pace_ms = 5;
    }
    s.turns = number_after(model, "turns-");
    s.bash = hob_str_ends(model, HOB_STR("-bash"));
    return s;
}

/* One event as one chunk. */
static void event(hob_buf *out, const char *name, const char *data) {
    size_t n = strlen(data) + (name ? strlen(name) + 8 : 0) + 8;
    hob_buf_addf(out, "%zx\r\n", n);
    if (name) hob_buf_addf(out, "event: %s\n", name);
    hob_buf_addf(out, "data: %s\n\n\r\n", data);
}

#define CHUNK                                                                                      \
    "{\"id\":\"chatcmpl-9x7Kd02nQpLmWzVb\",\"object\":\"chat.completion.chunk\",\"created\":"      \
    "1730000000,\"model\":\"mock\",\"system_fingerprint\":\"fp_a1b2c3d4e5\",\"choices\":"          \
    "[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}],\"usage\":null}"

static void chunk(hob_buf *out, const char *delta, const char *reason) {
    char data[1024];
    snprintf(data, sizeof(data), CHUNK, delta, reason);
    event(out, NULL, data);
}

/* The line that turn `step` asks for; no two in a row are the same, or hob would take them for a loop. */
static void arguments(const bench_script *s, unsigned step, char out[160]) {
    const char *q = "\\\""; /* it stands in a JSON string */
    if (s->bash) {
        snprintf(out, 160, "{%scommand%s: %secho %u%s}", q, q, q, step + 1, q);
    } else {
        snprintf(out, 160, "{%spath%s: %snotes.txt%s, %soffset%s: %u, %slimit%s: 1}", q, q, q, q, q,
                 q, step % 100 + 1, q, q);
    }
}

static void tool_anthropic(const bench_script *s, unsigned step, hob_buf *out) {
    char args[160], data[512];
    snprintf(
        data, sizeof(data),
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\","
        "\"id\":\"toolu_%08u\",\"name\":\"%s\",\"input\":{}}}",
        step + 1, s->bash ? "bash" : "read");
    event(out, "content_block_start", data);
    arguments(s, step, args);
    snprintf(
        data, sizeof(data),
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
        "\"partial_json\":\"%s\"}}",
        args);
    event(out, "content_block_delta", data);
}

static void tool_chat(const bench_script *s, unsigned step, hob_buf *out) {
    char args[160], delta[512];
    arguments(s, step, args);
    snprintf(
        delta, sizeof(delta),
        "{\"tool_calls\":[{\"index\":0,\"id\":\"call_%08u\",\"type\":\"function\",\"function\":"
        "{\"name\":\"%s\",\"arguments\":\"%s\"}}]}",
        step + 1, s->bash ? "bash" : "read", args);
    chunk(out, delta, "null");
}

void bench_script_head(const bench_script *s, unsigned step, hob_buf *out) {
    bool tool = step < s->turns;
    hob_buf_addz(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                      "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n");
    if (s->chat) {
        chunk(out, "{\"role\":\"assistant\",\"content\":\"\"}", "null");
        if (tool) tool_chat(s, step, out);
        return;
    }
    event(
        out, "message_start",
        "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\",\"type\":\"message\",\"role\":"
        "\"assistant\",\"model\":\"mock\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":"
        "null,\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}");
    if (tool) {
        tool_anthropic(s, step, out);
    } else {
        event(out, "content_block_start",
              "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
              "\"text\":\"\"}}");
    }
}

void bench_script_delta(const bench_script *s, unsigned i, hob_buf *out) {
    char data[160];
    if (s->chat) {
        snprintf(data, sizeof(data), "{\"content\":\"w%03u \"}", i % 1000);
        chunk(out, data, "null");
        return;
    }
    snprintf(data, sizeof(data),
             "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
             "\"text\":\"w%03u \"}}",
             i % 1000);
    event(out, "content_block_delta", data);
}

static void tail_chat(bool tool, hob_buf *out) {
    chunk(out, "{}", tool ? "\"tool_calls\"" : "\"stop\"");
    event(out, NULL,
          "{\"id\":\"chatcmpl-9x7Kd02nQpLmWzVb\",\"object\":\"chat.completion.chunk\",\"created\":"
          "1730000000,\"model\":\"mock\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,"
          "\"completion_tokens\":8,\"total_tokens\":18}}");
    event(out, NULL, "[DONE]");
}

void bench_script_tail(const bench_script *s, unsigned step, hob_buf *out) {
    bool tool = step < s->turns;
    if (s->chat) {
        tail_chat(tool, out);
    } else {
        event(out, "content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}");
        event(out, "message_delta",
              tool ? "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\","
                     "\"stop_sequence\":null},\"usage\":{\"output_tokens\":8}}"
                   : "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\","
                     "\"stop_sequence\":null},\"usage\":{\"output_tokens\":8}}");
        event(out, "message_stop", "{\"type\":\"message_stop\"}");
    }
    hob_buf_addz(out, "0\r\n\r\n");
}
