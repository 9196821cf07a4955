/*
 * schemas.c - JSON Schemas that several routes share, by name.
 */
#include "serve/routes.h"

static const hob_schema schemas[] = {
    {"Error",
     "{\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":\"object\","
     "\"required\":[\"code\",\"message\"],\"properties\":{"
     "\"code\":{\"type\":\"string\",\"description\":\"a word that programs can depend on\"},"
     "\"message\":{\"type\":\"string\",\"description\":\"what happened, to what, and what to do next\"}}}}}"},
    {"Health", "{\"type\":\"object\",\"required\":[\"status\"],\"properties\":{"
               "\"status\":{\"enum\":[\"ok\",\"ready\",\"starting\",\"stopping\"]},"
               "\"version\":{\"type\":\"string\"},\"uptime_s\":{\"type\":\"integer\"},"
               "\"connections\":{\"type\":\"integer\"},\"streams\":{\"type\":\"integer\"},"
               "\"callers\":{\"type\":\"integer\"},\"rss_bytes\":{\"type\":\"integer\"}}}"},
    {"Session",
     "{\"type\":\"object\",\"required\":[\"id\",\"state\",\"last_seq\"],\"properties\":{\""
     "id\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"cwd\":{\"type\":\"strin"
     "g\"},\"model\":{\"type\":\"string\"},\"state\":{\"enum\":[\"idle\",\"running\",\"par"
     "ked\",\"interrupted\"]},\"owner\":{\"type\":\"string\",\"description\":\"who has it "
     "open\"},\"app\":{\"type\":\"string\"},\"user\":{\"type\":\"string\"},\"parent\":{\"t"
     "ype\":\"string\"},\"forked_from\":{\"type\":\"string\"},\"created\":{\"type\":\"stri"
     "ng\"},\"updated\":{\"type\":\"string\"},\"messages\":{\"type\":\"integer\"},\"last_s"
     "eq\":{\"type\":\"integer\"},\"live\":{\"type\":[\"object\",\"null\"],\"description\""
     ":\"what it says of itself while it is open here\"}}}"},
    {"Sessions",
     "{\"type\":\"object\",\"required\":[\"sessions\",\"next\"],\"properties\":{\"sessions"
     "\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"id\"],\"proper"
     "ties\":{\"id\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"cwd\":{\"type"
     "\":\"string\"},\"model\":{\"type\":\"string\"},\"state\":{\"enum\":[\"idle\",\"runni"
     "ng\",\"parked\",\"interrupted\"]},\"owner\":{\"type\":\"string\",\"description\":\"w"
     "ho has it open\"},\"app\":{\"type\":\"string\"},\"user\":{\"type\":\"string\"},\"par"
     "ent\":{\"type\":\"string\"},\"forked_from\":{\"type\":\"string\"},\"created\":{\"typ"
     "e\":\"string\"},\"updated\":{\"type\":\"string\"},\"messages\":{\"type\":\"integer\""
     "},\"last_seq\":{\"type\":\"integer\"}}}},\"next\":{\"type\":[\"string\",\"null\"],\""
     "description\":\"cursor of the next page\"}}}"},
    {"NewSession",
     "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"description\":\"l"
     "etters, digits, . _ -; made if absent\"},\"title\":{\"type\":\"string\"},\"cwd\":{\""
     "type\":\"string\",\"description\":\"absolute, beneath the folders of the server; the"
     " first of them if absent\"},\"model\":{\"type\":\"string\"},\"thinking\":{\"enum\":["
     "\"off\",\"minimal\",\"low\",\"medium\",\"high\",\"xhigh\"]},\"agent\":{\"type\":\"st"
     "ring\"},\"permission_mode\":{\"enum\":[\"plan\",\"ask\",\"accept-edits\",\"yolo\"]},"
     "\"system_prompt\":{\"type\":\"string\"},\"state\":{\"type\":\"object\"},\"budget\":{\"type\":"
     "\"object\",\"description\":\"of each of its runs, for good; at most what the server and the token "
     "allow\",\"properties\":{\"turns\":{\"type\":\"integer\"},\"tokens\":{\"type\":\"integer\"},"
     "\"tool_calls\":{\"type\":\"integer\"},\"seconds\":{\"type\":\"number\"},\"cost_usd\":{\"type\":"
     "\"number\"}}}}}"},
    {"SessionChange",
     "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"model\":{\"ty"
     "pe\":\"string\"},\"thinking\":{\"type\":\"string\"},\"permission_mode\":{\"enum\":[\"plan\","
     "\"ask\",\"accept-edits\",\"yolo\"]}}}"},
    {"Fork",
     "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"entry\":{\"type\":"
     "\"string\",\"description\":\"the last message of the copy\"},\"id\":{\"type\":\"string\"}}}"},
    {"Message",
     "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"content\":{\"t"
     "ype\":\"array\",\"items\":{\"type\":\"object\"},\"description\":\"text and image blo"
     "cks (docs/messages.md)\"}}}"},
    {"Prompt",
     "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"content\":{\"t"
     "ype\":\"array\",\"items\":{\"type\":\"object\"},\"description\":\"text and image blo"
     "cks (docs/messages.md)\"},\"when_busy\":{\"enum\":[\"reject\",\"enqueue\",\"interrup"
     "t\",\"steer\"]},\"model\":{\"type\":\"string\"}}}"},
    {"Receipt",
     "{\"type\":\"object\",\"required\":[\"status\",\"run_id\",\"seq\"],\"properties\":{\""
     "status\":{\"enum\":[\"started\",\"queued\",\"steering\"]},\"run_id\":{\"type\":\"str"
     "ing\"},\"seq\":{\"type\":\"integer\",\"description\":\"the first event about it\"}}}"},
    {"Cancel",
     "{\"type\":\"object\",\"properties\":{\"queue\":{\"enum\":[\"return\",\"keep\",\"drop"
     "\"],\"description\":\"what becomes of messages that wait\"}}}"},
    {"Event", "{\"type\":\"object\",\"required\":[\"v\",\"type\"],\"properties\":{\"v\":{\"type\":"
              "\"integer\"},\"seq\":{\"type\":\"integer\"},\"ts\":{\"type\":\"string\"},\"type\":{"
              "\"type\":\"string\"},\"session_id\":{\"type\":\"string\"},\"run_id\":{\"type\":\"str"
              "ing\"},\"data\":{\"type\":\"object\"}}}"},
    {"Events",
     "{\"type\":\"object\",\"required\":[\"events\",\"next\"],\"properties\":{\"events\":{"
     "\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Event\"}},\"next\":{\""
     "type\":[\"string\",\"null\"],\"description\":\"cursor of the next page\"}}}"},
    {"Run",
     "{\"type\":\"object\",\"required\":[\"id\",\"session\",\"status\"],\"properties\":{\""
     "id\":{\"type\":\"string\"},\"session\":{\"type\":\"string\"},\"status\":{\"type\":\""
     "string\"},\"reason\":{\"type\":\"string\"},\"prompt\":{\"type\":\"string\"},\"starte"
     "d\":{\"type\":\"string\"},\"finished\":{\"type\":\"string\"},\"owner\":{\"type\":\"s"
     "tring\"},\"first_seq\":{\"type\":\"integer\"},\"last_seq\":{\"type\":\"integer\"},\"res"
     "ult\":{\"type\":\"object\",\"description\":\"of one run that is over: the data of its r"
     "un_finished\"}}}"},
    {"Runs", "{\"type\":\"object\",\"required\":[\"runs\",\"next\"],\"properties\":{\"runs\":{\"ty"
             "pe\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Run\"}},\"next\":{\"type\""
             ":[\"string\",\"null\"],\"description\":\"cursor of the next page\"}}}"},
    {"Approvals",
     "{\"type\":\"object\",\"required\":[\"approvals\"],\"properties\":{\"approvals\":{\"t"
     "ype\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"call\",\"tool\",\"arg"
     "s\"],\"properties\":{\"call\":{\"type\":\"string\"},\"tool\":{\"type\":\"string\"},"
     "\"args\":{},\"run_id\":{\"type\":\"string\"},\"child\":{\"type\":\"string\"},\"agent"
     "\":{\"type\":\"string\"},\"rule\":{\"type\":\"string\"},\"question\":{\"type\":\"string\",\"description\":\"what is a"
     "sked; then yes is not enough, an answer is wanted\"},\"schema\":{\"type\":\"object\","
     "\"description\":\"JSON Schema of the answer; without it a string\"}}}},\"next\":{\"typ"
     "e\":[\"string\",\"null\"],\"description\":\"cursor of the next page\"}}}"},
    {"Verdict",
     "{\"type\":\"object\",\"required\":[\"approved\"],\"properties\":{\"approved\":{\"typ"
     "e\":\"boolean\"},\"reason\":{\"type\":\"string\"},\"answer\":{\"description\":\"to a qu"
     "estion, with approved true: what fits its schema\"},\"remember\":{\"enum\":[\"once\"]}}}"},
    {"CallResult",
     "{\"type\":\"object\",\"required\":[\"outcome\"],\"properties\":{\"outcome\":{\"enum"
     "\":[\"ok\",\"error\",\"progress\"]},\"text\":{\"type\":\"string\"},\"content\":{\"ty"
     "pe\":\"array\",\"items\":{\"type\":\"object\"},\"description\":\"text and image bloc"
     "ks (docs/messages.md)\"}}}"},
    {"State", "{\"type\":\"object\",\"required\":[\"state\",\"revision\"],\"properties\":{\"state\""
              ":{\"type\":\"object\"},\"revision\":{\"type\":\"integer\"}}}"},
    {"StateChange",
     "{\"type\":\"object\",\"properties\":{\"delta\":{\"type\":\"object\"},\"removed\":{\""
     "type\":\"array\",\"items\":{\"type\":\"string\"}},\"revision\":{\"type\":\"integer\""
     "}}}"},
    {"Kept",
     "{\"type\":\"object\",\"properties\":{\"kept\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
     "\"properties\":{\"folder\":{\"type\":\"string\"},\"branch\":{\"type\":\"string\"}}}}}}"},
    {"ArtifactVersion",
     "{\"type\":\"object\",\"required\":[\"name\",\"version\"],\"properties\":{\"name\":{\"type\":"
     "\"string\"},\"version\":{\"type\":\"integer\"},\"mime\":{\"type\":\"string\"},\"size\":{\"type\":"
     "\"integer\"}}}"},
    {"RunAgentInput",
     "{\"type\":\"object\",\"required\":[\"threadId\",\"runId\"],\"properties\":{\"threadId\":{\"type\":"
     "\"string\"},\"runId\":{\"type\":\"string\"},\"messages\":{\"type\":\"array\"},\"tools\":{\"type\":"
     "\"array\"},\"state\":{},\"context\":{\"type\":\"array\"},\"forwardedProps\":{},\"resume\":{\"type\":"
     "\"array\"},\"protocolVersion\":{\"type\":\"string\"}}}"},
    {"ConnectInput",
     "{\"type\":\"object\",\"required\":[\"threadId\"],\"properties\":{\"threadId\":{\"type\":\"string\"},"
     "\"runId\":{\"type\":\"string\"},\"messages\":{\"type\":\"array\"},\"protocolVersion\":{\"type\":"
     "\"string\"}}}"},
};

const hob_schema *hob_schemas(size_t *n) {
    *n = HOB_ARRAY_LEN(schemas);
    return schemas;
}
