/*
 * fault.h - makes externally sized allocations fail on demand. Test builds only.
 *
 * A test loops n = 1, 2, … over the same work until hob_fault_alloc_hits() says that the n-th
 * allocation was never reached: then every point of failure has been visited.
 * Per thread, so that tests do not disturb worker threads.
 */
#ifndef HOB_SRC_FAULT_H
#define HOB_SRC_FAULT_H

#include "base/base.h"

#ifdef HOB_TEST_POINTS
void hob_fault_alloc_at(size_t n);  /* the n-th from now on fails once; 0 = never */
size_t hob_fault_alloc_count(void); /* allocations seen since hob_fault_alloc_at */
bool hob_fault_alloc_hit(void);     /* the failure asked for has happened */
#endif

#endif
