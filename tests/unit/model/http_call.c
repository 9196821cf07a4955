/* ctest: labels=threads timeout=120 */
/* The life of a call: cancel, and keys that a command prints. */
#include "client.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- cancel -------------------------------------------------------------------------------------------------- */

static void test_model_http_call__cancel_is_final(void **state) {
    (void)state;
    client c;
    hob_error err;
    client_init(&c, serve_and_hang, A_START A_TEXT);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    assert_ok(client_start(&c, &err), err);
    while (!c.progress) hob_loop_run_once(c.loop, -1);
    c.provider->ops->cancel(c.call);
    c.call = NULL;
    unsigned before = c.progress;
    for (int i = 0; i < 5; i++) hob_loop_run_once(c.loop, 10);
    assert_int_equal(c.progress, before);
    assert_int_equal(c.done, 0);
    client_finish(&c);
}

static void test_model_http_call__cancel_from_inside_progress(void **state) {
    (void)state;
    client c;
    hob_error err;
    client_init(&c, serve_bytewise, A_START A_TEXT A_END);
    client_provider(&c, hob_provider_anthropic_create,
                    (hob_provider_config){.api_key = HOB_STR(KEY)});
    c.cancel_on_progress = true;
    assert_ok(client_start(&c, &err), err);
    while (!c.progress) hob_loop_run_once(c.loop, -1);
    for (int i = 0; i < 5; i++) hob_loop_run_once(c.loop, 10);
    assert_int_equal(c.progress, 1);
    assert_int_equal(c.done, 0);
    client_finish(&c);
}

/* ---- keys that a command prints ---------------------------------------------------------------------------------- */

static void test_model_http_call__key_from_a_command(void **state) {
    (void)state;
    seen s = {0};
    client c;
    client_init(&c, serve_chat, &s);
    client_provider(&c, hob_provider_openai_chat_create,
                    (hob_provider_config){.api_key_cmd = HOB_STR("echo printed-key-1; echo more")});
    client_ask(&c);
    assert_hello(&c);
    assert_sent(&s, "\r\nauthorization: Bearer printed-key-1\r\n");
    client_finish(&c);
}

static void assert_key_failure(const char *command, const char *expected) {
    client c;
    client_init(&c, serve_chat, NULL);
    client_provider(&c, hob_provider_openai_chat_create,
                    (hob_provider_config){.api_key_cmd = hob_str_z(command)});
    client_ask(&c);
    assert_outcome(&c, expected);
    assert_int_equal(httpd_requests(c.server), 0);
    client_finish(&c);
}

static void test_model_http_call__key_command_that_fails(void **state) {
    (void)state;
    assert_key_failure("echo secret-words; exit 3",
                       "HOB_EAUTH 0: lab: api_key_cmd ended with status 3: run it by hand");
    assert_key_failure("true", "HOB_EAUTH 0: lab: api_key_cmd printed no key");
}

static void test_model_http_call__key_command_time_out_ends_all_of_it(void **state) {
    (void)state;
    hob_buf key;
    hob_error err;
    hob_buf_init(&key, 100);
    assert_int_equal(hob_key_cmd_run("sleep 60 & sleep 60", 50, &key, &err), HOB_EAUTH);
    assert_string_equal(err.message, "api_key_cmd did not end in time: run it by hand");
    hob_buf_finish(&key);
}

static void serve_401(httpd_exchange *x, void *user) {
    note(x, user);
    httpd_reply(x, 401, NULL, HOB_STR("{}"));
}

/* Such keys expire: after a refusal the command is asked again. */
static void test_model_http_call__refused_key_is_fetched_anew(void **state) {
    (void)state;
    char file[] = "/tmp/hob-key-XXXXXX", command[128];
    seen s = {0};
    client c;
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    (void)snprintf(command, sizeof command, "echo x >> %s; echo key-number-$(grep -c x %s)", file,
                   file);
    client_init(&c, serve_401, &s);
    client_provider(&c, hob_provider_openai_chat_create,
                    (hob_provider_config){.api_key_cmd = hob_str_z(command),
                                          .key_source = HOB_STR("api_key_cmd")});
    client_ask(&c);
    assert_outcome(&c, "HOB_EAUTH 401: lab refused the key from api_key_cmd (401: {}): check it");
    assert_sent(&s, "Bearer key-number-1\r\n");
    client_ask(&c);
    assert_sent(&s, "Bearer key-number-2\r\n");
    client_finish(&c);
    unlink(file);
}

static void test_model_http_call__cancel_while_the_key_is_fetched(void **state) {
    (void)state;
    client c;
    hob_error err;
    client_init(&c, serve_chat, NULL);
    client_provider(&c, hob_provider_openai_chat_create,
                    (hob_provider_config){.api_key_cmd = HOB_STR("echo printed-key-1")});
    assert_ok(client_start(&c, &err), err);
    c.provider->ops->cancel(c.call);
    c.call = NULL;
    c.provider->ops->destroy(c.provider); /* and the provider goes with it */
    c.provider = NULL;
    for (int i = 0; i < 5; i++) hob_loop_run_once(c.loop, 20);
    assert_int_equal(c.done, 0);
    client_finish(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_http_call__cancel_is_final),
        cmocka_unit_test(test_model_http_call__cancel_from_inside_progress),
        cmocka_unit_test(test_model_http_call__key_from_a_command),
        cmocka_unit_test(test_model_http_call__key_command_that_fails),
        cmocka_unit_test(test_model_http_call__key_command_time_out_ends_all_of_it),
        cmocka_unit_test(test_model_http_call__refused_key_is_fetched_anew),
        cmocka_unit_test(test_model_http_call__cancel_while_the_key_is_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
