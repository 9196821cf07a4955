/*
 * value.h - agents as values: immutable, counted, checked when they are made (include/hob/agent.h).
 */
#ifndef HOB_SRC_AGENT_VALUE_H
#define HOB_SRC_AGENT_VALUE_H

#include <hob/agent.h>

#include "log/state.h"
#include "tool/tool.h"

#include <stdatomic.h>

enum { HOB_AGENTS_MAX = 256, HOB_AGENTS_DEEP = 32, HOB_INSTRUCTION_MAX = 1 << 20 };

struct hob_agent {
    atomic_uint refs;
    hob_arena *arena;       /* everything below */
    hob_agent_opts o;       /* copied; strings in the arena, own_tools too */
    hob_agent **agents;     /* references */
    size_t n, total, depth; /* total, depth: of the tree, itself included */
    hob_schema *schema;     /* of the output; NULL = none */
    hob_narrow *narrows;    /* what its definition, and those around it, take away; in the arena */
    size_t nnarrows;
};

bool hob_agent_has(const hob_agent *a, unsigned flag);
/* Before anybody else has it: takes away more from an agent that was just made. */
void hob_agent_narrow(hob_agent *a, const hob_narrow *list, size_t n);
const char *hob_agent_kind_name(hob_agent_kind k);
bool hob_agent_named(const hob_agent *a, hob_str name);

/* ---- condition.c: tests of the state, as text --------------------------------------------------- */
int hob_condition_check(hob_str text, hob_error *err); /* HOB_EINVAL says what is wrong */
/* A value that is absent, null, false, 0, "" or empty does not hold. */
bool hob_condition_holds(hob_str text, const hob_state *state);

/* ---- instruction.c: {key} in an instruction ------------------------------------------------------ */
/* {key} and {key?}, with app:, user: or temp: before the key; braces around anything else stay as they are. Strings go
 * in as they are, everything else as JSON. HOB_ENOENT names a key that is not there. */
int hob_instruction_expand(hob_str text, const hob_state *state, hob_buf *out, hob_error *err);

#endif
