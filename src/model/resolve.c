/*
 * resolve.c - from what a user types to one model.
 *
 *   scripted:FILE           a script, before anything else
 *   PROVIDER/MODEL[:LEVEL]  exact; of a known provider also models that nothing is known of
 *   MODEL[:LEVEL]           exact id, then alias, then part of an id
 *
 * Where several providers have a match, those with a key win; if that leaves several, the hint is ambiguous and
 * the error lists them. Of several matches of one provider, undated names win over dated ones, then the last in
 * order of the alphabet: the newest, as vendors name them.
 */
#include "model/registry.h"

#include <errno.h>
#include <unistd.h>

#define MIN_PART 3u /* characters of a part of an id */
#define MAX_LISTED 8u
#define SCRIPT_CONTEXT 200000
#define SCRIPT_OUTPUT 16384

/* ---- candidates --------------------------------------------------------------------------------------- */

typedef struct candidates {
    const hob_model_info **list;
    size_t n;
} candidates;

typedef bool (*match_fn)(hob_str id, hob_str hint);

static bool same_id(hob_str id, hob_str hint) {
    return hob_str_ieq(id, hint);
}

static bool has_part(hob_str id, hob_str hint) {
    for (size_t i = 0; hint.n >= MIN_PART && i + hint.n <= id.n; i++) {
        if (hob_str_ieq(hob_str_first(hob_str_skip(id, i), hint.n), hint)) return true;
    }
    return false;
}

static candidates collect(hob_models *m, hob_str hint, match_fn match) {
    candidates c = {.list = hob_alloc((m->nmodels + 1) * sizeof *c.list)};
    for (size_t i = 0; i < m->nmodels; i++) {
        const hob_model_info *info = &m->models[i];
        if (match(info->id, hint) && hob_row_usable(hob_models_row(m, info->provider)))
            c.list[c.n++] = info;
    }
    return c;
}

static bool is_credentialed(const hob_models *m, const hob_model_info *info) {
    return hob_row_credentialed(hob_models_row(m, info->provider));
}

static bool of_one_provider(const candidates *c) {
    for (size_t i = 1; i < c->n; i++) {
        if (!hob_str_eq(c->list[i]->provider, c->list[0]->provider)) return false;
    }
    return true;
}

/* If any of several providers has a key, those without one are out. */
static void prefer_credentialed(const hob_models *m, candidates *c) {
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) n += is_credentialed(m, c->list[i]);
    if (n == 0 || of_one_provider(c)) return;
    n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (is_credentialed(m, c->list[i])) c->list[n++] = c->list[i];
    }
    c->n = n;
}

/* claude-opus-4-1-20250805 */
static bool is_dated(hob_str id) {
    if (id.n < 9 || id.p[id.n - 9] != '-') return false;
    for (size_t i = id.n - 8; i < id.n; i++) {
        if (id.p[i] < '0' || id.p[i] > '9') return false;
    }
    return true;
}

static const hob_model_info *newest(const candidates *c) {
    const hob_model_info *best = c->list[0];
    for (size_t i = 1; i < c->n; i++) {
        bool dated = is_dated(c->list[i]->id), best_dated = is_dated(best->id);
        if (dated != best_dated ? best_dated : hob_str_cmp(c->list[i]->id, best->id) > 0)
            best = c->list[i];
    }
    return best;
}

static int ambiguous(const candidates *c, hob_str hint, hob_error *err) {
    hob_buf b;
    hob_buf_init(&b, 400);
    for (size_t i = 0; i < HOB_MIN(c->n, MAX_LISTED); i++)
        hob_buf_addf(&b, "%s%.*s/%.*s", i ? ", " : "", HOB_FMT(c->list[i]->provider),
                     HOB_FMT(c->list[i]->id));
    int rc =
        hob_fail(err, HOB_EAMBIGUOUS, 0, "several models match '%.*s': %s%s",
                 HOB_FMT(hob_str_first(hint, 60)), hob_buf_z(&b), c->n > MAX_LISTED ? ", …" : "");
    hob_buf_finish(&b);
    return rc;
}

/* HOB_ENOENT without a message: nothing matches. */
static int choose(hob_models *m, hob_str hint, match_fn match, hob_model_info *out,
                  hob_error *err) {
    candidates c = collect(m, hint, match);
    int rc = HOB_ENOENT;
    prefer_credentialed(m, &c);
    if (c.n && of_one_provider(&c)) {
        *out = *newest(&c);
        rc = HOB_OK;
    } else if (c.n) {
        rc = ambiguous(&c, hint, err);
    }
    hob_free(c.list);
    return rc;
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

static hob_provider_row *provider_of(hob_models *m, hob_str hint, hob_str *id) {
    hob_provider_row *best = NULL;
    for (size_t i = 0; i < m->nproviders; i++) {
        hob_provider_row *r = &m->providers[i];
        bool fits =
            hint.n > r->name.n + 1 && hob_str_starts(hint, r->name) && hint.p[r->name.n] == '/';
        if (fits && (!best || r->name.n > best->name.n)) best = r;
    }
    if (best) *id = hob_str_skip(hint, best->name.n + 1);
    return best;
}

static bool find_alias(hob_models *m, hob_str hint, hob_str provider, hob_model_info *out) {
    size_t n;
    const hob_alias *a = hob_catalogue_aliases(&n);
    for (size_t i = 0; i < n; i++) {
        if (!hob_str_ieq(hint, hob_str_z(a[i].alias))) continue;
        if (provider.n && !hob_str_eqz(provider, a[i].provider)) continue;
        const hob_model_info *info =
            hob_models_find(m, hob_str_z(a[i].provider), hob_str_z(a[i].id));
        if (!info) continue;
        *out = *info;
        return true;
    }
    return false;
}

/* Without any level: HOB_ENOENT without a message if nothing matches. `strangers` allows models of known
 * providers that nothing is known of. */
static int lookup(hob_models *m, hob_str hint, bool strangers, hob_model_info *out,
                  hob_error *err) {
    hob_str id;
    hob_provider_row *r = provider_of(m, hint, &id);
    const hob_model_info *known = r ? hob_models_find(m, r->name, id) : NULL;
    if (r && !hob_row_usable(r))
        return hob_fail(err, HOB_ENOSYS, 0,
                        "provider %.*s: this version does not speak %.*s, only openai-chat, "
                        "anthropic and scripted",
                        HOB_FMT(hob_str_first(r->name, 100)), HOB_FMT(r->api));
    if (known) {
        *out = *known;
        return HOB_OK;
    }
    if (r && find_alias(m, id, r->name, out)) return HOB_OK;
    if (r && strangers) {
        *out = hob_models_stranger(m, r, hob_arena_dup(m->arena, id));
        return HOB_OK;
    }
    int rc = choose(m, hint, same_id, out, err);
    if (rc != HOB_ENOENT) return rc;
    return !r && find_alias(m, hint, HOB_STR_NULL, out) ? HOB_OK : HOB_ENOENT;
}

/* ---- what to say when nothing matches ------------------------------------------------------------------ */

static size_t names_of(hob_models *m, const char **names, hob_arena *a) {
    size_t n = 0, naliases;
    const hob_alias *aliases = hob_catalogue_aliases(&naliases);
    for (size_t i = 0; i < m->nmodels; i++) {
        const hob_model_info *info = &m->models[i];
        hob_buf b;
        if (!hob_row_usable(hob_models_row(m, info->provider))) continue;
        hob_buf_init(&b, 1024);
        hob_buf_addf(&b, "%.*s/%.*s", HOB_FMT(info->provider), HOB_FMT(info->id));
        names[n++] = hob_arena_dup(a, info->id).p;
        names[n++] = hob_arena_dup(a, hob_buf_str(&b)).p;
        hob_buf_finish(&b);
    }
    for (size_t i = 0; i < naliases; i++) names[n++] = aliases[i].alias;
    return n;
}

/* Up to three names near the hint. */
static size_t add_nearest(hob_models *m, hob_str hint, hob_buf *out) {
    hob_arena *a = hob_arena_create(0);
    const char **names = hob_alloc((m->nmodels * 2 + 64) * sizeof *names);
    size_t n = names_of(m, names, a), found = 0;
    while (found < 3) {
        const char *near = hob_str_nearest(hint, names, n);
        if (!near) break;
        hob_buf_addf(out, "%s%s", found++ ? ", " : "", near);
        for (size_t i = 0; i < n; i++) {
            if (names[i] == near) names[i] = names[--n];
        }
    }
    hob_free(names);
    hob_arena_destroy(a);
    return found;
}

/* PROVIDER/MODEL, and nobody has set up that provider. */
static bool strange_provider(hob_models *m, hob_str hint) {
    ptrdiff_t slash = hob_str_chr(hint, '/');
    if (slash <= 0) return false;
    hob_str name = hob_str_first(hint, (size_t)slash);
    for (size_t i = 0; i < m->nproviders; i++) {
        if (hob_str_ieq(m->providers[i].name, name)) return false;
    }
    return true;
}

static int unknown(hob_models *m, hob_str hint, hob_error *err) {
    hob_buf near, providers;
    hob_buf_init(&near, 200);
    hob_buf_init(&providers, 150);
    size_t found = add_nearest(m, hint, &near);
    for (size_t i = 0, n = 0; i < m->nproviders; i++) {
        if (hob_row_usable(&m->providers[i]))
            hob_buf_addf(&providers, "%s%.*s", n++ ? ", " : "", HOB_FMT(m->providers[i].name));
    }
    const char *why = strange_provider(m, hint)
                          ? "; there is no such provider"
                          : "; one that is not in the list of models is named PROVIDER/MODEL";
    int rc = hob_fail(err, HOB_ENOENT, 0, "no model '%.*s'%s%s%s%s (providers: %s)",
                      HOB_FMT(hob_str_first(hint, 60)), found ? ": did you mean " : "",
                      hob_buf_z(&near), found ? "?" : "", why, hob_buf_z(&providers));
    hob_buf_finish(&near);
    hob_buf_finish(&providers);
    return rc;
}

static int wrong_level(hob_str hint, hob_str word, hob_error *err) {
    return hob_fail(
        err, HOB_ENOENT, 0,
        "'%.*s' in '%.*s' is no level of thinking: off, minimal, low, medium, high or xhigh",
        HOB_FMT(hob_str_first(word, 40)), HOB_FMT(hob_str_first(hint, 100)));
}

/* ---- no hint at all --------------------------------------------------------------------------------------- */

static bool default_of(hob_models *m, const hob_provider_row *r, hob_model_info *out) {
    const char *id = hob_catalogue_default(r->name);
    const hob_model_info *info = id ? hob_models_find(m, r->name, hob_str_z(id)) : NULL;
    for (size_t i = 0; !id && !info && i < m->nmodels; i++) {
        if (hob_str_eq(m->models[i].provider, r->name)) info = &m->models[i];
    }
    if (info)
        *out = *info;
    else if (id)
        *out = hob_models_stranger(m, r, hob_str_z(id));
    return info || id;
}

/* The standard providers first, then those of the configuration. */
static int resolve_default(hob_models *m, hob_model_info *out, hob_error *err) {
    hob_buf names;
    hob_buf_init(&names, 200);
    for (int standard = 1; standard >= 0; standard--) {
        for (size_t i = 0; i < m->nproviders; i++) {
            const hob_provider_row *r = &m->providers[i];
            if ((r->variable != NULL) != standard || !hob_row_usable(r)) continue;
            if (hob_row_credentialed(r) && default_of(m, r, out)) {
                hob_buf_finish(&names);
                return HOB_OK;
            }
            if (standard) hob_buf_addf(&names, "%s%s", names.n ? ", " : "", r->variable);
        }
    }
    int rc = hob_fail(err, HOB_EAUTH, 0,
                      "no model is chosen, and no provider has a key: set one of %s, or in the "
                      "configuration model or providers.NAME.api_key",
                      hob_buf_z(&names));
    hob_buf_finish(&names);
    return rc;
}

/* ---- resolve ----------------------------------------------------------------------------------------------- */

static int resolve_script(hob_models *m, hob_str file, hob_model_info *out, hob_error *err) {
    hob_str path = hob_arena_dup(m->arena, file), name = path;
    ptrdiff_t slash;
    if (file.n == 0) return hob_fail(err, HOB_EINVAL, 0, "scripted: wants a file: scripted:FILE");
    if (access(path.p, R_OK) < 0)
        return hob_fail_errno(err, hob_script_code(errno), "cannot read the script %.*s",
                              HOB_FMT(file));
    while ((slash = hob_str_chr(name, '/')) >= 0) name = hob_str_skip(name, (size_t)slash + 1);
    *out = (hob_model_info){.provider = HOB_STR("scripted"),
                            .id = name,
                            .api = HOB_STR("scripted"),
                            .script = path,
                            .context = SCRIPT_CONTEXT,
                            .output = SCRIPT_OUTPUT,
                            .images = true,
                            .known = true};
    return HOB_OK;
}

static ptrdiff_t last_colon(hob_str s) {
    for (size_t i = s.n; i-- > 0;) {
        if (s.p[i] == ':') return (ptrdiff_t)i;
    }
    return -1;
}

static int resolve_hint(hob_models *m, hob_str hint, hob_model_info *out, hob_error *err) {
    ptrdiff_t colon = last_colon(hint);
    hob_str word = colon < 0 ? HOB_STR_NULL : hob_str_skip(hint, (size_t)colon + 1);
    hob_str name = colon < 0 ? hint : hob_str_first(hint, (size_t)colon);
    hob_thinking level = HOB_THINKING_DEFAULT;
    int rc = lookup(m, hint, colon < 0, out, err); /* ids may contain colons */
    if (rc == HOB_ENOENT && colon >= 0) {
        bool is_level = hob_thinking_from(word, &level) == HOB_OK;
        rc = lookup(m, name, is_level, out, err);
        if (rc == HOB_OK && !is_level) return wrong_level(hint, word, err);
        if (rc == HOB_ENOENT && !is_level) rc = lookup(m, hint, true, out, err);
        if (!is_level) name = hint;
    }
    if (rc == HOB_ENOENT) rc = choose(m, name, has_part, out, err);
    if (rc == HOB_OK) out->thinking = level;
    if (rc == HOB_ENOENT && word.n &&
        choose(m, hob_str_first(hint, (size_t)colon), has_part, out, NULL) == HOB_OK)
        return wrong_level(hint, word, err);
    return rc == HOB_ENOENT ? unknown(m, hint, err) : rc;
}

int hob_models_resolve(hob_models *m, hob_str hint, hob_model_info *out, hob_error *err) {
    static const char scripted[] = "scripted:";
    hob_model_info found;
    hint = hob_str_trim(hint);
    int rc;
    if (hob_str_starts(hint, hob_str_z(scripted)))
        rc = resolve_script(m, hob_str_skip(hint, sizeof scripted - 1), &found, err);
    else
        rc = hint.n ? resolve_hint(m, hint, &found, err) : resolve_default(m, &found, err);
    if (rc == HOB_OK) *out = found;
    return rc;
}
