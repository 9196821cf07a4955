/*
 * serve.h - what `hob serve` is made of: the token that is made when there is none, and the log.
 */
#ifndef HOB_SRC_CLI_SERVE_H
#define HOB_SRC_CLI_SERVE_H

#include "cli/cli.h"

/* ---- serve_token.c ---------------------------------------------------------------------------------- */

typedef struct hob_serve_token {
    char text[600];
    char file[4200]; /* where it stands; "" when it came from HOB_SERVER_TOKEN */
    bool made;       /* just now */
} hob_serve_token;
/* HOB_SERVER_TOKEN, or the one that is kept in the user's state folder; made if there is none. HOB_EACCES: others can
 * read that file. */
int hob_serve_token_get(hob_cli *cli, hob_serve_token *out, hob_error *err);

/* ---- serve_log.c ------------------------------------------------------------------------------------ */

/* --log FILE: JSON lines; "-" is standard output. NULL: errors as text on standard error, and with -v all of it. */
int hob_serve_log_open(hob_cli *cli, const char *where, hob_error *err);
/* What the library warns of goes there, too: nobody sits before a server with -v. */
void hob_serve_log_warnings(hob_cli *cli);
void hob_serve_log(hob_str line, void *user); /* a hob_server_log_fn; user is the hob_cli */

#endif
