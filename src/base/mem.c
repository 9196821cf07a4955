/*
 * mem.c - the only callers of malloc and free in hob.
 */
#include "base/mem.h"

#include "base/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static hob_oom_fn oom_fn;
static void *oom_user;

void hob_set_oom_handler(hob_oom_fn fn, void *user) {
    oom_fn = fn;
    oom_user = user;
}

void hob_mem_oom(size_t wanted) {
    if (oom_fn) oom_fn(wanted, oom_user);
    char line[96];
    int n = snprintf(line, sizeof(line), "hob: out of memory (%zu bytes wanted)\n", wanted);
    ssize_t written = n > 0 ? write(STDERR_FILENO, line, (size_t)n) : 0;
    (void)written; /* there is nobody left to tell */
    abort();
}

#ifdef HOB_TEST_POINTS
static _Thread_local size_t fault_at, fault_seen;

void hob_fault_alloc_at(size_t n) {
    fault_at = n;
    fault_seen = 0;
}

size_t hob_fault_alloc_count(void) {
    return fault_seen;
}

bool hob_fault_alloc_hit(void) {
    return fault_at != 0 && fault_seen >= fault_at;
}

static bool fault_now(void) {
    return ++fault_seen == fault_at;
}
#else
static bool fault_now(void) {
    return false;
}
#endif

void *hob_mem_resize(void *p, size_t n) {
    if (fault_now()) return NULL;
    return realloc(p, n ? n : 1);
}

void *hob_alloc(size_t n) {
    void *p = calloc(1, n ? n : 1);
    if (!p) hob_mem_oom(n);
    return p;
}

void *hob_realloc(void *p, size_t n) {
    void *q = realloc(p, n ? n : 1);
    if (!q) hob_mem_oom(n);
    return q;
}

void hob_free(void *p) {
    free(p);
}

char *hob_dupz(hob_str s) {
    char *z = hob_alloc(s.n + 1);
    if (s.n) memcpy(z, s.p, s.n);
    return z;
}
