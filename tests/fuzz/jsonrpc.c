/*
 * Messages a line: the same input in one piece and in pieces that it chooses must give the same messages, under a small
 * ceiling and without; and what is written of a message that was read is again that message, on one line.
 */
#include "net/jsonrpc.h"

#include <stdlib.h>

static void write_again(const hob_rpc_message *m, hob_buf *out) {
    hob_str body = hob_json_raw(m->body);
    char *method = hob_dupz(m->method);
    switch (m->kind) {
    case HOB_RPC_INVALID: hob_rpc_write_error(out, m->id, m->code, hob_str_z(m->why), body); break;
    case HOB_RPC_REQUEST:
    case HOB_RPC_NOTIFICATION: hob_rpc_write_notification(out, method, body); break;
    case HOB_RPC_RESULT:
    case HOB_RPC_ERROR: hob_rpc_write_result(out, m->id, body); break;
    }
    hob_free(method);
    if (out->err || out->p[out->n - 1] != '\n') abort();
    if (memchr(out->p, '\n', out->n - 1)) abort();
    if (!hob_json_valid(hob_str_n(out->p, out->n - 1))) abort();
}

static void take(hob_str line, hob_buf *out) {
    hob_arena *a = hob_arena_create(0);
    hob_rpc_message m;
    hob_buf again;
    hob_rpc_read(line, a, &m);
    hob_buf_init(&again, 1 << 24);
    write_again(&m, &again);
    hob_buf_addf(out, "%d %.*s ", m.kind, HOB_FMT(m.id));
    hob_buf_add(out, hob_buf_str(&again));
    hob_buf_finish(&again);
    hob_arena_destroy(a);
}

static void read_all(hob_str in, size_t max, size_t step, hob_buf *out) {
    hob_rpc_lines l;
    hob_str line;
    int code;
    hob_rpc_lines_init(&l, max);
    for (size_t at = 0; at < in.n;) {
        size_t n = step ? 1 + (unsigned char)in.p[at] % step : (size_t)HOB_RPC_PIECE;
        n = HOB_MIN(n, in.n - at);
        hob_rpc_lines_add(&l, hob_str_n(in.p + at, n));
        at += n;
        while ((code = hob_rpc_lines_take(&l, &line)) != 0) {
            if (code > 0)
                take(line, out);
            else
                hob_buf_addz(out, "too long\n");
        }
    }
    hob_rpc_lines_finish(&l);
}

static void compare(hob_str in, size_t max) {
    hob_buf whole, cut;
    hob_buf_init(&whole, 1 << 26);
    hob_buf_init(&cut, 1 << 26);
    read_all(in, max, 0, &whole);
    read_all(in, max, 9, &cut);
    if (!hob_str_eq(hob_buf_str(&whole), hob_buf_str(&cut))) abort();
    hob_buf_finish(&whole);
    hob_buf_finish(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    hob_str in = hob_str_n((const char *)bytes, n);
    compare(in, 0);
    compare(in, 32);
    return 0;
}
