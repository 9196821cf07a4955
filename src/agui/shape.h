/*
 * shape.h - checking JSON against the protocol's closed objects, and writing down what is understood. Pure.
 *
 * A table names the members of an object. What it does not name is left out with a warning; what it names must have its
 * type. A member of a union that nobody knows takes its element of a list with it, and in a required place the object
 * around it.
 */
#ifndef HOB_SRC_AGUI_SHAPE_H
#define HOB_SRC_AGUI_SHAPE_H

#include "base/json.h"

typedef enum hob_shape_kind {
    HOB_SHAPE_STRING,
    HOB_SHAPE_WORD,   /* a string that is one of the keys of `of`; another one is a stranger */
    HOB_SHAPE_ANY,    /* any JSON, null too */
    HOB_SHAPE_OPEN,   /* an object with anything in it */
    HOB_SHAPE_OBJECT, /* by `of` */
    HOB_SHAPE_LIST,   /* of such objects */
    HOB_SHAPE_UNION,  /* an object that its member `tag` makes one of the rows of `of` */
    HOB_SHAPE_UNIONS, /* a list of such */
    HOB_SHAPE_CONTENT /* a string, or a list of unions */
} hob_shape_kind;

typedef struct hob_shape {
    const char *key; /* NULL ends a table */
    hob_shape_kind kind;
    bool required;
    const struct hob_shape *of;
    const char *tag; /* UNION, UNIONS, CONTENT */
} hob_shape;

enum { HOB_SHAPE_WARNINGS = 32, HOB_SHAPE_PATH = 200 };

typedef struct hob_shape_check {
    bool lenient; /* null stands for absent */
    hob_jsonw w;  /* what was understood */
    hob_arena *arena;
    hob_str warnings[HOB_SHAPE_WARNINGS];
    size_t nwarnings;
    hob_buf path;
    hob_error *err;
} hob_shape_check;

void hob_shape_init(hob_shape_check *c, hob_arena *a, hob_buf *out, hob_error *err);
void hob_shape_finish(hob_shape_check *c);
void hob_shape_warn(hob_shape_check *c, const char *fmt, ...) HOB_PRINTF(2, 3);
/* HOB_EPARSE with the place in the error, HOB_ETOOBIG. */
int hob_shape_object(hob_shape_check *c, const hob_shape *table, const hob_json *v);

extern const hob_shape hob_shape_input[];    /* RunAgentInput */
extern const hob_shape hob_shape_messages[]; /* {"messages": […]} */
extern const hob_shape hob_shape_parts[];    /* {"content": text or parts} */

#endif
