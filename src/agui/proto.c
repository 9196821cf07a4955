/*
 * proto.c - the wire form of protobuf, driven by tables.
 *
 * A nested message is written behind its place and then moved up by the size of its length: simple, and the depth of events
 * is small. Recursion follows the depth of the JSON, which its reader has bounded.
 */
#include "agui/proto.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void varint(hob_buf *out, uint64_t v) {
    for (; v >= 0x80; v >>= 7) hob_buf_addc(out, (char)(v | 0x80));
    hob_buf_addc(out, (char)v);
}

static void tag(hob_buf *out, unsigned number, unsigned wire) {
    varint(out, (uint64_t)number << 3 | wire);
}

static void put_bytes(hob_buf *out, unsigned number, hob_str s) {
    tag(out, number, WIRE_BYTES);
    varint(out, s.n);
    hob_buf_add(out, s);
}

static size_t begin(hob_buf *out, unsigned number) {
    tag(out, number, WIRE_BYTES);
    return out->n;
}

static void end(hob_buf *out, size_t start) {
    if (out->err) return;
    size_t n = out->n - start;
    varint(out, n); /* makes room for its own size */
    if (out->err) return;
    size_t head = out->n - start - n;
    memmove(out->p + start + head, out->p + start, n);
    for (size_t i = 0; i < head; i++, n >>= 7)
        out->p[start + i] = (char)(i + 1 < head ? (n & 0x7f) | 0x80 : n);
}

static void put_value(hob_buf *out, unsigned number, const hob_json *v);

static void put_struct(hob_buf *out, const hob_json *object) {
    for (const hob_json *m = hob_json_first(object); m; m = hob_json_next(m)) {
        size_t entry = begin(out, 1);
        put_bytes(out, 1, hob_json_key(m));
        put_value(out, 2, m);
        end(out, entry);
    }
}

static void put_double(hob_buf *out, unsigned number, double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    tag(out, number, WIRE_FIXED64);
    for (int i = 0; i < 8; i++) hob_buf_addc(out, (char)(bits >> (8 * i)));
}

static void put_list(hob_buf *out, const hob_json *array) {
    for (const hob_json *v = hob_json_first(array); v; v = hob_json_next(v)) put_value(out, 1, v);
}

static void put_value(hob_buf *out, unsigned number, const hob_json *v) {
    size_t start = begin(out, number), inner;
    switch (hob_json_type_of(v)) {
    case HOB_JSON_NULL:
        tag(out, 1, WIRE_VARINT);
        varint(out, 0);
        break;
    case HOB_JSON_NUMBER: put_double(out, 2, hob_json_double(v)); break;
    case HOB_JSON_STRING: put_bytes(out, 3, hob_json_str(v)); break;
    case HOB_JSON_BOOL:
        tag(out, 4, WIRE_VARINT);
        varint(out, hob_json_bool(v));
        break;
    case HOB_JSON_OBJECT:
        inner = begin(out, 5);
        put_struct(out, v);
        end(out, inner);
        break;
    case HOB_JSON_ARRAY:
        inner = begin(out, 6);
        put_list(out, v);
        end(out, inner);
        break;
    }
    end(out, start);
}

static void put_fields(hob_buf *out, const hob_proto_field *table, const hob_json *object);

static void put_message(hob_buf *out, const hob_proto_field *f, const hob_json *v) {
    size_t start = begin(out, f->number);
    put_fields(out, f->of, v);
    end(out, start);
}

/* The row that "type" names; none: nothing is written. */
static void put_choice(hob_buf *out, const hob_proto_field *rows, const hob_json *v) {
    hob_str type = hob_json_get_str(v, "type");
    for (; rows->key; rows++)
        if (hob_str_eqz(type, rows->key)) put_message(out, rows, v);
}

static unsigned op_number(hob_str op) {
    static const char *const names[] = {"add", "remove", "replace", "move", "copy", "test"};
    for (unsigned i = 0; i < HOB_ARRAY_LEN(names); i++)
        if (hob_str_eqz(op, names[i])) return i;
    return HOB_ARRAY_LEN(names);
}

static void put_int(hob_buf *out, unsigned number, uint64_t v) {
    tag(out, number, WIRE_VARINT);
    varint(out, v);
}

static void put_array(hob_buf *out, const hob_proto_field *f, const hob_json *v) {
    for (const hob_json *e = hob_json_first(v); e; e = hob_json_next(e)) {
        if (f->kind == HOB_PROTO_STRINGS) {
            put_bytes(out, f->number, hob_json_str(e));
        } else if (f->kind == HOB_PROTO_LIST) {
            put_message(out, f, e);
        } else {
            size_t start = begin(out, f->number);
            put_choice(out, f->of, e);
            end(out, start);
        }
    }
}

/* The type that a member must have to be this field; NULL type of VALUE: any. */
static bool fits(hob_proto_kind kind, const hob_json *v) {
    switch (kind) {
    case HOB_PROTO_STRING:
    case HOB_PROTO_OP: return hob_json_is(v, HOB_JSON_STRING);
    case HOB_PROTO_BOOL: return hob_json_is(v, HOB_JSON_BOOL);
    case HOB_PROTO_INT: return hob_json_is(v, HOB_JSON_NUMBER);
    case HOB_PROTO_VALUE: return true;
    case HOB_PROTO_STRUCT:
    case HOB_PROTO_MESSAGE:
    case HOB_PROTO_FLAT:
    case HOB_PROTO_CHOICE: return hob_json_is(v, HOB_JSON_OBJECT);
    case HOB_PROTO_LIST:
    case HOB_PROTO_STRINGS:
    case HOB_PROTO_CHOICES: return hob_json_is(v, HOB_JSON_ARRAY);
    }
    return false;
}

static void put_field(hob_buf *out, const hob_proto_field *f, const hob_json *v) {
    size_t start;
    int64_t number = 0;
    switch (f->kind) {
    case HOB_PROTO_STRING: put_bytes(out, f->number, hob_json_str(v)); break;
    case HOB_PROTO_BOOL: put_int(out, f->number, hob_json_bool(v)); break;
    case HOB_PROTO_INT:
        if (hob_json_int(v, &number) == 0) put_int(out, f->number, (uint64_t)number);
        break;
    case HOB_PROTO_VALUE: put_value(out, f->number, v); break;
    case HOB_PROTO_STRUCT:
        start = begin(out, f->number);
        put_struct(out, v);
        end(out, start);
        break;
    case HOB_PROTO_MESSAGE: put_message(out, f, v); break;
    case HOB_PROTO_FLAT: put_fields(out, f->of, v); break;
    case HOB_PROTO_CHOICE:
        start = begin(out, f->number);
        put_choice(out, f->of, v);
        end(out, start);
        break;
    case HOB_PROTO_LIST:
    case HOB_PROTO_STRINGS:
    case HOB_PROTO_CHOICES: put_array(out, f, v); break;
    case HOB_PROTO_OP: put_int(out, f->number, op_number(hob_json_str(v))); break;
    }
}

static void put_fields(hob_buf *out, const hob_proto_field *table, const hob_json *object) {
    for (; table->key; table++) {
        const hob_json *v = hob_json_get(object, table->key);
        if (v && fits(table->kind, v)) put_field(out, table, v);
    }
}

int hob_proto_encode(hob_agui_kind kind, const hob_json *event, hob_buf *out) {
    const hob_proto_event *e = &hob_proto_events[kind];
    size_t frame = out->n;
    hob_buf_add(out, hob_str_n("\0\0\0\0", 4));
    size_t arm = begin(out, e->arm), base = begin(out, 1);
    if (e->type) put_int(out, 1, e->type);
    put_fields(out, hob_proto_base, event);
    end(out, base);
    put_fields(out, e->fields, event);
    end(out, arm);
    if (out->err) return HOB_ETOOBIG;
    size_t n = out->n - frame - 4;
    for (int i = 0; i < 4; i++) out->p[frame + (size_t)i] = (char)(n >> (24 - 8 * i));
    return 0;
}
