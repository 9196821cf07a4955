/*
 * proto_table.c - which member of an event is which protobuf field, as @ag-ui/proto 1.0 has it.
 *
 * A member may stand in a table twice where its JSON type decides: `content` is a string, a list of parts, or an object.
 */
#include "agui/proto.h"

typedef hob_proto_field F;

#define S(key, number)                                                                             \
    { key, number, HOB_PROTO_STRING, NULL }
#define V(key, number)                                                                             \
    { key, number, HOB_PROTO_VALUE, NULL }
#define O(key, number)                                                                             \
    { key, number, HOB_PROTO_STRUCT, NULL }
#define I(key, number)                                                                             \
    { key, number, HOB_PROTO_INT, NULL }
#define END                                                                                        \
    { NULL, 0, HOB_PROTO_STRING, NULL }

const F hob_proto_base[] = {I("timestamp", 2), V("rawEvent", 3), O("metadata", 4), END};

/* ---- parts of messages --------------------------------------------------------------------------------- */

static const F data_source[] = {S("value", 1), S("mimeType", 2), END};
static const F file_source[] = {S("value", 1), S("provider", 2), S("mimeType", 3), END};
static const F sources[] = {{"data", 1, HOB_PROTO_MESSAGE, data_source},
                            {"url", 2, HOB_PROTO_MESSAGE, data_source},
                            {"file", 3, HOB_PROTO_MESSAGE, file_source},
                            END};
static const F text_part[] = {S("text", 1), S("id", 2), V("metadata", 3), END};
static const F media_part[] = {
    {"source", 1, HOB_PROTO_CHOICE, sources}, V("metadata", 2), S("id", 3), END};
static const F parts[] = {
    {"text", 1, HOB_PROTO_MESSAGE, text_part},      {"image", 2, HOB_PROTO_MESSAGE, media_part},
    {"audio", 3, HOB_PROTO_MESSAGE, media_part},    {"video", 4, HOB_PROTO_MESSAGE, media_part},
    {"document", 5, HOB_PROTO_MESSAGE, media_part}, END};
static const F function[] = {S("name", 1), S("arguments", 2), END};
static const F tool_call[] = {
    S("id", 1),       S("type", 2),           {"function", 3, HOB_PROTO_MESSAGE, function},
    O("metadata", 4), S("encryptedValue", 5), END};
static const F message[] = {S("id", 1),
                            S("role", 2),
                            S("content", 3),
                            S("name", 4),
                            {"toolCalls", 5, HOB_PROTO_LIST, tool_call},
                            S("toolCallId", 6),
                            S("error", 7),
                            {"content", 8, HOB_PROTO_CHOICES, parts},
                            O("metadata", 9),
                            S("subagentRunId", 10),
                            S("encryptedValue", 11),
                            S("activityType", 12),
                            O("content", 13),
                            END};
static const F interrupt[] = {S("id", 1),         S("reason", 2),         S("message", 3),
                              S("toolCallId", 4), V("responseSchema", 5), S("expiresAt", 6),
                              V("metadata", 7),   S("subagentRunId", 8),  END};
static const F usage[] = {S("provider", 1),
                          S("model", 2),
                          I("inputTokens", 3),
                          I("outputTokens", 4),
                          I("totalTokens", 5),
                          I("reasoningTokens", 6),
                          I("cachedInputTokens", 7),
                          I("cacheWriteInputTokens", 8),
                          END};
static const F patch[] = {
    {"op", 1, HOB_PROTO_OP, NULL}, S("path", 2), S("from", 3), V("value", 4), END};
static const F run_outcome[] = {S("type", 5),
                                {"interrupts", 6, HOB_PROTO_LIST, interrupt},
                                {"pendingToolCallIds", 8, HOB_PROTO_STRINGS, NULL},
                                END};
static const F subagent_outcome[] = {
    S("type", 4), {"interruptIds", 5, HOB_PROTO_STRINGS, NULL}, END};

/* ---- events --------------------------------------------------------------------------------------------- */

static const F run_started[] = {S("threadId", 2), S("runId", 3), S("parentRunId", 4),
                                S("protocolVersion", 6), END};
static const F run_finished[] = {S("threadId", 2),
                                 S("runId", 3),
                                 V("result", 4),
                                 {"outcome", 0, HOB_PROTO_FLAT, run_outcome},
                                 {"usage", 7, HOB_PROTO_LIST, usage},
                                 END};
static const F run_error[] = {
    S("code", 2), S("message", 3), {"usage", 4, HOB_PROTO_LIST, usage}, END};
static const F step[] = {S("stepName", 2), S("subagentRunId", 3), END};
static const F text_start[] = {S("messageId", 2), S("role", 3), S("name", 4), S("subagentRunId", 5),
                               END};
static const F text_content[] = {S("messageId", 2), S("delta", 3), S("subagentRunId", 4), END};
static const F text_end[] = {S("messageId", 2), S("subagentRunId", 3), END};
static const F tool_start[] = {S("toolCallId", 2), S("toolCallName", 3), S("parentMessageId", 4),
                               S("subagentRunId", 5), END};
static const F tool_args[] = {S("toolCallId", 2), S("delta", 3), S("subagentRunId", 4), END};
static const F tool_end[] = {S("toolCallId", 2), S("subagentRunId", 3), END};
static const F tool_result[] = {S("subagentRunId", 2),
                                S("messageId", 3),
                                S("toolCallId", 4),
                                S("content", 5),
                                S("role", 6),
                                {"content", 7, HOB_PROTO_CHOICES, parts},
                                END};
static const F state_snapshot[] = {V("snapshot", 2), S("subagentRunId", 3), END};
static const F state_delta[] = {{"delta", 2, HOB_PROTO_LIST, patch}, S("subagentRunId", 3), END};
static const F messages_snapshot[] = {{"messages", 2, HOB_PROTO_LIST, message}, END};
static const F activity_snapshot[] = {S("subagentRunId", 2),
                                      S("messageId", 3),
                                      S("activityType", 4),
                                      O("content", 5),
                                      {"replace", 6, HOB_PROTO_BOOL, NULL},
                                      END};
static const F activity_delta[] = {S("subagentRunId", 2),
                                   S("messageId", 3),
                                   S("activityType", 4),
                                   {"patch", 5, HOB_PROTO_LIST, patch},
                                   END};
static const F reasoning[] = {S("subagentRunId", 2), S("messageId", 3), S("role", 4), S("delta", 4),
                              END};
static const F encrypted[] = {S("subagentRunId", 2), S("subtype", 3), S("entityId", 4),
                              S("encryptedValue", 5), END};
static const F subagent_started[] = {S("subagentRunId", 2),
                                     S("name", 3),
                                     S("description", 4),
                                     S("parentSubagentRunId", 5),
                                     S("parentToolCallId", 6),
                                     S("parentMessageId", 7),
                                     END};
static const F subagent_finished[] = {
    S("subagentRunId", 2), V("result", 3), {"outcome", 0, HOB_PROTO_FLAT, subagent_outcome}, END};
static const F subagent_error[] = {S("subagentRunId", 2), S("message", 3), S("code", 4), END};
static const F raw[] = {V("event", 2), S("source", 3), S("subagentRunId", 4), END};
static const F custom[] = {S("name", 2), V("value", 3), S("subagentRunId", 4), END};

const hob_proto_event hob_proto_events[HOB_AGUI_KIND_COUNT_] = {
    [HOB_AGUI_RUN_STARTED] = {12, 11, run_started},
    [HOB_AGUI_RUN_FINISHED] = {13, 12, run_finished},
    [HOB_AGUI_RUN_ERROR] = {14, 13, run_error},
    [HOB_AGUI_STEP_STARTED] = {15, 14, step},
    [HOB_AGUI_STEP_FINISHED] = {16, 15, step},
    [HOB_AGUI_TEXT_MESSAGE_START] = {1, 0, text_start},
    [HOB_AGUI_TEXT_MESSAGE_CONTENT] = {2, 1, text_content},
    [HOB_AGUI_TEXT_MESSAGE_END] = {3, 2, text_end},
    [HOB_AGUI_TOOL_CALL_START] = {4, 3, tool_start},
    [HOB_AGUI_TOOL_CALL_ARGS] = {5, 4, tool_args},
    [HOB_AGUI_TOOL_CALL_END] = {6, 5, tool_end},
    [HOB_AGUI_TOOL_CALL_RESULT] = {22, 21, tool_result},
    [HOB_AGUI_STATE_SNAPSHOT] = {7, 6, state_snapshot},
    [HOB_AGUI_STATE_DELTA] = {8, 7, state_delta},
    [HOB_AGUI_MESSAGES_SNAPSHOT] = {9, 8, messages_snapshot},
    [HOB_AGUI_ACTIVITY_SNAPSHOT] = {23, 22, activity_snapshot},
    [HOB_AGUI_ACTIVITY_DELTA] = {24, 23, activity_delta},
    [HOB_AGUI_REASONING_START] = {25, 24, reasoning},
    [HOB_AGUI_REASONING_MESSAGE_START] = {26, 25, reasoning},
    [HOB_AGUI_REASONING_MESSAGE_CONTENT] = {27, 26, reasoning},
    [HOB_AGUI_REASONING_MESSAGE_END] = {28, 27, reasoning},
    [HOB_AGUI_REASONING_END] = {30, 29, reasoning},
    [HOB_AGUI_REASONING_ENCRYPTED_VALUE] = {31, 30, encrypted},
    [HOB_AGUI_SUBAGENT_STARTED] = {19, 16, subagent_started},
    [HOB_AGUI_SUBAGENT_FINISHED] = {20, 17, subagent_finished},
    [HOB_AGUI_SUBAGENT_ERROR] = {21, 18, subagent_error},
    [HOB_AGUI_RAW] = {10, 9, raw},
    [HOB_AGUI_CUSTOM] = {11, 10, custom},
};
