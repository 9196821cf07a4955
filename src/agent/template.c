/*
 * template.c - arguments put into a text: $ARGUMENTS, $1 … $9, ${1:-otherwise}.
 *
 * One pass: what was put in is not looked at again, so an argument cannot ask for others. A text that
 * asks for no argument gets them below it. Everything else, !`command` too, stays as it stands.
 */
#include "agent/definition.h"

#define WORDS 9

typedef struct arguments {
    hob_str all;
    hob_buf text; /* the words, quotes taken off */
    size_t start[WORDS], length[WORDS], n;
    bool used;
} arguments;

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word as a shell would take it, without expanding anything. Returns what follows it. */
static hob_str take_word(hob_str s, hob_buf *out) {
    char quote = 0;
    size_t i = 0;
    for (; i < s.n && (quote || !blank(s.p[i])); i++) {
        char c = s.p[i];
        bool escape = c == '\\' && quote != '\'' && i + 1 < s.n;
        if (escape)
            hob_buf_addc(out, s.p[++i]);
        else if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else
            hob_buf_addc(out, c);
    }
    return hob_str_skip(s, i);
}

static void split(arguments *a) {
    hob_str rest = a->all;
    while (a->n < WORDS) {
        while (rest.n && blank(rest.p[0])) rest = hob_str_skip(rest, 1);
        if (!rest.n) return;
        a->start[a->n] = a->text.n;
        rest = take_word(rest, &a->text);
        a->length[a->n] = a->text.n - a->start[a->n];
        a->n++;
    }
}

static void put_word(arguments *a, size_t number, hob_str otherwise, hob_buf *out) {
    bool there = number <= a->n && a->length[number - 1] > 0;
    hob_str word =
        there ? hob_str_n(a->text.p + a->start[number - 1], a->length[number - 1]) : otherwise;
    a->used = true;
    hob_buf_add(out, word);
}

static bool digit(hob_str s, size_t at) {
    return at < s.n && s.p[at] >= '1' && s.p[at] <= '9';
}

/* s starts with "$". The length of the placeholder that was put in, 0 = it is none. */
static size_t put_placeholder(arguments *a, hob_str s, hob_buf *out) {
    hob_str all = HOB_STR("$ARGUMENTS");
    if (hob_str_starts(s, all)) {
        a->used = true;
        hob_buf_add(out, a->all);
        return all.n;
    }
    bool longer = s.n > 2 && s.p[2] >= '0' && s.p[2] <= '9'; /* $10 is a price */
    if (digit(s, 1) && !longer) {
        put_word(a, (size_t)(s.p[1] - '0'), HOB_STR_NULL, out);
        return 2;
    }
    if (!digit(s, 2) || s.p[1] != '{') return 0;
    ptrdiff_t end = hob_str_chr(s, '}');
    hob_str inside = hob_str_first(s, end < 0 ? 0 : (size_t)end);
    inside = hob_str_skip(inside, 3);
    if (end < 0 || (inside.n && !hob_str_starts(inside, HOB_STR(":-")))) return 0;
    put_word(a, (size_t)(s.p[2] - '0'), hob_str_skip(inside, 2), out);
    return (size_t)end + 1;
}

static void put_all(arguments *a, hob_str text, hob_buf *out) {
    while (text.n) {
        ptrdiff_t at = hob_str_chr(text, '$');
        size_t before = at < 0 ? text.n : (size_t)at;
        hob_buf_add(out, hob_str_first(text, before));
        text = hob_str_skip(text, before);
        if (!text.n) return;
        size_t n = put_placeholder(a, text, out);
        if (n == 0) hob_buf_addc(out, '$');
        text = hob_str_skip(text, n ? n : 1);
    }
}

int hob_template_expand(hob_str text, hob_str args, hob_buf *out) {
    arguments a = {.all = hob_str_trim(args)};
    hob_buf_init(&a.text, a.all.n + 1);
    split(&a);
    put_all(&a, text, out);
    if (!a.used && a.all.n) {
        hob_buf_addz(out, "\n\nARGUMENTS: ");
        hob_buf_add(out, a.all);
    }
    hob_buf_finish(&a.text);
    return out->err;
}
