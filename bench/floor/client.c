/*
 * client.c - not an agent: the least C on libcurl and SQLite that does the same turns as hob.
 *
 *     client URL MODEL STORE NOTES [resume]
 *
 * It writes what it sends and gets into one table (WAL, synchronous=FULL), sends the whole
 * conversation each turn from text it keeps, prints the answer as it streams, and does the two tools
 * the mock asks for: a line of the file NOTES, and `sh -c`. Two commits before the first request,
 * then one for the answer and one for the result. No JSON is read, strings are looked for: it knows
 * that it talks to bench/support/mock.h. Errors end it with status 1.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct client {
    floor_log log;
    floor_answer answer;
    floor_text body; /* the request, without its end */
    const char *notes;
    int messages;
} client;

/* One message: into the conversation and into the log. */
static void say(client *c, const char *role, const char *content) {
    size_t start = c->body.n;
    floor_addf(&c->body, "%s{\"role\":\"%s\",\"content\":%s}", c->messages++ ? "," : "", role,
               content);
    floor_log_append(&c->log, c->body.p + start, c->body.n - start);
}

static void say_text(client *c, const char *role, const char *text) {
    floor_text t = {0};
    floor_addf(&t, "\"%s\"", text);
    say(c, role, t.p);
    free(t.p);
}

static void run_tool(client *c) {
    floor_text t = {0};
    char result[512];
    floor_answer *a = &c->answer;
    floor_addf(&t,
               "[{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"%s\",\"input\":{\"line\":%ld}}]",
               a->id, a->bash ? "bash" : "read", a->line);
    say(c, "assistant", t.p);
    a->bash ? floor_tool_sh(a->line, result, sizeof(result))
            : floor_tool_line(c->notes, a->line, result, sizeof(result));
    t.n = 0;
    floor_addf(&t, "[{\"type\":\"tool_result\",\"tool_use_id\":\"%s\",\"content\":\"%s\"}]", a->id,
               result);
    say(c, "user", t.p);
    free(t.p);
}

int main(int argc, char **argv) {
    static client c;
    if (argc < 5) return 2;
    bool resume = argc > 5 && !strcmp(argv[5], "resume");
    c.notes = argv[4];
    floor_addf(&c.body, "{\"model\":\"%s\",\"max_tokens\":8192,\"stream\":true,\"messages\":[",
               argv[2]);
    floor_log_open(&c.log, argv[3], resume, &c.body, &c.messages);
    floor_http_open(argv[1]);
    if (!resume) say_text(&c, "user", "hello");
    say_text(&c, "user", "go on");
    for (;;) {
        size_t end = c.body.n;
        floor_addf(&c.body, "]}");
        floor_http_post(&c.body, &c.answer);
        c.body.n = end;
        if (!c.answer.tool) break;
        run_tool(&c);
    }
    say_text(&c, "assistant", c.answer.text.p ? c.answer.text.p : "");
    floor_http_close();
    floor_log_close(&c.log);
    return putchar('\n') == EOF;
}
