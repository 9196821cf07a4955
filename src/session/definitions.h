/*
 * definitions.h - definitions as a host and its sessions share them.
 *
 * Whoever registers is one thread at a time; sessions look things up meanwhile on the loop. So what changes the list
 * takes the lock, and sessions get copies. The host alone may look without it, and borrow.
 */
#ifndef HOB_SRC_SESSION_DEFINITIONS_H
#define HOB_SRC_SESSION_DEFINITIONS_H

#include "agent/definition.h"

hob_definitions *hob_definitions_ref(hob_definitions *d); /* hob_definitions_destroy drops it */
/* As those of hob_def_list, from any thread; d may be NULL: then there are none. */
int hob_definitions_copy(hob_definitions *d, hob_definition_kind kind, hob_str name, hob_arena *a,
                         hob_definition *out, hob_str *workspace);
size_t hob_definitions_all(hob_definitions *d, hob_definition_kind kind, hob_arena *a,
                           hob_definition **out);
int hob_definitions_missing(hob_definitions *d, hob_definition_kind kind, hob_str name,
                            hob_error *err);

/* definitions_read.c */
hob_mode hob_definitions_widest(const hob_definitions *d);
int hob_definitions_replace(hob_definitions *d, hob_definition_kind kind, hob_str dir,
                            hob_def_list *stage, hob_error *err);
size_t hob_definitions_live(const hob_definitions *d, hob_definition_kind kind, hob_str dir);
/* The text of a skill as it is now, without its front matter; *body lies in `text`. Reads a file. */
int hob_skill_text(const hob_definition *x, hob_str workspace, hob_buf *text, hob_str *body,
                   hob_error *err);

#endif
