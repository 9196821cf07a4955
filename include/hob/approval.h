/*
 * hob/approval.h - calls that wait for a person. Part of hob/session.h, which includes it.
 */
#ifndef HOB_APPROVAL_H
#define HOB_APPROVAL_H

#include <hob/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_session hob_session;

typedef enum hob_verdict { HOB_VERDICT_DENY, HOB_VERDICT_ALLOW } hob_verdict;

/* Waiting approvals: rows {"call","tool","args","run_id"}; of a sub-agent also "child" and "agent". */
HOB_API int hob_session_pending_confirmations(hob_session *s, hob_page **out, hob_error *err);
/* Once only: HOB_EEXIST if it was answered already, HOB_ENOENT if no such call waits. */
HOB_API int hob_session_confirm_tool_use(hob_session *s, hob_str call, hob_verdict v,
                                         hob_str reason, hob_error *err);
/* Denies all that wait; returns how many. */
HOB_API int hob_session_cancel_confirmations(hob_session *s, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
