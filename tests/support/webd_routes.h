/*
 * webd_routes.h - the table that webd.c gives to its server.
 */
#ifndef HOB_TESTS_WEBD_ROUTES_H
#define HOB_TESTS_WEBD_ROUTES_H

#include "serve/http.h"
#include "support/webd.h"

extern const hob_route webd_routes[];
extern const size_t webd_nroutes;

#endif
