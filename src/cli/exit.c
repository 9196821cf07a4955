/*
 * exit.c - what went wrong, as an exit code. The table is in docs/cli.md; scripts depend on it.
 */
#include "cli/cli.h"

int hob_exit_of(int code) {
    switch (code) {
    case HOB_EINVAL:
    case HOB_ECONFIG:
    case HOB_EAMBIGUOUS:
    case HOB_EEXIST: return HOB_EXIT_USAGE;
    case HOB_EAUTH: return HOB_EXIT_AUTH;
    case HOB_ELIMIT: return HOB_EXIT_LIMIT;
    case HOB_EBUSY: return HOB_EXIT_BUSY;
    case HOB_ENOENT: return HOB_EXIT_ABSENT;
    }
    return code >= 0 ? HOB_EXIT_OK : HOB_EXIT_FAILED;
}

/* The code of a failed run is the provider's: only a refused key and an unknown model have an exit
 * code of their own there; "busy" or "wrong argument" said by a provider is a failure like any
 * other. */
int hob_exit_of_result(hob_str status, int code) {
    if (hob_str_eqz(status, "completed")) return HOB_EXIT_OK;
    if (hob_str_eqz(status, "limit")) return HOB_EXIT_LIMIT;
    if (hob_str_eqz(status, "parked")) return HOB_EXIT_REFUSED;
    if (code == HOB_EAUTH) return HOB_EXIT_AUTH;
    if (code == HOB_ENOENT) return HOB_EXIT_ABSENT;
    return HOB_EXIT_FAILED;
}
