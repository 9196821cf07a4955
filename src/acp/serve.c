/*
 * serve.c - the connection: the only place here that waits.
 *
 * The runtimes live in this loop (HOB_LOOP_HOST): whatever is waited for, they are driven meanwhile. Events are not read
 * while the editor holds back too much; sessions then give streamed text in larger pieces. A call of a session that
 * waits for the store drives its runtime as well, so that the others go on.
 */
#include "acp/acp.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "session/session.h"

enum { SLOT_IN, SLOT_OUT, SLOT_RUNTIMES };

/* ---- input --------------------------------------------------------------------------------- */

static void take_line(hob_acp *x, hob_str line) {
    hob_rpc_message m;
    hob_arena *a = hob_arena_create(0);
    hob_rpc_read(line, a, &m);
    hob_acp_dispatch(x, &m);
    hob_arena_destroy(a);
}

static void take_lines(hob_acp *x) {
    hob_str line;
    int code;
    while ((code = hob_rpc_lines_take(&x->lines, &line)) != 0) {
        if (code > 0)
            take_line(x, line);
        else
            hob_rpc_write_error(&x->out, HOB_STR("null"), HOB_RPC_EREQUEST,
                                HOB_STR("a message of more than 32 MiB was left out"),
                                HOB_STR_NULL);
    }
}

static int read_input(hob_acp *x, hob_error *err) {
    char piece[HOB_RPC_PIECE];
    ssize_t n = read(x->o.in, piece, sizeof piece);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return HOB_OK;
    if (n < 0) return hob_fail_errno(err, HOB_EIO, "the editor cannot be read");
    if (n == 0) x->ended = true;
    hob_rpc_lines_add(&x->lines, hob_str_n(piece, (size_t)n));
    take_lines(x);
    return HOB_OK;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* The runtimes in use, each once; the connection's own is the first. */
static size_t runtimes(hob_acp *x, hob_runtime *out[HOB_ACP_SESSIONS + 1]) {
    size_t n = 1;
    out[0] = x->rt;
    HOB_LIST_EACH (it, &x->sessions) {
        hob_runtime *rt = HOB_CONTAINER(it, hob_acp_session, link)->rt;
        size_t i = 0;
        while (i < n && out[i] != rt) i++;
        if (i == n) out[n++] = rt;
    }
    return n;
}

static int shorter(int a, int b) {
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int wait_once(hob_acp *x, hob_error *err) {
    hob_runtime *all[HOB_ACP_SESSIONS + 1];
    size_t n = runtimes(x, all);
    struct pollfd p[SLOT_RUNTIMES + HOB_ACP_SESSIONS + 1] = {
        [SLOT_IN] = {.fd = x->o.in, .events = POLLIN},
        [SLOT_OUT] = {.fd = hob_acp_waiting(x) ? x->o.out : -1, .events = POLLOUT},
    };
    int timeout = -1;
    for (size_t i = 0; i < n; i++) {
        p[SLOT_RUNTIMES + i] = (struct pollfd){.fd = hob_runtime_fd(all[i]), .events = POLLIN};
        timeout = shorter(timeout, hob_runtime_timeout(all[i]));
    }
    if (poll(p, SLOT_RUNTIMES + n, timeout) < 0 && errno != EINTR)
        return hob_fail_errno(err, HOB_EIO, "waiting for the editor failed");
    for (size_t i = 0; i < n; i++) hob_runtime_process(all[i]);
    return p[SLOT_IN].revents ? read_input(x, err) : HOB_OK;
}

static void pump(hob_acp *x) {
    HOB_LIST_EACH_SAFE (it, &x->sessions) hob_acp_pump(HOB_CONTAINER(it, hob_acp_session, link));
    hob_acp_write(x);
}

static bool stopped(const hob_acp *x) {
    return x->o.stopped && x->o.stopped(x->o.user);
}

/* Before waiting everything that is there was read: a session tells of nothing twice. */
static int serve(hob_acp *x, hob_error *err) {
    int code = HOB_OK;
    while (code >= 0 && !x->ended && !x->out_error) {
        bool held = hob_acp_waiting(x) > HOB_ACP_OUT_FULL;
        pump(x);
        if (held && hob_acp_waiting(x) <= HOB_ACP_OUT_FULL) continue;
        if (stopped(x)) return hob_fail(err, HOB_ECANCELLED, 0, "stopped");
        code = wait_once(x, err);
    }
    if (code >= 0 && x->out_error && x->out_error != EPIPE) {
        errno = x->out_error;
        return hob_fail_errno(err, HOB_EIO, "the editor cannot be written to");
    }
    return code;
}

/* ---- life ---------------------------------------------------------------------------------- */

/* Sessions first: what the editor did not answer is then no outcome of anything. */
static void finish(hob_acp *x, bool flush) {
    while (!hob_list_empty(&x->sessions))
        hob_acp_session_free(HOB_LIST_FIRST(&x->sessions, hob_acp_session, link), true);
    if (flush)
        hob_acp_flush(x); /* it may still listen */
    else
        hob_acp_write(x);
    hob_rpc_lines_finish(&x->lines);
    hob_buf_finish(&x->out);
}

int hob_acp_serve(hob_runtime *rt, const hob_acp_opts *given, hob_error *err) {
    hob_acp x = {.rt = rt};
    int code = hob_take_options(&x.o, sizeof x.o, given, given->size, err);
    if (code < 0) return code;
    if (rt->mode != HOB_LOOP_HOST)
        return hob_fail(err, HOB_EINVAL, 0,
                        "hob_acp_serve drives the runtime: make it with HOB_LOOP_HOST");
    x.of = (hob_tenant){sizeof x.of, x.o.app_name ? x.o.app_name : "hob",
                        x.o.user_id ? x.o.user_id : "local"};
    hob_rpc_lines_init(&x.lines, 0);
    hob_buf_init(&x.out, HOB_ACP_OUT_MAX);
    hob_list_init(&x.sessions);
    hob_list_init(&x.asks);
    code = serve(&x, err);
    finish(&x, code >= 0);
    return code;
}
