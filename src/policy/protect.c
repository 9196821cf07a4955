/*
 * protect.c - files that are more than text: writing them makes programs run later, without anybody being asked, or
 * changes what an agent is told and may do.
 *
 * accept-edits frees edits because they can be looked at before they count. These count as soon as somebody types
 * `git status`, opens an editor or a shell, or starts hob again; so that mode asks about them. Each pattern is looked
 * for at every depth, in any case of letters, and means everything beneath it, whether it exists or not.
 */
#include "policy/rule.h"

static const char *const patterns[] = {
    /* what agents are told, and may do */
    ".hob", ".claude", ".agents", ".codex", ".cursor", ".gemini", ".mcp.json", ".claude.json",
    "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", ".config/hob",
    /* git: hooks, filters, pagers, aliases; "x.git" is a bare repository */
    "*.git", ".gitconfig", ".gitmodules", ".config/git", ".githooks", ".husky",
    ".pre-commit-config.yaml", "lefthook.y*ml", ".lefthook.y*ml",
    /* editors and debuggers: tasks, settings that name programs */
    ".vscode", ".idea", ".devcontainer*", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua",
    ".dir-locals.el", ".gdbinit", ".lldbinit",
    /* shells and log-ins */
    ".bash*", ".zsh*", ".zprofile", ".zlog*", ".profile", ".*shrc", ".login", ".logout", ".envrc",
    ".ssh", ".config/fish", ".config/systemd", ".config/autostart", ".config/environment.d",
    ".pam_environment", ".xprofile", ".xsession*", ".xinitrc",
    /* programs that read further programs from their settings */
    ".npmrc", ".yarnrc*", ".pnpmfile.cjs", ".ripgreprc", ".wgetrc", ".curlrc"};

bool hob_path_protected(hob_str path, const hob_rule_place *place) {
    hob_buf clean;
    bool found = false;
    hob_buf_init(&clean, HOB_PATH_CLEAN_MAX);
    bool known = hob_path_place(path, place, &clean) == HOB_OK;
    for (size_t i = 0; known && !found && i < HOB_ARRAY_LEN(patterns); i++)
        found = hob_path_looks_like(hob_str_z(patterns[i]), hob_buf_str(&clean));
    hob_buf_finish(&clean);
    return found || !known;
}
