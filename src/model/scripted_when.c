/*
 * scripted_when.c - conditions of a rule.
 *
 * A `when` object becomes a flat list of tests, all of which must hold. Each looks at one field of the
 * request; what is tested about it depends on the field: a text, a number, a flag, or the list of tools.
 */
#include "model/scripted.h"

typedef enum field {
    USER,
    RESULT,
    SYSTEM,
    TOOL,
    MODEL,
    THINKING,
    OFFERS,
    STEP,
    TURN,
    MESSAGES,
    ATTEMPT,
    FAILED,
    FIELDS
} field;

static const char *const field_names[] = {
    [USER] = "user",   [RESULT] = "result",     [SYSTEM] = "system",   [TOOL] = "tool",
    [MODEL] = "model", [THINKING] = "thinking", [OFFERS] = "offers",   [STEP] = "step",
    [TURN] = "turn",   [MESSAGES] = "messages", [ATTEMPT] = "attempt", [FAILED] = "failed",
    [FIELDS] = NULL,
};

typedef enum op { EQUALS, PREFIX, SUFFIX, CONTAINS, ABSENT, BETWEEN, IS, OFFERED } op;

/* The first ones are words of a script, in this order. */
static const char *const op_names[] = {"equals", "prefix", "suffix", "contains", "absent", NULL};

struct hob_script_test {
    field field;
    op op;
    hob_str text;
    hob_script_range range;
    bool flag;
};

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct sink { /* counts when `tests` is NULL, else fills */
    hob_script_reader *r;
    hob_script_test *tests;
    size_t n;
} sink;

static int add(sink *to, hob_script_test test) {
    if (to->tests) to->tests[to->n] = test;
    to->n++;
    return HOB_OK;
}

static int add_text(sink *to, field f, op o, const hob_json *v) {
    hob_script_test t = {.field = f, .op = o};
    const char *what = o == OFFERED ? field_names[f] : op_names[o];
    int code = hob_script_string(to->r, v, what, &t.text);
    return code < 0 ? code : add(to, t);
}

/* A string, or an array of strings each of which makes a test. */
static int add_texts(sink *to, field f, op o, const hob_json *v) {
    if (!hob_json_is(v, HOB_JSON_ARRAY)) return add_text(to, f, o, v);
    for (const hob_json *s = hob_json_first(v); s; s = hob_json_next(s)) {
        int code = add_text(to, f, o, s);
        if (code < 0) return code;
    }
    return HOB_OK;
}

/* "words", or {"equals": …, "prefix": …, "suffix": …, "contains": …, "absent": …}. */
static int read_text(sink *to, field f, op plain, const hob_json *v) {
    if (hob_json_is(v, HOB_JSON_STRING)) return add_text(to, f, plain, v);
    if (!hob_json_is(v, HOB_JSON_OBJECT))
        return hob_script_bad(to->r, v, "\"%s\": expected a string or an object with %s",
                              field_names[f], "equals, prefix, suffix, contains or absent");
    int code = hob_script_keys(to->r, v, field_names[f], op_names);
    for (op o = EQUALS; code >= 0 && o <= ABSENT; o++) {
        const hob_json *arg = hob_json_get(v, op_names[o]);
        if (!arg) continue;
        bool many = o == CONTAINS || o == ABSENT;
        code = many ? add_texts(to, f, o, arg) : add_text(to, f, o, arg);
    }
    return code;
}

/* 3, or {"min": 2, "max": 5}. */
static int read_number(sink *to, field f, const hob_json *v) {
    static const char *const keys[] = {"min", "max", NULL};
    hob_script_range all = {1, INT32_MAX};
    hob_script_test t = {.field = f, .op = BETWEEN, .range = all};
    if (!hob_json_is(v, HOB_JSON_OBJECT)) {
        int code = hob_script_int(to->r, v, field_names[f], all, &t.range.min);
        t.range.max = t.range.min;
        return code < 0 ? code : add(to, t);
    }
    int code = hob_script_keys(to->r, v, field_names[f], keys);
    if (code < 0) return code;
    const hob_json *min = hob_json_get(v, "min"), *max = hob_json_get(v, "max");
    if (min && (code = hob_script_int(to->r, min, "min", all, &t.range.min)) < 0) return code;
    if (max && (code = hob_script_int(to->r, max, "max", all, &t.range.max)) < 0) return code;
    if (t.range.min > t.range.max)
        return hob_script_bad(to->r, v, "\"%s\": \"min\" is above \"max\"", field_names[f]);
    return add(to, t);
}

static int read_flag(sink *to, field f, const hob_json *v) {
    hob_script_test t = {.field = f, .op = IS};
    int code = hob_script_bool(to->r, v, "failed", &t.flag);
    return code < 0 ? code : add(to, t);
}

static int read_field(sink *to, field f, const hob_json *v) {
    switch (f) {
    case USER:
    case RESULT:
    case SYSTEM: return read_text(to, f, CONTAINS, v);
    case TOOL:
    case MODEL:
    case THINKING: return read_text(to, f, EQUALS, v);
    case OFFERS: return add_texts(to, f, OFFERED, v);
    case STEP:
    case TURN:
    case MESSAGES:
    case ATTEMPT: return read_number(to, f, v);
    case FAILED: return read_flag(to, f, v);
    case FIELDS: break;
    }
    return HOB_OK;
}

static int read_fields(sink *to, const hob_json *v) {
    to->n = 0;
    for (field f = USER; f < FIELDS; f++) {
        const hob_json *value = hob_json_get(v, field_names[f]);
        int code = value ? read_field(to, f, value) : HOB_OK;
        if (code < 0) return code;
    }
    return HOB_OK;
}

int hob_script_when_read(hob_script_reader *r, const hob_json *v, hob_script_when *out) {
    int code = hob_script_keys(r, v, "when", field_names);
    if (code < 0) return code;
    sink to = {.r = r};
    if ((code = read_fields(&to, v)) < 0) return code;
    to.tests = hob_script_room(r, to.n, sizeof(hob_script_test));
    if (!to.tests) return HOB_ETOOBIG;
    if ((code = read_fields(&to, v)) < 0) return code;
    *out = (hob_script_when){.tests = to.tests, .n = to.n};
    return HOB_OK;
}

/* ---- matching ------------------------------------------------------------------------------- */

static bool text_holds(const hob_script_test *t, hob_str s) {
    switch (t->op) {
    case EQUALS: return hob_str_eq(s, t->text);
    case PREFIX: return hob_str_starts(s, t->text);
    case SUFFIX: return hob_str_ends(s, t->text);
    case CONTAINS: return hob_str_find(s, t->text) >= 0;
    case ABSENT: return hob_str_find(s, t->text) < 0;
    case BETWEEN:
    case IS:
    case OFFERED: break;
    }
    return false;
}

static bool is_offered(const hob_json *tools, hob_str name) {
    for (const hob_json *t = hob_json_first(tools); t; t = hob_json_next(t)) {
        if (hob_str_eq(hob_json_get_str(t, "name"), name)) return true;
    }
    return false;
}

static bool between(int64_t n, hob_script_range range) {
    return n >= range.min && n <= range.max;
}

static bool holds(const hob_script_test *t, const hob_script_view *v) {
    switch (t->field) {
    case USER: return text_holds(t, v->user);
    case RESULT: return v->has_result && text_holds(t, v->result);
    case SYSTEM: return text_holds(t, v->system);
    case TOOL: return v->has_result && text_holds(t, v->tool);
    case MODEL: return text_holds(t, v->model);
    case THINKING: return text_holds(t, v->thinking);
    case OFFERS: return is_offered(v->tools, t->text);
    case STEP: return between(v->step, t->range);
    case TURN: return between(v->turn, t->range);
    case MESSAGES: return between(v->messages, t->range);
    case ATTEMPT: return between(v->attempt, t->range);
    case FAILED: return v->has_result && v->failed == t->flag;
    case FIELDS: break;
    }
    return false;
}

/* What the user wrote behind the words that the rule asked for, white space around it removed. */
static hob_str rest_of(const hob_script_when *w, hob_str user) {
    for (size_t i = 0; i < w->n; i++) {
        const hob_script_test *t = &w->tests[i];
        if (t->field != USER || (t->op != PREFIX && t->op != CONTAINS)) continue;
        size_t at = (size_t)hob_str_find(user, t->text);
        return hob_str_trim(hob_str_skip(user, at + t->text.n));
    }
    return user;
}

bool hob_script_when_match(const hob_script_when *w, hob_script_view *v) {
    for (size_t i = 0; i < w->n; i++) {
        if (!holds(&w->tests[i], v)) return false;
    }
    v->rest = rest_of(w, v->user);
    return true;
}
