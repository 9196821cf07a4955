#include "log/artifact.h"

#include "base/json.h"

static const char prefix[] = "user:";

bool hob_artifact_is_shared(hob_str name) {
    return hob_str_starts(name, hob_str_z(prefix));
}

static bool is_plain(hob_str s) {
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 || c == 0x7f || c == '\\') return false;
    }
    return hob_utf8_valid(s);
}

static bool has_parts(hob_str name) {
    hob_str rest = name, part;
    while (hob_str_split(&rest, '/', &part)) {
        if (!part.n || hob_str_eqz(part, ".") || hob_str_eqz(part, "..")) return false;
    }
    return name.n > 0;
}

int hob_artifact_check_name(hob_str name, hob_error *err) {
    hob_str bare = hob_artifact_is_shared(name) ? hob_str_skip(name, sizeof prefix - 1) : name;
    if (name.n && name.n <= HOB_ARTIFACT_NAME && is_plain(name) && has_parts(bare)) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0,
                    "an artifact has a name of 1 to %d bytes of UTF-8, without control characters, "
                    "'\\' and parts that are empty, \".\" or \"..\"",
                    HOB_ARTIFACT_NAME);
}

int hob_artifact_check_mime(hob_str mime, hob_error *err) {
    bool bad = mime.n > HOB_ARTIFACT_MIME;
    for (size_t i = 0; i < mime.n && !bad; i++) bad = mime.p[i] < 0x20 || mime.p[i] > 0x7e;
    if (!bad) return HOB_OK;
    return hob_fail(err, HOB_EINVAL, 0,
                    "the media type of an artifact is at most %d bytes of ASCII, such as "
                    "text/plain",
                    HOB_ARTIFACT_MIME);
}

int hob_artifact_check_meta(hob_str meta, hob_error *err) {
    if (!meta.n) return HOB_OK;
    if (meta.n > HOB_ARTIFACT_META)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "the metadata of an artifact: %zu bytes, over the limit of %d", meta.n,
                        HOB_ARTIFACT_META);
    hob_arena *a = hob_arena_create(0);
    const hob_json *v = NULL;
    int rc = hob_json_parse(a, meta, NULL, &v, err);
    bool object = rc >= 0 && hob_json_is(v, HOB_JSON_OBJECT);
    hob_arena_destroy(a);
    if (rc < 0 || object) return rc;
    return hob_fail(err, HOB_EINVAL, 0, "the metadata of an artifact is a JSON object");
}

int hob_artifact_check_size(size_t n, hob_error *err) {
    if (n <= HOB_ARTIFACT_BYTES) return HOB_OK;
    return hob_fail(err, HOB_ETOOBIG, 0,
                    "an artifact of %zu bytes is over the limit of %zu: split it", n,
                    HOB_ARTIFACT_BYTES);
}
