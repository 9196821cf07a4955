/*
 * serve_token.c - the token of a server that was given none.
 *
 * It is made once, kept in a file that only its owner reads, and shown once. A server without a token does not exist.
 */
#include "base/secret.h"
#include "cli/serve.h"

#include <stdio.h>

static int make_folder(hob_str dir, hob_error *err) {
    char *path = hob_dupz(dir);
    int rc = hob_folder_make(path, err);
    hob_free(path);
    return rc;
}

/* HOB_SERVER_TOKEN, or server.token of a file. 1: there is one. */
static int configured(hob_cli *cli, hob_serve_token *out, hob_error *err) {
    hob_str json = hob_config_get(cli->config, "server.token");
    hob_arena *a = hob_arena_create(65536);
    const hob_json *v = NULL;
    int rc = 0;
    if (json.n && hob_json_parse(a, json, NULL, &v, NULL) >= 0 && hob_json_str(v).n) {
        bool fits =
            hob_str_out(hob_json_str(v), out->text, sizeof out->text) < (int)sizeof out->text;
        rc = fits ? 1 : hob_fail(err, HOB_EINVAL, 0, "server.token is too long");
    }
    hob_arena_destroy(a);
    return rc;
}

int hob_serve_token_get(hob_cli *cli, hob_serve_token *out, hob_error *err) {
    memset(out, 0, sizeof *out);
    int given = configured(cli, out, err);
    if (given) return given < 0 ? given : HOB_OK;
    hob_str dir = hob_config_state_dir(cli->config);
    if (!dir.n)
        return hob_fail(
            err, HOB_ECONFIG, 0,
            "there is no folder to keep the token in: set HOME or HOB_HOME, or HOB_SERVER_TOKEN");
    int r = make_folder(dir, err);
    if (r < 0) return r;
    snprintf(out->file, sizeof out->file, "%.*s/server-token", HOB_FMT(dir));
    r = hob_secret_get(out->file, out->text, sizeof out->text, err);
    out->made = r > 0;
    return HOB_MIN(r, 0);
}
