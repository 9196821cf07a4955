/*
 * bench/team.c - agents that work together in one session: what one of them costs, beside a prompt of a session with one
 * agent, and its memory while it is at work. Scripted model, memory store: no disk and no network.
 */
#include "rig.h"
#include "table.h"

#include <hob/hob.h>

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROUNDS 5
#define PROMPTS 200
#define SIDE_BY_SIDE 100

typedef struct bench_team {
    hob_runtime *rt;
    char answers[320], waits[320]; /* models */
} bench_team;

static double rss_kb(void) {
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%*s %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static double cpu_us(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static bool said(int rc, const hob_error *err) {
    if (rc < 0) fprintf(stderr, "bench/team: %s\n", err->message);
    return rc >= 0;
}

/* ---- agents ---------------------------------------------------------------------------------------- */

static void answer(const hob_agent_call *call, hob_reply *reply, void *user) {
    (void)call, (void)user;
    hob_reply_text(reply, HOB_OUTCOME_OK, HOB_STR("done"));
}

static hob_agent *make(hob_agent_opts *o, hob_agent **agents, size_t n) {
    hob_agent *a = NULL;
    hob_error err;
    o->agents = agents;
    o->nagents = n;
    if (!said(hob_agent_create(o, &a, &err), &err)) return NULL;
    for (size_t i = 0; i < n; i++) hob_agent_unref(agents[i]);
    return a;
}

static hob_agent *rounds(hob_agent_kind kind, int n) {
    hob_agent_opts one = HOB_AGENT_OPTS_INIT, loop = HOB_AGENT_OPTS_INIT;
    one.name = "one";
    one.kind = kind;
    one.instruction = kind == HOB_AGENT_LLM ? "Answer." : NULL;
    one.run = kind == HOB_AGENT_CUSTOM ? answer : NULL;
    loop.name = "rounds";
    loop.kind = HOB_AGENT_LOOP;
    loop.max_iterations = n;
    hob_agent *a = make(&one, NULL, 0);
    return make(&loop, &a, 1);
}

static hob_agent *side_by_side(void) {
    hob_agent_opts all = HOB_AGENT_OPTS_INIT;
    hob_agent *agents[SIDE_BY_SIDE];
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        hob_agent_opts one = HOB_AGENT_OPTS_INIT;
        char name[24];
        snprintf(name, sizeof(name), "a%zu", i);
        one.name = name;
        one.instruction = "Answer.";
        agents[i] = make(&one, NULL, 0);
    }
    all.name = "all";
    all.kind = HOB_AGENT_PARALLEL;
    return make(&all, agents, SIDE_BY_SIDE);
}

static hob_session *open_with(bench_team *b, hob_agent *team, const char *model) {
    hob_session_opts o = HOB_SESSION_OPTS_INIT;
    hob_session *s = NULL;
    hob_error err;
    o.model = model;
    o.team = team;
    o.system_prompt = "Answer.";
    if (!said(hob_session_create(b->rt, &o, &s, &err), &err)) s = NULL;
    hob_agent_unref(team);
    return s;
}

/* ---- measuring --------------------------------------------------------------------------------------- */

/* CPU of `prompts` prompts, each of which starts `agents` agents, by the number of agents. */
static bool time_agents(bench_team *b, hob_agent *team, int prompts, int agents,
                        bench_samples *out) {
    hob_error err;
    hob_session *s = open_with(b, team, b->answers);
    bool ok = s != NULL;
    double start = cpu_us();
    for (int i = 0; ok && i < prompts; i++)
        ok = said(hob_session_prompt_and_wait(s, HOB_STR("go"), 60000, NULL, &err), &err);
    bench_add(out, (cpu_us() - start) / prompts / agents);
    if (s) hob_session_close(s);
    return ok;
}

static void measure_start(bench_team *b) {
    bench_samples prompt = {0}, llm = {0}, custom = {0}, many = {0};
    bool ok = true;
    for (int i = 0; ok && i < ROUNDS; i++) {
        ok = time_agents(b, NULL, PROMPTS, 1, &prompt) &&
             time_agents(b, rounds(HOB_AGENT_LLM, PROMPTS), 1, PROMPTS, &llm) &&
             time_agents(b, rounds(HOB_AGENT_CUSTOM, PROMPTS), 1, PROMPTS, &custom) &&
             time_agents(b, side_by_side(), 1, SIDE_BY_SIDE, &many);
    }
    if (!ok) {
        bench_failed("team.agent", "a run failed");
        return;
    }
    bench_row((bench_line){.name = "team.agent",
                           .samples = &llm,
                           .unit = "us",
                           .max = 150,
                           .floor_of = &prompt,
                           .note = "of a loop of 200; floor: a prompt"});
    bench_row((bench_line){.name = "team.function", .samples = &custom, .unit = "us", .max = 100});
    bench_row((bench_line){.name = "team.parallel",
                           .samples = &many,
                           .unit = "us",
                           .max = 500,
                           .floor_of = &prompt,
                           .note = "each of 100 side by side"});
}

static void measure_memory(bench_team *b) {
    hob_error err;
    hob_session *s = open_with(b, side_by_side(), b->waits);
    double before = rss_kb();
    bool ok = s && said(hob_session_prompt(s, HOB_STR("go"), &err), &err);
    hob_event *e = NULL;
    for (int open = 0; ok && open < SIDE_BY_SIDE;) { /* until all have begun to answer */
        ok = hob_session_next_event(s, 60000, &e) == 1;
        if (ok) open += hob_event_type_of(e) == HOB_EVENT_MESSAGE_OPEN;
        if (ok) hob_event_unref(e);
    }
    if (ok)
        bench_row((bench_line){.name = "team.memory",
                               .value = (rss_kb() - before) / SIDE_BY_SIDE,
                               .unit = "KB",
                               .max = 32,
                               .note = "of an agent at work, 100 side by side"});
    else
        bench_failed("team.memory", "the agents did not begin");
    if (s) hob_session_close(s);
}

/* ---- the rig ------------------------------------------------------------------------------------------- */

static bool write_script(const bench_rig *r, const char *name, const char *text, char *model,
                         size_t size) {
    FILE *f = fopen(bench_rig_path(r, name), "we");
    if (!f) return false;
    fputs(text, f);
    fclose(f);
    snprintf(model, size, "scripted:%s", bench_rig_path(r, name));
    return true;
}

static bool team_init(bench_team *b, const bench_rig *r) {
    hob_runtime_opts o = HOB_RUNTIME_OPTS_INIT;
    hob_error err;
    o.store = "memory";
    o.libexec_dir = HOB_BINARY_DIR;
    return write_script(r, "answers.json", "{\"otherwise\": [{\"text\": \"Hello, Ada!\"}]}\n",
                        b->answers, sizeof(b->answers)) &&
           write_script(r, "waits.json",
                        "{\"otherwise\": [{\"text\": \"Hello, \"}, {\"wait\": true}]}\n", b->waits,
                        sizeof(b->waits)) &&
           said(hob_runtime_create(&o, &b->rt, &err), &err);
}

int main(int argc, char **argv) {
    bench_rig r;
    bench_team b = {0};
    bench_table_init(argc, argv);
    bench_rig_init(&r);
    if (team_init(&b, &r)) {
        measure_memory(&b);
        measure_start(&b);
        hob_runtime_destroy(b.rt);
    } else {
        bench_failed("team.agent", "no runtime");
    }
    bench_rig_finish(&r);
    return bench_table_finish();
}
