/*
 * rule.c - reading a rule, and which argument of a call it is compared with.
 */
#include "policy/rule.h"

#include <stdio.h>

/* Tools whose calls a pattern can be compared with, and the argument that is. */
typedef struct subject {
    const char *tool;
    hob_rule_form form;
    const char *argument;
    const char *otherwise; /* what a call without the argument means; NULL = it cannot be told */
} subject;

static const subject subjects[] = {
    {"bash", HOB_RULE_COMMAND, "command", NULL}, {"read", HOB_RULE_PATH, "path", NULL},
    {"write", HOB_RULE_PATH, "path", NULL},      {"edit", HOB_RULE_PATH, "path", NULL},
    {"patch", HOB_RULE_PATH, "path", NULL},      {"ls", HOB_RULE_PATH, "path", "."},
};

static const subject *subject_of(hob_str tool) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(subjects); i++) {
        if (hob_str_ieq(tool, hob_str_z(subjects[i].tool))) return &subjects[i];
    }
    return NULL;
}

static int refuse(hob_error *err, hob_str text, const char *why) {
    hob_buf shown;
    hob_buf_init(&shown, 2048);
    hob_json_quote(&shown, hob_str_first(text, hob_utf8_prefix(text, 100)));
    hob_fail(err, HOB_ECONFIG, 0, "the permission rule %s cannot be used: %s", hob_buf_z(&shown),
             why);
    hob_buf_finish(&shown);
    return HOB_ECONFIG;
}

/* Letters, digits, _ and -; a "*" may stand at the end. */
static bool tool_valid(hob_str tool, hob_rule_use use) {
    size_t n = tool.n;
    bool star = n > 0 && tool.p[n - 1] == '*';
    if (star) n--;
    for (size_t i = 0; i < n; i++) {
        char c = tool.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') return false;
    }
    return n > 0 || (star && use != HOB_RULE_ALLOW);
}

static bool has_control(hob_str s) {
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f) return true;
    }
    return false;
}

static const char *read_command(hob_rule *r, hob_str pattern) {
    r->more = hob_str_ends(pattern, HOB_STR(":*"));
    if (r->more) pattern.n -= 2;
    hob_buf words;
    hob_buf_init(&words, HOB_RULE_MAX + 1);
    hob_str rest = hob_str_trim(pattern), word;
    while (hob_str_split(&rest, ' ', &word)) {
        if (word.n == 0) continue;
        if (words.n > 0) hob_buf_addc(&words, ' ');
        hob_buf_add(&words, word);
    }
    r->pattern = hob_dupz(hob_buf_str(&words));
    hob_buf_finish(&words);
    return *r->pattern ? NULL : "it has no command; for every command write the tool's name alone";
}

static void set_base(hob_rule *r, hob_str folder) {
    hob_buf base;
    hob_buf_init(&base, 8192);
    if (folder.n > 0) hob_path_clean(folder, HOB_STR("/"), &base);
    if (base.n > 0 && base.p[base.n - 1] != '/') hob_buf_addc(&base, '/');
    r->base = hob_dupz(hob_buf_str(&base));
    hob_buf_finish(&base);
}

static const char *read_path(hob_rule *r, hob_str pattern, const hob_rule_place *place) {
    bool home = hob_str_starts(pattern, HOB_STR("~/")),
         here = hob_str_starts(pattern, HOB_STR("./"));
    bool absolute = pattern.n > 0 && pattern.p[0] == '/';
    if (home && place->home.n == 0) return "the home folder is not known here";
    r->anchored = home || here || absolute;
    set_base(r, home ? place->home : absolute ? HOB_STR_NULL : place->cwd);
    if (home) pattern = hob_str_skip(pattern, 2);
    bool folder = pattern.n > 1 && pattern.p[pattern.n - 1] == '/';
    hob_buf clean;
    hob_buf_init(&clean, HOB_RULE_MAX + 8);
    hob_str rest = pattern, part;
    bool up = false;
    while (hob_str_split(&rest, '/', &part)) up = up || hob_str_eqz(part, "..");
    if (!up) hob_path_clean(pattern, HOB_STR_NULL, &clean);
    if (folder && clean.n > 0) hob_buf_addc(&clean, '/');
    r->pattern = hob_dupz(hob_buf_str(&clean));
    hob_buf_finish(&clean);
    if (up) return "write the path out, without \"..\"";
    return *r->pattern ? NULL : "it has no path; for every path write the tool's name alone";
}

static const char *read_pattern(hob_rule *r, hob_str pattern, const hob_rule_place *place) {
    const subject *s = subject_of(hob_str_z(r->tool));
    if (!s) return "patterns are known for bash, read, write, edit, patch and ls only";
    r->form = s->form;
    return s->form == HOB_RULE_COMMAND ? read_command(r, pattern) : read_path(r, pattern, place);
}

static const char *read_text(hob_rule *r, hob_str text, const hob_rule_place *place) {
    if (text.n > HOB_RULE_MAX) return "it is longer than 256 bytes";
    if (text.n == 0) return "it is empty";
    if (!hob_utf8_valid(text) || has_control(text)) return "it has control characters in it";
    ptrdiff_t open = hob_str_chr(text, '(');
    hob_str tool = hob_str_trim(hob_str_first(text, open < 0 ? text.n : (size_t)open));
    if (!tool_valid(tool, r->use)) return "it does not begin with the name of a tool";
    r->tool = hob_dupz(tool);
    if (open < 0) return NULL;
    if (text.p[text.n - 1] != ')') return "its \")\" is missing at the end";
    hob_str pattern = hob_str_skip(hob_str_first(text, text.n - 1), (size_t)open + 1);
    return read_pattern(r, pattern, place);
}

static char *sentence(const char *fmt, const char *text) {
    hob_buf out;
    hob_buf_init(&out, 1024);
    hob_str rest = hob_str_z(fmt), part;
    hob_str_split(&rest, '%', &part);
    hob_buf_add(&out, part);
    hob_buf_addz(&out, text);
    hob_buf_add(&out, rest);
    char *z = hob_dupz(hob_buf_str(&out));
    hob_buf_finish(&out);
    return z;
}

static void set_words(hob_rule *r, hob_str text) {
    char *z = hob_dupz(text);
    switch (r->use) {
    case HOB_RULE_ALLOW:
        r->by = sentence("allow: %", z);
        r->reason = hob_dupz(HOB_STR(""));
        break;
    case HOB_RULE_ASK:
        r->by = sentence("ask: %", z);
        r->reason = sentence("the rule % asks for it", z);
        break;
    case HOB_RULE_DENY:
        r->by = sentence("deny: %", z);
        r->reason = sentence("the rule % forbids it", z);
        break;
    }
    r->doubt = sentence(r->form == HOB_RULE_PATH
                            ? "it cannot be told whether the rule % applies; write the path out"
                            : "it cannot be told whether the rule % applies; name the command "
                              "itself instead of a variable or pattern",
                        z);
    hob_free(z);
}

int hob_rule_init(hob_rule *r, hob_str text, hob_rule_use use, const hob_rule_place *place,
                  hob_error *err) {
    *r = (hob_rule){.form = HOB_RULE_TOOL, .use = use};
    hob_str trimmed = hob_str_trim(text);
    const char *why = read_text(r, trimmed, place);
    if (why) {
        hob_rule_finish(r);
        return refuse(err, text, why);
    }
    set_words(r, trimmed);
    return HOB_OK;
}

void hob_rule_finish(hob_rule *r) {
    hob_free(r->tool);
    hob_free(r->pattern);
    hob_free(r->base);
    hob_free(r->by);
    hob_free(r->reason);
    hob_free(r->doubt);
    *r = (hob_rule){0};
}

bool hob_rule_names(const hob_rule *r, hob_str tool) {
    hob_str name = hob_str_z(r->tool);
    if (name.p[name.n - 1] != '*') return hob_str_ieq(name, tool);
    name.n--;
    return hob_str_ieq(name, hob_str_first(tool, name.n));
}

hob_match hob_rule_match(const hob_rule *r, const hob_json *args, const hob_rule_place *place) {
    if (r->form == HOB_RULE_TOOL) return HOB_MATCH_YES;
    const subject *s = subject_of(hob_str_z(r->tool));
    const hob_json *v = hob_json_get(args, s->argument);
    hob_str value = hob_json_str(v);
    if (!v && hob_json_is(args, HOB_JSON_OBJECT) && s->otherwise)
        value = hob_str_z(s->otherwise);
    else if (!hob_json_is(v, HOB_JSON_STRING))
        return r->use == HOB_RULE_ALLOW ? HOB_MATCH_NO : HOB_MATCH_DOUBT;
    return r->form == HOB_RULE_COMMAND ? hob_command_match(r, value)
                                       : hob_path_match(r, value, place);
}

bool hob_call_protected(hob_str tool, const hob_json *args, const hob_rule_place *place) {
    const subject *s = subject_of(tool);
    if (!s) return false;
    const hob_json *v = hob_json_get(args, s->argument);
    return !hob_json_is(v, HOB_JSON_STRING) || hob_path_protected(hob_json_str(v), place);
}
