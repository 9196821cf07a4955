#include "base/host.h"
#include "support/check.h"

static void expect_host(const char *text, hob_host_kind kind, const char *name, int port) {
    hob_host h;
    hob_error err;
    assert_ok(hob_host_parse(hob_str_z(text), &h, &err), err);
    assert_int_equal(h.kind, kind);
    assert_string_equal(h.name, name);
    assert_int_equal(h.port, port);
}

static void test_base_host__names_and_addresses(void **state) {
    (void)state;
    expect_host("Example.ORG", HOB_HOST_NAME, "example.org", 0);
    expect_host("example.org.", HOB_HOST_NAME, "example.org", 0);
    expect_host("xn--bcher-kva.example:8443", HOB_HOST_NAME, "xn--bcher-kva.example", 8443);
    expect_host("1a.example", HOB_HOST_NAME, "1a.example", 0);
    expect_host("127.0.0.1:80", HOB_HOST_IPV4, "127.0.0.1", 80);
    expect_host("[::1]", HOB_HOST_IPV6, "::1", 0);
    expect_host("[0:0:0:0:0:0:0:1]:9", HOB_HOST_IPV6, "::1", 9);
}

/* SEC-71, SEC-72: what one program could take for another host than the next one is no host at all. */
static void test_base_host__what_is_none(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        ".",
        "..",
        "a..b",
        "-a",
        "a-",
        "a_b",
        "a b",
        "user@host",
        "a/b",
        "a\\b",
        "a%2eb",
        "a:",
        "a:0",
        "a:65536",
        "a:8x",
        "a:1:2",
        "a:+1",
        "0x7f000001",
        "0x7f.1",
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "127.0.0.01",
        "127.0.0.256",
        "1.2.3.4.5",
        "[::1",
        "[::1]x",
        "[::g]",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "::1",
        "b\xC3\xBC-cher.example",
        "ex\xD0\xB0mple.org",
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        hob_host h;
        hob_error err = {.code = 0};
        if (hob_host_parse(hob_str_z(bad[i]), &h, &err) != HOB_EINVAL)
            fail_msg("'%s' was taken for the host %s", bad[i], h.name);
        assert_true(err.message[0]);
    }
}

static void test_base_host__nul_and_length(void **state) {
    (void)state;
    hob_host h;
    char label[300];
    assert_int_equal(hob_host_parse(HOB_STR("good.example\0.evil.example"), &h, NULL), HOB_EINVAL);
    assert_int_equal(hob_host_parse(HOB_STR("[::1\0]"), &h, NULL), HOB_EINVAL);
    memset(label, 'a', sizeof label);
    assert_int_equal(hob_host_parse(hob_str_n(label, 63), &h, NULL), HOB_OK);
    assert_int_equal(hob_host_parse(hob_str_n(label, 64), &h, NULL), HOB_EINVAL);
    for (size_t i = 50; i < sizeof label; i += 51) label[i] = '.';
    assert_int_equal(hob_host_parse(hob_str_n(label, 253), &h, NULL), HOB_OK);
    assert_int_equal(hob_host_parse(hob_str_n(label, 256), &h, NULL), HOB_EINVAL);
}

static bool matches(const char *rule, const char *host) {
    hob_host r, h;
    assert_int_equal(hob_host_parse_rule(hob_str_z(rule), &r, NULL), HOB_OK);
    assert_int_equal(hob_host_parse(hob_str_z(host), &h, NULL), HOB_OK);
    return hob_host_matches(&r, &h);
}

static void test_base_host__rules_hold_at_the_boundary_of_a_label(void **state) {
    (void)state;
    assert_true(matches("docs.example.org", "DOCS.example.org."));
    assert_false(matches("docs.example.org", "docs.example.org.evil.com"));
    assert_false(matches("example.org", "docs.example.org"));
    assert_true(matches("*.example.org", "docs.example.org"));
    assert_true(matches("*.example.org", "a.b.example.org"));
    assert_false(matches("*.example.org", "example.org"));
    assert_false(matches("*.example.org", "evilexample.org"));
    assert_false(matches("127.0.0.1", "127.0.0.1.evil.com"));
    assert_true(matches("a.example", "a.example:81"));
    assert_true(matches("a.example:81", "a.example:81"));
    assert_false(matches("a.example:81", "a.example:82"));
    assert_false(matches("a.example:81", "a.example"));
    hob_host r;
    assert_int_equal(hob_host_parse_rule(HOB_STR("*.127.0.0.1"), &r, NULL), HOB_EINVAL);
    assert_int_equal(hob_host_parse_rule(HOB_STR("*"), &r, NULL), HOB_EINVAL);
    assert_int_equal(hob_host_parse_rule(HOB_STR("a.*.b"), &r, NULL), HOB_EINVAL);
}

static bool loopback(const char *host) {
    hob_host h;
    assert_int_equal(hob_host_parse(hob_str_z(host), &h, NULL), HOB_OK);
    return hob_host_is_loopback(&h);
}

static void test_base_host__loopback(void **state) {
    (void)state;
    assert_true(loopback("localhost") && loopback("a.localhost") && loopback("127.9.9.9"));
    assert_true(loopback("[::1]"));
    assert_false(loopback("localhost.evil.com") || loopback("127.evil.com") || loopback("[::2]"));
    assert_false(loopback("notlocalhost"));
}

static void test_base_host__origins(void **state) {
    (void)state;
    hob_origin_of a, b;
    static const char *const bad[] = {"null",       "",          "localhost",         "http://",
                                      "ftp://a",    "HTTP://a",  "http://a/",         "http://a/x",
                                      "http://u@a", "http://a ", "http://a,http://b", "file:///"};
    assert_int_equal(hob_origin_parse(HOB_STR("http://a.example"), &a, NULL), HOB_OK);
    assert_int_equal(hob_origin_parse(HOB_STR("http://A.example:80"), &b, NULL), HOB_OK);
    assert_true(hob_origin_same(&a, &b));
    assert_int_equal(hob_origin_parse(HOB_STR("https://a.example:80"), &b, NULL), HOB_OK);
    assert_false(hob_origin_same(&a, &b));
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++)
        if (hob_origin_parse(hob_str_z(bad[i]), &a, NULL) != HOB_EINVAL) fail_msg("%s", bad[i]);
}

static void test_base_host__escapes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int first;
        size_t at;
    } cases[] = {{"%41b", 'A', 2}, {"%fF", 255, 2},   {"%00", 0, 2},
                 {"a%41", 'a', 0}, {"\xc3", 0xc3, 0}, {"%", -1, 0},
                 {"%4", -1, 0},    {"%4g", -1, 0},    {"%+1", -1, 0}};
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        size_t at = 0;
        assert_int_equal(hob_percent_decode(hob_str_z(cases[i].text), &at), cases[i].first);
        assert_int_equal(at, cases[i].at);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_host__names_and_addresses),
        cmocka_unit_test(test_base_host__what_is_none),
        cmocka_unit_test(test_base_host__nul_and_length),
        cmocka_unit_test(test_base_host__rules_hold_at_the_boundary_of_a_label),
        cmocka_unit_test(test_base_host__loopback),
        cmocka_unit_test(test_base_host__escapes),
        cmocka_unit_test(test_base_host__origins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
