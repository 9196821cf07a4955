/*
 * jsonrpc.h - JSON-RPC 2.0 with one message a line, as editors (ACP) and tool servers (MCP) speak it over pipes.
 *
 * Pure: bytes in, messages out, and messages into a buffer. Batches are refused. A line over the ceiling is left out
 * and said once; the lines behind it are read as if it had not been there. How the input is cut into pieces never
 * changes what comes out.
 */
#ifndef HOB_SRC_JSONRPC_H
#define HOB_SRC_JSONRPC_H

#include "base/json.h"

enum {
    HOB_RPC_EPARSE = -32700,
    HOB_RPC_EREQUEST = -32600,
    HOB_RPC_EMETHOD = -32601,
    HOB_RPC_EPARAMS = -32602,
    HOB_RPC_EINTERNAL = -32603
};

/* ---- lines --------------------------------------------------------------------------------- */

typedef struct hob_rpc_lines {
    hob_buf buf;    /* of a line that is too long only its beginning */
    size_t max;     /* bytes of a line */
    size_t open;    /* bytes of the line that has no end yet */
    size_t taken;   /* bytes of buf given out */
    size_t scanned; /* of what is left: bytes without a newline */
} hob_rpc_lines;

enum { HOB_RPC_PIECE = 64 * 1024 };

/* max: bytes of a line; 0 = 32 MiB. */
void hob_rpc_lines_init(hob_rpc_lines *l, size_t max);
void hob_rpc_lines_finish(hob_rpc_lines *l);
/* At most HOB_RPC_PIECE at a time, and when all that can be taken was taken. */
void hob_rpc_lines_add(hob_rpc_lines *l, hob_str bytes);
/* 1 and a line without its end, empty ones left out; valid until the next call. 0 = there is none yet. HOB_ETOOBIG: one
 * was left out. */
int hob_rpc_lines_take(hob_rpc_lines *l, hob_str *out);

/* ---- reading ------------------------------------------------------------------------------- */

typedef enum hob_rpc_kind {
    HOB_RPC_INVALID, /* no message: `code` and `why` for the answer, `id` if it could be found */
    HOB_RPC_REQUEST,
    HOB_RPC_NOTIFICATION,
    HOB_RPC_RESULT,
    HOB_RPC_ERROR
} hob_rpc_kind;

typedef struct hob_rpc_message {
    hob_rpc_kind kind;
    hob_str id; /* as it was written; "null" where an answer cannot name one */
    hob_str method;
    const hob_json *body; /* params, result or error; NULL = none */
    int code;
    char why[200];
} hob_rpc_message;

/* The message borrows from the line and the arena. */
void hob_rpc_read(hob_str line, hob_arena *a, hob_rpc_message *out);

/* ---- writing: each adds one line; JSON is given as text, "" = left out ------------------------ */

void hob_rpc_write_request(hob_buf *out, int64_t id, const char *method, hob_str params);
void hob_rpc_write_notification(hob_buf *out, const char *method, hob_str params);
void hob_rpc_write_result(hob_buf *out, hob_str id, hob_str result);
void hob_rpc_write_error(hob_buf *out, hob_str id, int code, hob_str message, hob_str data);

#endif
