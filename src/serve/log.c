/*
 * log.c - one JSON object a line: requests and runs that ended, and what else the server has to say.
 */
#include "serve/web.h"

#include <stdio.h>

static void begin(hob_jsonw *w, const char *level, const char *what) {
    char when[25];
    hob_clock *clock = hob_clock_real();
    hob_time_format(clock->wall_ms(clock), when);
    hob_jsonw_object(w);
    hob_jsonw_kstr(w, "ts", hob_str_z(when));
    hob_jsonw_kstr(w, "level", hob_str_z(level));
    hob_jsonw_kstr(w, "event", hob_str_z(what));
}

static void tell(hob_web *web, hob_buf *line) {
    pthread_mutex_lock(&web->log_lock);
    if (!line->err) web->on_log(hob_buf_str(line), web->log_user);
    pthread_mutex_unlock(&web->log_lock);
    hob_buf_finish(line);
}

static void write_request(hob_jsonw *w, const hob_web_request *r, int64_t ms) {
    hob_str line = hob_str_z(r->line), method;
    hob_str_split(&line, ' ', &method);
    hob_jsonw_kstr(w, "request_id", hob_str_z(r->id));
    hob_jsonw_kstr(w, "trace_id", hob_str_n(r->trace + 3, 32));
    hob_jsonw_kstr_opt(w, "method", method);
    hob_jsonw_kstr_opt(w, "path", line);
    if (r->route) hob_jsonw_kstr(w, "route", hob_str_z(r->route->path));
    hob_jsonw_kint(w, "status", r->status);
    hob_jsonw_kint(w, "ms", ms);
    hob_jsonw_kint(w, "bytes", (int64_t)r->sent);
    if (r->caller) {
        hob_jsonw_kstr(w, "caller", r->caller->name);
        hob_jsonw_kstr(w, "tenant", r->caller->tenant);
    }
}

/* Once for every request, when its answer or stream is over. */
void hob_web_log_request(hob_web_request *r) {
    hob_web *web = r->web;
    hob_buf line;
    hob_jsonw w;
    int64_t ms = hob_loop_now(web->loop) - r->began;
    hob_metrics_request(web->metrics, r->route, r->status, r->replied ? r->replied - r->began : ms);
    if (!web->on_log) return;
    hob_buf_init(&line, 64 * 1024);
    hob_jsonw_init(&w, &line);
    begin(&w, r->status >= 500 ? "error" : "info", "request");
    write_request(&w, r, ms);
    hob_buf_add(&line, hob_buf_str(&r->notes));
    hob_jsonw_object_end(&w);
    tell(web, &line);
}

static const char *level_of(const char *status) {
    if (!strcmp(status, "failed")) return "error";
    return !strcmp(status, "limit") || !strcmp(status, "interrupted") ? "warn" : "info";
}

/* What the event says of the run, and a sentence. */
static void write_run(hob_jsonw *w, const hob_event *e, const char *status) {
    char text[600], why[400] = "";
    if (hob_event_field(e, "error.message", why, sizeof why) <= 0)
        hob_event_field(e, "reason", why, sizeof why);
    snprintf(text, sizeof text, "run %.*s of session %.*s: %s%s%s", HOB_FMT(hob_event_run(e)),
             HOB_FMT(hob_event_session(e)), status, *why ? ": " : "", why);
    hob_jsonw_kstr(w, "message", hob_str_z(text));
    hob_jsonw_kstr(w, "session_id", hob_event_session(e));
    hob_jsonw_kstr(w, "run_id", hob_event_run(e));
}

void hob_web_log_event(hob_event *e, void *user) {
    hob_web *web = user;
    char status[32] = "";
    hob_str data = hob_event_data(e);
    hob_buf line;
    hob_jsonw w;
    if (hob_event_type_of(e) != HOB_EVENT_RUN_FINISHED || data.n < 3) return;
    hob_event_field(e, "status", status, sizeof status);
    hob_buf_init(&line, 64 * 1024);
    hob_jsonw_init(&w, &line);
    begin(&w, level_of(status), "run");
    write_run(&w, e, status);
    hob_buf_addc(&line, ',');
    hob_buf_add(&line, hob_str_skip(data, 1)); /* its members, and the brace */
    tell(web, &line);
}

void hob_web_log(hob_web *web, const char *level, const char *fmt, ...) {
    char text[600];
    hob_buf line;
    hob_jsonw w;
    va_list ap;
    if (!web->on_log) return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    hob_buf_init(&line, 64 * 1024);
    hob_jsonw_init(&w, &line);
    begin(&w, level, "server");
    hob_jsonw_kstr(&w, "message", hob_str_z(text));
    hob_jsonw_object_end(&w);
    tell(web, &line);
}
