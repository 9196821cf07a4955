/*
 * patch.c - carrying out a JSON patch.
 *
 * A patch is checked as a whole before the first operation: op and path strings, "from" and "value" where they belong,
 * pointers of the form (/token)* with ~0 and ~1 only. Operations then change the tree one after the other; callers
 * keep the old text until all have succeeded, which makes a patch atomic.
 */
#include "agui/patch.h"

typedef enum op { OP_ADD, OP_REMOVE, OP_REPLACE, OP_MOVE, OP_COPY, OP_TEST, OP_UNKNOWN } op;

static op op_of(hob_str name) {
    static const char *const names[] = {"add", "remove", "replace", "move", "copy", "test"};
    for (int i = 0; i < OP_UNKNOWN; i++)
        if (hob_str_eqz(name, names[i])) return (op)i;
    return OP_UNKNOWN;
}

static bool pointer_valid(const hob_json *v) {
    if (!hob_json_is(v, HOB_JSON_STRING)) return false;
    hob_str p = hob_json_str(v);
    if (p.n && p.p[0] != '/') return false;
    for (size_t i = 0; i < p.n; i++)
        if (p.p[i] == '~' && (i + 1 == p.n || (p.p[i + 1] != '0' && p.p[i + 1] != '1')))
            return false;
    return true;
}

static int check_one(const hob_json *o, size_t i, hob_error *err) {
    if (!hob_json_is(o, HOB_JSON_OBJECT) || !hob_json_is(hob_json_get(o, "op"), HOB_JSON_STRING))
        return hob_fail(err, HOB_EPARSE, 0, "operation %zu of the patch has no \"op\"", i);
    if (!pointer_valid(hob_json_get(o, "path")))
        return hob_fail(err, HOB_EPARSE, 0,
                        "operation %zu of the patch has no \"path\" that is a JSON pointer", i);
    switch (op_of(hob_json_get_str(o, "op"))) {
    case OP_REMOVE: return 0;
    case OP_MOVE:
    case OP_COPY:
        if (pointer_valid(hob_json_get(o, "from"))) return 0;
        return hob_fail(err, HOB_EPARSE, 0,
                        "operation %zu of the patch has no \"from\" that is a JSON pointer", i);
    case OP_ADD:
    case OP_REPLACE:
    case OP_TEST:
        if (hob_json_get(o, "value")) return 0;
        return hob_fail(err, HOB_EPARSE, 0, "operation %zu of the patch has no \"value\"", i);
    case OP_UNKNOWN: break;
    }
    return hob_fail(err, HOB_EPARSE, 0, "operation %zu of the patch: there is no \"%.*s\"", i,
                    HOB_FMT(hob_str_first(hob_json_get_str(o, "op"), 40)));
}

int hob_patch_check(const hob_json *patch, hob_error *err) {
    if (!hob_json_is(patch, HOB_JSON_ARRAY))
        return hob_fail(err, HOB_EPARSE, 0, "a patch is a JSON array of operations");
    if (hob_json_count(patch) > HOB_PATCH_MAX_OPS)
        return hob_fail(err, HOB_ETOOBIG, 0, "a patch has at most %d operations",
                        HOB_PATCH_MAX_OPS);
    size_t i = 0;
    for (const hob_json *o = hob_json_first(patch); o; o = hob_json_next(o)) {
        int rc = check_one(o, i++, err);
        if (rc < 0) return rc;
    }
    return 0;
}

/* ---- pointers ------------------------------------------------------------------------------------------ */

static hob_str unescape(hob_arena *a, hob_str token) {
    if (hob_str_chr(token, '~') < 0) return token;
    char *out = hob_arena_bytes(a, token.n);
    size_t n = 0;
    if (!out) return HOB_STR_NULL;
    for (size_t i = 0; i < token.n; i++) {
        bool escape = token.p[i] == '~';
        if (escape) i++;
        out[n++] = !escape ? token.p[i] : token.p[i] == '0' ? '~' : '/';
    }
    return hob_str_n(out, n);
}

/* A place in the document: what holds it, and its name there. Root: holder NULL. */
typedef struct place {
    hob_tree *holder;
    hob_str name;
} place;

/* An index of an array, without leading zeros; -1 otherwise. "-" is the place behind the last one. */
static int64_t index_of(hob_str name, size_t n) {
    if (hob_str_eqz(name, "-")) return (int64_t)n;
    int64_t i;
    if (!name.n || name.n > 9 || (name.n > 1 && name.p[0] == '0')) return -1;
    if (name.p[0] < '0' || name.p[0] > '9' || hob_str_int(name, &i) < 0) return -1;
    return i;
}

static hob_tree *child_of(hob_tree *holder, hob_str name) {
    if (holder->type == HOB_JSON_OBJECT) return hob_tree_member(holder, name);
    if (holder->type != HOB_JSON_ARRAY) return NULL;
    int64_t i = index_of(name, holder->n);
    return i < 0 ? NULL : hob_tree_at(holder, (size_t)i);
}

/* Walks to the holder of what the pointer names; false if that does not exist. */
static bool find(hob_arena *a, hob_tree *root, hob_str pointer, place *out) {
    *out = (place){NULL, HOB_STR_NULL};
    hob_str rest = hob_str_skip(pointer, 1), token;
    if (!pointer.n) return true;
    hob_tree *at = root;
    bool more = true;
    while (more) {
        ptrdiff_t slash = hob_str_chr(rest, '/');
        more = slash >= 0;
        token = more ? hob_str_first(rest, (size_t)slash) : rest;
        rest = more ? hob_str_skip(rest, (size_t)slash + 1) : rest;
        *out = (place){at, unescape(a, token)};
        if (token.n && !out->name.n) return false; /* no room */
        if (more) at = child_of(at, out->name);
        if (!at) return false;
    }
    return true;
}

static hob_tree *get(hob_arena *a, hob_tree *root, hob_str pointer) {
    place p;
    if (!find(a, root, pointer, &p)) return NULL;
    return p.holder ? child_of(p.holder, p.name) : root;
}

/* ---- operations: true, or it does not apply ------------------------------------------------------------- */

static bool put(hob_arena *a, hob_tree **root, hob_str pointer, hob_tree *value) {
    place p;
    if (!find(a, *root, pointer, &p)) return false;
    if (!p.holder) {
        *root = value;
        return true;
    }
    value->key = p.name;
    if (p.holder->type == HOB_JSON_OBJECT) {
        hob_tree *old = hob_tree_member(p.holder, p.name), *after = old ? old->next : NULL;
        if (old) hob_tree_remove(p.holder, old);
        hob_tree_insert(p.holder, after, value);
        return true;
    }
    if (p.holder->type != HOB_JSON_ARRAY) return false;
    int64_t i = index_of(p.name, p.holder->n);
    if (i < 0 || (size_t)i > p.holder->n) return false;
    hob_tree_insert(p.holder, hob_tree_at(p.holder, (size_t)i), value);
    return true;
}

static hob_tree *take(hob_arena *a, hob_tree **root, hob_str pointer) {
    place p;
    if (!find(a, *root, pointer, &p)) return NULL;
    hob_tree *t = p.holder ? child_of(p.holder, p.name) : *root;
    if (t && p.holder) hob_tree_remove(p.holder, t);
    return t;
}

static hob_tree *null_tree(hob_arena *a) {
    hob_tree *t = HOB_ARENA_NEW(a, hob_tree);
    if (t) t->raw = HOB_STR("null");
    return t;
}

static bool replace(hob_arena *a, hob_tree **root, hob_str pointer, hob_tree *value) {
    place p;
    if (!find(a, *root, pointer, &p)) return false;
    if (!p.holder) {
        *root = value;
        return true;
    }
    hob_tree *old = child_of(p.holder, p.name);
    if (!old) return false;
    value->key = old->key;
    hob_tree *after = old->next;
    hob_tree_remove(p.holder, old);
    hob_tree_insert(p.holder, after, value);
    return true;
}

/* A value cannot move into itself. */
static bool move(hob_arena *a, hob_tree **root, hob_str from, hob_str to) {
    if (hob_str_eq(from, to)) return get(a, *root, from) != NULL;
    if (hob_str_starts(to, from) && to.p[from.n] == '/') return false;
    if (!from.n) return false;
    hob_tree *t = take(a, root, from);
    return t && put(a, root, to, t);
}

typedef enum ran { RAN, NOT, NO_ROOM } ran;

static ran with_value(hob_arena *a, hob_tree **root, const hob_json *o, op what) {
    hob_str path = hob_json_get_str(o, "path");
    hob_tree *v = hob_tree_make(a, hob_json_get(o, "value"));
    if (!v) return NO_ROOM;
    if (what == OP_ADD) return put(a, root, path, v) ? RAN : NOT;
    if (what == OP_REPLACE) return replace(a, root, path, v) ? RAN : NOT;
    hob_tree *there = get(a, *root, path);
    return there && hob_tree_same(there, v) ? RAN : NOT;
}

static ran copy(hob_arena *a, hob_tree **root, hob_str from, hob_str to) {
    const hob_tree *there = get(a, *root, from);
    if (!there) return NOT;
    hob_tree *t = hob_tree_copy(a, there, 0);
    if (!t) return NO_ROOM;
    return put(a, root, to, t) ? RAN : NOT;
}

static ran remove_at(hob_arena *a, hob_tree **root, hob_str path) {
    if (!take(a, root, path)) return NOT;
    if (path.n) return RAN;
    *root = null_tree(a);
    return *root ? RAN : NO_ROOM;
}

static ran run_one(hob_arena *a, hob_tree **root, const hob_json *o) {
    hob_str path = hob_json_get_str(o, "path"), from = hob_json_get_str(o, "from");
    op what = op_of(hob_json_get_str(o, "op"));
    switch (what) {
    case OP_ADD:
    case OP_REPLACE:
    case OP_TEST: return with_value(a, root, o, what);
    case OP_REMOVE: return remove_at(a, root, path);
    case OP_MOVE: return move(a, root, from, path) ? RAN : NOT;
    case OP_COPY: return copy(a, root, from, path);
    case OP_UNKNOWN: break;
    }
    return NOT;
}

int hob_patch_run(hob_arena *a, hob_tree **root, const hob_json *patch, hob_error *err) {
    size_t i = 0;
    for (const hob_json *o = hob_json_first(patch); o; o = hob_json_next(o), i++) {
        hob_str word = hob_json_get_str(o, "op"), path = hob_json_get_str(o, "path");
        switch (run_one(a, root, o)) {
        case RAN: break;
        case NOT:
            return hob_fail(err, HOB_EINVAL, 0, "operation %zu (%.*s %.*s) does not apply", i,
                            HOB_FMT(word), HOB_FMT(hob_str_first(path, 200)));
        case NO_ROOM:
            return hob_fail(err, HOB_ETOOBIG, 0, "operation %zu makes the document too large", i);
        }
    }
    return 0;
}
