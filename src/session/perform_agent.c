#include "session/session.h"

static int start(hob_flight *f, const hob_effect *e) {
    (void)f, (void)e;
    return HOB_OK;
}

static void stop(hob_flight *f, bool hard) {
    (void)f, (void)hard;
}

static void destroy(hob_flight *f) {
    (void)f;
}

const hob_performer hob_perform_call_agent = {start, stop, destroy};
