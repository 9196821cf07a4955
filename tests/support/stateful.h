/*
 * stateful.h - a host whose model calls a tool that changes state: `set` takes {"delta":{…},"removed":[…],"read":"key"}
 * as its arguments, asks for that change, and answers with the value it reads from the call's snapshot.
 */
#ifndef HOB_TESTS_STATEFUL_H
#define HOB_TESTS_STATEFUL_H

#include "support/host.h"

/* Adds the tool to the host's options; before host_open. */
void stateful_tool(host *r, hob_tool *tool);
/* The stored data of the n-th event of this type, from 0; "" if there is none. */
const char *stateful_event(host *r, const char *type, int n);

#endif
