/*
 * wire.c - messages on their way to the editor, and requests that wait for its answer.
 *
 * The file description behind `out` is shared with whoever started us, so it is not made non-blocking: at most
 * PIPE_BUF bytes are written at a time, and only when poll() says that they fit.
 */
#include "acp/acp.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

enum { STALL_MS = 2 * 1000, FLUSH_MS = 30 * 1000 }; /* nothing is read; in all */

/* ---- out ----------------------------------------------------------------------------------- */

size_t hob_acp_waiting(const hob_acp *x) {
    return x->out.n - x->written;
}

static void give_up(hob_acp *x, int error) {
    x->out_error = error;
    x->written = 0;
    hob_buf_reset(&x->out);
}

static void written_some(hob_acp *x, size_t n) {
    x->written += n;
    if (hob_acp_waiting(x)) return;
    x->written = 0;
    hob_buf_reset(&x->out);
}

void hob_acp_write(hob_acp *x) {
    struct pollfd p = {.fd = x->o.out, .events = POLLOUT};
    while (hob_acp_waiting(x) && poll(&p, 1, 0) > 0) {
        size_t n = HOB_MIN(hob_acp_waiting(x), (size_t)PIPE_BUF);
        ssize_t wrote = write(x->o.out, x->out.p + x->written, n);
        if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (wrote < 0)
            give_up(x, errno);
        else
            written_some(x, (size_t)wrote);
    }
}

void hob_acp_flush(hob_acp *x) {
    struct pollfd p = {.fd = x->o.out, .events = POLLOUT};
    hob_clock *clock = hob_clock_real();
    int64_t until = clock->mono_ms(clock) + FLUSH_MS;
    while (hob_acp_waiting(x) && clock->mono_ms(clock) < until && poll(&p, 1, STALL_MS) > 0)
        hob_acp_write(x);
}

/* After each message: one that does not fit means that nobody reads. */
static void check(hob_acp *x) {
    if (x->out.err) give_up(x, ENOBUFS);
}

static bool closed(const hob_acp *x) {
    return x->out_error != 0;
}

void hob_acp_result(hob_acp *x, hob_str id, hob_str result) {
    if (closed(x)) return;
    hob_rpc_write_result(&x->out, id, result);
    check(x);
}

void hob_acp_notify(hob_acp *x, const char *method, const hob_buf *params) {
    if (closed(x)) return;
    if (params->err) {
        hob_log(HOB_LOG_WARN, "acp", "a message %s was too large and is left out", method);
        return;
    }
    hob_rpc_write_notification(&x->out, method, hob_buf_str(params));
    check(x);
}

/* ---- errors -------------------------------------------------------------------------------- */

static int code_of(int hob_code) {
    switch (hob_code) {
    case HOB_EAUTH: return HOB_ACP_EAUTH;
    case HOB_ENOENT: return HOB_ACP_ENOENT;
    case HOB_ENOSYS: return HOB_RPC_EMETHOD;
    case HOB_EBUSY: return HOB_RPC_EREQUEST;
    case HOB_EINVAL:
    case HOB_EPARSE:
    case HOB_ETOOBIG:
    case HOB_EEXIST:
    case HOB_EAMBIGUOUS: return HOB_RPC_EPARAMS;
    }
    return HOB_RPC_EINTERNAL;
}

void hob_acp_refuse(hob_acp *x, hob_str id, const hob_error *err) {
    hob_buf data;
    if (closed(x)) return;
    hob_buf_init(&data, 256);
    hob_buf_addf(&data, "{\"code\":\"%s\",\"retryable\":%s}", hob_error_name(err->code),
                 hob_error_retryable(err->code) ? "true" : "false");
    hob_rpc_write_error(&x->out, id, code_of(err->code), hob_str_z(err->message),
                        hob_buf_str(&data));
    hob_buf_finish(&data);
    check(x);
}

/* ---- requests to the editor ----------------------------------------------------------------- */

int hob_acp_send_ask(hob_acp *x, hob_acp_ask *a, const char *method, const hob_buf *params,
                     hob_error *err) {
    if (closed(x)) return hob_fail(err, HOB_EIO, x->out_error, "the editor is gone");
    if (x->nasks >= HOB_ACP_ASKS)
        return hob_fail(err, HOB_ELIMIT, 0, "the editor has %d requests to answer already",
                        HOB_ACP_ASKS);
    if (params->err) return hob_fail(err, HOB_ETOOBIG, 0, "%s: the request is too large", method);
    a->id = ++x->last_id;
    hob_list_push(&x->asks, &a->link);
    x->nasks++;
    hob_rpc_write_request(&x->out, a->id, method, hob_buf_str(params));
    check(x);
    return HOB_OK;
}

void hob_acp_drop_ask(hob_acp *x, hob_acp_ask *a) {
    if (!a->id) return;
    hob_list_remove(&a->link);
    a->id = 0;
    x->nasks--;
}

static hob_acp_ask *find_ask(hob_acp *x, hob_str id) {
    int64_t n;
    if (hob_str_int(id, &n) < 0) return NULL;
    HOB_LIST_EACH (it, &x->asks) {
        hob_acp_ask *a = HOB_CONTAINER(it, hob_acp_ask, link);
        if (a->id == n) return a;
    }
    return NULL;
}

void hob_acp_take_answer(hob_acp *x, const hob_rpc_message *m) {
    hob_acp_ask *a = find_ask(x, m->id);
    hob_error err;
    if (!a) return; /* of a request that nobody waits for any more */
    hob_acp_drop_ask(x, a);
    if (m->kind == HOB_RPC_RESULT) {
        a->answered(a, m->body, NULL);
        return;
    }
    hob_str said = hob_json_get_str(m->body, "message");
    hob_fail(&err, HOB_EREFUSED, (int)hob_json_get_int(m->body, "code", 0), "%.*s",
             HOB_FMT(hob_str_first(said, hob_utf8_prefix(said, 300))));
    a->answered(a, NULL, &err);
}
