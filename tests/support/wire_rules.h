/*
 * wire_rules.h - whether a conversation could be sent: the rules of both wire formats, checked on what would be.
 */
#ifndef HOB_TESTS_WIRE_RULES_H
#define HOB_TESTS_WIRE_RULES_H

#include "log/history.h"

void hob_test_wire_rules(const hob_history *h); /* fails the test if one is broken */

#endif
