/*
 * hob/acp.h - the Agent Client Protocol: an editor starts a program and drives its sessions over two pipes.
 *
 * hob_acp_serve() speaks version 1 of the protocol, JSON-RPC with one message a line: it reads `in`, writes `out`, and
 * holds any number of sessions until the editor is gone. Then it lets go of them without ending anything: what ran
 * stays unfinished in its log, what waits for an approval goes on waiting, and both can be loaded again.
 *
 * It adds no rights. What a session may do is what its options, the configuration and the policy say; the editor answers
 * approvals, and may lend its files and terminals to the built-in tools (hob/ext/backend.h).
 *
 * The runtime must have been made with HOB_LOOP_HOST: the call drives it, on the calling thread. docs/acp.md.
 */
#ifndef HOB_ACP_H
#define HOB_ACP_H

#include <hob/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What sessions of one folder are made with. */
typedef struct hob_acp_folder {
    size_t size;
    hob_runtime *rt; /* HOB_LOOP_HOST as well; as set: the one given to hob_acp_serve */
    /* Model, rules, limits, definitions, agent, tools of the host… What is the editor's is set over it: choice, id, cwd,
     * add_dirs, approver, on_unfinished, app_name, user_id, backend. */
    hob_session_opts session;
} hob_acp_folder;

enum {
    HOB_ACP_LOCAL = 1 /* use neither the files nor the terminals of the editor */
};

typedef struct hob_acp_opts {
    size_t size;
    int in, out; /* stay the caller's, their flags untouched */
    unsigned flags;
    /* Asked before a session of this folder is made or opened; what is in *f must live as long as the call to
     * hob_acp_serve. NULL: the runtime and options of nothing but defaults. */
    int (*folder)(const char *cwd, hob_acp_folder *f, void *user, hob_error *err);
    /* Looked at whenever something happened: not 0 = end. hob_runtime_wake() makes it look. May be NULL. */
    int (*stopped)(void *user);
    void *user;
    const char *app_name, *user_id; /* whose sessions they are; NULL = hob, local */
} hob_acp_opts;
#define HOB_ACP_OPTS_INIT                                                                          \
    { sizeof(hob_acp_opts), 0, 1, 0, NULL, NULL, NULL, NULL, NULL }

/* Returns when the editor closed its end (HOB_OK), `stopped` said so (HOB_ECANCELLED), or reading or writing failed
 * (HOB_EIO). HOB_EINVAL: the runtime has a thread of its own. [loop] */
HOB_API int hob_acp_serve(hob_runtime *rt, const hob_acp_opts *o, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
