/*
 * memory.h - what the two files of the memory store share.
 */
#ifndef HOB_SRC_STORE_MEMORY_H
#define HOB_SRC_STORE_MEMORY_H

#include "log/state.h"
#include "store/request.h"
#include "store/wake.h"

typedef struct hob_memory_log {
    hob_store_session row; /* its strings are ours */
    int64_t id;            /* in the order of creation: settles ties in lists */
    hob_store_event *events;
    size_t nevents, cap;
    hob_store_snapshot *snapshot; /* all of it ours */
} hob_memory_log;

typedef struct hob_memory_run {
    hob_store_run run; /* its strings are ours, but session: that of the hob_memory_log */
    int64_t id;
    hob_memory_log *log;
} hob_memory_run;

typedef struct hob_memory {
    hob_store_front front;
    hob_map *logs, *runs;
    hob_map *states; /* "APP\0USER" -> hob_state */
    int64_t last_id;
    hob_map *tenants; /* of hob_memory_tenant, by application and user */
    hob_list queue;
    hob_wake *wake;
    int depth;   /* of drain: callbacks may close */
    bool closed; /* by one of them */
} hob_memory;

int hob_memory_read(hob_memory *m, hob_store_req *r);
int hob_memory_sessions(hob_memory *m, hob_store_req *r);
int hob_memory_runs(hob_memory *m, hob_store_req *r);
int hob_memory_states(hob_memory *m, hob_store_req *r);
void hob_memory_put_state(hob_memory *m, const hob_store_state *state);

/* memory_recall.c: what tenants remember */
int hob_memory_check_changes(hob_memory *m, hob_store_req *r);
void hob_memory_change(hob_memory *m, const hob_store_memory_change *c);
int hob_memory_memories(hob_memory *m, hob_store_req *r);
void hob_memory_tenant_destroy(void *tenant);

#endif
