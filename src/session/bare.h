/*
 * bare.h - a session that is opened only to be changed (bare.c).
 */
#ifndef HOB_SRC_SESSION_BARE_H
#define HOB_SRC_SESSION_BARE_H

#include "session/session.h"

typedef struct hob_bare {
    bool copies;            /* the session is a copy of the one that is opened */
    const char *entry, *id; /* of a copy: where it ends, and its id; NULL = all, a new one */
} hob_bare;
int hob_session_create_bare(hob_runtime *rt, const hob_session_opts *o, const hob_bare *b,
                            hob_session **out, hob_error *err); /* open.c */
/* The stored one of that name, if it is theirs; nothing is resumed. hob_session_detach. stored.c */
int hob_session_open_bare(hob_runtime *rt, const char *id, const hob_tenant *of, const hob_bare *b,
                          hob_session **out, hob_error *err);
int hob_session_fit_bare(hob_session *s, hob_error *err);
/* Views folded from the log of `from` go back to this entry, with the state of then. HOB_ENOENT: now, not later. */
int hob_session_go_back(hob_session *s, hob_str from, const char *entry, hob_loaded_fn done,
                        void *user, hob_error *err);

#endif
