/*
 * environment.c - what commands may see of hob's environment.
 *
 * An allow-list: variables that tools of the trade need and that hold no secret. Keys of providers and
 * hob's own variables never pass, whatever the configuration names. Any other variable passes if the
 * configuration names it; one that looks like a secret only by its full name.
 */
#include "tool/tool.h"

#define MAX_VARIABLE (64 * 1024)
#define DEFAULT_PATH "PATH=/usr/local/bin:/usr/bin:/bin"

static const char *const ALLOWED[] = {
    /* who and where */
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "HOSTNAME",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    /* how programs print */
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "PAGER",
    "EDITOR",
    "CI",
    "DEBIAN_FRONTEND",
    /* where compilers and interpreters are */
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "MANPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYTHONPATH",
    "PYENV_ROOT",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "GEM_HOME",
    "PERL5LIB",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
};

/* Never, whoever asks for it. */
static bool is_forbidden(hob_str name) {
    return hob_str_starts(name, HOB_STR("HOB_")) || hob_str_ends(name, HOB_STR("API_KEY"));
}

/* Only if asked for by its full name. */
static bool looks_secret(hob_str name) {
    static const char *const words[] = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(words); i++)
        if (hob_str_find(name, hob_str_z(words[i])) >= 0) return true;
    return false;
}

/* `pattern` is a name, or ends in '*'. */
static bool matches(hob_str name, hob_str pattern) {
    if (pattern.n == 0 || pattern.p[pattern.n - 1] != '*') return hob_str_eq(name, pattern);
    return hob_str_starts(name, hob_str_first(pattern, pattern.n - 1)) && !looks_secret(name);
}

static bool passes(hob_str variable, const hob_str *more, size_t nmore) {
    ptrdiff_t equals = hob_str_chr(variable, '=');
    if (equals <= 0 || variable.n > MAX_VARIABLE) return false;
    hob_str name = hob_str_first(variable, (size_t)equals);
    if (is_forbidden(name)) return false;
    for (size_t i = 0; i < HOB_ARRAY_LEN(ALLOWED); i++)
        if (matches(name, hob_str_z(ALLOWED[i]))) return true;
    for (size_t i = 0; i < nmore; i++)
        if (matches(name, more[i])) return true;
    return false;
}

/* One block: the pointers, then the texts. */
static char **pack(const hob_str *variables, size_t n, size_t bytes) {
    char **out = hob_alloc((n + 1) * sizeof(char *) + bytes);
    char *to = (char *)(out + n + 1);
    for (size_t i = 0; i < n; i++) {
        out[i] = to;
        memcpy(to, variables[i].p, variables[i].n);
        to += variables[i].n + 1;
    }
    return out;
}

char **hob_tool_environment(const char *const *envp, const hob_str *more, size_t nmore) {
    size_t all = 0, n = 0, bytes = 0;
    bool path = false;
    while (envp && envp[all]) all++;
    hob_str *kept = hob_alloc((all + 1) * sizeof(hob_str));
    for (size_t i = 0; i < all; i++) {
        hob_str variable = hob_str_z(envp[i]);
        if (!passes(variable, more, nmore)) continue;
        path = path || hob_str_starts(variable, HOB_STR("PATH="));
        bytes += variable.n + 1;
        kept[n++] = variable;
    }
    if (!path) {
        kept[n++] = HOB_STR(DEFAULT_PATH);
        bytes += sizeof(DEFAULT_PATH);
    }
    char **out = pack(kept, n, bytes);
    hob_free(kept);
    return out;
}
