/* Runs the live cases on hob and prints what was observed, one JSON object a line: the counterpart of adk.mjs. */
#include "observe.h"

#include <stdio.h>

static void run(const case_row *rows, const char *wanted) {
    static const char *const stores[] = {"memory", "sqlite"};
    for (; rows->name; rows++) {
        if (wanted && strcmp(wanted, rows->name) != 0) continue;
        for (size_t i = 0; i < (rows->stores ? 2 : 1); i++) {
            observe_case(rows->name, rows->stores ? stores[i] : NULL);
            rows->run();
        }
    }
}

int main(int argc, char **argv) {
    const case_row *const all[] = {store_cases, contents_cases, agent_cases, run_cases};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < HOB_ARRAY_LEN(all); i++) run(all[i], argc > 1 ? argv[1] : NULL);
    return 0;
}
