/*
 * hob/artifact.h - artifacts: bytes with a name that sessions make and keep, in versions.
 *
 * Versions of a name are numbered from 0; saving again makes another one. A name belongs to the session, and goes with
 * it; one that begins with `user:` belongs to the user of the application and is the same in all of their sessions. No
 * call reaches another tenant's: they are not found.
 *
 * A name is a key, never a path: 1 to 512 bytes of UTF-8, without control characters and '\', and no part between '/'
 * is empty, "." or "..". An artifact has at most 64 MiB, its metadata 64 KiB; a session, and a user, have at most 10,000
 * versions in all (HOB_ELIMIT).
 *
 * A version is stored in the commit of the event that tells of it: artifact_changed, or the tool_finished of the call
 * that made it (`artifact_delta`: name to version). After a crash both are there, or neither.
 *
 * Calls are [any] and block until their answer is durable. HOB_EDEADLK inside a callback, HOB_ESTORE, HOB_EINVAL,
 * HOB_ETOOBIG, HOB_ENOENT, HOB_ECANCELLED while the session is being closed. docs/artifacts.md is the tour.
 */
#ifndef HOB_ARTIFACT_H
#define HOB_ARTIFACT_H

#include <hob/session.h>
#include <hob/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOB_ARTIFACT_NEWEST = -1 }; /* instead of a version */

/* ---- saving ------------------------------------------------------------------------------------ */

typedef struct hob_artifact_item {
    size_t size;
    hob_str name;
    hob_str bytes;
    const char *mime; /* NULL = application/octet-stream */
    hob_str meta;     /* a JSON object of yours; "" = none */
} hob_artifact_item;
#define HOB_ARTIFACT_ITEM_INIT                                                                     \
    {                                                                                              \
        sizeof(hob_artifact_item), {NULL, 0}, {NULL, 0}, NULL, {                                   \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Also while a run is under way. `version` may be NULL. */
HOB_API int hob_session_artifact_save(hob_session *s, const hob_artifact_item *item,
                                      int64_t *version, hob_error *err);
/* From a tool, or from before_tool and after_tool: before the answer, copied. It is saved with the result of the call,
 * whatever its outcome; what cannot be saved then is said in the result. At most 64 MiB and 256 items a call.
 * HOB_ENOSYS at other points. [any], does not block. */
HOB_API int hob_reply_artifact_save(hob_reply *r, const hob_artifact_item *item, hob_error *err);
/* All versions of a name. The next one that is saved has number 0 again. */
HOB_API int hob_session_artifact_delete(hob_session *s, hob_str name, hob_error *err);

/* The same in a stored session that nobody has open, without a model or a folder (hob/stored.h): the version.
 * HOB_EBUSY names who has it; `of` as there. */
HOB_API int hob_runtime_artifact_save(hob_runtime *rt, const char *session, const hob_tenant *of,
                                      const hob_artifact_item *item, hob_error *err);
HOB_API int hob_runtime_artifact_delete(hob_runtime *rt, const char *session, const hob_tenant *of,
                                        hob_str name, hob_error *err);

/* ---- reading ----------------------------------------------------------------------------------- */

/* One version; slices live as long as it. hob_artifact_destroy. */
typedef struct hob_artifact hob_artifact;
HOB_API hob_str hob_artifact_name(const hob_artifact *a);
HOB_API hob_str hob_artifact_bytes(const hob_artifact *a);
HOB_API hob_str hob_artifact_mime(const hob_artifact *a);
HOB_API hob_str hob_artifact_meta(const hob_artifact *a); /* "" = none */
HOB_API int64_t hob_artifact_version(const hob_artifact *a);
HOB_API int64_t hob_artifact_time(const hob_artifact *a); /* Unix time, ms */
HOB_API void hob_artifact_destroy(hob_artifact *a);       /* NULL is fine */

HOB_API int hob_session_artifact_load(hob_session *s, hob_str name, int64_t version,
                                      hob_artifact **out, hob_error *err);

typedef struct hob_artifact_query {
    size_t size;
    hob_str
        name; /* lists: "" = the newest version of each, the session's names before the user's; else all versions of
                     it, from the first */
    int64_t version;    /* to load */
    const char *cursor; /* lists: hob_page_next of the page before */
    size_t limit;       /* lists: 0 = 50, at most 1000 */
    const char
        *session; /* of the runtime's calls: whose; NULL = what `of` says, user: names only */
    const hob_tenant *of; /* of the runtime's calls: who asks; NULL = whoever's the session is */
} hob_artifact_query;
#define HOB_ARTIFACT_QUERY_INIT                                                                    \
    { sizeof(hob_artifact_query), {NULL, 0}, HOB_ARTIFACT_NEWEST, NULL, 0, NULL, NULL }

/* Rows {"name","version","mime","size","created","meta"}; `q` may be NULL. */
HOB_API int hob_session_artifacts(hob_session *s, const hob_artifact_query *q, hob_page **out,
                                  hob_error *err);
/* The same of stored sessions, whoever owns them: no session needs to be open. */
HOB_API int hob_runtime_artifacts(hob_runtime *rt, const hob_artifact_query *q, hob_page **out,
                                  hob_error *err);
HOB_API int hob_runtime_artifact_load(hob_runtime *rt, const hob_artifact_query *q,
                                      hob_artifact **out, hob_error *err);

#ifdef __cplusplus
}
#endif

#endif
