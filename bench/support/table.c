#include "table.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    bool json;
    bool missed;
} table;

void bench_add(bench_samples *s, double v) {
    if (s->n < BENCH_SAMPLES) s->v[s->n++] = v;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const bench_samples *s) {
    if (!s->n) return 0;
    bench_samples sorted = *s;
    qsort(sorted.v, sorted.n, sizeof(sorted.v[0]), by_value);
    size_t half = sorted.n / 2;
    return sorted.n % 2 ? sorted.v[half] : (sorted.v[half - 1] + sorted.v[half]) / 2;
}

double bench_min(const bench_samples *s) {
    double best = s->n ? s->v[0] : 0;
    for (size_t i = 1; i < s->n; i++) best = HOB_MIN(best, s->v[i]);
    return best;
}

void bench_table_init(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json")) table.json = true;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (table.json || getenv("HOB_BENCH_NO_HEAD")) return;
    printf("%-32s %10s %10s %-6s %-9s %-5s %10s\n", "name", "value", "best", "unit", "promise", "",
           "floor");
}

/* Three digits that say something. */
static const char *figure(double v, char out[32]) {
    double size = v < 0 ? -v : v;
    int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    snprintf(out, 32, "%.*f", digits, v);
    return out;
}

static const char *promise(const bench_line *l, char out[32]) {
    snprintf(out, 32, "-");
    if (l->max > 0) snprintf(out, 32, "<=%.3g", l->max);
    if (l->min > 0) snprintf(out, 32, ">=%.6g", l->min);
    return out;
}

static const char *verdict(const bench_line *l, double value) {
    if (l->max <= 0 && l->min <= 0) return "-";
    return (l->max <= 0 || value <= l->max) && (l->min <= 0 || value >= l->min) ? "ok" : "MISS";
}

static void number(hob_jsonw *w, const char *key, double v, bool known) {
    hob_jsonw_key(w, key);
    known ? hob_jsonw_double(w, v) : hob_jsonw_null(w);
}

static void print_json(const bench_line *l, double value, double floor) {
    hob_buf b;
    hob_jsonw w;
    char text[32];
    hob_buf_init(&b, 4096);
    hob_jsonw_init(&w, &b);
    hob_jsonw_object(&w);
    hob_jsonw_kstr(&w, "name", hob_str_z(l->name));
    number(&w, "value", value, true);
    number(&w, "best", l->samples ? bench_min(l->samples) : value, true);
    hob_jsonw_kstr(&w, "unit", hob_str_z(l->unit));
    hob_jsonw_kstr(&w, "promise", hob_str_z(promise(l, text)));
    hob_jsonw_kstr(&w, "verdict", hob_str_z(verdict(l, value)));
    number(&w, "floor", floor, floor > 0);
    hob_jsonw_kstr_opt(&w, "note", hob_str_z(l->note));
    hob_jsonw_object_end(&w);
    printf("%.*s\n", HOB_FMT(hob_buf_str(&b)));
    hob_buf_finish(&b);
}

static void print_text(const bench_line *l, double value, double floor) {
    char v[32], best[32] = "-", f[32] = "-", wanted[32];
    if (l->samples) figure(bench_min(l->samples), best);
    if (floor > 0) figure(floor, f);
    printf("%-32s %10s %10s %-6s %-9s %-5s %10s%s%s\n", l->name, figure(value, v), best, l->unit,
           promise(l, wanted), verdict(l, value), f, l->note ? "  " : "", l->note ? l->note : "");
}

void bench_row(bench_line l) {
    double value = l.samples ? bench_median(l.samples) : l.value;
    double floor = l.floor_of ? bench_median(l.floor_of) : l.floor;
    if (!strcmp(verdict(&l, value), "MISS")) table.missed = true;
    table.json ? print_json(&l, value, floor) : print_text(&l, value, floor);
}

void bench_failed(const char *name, const char *why) {
    table.missed = true;
    if (!table.json) {
        printf("%-32s %10s %10s %-6s %-9s %-5s %10s  %s\n", name, "-", "-", "-", "-", "MISS", "-",
               why);
        return;
    }
    hob_buf b;
    hob_buf_init(&b, 4096);
    hob_json_quote(&b, hob_str_z(why));
    printf("{\"name\":\"%s\",\"value\":null,\"verdict\":\"MISS\",\"note\":%.*s}\n", name,
           HOB_FMT(hob_buf_str(&b)));
    hob_buf_finish(&b);
}

int bench_table_finish(void) {
    const char *strict = getenv("HOB_BENCH_STRICT");
    return table.missed && strict && !strcmp(strict, "1") ? 1 : 0;
}
