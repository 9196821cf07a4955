/*
 * schema_node.h - a schema after it was read. Everything lives in the schema's arena.
 */
#ifndef HOB_SRC_TOOL_SCHEMA_NODE_H
#define HOB_SRC_TOOL_SCHEMA_NODE_H

#include "tool/tool.h"

/* Bits of hob_schema_node.types; no bit set = any type. */
enum {
    HOB_SCHEMA_NULL = 1,
    HOB_SCHEMA_BOOLEAN = 2,
    HOB_SCHEMA_INTEGER = 4,
    HOB_SCHEMA_NUMBER = 8, /* integers, too */
    HOB_SCHEMA_STRING = 16,
    HOB_SCHEMA_ARRAY = 32,
    HOB_SCHEMA_OBJECT = 64
};

typedef struct hob_schema_node hob_schema_node;
typedef struct hob_schema_property hob_schema_property;

struct hob_schema_property {
    hob_str name;
    const hob_schema_node *node; /* NULL: only required, anything fits */
    bool required;
    hob_schema_property *next;
};

struct hob_schema_node {
    unsigned types;
    hob_schema_property *properties; /* in the order of the text */
    bool closed;                     /* additionalProperties: false */
    const hob_schema_node *additional, *items;
    const hob_json *values;   /* enum, an array */
    const hob_json *constant; /* const */
    const hob_json *minimum, *maximum;
    int64_t min_length, max_length, min_items, max_items; /* -1 = none */
    const hob_schema_node *first_of; /* members of anyOf or oneOf, linked by next_of */
    const hob_schema_node *next_of;
    bool one_of; /* exactly one of them */
};

struct hob_schema {
    hob_arena *arena;
    const hob_schema_node *root;
};

/* Name of a type bit: "integer". */
const char *hob_schema_type_name(unsigned bit);

#endif
