/*
 * gzip.c - zlib as a few functions, found by dlopen.
 */
#include "serve/gzip.h"

#include <dlfcn.h>
#include <limits.h>
#include <zlib.h>

#define LIBRARY "libz.so.1"
#define LEVEL 1
#define GZIP_WINDOW (15 + 16) /* the largest, with gzip's head and tail */
#define MEMORY 8
#define BARE_WINDOW (-15) /* the largest, without head and tail */
#define PIECE 65536

typedef struct zlib {
    __typeof__(deflateInit2_) *init;
    __typeof__(deflate) *run;
    __typeof__(deflateEnd) *end;
    __typeof__(deflateBound) *bound;
} zlib;

/* dlopen counts, and finds what is loaded already: cheap beside the compression. */
static void *load(zlib *z) {
    void *so = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!so) return NULL;
    *(void **)&z->init = dlsym(so, "deflateInit2_");
    *(void **)&z->run = dlsym(so, "deflate");
    *(void **)&z->end = dlsym(so, "deflateEnd");
    *(void **)&z->bound = dlsym(so, "deflateBound");
    if (z->init && z->run && z->end && z->bound) return so;
    dlclose(so);
    return NULL;
}

static int compress_all(const zlib *z, z_stream *s, hob_str in, hob_buf *out) {
    uLong most = z->bound(s, in.n);
    char *room = most <= UINT_MAX ? hob_buf_reserve(out, most) : NULL;
    if (!room) return HOB_ETOOBIG;
    s->next_in = (Bytef *)(uintptr_t)in.p;
    s->avail_in = (uInt)in.n;
    s->next_out = (Bytef *)room;
    s->avail_out = (uInt)most;
    if (z->run(s, Z_FINISH) != Z_STREAM_END) return HOB_EIO;
    out->n += s->total_out;
    return HOB_OK;
}

int hob_gzip(hob_str in, hob_buf *out) {
    zlib z;
    z_stream s = {.zalloc = Z_NULL};
    if (in.n > UINT_MAX) return HOB_ETOOBIG;
    void *so = load(&z);
    if (!so) return HOB_ENOSYS;
    int r = HOB_ENOSYS;
    if (z.init(&s, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
               (int)sizeof s) == Z_OK) {
        r = compress_all(&z, &s, in, out);
        z.end(&s);
    }
    dlclose(so);
    return r;
}

typedef struct unzlib {
    __typeof__(inflateInit2_) *init;
    __typeof__(inflate) *run;
    __typeof__(inflateEnd) *end;
} unzlib;

static int inflate_all(const unzlib *z, z_stream *s, hob_str in, hob_buf *out) {
    int r = Z_OK;
    s->next_in = (Bytef *)(uintptr_t)in.p;
    s->avail_in = (uInt)in.n;
    while (r == Z_OK) {
        char *room = hob_buf_reserve(out, PIECE);
        if (!room) return HOB_ETOOBIG;
        s->next_out = (Bytef *)room;
        s->avail_out = PIECE;
        r = z->run(s, Z_NO_FLUSH);
        out->n += PIECE - s->avail_out;
    }
    return r == Z_STREAM_END ? HOB_OK : HOB_EPARSE;
}

int hob_inflate(hob_str in, hob_buf *out) {
    unzlib z;
    z_stream s = {.zalloc = Z_NULL};
    if (in.n > UINT_MAX) return HOB_ETOOBIG;
    void *so = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!so) return HOB_ENOSYS;
    *(void **)&z.init = dlsym(so, "inflateInit2_");
    *(void **)&z.run = dlsym(so, "inflate");
    *(void **)&z.end = dlsym(so, "inflateEnd");
    int r = HOB_ENOSYS;
    if (z.init && z.run && z.end && z.init(&s, BARE_WINDOW, ZLIB_VERSION, (int)sizeof s) == Z_OK) {
        r = inflate_all(&z, &s, in, out);
        z.end(&s);
    }
    dlclose(so);
    return r;
}
