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
};

const hob_schema *hob_schemas(size_t *n) {
    *n = HOB_ARRAY_LEN(schemas);
    return schemas;
}
