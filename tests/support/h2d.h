/*
 * h2d.h - a small real HTTP/2 server over TLS. What it does depends on the path:
 *   /hello   200 with the body "hello"
 *   /half    200 with "half", then silence
 *   /reset   200 with "half", then the stream is reset
 *   /hang    nothing
 */
#ifndef HOB_TESTS_H2D_H
#define HOB_TESTS_H2D_H

typedef struct h2d h2d;

h2d *h2d_start(void);
void h2d_stop(h2d *d);
int h2d_port(const h2d *d);
unsigned h2d_connections(const h2d *d); /* so far */
unsigned h2d_streams(const h2d *d);     /* requests so far */
unsigned h2d_cancelled(const h2d *d);   /* streams that the client reset */

#endif
