#include "serve/names.h"

#include "base/digest.h"
#include "base/secret.h"
#include "serve/hub_parts.h"

#include <stdio.h>

enum { TAG = 16, THREAD = 32 }; /* digits */

int hob_names_init(hob_server *s, hob_error *err) {
    unsigned char rnd[HOB_SECRET_DIGITS / 2];
    char file[4200];
    int rc = HOB_OK;
    if (s->state_dir) {
        snprintf(file, sizeof file, "%s/server-secret", s->state_dir);
        rc = hob_folder_make(s->state_dir, err);
        return rc < 0 ? rc : hob_secret_get(file, s->secret, sizeof s->secret, err);
    }
    if (hob_random(rnd, sizeof rnd) < 0)
        return hob_fail(err, HOB_EIO, 0, "the kernel gives no random bytes");
    for (size_t i = 0; i < sizeof rnd; i++) snprintf(s->secret + 2 * i, 3, "%02x", rnd[i]);
    return rc;
}

/* Which of several texts is which cannot be mistaken: each begins with its length. */
static void add_part(hob_buf *b, hob_str part) {
    hob_buf_addf(b, "%zu:", part.n);
    hob_buf_add(b, part);
}

static void digest(const hob_hub *h, const hob_str *parts, size_t n, char *out, size_t digits) {
    hob_buf b;
    hob_buf_init(&b, 64u << 20);
    for (size_t i = 0; i < n; i++) add_part(&b, parts[i]);
    hob_digest(hob_str_z(h->server->secret), hob_buf_str(&b), out, digits);
    hob_buf_finish(&b);
}

static bool is_machines_own(const hob_caller *c) {
    return hob_str_eqz(c->tenant, "hob") && hob_str_eqz(c->principal, "local");
}

static void tag_of(const hob_hub *h, const hob_caller *c, char out[THREAD + 1]) {
    const hob_str parts[] = {HOB_STR("owner"), c->tenant, c->principal};
    digest(h, parts, HOB_ARRAY_LEN(parts), out, THREAD);
    out[TAG] = 0;
}

static bool is_reserved(hob_str id) {
    return hob_str_starts(id, HOB_STR("agui-")) || hob_str_starts(id, HOB_STR("task-"));
}

/* False: it has its tag, needs none, or has no room for one. */
static bool add_tag(const hob_hub *h, const hob_caller *c, hob_str name, char out[HOB_NAME_SIZE]) {
    char tag[THREAD + 1];
    hob_str rest = hob_str_skip(name, name.n > TAG ? name.n - TAG : name.n);
    if (is_machines_own(c) || !hob_id_valid(name)) return false;
    tag_of(h, c, tag);
    if (hob_str_eqz(rest, tag) && name.p[name.n - TAG - 1] == '.') return false;
    if (name.n + 1 + TAG > HOB_NAME_SIZE - 2) return false;
    snprintf(out, HOB_NAME_SIZE, "%.*s.%s", HOB_FMT(name), tag);
    return true;
}

static bool is_there(hob_hub *h, const hob_caller *c, hob_str id) {
    hob_page *row;
    if (hob_hub_find(h, c, id, &row, NULL) < 0) return false;
    hob_page_destroy(row);
    return true;
}

int hob_name_choose(hob_hub *h, const hob_caller *c, hob_str wish, char out[HOB_NAME_SIZE],
                    hob_error *err) {
    if (!hob_id_valid(wish))
        return hob_fail(err, HOB_EINVAL, 0,
                        "an id has 1 to 128 letters, digits, dots, underscores or hyphens");
    if (is_reserved(wish))
        return hob_fail(err, HOB_EINVAL, 0,
                        "ids that begin with agui- or task- are the server's own: choose another, "
                        "or none");
    snprintf(out, HOB_NAME_SIZE, "%.*s", HOB_FMT(wish));
    bool tagged = add_tag(h, c, wish, out);
    if (!tagged && !is_machines_own(c) && wish.n + TAG >= HOB_NAME_SIZE - 2)
        return hob_fail(err, HOB_EINVAL, 0, "an id that is asked for has at most %d characters",
                        HOB_NAME_SIZE - 3 - TAG);
    if (tagged && is_there(h, c, wish)) /* its own, of a time when names had no tags */
        return hob_fail(err, HOB_EEXIST, 0, "there is a session %.*s already", HOB_FMT(wish));
    return HOB_OK;
}

void hob_name_resolve(hob_hub *h, const hob_caller *c, hob_str said, char out[HOB_NAME_SIZE]) {
    bool tagged = !is_reserved(said) && add_tag(h, c, said, out);
    if (!tagged || !is_there(h, c, hob_str_z(out)))
        snprintf(out, HOB_NAME_SIZE, "%.*s", HOB_FMT(said));
}

void hob_name_keyed(hob_hub *h, const hob_caller *c, hob_str key, char out[HOB_NAME_SIZE]) {
    const hob_str parts[] = {HOB_STR("key"), c->tenant, c->principal, key};
    memcpy(out, "key-", 4);
    digest(h, parts, HOB_ARRAY_LEN(parts), out + 4, THREAD);
}

void hob_name_thread(hob_hub *h, const hob_caller *c, hob_str agent, hob_str thread,
                     char out[HOB_NAME_SIZE]) {
    const hob_str parts[] = {HOB_STR("thread"), c->tenant, c->principal, agent, thread};
    memcpy(out, "agui-", 5);
    digest(h, parts, HOB_ARRAY_LEN(parts), out + 5, THREAD);
}
