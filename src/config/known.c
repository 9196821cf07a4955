/*
 * known.c - the table of settings, and the defaults.
 */
#include "config/known.h"

static const char *const THINKING[] = {"off", "minimal", "low", "medium", "high", "xhigh", NULL};
static const char *const COLORS[] = {"auto", "always", "never", NULL};
static const char *const MODES[] = {"ask", "accept-edits", "plan", "yolo", NULL};
static const char *const LEVELS[] = {"auto", "full", "landlock", "off", NULL};
static const char *const APIS[] = {"openai-chat", "openai-responses", "anthropic", "gemini",
                                   "ollama",      "scripted",         NULL};

static const char *const THINKS[] = {"none", "budget", "adaptive", "effort", NULL};
static const char *const LIMITS[] = {"max_completion_tokens", "max_tokens", NULL};

#define ANY HOB_KNOWN_ANY
#define DAY 86400.0
#define SECRET HOB_KNOWN_SECRET
#define VARIABLE HOB_KNOWN_VARIABLE
#define NULLABLE HOB_KNOWN_NULLABLE
#define CONCAT HOB_KNOWN_CONCAT

static const hob_known table[] = {
    {"model", HOB_KIND_NAME, HOB_BOUND_MODEL, 0, NULL, 0, 0},
    {"thinking", HOB_KIND_WORD, HOB_BOUND_NONE, 0, THINKING, 0, 0},
    {"store", HOB_KIND_STORE, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"color", HOB_KIND_WORD, HOB_BOUND_NONE, 0, COLORS, 0, 0},

    {"providers.*.api", HOB_KIND_WORD, HOB_BOUND_NONE, 0, APIS, 0, 0},
    {"providers.*.base_url", HOB_KIND_URL, HOB_BOUND_NONE, VARIABLE, NULL, 0, 0},
    {"providers.*.api_key", HOB_KIND_NAME, HOB_BOUND_NONE, SECRET | VARIABLE, NULL, 0, 0},
    {"providers.*.api_key_cmd", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"providers.*.script", HOB_KIND_NAME, HOB_BOUND_NONE, VARIABLE, NULL, 0, 0},
    {"providers.*.headers.*", HOB_KIND_NAME, HOB_BOUND_NONE, SECRET | VARIABLE, NULL, 0, 0},
    {"providers.*.max_tokens_field", HOB_KIND_WORD, HOB_BOUND_NONE, 0, LIMITS, 0, 0},
    {"providers.*.models.*.thinking", HOB_KIND_WORD, HOB_BOUND_NONE, 0, THINKS, 0, 0},
    {"providers.*.models.*.echo_reasoning", HOB_KIND_BOOL, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"providers.*.models.*.context", HOB_KIND_INT, HOB_BOUND_NONE, 0, NULL, 1, ANY},
    {"providers.*.models.*.output", HOB_KIND_INT, HOB_BOUND_NONE, 0, NULL, 1, ANY},
    {"providers.*.models.*.images", HOB_KIND_BOOL, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"providers.*.models.*.cost", HOB_KIND_NULL, HOB_BOUND_NONE, NULLABLE, NULL, 0, 0},
    {"providers.*.models.*.cost.input", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0, ANY},
    {"providers.*.models.*.cost.output", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0, ANY},
    {"providers.*.models.*.cost.cache_read", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0, ANY},
    {"providers.*.models.*.cost.cache_write", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0, ANY},

    {"permissions.mode", HOB_KIND_WORD, HOB_BOUND_MODE, 0, MODES, 0, 0},
    {"permissions.allow", HOB_KIND_STRINGS, HOB_BOUND_GRANTS, CONCAT, NULL, 0, 0},
    {"permissions.ask", HOB_KIND_STRINGS, HOB_BOUND_RULES, CONCAT, NULL, 0, 0},
    {"permissions.deny", HOB_KIND_STRINGS, HOB_BOUND_RULES, CONCAT, NULL, 0, 0},
    {"sandbox.level", HOB_KIND_WORD, HOB_BOUND_LEVEL, 0, LEVELS, 0, 0},
    {"sandbox.network", HOB_KIND_BOOL, HOB_BOUND_FALSE, 0, NULL, 0, 0},
    {"sandbox.write", HOB_KIND_STRINGS, HOB_BOUND_PATHS, 0, NULL, 0, 0},
    {"sandbox.read", HOB_KIND_STRINGS, HOB_BOUND_PATHS, 0, NULL, 0, 0},
    /* Never 0: to those who keep these limits 0 is "none", the opposite of the strictest. */
    {"budget.tokens", HOB_KIND_INT, HOB_BOUND_LOWER, NULLABLE, NULL, 1, ANY},
    {"budget.cost_usd", HOB_KIND_NUMBER, HOB_BOUND_LOWER, NULLABLE, NULL, 1e-6, ANY},
    {"budget.seconds", HOB_KIND_NUMBER, HOB_BOUND_LOWER, NULLABLE, NULL, 0.001, ANY},
    {"budget.tool_calls", HOB_KIND_INT, HOB_BOUND_LOWER, NULLABLE, NULL, 1, ANY},
    {"budget.turns", HOB_KIND_INT, HOB_BOUND_LOWER, NULLABLE, NULL, 1, ANY},
    {"budget.depth", HOB_KIND_INT, HOB_BOUND_LOWER, 0, NULL, 0, 64},
    {"budget.children", HOB_KIND_INT, HOB_BOUND_LOWER, 0, NULL, 0, 1000},
    {"budget.descendants", HOB_KIND_INT, HOB_BOUND_LOWER, 0, NULL, 0, 4096},

    {"retry.attempts", HOB_KIND_INT, HOB_BOUND_NONE, 0, NULL, 0, 100},
    {"retry.cap_s", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0, DAY},
    {"timeouts.connect_s", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0.001, DAY},
    {"timeouts.idle_s", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0.001, DAY},
    {"tools.timeout_s", HOB_KIND_NUMBER, HOB_BOUND_NONE, 0, NULL, 0.001, DAY},
    {"tools.output_bytes", HOB_KIND_INT, HOB_BOUND_NONE, 0, NULL, 1024, 16 << 20},
    {"context.max_bytes", HOB_KIND_INT, HOB_BOUND_NONE, 0, NULL, 0, 1 << 20},
    {"memory.enabled", HOB_KIND_BOOL, HOB_BOUND_FALSE, 0, NULL, 0, 0},
    {"memory.max_items", HOB_KIND_INT, HOB_BOUND_NONE, 0, NULL, 1, 1000000},
    {"memory.file", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},

    {"net.https_proxy", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"net.http_proxy", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"net.all_proxy", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"net.no_proxy", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"net.ca_file", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"telemetry.endpoint", HOB_KIND_URL, HOB_BOUND_NONE, VARIABLE, NULL, 0, 0},
    {"telemetry.traces_endpoint", HOB_KIND_URL, HOB_BOUND_NONE, VARIABLE, NULL, 0, 0},
    {"telemetry.headers", HOB_KIND_NAME, HOB_BOUND_NONE, SECRET | VARIABLE, NULL, 0, 0},
    {"telemetry.exporter", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"telemetry.service", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"telemetry.resource", HOB_KIND_NAME, HOB_BOUND_NONE, 0, NULL, 0, 0},
    {"server.token", HOB_KIND_NAME, HOB_BOUND_NONE, SECRET, NULL, 0, 0},

    {"mcp_servers.*", HOB_KIND_OBJECT, HOB_BOUND_TRUST, 0, NULL, 0, 0},
    {"agents.*", HOB_KIND_OBJECT, HOB_BOUND_TRUST, 0, NULL, 0, 0},
    {"hooks", HOB_KIND_OBJECTS, HOB_BOUND_TRUST, CONCAT, NULL, 0, 0},
    {"lanes.*", HOB_KIND_OBJECT, HOB_BOUND_NONE, 0, NULL, 0, 0},
};

const char hob_builtin_settings[] =
    "{\"store\": \"sqlite\", \"color\": \"auto\","
    " \"permissions\": {\"mode\": \"ask\", \"allow\": [], \"ask\": [], \"deny\": []},"
    " \"sandbox\": {\"level\": \"auto\", \"network\": false, \"write\": [\".\"], \"read\": []},"
    " \"retry\": {\"attempts\": 5, \"cap_s\": 60},"
    " \"timeouts\": {\"connect_s\": 15, \"idle_s\": 90},"
    " \"tools\": {\"timeout_s\": 120, \"output_bytes\": 65536},"
    " \"context\": {\"max_bytes\": 32768},"
    " \"memory\": {\"enabled\": true, \"max_items\": 10000},"
    " \"providers\": {"
    "  \"anthropic\": {\"api\": \"anthropic\", \"base_url\": \"https://api.anthropic.com\"},"
    "  \"openai\": {\"api\": \"openai-chat\", \"base_url\": \"https://api.openai.com/v1\"},"
    "  \"openrouter\": {\"api\": \"openai-chat\", \"base_url\": \"https://openrouter.ai/api/v1\"},"
    "  \"gemini\": {\"api\": \"gemini\","
    "   \"base_url\": \"https://generativelanguage.googleapis.com\"},"
    "  \"ollama\": {\"api\": \"ollama\", \"base_url\": \"http://127.0.0.1:11434\"}}}";

/* Takes a key off the row's path if it fits. */
static bool take_key(const char **row, hob_str key) {
    size_t n = strcspn(*row, ".");
    bool any = **row == '*';
    if (!any && (n != key.n || memcmp(*row, key.p, n) != 0)) return false;
    *row += (*row)[n] ? n + 1 : n;
    return true;
}

/* All keys of p fit the start of the row's path; then *row_keys is the length of that path. */
static bool starts_row(const char *row, const hob_path *p, size_t *row_keys) {
    size_t n = 0;
    for (; n < p->n; n++) {
        if (!*row || !take_key(&row, p->keys[n])) return false;
    }
    for (; *row; row++) n += row[1] == '.' || !row[1]; /* one for each key left */
    *row_keys = n;
    return true;
}

const hob_known *hob_known_at(size_t i) {
    return i < HOB_ARRAY_LEN(table) ? &table[i] : NULL;
}

const hob_known *hob_known_find(const hob_path *p) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(table); i++) {
        size_t keys;
        if (starts_row(table[i].path, p, &keys) && keys == p->n) return &table[i];
    }
    return NULL;
}

bool hob_known_inside(const hob_path *p) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(table); i++) {
        size_t keys;
        if (starts_row(table[i].path, p, &keys) && keys > p->n) return true;
    }
    return false;
}

bool hob_known_open(const hob_path *p) {
    for (size_t i = 0; i < HOB_ARRAY_LEN(table); i++) {
        size_t keys;
        bool below = starts_row(table[i].path, p, &keys);
        if (below && table[i].bound != HOB_BOUND_NONE) return true;
    }
    return false;
}

bool hob_known_guarded(const hob_path *p) {
    static const char *const sections[] = {"permissions", "sandbox", "budget"};
    for (size_t i = 0; i < HOB_ARRAY_LEN(sections); i++) {
        if (p->n > 1 && hob_str_eqz(p->keys[0], sections[i])) return true;
    }
    return false;
}

const char *hob_known_nearest(const hob_path *p) {
    static const char *const ends[] = {"model",       "thinking",    "store",  "color", "providers",
                                       "permissions", "sandbox",     "budget", "retry", "timeouts",
                                       "tools",       "context",     "memory", "net",   "server",
                                       "agents",      "mcp_servers", "hooks",  "lanes", "policy"};
    if (p->n == 1) return hob_str_nearest(p->keys[0], ends, HOB_ARRAY_LEN(ends));
    hob_path parent = *p;
    parent.n--;
    const char *names[HOB_ARRAY_LEN(table)];
    size_t n = 0;
    for (size_t i = 0; i < HOB_ARRAY_LEN(table); i++) {
        size_t keys;
        if (starts_row(table[i].path, &parent, &keys) && keys == p->n)
            names[n++] = strrchr(table[i].path, '.') + 1;
    }
    return hob_str_nearest(p->keys[p->n - 1], names, n);
}
