/*
 * question.c - questions to the user: what one must look like, and which answers fit it.
 */
#include "tool/tool.h"

#include <hob/approval.h>

enum { QUESTION_MAX = 8 * 1024, SCHEMA_MAX = 32 * 1024, DEPTH_MAX = 32 };

static const hob_json *parse(hob_str text, hob_arena *a, hob_error *err) {
    const hob_json_opts opts = {.max_depth = DEPTH_MAX};
    const hob_json *v = NULL;
    return hob_json_parse(a, text, &opts, &v, err) < 0 ? NULL : v;
}

static int too_big(const char *what, size_t n, int max, hob_error *err) {
    return hob_fail(err, HOB_ETOOBIG, 0, "%s has %zu bytes; %d KiB are the most", what, n,
                    max >> 10);
}

/* NULL *out: it has none, and any text will do. */
static int read_schema(const hob_json *args, hob_schema **out, hob_error *err) {
    const hob_json *schema = hob_json_get(args, "schema");
    *out = NULL;
    return schema ? hob_schema_create(hob_json_raw(schema), out, err) : HOB_OK;
}

int hob_question_check(hob_str text, hob_error *err) {
    hob_arena *a = hob_arena_create(0);
    const hob_json *args = parse(text, a, err);
    hob_str question = hob_json_get_str(args, "question");
    size_t size = hob_json_raw(hob_json_get(args, "schema")).n;
    hob_schema *schema = NULL;
    int rc = args ? HOB_OK : HOB_EINVAL;
    if (rc >= 0 && !hob_str_trim(question).n)
        rc = hob_fail(err, HOB_EINVAL, 0, "the question is empty");
    if (rc >= 0 && question.n > QUESTION_MAX)
        rc = too_big("the question", question.n, QUESTION_MAX, err);
    if (rc >= 0 && size > SCHEMA_MAX) rc = too_big("the schema", size, SCHEMA_MAX, err);
    if (rc >= 0) rc = read_schema(args, &schema, err);
    hob_schema_destroy(schema);
    hob_arena_destroy(a);
    return rc;
}

static int check(const hob_json *args, const hob_json *answer, hob_error *err) {
    hob_schema *schema;
    hob_error why;
    int rc = read_schema(args, &schema, err);
    if (rc >= 0 && !schema)
        return hob_json_is(answer, HOB_JSON_STRING)
                   ? HOB_OK
                   : hob_fail(err, HOB_EINVAL, 0, "the answer must be a string");
    if (rc >= 0 && hob_schema_check(schema, answer, &why) < 0)
        rc = hob_fail(err, HOB_EINVAL, 0, "the answer does not fit: %s", why.message);
    hob_schema_destroy(schema);
    return rc;
}

int hob_answer_check(hob_str text, hob_str answer, hob_error *err) {
    hob_error why = {.message = ""};
    if (answer.n > HOB_ANSWER_BYTES) return too_big("the answer", answer.n, HOB_ANSWER_BYTES, err);
    hob_arena *a = hob_arena_create(0);
    const hob_json *args = parse(text, a, &why), *v = parse(answer, a, &why);
    int rc = args && v ? check(args, v, err)
                       : hob_fail(err, HOB_EINVAL, 0, "the answer is not JSON: %s", why.message);
    hob_arena_destroy(a);
    return rc;
}

/* A text as it is, everything else as JSON; and so an empty text, which would look like nothing. */
void hob_answer_tell(hob_str answer, hob_reply *reply) {
    hob_arena *a = hob_arena_create(0);
    hob_str text = hob_json_str(parse(answer, a, NULL));
    hob_reply_text(reply, HOB_OUTCOME_OK, text.n ? text : answer);
    hob_arena_destroy(a);
}
