/*
 * wire.h - two hosts and a wire between them that can be cut: packets vanish, and nobody is told.
 *
 * The hosts are network namespaces of this process, which end with it; a socket belongs to the host at which its
 * thread was when it was made, and a thread or process begins where its maker was.
 */
#ifndef HOB_TESTS_WIRE_H
#define HOB_TESTS_WIRE_H

#include <stdbool.h>

#define WIRE_NEAR "192.0.2.1" /* where the test and the programs that it starts are */
#define WIRE_FAR "192.0.2.2"

/* What support/client.h dials and support/httpd.h listens on: loopback, but at the far host. */
const char *wire_dialled(void);
const char *wire_listened(void);

/* Lays it. False: `why` says what is missing on this machine. Before there are threads. */
bool wire_lay(char *why, unsigned long cap);
/* From now on at the far host, where clients dial the near one and servers are found from there; or back. */
void wire_go(bool far);
void wire_cut(void);
void wire_mend(void);

/* The socket in the process `pid` whose peer is the other end of `fd`, as one of ours; fails the test without one. */
int wire_other_end(int pid, int fd);

#endif
