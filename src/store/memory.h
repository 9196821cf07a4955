/*
 * memory.h - what the two files of the memory store share.
 */
#ifndef HOB_SRC_STORE_MEMORY_H
#define HOB_SRC_STORE_MEMORY_H

#include "log/state.h"
#include "store/request.h"
#include "store/wake.h"

typedef struct hob_ram_log {
    hob_store_session row; /* its strings are ours */
    int64_t id;            /* in the order of creation: settles ties in lists */
    hob_store_event *events;
    size_t nevents, cap;
    hob_store_snapshot *snapshot; /* all of it ours */
} hob_ram_log;

typedef struct hob_ram_run {
    hob_store_run run; /* its strings are ours, but session: that of the hob_ram_log */
    int64_t id;
    hob_ram_log *log;
} hob_ram_run;

typedef struct hob_ram {
    hob_store_front front;
    hob_map *logs, *runs;
    hob_map *states; /* "APP\0USER" -> hob_state */
    int64_t last_id;
    hob_map *tenants; /* of hob_ram_tenant, by application and user */
    hob_map *shelves; /* of artifacts, by session, application and user */
    hob_list queue;
    hob_wake *wake;
    int depth;   /* of drain: callbacks may close */
    bool closed; /* by one of them */
} hob_ram;

int hob_ram_read(hob_ram *m, hob_store_req *r);
int hob_ram_sessions(hob_ram *m, hob_store_req *r);
int hob_ram_runs(hob_ram *m, hob_store_req *r);
int hob_ram_search(hob_ram *m, hob_store_req *r); /* memory_search.c */
int hob_ram_states(hob_ram *m, hob_store_req *r);
void hob_ram_put_state(hob_ram *m, const hob_store_state *state);

/* memory_recall.c: what tenants remember */
int hob_ram_check_changes(hob_ram *m, hob_store_req *r);
void hob_ram_change(hob_ram *m, const hob_store_memory_change *c);
int hob_ram_memories(hob_ram *m, hob_store_req *r);
void hob_ram_tenant_destroy(void *tenant);

/* memory_artifact.c */
int hob_ram_check_artifacts(hob_ram *m, const hob_store_append *a, hob_error *err);
void hob_ram_put_artifact(hob_ram *m, hob_ram_log *g, const hob_store_artifact *a);
void hob_ram_copy_artifacts(hob_ram *m, hob_ram_log *g, const hob_store_copy *c);
int hob_ram_artifacts(hob_ram *m, hob_store_req *r);
int hob_ram_claim(hob_ram *m, hob_store_req *r);
void hob_ram_drop_artifacts(hob_ram *m, const hob_ram_log *g); /* those of a session */
void hob_ram_shelf_destroy(void *shelf);

#endif
