/*
 * modeld.h - a server that answers as a model would, in both wire formats, and keeps what it was asked.
 *
 * Rules are looked at in order: the first whose words stand in the request, and whose others do not, gives the answer.
 */
#ifndef HOB_TESTS_MODELD_H
#define HOB_TESTS_MODELD_H

#include "support/host.h"
#include "support/httpd.h"

typedef struct modeld_rule {
    const char *when, *unless;
    const char *text;        /* the answer, or */
    const char *tool, *args; /* a call; in args ' stands for ", # for the request's number */
} modeld_rule;

typedef struct modeld modeld;
modeld *modeld_start(
    const modeld_rule *rules); /* one without an answer ends them; they stay the caller's */
void modeld_stop(modeld *m);
/* The host's model is this one; api: "anthropic", "openai-chat". Before host_open. */
void modeld_use(modeld *m, host *h, const char *api);

size_t modeld_count(modeld *m);
/* The nth (from 0) request whose body has these words; fails the test if there is none. Until modeld_stop. */
hob_str modeld_body(modeld *m, const char *words, size_t nth);
/* Its conversation, the same in both formats: "user: …", "model: …", "call NAME ARGS", "result …", a line each. Static. */
const char *modeld_talk(modeld *m, const char *words, size_t nth);

#endif
