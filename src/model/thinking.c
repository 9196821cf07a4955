/*
 * thinking.c - hob's levels of thinking in the words of each provider.
 *
 * Models differ in how they are told, and their names are the only hint there is; a configuration may say it
 * per model ("thinking": "none" | "budget" | "adaptive" | "effort"). The default level says nothing at all.
 */
#include "model/encode.h"

static const char *const names[] = {
    [HOB_THINKING_DEFAULT] = "default", [HOB_THINKING_OFF] = "off",
    [HOB_THINKING_MINIMAL] = "minimal", [HOB_THINKING_LOW] = "low",
    [HOB_THINKING_MEDIUM] = "medium",   [HOB_THINKING_HIGH] = "high",
    [HOB_THINKING_XHIGH] = "xhigh",
};

int hob_thinking_from(hob_str word, hob_thinking *out) {
    for (size_t i = HOB_THINKING_OFF; i < HOB_ARRAY_LEN(names); i++) {
        if (hob_str_eqz(word, names[i])) {
            *out = (hob_thinking)i;
            return HOB_OK;
        }
    }
    return HOB_EINVAL;
}

const char *hob_thinking_name(hob_thinking t) {
    return (size_t)t < HOB_ARRAY_LEN(names) ? names[t] : "default";
}

/* ---- versions in names --------------------------------------------------------------------------------- */

/* major * 100 + minor of the first one or two short numbers behind `family`: claude-opus-4-6 -> 406,
 * claude-3-7-sonnet-20250219 -> 307, gpt-5.1-codex -> 501, gpt-5 -> 500; -1 if there is none. */
static int version_of(hob_str model, const char *family) {
    ptrdiff_t at = hob_str_find(model, hob_str_z(family));
    if (at < 0) return -1;
    hob_str rest = hob_str_skip(model, (size_t)at + strlen(family));
    int parts[2] = {-1, 0}, n = 0;
    size_t i = 0;
    while (i < rest.n && n < 2) {
        size_t start = i;
        while (i < rest.n && rest.p[i] >= '0' && rest.p[i] <= '9') i++;
        int64_t value;
        bool number = i > start && i - start <= 2 && (i == rest.n || strchr("-.:@", rest.p[i]));
        if (number && hob_str_int(hob_str_n(rest.p + start, i - start), &value) == HOB_OK)
            parts[n++] = (int)value;
        else if (n == 1)
            break; /* something else follows the major number */
        while (i < rest.n && !strchr("-.", rest.p[i])) i++;
        i++;
    }
    return parts[0] < 0 ? -1 : parts[0] * 100 + parts[1];
}

/* ---- Anthropic ------------------------------------------------------------------------------------------ */

static hob_thinking_style claude_style(hob_str model) {
    int version = version_of(model, "claude");
    if (version >= 406) return HOB_THINKS_ADAPTIVE;
    if (version >= 0 && version < 307) return HOB_THINKS_NOT;
    return HOB_THINKS_BUDGET;
}

static int64_t budget_of(hob_thinking level) {
    switch (level) {
    case HOB_THINKING_DEFAULT:
    case HOB_THINKING_OFF: return 0;
    case HOB_THINKING_MINIMAL: return 1024;
    case HOB_THINKING_LOW: return 2048;
    case HOB_THINKING_MEDIUM: return 8192;
    case HOB_THINKING_HIGH: return 16384;
    case HOB_THINKING_XHIGH: return 32768;
    }
    return 0;
}

static const char *claude_effort(hob_str model, hob_thinking level) {
    switch (level) {
    case HOB_THINKING_DEFAULT:
    case HOB_THINKING_OFF: return NULL;
    case HOB_THINKING_MINIMAL:
    case HOB_THINKING_LOW: return "low";
    case HOB_THINKING_MEDIUM: return "medium";
    case HOB_THINKING_HIGH: return "high";
    case HOB_THINKING_XHIGH: return version_of(model, "claude") > 406 ? "xhigh" : "high";
    }
    return NULL;
}

/* The budget is part of max_tokens, of which 1024 stay for the answer. A budget may not be asked for while the
 * answer whose calls are being replied to did not begin with thinking (it came from another model, or thinking
 * was switched on since): the provider refuses that. */
void hob_thinking_anthropic(hob_jsonw *w, const hob_model_request *rq, hob_thinking_style style,
                            bool thought_first) {
    if (style == HOB_THINKS_BY_NAME) style = claude_style(rq->model);
    const char *effort = claude_effort(rq->model, rq->thinking);
    int64_t budget = HOB_MIN(budget_of(rq->thinking), rq->max_output - 1024);
    if (!effort) return;
    if (style == HOB_THINKS_ADAPTIVE) {
        hob_jsonw_kraw(w, "thinking", HOB_STR("{\"type\":\"adaptive\"}"));
        hob_jsonw_key(w, "output_config");
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "effort", hob_str_z(effort));
        hob_jsonw_object_end(w);
    } else if (style == HOB_THINKS_BUDGET && budget >= 1024 && thought_first) {
        hob_jsonw_key(w, "thinking");
        hob_jsonw_object(w);
        hob_jsonw_kstr(w, "type", HOB_STR("enabled"));
        hob_jsonw_kint(w, "budget_tokens", budget);
        hob_jsonw_object_end(w);
    }
}

/* ---- OpenAI ----------------------------------------------------------------------------------------------- */

/* gpt-5 knows minimal, its successors none instead, and xhigh from 5.2 on; gpt-4 is not told; o-models know low to
 * high. Whatever else is named by a user who asks for a level is told the level's name. */
const char *hob_thinking_effort(hob_str model, hob_thinking_style style, hob_thinking level) {
    int gpt = version_of(model, "gpt");
    bool told = style != HOB_THINKS_NOT && (gpt < 0 || gpt >= 500 || style == HOB_THINKS_EFFORT);
    if (!told || hob_str_find(model, HOB_STR("gpt-4o")) >= 0) return NULL;
    switch (level) {
    case HOB_THINKING_DEFAULT: return NULL;
    case HOB_THINKING_OFF: return gpt > 500 ? "none" : gpt == 500 ? "minimal" : NULL;
    case HOB_THINKING_MINIMAL: return gpt == 500 ? "minimal" : "low";
    case HOB_THINKING_LOW:
    case HOB_THINKING_MEDIUM:
    case HOB_THINKING_HIGH: return hob_thinking_name(level);
    case HOB_THINKING_XHIGH: return gpt >= 502 ? "xhigh" : "high";
    }
    return NULL;
}
