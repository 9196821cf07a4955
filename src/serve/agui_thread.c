#include "serve/agui_thread.h"

#include "serve/api.h"

#include <stdio.h>

static void derive_id(const hob_caller *c, hob_str agent, hob_str thread, char out[64]) {
    hob_buf b;
    hob_buf_init(&b, 1u << 20);
    hob_buf_addf(&b, "%zu:%.*s%zu:%.*s%zu:%.*s", c->tenant.n, HOB_FMT(c->tenant), c->principal.n,
                 HOB_FMT(c->principal), agent.n, HOB_FMT(agent));
    hob_buf_add(&b, thread);
    uint64_t first = hob_str_hash(hob_buf_str(&b)), second = hob_sum(first, hob_buf_str(&b));
    snprintf(out, 64, "agui-%016llx%016llx", (unsigned long long)first, (unsigned long long)second);
    hob_buf_finish(&b);
}

int hob_agui_find_thread(hob_web_request *r, hob_str thread, char out[130], hob_error *err) {
    const hob_caller *c = hob_web_caller(r);
    hob_page *row;
    if (hob_id_valid(thread) && hob_hub_find(hob_api_hub(r), c, thread, &row, NULL) >= 0) {
        hob_page_destroy(row);
        snprintf(out, 130, "%.*s", HOB_FMT(thread));
        return HOB_OK;
    }
    derive_id(c, hob_web_param(r, "agent"), thread, out);
    int rc = hob_hub_find(hob_api_hub(r), c, hob_str_z(out), &row, err);
    if (rc >= 0) hob_page_destroy(row);
    return rc;
}

const char *hob_agui_agent_of(hob_web_request *r) {
    hob_str name = hob_web_param(r, "agent");
    const hob_definitions *d = hob_web_server(r)->definitions;
    if (hob_str_eqz(name, "default") || hob_str_eqz(name, "hob")) return "";
    if (d && hob_definitions_find(d, HOB_DEFINITION_AGENT, name)) return hob_api_z(r, name);
    hob_web_fail(r, 404, "HOB_ENOENT", "there is no agent %.*s: GET /api/agents names them",
                 HOB_FMT(name));
    return NULL;
}

int hob_agui_make_thread(hob_web_request *r, const char *id, const char *agent, hob_room **out,
                         hob_error *err) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    char **roots = hob_web_server(r)->roots;
    o.id = id;
    o.agent_name = *agent ? agent : NULL;
    o.cwd = roots ? roots[0] : NULL;
    int rc = hob_hub_mode(hob_api_hub(r), hob_web_caller(r), HOB_STR_NULL, &o.permission_mode, err);
    return rc < 0 ? rc : hob_hub_make(hob_api_hub(r), hob_web_caller(r), &o, out, err);
}
