/*
 * secret.h - a secret that is made once and kept in a file that only its owner can read.
 */
#ifndef HOB_SRC_BASE_SECRET_H
#define HOB_SRC_BASE_SECRET_H

#include "base/base.h"

enum { HOB_SECRET_DIGITS = 64 };

/* The text of the file, without blanks around it; if there is none, HOB_SECRET_DIGITS random digits that are kept there
 * from now on: 1. Whoever comes first at the same time makes it for all. HOB_EACCES: others can read it. HOB_ECONFIG. */
int hob_secret_get(const char *file, char *text, size_t cap, hob_error *err);

#endif
