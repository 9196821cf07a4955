/*
 * artifact.h - what an artifact may be called, and what it may carry (docs/artifacts.md).
 *
 * A name is a key, never a path: nothing is ever looked up in a file system by it. It may look like one, so that those
 * who write artifacts to files need no second check: no part of it is "", "." or "..".
 */
#ifndef HOB_SRC_LOG_ARTIFACT_H
#define HOB_SRC_LOG_ARTIFACT_H

#include "base/base.h"

#define HOB_ARTIFACT_BYTES ((size_t)64 << 20) /* of one version */

enum {
    HOB_ARTIFACT_NAME = 512, /* bytes */
    HOB_ARTIFACT_MIME = 255,
    HOB_ARTIFACT_META = 64 << 10
};

/* "user:NAME": of the user, whichever session made it. */
bool hob_artifact_is_shared(hob_str name);
/* All HOB_EINVAL or HOB_ETOOBIG. An empty type or no metadata is fine. */
int hob_artifact_check_name(hob_str name, hob_error *err);
int hob_artifact_check_mime(hob_str mime, hob_error *err);
int hob_artifact_check_meta(hob_str meta, hob_error *err); /* a JSON object */
int hob_artifact_check_size(size_t n, hob_error *err);

#endif
