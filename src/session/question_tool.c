/*
 * question_tool.c - the tool ask_user. Whoever is asked answers through approval.c; what the tool does is to tell the
 * answer that the log has, so that it may be repeated by any process.
 */
#include "session/session.h"

static const char words[] =
    "Asks the user a question and waits for the answer. For what you cannot find out yourself and "
    "must know to go on: a choice, a preference, a missing fact. Not for permission to use a tool, "
    "which is asked for by itself. One question a call.";

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"question\":{\"type\":\"string\",\"description\":\"in full; all that the user sees\"},"
    "\"schema\":{\"type\":\"object\",\"description\":\"JSON schema of the answer: "
    "{\\\"enum\\\":[\\\"a\\\",\\\"b\\\"]} for choices, {\\\"type\\\":\\\"boolean\\\"} for yes or "
    "no, number, or an object with properties for several values, each with a title or description; "
    "left out: the answer is a text\"}},"
    "\"required\":[\"question\"],\"additionalProperties\":false}";

static void run(const hob_tool_call *call, hob_reply *reply, void *user) {
    const hob_strand *st = hob_session_strand_of(user, call->call);
    const hob_call *c = st ? hob_run_call(st->run, call->call) : NULL;
    if (c && c->answer.n)
        hob_answer_tell(c->answer, reply);
    else
        hob_reply_text(reply, HOB_OUTCOME_ERROR, HOB_STR("error: there is no answer"));
}

/* Where nobody answers the model is not told of it. A call is still understood: it may have been answered before, by
 * another process. A tool of the host's with that name takes its place. */
int hob_question_tool_add(hob_session *s, hob_error *err) {
    hob_tool tool = {.size = sizeof tool,
                     .name = "ask_user",
                     .description = words,
                     .schema = schema,
                     .class_ = HOB_TOOL_READ_ONLY,
                     .run = run,
                     .user = s,
                     .flags = HOB_TOOL_QUESTION};
    if (s->flags & HOB_SESSION_NO_BUILTIN_TOOLS || hob_tools_find(s->tools, HOB_STR("ask_user")))
        return HOB_OK;
    if (s->approver == HOB_APPROVER_NONE) tool.flags |= HOB_TOOL_HIDDEN;
    return hob_tools_add_lasting(s->tools, &tool, err);
}
