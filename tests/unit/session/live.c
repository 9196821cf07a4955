/* Definitions that are registered while sessions use them. */
/* ctest: labels=threads */
#include "support/definitions.h"

#include <stdatomic.h>

static const char script[] =
    "{'rules':[{'when':{'user':'load','step':{'max':3}},"
    "'reply':[{'tool':'skill','args':{'name':'pdf','arguments':'{{step}}'}}]}],"
    "'otherwise':[{'text':'{{user}}'}]}";

typedef struct registrar {
    host *r;
    char skills[320], commands[320];
    atomic_bool stop;
} registrar;

static void *register_again(void *user) {
    registrar *g = user;
    hob_error err;
    hob_definition worker = HOB_DEFINITION_INIT;
    worker.name = hob_str_z("helper");
    worker.text = hob_str_z("You help.");
    for (int i = 0; !atomic_load(&g->stop) && i < 2000; i++) {
        assert_true(hob_skills_register_dir(g->r->so.definitions, g->skills, &err) == 1);
        assert_true(hob_commands_register_dir(g->r->so.definitions, g->commands, &err) == 1);
        assert_ok(hob_agents_register_worker(g->r->so.definitions, &worker, &err), err);
    }
    return NULL;
}

/* Nobody ever sees half a folder: the skill and the command are there all the time. */
static void test_session_live__registering_beside_a_run(void **state) {
    host r;
    registrar g = {.r = &r};
    pthread_t thread;
    (void)state;
    host_init(&r, script);
    host_define(&r, "skills", "pdf", "", "Use pdftotext on $1.");
    host_define(&r, "commands", "fix", "", "Fix $1.");
    snprintf(g.skills, sizeof g.skills, "%s/skills", r.dir);
    snprintf(g.commands, sizeof g.commands, "%s/commands", r.dir);
    host_open(&r);
    assert_int_equal(pthread_create(&thread, NULL, register_again, &g), 0);
    for (int i = 0; i < 20; i++) {
        assert_string_equal(host_prompt(&r, "load"), "completed");
        assert_string_equal(host_prompt(&r, "/fix it"), "completed");
        assert_string_equal(host_text(&r), "Fix it.");
    }
    atomic_store(&g.stop, true);
    pthread_join(thread, NULL);
    assert_null(strstr(host_log(&r), "there is no skill"));
    host_define_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_live__registering_beside_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
