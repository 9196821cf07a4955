/*
 * json.h - strict RFC 8259 reader into an arena, partial reader, JSON with comments, writer.
 *
 * Values are immutable and borrow from the source text and the arena: both must outlive them.
 * Every value knows its raw slice, exactly as written, so that unknown fields survive byte for byte.
 * Numbers keep their text; int64 is exact. Of duplicate keys the LAST one wins for look-up; all
 * stay visible to iteration. Strings with a lone surrogate escape decode to U+FFFD.
 * The reader does not recurse on input depth beyond `max_depth` and never reads past the slice.
 */
#ifndef HOB_SRC_JSON_H
#define HOB_SRC_JSON_H

#include "base/base.h"

typedef enum hob_json_type {
    HOB_JSON_NULL,
    HOB_JSON_BOOL,
    HOB_JSON_NUMBER,
    HOB_JSON_STRING,
    HOB_JSON_ARRAY,
    HOB_JSON_OBJECT
} hob_json_type;

typedef struct hob_json hob_json;

typedef struct hob_json_opts {
    unsigned max_depth; /* 0 = 128 */
    size_t max_bytes;   /* 0 = 256 MiB; over it HOB_ETOOBIG */
    bool comments;      /* line and block comments, trailing commas (configuration files) */
} hob_json_opts;

/* Errors: HOB_EPARSE (message has line and column), HOB_ETOOBIG. opts may be NULL. */
int hob_json_parse(hob_arena *a, hob_str text, const hob_json_opts *opts, const hob_json **out,
                   hob_error *err);
/* Text that may be cut off anywhere: open strings, arrays and objects are closed, a dangling key or
 * half a literal is dropped. Used for streamed tool arguments. *out is NULL for "nothing yet". */
int hob_json_parse_partial(hob_arena *a, hob_str text, const hob_json **out);
/* False for a value that the end of the text cut off (partial mode); its raw slice is cut as well. */
bool hob_json_complete(const hob_json *v);
/* Strict check without building anything. */
bool hob_json_valid(hob_str text);

/* All accessors accept NULL and wrong types, and then return NULL, 0, false or the empty slice. */
hob_json_type hob_json_type_of(const hob_json *v); /* NULL -> HOB_JSON_NULL */
hob_str hob_json_raw(const hob_json *v);
hob_str hob_json_str(const hob_json *v);              /* decoded */
bool hob_json_is(const hob_json *v, hob_json_type t); /* false for v == NULL */
int hob_json_int(const hob_json *v, int64_t *out); /* HOB_EINVAL: not an integer, or out of range */
double hob_json_double(const hob_json *v);
bool hob_json_bool(const hob_json *v);
size_t hob_json_count(const hob_json *v);
const hob_json *hob_json_at(const hob_json *array, size_t i);
const hob_json *hob_json_get(const hob_json *object, const char *key);
const hob_json *hob_json_get_n(const hob_json *object, hob_str key);
const hob_json *hob_json_first(const hob_json *container); /* iteration: first, then next */
const hob_json *hob_json_next(const hob_json *v);
hob_str hob_json_key(const hob_json *member); /* of a value that is an object's member, decoded */

/* The usual look-ups in one call. */
hob_str hob_json_get_str(const hob_json *object, const char *key);
int64_t hob_json_get_int(const hob_json *object, const char *key, int64_t otherwise);
double hob_json_get_double(const hob_json *object, const char *key, double otherwise);
bool hob_json_get_bool(const hob_json *object, const char *key, bool otherwise);

/* ---- writer: appends to a buffer, puts commas itself; errors stick in the buffer ---------- */
typedef struct hob_jsonw {
    hob_buf *out;
    bool first; /* nothing written yet in the innermost container */
    unsigned depth;
    bool after_key;
} hob_jsonw;
void hob_jsonw_init(hob_jsonw *w, hob_buf *out);
void hob_jsonw_object(hob_jsonw *w);     /* { */
void hob_jsonw_object_end(hob_jsonw *w); /* } */
void hob_jsonw_array(hob_jsonw *w);      /* [ */
void hob_jsonw_array_end(hob_jsonw *w);  /* ] */
void hob_jsonw_key(hob_jsonw *w, const char *key);
void hob_jsonw_key_n(hob_jsonw *w, hob_str key);
void hob_jsonw_str(hob_jsonw *w, hob_str s); /* invalid UTF-8 becomes U+FFFD */
void hob_jsonw_int(hob_jsonw *w, int64_t v);
void hob_jsonw_double(hob_jsonw *w,
                      double v); /* shortest text that reads back the same; NaN, inf -> null */
void hob_jsonw_bool(hob_jsonw *w, bool v);
void hob_jsonw_null(hob_jsonw *w);
void hob_jsonw_raw(hob_jsonw *w, hob_str json); /* already JSON; empty -> null */
/* key + value */
void hob_jsonw_kstr(hob_jsonw *w, const char *key, hob_str s);
void hob_jsonw_kstr_opt(hob_jsonw *w, const char *key, hob_str s); /* nothing if s is empty */
void hob_jsonw_kint(hob_jsonw *w, const char *key, int64_t v);
void hob_jsonw_kbool(hob_jsonw *w, const char *key, bool v);
void hob_jsonw_kraw(hob_jsonw *w, const char *key, hob_str json);
/* The quoted, escaped form of s alone. */
int hob_json_quote(hob_buf *out, hob_str s);

#endif
