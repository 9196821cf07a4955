/*
 * glob.c - patterns with "*", by walking all possible places in the pattern at once. A pattern comes
 * from a configuration file and a text from a model: no pair of them may take long.
 */
#include "policy/rule.h"

#include <assert.h>

typedef enum opcode {
    LITERAL,
    ONE,      /* ? */
    STAR,     /* any characters, not '/' in a path */
    DEEP,     /* ** */
    MAYBE_IN, /* before IN: nothing, or IN */
    IN        /* "** /" without the blank: any characters up to a slash */
} opcode;

typedef struct step {
    opcode op;
    char c;
} step;

#define STEPS_MAX (HOB_GLOB_MAX + 2)

typedef struct program {
    step steps[STEPS_MAX];
    size_t n;
    unsigned flags;
} program;

static char fold(char c, unsigned flags) {
    return (flags & HOB_GLOB_NOCASE) && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static void emit(program *p, opcode op, char c) {
    p->steps[p->n++] = (step){op, fold(c, p->flags)};
}

static void compile(program *p, hob_str pattern, unsigned flags) {
    p->n = 0;
    p->flags = flags;
    assert(pattern.n <= HOB_GLOB_MAX); /* cutting it short would turn a "no" into a "yes" */
    if (flags & HOB_GLOB_ANYWHERE) emit(p, DEEP, 0);
    for (size_t i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];
        bool two =
            (flags & HOB_GLOB_SLASH) && c == '*' && i + 1 < pattern.n && pattern.p[i + 1] == '*';
        bool folder = two && i + 2 < pattern.n && pattern.p[i + 2] == '/' &&
                      (i == 0 || pattern.p[i - 1] == '/');
        if (folder) {
            emit(p, MAYBE_IN, 0);
            emit(p, IN, 0);
            i += 2;
        } else if (two) {
            emit(p, DEEP, 0);
            i++;
        } else {
            emit(p, c == '*' ? STAR : c == '?' ? ONE : LITERAL, c);
        }
    }
    if (flags & HOB_GLOB_ANYWHERE) emit(p, DEEP, 0);
}

/* Place i can be reached without reading anything; so can what follows from it. */
static void reach(const program *p, bool *at, size_t i) {
    for (;;) {
        if (at[i]) return;
        at[i] = true;
        if (i == p->n) return;
        opcode op = p->steps[i].op;
        if (op == MAYBE_IN)
            reach(p, at, i + 2); /* at most one deeper: the walk goes on by itself */
        if (op != STAR && op != DEEP && op != MAYBE_IN) return;
        i++;
    }
}

static void advance(const program *p, size_t i, char c, bool *next) {
    bool slash = c == '/' && (p->flags & HOB_GLOB_SLASH);
    switch (p->steps[i].op) {
    case LITERAL:
        if (fold(c, p->flags) == p->steps[i].c) reach(p, next, i + 1);
        break;
    case ONE:
        if (!slash) reach(p, next, i + 1);
        break;
    case STAR:
        if (!slash) reach(p, next, i);
        break;
    case DEEP: reach(p, next, i); break;
    case MAYBE_IN: break;
    case IN:
        reach(p, next, i);
        if (c == '/') reach(p, next, i + 1);
        break;
    }
}

bool hob_glob_match(hob_str pattern, hob_str text, unsigned flags) {
    program p;
    bool sets[2][STEPS_MAX + 1] = {{false}};
    compile(&p, pattern, flags);
    bool *now = sets[0], *next = sets[1];
    reach(&p, now, 0);
    for (size_t t = 0; t < text.n; t++) {
        memset(next, 0, p.n + 1);
        for (size_t i = 0; i < p.n; i++) {
            if (now[i]) advance(&p, i, text.p[t], next);
        }
        bool *spare = now;
        now = next;
        next = spare;
    }
    return now[p.n];
}
