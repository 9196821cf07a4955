/*
 * routes.h - the handlers that routes.c names, and the schemas that they share.
 */
#ifndef HOB_SRC_SERVE_ROUTES_H
#define HOB_SRC_SERVE_ROUTES_H

#include "serve/http.h"

/* health.c */
void hob_route_healthz(hob_web_request *r);
void hob_route_readyz(hob_web_request *r);
void hob_route_metrics(hob_web_request *r);
/* page.c */
void hob_route_page(hob_web_request *r);
/* openapi.c */
void hob_route_openapi(hob_web_request *r);
void hob_openapi_write(hob_buf *out);

/* schemas.c */
typedef struct hob_schema {
    const char *name, *json;
} hob_schema;
const hob_schema *hob_schemas(size_t *n);

#endif
