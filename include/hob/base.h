/*
 * hob/base.h - the vocabulary every other hob header uses.
 *
 * Strings cross the API as `hob_str`: a borrowed slice, by value, not necessarily NUL-terminated.
 * Calls return an int: >= 0 is success, negative is one of the HOB_E codes below. Calls with more
 * than one cause of failure also take a nullable `hob_error *`, which is written only on failure.
 * Outputs are written only on success. There are no thread-local errors.
 *
 * Memory: whatever the outside world sizes has a ceiling and fails with HOB_ETOOBIG. A failed small
 * allocation calls the handler set with hob_set_oom_handler(); the default prints one line and
 * aborts.
 */
#ifndef HOB_BASE_H
#define HOB_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define HOB_API __attribute__((visibility("default")))
#else
#define HOB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HOB_VERSION_MAJOR 0
#define HOB_VERSION_MINOR 1
#define HOB_VERSION_PATCH 0
#define HOB_VERSION "0.1.0"

/* The version of the library at run time, e.g. "0.1.0". [any] */
HOB_API const char *hob_version(void);

/* ---- strings ---------------------------------------------------------------------------- */

/* A borrowed slice. `p` may be NULL only if `n` is 0. */
typedef struct hob_str {
    const char *p;
    size_t n;
} hob_str;

static inline hob_str hob_str_n(const char *p, size_t n) {
    hob_str s;
    s.p = p;
    s.n = n;
    return s;
}

/* A NUL-terminated string as a slice; NULL gives the empty slice. */
static inline hob_str hob_str_z(const char *z) {
    return hob_str_n(z, z ? strlen(z) : 0);
}

/* ---- errors ----------------------------------------------------------------------------- */

/* X(name, value, text, retryable) */
#define HOB_ERRORS(X)                                                                              \
    X(EINVAL, 1, "invalid argument", 0)                                                            \
    X(ENOMEM, 2, "out of memory", 0)                                                               \
    X(ETOOBIG, 3, "over a size limit", 0)                                                          \
    X(EPARSE, 4, "malformed input", 0)                                                             \
    X(ENOENT, 5, "not found", 0)                                                                   \
    X(EEXIST, 6, "already exists", 0)                                                              \
    X(EBUSY, 7, "busy", 0)                                                                         \
    X(EIDLE, 8, "nothing is running", 0)                                                           \
    X(EDEADLK, 9, "would deadlock: called from a callback", 0)                                     \
    X(ETIMEDOUT, 10, "timed out", 1)                                                               \
    X(ECANCELLED, 11, "cancelled", 0)                                                              \
    X(EIO, 12, "input/output error", 0)                                                            \
    X(EACCES, 13, "not permitted", 0)                                                              \
    X(EAUTH, 14, "no credentials, or they were refused", 0)                                        \
    X(ENET, 15, "network error", 1)                                                                \
    X(EPROTO, 16, "protocol error", 1)                                                             \
    X(ERATE, 17, "rate limited", 1)                                                                \
    X(EOVERLOAD, 18, "the provider is overloaded or failing", 1)                                   \
    X(EREFUSED, 19, "the request was refused", 0)                                                  \
    X(ELIMIT, 20, "a limit was reached", 0)                                                        \
    X(ESTORE, 21, "the store failed", 0)                                                           \
    X(EFENCED, 22, "the session was taken over by another process", 0)                             \
    X(EVERSION, 23, "written by a newer version", 0)                                               \
    X(ECONFIG, 24, "wrong configuration", 0)                                                       \
    X(ECLOSED, 25, "closed", 0)                                                                    \
    X(EAGAIN, 26, "try again later", 1)                                                            \
    X(EAMBIGUOUS, 27, "more than one match", 0)                                                    \
    X(ENOSYS, 28, "not supported here", 0)                                                         \
    X(EAGENT, 29, "an agent failed", 0)                                                            \
    X(EDEPTH, 30, "sub-agents are nested too deeply", 0)

enum hob_errno {
    HOB_OK = 0,
#define HOB_X(name, value, text, retryable) HOB_##name = -(value),
    HOB_ERRORS(HOB_X)
#undef HOB_X
};

/* Enough to say what happened, to what, and what to do next. */
typedef struct hob_error {
    int code;          /* HOB_E… */
    int sub;           /* HTTP status or errno, 0 if neither applies */
    char message[500]; /* NUL-terminated UTF-8 */
} hob_error;

HOB_API const char *hob_error_name(int code); /* "HOB_EBUSY" */
HOB_API const char *hob_error_text(int code); /* "busy" */
HOB_API int hob_error_retryable(int code);    /* 1 if trying again later can help */

/* ---- looking into JSON -------------------------------------------------------------------- */

/* A value inside JSON text by a dotted path ("items.0.name"): a string decoded, anything else as written, copied into
 * buf (NUL-terminated, cut at cap). Returns its full length, HOB_ENOENT, or HOB_EPARSE. For the arguments of a tool
 * (hob_tool_call.args), rows of a page, data of an event. [any] */
HOB_API int hob_json_field(hob_str json, const char *path, char *buf, size_t cap);

/* ---- hooks into the host; the only process-wide state of the library -------------------- */

typedef void (*hob_oom_fn)(size_t wanted, void *user);
/* [setup] `fn` must not return; NULL restores the default. */
HOB_API void hob_set_oom_handler(hob_oom_fn fn, void *user);

typedef enum hob_log_level {
    HOB_LOG_ERROR,
    HOB_LOG_WARN,
    HOB_LOG_INFO,
    HOB_LOG_DEBUG
} hob_log_level;

typedef void (*hob_log_fn)(hob_log_level level, hob_str area, hob_str message, void *user);
/* [setup] Called from any thread of the library; NULL (the default) is silent. */
HOB_API void hob_set_log_sink(hob_log_fn fn, hob_log_level max_level, void *user);

#ifdef __cplusplus
}
#endif

#endif
