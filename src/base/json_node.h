/*
 * json_node.h - what a hob_json is made of. For the json*.c files only.
 */
#ifndef HOB_SRC_JSON_NODE_H
#define HOB_SRC_JSON_NODE_H

#include "base/json.h"

enum {
    HOB_JSON_CUT = 1,     /* the text ended inside it (partial mode) */
    HOB_JSON_INDEXED = 2, /* an array long enough to have an index */
};

#define HOB_JSON_INDEX_FROM 32 /* elements */
#define HOB_JSON_MAX_DEPTH 128u
#define HOB_JSON_MAX_BYTES ((size_t)256 << 20)

struct hob_json {
    const char *raw;
    union {
        const char *str;  /* string: its content, decoded; bool: unused */
        hob_json *child;  /* container: its first child; its last one while it is open */
        hob_json **index; /* indexed array: all its elements */
    } u;
    hob_json *next;  /* the next sibling; the container around it while it is open */
    const char *key; /* NULL unless it is a member of an object */
    uint32_t raw_n;
    uint32_t n; /* bytes of the string, children of the container; 1 for true */
    uint32_t key_n;
    uint8_t type;
    uint8_t flags;
};

#endif
