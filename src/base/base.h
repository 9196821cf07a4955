/*
 * base.h - everything of base/ but JSON, in the order a reader needs it.
 *
 * Ownership words (docs/contributing): create/destroy heap object, init/finish storage of the
 * caller, ref/unref shared, get borrowed, take ownership moves out, dup new copy.
 */
#ifndef HOB_SRC_BASE_H
#define HOB_SRC_BASE_H

#include <hob/base.h>

#include <stdarg.h>
#include <stdbool.h>

#define HOB_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define HOB_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define HOB_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define HOB_MIN(a, b) ((a) < (b) ? (a) : (b))
#define HOB_MAX(a, b) ((a) > (b) ? (a) : (b))

/* ---- memory: the only callers of malloc/free. Never return NULL (see hob_set_oom_handler). --- */
void *hob_alloc(size_t n);            /* zeroed */
void *hob_realloc(void *p, size_t n); /* new bytes are not zeroed */
void hob_free(void *p);               /* NULL is fine */
char *hob_dupz(hob_str s);            /* NUL-terminated heap copy; hob_free */
#define HOB_NEW(type) ((type *)hob_alloc(sizeof(type)))

/* ---- str.c: slices ------------------------------------------------------------------------ */
#define HOB_STR(lit) hob_str_n("" lit, sizeof(lit) - 1)
#define HOB_STR_NULL hob_str_n(NULL, 0)
#define HOB_FMT(s) (int)(s).n, (s).p ? (s).p : "" /* for "%.*s" */
bool hob_str_eq(hob_str a, hob_str b);
bool hob_str_eqz(hob_str a, const char *z);
bool hob_str_ieq(hob_str a, hob_str b); /* ASCII case ignored */
int hob_str_cmp(hob_str a, hob_str b);  /* bytewise */
bool hob_str_starts(hob_str s, hob_str prefix);
bool hob_str_ends(hob_str s, hob_str suffix);
hob_str hob_str_skip(hob_str s, size_t n);         /* without its first n bytes */
hob_str hob_str_first(hob_str s, size_t n);        /* its first n bytes */
hob_str hob_str_trim(hob_str s);                   /* ASCII white space off both ends */
ptrdiff_t hob_str_find(hob_str s, hob_str needle); /* offset or -1 */
ptrdiff_t hob_str_chr(hob_str s, char c);          /* offset or -1 */
/* Takes the part before `sep` off *rest; false when *rest was NULL already (all parts taken). */
bool hob_str_split(hob_str *rest, char sep, hob_str *part);
int hob_str_int(hob_str s, int64_t *out); /* whole slice, decimal; HOB_EPARSE */
uint64_t hob_str_hash(hob_str s);         /* FNV-1a, stable for ever: it is stored in logs */
/* Check sum, eight bytes a step; finds what a disk does to data, not what an enemy does. Stored: never change. */
uint64_t hob_sum(uint64_t seed, hob_str bytes);
/* Copies s into buf, NUL-terminated, cut at a whole character; returns the full length. */
int hob_str_out(hob_str s, char *buf, size_t cap);
/* The candidate nearest to `word` by edit distance, or NULL if none is near. For suggestions. */
const char *hob_str_nearest(hob_str word, const char *const *candidates, size_t n);

/* ---- buf.c: growable bytes with a ceiling from birth and a sticky error ------------------- */
typedef struct hob_buf {
    char *p;
    size_t n, cap, max;
    int err; /* 0 or HOB_ETOOBIG; once set, appends do nothing: check once at the end */
} hob_buf;
void hob_buf_init(hob_buf *b, size_t max);
void hob_buf_finish(hob_buf *b);
void hob_buf_reset(hob_buf *b); /* length 0, error cleared, memory kept */
int hob_buf_add(hob_buf *b, hob_str s);
int hob_buf_addz(hob_buf *b, const char *z);
int hob_buf_addc(hob_buf *b, char c);
int hob_buf_addf(hob_buf *b, const char *fmt, ...) HOB_PRINTF(2, 3);
char *hob_buf_reserve(hob_buf *b,
                      size_t n); /* room for n more, NULL over the ceiling; then b->n += … */
void hob_buf_consume(hob_buf *b, size_t n); /* drops the first n bytes */
const char *hob_buf_z(hob_buf *b);          /* NUL-terminated view, borrowed */
static inline hob_str hob_buf_str(const hob_buf *b) {
    return hob_str_n(b->p, b->n);
}

/* ---- arena.c: many small objects, one free ------------------------------------------------ */
typedef struct hob_arena hob_arena;
hob_arena *hob_arena_create(size_t max); /* bytes in all; 0 = 1 GiB */
void hob_arena_destroy(hob_arena *a);
void hob_arena_reset(hob_arena *a);             /* forget everything, keep one chunk */
void *hob_arena_alloc(hob_arena *a, size_t n);  /* zeroed, 16-aligned; NULL over the ceiling */
void *hob_arena_bytes(hob_arena *a, size_t n);  /* not zeroed, unaligned; NULL over the ceiling */
hob_str hob_arena_dup(hob_arena *a, hob_str s); /* NUL follows the copy */
size_t hob_arena_used(const hob_arena *a);
#define HOB_ARENA_NEW(a, type) ((type *)hob_arena_alloc((a), sizeof(type)))

/* ---- error.c ------------------------------------------------------------------------------ */
/* Fills a nullable err and returns code, so that `return hob_fail(err, HOB_EIO, errno, "…")` works. */
int hob_fail(hob_error *err, int code, int sub, const char *fmt, ...) HOB_PRINTF(4, 5);
int hob_fail_errno(hob_error *err, int code, const char *fmt, ...)
    HOB_PRINTF(3, 4); /* + strerror */

/* ---- list: intrusive, circular; the head is a hob_list too -------------------------------- */
typedef struct hob_list {
    struct hob_list *next, *prev;
} hob_list;
static inline void hob_list_init(hob_list *l) {
    l->next = l->prev = l;
}
static inline bool hob_list_empty(const hob_list *l) {
    return l->next == l;
}
static inline void hob_list_push(hob_list *head, hob_list *item) { /* at the end */
    item->prev = head->prev;
    item->next = head;
    head->prev->next = item;
    head->prev = item;
}
static inline void hob_list_remove(hob_list *item) { /* twice is fine */
    item->prev->next = item->next;
    item->next->prev = item->prev;
    hob_list_init(item);
}
#define HOB_LIST_FIRST(head, type, member) HOB_CONTAINER((head)->next, type, member)
#define HOB_LIST_EACH(it, head) for (hob_list *it = (head)->next; it != (head); it = it->next)
#define HOB_LIST_EACH_REVERSE(it, head)                                                            \
    for (hob_list *it = (head)->prev; it != (head); it = it->prev)
#define HOB_LIST_EACH_REVERSE_SAFE(it, head)                                                       \
    for (hob_list *it = (head)->prev, *it##_prev = it->prev; it != (head);                         \
         it = it##_prev, it##_prev = it->prev)
#define HOB_LIST_EACH_SAFE(it, head)                                                               \
    for (hob_list *it = (head)->next, *it##_n = it->next; it != (head);                            \
         it = it##_n, it##_n = it->next)

/* ---- folder.c ------------------------------------------------------------------------------- */
/* Makes a folder, and those above it that are missing, for this user alone. One that is there is fine. */
int hob_folder_make(const char *path, hob_error *err);

/* ---- map.c: string -> pointer, keys copied, values borrowed ------------------------------- */
typedef struct hob_map hob_map;
hob_map *hob_map_create(void);
void hob_map_destroy(hob_map *m);
void *hob_map_get(const hob_map *m, hob_str key);        /* NULL if absent */
void *hob_map_put(hob_map *m, hob_str key, void *value); /* returns the value replaced */
void *hob_map_take(hob_map *m, hob_str key);             /* removes and returns */
size_t hob_map_count(const hob_map *m);
bool hob_map_next(const hob_map *m, size_t *pos, hob_str *key, void **value); /* start with pos 0 */

/* ---- utf8.c ------------------------------------------------------------------------------- */
bool hob_utf8_valid(hob_str s);
size_t hob_utf8_prefix(hob_str s, size_t max); /* longest prefix <= max that cuts no character */
size_t hob_utf8_suffix(hob_str s, size_t max); /* length of the longest such suffix */
size_t hob_utf8_complete(hob_str s); /* its length without a character cut off by its end */
int hob_utf8_repair(hob_buf *out, hob_str s);  /* invalid sequences -> U+FFFD */
size_t hob_utf8_put(char out[4], uint32_t cp); /* bytes written */
/* One code point at s[*at], *at moved on; 0xFFFD for a broken one (moves by 1). */
uint32_t hob_utf8_next(hob_str s, size_t *at);

/* ---- base64.c ----------------------------------------------------------------------------- */
int hob_base64_encode(hob_buf *out, hob_str bytes);
int hob_base64_decode(hob_buf *out, hob_str text); /* strict, padding required; HOB_EPARSE */

/* ---- clock.c: time is injected --------------------------------------------------------------- */
typedef struct hob_clock hob_clock;
struct hob_clock {
    int64_t (*mono_ms)(hob_clock *c); /* never goes back */
    int64_t (*wall_ms)(hob_clock *c); /* Unix time */
    bool virtual_time; /* a loop on this clock jumps to the next timer instead of waiting */
};
hob_clock *hob_clock_real(void);
typedef struct hob_fake_clock {
    hob_clock base;
    int64_t mono, wall;
} hob_fake_clock;
void hob_fake_clock_init(hob_fake_clock *c, int64_t wall_ms);
void hob_fake_clock_advance(hob_fake_clock *c, int64_t ms);
/* RFC 3339 in UTC with milliseconds, 24 characters: 2026-01-02T03:04:05.678Z */
void hob_time_format(int64_t wall_ms, char out[25]);
int hob_time_parse(hob_str s, int64_t *wall_ms);

/* ---- id.c --------------------------------------------------------------------------------- */
int hob_random(void *out, size_t n); /* from the kernel */
void hob_uuid7(int64_t wall_ms, const uint8_t rnd[10],
               char out[37]); /* pure: randomness is an input */
void hob_uuid7_new(hob_clock *c, char out[37]);
bool hob_id_valid(hob_str s); /* [A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?, at most 128 bytes */

/* ---- sink.c: the log sink ----------------------------------------------------------------- */
void hob_log(hob_log_level level, const char *area, const char *fmt, ...) HOB_PRINTF(3, 4);

/* ---- crash.c: kill points for the crash harness; compiled to nothing outside test builds -- */
#ifdef HOB_TEST_POINTS
void hob_crash_point(const char *name); /* counts; raises SIGKILL at the HOB_CRASH_AT-th */
#else
#define hob_crash_point(name) ((void)0)
#endif

#endif
