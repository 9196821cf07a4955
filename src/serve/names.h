/*
 * names.h - ids of sessions as callers choose and say them.
 *
 * A session's id is unique in its store, and a store serves many. If callers chose ids as they stand, a "there is one
 * already" would tell one of them what another has. So every owner (tenant and principal) has names of its own: who asks
 * for the id `x` gets `x.TAG`, where TAG belongs to the owner and follows from the server's secret; nobody else can ask for
 * an id that ends with it, and in a path `x` means `x.TAG`. Ids that hob makes itself are random and stay as they are.
 *
 * The machine's own user (tenant "hob", principal "local": the terminal, and a server with one token) is the exception:
 * there `x` is `x`. It owns the store, and can read in it whatever it asks about.
 *
 * The prefixes agui- and task- are the server's: threads of AG-UI and sub-agents. Their ids are digests, keyed with the
 * secret, or of what no caller can choose, so that nobody can have one before its time.
 */
#ifndef HOB_SRC_SERVE_NAMES_H
#define HOB_SRC_SERVE_NAMES_H

#include "serve/hub.h"

enum { HOB_NAME_SIZE = 130 };

/* Of a server with a state folder the secret is kept there, in server-secret; of another it ends with the server. */
int hob_names_init(hob_server *s, hob_error *err);

/* The id that a session gets for which this caller wishes `wish`. HOB_EINVAL: it is none, or a reserved one;
 * HOB_EEXIST. */
int hob_name_choose(hob_hub *h, const hob_caller *c, hob_str wish, char out[HOB_NAME_SIZE],
                    hob_error *err);
/* The id of the session that this caller means by `said`; what was said, if there is none. May block. */
void hob_name_resolve(hob_hub *h, const hob_caller *c, hob_str said, char out[HOB_NAME_SIZE]);
/* The id of a caller's thread of AG-UI. */
void hob_name_thread(hob_hub *h, const hob_caller *c, hob_str agent, hob_str thread,
                     char out[HOB_NAME_SIZE]);

/* Of a session that is made with this Idempotency-Key and without a wish: the same each time. */
void hob_name_keyed(hob_hub *h, const hob_caller *c, hob_str key, char out[HOB_NAME_SIZE]);

#endif
