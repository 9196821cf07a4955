/*
 * curl_table.c - fills the table.
 *
 * curl_global_init counts its callers and is thread-safe in the versions accepted here, so several
 * runtimes, and a host that uses libcurl itself, do not disturb each other.
 */
#include "net/curl_table.h"

#include <dlfcn.h>

#define LIBRARY "libcurl.so.4"
#define HINT "install libcurl 7.87 or newer (Debian: libcurl4)"

/* From here on TLS writes go through send() with MSG_NOSIGNAL, so that a peer that hangs up cannot
 * kill the host with SIGPIPE. PROTOCOLS_STR and PREREQFUNCTION are older. */
#define OLDEST 0x075700

static int find_functions(hob_curl *t, void *so, hob_error *err) {
#define HOB_X(name)                                                                                \
    *(void **)&t->name = dlsym(so, "curl_" #name);                                                 \
    if (!t->name) return hob_fail(err, HOB_ENOSYS, 0, LIBRARY " has no curl_" #name ": " HINT);
    HOB_CURL_FUNCTIONS(HOB_X)
#undef HOB_X
    return HOB_OK;
}

int hob_curl_load(hob_curl *t, hob_error *err) {
    void *so = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!so) return hob_fail(err, HOB_ENOSYS, 0, "cannot make requests: %s; " HINT, dlerror());
    int r = find_functions(t, so, err);
    if (r < 0) return r;
    const curl_version_info_data *v = t->version_info(CURLVERSION_NOW);
    if (v->version_num < OLDEST)
        return hob_fail(err, HOB_ENOSYS, 0, "libcurl %s is too old: " HINT, v->version);
    CURLcode c = t->global_init(CURL_GLOBAL_DEFAULT);
    if (c != CURLE_OK)
        return hob_fail(err, HOB_ENOSYS, 0, "cannot initialise libcurl: %s", t->easy_strerror(c));
    return HOB_OK;
}

void hob_curl_unload(hob_curl *t) {
    t->global_cleanup();
}
