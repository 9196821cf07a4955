/*
 * life.c - a session without anything in it, and its end. In between: open.c and close.c.
 */
#include "session/artifact.h"
#include "session/crew.h"
#include "session/session.h"
#include "session/task.h"

enum { SYSTEM_MAX = 1u << 20 };

hob_session *hob_session_new(hob_runtime *rt) {
    hob_session *s = HOB_NEW(hob_session);
    s->rt = rt;
    hob_list_init(&s->link);
    hob_list_init(&s->ops);
    hob_list_init(&s->flights);
    hob_list_init(&s->tasks);
    hob_list_init(&s->tracker.children);
    hob_list_init(&s->temps);
    hob_list_init(&s->memory_calls);
    hob_list_init(&s->taught);
    hob_list_init(&s->shelved);
    hob_list_init(&s->strands);
    hob_list_init(&s->readers);
    hob_reader_init(&s->reader, s);
    hob_buf_init(&s->system, SYSTEM_MAX);
    hob_buf_init(&s->context_origins, SYSTEM_MAX);
    s->tools = hob_tools_create();
    s->view = hob_view_create();
    hob_run_init(&s->run, hob_str_z(s->id));
    hob_strand_init(&s->own, s, &s->run);
    return s;
}

void hob_session_free(hob_session *s) {
    hob_list_remove(&s->link);
    hob_timer_stop(&s->kick);
    hob_crew_destroy(s->crew);
    hob_session_drop_strands(s);
    hob_strand_finish(&s->own);
    hob_session_drop_readers(s);
    hob_session_drop_memory(s);
    hob_shelves_drop(&s->shelved);
    hob_builtins_destroy(s->builtins);
    hob_tools_destroy(s->tools);
    hob_workspace_close(s->workspace);
    hob_policy_destroy(s->policy);
    hob_session_drop_rules(s);
    hob_definitions_destroy(s->definitions);
    hob_definitions_destroy(s->agents);
    hob_tracker_finish(s);
    hob_reader_finish(&s->reader);
    hob_run_finish(&s->run);
    hob_view_destroy(s->view);
    hob_session_drop_temps(s);
    for (size_t i = 0; i < s->ntail; i++) hob_event_unref(s->tail[i]);
    hob_free(s->tail);
    hob_buf_finish(&s->system);
    hob_buf_finish(&s->context_origins);
    hob_free(s->cwd);
    hob_free(s->model_name);
    hob_free(s->app_name);
    hob_free(s->user_id);
    hob_free(s);
}
