/*
 * docs/events.md, made from the list in hob/event.h.
 *
 *   events          the page, on standard output
 *   events FILE     compares; says the first line that differs
 */
#include <hob/event.h>

#include <stdio.h>
#include <stdlib.h>

static const char head[] =
    "# Events\n"
    "\n"
    "<!-- Made from the list in include/hob/event.h by tests/gen/events.c: `make docs` writes it anew. -->\n"
    "\n"
    "A session is an append-only log of events. `hob -p --json` prints them, `hob_session_next_event` gives them to a\n"
    "program, the store keeps them. Each is one line of JSON:\n"
    "\n"
    "```sh run\n"
    "printf '{\"otherwise\": [{\"text\": \"hi\"}]}' >hi.json\n"
    "hob -p --no-session --json -m scripted:hi.json hello >log\n"
    "grep -q '\"type\":\"run_started\"' log\n"
    "grep -q '\"type\":\"assistant_message\".*\"content\":\\[{\"type\":\"text\",\"text\":\"hi\"}\\]' log\n"
    "```\n"
    "\n"
    "## The envelope\n"
    "\n"
    "| field | what it is |\n"
    "|---|---|\n"
    "| `v` | version of the form: 1 |\n"
    "| `seq` | sequence number, from 1, a session's own, without gaps; it is the order. Ephemeral events have none |\n"
    "| `ts` | time in UTC with milliseconds; never an order |\n"
    "| `type` | the kind, one of those below |\n"
    "| `session_id` | the session |\n"
    "| `run_id`, `parent_run` | the run it belongs to, and the run above that |\n"
    "| `turn` | the turn of the run, from 1: one answer of the model and its calls |\n"
    "| `agent`, `branch` | which agent of the run, and on which branch of it |\n"
    "| `author` | who said it: `user`, `model` |\n"
    "| `entry`, `parent_entry` | a node of the conversation's tree (`e12` is event 12), and the node it hangs on |\n"
    "| `cause` | what it comes from: the queued message that became a prompt |\n"
    "| `data` | an object; its fields are below |\n"
    "\n"
    "A field that does not apply is absent. Readers pass over fields and kinds that they do not know; hob keeps them byte\n"
    "for byte. Names stay; new ones may come.\n"
    "\n"
    "## What a log promises\n"
    "\n"
    "- What was delivered is stored: it survives `kill -9` and has the same number afterwards.\n"
    "- Every `run_started` has one `run_finished`, every `approval_requested` one `approval_resolved`, every\n"
    "  `model_call_started` one end: `assistant_message`, `model_call_failed` or, after a crash, `turn_discarded`.\n"
    "- Every call of an `assistant_message` has one `tool_finished` before the next `model_call_started`, whether it ran\n"
    "  or not. One without a `tool_started` did not run.\n"
    "- A `tool_started` of class `unsafe` is there once a call. If its process died, the outcome is `unknown`.\n"
    "- `settled` comes when no run is left and every queued message was delivered or handed back; only messages that\n"
    "  were kept on purpose wait for the next prompt. Nothing follows by itself.\n"
    "\n"
    "Content is described in [messages](messages.md).\n"
    "\n"
    "## How to read the lists\n"
    "\n"
    "`name` is always there, `name?` is optional, `name(a|b)` is one of these words, `name[]` an array, `name{}` an object.\n"
    "`cost_usd` is null where the price is not known.\n";

static const struct {
    const char *name, *what, *fields;
    int durable;
} kinds[] = {
#define HOB_X(NAME, name, durable, what, fields) {#name, what, fields, durable},
    HOB_EVENTS(HOB_X)
#undef HOB_X
};

/* In a table a bar must be escaped, in code as well. */
static void put_code(FILE *out, const char *from, size_t n) {
    fputc('`', out);
    for (size_t i = 0; i < n; i++) fprintf(out, from[i] == '|' ? "\\%c" : "%c", from[i]);
    fputc('`', out);
}

/* "a, b?{c, d}" -> `a`, `b?{c, d}` */
static void put_fields(FILE *out, const char *fields) {
    for (size_t depth = 0, n = 0;; n++) {
        char c = fields[n];
        depth += c && strchr("({[", c) != NULL;
        depth -= c && strchr(")}]", c) != NULL;
        if (c && (c != ',' || depth)) continue;
        if (n) put_code(out, fields, n);
        if (!c) return;
        fputs(", ", out);
        fields += n + 2;
        n = (size_t)-1;
    }
}

static void put_table(FILE *out, int durable, const char *title) {
    fprintf(out, "\n## %s\n\n| kind | what it says | data |\n|---|---|---|\n", title);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].durable != durable) continue;
        fprintf(out, "| `%s` | %s | ", kinds[i].name, kinds[i].what);
        put_fields(out, kinds[i].fields);
        fputs(" |\n", out);
    }
}

static void put_page(FILE *out) {
    fputs(head, out);
    put_table(out, 1, "Durable events");
    put_table(out, 0, "Ephemeral events");
    fputs(
        "\nEphemeral events show work in progress and are never stored. `offset` counts bytes of the block or output,\n"
        "so a reader that was slow, or came late, knows what it has. The durable event that follows holds the whole.\n",
        out);
}

/* The line numbers of the first difference are the same in both. */
static int compare(FILE *page, FILE *file, const char *name) {
    char a[4096], b[4096];
    for (int line = 1;; line++) {
        char *x = fgets(a, sizeof(a), page), *y = fgets(b, sizeof(b), file);
        if (!x && !y) return 0;
        if (x && y && strcmp(x, y) == 0) continue;
        fprintf(stderr, "%s:%d: is\n  %sand should be\n  %s`make docs` puts it right\n", name, line,
                y ? y : "(nothing)\n", x ? x : "(nothing)\n");
        return 1;
    }
}

int main(int argc, char **argv) {
    if (argc < 2) {
        put_page(stdout);
        return 0;
    }
    FILE *page = tmpfile(), *file = fopen(argv[1], "r");
    if (!page || !file) {
        perror(argv[1]);
        return 1;
    }
    put_page(page);
    rewind(page);
    return compare(page, file, argv[1]);
}
