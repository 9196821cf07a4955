/*
 * import_shelf.c - the artifacts of an imported session: read and judged, kept until they are stored.
 *
 * They stand behind the events of their session, by name and version, each once. Large ones take several lines; their
 * bytes are counted against what their first line said.
 */
#include "log/artifact.h"
#include "session/import.h"

enum { VERSION_MAX = 1000000000, SHELF_FIRST = 8 };

static hob_store_artifact *newest(const hob_import_part *p) {
    return p->nshelf ? &p->shelf[p->nshelf - 1] : NULL;
}

/* The order makes them unique. */
static int check_place(const hob_import_part *p, const hob_store_artifact *a, hob_error *err) {
    const hob_store_artifact *last = newest(p);
    int order = last ? hob_str_cmp(last->name, a->name) : -1;
    if (p->nshelf == HOB_IMPORT_ARTIFACTS)
        return hob_fail(err, HOB_ETOOBIG, 0, "session %.*s has more than %d artifacts",
                        HOB_FMT(p->from), HOB_IMPORT_ARTIFACTS);
    if (order > 0 || (order == 0 && last->version >= a->version))
        return hob_fail(err, HOB_EPARSE, 0, "version %lld of %.*s is not where it belongs",
                        (long long)a->version, HOB_FMT(hob_str_first(a->name, 200)));
    return HOB_OK;
}

static int check(const hob_store_artifact *a, int64_t size, hob_error *err) {
    hob_clock *c = hob_clock_real();
    int rc = hob_artifact_check_name(a->name, err);
    if (rc >= 0) rc = hob_artifact_check_mime(a->mime, err);
    if (rc >= 0) rc = hob_artifact_check_meta(a->meta, err);
    if (rc >= 0 && hob_artifact_is_shared(a->name))
        rc = hob_fail(err, HOB_EPARSE, 0, "an artifact of a user is no part of a session");
    if (rc >= 0 && (size < 0 || size > (int64_t)HOB_ARTIFACT_BYTES))
        rc = hob_fail(err, HOB_EPARSE, 0, "an artifact has 0 bytes to 64 MiB");
    if (rc >= 0 && (a->version < 0 || a->version > VERSION_MAX))
        rc = hob_fail(err, HOB_EPARSE, 0, "the artifact has no version that can be one");
    if (rc >= 0 && (a->created_ms < 0 || a->created_ms > c->wall_ms(c) + HOB_IMPORT_DAY_MS))
        rc = hob_fail(err, HOB_EPARSE, 0, "the artifact has no time of its making");
    return rc;
}

static void keep(hob_import *im, hob_import_part *p, hob_store_artifact a) {
    hob_str *all[] = {&a.name, &a.mime, &a.meta};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) *all[i] = hob_arena_dup(im->arena, *all[i]);
    if (p->nshelf == p->shelf_cap) {
        p->shelf_cap = p->shelf_cap ? 2 * p->shelf_cap : SHELF_FIRST;
        p->shelf = hob_realloc(p->shelf, p->shelf_cap * sizeof *p->shelf);
    }
    p->shelf[p->nshelf++] = a;
    im->artifacts++;
}

int hob_import_read_more(hob_import *im, hob_import_part *p, const hob_json *o, hob_error *err) {
    hob_store_artifact *a = newest(p);
    const hob_json *text = hob_json_get(o, "base64");
    hob_buf b;
    hob_buf_init(&b, HOB_ARTIFACT_BYTES);
    int rc = hob_json_is(text, HOB_JSON_STRING) ? hob_base64_decode(&b, hob_json_str(text)) : -1;
    if (rc < 0 || b.n > im->missing || (!b.n && im->missing)) {
        rc = hob_fail(err, HOB_EPARSE, 0, "the bytes of %.*s are not those that it should have",
                      HOB_FMT(hob_str_first(a->name, 200)));
    } else if (b.n) {
        memcpy((char *)(uintptr_t)a->bytes.p + a->bytes.n - im->missing, b.p, b.n);
        im->missing -= b.n;
    }
    hob_buf_finish(&b);
    return rc;
}

int hob_import_read_artifact(hob_import *im, hob_import_part *p, const hob_json *o,
                             hob_error *err) {
    const hob_json *meta = hob_json_get(o, "meta");
    int64_t size = hob_json_get_int(o, "size", -1);
    hob_store_artifact a = {.app = hob_str_z(im->app),
                            .user = hob_str_z(im->user),
                            .name = hob_json_get_str(o, "name"),
                            .version = hob_json_get_int(o, "version", -1),
                            .mime = hob_json_get_str(o, "mime"),
                            .meta = meta ? hob_json_raw(meta) : HOB_STR_NULL,
                            .created_ms = -1};
    hob_time_parse(hob_json_get_str(o, "created"), &a.created_ms);
    int rc = check(&a, size, err);
    if (rc >= 0) rc = check_place(p, &a, err);
    if (rc < 0) return rc;
    a.bytes = hob_str_n(hob_arena_alloc(im->arena, (size_t)size + 1), (size_t)size);
    keep(im, p, a);
    im->missing = (size_t)size;
    return hob_import_read_more(im, p, o, err);
}
