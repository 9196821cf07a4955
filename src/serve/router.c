/*
 * router.c - from a path to its row. No patterns but whole segments: "{name}" takes one, anything else is itself.
 */
#include "serve/web.h"

/* One "/segment" off the front; false at the end. */
static bool take_segment(hob_str *path, hob_str *segment) {
    if (!path->n || path->p[0] != '/') return false;
    *path = hob_str_skip(*path, 1);
    ptrdiff_t slash = hob_str_chr(*path, '/');
    size_t n = slash < 0 ? path->n : (size_t)slash;
    *segment = hob_str_first(*path, n);
    *path = hob_str_skip(*path, n);
    return true;
}

bool hob_route_match(const char *pattern, hob_str path, hob_str params[HOB_WEB_PARAMS]) {
    hob_str rest = hob_str_z(pattern), want, have;
    size_t n = 0;
    while (take_segment(&rest, &want)) {
        if (!take_segment(&path, &have)) return false;
        if (want.n && want.p[0] == '{') {
            if (!have.n || n == HOB_WEB_PARAMS) return false;
            params[n++] = have;
        } else if (!hob_str_eq(want, have)) {
            return false;
        }
    }
    return path.n == 0;
}

static bool method_fits(const hob_route *route, hob_str method) {
    return hob_str_eqz(method, route->method) ||
           (hob_str_eqz(method, "HEAD") && !strcmp(route->method, "GET"));
}

/* Ids of sub-agents' calls and names of artifacts may have a "/", sent as %2F; ids of sessions and the rest never. */
static bool may_have_slash(hob_str segment) {
    return hob_str_eqz(segment, "{call}") || hob_str_eqz(segment, "{name}");
}

/* The path was split as it was sent, so that what is decoded here stays in its segment. */
static bool decode_params(hob_web_request *r) {
    hob_str rest = hob_str_z(r->route->path), want;
    size_t i = 0;
    while (take_segment(&rest, &want)) {
        if (!want.n || want.p[0] != '{') continue;
        hob_str *p = &r->params[i++];
        if (!hob_web_decode(r->arena, *p, false, p) || !p->n) return false;
        if (hob_str_chr(*p, '/') >= 0 && !may_have_slash(want)) return false;
    }
    return true;
}

static void add_method(hob_buf *allow, const char *method) {
    hob_buf_addf(allow, "%s%s", allow->n ? ", " : "", method);
    if (!strcmp(method, "GET")) hob_buf_addz(allow, ", HEAD");
}

const hob_route *hob_router_find(hob_web_request *r, int *status, hob_buf *allow) {
    const hob_route *rows = r->web->routes;
    for (size_t i = 0; i < r->web->nroutes; i++) {
        hob_str params[HOB_WEB_PARAMS] = {{NULL, 0}};
        if (!hob_route_match(rows[i].path, r->head->path, params)) continue;
        if (method_fits(&rows[i], r->head->method)) {
            memcpy(r->params, params, sizeof params);
            r->route = &rows[i];
            *status = 400;
            return decode_params(r) ? &rows[i] : NULL;
        }
        add_method(allow, rows[i].method);
    }
    *status = allow->n ? 405 : 404;
    return NULL;
}

hob_str hob_route_param(const hob_web_request *r, const char *name) {
    hob_str rest = hob_str_z(r->route->path), want;
    size_t i = 0;
    while (take_segment(&rest, &want)) {
        if (!want.n || want.p[0] != '{') continue;
        if (hob_str_eqz(hob_str_n(want.p + 1, want.n - 2), name)) return r->params[i];
        i++;
    }
    return HOB_STR_NULL;
}
