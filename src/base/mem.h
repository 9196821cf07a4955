/*
 * mem.h - the two doors to the allocator that only base/ uses.
 *
 * Memory whose size the outside world decides (buffers, arena chunks) goes through
 * hob_mem_resize(), which may fail: the caller turns that into HOB_ETOOBIG. Everything else goes
 * through hob_alloc(), which never fails.
 */
#ifndef HOB_SRC_MEM_H
#define HOB_SRC_MEM_H

#include "base/base.h"

void *hob_mem_resize(void *p, size_t n); /* NULL on failure, `p` is then untouched */
void hob_mem_oom(size_t wanted) __attribute__((noreturn));

#endif
