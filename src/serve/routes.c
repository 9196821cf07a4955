/*
 * routes.c - every route of the server, one row each.
 *
 * The router, the rights, the OpenAPI document (openapi.c) and the counters come from here. Handlers are declared in
 * routes.h; shared schemas stand in schemas.c.
 */
#include "serve/routes.h"

static const hob_route routes[] = {
    {.method = "GET",
     .path = "/",
     .flags = HOB_ROUTE_INLINE | HOB_ROUTE_ETAG | HOB_ROUTE_PAGE | HOB_ROUTE_DRAINING,
     .handle = hob_route_page,
     .tag = "server",
     .summary = "The console page"},
    {.method = "GET",
     .path = "/healthz",
     .flags = HOB_ROUTE_INLINE | HOB_ROUTE_TOKEN_OPTIONAL | HOB_ROUTE_DRAINING,
     .handle = hob_route_healthz,
     .tag = "server",
     .summary = "Is the server alive? With the right admin also how it is",
     .gives = "Health"},
    {.method = "GET",
     .path = "/readyz",
     .flags = HOB_ROUTE_INLINE | HOB_ROUTE_TOKEN_OPTIONAL | HOB_ROUTE_DRAINING,
     .handle = hob_route_readyz,
     .tag = "server",
     .summary = "Does it take work? 503 while it starts or stops",
     .gives = "Health"},
    {.method = "GET",
     .path = "/metrics",
     .right = HOB_RIGHT_ADMIN,
     .flags = HOB_ROUTE_DRAINING,
     .handle = hob_route_metrics,
     .tag = "server",
     .summary = "Counters in Prometheus' text format"},
    {.method = "GET",
     .path = "/openapi.json",
     .right = HOB_RIGHT_READ,
     .flags = HOB_ROUTE_ETAG,
     .handle = hob_route_openapi,
     .tag = "server",
     .summary = "This interface as an OpenAPI 3.1 document",
     .gives = "{\"type\":\"object\"}"},
};

const hob_route *hob_routes(size_t *n) {
    *n = HOB_ARRAY_LEN(routes);
    return routes;
}
