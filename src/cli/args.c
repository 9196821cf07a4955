/*
 * args.c - the option parser. See args.h.
 */
#include "cli/args.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_NAMES 64 /* looked at for a suggestion */

void hob_words_add(hob_words *w, const char *word) {
    w->at = hob_realloc(w->at, (w->n + 2) * sizeof *w->at);
    w->at[w->n++] = word;
    w->at[w->n] = NULL;
}

void hob_words_finish(hob_words *w) {
    hob_free(w->at);
    *w = (hob_words){NULL, 0};
}

void hob_words_join(hob_buf *out, const hob_words *w, size_t first) {
    for (size_t i = first; i < w->n; i++) hob_buf_addf(out, "%s%s", i > first ? " " : "", w->at[i]);
}

/* ---- finding an option ----------------------------------------------------------------------- */

static const hob_opt *find_letter(hob_opts t, char letter) {
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].letter == letter) return &t.at[i];
    return NULL;
}

static const hob_opt *find_name(hob_opts t, hob_str name) {
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].name && hob_str_eqz(name, t.at[i].name)) return &t.at[i];
    return NULL;
}

/* What other programs call it. */
static const char *translated(hob_opts t, hob_str word) {
    static const char *const others[] = {"port", "host", "bind", "address"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(others); i++)
        if (hob_str_eqz(word, others[i]) && find_name(t, HOB_STR("listen"))) return "listen";
    return NULL;
}

/* The nearest name; a word that a name begins with ("perm") counts as near. */
static const char *nearest(hob_opts t, hob_str word) {
    const char *names[MAX_NAMES], *begins = NULL;
    size_t n = 0;
    for (size_t i = 0; i < t.n && n < MAX_NAMES; i++) {
        if (!t.at[i].name) continue;
        names[n++] = t.at[i].name;
        if (word.n >= 2 && hob_str_starts(hob_str_z(t.at[i].name), word)) begins = t.at[i].name;
    }
    const char *best = hob_str_nearest(word, names, n);
    return best ? best : begins;
}

static int unknown(hob_opts t, const char *arg, hob_error *err) {
    hob_str word = hob_str_z(arg);
    while (word.n && *word.p == '-') word = hob_str_skip(word, 1);
    ptrdiff_t equals = hob_str_chr(word, '=');
    if (equals > 0) word = hob_str_first(word, (size_t)equals);
    const char *near = translated(t, word);
    if (!near) near = nearest(t, word);
    if (near)
        return hob_fail(err, HOB_EINVAL, 0, "unknown option %.100s; did you mean --%s?", arg, near);
    return hob_fail(err, HOB_EINVAL, 0,
                    "unknown option %.100s; --help lists them all, and -- ends the options", arg);
}

/* ---- storing a value ------------------------------------------------------------------------- */

static int store_word(const hob_opt *o, const char *value, const char **to, hob_error *err) {
    hob_str rest = hob_str_z(o->arg), word;
    while (hob_str_split(&rest, '|', &word)) {
        if (!hob_str_eqz(word, value)) continue;
        *to = value;
        return HOB_OK;
    }
    return hob_fail(err, HOB_EINVAL, 0, "--%s must be one of %s, not '%.100s'", o->name, o->arg,
                    value);
}

static int store_count(const hob_opt *o, const char *value, int64_t *to, hob_error *err) {
    int64_t n;
    if (hob_str_int(hob_str_z(value), &n) < 0 || n < 1)
        return hob_fail(err, HOB_EINVAL, 0,
                        "--%s must be a whole number of at least 1, not '%.100s'", o->name, value);
    *to = n;
    return HOB_OK;
}

static int store_number(const hob_opt *o, const char *value, double *to, hob_error *err) {
    char *end;
    errno = 0;
    double n = strtod(value, &end);
    if (errno || end == value || *end || !isfinite(n) || n <= 0)
        return hob_fail(err, HOB_EINVAL, 0, "--%s must be a number above 0, not '%.100s'", o->name,
                        value);
    *to = n;
    return HOB_OK;
}

static int store(const hob_opt *o, const char *value, void *into, hob_error *err) {
    void *to = (char *)into + o->offset;
    switch (o->kind) {
    case HOB_OPT_FLAG: *(bool *)to = true; return HOB_OK;
    case HOB_OPT_TEXT: *(const char **)to = value; return HOB_OK;
    case HOB_OPT_SAME: *(const char **)to = o->arg; return HOB_OK;
    case HOB_OPT_WORD: return store_word(o, value, to, err);
    case HOB_OPT_COUNT: return store_count(o, value, to, err);
    case HOB_OPT_NUMBER: return store_number(o, value, to, err);
    case HOB_OPT_LIST: hob_words_add(to, value); return HOB_OK;
    case HOB_OPT_MAYBE: *(hob_maybe *)to = (hob_maybe){true, value}; return HOB_OK;
    }
    return HOB_EINVAL;
}

/* ---- one argument ---------------------------------------------------------------------------- */

static bool takes_value(const hob_opt *o) {
    return o->kind != HOB_OPT_FLAG && o->kind != HOB_OPT_SAME && o->kind != HOB_OPT_MAYBE;
}

/* Reads the option at *argv; *argv is moved to the last argument that belongs to it. */
static int read_option(hob_opts t, char *const **argv, void *into, hob_error *err) {
    const char *arg = **argv, *inside = NULL;
    bool is_long = arg[1] == '-';
    hob_str name = hob_str_z(arg + 2);
    ptrdiff_t equals = is_long ? hob_str_chr(name, '=') : -1;
    if (equals >= 0) {
        inside = name.p + equals + 1;
        name = hob_str_first(name, (size_t)equals);
    }
    const hob_opt *o = is_long ? find_name(t, name) : arg[2] ? NULL : find_letter(t, arg[1]);
    if (!o) return unknown(t, arg, err);
    if (inside && !takes_value(o) && o->kind != HOB_OPT_MAYBE)
        return hob_fail(err, HOB_EINVAL, 0, "--%s takes no value", o->name);
    const char *next = (*argv)[1];
    if (!inside && takes_value(o) && !next)
        return hob_fail(err, HOB_EINVAL, 0, "%s needs a value: %s %s", arg, arg, o->arg);
    bool take =
        takes_value(o) || (o->kind == HOB_OPT_MAYBE && next && hob_id_valid(hob_str_z(next)));
    if (!inside && take) {
        inside = next;
        ++*argv;
    }
    return store(o, inside, into, err);
}

int hob_args_parse(hob_opts table, char *const *argv, void *into, hob_rest *rest, hob_error *err) {
    int result = HOB_OK;
    bool literal = false;
    *rest = (hob_rest){.literal = SIZE_MAX};
    for (; *argv; argv++) {
        const char *arg = *argv;
        if (literal || arg[0] != '-' || !arg[1]) {
            hob_words_add(&rest->words, arg);
        } else if (!strcmp(arg, "--")) {
            literal = true;
            rest->literal = rest->words.n;
        } else {
            int code = read_option(table, &argv, into, result < 0 ? NULL : err);
            if (result >= 0) result = code;
        }
    }
    return result < 0 ? result : HOB_OK;
}
