/* Artifacts, in every store: claimed, committed with their event, read, deleted, gone with their session. */
#include "support/stores.h"

#include <stdio.h>
#include <stdlib.h>

static hob_store *(*open_store)(rig *r, const char *owner_name);
static rig r;
static hob_store *s;
static uint64_t last; /* seq of session a */

static int set_up(void **state) {
    (void)state;
    rig_init(&r);
    last = 0;
    s = open_store(&r, "first");
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_int_equal(rig_own(&r, s, "b", HOB_OWN_CREATE), 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    if (s) s->ops->close(s);
    s = NULL;
    rig_finish(&r);
    return 0;
}

#define OF(session_)                                                                               \
    { .app = HOB_STR("hob"), .user = HOB_STR("ann"), .session = HOB_STR(session_) }

static int commit(const hob_store_artifact *items, size_t n) {
    hob_store_event e = {.seq = last + 1, .json = HOB_STR("{}")};
    hob_store_append a = {.session = HOB_STR("a"), .epoch = 1, .after_seq = last};
    a.events = &e;
    a.nevents = 1;
    a.artifacts = items;
    a.nartifacts = n;
    int rc = rig_commit(&r, s, &a, 1);
    last += rc >= 0;
    return rc;
}

static hob_store_artifact item(const char *name, int64_t version, const char *bytes) {
    return (hob_store_artifact){.app = HOB_STR("hob"),
                                .user = HOB_STR("ann"),
                                .name = hob_str_z(name),
                                .version = version,
                                .mime = HOB_STR("text/plain"),
                                .created_ms = 1000 + version,
                                .bytes = hob_str_z(bytes)};
}

/* Claims and commits, as a session does: the version it got. */
static int64_t save(const char *name, const char *bytes) {
    const hob_store_artifact_query where = OF("a");
    hob_str names[] = {hob_str_z(name)};
    assert_int_equal(rig_claim(&r, s, &where, names, 1), 0);
    assert_int_equal(r.last.n, 1);
    hob_store_artifact a = item(name, r.last.versions[0], bytes);
    assert_int_equal(commit(&a, 1), 0);
    return a.version;
}

static int delete (const char *name) {
    hob_store_artifact a = item(name, 0, "");
    a.removed = 1;
    return commit(&a, 1);
}

/* "NAME@VERSION=SIZE …", in pages of `limit`. */
static const char *listed(hob_store_artifact_query q, size_t limit) {
    static char text[1024];
    int n = 0;
    q.limit = limit;
    text[0] = 0;
    do {
        q.cursor = r.last.next;
        assert_int_equal(rig_artifacts(&r, s, &q), 0);
        for (size_t i = 0; i < r.last.n; i++) {
            const hob_store_artifact *a = &r.last.artifacts[i];
            assert_int_equal(a->bytes.n, 0);
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%.*s@%lld=%zu", n ? " " : "",
                          HOB_FMT(a->name), (long long)a->version, a->size);
        }
    } while (r.last.next.n);
    return text;
}

static const char *names(const char *session, size_t limit) {
    hob_store_artifact_query q = OF("");
    q.session = hob_str_z(session);
    r.last.next = HOB_STR_NULL;
    return listed(q, limit);
}

static const char *versions(const char *session, const char *name, size_t limit) {
    hob_store_artifact_query q = OF("");
    q.want = HOB_STORE_VERSIONS;
    q.session = hob_str_z(session);
    q.name = hob_str_z(name);
    r.last.next = HOB_STR_NULL;
    return listed(q, limit);
}

static int load(const char *session, const char *name, int64_t version) {
    hob_store_artifact_query q = OF("");
    q.want = HOB_STORE_ARTIFACT;
    q.session = hob_str_z(session);
    q.name = hob_str_z(name);
    q.version = version;
    return rig_artifacts(&r, s, &q);
}

static const char *text_of(const char *session, const char *name, int64_t version) {
    static char text[64];
    if (load(session, name, version) < 0) return hob_error_name(r.last.code);
    snprintf(text, sizeof text, "%.*s", HOB_FMT(r.last.artifacts[0].bytes));
    return text;
}

/* ---- versions ------------------------------------------------------------------------------ */

static void test_store_artifacts__adk_58_versions_from_0_and_the_newest(void **state) {
    (void)state;
    assert_int_equal(save("f.txt", "first"), 0);
    assert_int_equal(save("f.txt", "second"), 1);
    assert_string_equal(text_of("a", "f.txt", -1), "second");
    assert_string_equal(text_of("a", "f.txt", 0), "first");
    assert_string_equal(text_of("a", "f.txt", 1), "second");
    assert_string_equal(text_of("a", "f.txt", 2), "HOB_ENOENT");
    assert_string_equal(text_of("a", "g.txt", -1), "HOB_ENOENT");
    assert_string_equal(versions("a", "f.txt", 0), "f.txt@0=5 f.txt@1=6");
}

static void test_store_artifacts__adk_58_user_ones_are_of_every_session(void **state) {
    (void)state;
    assert_int_equal(save("user:me", "x"), 0);
    assert_int_equal(save("f", "y"), 0);
    assert_string_equal(text_of("b", "user:me", -1), "x");
    assert_string_equal(text_of("", "user:me", 0), "x");
    assert_string_equal(text_of("b", "f", -1), "HOB_ENOENT");
    assert_string_equal(text_of("", "f", -1), "HOB_ENOENT");
    assert_string_equal(names("a", 0), "f@0=1 user:me@0=1");
    assert_string_equal(names("b", 0), "user:me@0=1");
    assert_string_equal(names("", 0), "user:me@0=1");
}

static void test_store_artifacts__comes_back_as_it_was(void **state) {
    (void)state;
    hob_store_artifact a = item("dir/\xc3\xa9.bin", 0, "");
    a.meta = HOB_STR("{ \"k\" : [1] }");
    a.bytes = HOB_STR("\0\xff\0");
    assert_int_equal(commit(&a, 1), 0);
    assert_int_equal(load("a", "dir/\xc3\xa9.bin", -1), 0);
    const hob_store_artifact *got = r.last.artifacts;
    assert_str(got->name, "dir/\xc3\xa9.bin");
    assert_str(got->app, "hob");
    assert_str(got->user, "ann");
    assert_str(got->mime, "text/plain");
    assert_str(got->meta, "{ \"k\" : [1] }");
    assert_int_equal(got->created_ms, 1000);
    assert_int_equal(got->size, 3);
    assert_int_equal(got->bytes.n, 3);
    assert_memory_equal(got->bytes.p, "\0\xff\0", 3);
}

static void test_store_artifacts__large_and_empty_ones(void **state) {
    (void)state;
    size_t n = 300000;
    char *big = malloc(n);
    for (size_t i = 0; i < n; i++) big[i] = (char)(i * 7);
    hob_store_artifact two[] = {item("big", 0, ""), item("empty", 0, "")};
    two[0].bytes = hob_str_n(big, n);
    assert_int_equal(commit(two, 2), 0);
    assert_int_equal(load("a", "big", 0), 0);
    assert_int_equal(r.last.artifacts[0].bytes.n, n);
    assert_memory_equal(r.last.artifacts[0].bytes.p, big, n);
    assert_int_equal(load("a", "empty", 0), 0);
    assert_int_equal(r.last.artifacts[0].size, 0);
    free(big);
}

/* ---- claims -------------------------------------------------------------------------------- */

static void test_store_artifacts__a_claim_is_seen_by_nobody(void **state) {
    (void)state;
    const hob_store_artifact_query where = OF("a");
    const hob_str some[] = {HOB_STR("f"), HOB_STR("user:f"), HOB_STR("f"), HOB_STR("g")};
    save("f", "0");
    assert_int_equal(rig_claim(&r, s, &where, some, 4), 0);
    const int64_t expected[] = {1, 0, 2, 0};
    assert_memory_equal(r.last.versions, expected, sizeof expected);
    assert_string_equal(names("a", 0), "f@0=1");
    assert_string_equal(versions("a", "f", 0), "f@0=1");
    assert_string_equal(text_of("a", "f", 1), "HOB_ENOENT");
    assert_string_equal(text_of("a", "f", -1), "0");
    assert_string_equal(text_of("a", "g", -1), "HOB_ENOENT");
}

static void test_store_artifacts__claims_may_be_committed_in_any_order(void **state) {
    (void)state;
    const hob_store_artifact_query where = OF("a");
    const hob_str two[] = {HOB_STR("f"), HOB_STR("f")};
    assert_int_equal(rig_claim(&r, s, &where, two, 2), 0);
    hob_store_artifact later = item("f", 1, "b"), earlier = item("f", 0, "a");
    assert_int_equal(commit(&later, 1), 0);
    assert_string_equal(versions("a", "f", 0), "f@1=1");
    assert_int_equal(commit(&earlier, 1), 0);
    assert_string_equal(versions("a", "f", 0), "f@0=1 f@1=1");
    assert_int_equal(save("f", "c"), 2);
}

static void test_store_artifacts__a_version_that_is_there_is_refused(void **state) {
    (void)state;
    save("f", "0");
    hob_store_artifact two[] = {item("g", 0, "x"), item("f", 0, "other")};
    assert_int_equal(commit(two, 2), HOB_EEXIST);
    assert_string_equal(names("a", 0), "f@0=1");
    assert_int_equal(rig_read(&r, s, "a", 0), 0);
    assert_int_equal(r.last.n, 1);
}

static void test_store_artifacts__a_claim_needs_its_session(void **state) {
    (void)state;
    const hob_store_artifact_query nowhere = OF("none"), nobody = OF("");
    const hob_str name[] = {HOB_STR("f")}, shared[] = {HOB_STR("user:f")};
    assert_int_equal(rig_claim(&r, s, &nowhere, name, 1), HOB_ENOENT);
    assert_int_equal(rig_claim(&r, s, &nobody, name, 1), HOB_EINVAL);
    assert_int_equal(rig_claim(&r, s, &nobody, shared, 1), 0);
}

static void test_store_artifacts__there_is_a_ceiling(void **state) {
    (void)state;
    enum { N = 4000 };
    static hob_str many[N];
    const hob_store_artifact_query where = OF("a");
    const hob_str shared[] = {HOB_STR("user:f")};
    for (int i = 0; i < N; i++) many[i] = HOB_STR("f");
    assert_int_equal(rig_claim(&r, s, &where, many, N), 0);
    assert_int_equal(rig_claim(&r, s, &where, many, N), 0);
    assert_int_equal(rig_claim(&r, s, &where, many, N), HOB_ELIMIT);
    assert_int_equal(rig_claim(&r, s, &where, many, 2000), 0);
    assert_int_equal(rig_claim(&r, s, &where, many, 1), HOB_ELIMIT);
    assert_int_equal(rig_claim(&r, s, &where, shared, 1), 0);
}

/* ---- lists --------------------------------------------------------------------------------- */

static void test_store_artifacts__pages(void **state) {
    (void)state;
    const char *all[] = {"user:z", "b", "user:a", "c", "a/b", "z"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) save(all[i], "x");
    save("b", "xy");
    for (size_t limit = 0; limit < 8; limit++)
        assert_string_equal(names("a", limit), "a/b@0=1 b@1=2 c@0=1 z@0=1 user:a@0=1 user:z@0=1");
    for (size_t limit = 0; limit < 4; limit++)
        assert_string_equal(versions("a", "b", limit), "b@0=1 b@1=2");
}

static void test_store_artifacts__absent_ones(void **state) {
    (void)state;
    hob_store_artifact_query q = OF("none");
    assert_int_equal(rig_artifacts(&r, s, &q), HOB_ENOENT);
    assert_string_equal(names("a", 0), "");
    q = (hob_store_artifact_query)OF("a");
    q.want = HOB_STORE_VERSIONS;
    q.name = HOB_STR("f");
    assert_int_equal(rig_artifacts(&r, s, &q), HOB_ENOENT);
}

static void test_store_artifacts__tenants_are_apart(void **state) {
    (void)state;
    save("f", "1");
    save("user:f", "2");
    hob_store_artifact_query q = OF("a");
    const hob_str apps[] = {HOB_STR("hob"), HOB_STR("other")};
    const hob_str users[] = {HOB_STR("bob"), HOB_STR("ann")};
    for (int i = 0; i < 2; i++) {
        q.app = apps[i];
        q.user = users[i];
        q.want = HOB_STORE_NAMES;
        assert_int_equal(rig_artifacts(&r, s, &q), 0);
        assert_int_equal(r.last.n, 0);
        q.want = HOB_STORE_ARTIFACT;
        q.version = -1;
        q.name = HOB_STR("f");
        assert_int_equal(rig_artifacts(&r, s, &q), HOB_ENOENT);
        q.name = HOB_STR("user:f");
        assert_int_equal(rig_artifacts(&r, s, &q), HOB_ENOENT);
        q.want = HOB_STORE_VERSIONS;
        assert_int_equal(rig_artifacts(&r, s, &q), HOB_ENOENT);
    }
}

/* ---- the end of them ----------------------------------------------------------------------- */

static void test_store_artifacts__deleting_takes_all_versions(void **state) {
    (void)state;
    save("f", "0");
    save("f", "1");
    save("ff", "2");
    save("user:f", "3");
    assert_int_equal(delete ("f"), 0);
    assert_int_equal(delete ("never"), 0);
    assert_string_equal(names("a", 0), "ff@0=1 user:f@0=1");
    assert_int_equal(save("f", "again"), 0);
    assert_int_equal(delete ("user:f"), 0);
    assert_string_equal(names("a", 0), "f@0=5 ff@0=1");
}

static void test_store_artifacts__they_go_with_their_session(void **state) {
    (void)state;
    save("f", "0");
    save("user:f", "1");
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    assert_int_equal(load("a", "f", -1), HOB_ENOENT);
    assert_int_equal(rig_own(&r, s, "a", HOB_OWN_CREATE), 0);
    assert_string_equal(names("a", 0), "user:f@0=1");
    last = 0;
    assert_int_equal(save("f", "new"), 0);
    assert_int_equal(save("user:f", "new"), 1);
}

/* Into session b, whose user is another. */
static int copy(const char *from, int64_t until_ms) {
    hob_store_event e = {.seq = 1, .json = HOB_STR("{}")};
    hob_store_copy c = {.from = hob_str_z(from), .app = HOB_STR("hob"), .until_ms = until_ms};
    hob_store_append a = {.session = HOB_STR("b"), .epoch = 1, .events = &e, .nevents = 1};
    c.user = HOB_STR("bob");
    a.copy = &c;
    return rig_commit(&r, s, &a, 1);
}

static const char *text_of_bob(const char *name, int64_t version) {
    hob_store_artifact_query q = {.want = HOB_STORE_ARTIFACT,
                                  .app = HOB_STR("hob"),
                                  .user = HOB_STR("bob"),
                                  .session = HOB_STR("b"),
                                  .name = hob_str_z(name),
                                  .version = version};
    static char text[64];
    if (rig_artifacts(&r, s, &q) < 0) return hob_error_name(r.last.code);
    snprintf(text, sizeof text, "%.20s", r.last.artifacts[0].bytes.p);
    return text;
}

/* A copy has what the original had then, and keeps it when the original is gone: also large ones, which they share. */
static void test_store_artifacts__a_copy_has_them_too(void **state) {
    (void)state;
    size_t n = (size_t)1 << 20;
    char *large = hob_alloc(n + 1);
    memset(large, 'L', n);
    save("f", "zero");
    save("f", "one");
    save("f", "two"); /* created at 1002 */
    save("g", large);
    save("user:f", "mine");
    hob_str name = HOB_STR("claimed");
    const hob_store_artifact_query where = OF("a");
    assert_int_equal(rig_claim(&r, s, &where, &name, 1), 0);
    assert_int_equal(copy("a", 1001), 0);
    assert_string_equal(text_of_bob("f", -1), "one");
    assert_string_equal(text_of_bob("f", 0), "zero");
    assert_string_equal(text_of_bob("f", 2), "HOB_ENOENT");
    assert_string_equal(text_of_bob("claimed", -1), "HOB_ENOENT");
    assert_string_equal(text_of_bob("user:f", -1), "HOB_ENOENT");
    assert_string_equal(text_of("b", "f", -1), "HOB_ENOENT"); /* ann's */
    assert_int_equal(rig_release(&r, s, "a", 1), 0);
    assert_int_equal(rig_remove(&r, s, "a"), 0);
    assert_string_equal(text_of_bob("f", 1), "one");
    assert_string_equal(text_of_bob("g", 0), "LLLLLLLLLLLLLLLLLLLL");
    hob_free(large);
}

static void test_store_artifacts__a_copy_of_nothing_has_none(void **state) {
    (void)state;
    assert_int_equal(copy("gone", INT64_MAX), 0);
    assert_string_equal(names("b", 0), "");
    last = 0;
    assert_int_equal(copy("../a", INT64_MAX), HOB_EINVAL);
}

static void test_store_artifacts__a_refused_commit_stores_nothing(void **state) {
    (void)state;
    hob_store_artifact a = item("f", 0, "x");
    last = 5;
    assert_int_equal(commit(&a, 1), HOB_EEXIST); /* wrong seq */
    last = 0;
    assert_string_equal(names("a", 0), "");
    assert_int_equal(save("f", "x"), 0);
}

static void test_store_artifacts__wrong_ones_are_refused(void **state) {
    (void)state;
    const char *wrong[] = {"",     "user:",     "..",   "a/../b", "../a", "a/..",    "/a",  "a/",
                           "a//b", "user:../x", "a\\b", "a\nb",   "\xff", "user:/x", "./a", "a/."};
    for (size_t i = 0; i < HOB_ARRAY_LEN(wrong); i++) {
        hob_store_artifact a = item(wrong[i], 0, "x");
        assert_int_equal(commit(&a, 1), HOB_EINVAL);
        assert_int_equal(load("a", wrong[i], 0), HOB_EINVAL);
    }
    char name[514];
    memset(name, 'n', 513);
    name[513] = 0;
    hob_store_artifact a = item(name, 0, "x");
    assert_int_equal(commit(&a, 1), HOB_EINVAL);
    name[512] = 0;
    a = item(name, 0, "x");
    assert_int_equal(commit(&a, 1), 0);
    a = item("n", -1, "x");
    assert_int_equal(commit(&a, 1), HOB_EINVAL);
    a = item("n", 0, "x");
    a.meta = HOB_STR("[]");
    assert_int_equal(commit(&a, 1), HOB_EINVAL);
    a = item("n", 0, "x");
    a.mime = HOB_STR("a\r\nb");
    assert_int_equal(commit(&a, 1), HOB_EINVAL);
    a = item("n", 0, "x");
    a.user = HOB_STR_NULL;
    assert_int_equal(commit(&a, 1), HOB_EINVAL);
    a = item("n", 0, "x");
    a.bytes.n = ((size_t)64 << 20) + 1; /* never looked at */
    assert_int_equal(commit(&a, 1), HOB_ETOOBIG);
}

#define T(name) cmocka_unit_test_setup_teardown(test_store_artifacts__##name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(adk_58_versions_from_0_and_the_newest),
        T(adk_58_user_ones_are_of_every_session),
        T(comes_back_as_it_was),
        T(large_and_empty_ones),
        T(a_claim_is_seen_by_nobody),
        T(claims_may_be_committed_in_any_order),
        T(a_version_that_is_there_is_refused),
        T(a_claim_needs_its_session),
        T(there_is_a_ceiling),
        T(pages),
        T(absent_ones),
        T(tenants_are_apart),
        T(deleting_takes_all_versions),
        T(they_go_with_their_session),
        T(a_copy_has_them_too),
        T(a_copy_of_nothing_has_none),
        T(a_refused_commit_stores_nothing),
        T(wrong_ones_are_refused),
    };
    open_store = rig_memory;
    int failed = cmocka_run_group_tests_name("memory", tests, NULL, NULL);
    open_store = rig_sqlite;
    return failed + cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
