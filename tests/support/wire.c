#include "support/wire.h"

#include "support/check.h"
#include "support/process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int near_fd = -1, far_fd = -1;
static bool is_far;

const char *wire_dialled(void) {
    return is_far ? WIRE_NEAR : "127.0.0.1";
}

const char *wire_listened(void) {
    return is_far ? WIRE_FAR : "127.0.0.1";
}

static int own_network(void) {
    return unshare(CLONE_NEWNET) == 0 ? open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC) : -1;
}

static bool run(const char *command) {
    char line[400];
    snprintf(line, sizeof line, "PATH=$PATH:/usr/sbin:/sbin; %s", command);
    return system(line) == 0;
}

static void at(bool far) {
    if (setns(far ? far_fd : near_fd, CLONE_NEWNET) < 0) fail_msg("cannot go to the other network");
}

void wire_go(bool far) {
    at(far);
    is_far = far;
}

/* The far end is named by a path that `ip` opens. */
static bool join(void) {
    char command[300];
    snprintf(command, sizeof command,
             "ip link add wire type veth peer name wire netns /proc/%d/fd/%d && "
             "ip address add " WIRE_NEAR "/24 dev wire && ip link set lo up && ip link set wire up",
             (int)getpid(), far_fd);
    if (!run(command)) return false;
    at(true);
    bool done = run("ip address add " WIRE_FAR "/24 dev wire && ip link set lo up && "
                    "ip link set wire up");
    at(false);
    return done;
}

bool wire_lay(char *why, unsigned long cap) {
    const char *missing = NULL;
    if (!run("command -v ip >/dev/null && command -v tc >/dev/null"))
        missing = "ip and tc (Debian: iproute2)";
    else if (!hob_test_become_root() || (near_fd = own_network()) < 0 ||
             (far_fd = own_network()) < 0)
        missing = "the right to make network namespaces";
    else if (at(false), !join())
        missing = "pairs of virtual network devices";
    if (missing) snprintf(why, cap, "%s", missing);
    return !missing;
}

/* Both ends swallow what they should send, so neither hears of it. */
static void both(const char *command) {
    for (int far = 0; far < 2; far++) {
        at(far);
        if (!run(command)) fail_msg("%s", command);
    }
    at(false);
}

void wire_cut(void) {
    both("tc qdisc add dev wire root blackhole");
}

void wire_mend(void) {
    both("tc qdisc del dev wire root");
}

/* ---- sockets of others ---------------------------------------------------------------------------------------- */

static bool same(const struct sockaddr_in *a, const struct sockaddr_in *b) {
    return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
}

static int take_if_peer(int pidfd, int number, const struct sockaddr_in *peer) {
    struct sockaddr_in its = {0};
    socklen_t n = sizeof its;
    int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
    if (fd >= 0 && getpeername(fd, (struct sockaddr *)&its, &n) == 0 && its.sin_family == AF_INET &&
        same(&its, peer))
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

int wire_other_end(int pid, int fd) {
    struct sockaddr_in mine;
    socklen_t n = sizeof mine;
    char path[40];
    int found = -1, pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&mine, &n), 0);
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; found < 0 && (e = readdir(dir));)
        if (e->d_name[0] != '.') found = take_if_peer(pidfd, atoi(e->d_name), &mine);
    closedir(dir);
    close(pidfd);
    if (found < 0) fail_msg("process %d has no socket with that peer", pid);
    return found;
}
