#include "log/state.h"

typedef struct hob_state_node node;

struct hob_state_node {
    atomic_uint refs;
    int height;
    hob_pair *pair;
    node *left, *right;
};

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct {
    const char *prefix;
    unsigned scope;
} scopes[] = {{"app:", HOB_SCOPE_APP}, {"user:", HOB_SCOPE_USER}, {"temp:", HOB_SCOPE_TEMP}};

unsigned hob_state_scope(hob_str key) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(scopes); i++)
        if (hob_str_starts(key, hob_str_z(scopes[i].prefix))) return scopes[i].scope;
    return HOB_SCOPE_SESSION;
}

static const char *fault_of(hob_str key) {
    if (!key.n) return "is empty";
    if (key.n > HOB_STATE_KEY_MAX) return "is longer than 256 bytes";
    if (memchr(key.p, 0, key.n)) return "has a NUL byte";
    if (memchr(key.p, '/', key.n) || memchr(key.p, '\\', key.n)) return "has a slash or backslash";
    if (hob_str_find(key, HOB_STR("..")) >= 0) return "has two dots in a row";
    if (!hob_utf8_valid(key)) return "is not UTF-8";
    for (size_t i = 0; i < HOB_ARRAY_LEN(scopes); i++)
        if (hob_str_eqz(key, scopes[i].prefix)) return "is a scope without a name";
    return NULL;
}

int hob_state_check_key(hob_str key, hob_error *err) {
    const char *fault = fault_of(key);
    if (!fault) return HOB_OK;
    hob_str shown = hob_str_first(key, hob_utf8_prefix(key, 64));
    return hob_fail(err, HOB_EINVAL, 0, "the state key '%.*s' %s: choose another", HOB_FMT(shown),
                    fault);
}

int hob_identity_check(const char *kind, hob_str s, hob_error *err) {
    enum { MAX = 512 };
    if (!s.n) return hob_fail(err, HOB_EINVAL, 0, "%s must not be empty", kind);
    if (s.n > MAX)
        return hob_fail(err, HOB_EINVAL, 0, "%s exceeds maximum length of %d bytes", kind, MAX);
    if (memchr(s.p, 0, s.n))
        return hob_fail(err, HOB_EINVAL, 0, "%s must not contain null bytes", kind);
    return HOB_OK;
}

/* ---- pairs and nodes --------------------------------------------------------------------------- */

hob_pair *hob_pair_create(hob_str key, hob_str value) {
    hob_pair *p = hob_alloc(sizeof *p + key.n + value.n + 1);
    char *text = (char *)(p + 1);
    atomic_init(&p->refs, 1);
    memcpy(text, key.p, key.n);
    if (value.n) memcpy(text + key.n, value.p, value.n);
    p->key = hob_str_n(text, key.n);
    p->value = value.p ? hob_str_n(text + key.n, value.n) : HOB_STR_NULL;
    return p;
}

static hob_pair *pair_ref(hob_pair *p) {
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void hob_pair_unref(hob_pair *p) {
    if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1) hob_free(p);
}

static node *node_ref(node *n) {
    if (n) atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

/* As deep as the tree is high: at most some 40 levels. */
static void node_unref(node *n) {
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1) return;
    node_unref(n->left);
    node_unref(n->right);
    hob_pair_unref(n->pair);
    hob_free(n);
}

static int height(const node *n) {
    return n ? n->height : 0;
}

static void measure(node *n) {
    n->height = 1 + HOB_MAX(height(n->left), height(n->right));
}

/* A node that nobody else can reach: itself, or a copy in its place. With one reference left it is ours alone, since
 * only its holder could add another. */
static node *own(node *n) {
    if (atomic_load_explicit(&n->refs, memory_order_acquire) == 1) return n;
    node *c = HOB_NEW(node);
    atomic_init(&c->refs, 1);
    c->height = n->height;
    c->pair = pair_ref(n->pair);
    c->left = node_ref(n->left);
    c->right = node_ref(n->right);
    node_unref(n);
    return c;
}

static node *rotate_right(node *n) {
    node *l = own(n->left);
    n->left = l->right;
    l->right = n;
    measure(n);
    measure(l);
    return l;
}

static node *rotate_left(node *n) {
    node *r = own(n->right);
    n->right = r->left;
    r->left = n;
    measure(n);
    measure(r);
    return r;
}

static node *balance(node *n) {
    int lean = height(n->left) - height(n->right);
    if (lean > 1) {
        if (height(n->left->left) < height(n->left->right)) n->left = rotate_left(own(n->left));
        return rotate_right(n);
    }
    if (lean < -1) {
        if (height(n->right->right) < height(n->right->left))
            n->right = rotate_right(own(n->right));
        return rotate_left(n);
    }
    measure(n);
    return n;
}

static node *insert(node *n, hob_pair *p) {
    if (!n) {
        n = HOB_NEW(node);
        atomic_init(&n->refs, 1);
        n->height = 1;
        n->pair = pair_ref(p);
        return n;
    }
    n = own(n);
    int c = hob_str_cmp(p->key, n->pair->key);
    if (c == 0) {
        hob_pair_unref(n->pair);
        n->pair = pair_ref(p);
        return n;
    }
    if (c < 0)
        n->left = insert(n->left, p);
    else
        n->right = insert(n->right, p);
    return balance(n);
}

/* The key is there. */
static node *erase(node *n, hob_str key) {
    n = own(n);
    int c = hob_str_cmp(key, n->pair->key);
    if (c < 0) {
        n->left = erase(n->left, key);
        return balance(n);
    }
    if (c > 0) {
        n->right = erase(n->right, key);
        return balance(n);
    }
    if (!n->left || !n->right) {
        node *rest = n->left ? n->left : n->right;
        n->left = n->right = NULL;
        node_unref(n);
        return rest;
    }
    const node *next = n->right;
    while (next->left) next = next->left;
    hob_pair *p = pair_ref(next->pair);
    n->right = erase(n->right, p->key);
    hob_pair_unref(n->pair);
    n->pair = p;
    return balance(n);
}

/* ---- the map ------------------------------------------------------------------------------------ */

void hob_state_copy(hob_state *to, const hob_state *from) {
    *to = *from;
    node_ref(to->root);
}

void hob_state_finish(hob_state *s) {
    node_unref(s->root);
    *s = (hob_state){0};
}

bool hob_state_find(const hob_state *s, hob_str key, hob_str *value) {
    const node *n = s->root;
    while (n) {
        int c = hob_str_cmp(key, n->pair->key);
        if (c == 0) {
            *value = n->pair->value;
            return true;
        }
        n = c < 0 ? n->left : n->right;
    }
    return false;
}

int hob_state_get(const hob_state *s, hob_str key, hob_str *value) {
    return hob_state_find(s, key, value) ? HOB_OK : HOB_ENOENT;
}

size_t hob_state_count(const hob_state *s) {
    return s->count;
}

hob_state *hob_state_dup(const hob_state *s) {
    hob_state *copy = HOB_NEW(hob_state);
    hob_state_copy(copy, s);
    return copy;
}

void hob_state_destroy(hob_state *s) {
    if (s) hob_state_finish(s);
    hob_free(s);
}

int hob_state_next(const hob_state *s, hob_str after, hob_str *key, hob_str *value) {
    const node *n = s->root, *best = NULL;
    while (n) {
        if (hob_str_cmp(n->pair->key, after) > 0) {
            best = n;
            n = n->left;
        } else {
            n = n->right;
        }
    }
    if (!best) return 0;
    *key = best->pair->key;
    *value = best->pair->value;
    return 1;
}

void hob_state_put(hob_state *s, hob_pair *p) {
    hob_str old;
    if (hob_state_find(s, p->key, &old)) {
        s->bytes -= old.n;
    } else {
        s->bytes += p->key.n;
        s->count++;
    }
    s->bytes += p->value.n;
    s->root = insert(s->root, p);
}

bool hob_state_remove(hob_state *s, hob_str key) {
    hob_str old;
    if (!hob_state_find(s, key, &old)) return false;
    s->bytes -= key.n + old.n;
    s->count--;
    s->root = erase(s->root, key);
    return true;
}

int hob_state_height(const hob_state *s) {
    return height(s->root);
}
