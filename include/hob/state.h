/*
 * hob/state.h - session state: named JSON values that agents, tools and the host share.
 *
 * A key has a scope by its prefix: `app:` is shared by all sessions of an application, `user:` by all sessions of a user
 * of it, no prefix means this session, `temp:` lives as long as the run at work and is never stored. null is a value;
 * removing a key is an operation of its own. Values are replaced whole and kept byte for byte.
 *
 * A key has 1 to 256 bytes of UTF-8, without NUL, '/', '\' and "..", and more than a prefix.
 *
 * A hob_state is a snapshot: it never changes, costs the same whatever its size, and may be read on any thread.
 * docs/state.md is the tour.
 */
#ifndef HOB_STATE_H
#define HOB_STATE_H

#include <hob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_state hob_state;

enum {
    HOB_SCOPE_SESSION = 1,
    HOB_SCOPE_APP = 2,
    HOB_SCOPE_USER = 4,
    HOB_SCOPE_TEMP = 8,
    HOB_SCOPE_STORED = 7, /* what outlives the run */
    HOB_SCOPE_ALL = 15
};

/* All [any]. Slices live as long as the snapshot. */

/* The value as JSON. HOB_ENOENT if there is no such key. */
HOB_API int hob_state_get(const hob_state *s, hob_str key, hob_str *value);
/* The first key behind `after` ("" = the first of all), in the order of the keys' bytes: 1, or 0 at the end. */
HOB_API int hob_state_next(const hob_state *s, hob_str after, hob_str *key, hob_str *value);
HOB_API size_t hob_state_count(const hob_state *s);
/* The same snapshot, to be kept by the caller; shares its memory. */
HOB_API hob_state *hob_state_dup(const hob_state *s);
HOB_API void hob_state_destroy(hob_state *s); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
