/*
 * protect.c - files that are more than text: writing them makes programs run later, without anybody being asked, or
 * changes what an agent is told and may do.
 *
 * accept-edits frees edits because they can be looked at before they count. These count as soon as somebody types
 * `git status`, opens an editor or a shell, or starts hob again; so that mode asks about them. Each pattern is looked
 * for at every depth, in any case of letters, and means everything beneath it, whether it exists or not.
 *
 * Git takes every folder with HEAD, objects and refs for a repository, whatever its name, and runs what its config says:
 * so a file HEAD is asked about, without which there is none; the files of one that is there already which lead to programs, by
 * the names that git gives them; and hooks. Names alone are looked at here, and where a link leads that the
 * working folder is; the tool that follows a link asks about the
 * path behind it.
 */
#include "policy/rule.h"

#include "config/file.h"

static const char *const patterns[] = {
    /* what agents are told, and may do */
    ".hob", ".claude", ".agents", ".codex", ".cursor", ".cursorrules", ".gemini", ".mcp.json",
    ".claude.json", "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
    ".windsurf*", ".aider*", ".github/copilot-instructions.md",
    /* git: hooks, filters, pagers, aliases; "x.git" is a bare repository */
    "*.git", ".gitconfig", ".gitmodules", ".gitattributes", ".githooks", ".husky", "hooks/pre-*",
    "hooks/post-*", "hooks/*-msg", "hooks/push-to-checkout", "hooks/reference-transaction",
    ".pre-commit-config.y*ml", "lefthook.y*ml", ".lefthook.y*ml",
    /* editors and debuggers: tasks, settings that name programs */
    ".vscode", ".idea", ".zed", ".devcontainer*", ".vim", ".vimrc", ".gvimrc", ".exrc", ".nvim",
    ".nvimrc", ".nvim.lua", ".emacs", ".emacs.d", ".emacs.el", ".dir-locals*.el", ".gdbinit",
    ".lldbinit",
    /* shells and log-ins; programs that others find by their names */
    ".bash*", ".zsh*", ".zprofile", ".zlog*", ".profile", ".*shrc", ".login", ".logout", ".envrc",
    ".ssh", ".config", ".local/bin", ".local/lib", ".inputrc", ".screenrc", ".tmux", ".tmux.conf*",
    ".pam_environment", ".xprofile", ".xsession*", ".xinitrc",
    /* programs that read further programs from their settings */
    ".npmrc", ".yarn", ".yarnrc*", ".pnpmfile.cjs", ".ripgreprc", ".wgetrc", ".curlrc", ".cargo",
    ".mise*", "mise*.toml", ".tool-versions", ".mvn", ".irbrc", ".gemrc", ".pythonrc*"};

/* Not patterns, since folders called "head" or "config" are no such thing. A file "config" is asked about wherever it is: who
 * reads one of ssh, kubectl or aws runs programs for it, too. */
static bool is_repositorys(hob_str path) {
    static const char *const names[] = {"HEAD", "config", "config.worktree", "commondir"};
    size_t at = path.n;
    while (at > 0 && path.p[at - 1] != '/') at--;
    for (size_t i = 0; i < HOB_ARRAY_LEN(names); i++)
        if (hob_str_ieq(hob_str_skip(path, at), hob_str_z(names[i]))) return true;
    return false;
}

static bool is_protected(hob_str path) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(patterns); i++)
        if (hob_path_looks_like(hob_str_z(patterns[i]), path)) return true;
    return is_repositorys(path);
}

/* The same path where the working folder leads, if that is a link. */
static bool is_protected_there(hob_str path, const hob_rule_place *place) {
    hob_buf cwd, there;
    hob_buf_init(&cwd, HOB_PATH_CLEAN_MAX);
    hob_buf_init(&there, HOB_PATH_CLEAN_MAX);
    bool known = hob_path_place(HOB_STR("."), place, &cwd) == HOB_OK;
    bool inside = known && hob_path_beneath(path, hob_buf_str(&cwd));
    hob_buf_add(&there, place->real);
    if (inside) hob_buf_add(&there, hob_str_skip(path, cwd.n));
    bool found = !known || there.err || (inside && is_protected(hob_buf_str(&there)));
    hob_buf_finish(&cwd);
    hob_buf_finish(&there);
    return found;
}

bool hob_path_protected(hob_str path, const hob_rule_place *place) {
    hob_buf clean;
    hob_buf_init(&clean, HOB_PATH_CLEAN_MAX);
    bool found = hob_path_place(path, place, &clean) < 0 || is_protected(hob_buf_str(&clean));
    if (!found && place->real.n) found = is_protected_there(hob_buf_str(&clean), place);
    hob_buf_finish(&clean);
    return found;
}
