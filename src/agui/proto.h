/*
 * proto.h - AG-UI events as protobuf. Pure.
 *
 * An event is built as JSON once; the protobuf form is made from that by tables that say which member is which field
 * (proto_table.c). What a table does not name is left out.
 */
#ifndef HOB_SRC_AGUI_PROTO_H
#define HOB_SRC_AGUI_PROTO_H

#include <hob/agui.h>

#include "base/json.h"

typedef enum hob_proto_kind {
    HOB_PROTO_STRING,
    HOB_PROTO_BOOL,
    HOB_PROTO_INT,
    HOB_PROTO_VALUE,   /* google.protobuf.Value */
    HOB_PROTO_STRUCT,  /* google.protobuf.Struct */
    HOB_PROTO_MESSAGE, /* an object by the table `of` */
    HOB_PROTO_LIST,    /* an array of such */
    HOB_PROTO_STRINGS, /* an array of strings */
    HOB_PROTO_FLAT,    /* an object whose members are fields of the message around it, by `of` */
    HOB_PROTO_CHOICE,  /* an object whose "type" names the row of `of` that it is a message of */
    HOB_PROTO_CHOICES, /* an array of such */
    HOB_PROTO_OP       /* the operation of a patch */
} hob_proto_kind;

typedef struct hob_proto_field {
    const char *key; /* NULL ends a table */
    unsigned number;
    hob_proto_kind kind;
    const struct hob_proto_field *of;
} hob_proto_field;

typedef struct hob_proto_event {
    unsigned arm;  /* field of the oneof */
    unsigned type; /* BaseEvent.type */
    const hob_proto_field *fields;
} hob_proto_event;

extern const hob_proto_event hob_proto_events[HOB_AGUI_KIND_COUNT_];
extern const hob_proto_field hob_proto_base[];

/* Appends one frame: its length in four bytes, then the Event. HOB_ETOOBIG. */
int hob_proto_encode(hob_agui_kind kind, const hob_json *event, hob_buf *out);

#endif
