/*
 * What belongs to another is not there: every route with a session, for a caller of another tenant and for another
 * principal of the same one, answers as it does for an id that nobody has. The routes come from the table of the
 * server, so that a new one is asked, too.
 */
#include "support/check.h"
#include "support/desk.h"

#include "serve/http.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OWN "00000000000000000000000000000own"
#define OTHER "0000000000000000000000000000other"
#define NEIGHBOUR "00000000000000000000000neighbour"

#define RUNNER "00000000000000000000000000runner"

#define ALL "'rights':['read','run','approve','admin']"

static const char tokens[] =
    "{'tokens':[{'name':'own','token':'" OWN "','tenant':'a','principal':'p'," ALL "},"
    "{'name':'other','token':'" OTHER "','tenant':'b','principal':'p'," ALL "},"
    "{'name':'neighbour','token':'" NEIGHBOUR "','tenant':'a','principal':'q'," ALL "},"
    "{'name':'runner','token':'" RUNNER "','tenant':'a','principal':'p','rights':['read','run']}]}";

static int setup(void **state) {
    desk *d = hob_alloc(sizeof *d);
    desk_init(d, "{'rules':[{'when':{'user':'write it','step':1},'reply':[{'tool':'write','args':"
                 "{'path':'a.txt','content':'b'}}]}],'otherwise':[{'text':'hello'}]}");
    desk_tokens(d, tokens);
    desk_start(d);
    d->c.token = OWN;
    *state = d;
    return 0;
}

static int teardown(void **state) {
    desk *d = *state;
    desk_finish(d);
    hob_free(d);
    return 0;
}

/* A body that the route would take from its own caller. */
static const char *body_for(const char *path) {
    static const struct {
        const char *end, *body;
    } bodies[] = {
        {"/prompt", "{'text':'x'}"},
        {"/steer", "{'text':'x'}"},
        {"/follow_up", "{'text':'x'}"},
        {"/move", "{'entry':''}"},
        {"/rewind", "{'run':'x'}"},
        {"/approvals/{call}", "{'approved':true}"},
        {"/calls/{call}", "{'outcome':'ok','text':'x'}"},
        {"/state", "{'delta':{'a':1}}"},
    };
    for (size_t i = 0; i < HOB_ARRAY_LEN(bodies); i++)
        if (hob_str_ends(hob_str_z(path), hob_str_z(bodies[i].end))) return bodies[i].body;
    return "{}";
}

/* "/api/sessions/{id}/runs/{run}" with the id in place, and "x" for every other parameter. */
static void fill_in(char *out, size_t cap, const char *path, const char *id) {
    hob_buf b;
    hob_buf_init(&b, 4096);
    for (const char *p = path; *p; p++) {
        if (*p != '{') {
            hob_buf_addc(&b, *p);
            continue;
        }
        hob_buf_addz(&b, !strncmp(p, "{id}", 4) ? id : "x");
        while (*p != '}') p++;
    }
    snprintf(out, cap, "%s", hob_buf_z(&b));
    hob_buf_finish(&b);
}

static void ask(desk *d, const hob_route *r, const char *id, const char *token) {
    char path[400];
    bool get = !strcmp(r->method, "GET") || !strcmp(r->method, "DELETE");
    fill_in(path, sizeof path, r->path, id);
    d->c.token = token;
    int status = client_call(&d->c, r->method, path, get ? NULL : body_for(r->path));
    if (status != 404)
        fail_msg("%s %s for %s: %d %s", r->method, path, token, status, hob_buf_z(&d->c.body));
}

static void test_serve_tenants__a_session_of_another_is_404_on_every_route(void **state) {
    desk *d = *state;
    size_t n, asked = 0;
    const hob_route *routes = hob_routes(&n);
    desk_session(d, "one");
    for (size_t i = 0; i < n; i++) {
        if (!strstr(routes[i].path, "/sessions/{id}")) continue;
        ask(d, &routes[i], "one", OTHER);
        ask(d, &routes[i], "one", NEIGHBOUR);
        ask(d, &routes[i], "nobodys", OWN);
        asked++;
    }
    assert_true(asked > 25);
    d->c.token = OWN; /* and nothing happened to it */
    assert_int_equal(desk_get(d, "/api/sessions/one"), 200);
    assert_string_equal(client_field(&d->c, "last_seq"), "1");
}

static bool is_open(const hob_route *r) {
    return !strcmp(r->path, "/") || !strcmp(r->path, "/healthz") || !strcmp(r->path, "/readyz");
}

/* SEC-50: of the server's own table. What nobody thought of needs a token, too. */
static void test_serve_tenants__three_routes_need_no_token(void **state) {
    desk *d = *state;
    size_t n, open = 0;
    const hob_route *routes = hob_routes(&n);
    desk_session(d, "one");
    for (size_t i = 0; i < n; i++) {
        const hob_route *r = &routes[i];
        bool get = !strcmp(r->method, "GET") || !strcmp(r->method, "DELETE");
        char path[400];
        fill_in(path, sizeof path, r->path, "one");
        d->c.token = NULL;
        int status = client_call(&d->c, r->method, path, get ? NULL : body_for(r->path));
        if (status != (is_open(r) ? 200 : 401)) fail_msg("%s %s: %d", r->method, path, status);
        open += is_open(r);
        d->c.token = "0000000000000000000000000nobodys";
        status = client_call(&d->c, r->method, path, get ? NULL : body_for(r->path));
        if (!is_open(r) && status != 401) fail_msg("%s %s: %d", r->method, path, status);
    }
    assert_int_equal(open, 3);
}

/* The answer to a stranger says nothing that the answer to an id of nobody does not say. */
static void test_serve_tenants__the_answer_does_not_tell_that_it_exists(void **state) {
    desk *d = *state;
    char text[600];
    desk_session(d, "one");
    d->c.token = OTHER;
    assert_int_equal(desk_get(d, "/api/sessions/two"), 404);
    snprintf(text, sizeof text, "%s", hob_buf_z(&d->c.body));
    memcpy(strstr(text, "two"), "one", 3);
    assert_int_equal(desk_get(d, "/api/sessions/one"), 404);
    assert_string_equal(hob_buf_z(&d->c.body), text);
}

static void test_serve_tenants__lists_hold_ones_own_only(void **state) {
    desk *d = *state;
    static const char *const who[] = {OWN, OTHER, NEIGHBOUR};
    static const char *const ids[] = {"s-own", "s-other", "s-neighbour"};
    for (int i = 0; i < 3; i++) {
        d->c.token = who[i];
        desk_session(d, ids[i]);
    }
    for (int i = 0; i < 3; i++) {
        d->c.token = who[i];
        assert_int_equal(desk_get(d, "/api/sessions"), 200);
        assert_memory_equal(client_field(&d->c, "sessions.0.id"), ids[i], strlen(ids[i]));
        assert_string_equal(client_field(&d->c, "sessions.1.id"), "");
        assert_int_equal(desk_get(d, "/api/sessions/%s", ids[i]), 200);
    }
}

/* Rows of a live list are of one's own sessions, too. */
static void test_serve_tenants__live_lists_hold_ones_own_only(void **state) {
    desk *d = *state;
    char id[100] = "";
    tail *t = tail_open(d->port, OWN, "/api/sessions", NULL);
    d->c.token = OTHER;
    desk_session(d, "s-other");
    assert_int_equal(desk_call(d, "DELETE", NULL, "/api/sessions/s-other"), 204);
    d->c.token = OWN;
    desk_session(d, "s-own");
    assert_int_equal(tail_next(t), 1);
    hob_json_field(tail_data(t), "id", id, sizeof id);
    assert_memory_equal(id, "s-own.", 6);
    tail_close(t);
}

/* Whoever may only run does not answer approvals, by no way. */
static void test_serve_tenants__who_may_run_may_not_approve(void **state) {
    desk *d = *state;
    char call[64], body[400];
    desk_session(d, "s");
    desk_prompt(d, "s", "write it");
    do assert_int_equal(desk_get(d, "/api/sessions/s/approvals"), 200);
    while (!client_field(&d->c, "approvals.0.call")[0]);
    snprintf(call, sizeof call, "%s", client_field(&d->c, "approvals.0.call"));
    snprintf(body, sizeof body,
             "{'threadId':'s','runId':'r2','messages':[],'resume':[{'interruptId':'%s','status':"
             "'resolved','payload':{'approved':true}}]}",
             call);
    d->c.token = RUNNER;
    assert_int_equal(desk_post(d, body, "/agui/default"), 403);
    assert_int_equal(desk_post(d, "{'approved':true}", "/api/sessions/s/approvals/%s", call), 403);
    d->c.token = OWN;
    assert_int_equal(desk_get(d, "/api/sessions/s/approvals"), 200);
    assert_string_equal(client_field(&d->c, "approvals.0.call"), call);
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

/* Each has its own "one": the second is told nothing of the first. */
/* What is to be remembered is said; until there are rules, that is nothing. */
static void test_serve_tenants__a_yes_is_for_once(void **state) {
    desk *d = *state;
    char call[64];
    desk_session(d, "s");
    desk_prompt(d, "s", "write it");
    do assert_int_equal(desk_get(d, "/api/sessions/s/approvals"), 200);
    while (!client_field(&d->c, "approvals.0.call")[0]);
    snprintf(call, sizeof call, "%s", client_field(&d->c, "approvals.0.call"));
    assert_int_equal(desk_post(d, "{'approved':true,'remember':'session'}",
                               "/api/sessions/s/approvals/%s", call),
                     400);
    assert_string_equal(client_field(&d->c, "error.message"),
                        "remember can be: once; an approval for longer is not possible yet");
    assert_int_equal(
        desk_post(d, "{'approved':true,'remember':'once'}", "/api/sessions/s/approvals/%s", call),
        204);
}

static void test_serve_tenants__each_has_names_of_its_own(void **state) {
    desk *d = *state;
    static const char *const who[] = {OWN, OTHER, NEIGHBOUR};
    char ids[3][200];
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 3; i++) {
            d->c.token = who[i];
            if (!again) desk_session(d, "one");
            assert_int_equal(desk_get(d, "/api/sessions/one"), 200);
            if (again) assert_string_equal(client_field(&d->c, "id"), ids[i]);
            snprintf(ids[i], sizeof ids[i], "%s", client_field(&d->c, "id"));
            assert_int_equal(desk_get(d, "/api/sessions/%s", ids[i]), 200);
            assert_int_equal(desk_post(d, "{'id':'one'}", "/api/sessions"), 409);
        }
        assert_string_not_equal(ids[0], ids[1]);
        assert_string_not_equal(ids[0], ids[2]);
        desk_stop(d); /* and they stay */
        desk_start(d);
    }
    d->c.token = OTHER;
    assert_int_equal(desk_get(d, "/api/sessions/%s", ids[0]), 404);
    desk_prompt(d, "one", "hi");
    desk_settle(d, "one");
    d->c.token = OWN; /* that was in another's */
    assert_int_equal(desk_get(d, "/api/sessions/one"), 200);
    assert_string_equal(client_field(&d->c, "last_seq"), "1");
    assert_int_equal(desk_call(d, "DELETE", NULL, "/api/sessions/one"), 204);
    assert_int_equal(desk_get(d, "/api/sessions/one"), 404);
}

/* An id of another that is known does not help to find out whether it is there: nothing can be made under it. */
static void test_serve_tenants__nobody_gets_a_name_of_another(void **state) {
    desk *d = *state;
    char id[200], body[300];
    desk_session(d, "one");
    assert_int_equal(desk_get(d, "/api/sessions/one"), 200);
    snprintf(id, sizeof id, "%s", client_field(&d->c, "id"));
    d->c.token = OTHER;
    snprintf(body, sizeof body, "{'id':'%s'}", id);
    assert_int_equal(desk_post(d, body, "/api/sessions"), 201);
    assert_string_not_equal(client_field(&d->c, "id"), id);
    desk_session(d, "mine");
    snprintf(body, sizeof body, "{'id':'%s-copy'}", id);
    assert_int_equal(desk_post(d, body, "/api/sessions/mine/fork"), 201);
    assert_int_equal(desk_get(d, "/api/sessions/%s-copy", id), 200);
    d->c.token = OWN;
    assert_int_equal(desk_get(d, "/api/sessions/%s-copy", id), 404);
}

static void test_serve_tenants__prefixes_of_the_server_are_its_own(void **state) {
    desk *d = *state;
    static const char *const taken[] = {"{'id':'agui-1'}", "{'id':'task-1'}"};
    desk_session(d, "one");
    for (size_t i = 0; i < HOB_ARRAY_LEN(taken); i++) {
        assert_int_equal(desk_post(d, taken[i], "/api/sessions"), 400);
        assert_int_equal(desk_post(d, taken[i], "/api/sessions/one/fork"), 400);
        assert_non_null(strstr(hob_buf_z(&d->c.body), "the server's own"));
    }
}

static void test_serve_tenants__the_secret_is_made_once_for_its_owner(void **state) {
    desk *d = *state;
    struct stat st;
    char before[100];
    assert_int_equal(stat(hob_test_path(&d->folder, "server-secret"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    hob_str text = hob_test_content(&d->folder, "server-secret");
    snprintf(before, sizeof before, "%.*s", HOB_FMT(text));
    assert_int_equal(strlen(before), 65);
    desk_stop(d);
    desk_start(d);
    text = hob_test_content(&d->folder, "server-secret");
    assert_true(hob_str_eqz(text, before));
}

#define T(name) cmocka_unit_test_setup_teardown(test_serve_tenants__##name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_session_of_another_is_404_on_every_route),
        T(three_routes_need_no_token),
        T(the_answer_does_not_tell_that_it_exists),
        T(lists_hold_ones_own_only),
        T(live_lists_hold_ones_own_only),
        T(who_may_run_may_not_approve),
        T(a_yes_is_for_once),
        T(each_has_names_of_its_own),
        T(nobody_gets_a_name_of_another),
        T(prefixes_of_the_server_are_its_own),
        T(the_secret_is_made_once_for_its_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
