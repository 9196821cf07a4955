/*
 * expand.c - prompts that begin with a command: /NAME or /skill:NAME of the definitions.
 *
 * Only what is known and live is a command; anything else that begins with a slash is a prompt, a path say. The block
 * that the model gets has what was typed beside it ("typed"), and what the command takes away ("narrow").
 */
#include "session/session.h"

#include "config/discover.h"

typedef struct command {
    hob_str typed, name, arguments;
    hob_arena *arena;
    hob_definition x;
    hob_str workspace;
} command;

/* "/name arguments" taken apart. False: it does not begin like one. */
static bool split(hob_str typed, command *c) {
    hob_str rest = hob_str_trim(typed);
    c->typed = rest;
    if (rest.n < 2 || rest.p[0] != '/') return false;
    rest = hob_str_skip(rest, 1);
    size_t n = 0;
    while (n < rest.n && (unsigned char)rest.p[n] > ' ') n++;
    c->name = hob_str_first(rest, n);
    c->arguments = hob_str_trim(hob_str_skip(rest, n));
    return true;
}

static bool find(hob_definitions *d, command *c) {
    const hob_str skill = HOB_STR("skill:");
    if (hob_str_starts(c->name, skill))
        c->name = hob_str_skip(c->name, skill.n);
    else if (hob_definitions_copy(d, HOB_DEFINITION_COMMAND, c->name, c->arena, &c->x,
                                  &c->workspace) >= 0)
        return true;
    return hob_definitions_copy(d, HOB_DEFINITION_SKILL, c->name, c->arena, &c->x, &c->workspace) >=
           0;
}

static int read_text(const command *c, hob_buf *out, hob_error *err) {
    bool skill = c->x.kind == HOB_DEFINITION_SKILL;
    hob_str body = c->x.text;
    hob_buf file, expanded;
    hob_buf_init(&file, HOB_DISCOVER_FILE_MAX + 1);
    hob_buf_init(&expanded, HOB_MESSAGE_MAX / 4);
    int rc = skill ? hob_skill_text(&c->x, c->workspace, &file, &body, err) : HOB_OK;
    if (rc >= 0 && hob_template_expand(body, c->arguments, &expanded) < 0)
        rc = hob_fail(err, HOB_ETOOBIG, 0, "/%.*s with its arguments is too large",
                      HOB_FMT(c->name));
    if (rc >= 0 && skill) hob_skill_write(&c->x, hob_buf_str(&expanded), out);
    if (rc >= 0 && !skill) hob_buf_add(out, hob_buf_str(&expanded));
    if (rc >= 0 && !hob_str_trim(hob_buf_str(out)).n)
        rc = hob_fail(err, HOB_EINVAL, 0, "/%.*s is empty", HOB_FMT(c->name));
    hob_buf_finish(&file);
    hob_buf_finish(&expanded);
    return rc;
}

static int write_block(const command *c, hob_buf *out, hob_error *err) {
    hob_buf text;
    hob_jsonw w;
    hob_buf_init(&text, HOB_MESSAGE_MAX / 2);
    int rc = read_text(c, &text, err);
    if (rc >= 0) {
        hob_jsonw_init(&w, out);
        hob_jsonw_object(&w);
        hob_jsonw_kstr(&w, "type", HOB_STR("text"));
        hob_jsonw_kstr(&w, "text", hob_buf_str(&text));
        hob_jsonw_kstr(&w, "typed", c->typed);
        if (c->x.flags & HOB_DEFINITION_TOOLS) {
            hob_buf_addz(out, ",\"narrow\":");
            hob_definition_write_narrow(&c->x, out);
        }
        hob_jsonw_object_end(&w);
    }
    hob_buf_finish(&text);
    return rc;
}

int hob_session_expand(hob_session *s, hob_str typed, hob_buf *out, hob_error *err) {
    command c = {.arena = NULL};
    if (!s->definitions || !split(typed, &c)) return 0;
    c.arena = hob_arena_create(0);
    int rc = find(s->definitions, &c) ? write_block(&c, out, err) : 0;
    bool expanded = rc >= 0 && out->n;
    hob_arena_destroy(c.arena);
    return rc < 0 ? rc : expanded;
}

static void add_blocks(const hob_json *from, hob_buf *out) {
    for (; from; from = hob_json_next(from)) {
        hob_buf_addc(out, ',');
        hob_buf_add(out, hob_json_raw(from));
    }
}

int hob_session_expand_content(hob_session *s, hob_str content, hob_buf *out, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *list = NULL;
    hob_buf block;
    hob_buf_init(&block, HOB_MESSAGE_MAX);
    int rc = s->definitions ? hob_json_parse(a, content, NULL, &list, err) : 0;
    const hob_json *first = rc < 0 ? NULL : hob_json_first(list);
    if (first && !hob_json_get(first, "typed"))
        rc = hob_session_expand(s, hob_json_get_str(first, "text"), &block, err);
    if (rc > 0) {
        hob_buf_addc(out, '[');
        hob_buf_add(out, hob_buf_str(&block));
        add_blocks(hob_json_next(first), out);
        hob_buf_addc(out, ']');
    }
    if (rc > 0 && (out->err || block.err))
        rc = hob_fail(err, HOB_ETOOBIG, 0, "the message is too large");
    hob_buf_finish(&block);
    hob_arena_destroy(a);
    return rc;
}

/* ---- which there are ----------------------------------------------------------------------------------------- */

static void write_row(const hob_definition *x, hob_page *p) {
    bool skill = x->kind == HOB_DEFINITION_SKILL;
    hob_buf row, usage;
    hob_jsonw w;
    hob_buf_init(&row, 1u << 20);
    hob_buf_init(&usage, 4096);
    hob_buf_addf(&usage, "/%.*s%s%.*s", HOB_FMT(x->name), x->argument_hint.n ? " " : "",
                 HOB_FMT(x->argument_hint));
    hob_jsonw_init(&w, &row);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "name", x->name);
    hob_jsonw_kstr(&w, "kind", skill ? HOB_STR("skill") : HOB_STR("command"));
    hob_jsonw_kstr(&w, "description", x->description);
    hob_jsonw_kstr(&w, "usage", hob_buf_str(&usage));
    hob_jsonw_object_end(&w);
    hob_page_add(p, hob_buf_str(&row));
    hob_buf_finish(&row);
    hob_buf_finish(&usage);
}

static void write_rows(hob_session *s, hob_definition_kind kind, hob_page *p) {
    hob_arena *a = hob_arena_create(0);
    hob_definition *all;
    size_t n = hob_definitions_all(s->definitions, kind, a, &all);
    for (size_t i = 0; i < n; i++) write_row(&all[i], p);
    hob_arena_destroy(a);
}

int hob_session_commands(hob_session *s, hob_page **out, hob_error *err) {
    int rc = hob_session_enter(s, err);
    if (rc < 0) return rc;
    *out = hob_page_create();
    write_rows(s, HOB_DEFINITION_COMMAND, *out);
    write_rows(s, HOB_DEFINITION_SKILL, *out);
    hob_session_leave(s);
    return HOB_OK;
}
