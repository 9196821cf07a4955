/*
 * error.c - error codes as text, and filling a hob_error.
 */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>

const char *hob_version(void) {
    return HOB_VERSION;
}

const char *hob_error_name(int code) {
    switch (code) {
#define HOB_X(name, value, text, retryable)                                                        \
    case -(value): return "HOB_" #name;
        HOB_ERRORS(HOB_X)
#undef HOB_X
    }
    return code >= 0 ? "HOB_OK" : "HOB_E?";
}

const char *hob_error_text(int code) {
    switch (code) {
#define HOB_X(name, value, text, retryable)                                                        \
    case -(value): return text;
        HOB_ERRORS(HOB_X)
#undef HOB_X
    }
    return code >= 0 ? "no error" : "unknown error";
}

int hob_error_retryable(int code) {
    switch (code) {
#define HOB_X(name, value, text, retryable)                                                        \
    case -(value): return retryable;
        HOB_ERRORS(HOB_X)
#undef HOB_X
    }
    return 0;
}

/* Cuts what vsnprintf cut in the middle of a character, so that messages stay UTF-8. */
static void keep_utf8(char *z, size_t size) {
    size_t n = strlen(z);
    if (n + 1 == size) z[hob_utf8_complete(hob_str_n(z, n))] = '\0';
}

int hob_fail(hob_error *err, int code, int sub, const char *fmt, ...) {
    if (!err) return code;
    hob_error e = {.code = code, .sub = sub};
    va_list args;
    va_start(args, fmt);
    vsnprintf(e.message, sizeof(e.message), fmt, args); /* may print an older *err */
    va_end(args);
    keep_utf8(e.message, sizeof(e.message));
    *err = e;
    return code;
}

int hob_fail_errno(hob_error *err, int code, const char *fmt, ...) {
    int saved = errno;
    if (!err) return code;
    hob_error e = {.code = code, .sub = saved};
    va_list args;
    va_start(args, fmt);
    vsnprintf(e.message, sizeof(e.message), fmt, args);
    va_end(args);
    size_t n = strlen(e.message);
    char why[128];
    snprintf(e.message + n, sizeof(e.message) - n, ": %s", strerror_r(saved, why, sizeof(why)));
    keep_utf8(e.message, sizeof(e.message));
    *err = e;
    errno = saved;
    return code;
}
