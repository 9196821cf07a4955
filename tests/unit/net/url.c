#include "net/url.h"
#include "support/check.h"

static void expect_url(const char *text, const char *host, int port) {
    hob_url u;
    hob_error err;
    assert_ok(hob_url_parse(hob_str_z(text), &u, &err), err);
    assert_str(u.host, host);
    assert_int_equal(u.port, port);
}

static void test_net_url__hosts_and_ports(void **state) {
    (void)state;
    expect_url("http://api.example.com", "api.example.com", 80);
    expect_url("https://api.example.com/v1?x=1:2", "api.example.com", 443);
    expect_url("HTTPS://Api.Example.com:8443/", "Api.Example.com", 8443);
    expect_url("http://[::1]:9/x", "::1", 9);
    expect_url("http://[2001:db8::1]", "2001:db8::1", 80);
    expect_url("http://user:p@ss@host_1:1?q", "host_1", 1);
    expect_url("http://a#b@c", "a", 80);
    expect_url("socks5h://127.0.0.1", "127.0.0.1", 1080);
}

static void test_net_url__what_is_not_one(void **state) {
    (void)state;
    const char *bad[] = {"",
                         "example.com",
                         "://x",
                         "http://",
                         "http:///x",
                         "http://:80",
                         "http://a b/",
                         "http://a\\b/",
                         "http://a/\n",
                         "http://\xC3\xA4.example/",
                         "http://%31.example/",
                         "http://[::1",
                         "http://[::g]",
                         "http://[::1]x",
                         "http://a:0/",
                         "http://a:65536/",
                         "http://a:/",
                         "http://a:+80/",
                         "http://a:80:80/",
                         "http://.a/"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(bad); i++) {
        hob_url u = {.port = -1};
        if (hob_url_parse(hob_str_z(bad[i]), &u, NULL) != HOB_EINVAL) fail_msg("%s", bad[i]);
        assert_int_equal(u.port, -1);
    }
}

static void test_net_url__password_is_not_shown(void **state) {
    (void)state;
    hob_url u;
    hob_error err;
    assert_int_equal(hob_url_parse(HOB_STR("http://me:secret@ho st/"), &u, &err), HOB_EINVAL);
    assert_null(strstr(err.message, "secret"));
}

static void test_net_url__local_and_numeric_hosts(void **state) {
    (void)state;
    assert_true(hob_host_is_local(HOB_STR("LocalHost")));
    assert_true(hob_host_is_local(HOB_STR("a.localhost")));
    assert_false(hob_host_is_local(HOB_STR("notlocalhost")));
    assert_false(hob_host_is_local(HOB_STR("localhost.example")));
    assert_true(hob_host_is_numeric(HOB_STR("127.0.0.1")));
    assert_true(hob_host_is_numeric(HOB_STR("fe80::1")));
    assert_false(hob_host_is_numeric(HOB_STR("127.1")));
    assert_false(hob_host_is_numeric(HOB_STR("")));
}

static void test_net_url__no_proxy(void **state) {
    (void)state;
    static const struct {
        const char *list, *host;
        bool match;
    } rows[] = {
        {"", "a", false},
        {"*", "anything", true},
        {"example.com", "example.com", true},
        {"example.com", "www.EXAMPLE.com", true},
        {".example.com", "example.com", true},
        {"example.com", "notexample.com", false},
        {"www.example.com", "example.com", false},
        {"a, b ,c", "b", true},
        {"a b", "b", true},
        {"a,,b", "", false},
        {"example.com.", "www.example.com", true},
        {"127.0.0.1", "127.0.0.1", true},
        {"127.0.0.1", "127.0.0.10", false},
        {"10.0.0.0/8", "10.255.1.2", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"192.168.8.0/21", "192.168.15.255", true},
        {"192.168.8.0/21", "192.168.16.0", false},
        {"0.0.0.0/0", "8.8.8.8", true},
        {"10.0.0.0/33", "10.0.0.1", false},
        {"10.0.0.0/x", "10.0.0.1", false},
        {"fe80::/10", "fe80::1", true},
        {"fe80::/10", "fec0::1", false},
        {"::1", "::1", true},
        {"10.0.0.0/8", "::1", false},
        {"0.1", "127.0.0.1", false},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(rows); i++) {
        if (hob_no_proxy_match(hob_str_z(rows[i].list), hob_str_z(rows[i].host)) != rows[i].match)
            fail_msg("'%s' and %s", rows[i].list, rows[i].host);
    }
}

#define T(name) cmocka_unit_test(test_net_url__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(hosts_and_ports),         T(what_is_not_one), T(password_is_not_shown),
        T(local_and_numeric_hosts), T(no_proxy),
    };
    return cmocka_run_group_tests_name("net/url", tests, NULL, NULL);
}
