/*
 * mock.c - the server of mock.h: one process, one epoll, any number of connections.
 *
 * A process of its own, so that its memory and its CPU are nobody's but its own: Linux counts what a
 * program was before exec into its peak memory, so whoever starts the programs must stay small.
 */
#include "mock.h"

#include "child.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUFFER_MAX ((size_t)256 << 20)
#define READ_SIZE 65536

typedef struct connection connection;

/* What epoll hands back: a connection's socket or its pacing timer. */
typedef struct source {
    connection *c;
    int fd;
} source;

struct connection {
    bench_mock *mock;
    int epoll;
    source socket, timer; /* timer.fd: -1 unless an answer is paced */
    hob_buf in, out;
    size_t sent;      /* of out */
    int64_t first_ns; /* of the request being read */
    bool continued;   /* "100 Continue" was said for it */
    bench_script script;
    unsigned step, delta; /* of the answer under way */
    bool answering;       /* out holds less than the whole answer, or not all of it is sent */
    bool tailed;          /* out holds its end */
};

static void watch(connection *c, source *s, uint32_t events, int op) {
    struct epoll_event e = {.events = events, .data.ptr = s};
    epoll_ctl(c->epoll, op, s->fd, &e);
}

static bench_exchange *note(connection *c) {
    return &c->mock->x[c->step % BENCH_EXCHANGES];
}

/* ---- the request ------------------------------------------------------------------------------ */

static hob_str header(hob_str head, const char *name) {
    hob_str line;
    while (hob_str_split(&head, '\n', &line)) {
        ptrdiff_t colon = hob_str_chr(line, ':');
        if (colon < 0 || !hob_str_ieq(hob_str_first(line, (size_t)colon), hob_str_z(name)))
            continue;
        return hob_str_trim(hob_str_skip(line, (size_t)colon + 1));
    }
    return HOB_STR_NULL;
}

static hob_str path_of(hob_str head) {
    hob_str method, path;
    hob_str_split(&head, ' ', &method);
    hob_str_split(&head, ' ', &path);
    return path;
}

static hob_str model_of(hob_str body) {
    static const char *const marks[] = {"\"model\":\"", "\"model\": \""};
    for (size_t i = 0; i < HOB_ARRAY_LEN(marks); i++) {
        ptrdiff_t at = hob_str_find(body, hob_str_z(marks[i]));
        if (at < 0) continue;
        hob_str rest = hob_str_skip(body, (size_t)at + strlen(marks[i]));
        ptrdiff_t end = hob_str_chr(rest, '"');
        return hob_str_first(rest, end < 0 ? 0 : (size_t)end);
    }
    return HOB_STR_NULL;
}

static size_t count_messages(hob_str body) {
    size_t n = 0;
    for (const char *p = body.p, *end = body.p + body.n; p; n++) {
        p = memmem(p, (size_t)(end - p), "\"role\":", 7);
        if (!p) break;
        p += 7;
    }
    return n;
}

/* Length of head and body in c->in, or 0: not all there yet. */
static size_t whole_request(connection *c, hob_str *head, hob_str *body) {
    hob_str in = hob_buf_str(&c->in);
    int64_t length = 0;
    ptrdiff_t end = hob_str_find(hob_str_first(in, 32768), HOB_STR("\r\n\r\n"));
    if (end < 0) return 0;
    *head = hob_str_first(in, (size_t)end);
    hob_str_int(header(*head, "content-length"), &length);
    if (in.n - (size_t)end - 4 < (size_t)length) {
        if (!c->continued && header(*head, "expect").n) {
            c->continued = true;
            if (write(c->socket.fd, "HTTP/1.1 100 Continue\r\n\r\n", 25) < 0) return 0;
        }
        return 0;
    }
    *body = hob_str_first(hob_str_skip(in, (size_t)end + 4), (size_t)length);
    return (size_t)end + 4 + (size_t)length;
}

/* ---- the answer --------------------------------------------------------------------------------- */

static void pace(connection *c, unsigned ms) {
    struct itimerspec t = {.it_value.tv_nsec = ms * 1000000L, .it_interval.tv_nsec = ms * 1000000L};
    c->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    timerfd_settime(c->timer.fd, 0, &t, NULL);
    watch(c, &c->timer, EPOLLIN, EPOLL_CTL_ADD);
}

static void unpace(connection *c) {
    if (c->timer.fd >= 0) close(c->timer.fd);
    c->timer.fd = -1;
}

static void flush(connection *c);

static void tail(connection *c) {
    bench_script_tail(&c->script, c->step, &c->out);
    c->tailed = true;
}

static void begin_answer(connection *c) {
    const bench_script *s = &c->script;
    c->answering = true;
    c->tailed = false;
    c->delta = 0;
    bench_script_head(s, c->step, &c->out);
    if (s->pace_ms) {
        pace(c, s->pace_ms);
    } else {
        bool tool = c->step < s->turns;
        for (unsigned i = 0; !tool && i < s->deltas; i++) bench_script_delta(s, i, &c->out);
        tail(c);
    }
    flush(c);
}

static void on_timer(connection *c) {
    uint64_t ticks;
    if (read(c->timer.fd, &ticks, sizeof(ticks)) < 0) return;
    if (c->delta < c->script.deltas) {
        bench_script_delta(&c->script, c->delta++, &c->out);
    } else {
        tail(c);
        unpace(c);
    }
    flush(c);
}

/* Takes the next request out of c->in, if it is there. */
static void next_request(connection *c) {
    hob_str head, body;
    size_t n = whole_request(c, &head, &body);
    if (!n) return;
    c->step = atomic_fetch_add(&c->mock->count, 1);
    *note(c) = (bench_exchange){.first_ns = c->first_ns,
                                .whole_ns = bench_now(),
                                .bytes = body.n,
                                .messages = c->step ? 0 : count_messages(body)};
    c->script = bench_script_of(path_of(head), model_of(body));
    hob_buf_consume(&c->in, n);
    c->continued = false;
    c->first_ns = c->in.n ? bench_now() : 0;
    begin_answer(c);
}

static void flush(connection *c) {
    while (c->sent < c->out.n) {
        if (c->tailed) note(c)->answered_ns = bench_now();
        ssize_t n = send(c->socket.fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN) watch(c, &c->socket, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            return;
        }
        c->sent += (size_t)n;
    }
    c->sent = 0;
    hob_buf_reset(&c->out);
    if (!c->tailed || !c->answering) return;
    c->answering = false;
    watch(c, &c->socket, EPOLLIN, EPOLL_CTL_MOD);
    next_request(c);
}

/* ---- connections --------------------------------------------------------------------------------- */

static void connection_destroy(connection *c) {
    unpace(c);
    close(c->socket.fd);
    hob_buf_finish(&c->in);
    hob_buf_finish(&c->out);
    hob_free(c);
}

/* False: the client is gone. */
static bool on_readable(connection *c) {
    for (;;) {
        char *room = hob_buf_reserve(&c->in, READ_SIZE);
        ssize_t n = room ? recv(c->socket.fd, room, READ_SIZE, 0) : -1;
        if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
        if (n < 0) break;
        if (!c->first_ns) c->first_ns = bench_now();
        c->in.n += (size_t)n;
    }
    if (!c->answering) next_request(c);
    return true;
}

static void on_connect(bench_mock *m, int epoll, int listener) {
    int one = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    connection *c = HOB_NEW(connection);
    *c = (connection){.mock = m, .epoll = epoll, .socket = {c, fd}, .timer = {c, -1}};
    hob_buf_init(&c->in, BUFFER_MAX);
    hob_buf_init(&c->out, BUFFER_MAX);
    watch(c, &c->socket, EPOLLIN, EPOLL_CTL_ADD);
}

static void on_event(const struct epoll_event *e) {
    source *s = e->data.ptr;
    connection *c = s->c;
    if (s == &c->timer) {
        on_timer(c);
        return;
    }
    if (e->events & EPOLLOUT) flush(c);
    if (e->events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !on_readable(c)) connection_destroy(c);
}

static _Noreturn void serve(bench_mock *m, int listener) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        if (epoll_wait(epoll, &e, 1, -1) < 1) continue; /* one at a time: a source may go away */
        e.data.ptr ? on_event(&e) : on_connect(m, epoll, listener);
    }
}

/* ---- for the benchmark ---------------------------------------------------------------------------- */

static int listen_anywhere(int *port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) != 0 || listen(fd, 128) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) != 0) {
        perror("bench: the mock server cannot listen");
        exit(1);
    }
    *port = ntohs(a.sin_port);
    return fd;
}

bench_mock *bench_mock_start(void) {
    int port, listener = listen_anywhere(&port);
    bench_mock *m =
        mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) {
        perror("bench: no memory to share with the mock server");
        exit(1);
    }
    m->port = port;
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("bench: cannot start the mock server");
        exit(1);
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(m, listener);
    }
    m->pid = pid; /* not before: the child has this memory too */
    close(listener);
    return m;
}

void bench_mock_stop(bench_mock *m) {
    kill(m->pid, SIGKILL);
    waitpid(m->pid, NULL, 0);
    munmap(m, sizeof(*m));
}

void bench_mock_reset(bench_mock *m) {
    atomic_store(&m->count, 0);
}

unsigned bench_mock_requests(bench_mock *m) {
    return atomic_load(&m->count);
}
