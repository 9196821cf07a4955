/*
 * hob/approval.h - what waits for a person: calls that need an approval, and questions. Part of hob/session.h, which
 * includes it.
 *
 * A run that waits is parked: in this process or another it goes on when somebody answers, and its clock stands. Each is
 * answered once. What sub-agents ask is asked at the session of which they are a part.
 *
 * A question is the call of the tool ask_user: its approval carries an answer, which becomes the result of the call. No
 * rule and no permission mode answers it. Every call is [any].
 */
#ifndef HOB_APPROVAL_H
#define HOB_APPROVAL_H

#include <hob/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hob_session hob_session;

typedef enum hob_verdict { HOB_VERDICT_DENY, HOB_VERDICT_ALLOW } hob_verdict;

enum { HOB_ANSWER_BYTES = 64 * 1024 }; /* of an answer to a question, at most */

/* What waits: rows {"call","tool","args","run_id"}; of a question also "question" and, unless any text will do, "schema";
 * of a sub-agent also "child" and "agent". */
HOB_API int hob_session_pending_confirmations(hob_session *s, hob_page **out, hob_error *err);
/* Once only: HOB_EEXIST if it was answered already, HOB_ENOENT if no such call waits. A question can be denied so: the
 * model is told that the user did not answer, and why; to allow one is HOB_EINVAL. */
HOB_API int hob_session_confirm_tool_use(hob_session *s, hob_str call, hob_verdict v,
                                         hob_str reason, hob_error *err);
/* The answer to a question: JSON that fits its schema, or a JSON string if it has none. HOB_EINVAL names what does not
 * fit, HOB_ETOOBIG; then the question goes on waiting. HOB_EEXIST and HOB_ENOENT as above. */
HOB_API int hob_session_answer(hob_session *s, hob_str call, hob_str answer_json, hob_error *err);
/* Denies all that wait; returns how many. */
HOB_API int hob_session_cancel_confirmations(hob_session *s, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
