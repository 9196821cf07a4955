/*
 * pump.c - the only place of the program that waits while a session is open.
 *
 * The runtime lives in our own loop (HOB_LOOP_HOST): whatever we wait for, it is driven meanwhile.
 * Events are not read while standard output holds back too much; the session then gives streamed
 * text in larger pieces.
 */
#include "cli/cli.h"

#include <poll.h>

enum { SLOT_RUNTIME, SLOT_OUT, SLOT_IN, SLOTS };

static int64_t now_ms(void) {
    hob_clock *c = hob_clock_real();
    return c->mono_ms(c);
}

static int shorter(int a, int64_t b) {
    if (b < 0) return a;
    if (b > INT32_MAX) b = INT32_MAX;
    return a < 0 || b < a ? (int)b : a;
}

static void wait_once(hob_cli *cli, const hob_wait *w, int64_t left) {
    struct pollfd p[SLOTS] = {
        [SLOT_RUNTIME] = {.fd = hob_runtime_fd(cli->rt), .events = POLLIN},
        [SLOT_OUT] = {.fd = hob_out_waiting(&cli->out) ? cli->out.fd : -1, .events = POLLOUT},
        [SLOT_IN] = {.fd = w->lines && !w->lines->ended ? w->lines->fd : -1, .events = POLLIN},
    };
    if (hob_signals_waiting()) left = 0;
    int n = poll(p, SLOTS, shorter(hob_runtime_timeout(cli->rt), left));
    if (n > 0 && p[SLOT_IN].revents) hob_lines_read(w->lines);
    if (n > 0 && p[SLOT_OUT].revents) hob_out_write(&cli->out);
    hob_runtime_process(cli->rt);
}

static bool holds_back(const hob_cli *cli) {
    return hob_out_waiting(&cli->out) > HOB_OUT_FULL;
}

/* 1 = there is one, 0 = settled, HOB_ETIMEDOUT = not yet. */
static int next_event(hob_cli *cli, hob_session *s, int64_t ms, hob_event **out) {
    if (!s || holds_back(cli)) return HOB_ETIMEDOUT;
    int code = hob_session_next_event(s, ms, out);
    return code == HOB_EAGAIN ? HOB_ETIMEDOUT : code;
}

/* Nothing but the session can have news: it waits by itself, which takes one system call less for each. A signal wakes
 * it. */
static bool only_session(const hob_cli *cli, const hob_wait *w) {
    return w->s && !hob_out_waiting(&cli->out) && (!w->lines || w->lines->ended);
}

int hob_pump(hob_cli *cli, const hob_wait *w, hob_event **out) {
    int64_t until = w->ms < 0 ? -1 : now_ms() + w->ms, asleep = 0;
    for (;;) {
        if (hob_signals_waiting()) return HOB_PUMP_SIGNAL;
        if (w->lines && hob_lines_ready(w->lines)) return HOB_PUMP_INPUT;
        int code = next_event(cli, w->s, asleep, out);
        asleep = 0;
        if (code == 1) return HOB_PUMP_EVENT;
        if (code != HOB_ETIMEDOUT) return code == 0 ? HOB_PUMP_END : code;
        bool held = holds_back(cli);
        hob_out_write(&cli->out);
        if (held && !holds_back(cli)) continue; /* events were left unread: nothing will wake us */
        int64_t left = until < 0 ? -1 : HOB_MAX(until - now_ms(), 0);
        if (left == 0 && !holds_back(cli)) return HOB_PUMP_TIME;
        if (only_session(cli, w))
            asleep = left;
        else
            wait_once(cli, w, holds_back(cli) ? -1 : left);
    }
}
