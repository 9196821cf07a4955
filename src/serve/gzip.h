/*
 * gzip.h - answers made smaller for the way, and the page made large again. [any]
 *
 * zlib is loaded when the first answer is compressed; where it is missing, answers go out as they are. Level 1: five times
 * smaller in a fifth of the time of the usual level 6, which would reach eight.
 */
#ifndef HOB_SRC_SERVE_GZIP_H
#define HOB_SRC_SERVE_GZIP_H

#include "base/base.h"

/* Appends the gzip form of `in`. HOB_ENOSYS: no zlib; HOB_ETOOBIG. */
int hob_gzip(hob_str in, hob_buf *out);

/* And back: appends what a bare deflate stream holds. HOB_ENOSYS, HOB_ETOOBIG; HOB_EPARSE: it is damaged. */
int hob_inflate(hob_str in, hob_buf *out);

#endif
