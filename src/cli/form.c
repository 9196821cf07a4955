/*
 * form.c - see form.h.
 */
#include "cli/form.h"

#include "base/choice.h"
#include "cli/cli.h"

enum { FIELDS_MAX = 256, CHOICES_MAX = 256 };

typedef enum kind { TEXT, NUMBER, YES_NO, CHOICE, SEVERAL, OTHER } kind;

typedef struct field {
    const hob_json *schema;
    hob_str name; /* .p NULL: the answer itself */
    kind kind;
    bool required;
} field;

struct hob_form {
    hob_arena *arena;
    hob_str question;
    field fields[FIELDS_MAX];
    size_t n, at;
    hob_buf answer;
};

/* ---- schemas ----------------------------------------------------------------------------------- */

/* More than can be shown are typed. */
static const hob_json *choices_of(const hob_json *schema) {
    const hob_json *all = hob_choices(schema);
    return hob_json_count(all) <= CHOICES_MAX ? all : NULL;
}

/* Of several types the first that is more than nothing. */
static hob_str type_of(const hob_json *schema) {
    const hob_json *t = hob_json_get(schema, "type");
    if (!hob_json_is(t, HOB_JSON_ARRAY)) return hob_json_str(t);
    for (t = hob_json_first(t); t; t = hob_json_next(t))
        if (!hob_str_eqz(hob_json_str(t), "null")) return hob_json_str(t);
    return HOB_STR_NULL;
}

static kind kind_of(const hob_json *schema) {
    hob_str type = type_of(schema);
    if (choices_of(schema)) return CHOICE;
    if (hob_str_eqz(type, "boolean")) return YES_NO;
    if (hob_str_eqz(type, "integer") || hob_str_eqz(type, "number")) return NUMBER;
    if (hob_str_eqz(type, "string") || !schema) return TEXT;
    bool list = hob_str_eqz(type, "array") && choices_of(hob_json_get(schema, "items"));
    return list ? SEVERAL : OTHER;
}

static bool is_required(const hob_json *schema, hob_str name) {
    const hob_json *v = hob_json_first(hob_json_get(schema, "required"));
    for (; v; v = hob_json_next(v))
        if (hob_str_eq(hob_json_str(v), name)) return true;
    return false;
}

static void add(hob_form *f, field x) {
    x.kind = kind_of(x.schema);
    f->fields[f->n++] = x;
}

hob_form *hob_form_create(hob_str question, hob_str schema) {
    hob_form *f = HOB_NEW(hob_form);
    const hob_json *v = NULL, *members;
    f->arena = hob_arena_create(0);
    f->question = hob_arena_dup(f->arena, question);
    if (schema.n) hob_json_parse(f->arena, hob_arena_dup(f->arena, schema), NULL, &v, NULL);
    members = hob_json_get(v, "properties");
    if (members && hob_json_count(members) <= FIELDS_MAX && !choices_of(v))
        for (const hob_json *m = hob_json_first(members); m; m = hob_json_next(m))
            add(f, (field){.schema = m,
                           .name = hob_json_key(m),
                           .required = is_required(v, hob_json_key(m))});
    if (!f->n) add(f, (field){.schema = v, .required = true});
    hob_buf_init(&f->answer, 1u << 20);
    if (f->fields[0].name.p) hob_buf_addc(&f->answer, '{');
    return f;
}

void hob_form_destroy(hob_form *f) {
    if (!f) return;
    hob_buf_finish(&f->answer);
    hob_arena_destroy(f->arena);
    hob_free(f);
}

hob_str hob_form_answer(const hob_form *f) {
    return hob_buf_str(&f->answer);
}

/* ---- showing ------------------------------------------------------------------------------------- */

/* Further lines have a mark of their own: none can pass for ours. */
static void show_lines(hob_buf *out, hob_str text) {
    hob_str line;
    for (bool more = false; hob_str_split(&text, '\n', &line); more = true) {
        if (more) hob_buf_addz(out, "\n    | ");
        hob_show_text(out, line);
    }
    hob_buf_addc(out, '\n');
}

static void show_name(hob_buf *out, const field *x) {
    hob_str title = hob_json_get_str(x->schema, "title");
    hob_str words = hob_json_get_str(x->schema, "description");
    if (!x->name.p && !title.n && !words.n) return;
    hob_buf_addz(out, "  ");
    hob_show_line(out, title.n ? title : x->name, 200);
    if (words.n && (title.n || x->name.n)) hob_buf_addz(out, ": ");
    show_lines(out, words);
}

static void show_choices(hob_buf *out, const hob_json *schema) {
    size_t i = 1;
    const hob_json *c = hob_json_first(choices_of(schema));
    for (; c; c = hob_json_next(c), i++) {
        hob_buf_addf(out, "    %zu) ", i);
        hob_show_line(out, hob_choice_words(schema, c), 400);
        hob_buf_addc(out, '\n');
    }
}

void hob_form_hint(const hob_form *f, hob_buf *out) {
    static const char *const hints[] = {
        [TEXT] = "your answer",         [NUMBER] = "a number",      [YES_NO] = "[y]es or [n]o",
        [CHOICE] = "the number of one", [SEVERAL] = "numbers: 1,3", [OTHER] = "as JSON"};
    const field *x = &f->fields[f->at];
    const hob_json *other = hob_json_get(x->schema, "default");
    hob_buf_addf(out, "  %s", hints[x->kind]);
    if (other) {
        hob_buf_addz(out, "; empty: ");
        hob_show_line(out, hob_json_raw(other), 60);
    } else if (!x->required) {
        hob_buf_addz(out, "; empty: none");
    }
    hob_buf_addz(out, "; /no and why: ");
}

void hob_form_show(const hob_form *f, hob_buf *out) {
    const field *x = &f->fields[f->at];
    if (!f->at) show_lines(out, f->question);
    show_name(out, x);
    if (x->kind == CHOICE) show_choices(out, x->schema);
    if (x->kind == SEVERAL) show_choices(out, hob_json_get(x->schema, "items"));
}

/* ---- taking ---------------------------------------------------------------------------------------- */

/* By its number, or its very words. */
static const hob_json *chosen(const hob_json *schema, hob_str word) {
    int64_t n = 0, i = 1;
    const hob_json *all = choices_of(schema), *c = hob_json_first(all);
    if (hob_str_int(word, &n) < 0) n = 0;
    for (; c && i != n && !hob_str_eq(hob_choice_words(schema, c), word); i++) c = hob_json_next(c);
    return hob_choice_value(schema, c);
}

static int take_choice(const hob_json *schema, hob_str word, hob_buf *out, hob_error *err) {
    const hob_json *v = chosen(schema, word);
    if (!v)
        return hob_fail(err, HOB_EINVAL, 0, "there is no choice %.*s: 1 to %zu",
                        HOB_FMT(hob_str_first(word, hob_utf8_prefix(word, 60))),
                        hob_json_count(choices_of(schema)));
    hob_buf_add(out, hob_json_raw(v));
    return HOB_OK;
}

static int take_several(const hob_json *schema, hob_str line, hob_buf *out, hob_error *err) {
    hob_str word;
    int rc = HOB_OK;
    bool any = false;
    hob_buf_addc(out, '[');
    while (rc >= 0 && hob_str_split(&line, ',', &word)) {
        if (!(word = hob_str_trim(word)).n) continue;
        if (any) hob_buf_addc(out, ',');
        rc = take_choice(schema, word, out, err);
        any = true;
    }
    hob_buf_addc(out, ']');
    return rc;
}

static int take_yes_no(hob_str line, hob_buf *out, hob_error *err) {
    bool yes = hob_str_ieq(line, HOB_STR("y")) || hob_str_ieq(line, HOB_STR("yes"));
    bool no = hob_str_ieq(line, HOB_STR("n")) || hob_str_ieq(line, HOB_STR("no"));
    if (!yes && !no) return hob_fail(err, HOB_EINVAL, 0, "yes or no?");
    hob_buf_addz(out, yes ? "true" : "false");
    return HOB_OK;
}

static int take_json(hob_str line, bool number, hob_buf *out, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    int rc =
        hob_json_parse(a, line, NULL, &v, NULL) < 0 || (number && !hob_json_is(v, HOB_JSON_NUMBER))
            ? hob_fail(err, HOB_EINVAL, 0, number ? "that is no number" : "that is not JSON")
            : HOB_OK;
    if (rc >= 0) hob_buf_add(out, line);
    hob_arena_destroy(a);
    return rc;
}

static int take_value(const field *x, hob_str line, hob_buf *out, hob_error *err) {
    switch (x->kind) {
    case TEXT: hob_json_quote(out, line); return HOB_OK;
    case NUMBER: return take_json(line, true, out, err);
    case YES_NO: return take_yes_no(line, out, err);
    case CHOICE: return take_choice(x->schema, line, out, err);
    case SEVERAL: return take_several(hob_json_get(x->schema, "items"), line, out, err);
    case OTHER: return take_json(line, false, out, err);
    }
    return HOB_OK;
}

/* Of an object, its member; one that is left out is not there. */
static int take_field(hob_form *f, const field *x, hob_str line, hob_error *err) {
    const hob_json *other = hob_json_get(x->schema, "default");
    size_t before = f->answer.n;
    if (!line.n && !other && x->required)
        return hob_fail(err, HOB_EINVAL, 0, "an answer is needed here");
    if (!line.n && !other) return HOB_OK;
    if (x->name.p && before > 1) hob_buf_addc(&f->answer, ',');
    if (x->name.p) hob_json_quote(&f->answer, x->name);
    if (x->name.p) hob_buf_addc(&f->answer, ':');
    int rc = HOB_OK;
    if (line.n)
        rc = take_value(x, line, &f->answer, err);
    else
        hob_buf_add(&f->answer, hob_json_raw(other));
    if (rc < 0) f->answer.n = before;
    return rc;
}

int hob_form_take(hob_form *f, hob_str line, hob_error *err) {
    const field *x = &f->fields[f->at];
    int rc = take_field(f, x, line, err);
    if (rc < 0) return rc;
    if (++f->at < f->n) return 0;
    if (x->name.p) hob_buf_addc(&f->answer, '}');
    return 1;
}
