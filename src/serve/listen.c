/*
 * listen.c - the socket that the server listens on.
 */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SILENCE_S 15     /* then the kernel asks whether the peer is still there, */
#define SILENCE_TRIES 3  /* so often, */
#define UNHEARD_MS 45000 /* and gives up on bytes that nobody acknowledges */

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un un;
} address;

static int open_socket(int family, hob_error *err) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) hob_fail_errno(err, HOB_EIO, "cannot make a socket");
    return fd;
}

static int bind_and_listen(int fd, const address *a, socklen_t len, const char *where,
                           hob_error *err) {
    if (bind(fd, &a->any, len) < 0) {
        if (errno == EADDRINUSE)
            return hob_fail(
                err, HOB_EEXIST, EADDRINUSE,
                "%s is in use, perhaps by another server: stop that one, or listen elsewhere",
                where);
        return hob_fail_errno(err, HOB_EIO, "cannot listen on %s", where);
    }
    if (listen(fd, SOMAXCONN) < 0)
        return hob_fail_errno(err, HOB_EIO, "cannot listen on %s", where);
    return HOB_OK;
}

/* ---- unix ----------------------------------------------------------------------------------------------- */

/* A socket that nobody listens on was left by a server that died. */
static bool is_stale(const address *a) {
    struct stat st;
    if (lstat(a->un.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode)) return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool stale = fd >= 0 && connect(fd, &a->any, sizeof a->un) < 0 && errno == ECONNREFUSED;
    if (fd >= 0) close(fd);
    return stale;
}

static int open_unix(const char *path, hob_listen *out, hob_error *err) {
    address a = {.un = {.sun_family = AF_UNIX}};
    if (!*path || strlen(path) >= sizeof a.un.sun_path)
        return hob_fail(err, HOB_EINVAL, 0, "unix:PATH needs a path of at most %zu bytes",
                        sizeof a.un.sun_path - 1);
    hob_str_out(hob_str_z(path), a.un.sun_path, sizeof a.un.sun_path);
    if (is_stale(&a)) unlink(path);
    int fd = open_socket(AF_UNIX, err);
    if (fd < 0) return HOB_EIO;
    fchmod(fd, 0600); /* before bind: the file never has other rights */
    int r = bind_and_listen(fd, &a, sizeof a.un, path, err);
    if (r < 0) {
        close(fd);
        return r;
    }
    out->fd = fd;
    out->is_unix = true;
    hob_str_out(hob_str_z(path), out->path, sizeof out->path);
    snprintf(out->url, sizeof out->url, "unix:%s", path);
    return HOB_OK;
}

/* ---- TCP ------------------------------------------------------------------------------------------------ */

static int read_where(const char *where, hob_host *host, int *port, hob_error *err) {
    hob_str text = hob_str_z(where);
    const char *colon = strrchr(where, ':');
    int64_t n = -1;
    if (!colon || colon == where || hob_str_int(hob_str_z(colon + 1), &n) < 0 || n < 0 || n > 65535)
        return hob_fail(err, HOB_EINVAL, 0,
                        "'%s' is not ADDRESS:PORT or unix:PATH, for example 127.0.0.1:4042", where);
    int r = hob_host_parse(hob_str_first(text, (size_t)(colon - where)), host, err);
    if (r < 0) return r;
    *port = (int)n;
    if (host->kind != HOB_HOST_NAME) return HOB_OK;
    if (!strcmp(host->name, "localhost")) return hob_host_parse(HOB_STR("127.0.0.1"), host, err);
    return hob_fail(err, HOB_EINVAL, 0, "listen on an address, not on the name %s", host->name);
}

static socklen_t make_address(const hob_host *host, int port, address *a) {
    if (host->kind == HOB_HOST_IPV6) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons((uint16_t)port);
        inet_pton(AF_INET6, host->name, &a->v6.sin6_addr);
        return sizeof a->v6;
    }
    a->v4.sin_family = AF_INET;
    a->v4.sin_port = htons((uint16_t)port);
    inet_pton(AF_INET, host->name, &a->v4.sin_addr);
    return sizeof a->v4;
}

static int bound_port(int fd) {
    address a;
    socklen_t len = sizeof a;
    if (getsockname(fd, &a.any, &len) < 0) return 0;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

static int open_tcp(const char *where, bool public, hob_listen *out, hob_error *err) {
    address a = {.any = {.sa_family = AF_UNSPEC}};
    int port = 0, one = 1, r = read_where(where, &out->host, &port, err);
    if (r < 0) return r;
    if (!public && !hob_host_is_loopback(&out->host))
        return hob_fail(
            err, HOB_EACCES, 0,
            "%s can be reached by other machines, and there is no TLS here; put a proxy with TLS before a "
            "loopback address, or allow insecure addresses",
            where);
    socklen_t len = make_address(&out->host, port, &a);
    int fd = open_socket(a.any.sa_family, err);
    if (fd < 0) return HOB_EIO;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    r = bind_and_listen(fd, &a, len, where, err);
    if (r < 0) {
        close(fd);
        return r;
    }
    out->fd = fd;
    out->host.port = bound_port(fd);
    bool v6 = out->host.kind == HOB_HOST_IPV6;
    snprintf(out->url, sizeof out->url, "http://%s%s%s:%d/", v6 ? "[" : "", out->host.name,
             v6 ? "]" : "", out->host.port);
    return HOB_OK;
}

int hob_listen_open(const char *where, bool public, hob_listen *out, hob_error *err) {
    memset(out, 0, sizeof *out);
    if (!strncmp(where, "unix:", 5)) return open_unix(where + 5, out, err);
    return open_tcp(where, public, out, err);
}

/* ---- connections ---------------------------------------------------------------------------------------- */

static bool same_user(int fd) {
    struct ucred who;
    socklen_t len = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.uid == geteuid();
}

/* Half-open connections end: the kernel asks, and nobody answers. */
static void tune(int fd) {
    int one = 1, silence = SILENCE_S, tries = SILENCE_TRIES, unheard = UNHEARD_MS;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &silence, sizeof silence);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &silence, sizeof silence);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard, sizeof unheard);
}

static void name_peer(const address *a, char *peer, size_t cap) {
    char text[INET6_ADDRSTRLEN] = "unix";
    if (a->any.sa_family == AF_INET) inet_ntop(AF_INET, &a->v4.sin_addr, text, sizeof text);
    if (a->any.sa_family == AF_INET6) inet_ntop(AF_INET6, &a->v6.sin6_addr, text, sizeof text);
    hob_str_out(hob_str_z(text), peer, cap);
}

int hob_listen_accept(int listen_fd, bool is_unix, char *peer, size_t cap) {
    address a = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t len = sizeof a;
    int fd = accept4(listen_fd, &a.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        bool again = errno == ECONNABORTED || errno == EINTR || errno == EPROTO;
        return full ? -2 : again ? -3 : -1;
    }
    if (is_unix && !same_user(fd)) {
        close(fd);
        return -3;
    }
    if (!is_unix) tune(fd);
    name_peer(&a, peer, cap);
    return fd;
}
