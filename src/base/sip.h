/*
 * sip.h - SipHash-1-3: for tables whose keys come from outside. With a seed of its own per table nobody can choose keys
 * that collide.
 */
#ifndef HOB_SRC_BASE_SIP_H
#define HOB_SRC_BASE_SIP_H

#include "base/base.h"

/* map.c */
uint64_t hob_sip_hash(const uint64_t seed[2], hob_str s);

#endif
