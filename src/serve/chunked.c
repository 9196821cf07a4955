/*
 * chunked.c - a body that comes in chunks.
 */
#include "serve/wire.h"

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Eight digits are 4 GiB, more than any body here may have. */
static hob_chunk_state take_size(hob_chunked *c, char byte) {
    int digit = hex_digit(byte);
    if (digit >= 0 && c->digits < 8) {
        c->digits++;
        c->left = c->left << 4 | (unsigned)digit;
        return HOB_CHUNK_SIZE;
    }
    return byte == '\r' && c->digits ? HOB_CHUNK_SIZE_LF : HOB_CHUNK_BROKEN;
}

static hob_chunk_state expect(char byte, char wanted, hob_chunk_state next) {
    return byte == wanted ? next : HOB_CHUNK_BROKEN;
}

static hob_chunk_state take_byte(hob_chunked *c, char byte) {
    switch (c->state) {
    case HOB_CHUNK_SIZE: return take_size(c, byte);
    case HOB_CHUNK_SIZE_LF: return expect(byte, '\n', c->left ? HOB_CHUNK_DATA : HOB_CHUNK_LAST_CR);
    case HOB_CHUNK_DATA_CR: return expect(byte, '\r', HOB_CHUNK_DATA_LF);
    case HOB_CHUNK_DATA_LF: c->digits = 0; return expect(byte, '\n', HOB_CHUNK_SIZE);
    case HOB_CHUNK_LAST_CR: return expect(byte, '\r', HOB_CHUNK_LAST_LF);
    case HOB_CHUNK_LAST_LF: return expect(byte, '\n', HOB_CHUNK_END);
    case HOB_CHUNK_DATA:
    case HOB_CHUNK_END:
    case HOB_CHUNK_BROKEN: break;
    }
    return HOB_CHUNK_BROKEN;
}

static void take_data(hob_chunked *c, hob_str *in, hob_buf *body) {
    size_t n = (size_t)HOB_MIN((uint64_t)in->n, c->left);
    hob_buf_add(body, hob_str_first(*in, n));
    *in = hob_str_skip(*in, n);
    c->left -= n;
    if (!c->left) c->state = HOB_CHUNK_DATA_CR;
}

void hob_chunked_feed(hob_chunked *c, hob_str *in, hob_buf *body) {
    while (in->n && c->state != HOB_CHUNK_END && c->state != HOB_CHUNK_BROKEN) {
        if (c->state == HOB_CHUNK_DATA) {
            take_data(c, in, body);
        } else {
            c->state = take_byte(c, in->p[0]);
            *in = hob_str_skip(*in, 1);
        }
    }
}
