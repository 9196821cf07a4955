/*
 * listen.h - where the server listens.
 */
#ifndef HOB_SRC_SERVE_LISTEN_H
#define HOB_SRC_SERVE_LISTEN_H

#include "base/host.h"

typedef struct hob_listen {
    int fd;
    bool is_unix;
    hob_host host;  /* with the port that was found */
    char path[108]; /* of a unix socket */
    char url[300];
} hob_listen;

/* ADDRESS:PORT, localhost:PORT or unix:PATH. An address that other machines reach needs `public`. HOB_EINVAL,
 * HOB_EACCES, HOB_EEXIST (in use), HOB_EIO. The fd does not block. */
int hob_listen_open(const char *where, bool public, hob_listen *out, hob_error *err);
/* The next connection: an fd, -1 = none now, -2 = no descriptors are left, -3 = one that may not (it is closed). */
int hob_listen_accept(int fd, bool is_unix, char *peer, size_t cap);

#endif
