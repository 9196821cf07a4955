/*
 * hello.c - initialize and authenticate.
 *
 * Keys are the user's business with the providers: they stand in the environment or in hob's configuration, both read
 * at the start. So there is one method of authentication, which says what to do and looks whether it was done.
 */
#include "acp/acp.h"

#define AUTH_METHOD "configuration"
#define AUTH_HELP                                                                                   \
    "set ANTHROPIC_API_KEY or OPENAI_API_KEY in the environment of the editor, or name a provider " \
    "and its api_key in hob's configuration, then start the agent again"

static void read_capabilities(hob_acp *x, const hob_json *c) {
    const hob_json *fs = hob_json_get(c, "fs"), *session = hob_json_get(c, "session");
    x->client.read = hob_json_get_bool(fs, "readTextFile", false);
    x->client.write = hob_json_get_bool(fs, "writeTextFile", false);
    x->client.terminal = hob_json_get_bool(c, "terminal", false);
    x->client.forms =
        hob_json_is(hob_json_get(hob_json_get(c, "elicitation"), "form"), HOB_JSON_OBJECT);
    x->client.notices = hob_json_is(hob_json_get(session, "notices"), HOB_JSON_OBJECT);
    if (x->o.flags & HOB_ACP_LOCAL) x->client.read = x->client.write = x->client.terminal = false;
}

static const char capabilities[] =
    "{\"loadSession\":true,"
    "\"promptCapabilities\":{\"image\":true,\"audio\":false,\"embeddedContext\":true},"
    "\"mcpCapabilities\":{\"http\":false,\"sse\":false},"
    "\"sessionCapabilities\":{\"list\":{},\"delete\":{},\"additionalDirectories\":{},"
    "\"resume\":{},\"close\":{},\"fork\":{},\"title\":{}}}";

static void write_auth_methods(hob_jsonw *w) {
    hob_jsonw_key(w, "authMethods");
    hob_jsonw_array(w);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "id", HOB_STR(AUTH_METHOD));
    hob_jsonw_kstr(w, "name", HOB_STR("Key in the environment or in hob's configuration"));
    hob_jsonw_kstr(w, "description", HOB_STR(AUTH_HELP));
    hob_jsonw_object_end(w);
    hob_jsonw_array_end(w);
}

static void write_info(hob_jsonw *w) {
    hob_jsonw_key(w, "agentInfo");
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "name", HOB_STR("hob"));
    hob_jsonw_kstr(w, "title", HOB_STR("hob"));
    hob_jsonw_kstr(w, "version", hob_str_z(hob_version()));
    hob_jsonw_object_end(w);
}

/* We speak one version: to whoever asks for another one we name it, and the editor decides. */
int hob_acp_initialize(hob_acp_request *q, hob_error *err) {
    int64_t version;
    hob_buf b;
    hob_jsonw w;
    if (hob_json_int(hob_json_get(q->params, "protocolVersion"), &version) < 0)
        return hob_fail(err, HOB_EINVAL, 0, "`protocolVersion` must be an integer");
    read_capabilities(q->acp, hob_json_get(q->params, "clientCapabilities"));
    hob_buf_init(&b, 16 * 1024);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kint(&w, "protocolVersion", HOB_ACP_VERSION);
    hob_jsonw_kraw(&w, "agentCapabilities", hob_str_z(capabilities));
    write_auth_methods(&w);
    write_info(&w);
    hob_jsonw_object_end(&w);
    hob_acp_result(q->acp, q->id, hob_buf_str(&b));
    hob_buf_finish(&b);
    q->acp->ready = true;
    return HOB_OK;
}

/* ---- authenticate --------------------------------------------------------------------------- */

static bool any_key(hob_runtime *rt) {
    char key[8];
    bool found = false;
    hob_page *page = NULL;
    if (hob_runtime_models(rt, &page, NULL) < 0) return false;
    for (size_t i = 0; i < hob_page_count(page) && !found; i++)
        found = hob_json_field(hob_page_row(page, i), "key", key, sizeof key) > 0 &&
                !strcmp(key, "true");
    hob_page_destroy(page);
    return found;
}

int hob_acp_authenticate(hob_acp_request *q, hob_error *err) {
    hob_str method = hob_json_get_str(q->params, "methodId");
    if (!hob_str_eqz(method, AUTH_METHOD))
        return hob_fail(err, HOB_EINVAL, 0, "unknown `methodId`: " AUTH_METHOD " is the only one");
    if (!any_key(q->acp->rt))
        return hob_fail(err, HOB_EAUTH, 0, "there is no key for any model: " AUTH_HELP);
    hob_acp_result(q->acp, q->id, HOB_STR("{}"));
    return HOB_OK;
}
