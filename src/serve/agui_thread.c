#include "serve/agui_thread.h"

#include "serve/api.h"
#include "serve/names.h"

#include <stdio.h>

int hob_agui_find_thread(hob_web_request *r, hob_str thread, char out[130], hob_error *err) {
    const hob_caller *c = hob_web_caller(r);
    hob_hub *h = hob_api_hub(r);
    hob_page *row;
    int rc = HOB_ENOENT;
    if (hob_id_valid(thread)) {
        hob_name_resolve(h, c, thread, out);
        rc = hob_hub_find(h, c, hob_str_z(out), &row, NULL);
    }
    if (rc < 0) {
        hob_name_thread(h, c, hob_web_param(r, "agent"), thread, out);
        rc = hob_hub_find(h, c, hob_str_z(out), &row, err);
    }
    if (rc >= 0) hob_page_destroy(row);
    return rc;
}

const char *hob_agui_agent_of(hob_web_request *r) {
    hob_str name = hob_web_param(r, "agent");
    const hob_definitions *d = hob_web_server(r)->definitions;
    if (hob_str_eqz(name, "default") || hob_str_eqz(name, "hob")) return "";
    if (d && hob_definitions_find(d, HOB_DEFINITION_AGENT, name)) return hob_api_z(r, name);
    hob_web_fail(r, 404, "not_found",
                 "there is no agent %.*s: default is hob itself, GET /api/agents names the others",
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
