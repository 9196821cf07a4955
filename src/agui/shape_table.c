/*
 * shape_table.c - RunAgentInput and what it is made of.
 */
#include "agui/shape.h"

typedef hob_shape R;

#define STR(key)                                                                                   \
    { key, HOB_SHAPE_STRING, true, NULL, NULL }
#define STR_OPT(key)                                                                               \
    { key, HOB_SHAPE_STRING, false, NULL, NULL }
#define ANY(key)                                                                                   \
    { key, HOB_SHAPE_ANY, false, NULL, NULL }
#define OPEN(key)                                                                                  \
    { key, HOB_SHAPE_OPEN, false, NULL, NULL }
#define LIST(key, need, of)                                                                        \
    { key, HOB_SHAPE_LIST, need, of, NULL }
#define CASE(word, of)                                                                             \
    { word, HOB_SHAPE_OBJECT, false, of, NULL }
/* A case of clients before 1.0 only: `required` on a case says so. */
#define CASE_OLDER(word, of)                                                                       \
    { word, HOB_SHAPE_OBJECT, true, of, NULL }
#define END                                                                                        \
    { NULL, HOB_SHAPE_ANY, false, NULL, NULL }

static const R data_source[] = {STR("type"), STR("value"), STR("mimeType"), END};
static const R url_source[] = {STR("type"), STR("value"), STR_OPT("mimeType"), END};
static const R file_source[] = {STR("type"), STR("value"), STR_OPT("provider"), STR_OPT("mimeType"),
                                END};
static const R sources[] = {CASE("data", data_source), CASE("url", url_source),
                            CASE("file", file_source), END};

static const R text_part[] = {STR("type"), STR("text"), STR_OPT("id"), ANY("metadata"), END};
static const R media_part[] = {STR("type"),
                               {"source", HOB_SHAPE_UNION, true, sources, "type"},
                               STR_OPT("id"),
                               ANY("metadata"),
                               END};
/* From before 1.0. */
static const R binary_part[] = {STR("type"),
                                STR("mimeType"),
                                STR_OPT("id"),
                                STR_OPT("url"),
                                STR_OPT("data"),
                                STR_OPT("filename"),
                                END};
static const R parts[] = {CASE("text", text_part),
                          CASE("image", media_part),
                          CASE("audio", media_part),
                          CASE("video", media_part),
                          CASE("document", media_part),
                          CASE_OLDER("binary", binary_part),
                          END};
#define CONTENT                                                                                    \
    { "content", HOB_SHAPE_CONTENT, true, parts, "type" }
const R hob_shape_parts[] = {CONTENT, END};

static const R function[] = {STR("name"), STR("arguments"), END};
static const R tool_call[] = {STR("id"),
                              STR("type"),
                              {"function", HOB_SHAPE_OBJECT, true, function, NULL},
                              STR_OPT("encryptedValue"),
                              OPEN("metadata"),
                              END};

#define MESSAGE                                                                                    \
    STR("id"), STR("role"), STR_OPT("encryptedValue"), OPEN("metadata"), STR_OPT("subagentRunId")
static const R plain[] = {MESSAGE, STR("content"), STR_OPT("name"), END};
static const R assistant[] = {MESSAGE, STR_OPT("content"), STR_OPT("name"),
                              LIST("toolCalls", false, tool_call), END};
static const R user[] = {MESSAGE, CONTENT, STR_OPT("name"), END};
static const R tool[] = {MESSAGE, STR("toolCallId"), CONTENT, STR_OPT("error"), END};
static const R reasoning[] = {MESSAGE, STR("content"), END};
static const R activity[] = {
    MESSAGE, STR("activityType"), {"content", HOB_SHAPE_OPEN, true, NULL, NULL}, END};
static const R roles[] = {CASE("developer", plain),     CASE("system", plain),
                          CASE("assistant", assistant), CASE("user", user),
                          CASE("tool", tool),           CASE("reasoning", reasoning),
                          CASE("activity", activity),   END};
#define MESSAGES                                                                                   \
    { "messages", HOB_SHAPE_UNIONS, true, roles, "role" }
const R hob_shape_messages[] = {MESSAGES, END};

static const R client_tool[] = {STR("name"), STR("description"), ANY("parameters"),
                                OPEN("metadata"), END};
static const R context[] = {STR("description"), STR("value"), END};
static const R statuses[] = {CASE("resolved", NULL), CASE("cancelled", NULL), END};
static const R resume[] = {STR("interruptId"),
                           {"status", HOB_SHAPE_WORD, true, statuses, NULL},
                           ANY("payload"),
                           OPEN("metadata"),
                           END};

const R hob_shape_input[] = {STR("threadId"),
                             STR("runId"),
                             STR_OPT("protocolVersion"),
                             STR_OPT("parentRunId"),
                             ANY("state"),
                             MESSAGES,
                             LIST("tools", false, client_tool),
                             LIST("context", false, context),
                             ANY("forwardedProps"),
                             LIST("resume", false, resume),
                             END};
