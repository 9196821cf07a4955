/*
 * log/state.h - session state: an ordered map from keys to JSON texts, persistent in the sense of data structures.
 *
 * A hob_state is a value. Copying one is O(1): both copies share their tree, and whoever writes copies the path from
 * the root to the place of the change, unless it is the only holder, when the tree is changed where it stands. Trees
 * are balanced (AVL), nodes and pairs are reference counted, so a copy may be read and dropped on any thread.
 *
 * Changes are prepared first (parsed, checked, sorted) and applied later, which then cannot fail: that is how a whole
 * delta happens or none of it.
 */
#ifndef HOB_SRC_LOG_STATE_H
#define HOB_SRC_LOG_STATE_H

#include <hob/state.h>

#include "base/json.h"

#include <stdatomic.h>

enum { HOB_STATE_KEY_MAX = 256 };

typedef struct hob_pair {
    atomic_uint refs;
    hob_str key;
    hob_str value; /* JSON; p == NULL in a change: the key is removed */
} hob_pair;

struct hob_state {
    struct hob_state_node *root;
    size_t count, bytes; /* bytes: of keys and values */
};

typedef struct hob_state_limits {
    size_t keys, bytes;
} hob_state_limits;
#define HOB_STATE_LIMITS ((hob_state_limits){65536, (size_t)64 << 20}) /* unless said otherwise */

/* HOB_EINVAL: empty, over 256 bytes, with NUL, '/', '\\' or "..", no UTF-8, or nothing but a prefix. */
int hob_state_check_key(hob_str key, hob_error *err);
unsigned hob_state_scope(hob_str key); /* one of HOB_SCOPE_… */
/* The names that state belongs to: HOB_EINVAL if empty, over 512 bytes or with NUL; `kind` says which one it is. */
int hob_identity_check(const char *kind, hob_str s, hob_error *err);

/* An all-zero state is empty. */
void hob_state_copy(hob_state *to, const hob_state *from); /* `to` was empty */
void hob_state_finish(hob_state *s);
bool hob_state_find(const hob_state *s, hob_str key, hob_str *value);
void hob_state_put(hob_state *s, hob_pair *p); /* holds a reference of its own */
bool hob_state_remove(hob_state *s, hob_str key);
int hob_state_height(const hob_state *s); /* of the tree */

hob_pair *hob_pair_create(hob_str key, hob_str value);
void hob_pair_unref(hob_pair *p);

/* ---- state_change.c ------------------------------------------------------------------------- */

/* Sorted by key, each key once. */
typedef struct hob_change {
    hob_pair **pairs;
    size_t n;
    bool temp; /* has a key of scope temp: */
} hob_change;

/* `delta`: JSON object or empty; `removed`: JSON array of strings or empty. Of a key given twice the last one counts;
 * one both set and removed is HOB_EINVAL. */
int hob_change_init(hob_change *c, hob_arena *a, hob_str delta, hob_str removed, hob_error *err);
int hob_change_init_set(hob_change *c, hob_str key, hob_str value, hob_error *err);
int hob_change_init_remove(hob_change *c, hob_str key, hob_error *err);
void hob_change_finish(hob_change *c);
/* HOB_ETOOBIG if the state would be over a limit. */
int hob_change_check(const hob_change *c, const hob_state *s, const hob_state_limits *limits,
                     hob_error *err);
void hob_change_apply(const hob_change *c, hob_state *s);
/* The change without its temp: keys, as the texts an event keeps. */
void hob_change_write(const hob_change *c, hob_buf *delta, hob_buf *removed);
void hob_state_drop(hob_state *s, unsigned scopes);
void hob_state_drop_temp(hob_state *s);
/* Sets a key, or removes it (value.p NULL); the key was checked. */
void hob_state_assign(hob_state *s, hob_str key, hob_str value);

/* An overlay is a state whose pairs without a value stand for keys to remove: several changes laid one over the other,
 * the later one counts. */
void hob_overlay_add(hob_state *o, const hob_change *c);
void hob_overlay_merge(hob_state *o, const hob_state *later); /* another one, over it */
int hob_overlay_check(const hob_state *o, const hob_state *s, const hob_state_limits *limits,
                      hob_error *err); /* as hob_change_check */
void hob_overlay_apply(const hob_state *o, unsigned scopes, hob_state *s);
/* Members of an object: {key: {…}, "removed": […], "temp": [names]}, each only if there is something to say. Values of
 * temp: keys are never written. */
void hob_overlay_write(const hob_state *o, const char *key, hob_jsonw *w);
/* What leads from one state to another, in these scopes. */
void hob_overlay_diff(const hob_state *from, const hob_state *to, unsigned scopes, hob_state *out);
/* {"key":value,…} of these scopes. */
void hob_state_write(const hob_state *s, unsigned scopes, hob_jsonw *w);

#endif
