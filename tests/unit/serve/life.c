/*
 * A server from its options to its end, through hob/server.h.
 */
#include "serve/gzip.h"
#include "serve/page.h"
#include "serve/routes.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/webd.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct desk {
    hob_runtime *rt;
    hob_test_folder folder;
} desk;

static int setup(void **state) {
    desk *d = HOB_NEW(desk);
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    o.store = "memory";
    hob_test_folder_make(&d->folder);
    *state = d;
    return hob_runtime_create(&o, &d->rt, NULL);
}

static int teardown(void **state) {
    desk *d = *state;
    hob_runtime_destroy(d->rt);
    hob_test_folder_remove(&d->folder);
    hob_free(d);
    return 0;
}

/* ---- options --------------------------------------------------------------------------------------------- */

static void expect_failure(desk *d, hob_server_opts o, int code, const char *said) {
    hob_server *s = NULL;
    hob_error err = {.code = 0};
    int r = hob_server_create(d->rt, &o, &s, &err);
    if (r != code || !strstr(err.message, said)) fail_msg("%d, not %d: %s", r, code, err.message);
    assert_null(s);
}

static void test_serve_life__what_cannot_be_served(void **state) {
    desk *d = *state;
    static const char *const hosts[] = {"bad host", NULL}, *const origins[] = {"example.org", NULL},
                             *const roots[] = {"/no/such/folder", NULL};
#define OPTS(...)                                                                                  \
    (hob_server_opts){.size = sizeof(hob_server_opts),                                             \
                      .listen = "127.0.0.1:0",                                                     \
                      .token = WEBD_TOKEN,                                                         \
                      __VA_ARGS__}
    expect_failure(d, (hob_server_opts){.size = sizeof(hob_server_opts)}, HOB_EINVAL, "a token");
    expect_failure(d, (hob_server_opts){.size = sizeof(hob_server_opts), .token = "short"},
                   HOB_EINVAL, "characters");
    expect_failure(d, OPTS(.token_file = "x"), HOB_EINVAL, "either");
    expect_failure(d, OPTS(.max_mode = "any"), HOB_EINVAL, "max_mode");
    expect_failure(d, OPTS(.allow_hosts = hosts), HOB_EINVAL, "bad host");
    expect_failure(d, OPTS(.allow_origins = origins), HOB_EINVAL, "example.org");
    expect_failure(d, OPTS(.roots = roots), HOB_EINVAL, "/no/such/folder");
#undef OPTS
#define LISTEN(where)                                                                              \
    (hob_server_opts){.size = sizeof(hob_server_opts), .token = WEBD_TOKEN, .listen = where}
    expect_failure(d, LISTEN("0.0.0.0:0"), HOB_EACCES, "allow insecure addresses");
    expect_failure(d, LISTEN("[::]:0"), HOB_EACCES, "allow insecure addresses");
    expect_failure(d, LISTEN("example.org:80"), HOB_EINVAL, "an address");
    expect_failure(d, LISTEN("4042"), HOB_EINVAL, "ADDRESS:PORT");
    expect_failure(d, LISTEN("127.0.0.1:65536"), HOB_EINVAL, "ADDRESS:PORT");
    expect_failure(d, LISTEN("unix:"), HOB_EINVAL, "path");
    expect_failure(d, LISTEN("unix:/no/such/folder/socket"), HOB_EIO, "/no/such/folder");
}

static void test_serve_life__an_address_in_use(void **state) {
    desk *d = *state;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    hob_server *s = NULL;
    hob_error err;
    char url[100], where[100];
    o.listen = "localhost:0";
    o.token = WEBD_TOKEN;
    assert_ok(hob_server_create(d->rt, &o, &s, &err), err);
    hob_server_url(s, url, sizeof url);
    assert_memory_equal(url, "http://127.0.0.1:", 17);
    snprintf(where, sizeof where, "%.*s", (int)strlen(url) - 8, url + 7);
    o.listen = where;
    expect_failure(d, o, HOB_EEXIST, "in use");
    assert_int_equal(hob_server_reload(s, &err), HOB_EINVAL);
    hob_server_stop(s, 1000);
    hob_server_stop(s, 1000);
    hob_server_destroy(s);
    assert_ok(hob_server_create(d->rt, &o, &s, &err), err); /* free again at once */
    hob_server_destroy(s);
}

/* ---- unix sockets ------------------------------------------------------------------------------------------ */

static int connect_unix(const char *path) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    hob_str_out(hob_str_z(path), a.sun_path, sizeof a.sun_path);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) return fd;
    close(fd);
    return -1;
}

static void test_serve_life__a_unix_socket_is_for_its_owner(void **state) {
    desk *d = *state;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    hob_server *s = NULL;
    hob_error err;
    char where[200];
    const char *path = hob_test_path(&d->folder, "socket");
    struct stat st;
    webd_answer a;
    snprintf(where, sizeof where, "unix:%s", path);
    o.listen = where;
    o.token = WEBD_TOKEN;
    assert_ok(hob_server_create(d->rt, &o, &s, &err), err);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    int fd = connect_unix(path);
    webd_send(fd, HOB_STR("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    webd_receive(fd, &a);
    assert_int_equal(a.status, 401);
    webd_answer_finish(&a);
    webd_send(fd, HOB_STR("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n" WEBD_AUTH "\r\n"));
    webd_receive(fd, &a);
    assert_int_equal(a.status, 200);
    webd_answer_finish(&a);
    webd_send(fd, HOB_STR("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
    webd_receive(fd, &a);
    assert_int_equal(a.status, 421);
    webd_answer_finish(&a);
    close(fd);
    expect_failure(d, o, HOB_EEXIST, "in use");
    hob_server_destroy(s);
    assert_int_equal(stat(path, &st), -1);
}

static void test_serve_life__a_socket_that_a_dead_server_left(void **state) {
    desk *d = *state;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    hob_server *s = NULL;
    hob_error err;
    char where[200];
    const char *path = hob_test_path(&d->folder, "left");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    hob_str_out(hob_str_z(path), a.sun_path, sizeof a.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(fd);
    snprintf(where, sizeof where, "unix:%s", path);
    o.listen = where;
    o.token = WEBD_TOKEN;
    assert_ok(hob_server_create(d->rt, &o, &s, &err), err);
    hob_server_destroy(s);
    hob_test_file(&d->folder, "left", HOB_STR("not a socket")); /* … and what is none stays */
    expect_failure(d, o, HOB_EEXIST, "in use");
    assert_str(hob_test_content(&d->folder, "left"), "not a socket");
}

/* ---- the token file, again ----------------------------------------------------------------------------------- */

static void write_tokens(const hob_test_folder *f, const char *token) {
    char text[300];
    int n = snprintf(text, sizeof text, "{\"tokens\":[{\"name\":\"a\",\"token\":\"%s\"}]}", token);
    hob_test_file(f, "tokens", hob_str_n(text, (size_t)n));
    chmod(hob_test_path(f, "tokens"), 0600);
}

static int status_with(const webd *d, const char *token) {
    webd_answer a;
    char field[200];
    snprintf(field, sizeof field, "Authorization: Bearer %s\r\n", token);
    webd_call(d, "GET /tagged", field, NULL, &a);
    webd_answer_finish(&a);
    return a.status;
}

static void test_serve_life__tokens_are_read_again(void **state) {
    (void)state;
    hob_test_folder f;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    hob_error err;
    hob_test_folder_make(&f);
    write_tokens(&f, "first-token-0123");
    o.token_file = hob_test_path(&f, "tokens");
    webd *d = webd_start(&o);
    assert_int_equal(status_with(d, "first-token-0123"), 200);
    hob_test_file(&f, "tokens", HOB_STR("{\"tokens\":["));
    assert_int_equal(hob_server_reload(d->server, &err), HOB_ECONFIG);
    assert_int_equal(status_with(d, "first-token-0123"), 200);
    write_tokens(&f, "second-token-012");
    assert_ok(hob_server_reload(d->server, &err), err);
    assert_int_equal(status_with(d, "first-token-0123"), 401);
    assert_int_equal(status_with(d, "second-token-012"), 200);
    webd_free(d);
    hob_test_folder_remove(&f);
}

/* ---- the end ------------------------------------------------------------------------------------------------- */

static void *stop(void *arg) {
    hob_server_stop(arg, 10000);
    return NULL;
}

static void test_serve_life__stopping_waits_for_handlers(void **state) {
    (void)state;
    webd *d = webd_start(NULL);
    webd_answer a;
    char text[300];
    pthread_t thread;
    int fd = webd_connect(d), idle = webd_connect(d);
    int n = snprintf(text, sizeof text, "GET /block HTTP/1.1\r\n%s" WEBD_AUTH "\r\n", d->host);
    webd_send(fd, hob_str_n(text, (size_t)n));
    webd_wait(webd_blocked() == 1);
    pthread_create(&thread, NULL, stop, d->server);
    assert_true(webd_closed(idle)); /* by now it is stopping */
    assert_int_equal(webd_connect(d), -1);
    webd_release(1);
    webd_receive(fd, &a);
    assert_int_equal(a.status, 200);
    assert_true(a.closed && webd_closed(fd));
    pthread_join(thread, NULL);
    webd_answer_finish(&a);
    close(fd);
    close(idle);
    webd_free(d);
}

static void test_serve_life__every_request_is_in_the_log_once(void **state) {
    (void)state;
    webd *d = webd_start(NULL);
    webd_answer a;
    webd_call(d, "GET /item/s1/x?q=secret",
              WEBD_AUTH "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n",
              NULL, &a);
    ptrdiff_t at = hob_str_find(a.head, HOB_STR("X-Request-Id: "));
    hob_str id = hob_str_n(a.head.p + at + 14, 36);
    char want[600];
    webd_stop(d);
    hob_str line = hob_buf_str(&d->log);
    snprintf(
        want, sizeof want,
        "\"request_id\":\"%.*s\",\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\",\"method\":\"GET\","
        "\"path\":\"/item/s1/x\",\"route\":\"/item/{id}/{part}\",\"status\":200",
        HOB_FMT(id));
    if (hob_str_find(line, hob_str_z(want)) < 0) fail_msg("%.*s", HOB_FMT(line));
    assert_true(
        hob_str_find(
            line, HOB_STR("\"caller\":\"default\",\"tenant\":\"hob\",\"session_id\":\"s1\"}\n")) >
        0);
    assert_true(hob_str_find(line, HOB_STR("secret")) < 0 &&
                hob_str_find(line, HOB_STR(WEBD_TOKEN)) < 0);
    assert_int_equal(hob_str_chr(line, '\n'), line.n - 1);
    webd_answer_finish(&a);
    webd_free(d);
}

/* ---- its own routes -------------------------------------------------------------------------------------------- */

static void test_serve_life__every_route_is_in_the_document(void **state) {
    (void)state;
    hob_buf b;
    size_t n, named;
    const hob_json *doc = NULL;
    hob_error err;
    hob_arena *arena = hob_arena_create(0);
    hob_buf_init(&b, 4 << 20);
    hob_openapi_write(&b);
    assert_ok(hob_json_parse(arena, hob_buf_str(&b), NULL, &doc, &err), err);
    const hob_route *rows = hob_routes(&n);
    const hob_json *paths = hob_json_get(doc, "paths"),
                   *schemas = hob_json_get(hob_json_get(doc, "components"), "schemas");
    hob_schemas(&named);
    assert_int_equal(hob_json_count(schemas), named);
    for (size_t i = 0; i < n; i++) {
        char method[16];
        hob_str_out(hob_str_z(rows[i].method), method, sizeof method);
        for (char *p = method; *p; p++) *p = (char)(*p | 32);
        const hob_json *op = hob_json_get(hob_json_get(paths, rows[i].path), method);
        if (!op || !rows[i].handle || !rows[i].tag || !rows[i].summary)
            fail_msg("%s %s", method, rows[i].path);
        const char *names[] = {rows[i].takes, rows[i].gives};
        for (size_t k = 0; k < 2; k++)
            if (names[k] && names[k][0] != '{' && !hob_json_get(schemas, names[k]))
                fail_msg("no schema %s", names[k]);
    }
    hob_buf_finish(&b);
    hob_arena_destroy(arena);
}

/* A link to the page may stand anywhere; nothing else of ours opens from another site, and nothing can frame it. */
static void test_serve_life__a_link_may_lead_to_the_page(void **state) {
    desk *d = *state;
    hob_server_opts o = HOB_SERVER_OPTS_INIT;
    hob_server *s = NULL;
    hob_error err;
    char where[200];
    webd_answer a;
    static const struct {
        const char *path, *dest;
        int status;
    } cases[] = {{"/", "document", 200}, {"/", "iframe", 403}, {"/healthz", "document", 403}};
    const char *path = hob_test_path(&d->folder, "page");
    snprintf(where, sizeof where, "unix:%s", path);
    o.listen = where;
    o.token = WEBD_TOKEN;
    assert_ok(hob_server_create(d->rt, &o, &s, &err), err);
    for (size_t i = 0; i < HOB_ARRAY_LEN(cases); i++) {
        char text[400];
        int fd = connect_unix(path);
        int n = snprintf(text, sizeof text,
                         "GET %s HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n"
                         "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: %s\r\n\r\n",
                         cases[i].path, cases[i].dest);
        webd_send(fd, hob_str_n(text, (size_t)n));
        webd_receive(fd, &a);
        assert_int_equal(a.status, cases[i].status);
        assert_true(webd_has(&a, "frame-ancestors 'none'"));
        webd_answer_finish(&a);
        close(fd);
    }
    hob_server_destroy(s);
}

static void test_serve_life__the_policy_of_the_page_names_what_is_in_it(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_page_policy(
        HOB_STR(
            "<html><style>a{}</style><script>1</script><script type=\"module\"></script></html>"),
        &b);
    assert_string_equal(hob_buf_z(&b),
                        "default-src 'none'; connect-src 'self'; img-src 'self' blob: data:; "
                        "style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; "
                        "script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s=' "
                        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; "
                        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    hob_buf_finish(&b);
}

static void test_serve_life__the_page_is_whole(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1u << 20);
    assert_int_equal(hob_page_read(&b), HOB_OK);
    hob_str page = hob_buf_str(&b);
    assert_true(hob_str_starts(page, HOB_STR("<!doctype html>")));
    assert_true(hob_str_ends(page, HOB_STR("</html>\n")));
    assert_true(hob_str_find(page, HOB_STR("<script src")) < 0);
    assert_true(hob_str_find(page, HOB_STR("<link rel=\"stylesheet")) < 0);
    hob_buf_finish(&b);
}

static void test_serve_life__what_is_damaged_is_not_inflated(void **state) {
    (void)state;
    hob_buf b;
    hob_buf_init(&b, 1u << 20);
    hob_str all = hob_str_n(hob_console_page, hob_console_page_size);
    assert_int_equal(hob_inflate(hob_str_n(all.p, all.n / 2), &b), HOB_EPARSE);
    assert_int_equal(hob_inflate(HOB_STR("\xff\xff no deflate"), &b), HOB_EPARSE);
    hob_buf_finish(&b);
    hob_buf_init(&b, 1000);
    assert_int_equal(hob_inflate(all, &b), HOB_ETOOBIG);
    hob_buf_finish(&b);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(test_serve_life__##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(what_cannot_be_served),
        T(an_address_in_use),
        T(a_unix_socket_is_for_its_owner),
        T(a_socket_that_a_dead_server_left),
        T(a_link_may_lead_to_the_page),
        cmocka_unit_test(test_serve_life__tokens_are_read_again),
        cmocka_unit_test(test_serve_life__stopping_waits_for_handlers),
        cmocka_unit_test(test_serve_life__every_request_is_in_the_log_once),
        cmocka_unit_test(test_serve_life__every_route_is_in_the_document),
        cmocka_unit_test(test_serve_life__the_policy_of_the_page_names_what_is_in_it),
        cmocka_unit_test(test_serve_life__the_page_is_whole),
        cmocka_unit_test(test_serve_life__what_is_damaged_is_not_inflated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
