/*
 * memory.h - what may be remembered. Pure.
 */
#ifndef HOB_SRC_AGENT_MEMORY_H
#define HOB_SRC_AGENT_MEMORY_H

#include "base/base.h"

/* No control characters but tab and line feed. HOB_EINVAL, HOB_ETOOBIG over `max` bytes. */
int hob_memory_check_text(hob_str text, size_t max, hob_error *err);
/* For what a model wants to keep: text that people would not see, and what looks like a credential, is refused with
 * HOB_EREFUSED. It would stay, and come back in every later session. */
int hob_memory_check_model(hob_str text, hob_error *err);
/* The shape of the first credential in the text, "an AWS access key"; NULL if there is none that we know. */
const char *hob_credential_in(hob_str text);
/* Trimmed, ASCII letters in lower case; HOB_EINVAL if nothing or more than one line is left, HOB_ETOOBIG. */
int hob_memory_tag(hob_arena *a, hob_str given, size_t max, hob_str *out, hob_error *err);

#endif
