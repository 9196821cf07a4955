/*
 * talk_ask.c - the question before a call: everything it would do is shown, made visible, and the
 * answer is given once. What is neither yes nor no is the reason of a refusal, and the model is
 * told. A question that the model itself asks is answered field by field (form.c), or with /no.
 */
#include "cli/talk.h"

#include <stdio.h>

#define QUESTION_MAX (1u << 20)
#define SCREEN 20 /* lines */

/* Further lines of a value have a mark of their own: none can pass for ours. */
static void add_argument(hob_buf *b, const hob_json *v) {
    hob_str line, rest = hob_json_is(v, HOB_JSON_STRING) ? hob_json_str(v) : hob_json_raw(v);
    hob_buf_addz(b, "    ");
    hob_show_line(b, hob_json_key(v), 100);
    hob_buf_addz(b, ": ");
    for (bool more = false; hob_str_split(&rest, '\n', &line); more = true) {
        if (more) hob_buf_addz(b, "\n    | ");
        hob_show_text(b, line);
    }
    hob_buf_addc(b, '\n');
}

/* What is longer than a screen has scrolled away by the time it is asked about. */
static void add_reminder(hob_buf *b, hob_str tool, const hob_json *args) {
    size_t lines = 0;
    for (size_t i = 0; i < b->n; i++) lines += b->p[i] == '\n';
    if (lines <= SCREEN) return;
    hob_buf_addf(b, "    (%zu lines; it begins: ", lines);
    hob_show_call(b, tool, args, 60);
    hob_buf_addz(b, ")\n");
}

/* "sub-agent general (task-…) asks: ", "agent writer asks: "; nothing if it is the one that is talked to. */
static void add_asker(hob_buf *b, const hob_json *row) {
    hob_str agent = hob_json_get_str(row, "agent"), child = hob_json_get_str(row, "child");
    if (!agent.n && !child.n) return;
    hob_buf_addz(b, child.n ? "sub-agent " : "agent ");
    hob_show_line(b, agent, 64);
    if (child.n) hob_buf_addz(b, " (");
    hob_show_line(b, child, 64);
    hob_buf_addz(b, child.n ? ") asks: " : " asks: ");
}

static void show_hint(hob_talk *t) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_form_hint(t->form, &b);
    hob_out_add(&t->cli->out, hob_buf_str(&b));
    hob_buf_finish(&b);
}

static void show_choice(hob_talk *t) {
    if (t->form)
        show_hint(t);
    else
        hob_out_addf(&t->cli->out, "  [y]es, once  [n]o  or why not: ");
    t->text.open_line = true;
}

static void show_form(hob_talk *t, const hob_json *row) {
    hob_buf b;
    bool color = t->cli->color;
    hob_buf_init(&b, QUESTION_MAX);
    if (row) {
        hob_buf_addf(&b, "%s?%s ", hob_tint_on(color, HOB_TINT_YELLOW), hob_tint_off(color));
        add_asker(&b, row);
    }
    hob_form_show(t->form, &b);
    hob_out_add(&t->cli->out, hob_buf_str(&b));
    hob_buf_finish(&b);
    show_choice(t);
}

void hob_talk_remind(hob_talk *t) {
    if (t->state == HOB_TALK_ASKING && !t->text.open_line) show_choice(t);
}

static void show_question(hob_talk *t, const hob_json *row) {
    hob_buf b;
    bool color = t->cli->color;
    hob_buf_init(&b, QUESTION_MAX);
    hob_buf_addf(&b, "%s?%s ", hob_tint_on(color, HOB_TINT_YELLOW), hob_tint_off(color));
    add_asker(&b, row);
    hob_buf_addz(&b, "may ");
    hob_show_line(&b, hob_json_get_str(row, "tool"), 100);
    hob_buf_addz(&b, " run?\n");
    const hob_json *args = hob_json_get(row, "args");
    for (const hob_json *v = hob_json_first(args); v; v = hob_json_next(v)) add_argument(&b, v);
    add_reminder(&b, hob_json_get_str(row, "tool"), args);
    hob_out_add(&t->cli->out, hob_buf_str(&b));
    if (b.err)
        hob_out_addf(&t->cli->out, "    ... too long to be shown whole: refuse it if in doubt\n");
    show_choice(t);
    hob_buf_finish(&b);
}

/* The first one that waits. What was answered may stand there until the logs above its own have the answer. */
static const hob_json *next_question(hob_talk *t, const hob_page *page, hob_arena *a) {
    for (size_t i = 0; i < hob_page_count(page); i++) {
        const hob_json *row = NULL;
        if (hob_json_parse(a, hob_page_row(page, i), NULL, &row, NULL) < 0) continue;
        if (!hob_str_eqz(hob_json_get_str(row, "call"), t->answered)) return row;
    }
    return NULL;
}

void hob_talk_ask(hob_talk *t) {
    hob_error err = {.code = HOB_OK};
    hob_page *page = NULL;
    t->state = HOB_TALK_RUNNING;
    hob_form_destroy(t->form);
    t->form = NULL;
    if (hob_session_pending_confirmations(t->s, &page, &err) < 0) {
        hob_tell_error(t->cli, &err);
        return;
    }
    hob_arena *a = hob_arena_create(0);
    const hob_json *row = next_question(t, page, a);
    if (row) {
        snprintf(t->call, sizeof t->call, "%.*s", HOB_FMT(hob_json_get_str(row, "call")));
        t->state = HOB_TALK_ASKING;
        hob_text_end_line(&t->text);
        const hob_json *schema = hob_json_get(row, "schema");
        if (hob_json_get(row, "question"))
            t->form = hob_form_create(hob_json_get_str(row, "question"), hob_json_raw(schema));
        if (t->form)
            show_form(t, row);
        else
            show_question(t, row);
    }
    hob_arena_destroy(a);
    hob_page_destroy(page);
}

static bool is_word(hob_str line, const char *letter, const char *word) {
    return hob_str_ieq(line, hob_str_z(letter)) || hob_str_ieq(line, hob_str_z(word));
}

/* It was said, one way or the other; if another one waits, it is asked about in its turn. */
static void was_answered(hob_talk *t, int code, const hob_error *err) {
    if (code < 0) hob_tell_error(t->cli, err);
    snprintf(t->answered, sizeof t->answered, "%s", code < 0 ? "" : t->call);
    t->state = HOB_TALK_RUNNING;
}

static bool declines(hob_str line, hob_str *why) {
    bool yes = hob_str_eqz(line, "/no") || hob_str_starts(line, HOB_STR("/no "));
    *why = yes ? hob_str_trim(hob_str_skip(line, 3)) : line;
    return yes;
}

static void fill_in(hob_talk *t, hob_str line) {
    hob_error err = {.code = HOB_OK};
    hob_str why, call = hob_str_z(t->call);
    if (declines(line, &why)) {
        int code = hob_session_confirm_tool_use(t->s, call, HOB_VERDICT_DENY, why, &err);
        was_answered(t, code, &err);
        return;
    }
    int got = hob_form_take(t->form, line, &err);
    if (got == 1) {
        int code = hob_session_answer(t->s, call, hob_form_answer(t->form), &err);
        was_answered(t, code, &err); /* one that does not fit is asked again */
    } else if (got == 0) {
        show_form(t, NULL);
    } else {
        hob_tell_error(t->cli, &err);
        show_choice(t);
    }
}

void hob_talk_answer(hob_talk *t, hob_str line) {
    hob_error err = {.code = HOB_OK};
    if (t->form) {
        fill_in(t, line);
        return;
    }
    if (!line.n) {
        hob_talk_ask(t); /* neither; ask again */
        return;
    }
    bool yes = is_word(line, "y", "yes"), no = is_word(line, "n", "no");
    int code = hob_session_confirm_tool_use(t->s, hob_str_z(t->call),
                                            yes ? HOB_VERDICT_ALLOW : HOB_VERDICT_DENY,
                                            yes || no ? HOB_STR("") : line, &err);
    was_answered(t, code, &err);
}
