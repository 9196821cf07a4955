/*
 * diff.c - the patch between two documents, and the public face of patches.
 *
 * Objects are compared member by member in the order of their keys. Of arrays the common beginning and end stay, what is
 * between is changed in place as far as both go, and the rest is added or removed: short for the usual changes (append,
 * remove, edit), never wrong for the others.
 */
#include "agui/patch.h"

typedef struct walk {
    hob_arena *arena;
    hob_jsonw *w;
    hob_buf path;
    bool unsafe;
    int err;
} walk;

/* Names that fast-json-patch refuses to touch; one that only begins like them costs a snapshot. */
bool hob_patch_refused(hob_str path) {
    return hob_str_find(path, HOB_STR("/__proto__")) >= 0 ||
           hob_str_find(path, HOB_STR("/prototype")) >= 0 ||
           hob_str_find(path, HOB_STR("/constructor")) >= 0;
}

void hob_patch_add_token(hob_buf *path, hob_str key) {
    hob_buf_addc(path, '/');
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        if (c == '~')
            hob_buf_addz(path, "~0");
        else if (c == '/')
            hob_buf_addz(path, "~1");
        else
            hob_buf_addc(path, c);
    }
}

/* Appends a token to the path; returns the length to go back to. */
static size_t enter(walk *k, hob_str key) {
    size_t was = k->path.n;
    hob_patch_add_token(&k->path, key);
    return was;
}

static size_t enter_index(walk *k, size_t i) {
    size_t was = k->path.n;
    hob_buf_addf(&k->path, "/%zu", i);
    return was;
}

static void leave(walk *k, size_t was) {
    if (!k->path.err) k->path.n = was;
}

static void say(walk *k, const char *op, const hob_tree *value) {
    if (hob_patch_refused(hob_buf_str(&k->path))) k->unsafe = true;
    hob_jsonw_object(k->w);
    hob_jsonw_kstr(k->w, "op", hob_str_z(op));
    hob_jsonw_kstr(k->w, "path", hob_buf_str(&k->path));
    if (value) {
        hob_jsonw_key(k->w, "value");
        int rc = hob_tree_write(k->w, value, 0);
        if (rc < 0) k->err = rc;
    }
    hob_jsonw_object_end(k->w);
    if (k->path.err || k->w->out->err) k->err = HOB_ETOOBIG;
}

static void compare(walk *k, hob_tree *from, hob_tree *to);

static void say_member(walk *k, const char *op, const hob_tree *m, const hob_tree *value) {
    size_t was = enter(k, m->key);
    say(k, op, value);
    leave(k, was);
}

static void compare_member(walk *k, hob_tree *from, hob_tree *to) {
    size_t was = enter(k, from->key);
    compare(k, from, to);
    leave(k, was);
}

static void compare_objects(walk *k, hob_tree *from, hob_tree *to) {
    hob_tree **x = hob_tree_sorted(k->arena, from), **y = hob_tree_sorted(k->arena, to);
    if (!x || !y) {
        k->err = HOB_ETOOBIG;
        return;
    }
    for (size_t i = 0, j = 0; (i < from->n || j < to->n) && !k->err;) {
        int c = i == from->n ? 1 : j == to->n ? -1 : hob_str_cmp(x[i]->key, y[j]->key);
        if (c < 0)
            say_member(k, "remove", x[i++], NULL);
        else if (c > 0) {
            say_member(k, "add", y[j], y[j]);
            j++;
        } else {
            compare_member(k, x[i++], y[j++]);
        }
    }
}

static void compare_arrays(walk *k, hob_tree *from, hob_tree *to) {
    hob_tree *p = from->first, *q = to->first, *pl = from->last, *ql = to->last;
    size_t head = 0, n = from->n, m = to->n;
    while (head < n && head < m && hob_tree_same(p, q)) head++, p = p->next, q = q->next;
    while (n > head && m > head && hob_tree_same(pl, ql)) n--, m--, pl = pl->prev, ql = ql->prev;
    size_t i = head;
    for (; i < n && i < m && !k->err; i++, p = p->next, q = q->next) {
        size_t was = enter_index(k, i);
        compare(k, p, q);
        leave(k, was);
    }
    for (size_t gone = n; gone > i && !k->err; gone--) {
        size_t was = enter_index(k, gone - 1);
        say(k, "remove", NULL);
        leave(k, was);
    }
    for (; i < m && !k->err; i++, q = q->next) {
        size_t was = enter_index(k, i);
        say(k, "add", q);
        leave(k, was);
    }
}

static void compare(walk *k, hob_tree *from, hob_tree *to) {
    if (k->err) return;
    if (from->type == HOB_JSON_OBJECT && to->type == HOB_JSON_OBJECT)
        compare_objects(k, from, to);
    else if (from->type == HOB_JSON_ARRAY && to->type == HOB_JSON_ARRAY)
        compare_arrays(k, from, to);
    else if (!hob_tree_same(from, to))
        say(k, "replace", to);
}

int hob_patch_find(hob_arena *a, hob_tree *from, hob_tree *to, hob_jsonw *w, bool *unsafe) {
    walk k = {.arena = a, .w = w};
    hob_buf_init(&k.path, 1 << 20);
    compare(&k, from, to);
    hob_buf_finish(&k.path);
    *unsafe = k.unsafe;
    return k.err;
}

/* ---- the public calls ---------------------------------------------------------------------------------- */

hob_agui_json *hob_agui_json_create(size_t max) {
    hob_agui_json *j = HOB_NEW(hob_agui_json);
    hob_buf_init(&j->text, max);
    return j;
}

hob_str hob_agui_json_text(const hob_agui_json *j) {
    return j ? hob_buf_str(&j->text) : HOB_STR_NULL;
}

void hob_agui_json_destroy(hob_agui_json *j) {
    if (!j) return;
    hob_buf_finish(&j->text);
    hob_free(j);
}

int hob_patch_parse(hob_arena *a, const char *what, hob_str text, const hob_json **out,
                    hob_error *err) {
    hob_json_opts o = {.max_depth = HOB_TREE_MAX_DEPTH, .max_bytes = HOB_TREE_MAX_BYTES};
    hob_error why;
    int rc = hob_json_parse(a, text, &o, out, &why);
    return rc < 0 ? hob_fail(err, rc, 0, "%s is no JSON: %.400s", what, why.message) : 0;
}

/* Room for both texts as trees and for as much again as a patch of usual size makes of them. */
static hob_arena *arena_for(hob_str a, hob_str b) {
    size_t wanted = ((size_t)64 << 20) + 100 * HOB_MIN(a.n + b.n, HOB_TREE_MAX_BYTES);
    return hob_arena_create(HOB_MIN(wanted, (size_t)1 << 30));
}

static int apply(hob_arena *a, hob_str document, hob_str patch, hob_agui_json *out,
                 hob_error *err) {
    const hob_json *d, *p;
    int rc = hob_patch_parse(a, "the document", document, &d, err);
    if (rc == 0) rc = hob_patch_parse(a, "the patch", patch, &p, err);
    if (rc == 0) rc = hob_patch_check(p, err);
    if (rc < 0) return rc;
    hob_tree *root = hob_tree_make(a, d);
    if (!root) return hob_fail(err, HOB_ETOOBIG, 0, "the document is too large to be patched");
    rc = hob_patch_run(a, &root, p, err);
    if (rc < 0) return rc;
    hob_jsonw w;
    hob_jsonw_init(&w, &out->text);
    if (hob_tree_write(&w, root, 0) == 0) return 0;
    return hob_fail(err, HOB_ETOOBIG, 0, "the patch makes the document too large or too deep");
}

int hob_agui_patch_apply(hob_str document, hob_str patch, hob_agui_json **out, hob_error *err) {
    hob_arena *a = arena_for(document, patch);
    hob_agui_json *j = hob_agui_json_create(HOB_TREE_MAX_BYTES);
    int rc = apply(a, document, patch, j, err);
    hob_arena_destroy(a);
    if (rc < 0)
        hob_agui_json_destroy(j);
    else
        *out = j;
    return rc;
}

static int diff(hob_arena *a, hob_str from, hob_str to, hob_agui_json *out, hob_error *err) {
    const hob_json *x, *y;
    int rc = hob_patch_parse(a, "the first document", from, &x, err);
    if (rc == 0) rc = hob_patch_parse(a, "the second document", to, &y, err);
    if (rc < 0) return rc;
    hob_tree *p = hob_tree_make(a, x), *q = hob_tree_make(a, y);
    hob_jsonw w;
    bool unsafe;
    hob_jsonw_init(&w, &out->text);
    hob_jsonw_array(&w);
    rc = p && q ? hob_patch_find(a, p, q, &w, &unsafe) : HOB_ETOOBIG;
    hob_jsonw_array_end(&w);
    return rc < 0 ? hob_fail(err, rc, 0, "the documents are too large to be compared") : 0;
}

int hob_agui_patch_diff(hob_str from, hob_str to, hob_agui_json **out, hob_error *err) {
    hob_arena *a = arena_for(from, to);
    hob_agui_json *j = hob_agui_json_create(HOB_TREE_MAX_BYTES);
    int rc = diff(a, from, to, j, err);
    hob_arena_destroy(a);
    if (rc < 0)
        hob_agui_json_destroy(j);
    else
        *out = j;
    return rc;
}
