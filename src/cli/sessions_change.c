/*
 * sessions_change.c - `hob sessions fork`, `rename`, `delete`.
 */
#include "cli/sessions.h"

int hob_sessions_fork(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_fork_opts o = HOB_FORK_OPTS_INIT;
    hob_page *page = NULL;
    char *id = NULL, copy[160];
    int code = hob_sessions_find_id(j, hob_sessions_word(j, 0), &id, err);
    if (code < 0) return code;
    o.session = id;
    o.of = &j->of;
    o.entry = j->o->entry;
    o.id = j->o->session_id;
    code = hob_runtime_fork_session(j->cli->rt, &o, &page, err);
    hob_free(id);
    if (code < 0) return code;
    if (j->o->json)
        hob_page_print_json(j->cli, page);
    else if (hob_json_field(hob_page_row(page, 0), "id", copy, sizeof copy) >= 0)
        hob_out_addf(&j->cli->out, "%s\n", copy);
    hob_page_destroy(page);
    return HOB_OK;
}

int hob_sessions_rename(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_buf title;
    char *id = NULL;
    int code = hob_sessions_find_id(j, hob_sessions_word(j, 0), &id, err);
    if (code < 0) return code;
    hob_buf_init(&title, 1u << 20);
    hob_words_join(&title, j->words, 1);
    code = hob_runtime_rename_session(j->cli->rt, id, &j->of, hob_buf_str(&title), err);
    hob_buf_finish(&title);
    hob_free(id);
    return code;
}

static void say_kept(hob_sessions_job *j, const hob_page *kept) {
    char folder[4096], branch[300];
    for (size_t i = 0; i < hob_page_count(kept); i++) {
        hob_json_field(hob_page_row(kept, i), "folder", folder, sizeof folder);
        bool named = hob_json_field(hob_page_row(kept, i), "branch", branch, sizeof branch) > 0;
        hob_tell_note(j->cli, "kept the git worktree %s%s%s", folder, named ? ", branch " : "",
                      named ? branch : "");
    }
}

/* All that are named are found before the first one goes. */
int hob_sessions_delete(void *job, hob_error *err) {
    hob_sessions_job *j = job;
    hob_words ids = {NULL, 0};
    int code = HOB_OK;
    for (size_t i = 0; i < j->words->n && code >= 0; i++) {
        char *id = NULL;
        code = hob_sessions_find_id(j, j->words->at[i], &id, err);
        if (code >= 0) hob_words_add(&ids, id);
    }
    for (size_t i = 0; i < ids.n && code >= 0; i++) {
        hob_page *kept;
        code = hob_runtime_remove_session_of(j->cli->rt, ids.at[i], &j->of, &kept, err);
        if (code < 0) break;
        hob_tell_note(j->cli, "deleted session %s", ids.at[i]);
        say_kept(j, kept);
        hob_page_destroy(kept);
    }
    for (size_t i = 0; i < ids.n; i++) hob_free((void *)(uintptr_t)ids.at[i]);
    hob_words_finish(&ids);
    return code < 0 ? code : HOB_OK;
}
