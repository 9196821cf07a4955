#include "exec/git.h"

#include <stdio.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 8 << 20, FILTER_NAME_MAX = 1024 };

struct hob_git {
    hob_exec *exec;
    char *path;
    char *from[3]; /* variables of the environment that pass, or NULL */
    hob_job *job;
    hob_buf output;
    bool cut; /* there was more */
    hob_git_fn done;
    void *user;
    char *filters[HOB_GIT_FILTERS]; /* "filter.NAME" */
    size_t nfilters;
};

/* ---- finding it ---------------------------------------------------------------------------- */

static hob_str variable(const char *const *envp, const char *name) {
    size_t n = strlen(name);
    for (size_t i = 0; envp && envp[i]; i++)
        if (!strncmp(envp[i], name, n) && envp[i][n] == '=') return hob_str_z(envp[i] + n + 1);
    return HOB_STR_NULL;
}

static bool is_beneath(hob_str path, hob_str folder) {
    return folder.n && hob_str_starts(path, folder) &&
           (path.n == folder.n || path.p[folder.n] == '/');
}

static char *find(const char *const *envp, hob_str avoid) {
    hob_str rest = variable(envp, "PATH"), part;
    char *found = NULL;
    hob_buf path;
    hob_buf_init(&path, 4096);
    while (!found && hob_str_split(&rest, ':', &part)) {
        if (!part.n || part.p[0] != '/' || is_beneath(part, avoid)) continue;
        hob_buf_reset(&path);
        hob_buf_addf(&path, "%.*s/git", HOB_FMT(part));
        if (!path.err && access(hob_buf_z(&path), X_OK) == 0) found = hob_dupz(hob_buf_str(&path));
    }
    hob_buf_finish(&path);
    return found;
}

/* The user's own settings count: they say whose repositories may be touched. */
static void keep_variables(hob_git *g, const char *const *envp) {
    static const char *const passing[] = {"PATH", "HOME", "XDG_CONFIG_HOME"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(passing); i++) {
        hob_str value = variable(envp, passing[i]);
        hob_buf b;
        if (!value.n) continue;
        hob_buf_init(&b, 64 * 1024);
        hob_buf_addf(&b, "%s=%.*s", passing[i], HOB_FMT(value));
        if (!b.err) g->from[i] = hob_dupz(hob_buf_str(&b));
        hob_buf_finish(&b);
    }
}

int hob_git_create(hob_exec *x, const char *const *envp, hob_str avoid, hob_git **out,
                   hob_error *err) {
    char *path = find(envp, avoid);
    if (!path)
        return hob_fail(err, HOB_ENOENT, 0,
                        "git is needed and not installed: no folder of PATH has it");
    hob_git *g = HOB_NEW(hob_git);
    g->exec = x;
    g->path = path;
    keep_variables(g, envp);
    hob_buf_init(&g->output, HOB_GIT_OUTPUT);
    *out = g;
    return HOB_OK;
}

void hob_git_stop(hob_git *g) {
    hob_job_destroy(g->job);
    g->job = NULL;
    hob_buf_reset(&g->output);
}

void hob_git_destroy(hob_git *g) {
    if (!g) return;
    hob_git_stop(g);
    hob_buf_finish(&g->output);
    for (size_t i = 0; i < HOB_ARRAY_LEN(g->from); i++) hob_free(g->from[i]);
    for (size_t i = 0; i < g->nfilters; i++) hob_free(g->filters[i]);
    hob_free(g->path);
    hob_free(g);
}

/* ---- filters ------------------------------------------------------------------------------- */

static int refuse_filter(hob_git *g, hob_str key, hob_error *err) {
    while (key.n && key.p[key.n - 1] != '.') key.n--;
    hob_str name = hob_str_first(key, key.n ? key.n - 1 : 0);
    for (size_t i = 0; i < g->nfilters; i++)
        if (hob_str_eqz(name, g->filters[i])) return HOB_OK;
    if (g->nfilters == HOB_GIT_FILTERS || name.n > FILTER_NAME_MAX)
        return hob_fail(err, HOB_ETOOBIG, 0,
                        "the repository's configuration has over %d filters, or one with a name of "
                        "over %d bytes",
                        HOB_GIT_FILTERS, FILTER_NAME_MAX);
    g->filters[g->nfilters++] = hob_dupz(name);
    return HOB_OK;
}

int hob_git_refuse_filters(hob_git *g, hob_str answer, hob_error *err) {
    hob_str part;
    int rc = HOB_OK;
    while (rc >= 0 && hob_str_split(&answer, '\0', &part)) {
        hob_str line = part; /* a warning may stand before it; a key has no line break */
        while (hob_str_split(&part, '\n', &line)) {
        }
        if (hob_str_starts(line, HOB_STR("filter."))) rc = refuse_filter(g, line, err);
    }
    return rc;
}

/* ---- the environment ----------------------------------------------------------------------- */

static const char *const fixed[] = {
    "LC_ALL=C",
    "GIT_TERMINAL_PROMPT=0",
    "GIT_OPTIONAL_LOCKS=0",
    "GIT_PAGER=cat",
    "GIT_EDITOR=false",
    "GIT_ALLOW_PROTOCOL=none", /* objects that a repository left elsewhere are not fetched */
    "GIT_NO_LAZY_FETCH=1",
};

static const struct {
    const char *key, *value;
} settings[] = {
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.pager", "cat"},
    {"core.ignoreStat", "false"}, /* or changes would not be seen */
    {"core.sshCommand", "false"},
    {"core.askPass", "false"},
    {"credential.helper", ""},
    {"submodule.recurse", "false"},
    {"branch.autoSetupMerge", "false"},
    {"safe.bareRepository", "explicit"},
    {"gc.auto", "0"},
    {"maintenance.auto", "false"},
};

typedef struct list {
    hob_arena *arena;
    const char **at;
    size_t n;
    int settings;
} list;

static void put(list *l, const char *name, const char *value) {
    hob_buf b;
    hob_buf_init(&b, 64 * 1024);
    hob_buf_addf(&b, "%s=%s", name, value);
    l->at[l->n++] = hob_arena_dup(l->arena, hob_buf_str(&b)).p;
    hob_buf_finish(&b);
}

static void put_setting(list *l, const char *key, const char *value) {
    char name[48];
    snprintf(name, sizeof name, "GIT_CONFIG_KEY_%d", l->settings);
    put(l, name, key);
    snprintf(name, sizeof name, "GIT_CONFIG_VALUE_%d", l->settings++);
    put(l, name, value);
}

static void put_filter(list *l, const char *filter) {
    static const char *const programs[] = {"clean", "smudge", "process"};
    hob_buf key;
    hob_buf_init(&key, 32 * 1024);
    for (size_t i = 0; i < HOB_ARRAY_LEN(programs) + 1; i++) {
        bool last = i == HOB_ARRAY_LEN(programs);
        hob_buf_reset(&key);
        hob_buf_addf(&key, "%s.%s", filter, last ? "required" : programs[i]);
        put_setting(l, hob_buf_z(&key), last ? "false" : "");
    }
    hob_buf_finish(&key);
}

static const char *const *environment(const hob_git *g, const hob_git_call *c, hob_arena *a) {
    size_t room = HOB_ARRAY_LEN(g->from) + HOB_ARRAY_LEN(fixed) + 2 * HOB_ARRAY_LEN(settings) +
                  8 * g->nfilters + 4;
    list l = {.arena = a, .at = hob_arena_alloc(a, room * sizeof(char *))};
    char count[24];
    for (size_t i = 0; i < HOB_ARRAY_LEN(g->from); i++)
        if (g->from[i]) l.at[l.n++] = g->from[i];
    for (size_t i = 0; i < HOB_ARRAY_LEN(fixed); i++) l.at[l.n++] = fixed[i];
    if (c->git_dir) put(&l, "GIT_DIR", c->git_dir);
    if (c->work_tree) put(&l, "GIT_WORK_TREE", c->work_tree);
    for (size_t i = 0; i < HOB_ARRAY_LEN(settings); i++)
        put_setting(&l, settings[i].key, settings[i].value);
    for (size_t i = 0; i < g->nfilters; i++) put_filter(&l, g->filters[i]);
    snprintf(count, sizeof count, "%d", l.settings);
    put(&l, "GIT_CONFIG_COUNT", count);
    return l.at;
}

/* ---- running ------------------------------------------------------------------------------- */

static void on_output(void *user, hob_str chunk) {
    hob_git *g = user;
    size_t room = HOB_GIT_OUTPUT - g->output.n;
    g->cut = g->cut || chunk.n > room;
    hob_buf_add(&g->output, hob_str_first(chunk, room));
}

static int status_of(const hob_git *g, const hob_job_result *r, hob_error *err) {
    switch (r->end) {
    case HOB_JOB_EXITED:
        if (!g->cut || r->status) return r->status;
        return hob_fail(err, HOB_ETOOBIG, 0, "git said more than %d KiB", HOB_GIT_OUTPUT >> 10);
    case HOB_JOB_TIMED_OUT: return hob_fail(err, HOB_ETIMEDOUT, 0, "git did not end in time");
    case HOB_JOB_CANCELLED: return hob_fail(err, HOB_ECANCELLED, 0, "git was stopped");
    case HOB_JOB_FAILED: *err = r->error; return r->error.code;
    }
    return HOB_EIO;
}

static void on_ended(void *user, const hob_job_result *r) {
    hob_git *g = user;
    hob_error err = {.code = HOB_OK};
    int status = status_of(g, r, &err);
    hob_buf output = g->output; /* the next command has its own */
    hob_buf_init(&g->output, HOB_GIT_OUTPUT);
    hob_job_destroy(g->job);
    g->job = NULL;
    g->done(g->user, status, hob_buf_str(&output), &err);
    hob_buf_finish(&output);
}

int hob_git_run(hob_git *g, const hob_git_call *c, hob_git_fn done, void *user, hob_error *err) {
    static const hob_job_handler handler = {on_output, on_ended};
    hob_arena *a = hob_arena_create(ENVIRONMENT_MAX);
    size_t n = 0;
    while (c->args[n]) n++;
    const char **argv = hob_arena_alloc(a, (n + 2) * sizeof *argv);
    argv[0] = c->program ? c->program : g->path;
    memcpy(argv + 1, c->args, n * sizeof *argv);
    hob_job_opts o = {
        .argv = argv, .envp = environment(g, c, a), .cwd = c->cwd, .timeout_ms = c->timeout_ms};
    g->cut = false;
    g->done = done;
    g->user = user;
    int rc = hob_job_start(g->exec, &o, &handler, g, &g->job, err);
    hob_arena_destroy(a);
    return rc;
}
