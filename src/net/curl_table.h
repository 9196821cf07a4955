/*
 * curl_table.h - libcurl as a table of functions, filled by dlopen.
 *
 * libcurl brings some forty shared objects with it. A program that makes no request should not pay for
 * them, and one that makes a request should not wait for them: the table is filled on a pool thread.
 */
#ifndef HOB_SRC_CURL_TABLE_H
#define HOB_SRC_CURL_TABLE_H

#include "base/base.h"

#include <curl/curl.h>

#define HOB_CURL_FUNCTIONS(X)                                                                      \
    X(global_init)                                                                                 \
    X(global_cleanup)                                                                              \
    X(version_info)                                                                                \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(easy_init)                                                                                   \
    X(easy_cleanup)                                                                                \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(multi_init)                                                                                  \
    X(multi_cleanup)                                                                               \
    X(multi_setopt)                                                                                \
    X(multi_strerror)                                                                              \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_socket_action)                                                                         \
    X(multi_info_read)                                                                             \
    X(multi_timeout)

typedef struct hob_curl {
#define HOB_X(name) __typeof__(curl_##name) *name;
    HOB_CURL_FUNCTIONS(HOB_X)
#undef HOB_X
} hob_curl;

/* [any] Loads and initialises libcurl; takes some 10 ms the first time in a process.
 * HOB_ENOSYS when it is not there or too old. Undo with hob_curl_unload. */
int hob_curl_load(hob_curl *t, hob_error *err);
void hob_curl_unload(hob_curl *t); /* the shared objects stay: they cannot be removed safely */

#endif
