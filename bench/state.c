/*
 * bench/state.c - state of a session: changes and reads as a host makes them, through the loop and the memory store.
 */
#include "rig.h"
#include "table.h"

#include "child.h"

#include <hob/hob.h>

#include <stdio.h>

enum { TIMES = 20000, KEYS = 1000 };

static double per_call_us(int64_t from, int n) {
    return (double)(bench_now() - from) / 1e3 / n;
}

static int fill(hob_session *s, hob_error *err) {
    hob_buf b;
    hob_buf_init(&b, 1u << 20);
    for (int i = 0; i < KEYS; i++) hob_buf_addf(&b, "%s\"key%d\":%d", i ? "," : "{", i, i);
    hob_buf_addc(&b, '}');
    int rc = hob_session_apply_state_delta(s, hob_buf_str(&b), HOB_STR_NULL, err);
    hob_buf_finish(&b);
    return rc;
}

static int time_changes(hob_session *s, hob_error *err) {
    char value[16];
    int64_t start = bench_now();
    for (int i = 0; i < TIMES; i++) {
        snprintf(value, sizeof value, "%d", i);
        int rc = hob_session_state_set(s, HOB_STR("key500"), hob_str_z(value), err);
        if (rc < 0) return rc;
    }
    bench_row((bench_line){.name = "state.set", .value = per_call_us(start, TIMES), .unit = "us"});
    return HOB_OK;
}

static int time_reads(hob_session *s, hob_error *err) {
    char value[16];
    hob_state *now;
    int64_t start = bench_now();
    for (int i = 0; i < TIMES; i++)
        if (hob_session_state_get(s, HOB_STR("key42"), value, sizeof value) < 0)
            return hob_fail(err, HOB_ENOENT, 0, "a key is missing");
    bench_row((bench_line){.name = "state.get", .value = per_call_us(start, TIMES), .unit = "us"});
    int rc = hob_session_state(s, &now, NULL, err);
    if (rc < 0) return rc;
    hob_str got;
    start = bench_now();
    for (int i = 0; i < TIMES; i++) hob_state_get(now, HOB_STR("key42"), &got);
    bench_row((bench_line){.name = "state.snapshot_get",
                           .value = per_call_us(start, TIMES) * 1e3,
                           .unit = "ns",
                           .max = 1000});
    hob_state_destroy(now);
    return HOB_OK;
}

int main(int argc, char **argv) {
    hob_runtime_opts ro = HOB_RUNTIME_OPTS_INIT;
    hob_session_opts so = HOB_SESSION_OPTS_INIT;
    hob_runtime *rt = NULL;
    hob_session *s = NULL;
    bench_rig r;
    hob_error err;
    char model[320];
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    FILE *script = fopen(bench_rig_path(&r, "say.json"), "we");
    if (script) fputs("{\"otherwise\": [{\"text\": \"yes\"}]}\n", script);
    if (script) fclose(script);
    snprintf(model, sizeof model, "scripted:%s", bench_rig_path(&r, "say.json"));
    ro.store = "memory";
    so.model = model;
    int rc = hob_runtime_create(&ro, &rt, &err);
    if (rc >= 0) rc = hob_session_create(rt, &so, &s, &err);
    if (rc >= 0) rc = fill(s, &err);
    if (rc >= 0) rc = time_changes(s, &err);
    if (rc >= 0) rc = time_reads(s, &err);
    if (rc < 0) bench_failed("state", err.message);
    if (s) hob_session_close(s);
    hob_runtime_destroy(rt);
    bench_rig_finish(&r);
    return bench_table_finish();
}
