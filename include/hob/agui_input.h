/*
 * hob/agui_input.h - what an AG-UI client sends to start a run, read and checked; and JSON patches.
 *
 * The reader follows the protocol: what it knows must be right (else HOB_EPARSE, to be answered with HTTP 400), what it
 * does not know is left out and leaves a warning. A client that names no protocolVersion speaks the older dialect: there
 * null stands for "absent". All slices live as long as the input, which is immutable and may be read on any thread.
 */
#ifndef HOB_AGUI_INPUT_H
#define HOB_AGUI_INPUT_H

#include <hob/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hob_agui_dialect {
    HOB_AGUI_1_0,  /* declares protocolVersion */
    HOB_AGUI_OLDER /* does not: nothing is sent that clients before 1.0 refuse */
} hob_agui_dialect;

typedef struct hob_agui_input hob_agui_input;

/* HOB_EPARSE (what is wrong, and where), HOB_ETOOBIG (32 MiB, 128 levels, 100,000 messages), HOB_EVERSION (a major version
 * other than 1). */
HOB_API int hob_agui_input_parse(hob_str body, hob_agui_input **out, hob_error *err);
HOB_API void hob_agui_input_destroy(hob_agui_input *in); /* NULL is fine */

HOB_API hob_str hob_agui_input_thread_id(const hob_agui_input *in);
HOB_API hob_str hob_agui_input_run_id(const hob_agui_input *in);
HOB_API hob_str hob_agui_input_parent_run_id(const hob_agui_input *in); /* "" = none */
HOB_API hob_agui_dialect hob_agui_input_dialect(const hob_agui_input *in);
HOB_API hob_str hob_agui_input_state(const hob_agui_input *in);           /* JSON; {} if absent */
HOB_API hob_str hob_agui_input_forwarded_props(const hob_agui_input *in); /* JSON; {} if absent */
HOB_API hob_str hob_agui_input_messages(const hob_agui_input *in); /* JSON array, as understood */

typedef struct hob_agui_message {
    size_t size;
    hob_str id, role; /* developer system assistant user tool reasoning activity */
    hob_str name;
    hob_str text;       /* content that is a string; of parts, the text ones joined */
    hob_str content;    /* JSON: a string, an array of parts, of an activity an object; "" = none */
    hob_str tool_calls; /* JSON array of an assistant message, "" = none */
    hob_str tool_call;  /* of a tool message: which call it answers */
    hob_str error;      /* of a tool message: it failed */
    hob_str encrypted;  /* what the provider wants back */
    hob_str json;       /* the message as understood */
} hob_agui_message;

HOB_API size_t hob_agui_input_message_count(const hob_agui_input *in);
HOB_API int hob_agui_input_message(const hob_agui_input *in, size_t i,
                                   hob_agui_message *out); /* HOB_ENOENT */

/* The client's own tools: called by the agent, carried out there. */
typedef struct hob_agui_tool {
    size_t size;
    hob_str name, description;
    hob_str parameters; /* JSON Schema, "" = none */
} hob_agui_tool;
HOB_API size_t hob_agui_input_tool_count(const hob_agui_input *in);
HOB_API int hob_agui_input_tool(const hob_agui_input *in, size_t i, hob_agui_tool *out);

/* Things for the model to know. */
typedef struct hob_agui_context {
    size_t size;
    hob_str description, value;
} hob_agui_context;
HOB_API size_t hob_agui_input_context_count(const hob_agui_input *in);
HOB_API int hob_agui_input_context(const hob_agui_input *in, size_t i, hob_agui_context *out);

/* Answers to interrupts. */
typedef struct hob_agui_resume {
    size_t size;
    hob_str interrupt;
    int cancelled;   /* 1: abandoned; 0: resolved, with a payload perhaps */
    hob_str payload; /* JSON, "" = none */
} hob_agui_resume;
HOB_API size_t hob_agui_input_resume_count(const hob_agui_input *in);
HOB_API int hob_agui_input_resume(const hob_agui_input *in, size_t i, hob_agui_resume *out);

/* What was left out, in words. */
HOB_API size_t hob_agui_input_warning_count(const hob_agui_input *in);
HOB_API hob_str hob_agui_input_warning(const hob_agui_input *in, size_t i);

/* ---- JSON patches (RFC 6902) ---------------------------------------------------------------------------- */

typedef struct hob_agui_json hob_agui_json; /* a text that the caller owns */
HOB_API hob_str hob_agui_json_text(const hob_agui_json *j);
HOB_API void hob_agui_json_destroy(hob_agui_json *j); /* NULL is fine */

/* All or nothing. HOB_EPARSE (either text, an operation), HOB_EINVAL (it does not apply: which operation, and why),
 * HOB_ETOOBIG (32 MiB, 128 levels, 10,000 operations). */
HOB_API int hob_agui_patch_apply(hob_str document, hob_str patch, hob_agui_json **out,
                                 hob_error *err);
/* A patch that makes `to` of `from`: "[]" if they are the same. */
HOB_API int hob_agui_patch_diff(hob_str from, hob_str to, hob_agui_json **out, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
