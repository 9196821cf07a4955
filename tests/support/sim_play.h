/*
 * sim_play.h - outcomes for whatever a sim has under way, so that a workflow comes to its end by itself.
 *
 * What comes back is a function of the state, so that the same log is made again each time. An agent answers in its
 * first turn as its name says, and with its name in the next: t* calls `send`, `look` and `put`, s* sets state with
 * `keep`, q* escalates with `quit`, h* hands over with `hand` to the first of its agents, b* to its parent, every other
 * answers at once.
 */
#ifndef HOB_TESTS_SIM_PLAY_H
#define HOB_TESTS_SIM_PLAY_H

#include "support/sim.h"

/* ---- what one agent does; each must be said, and a fold of the log gives the state ---------------- */
void agent_says(sim *s, const char *agent, const char *text);   /* an answer without calls */
void agent_calls(sim *s, const char *agent, const char *calls); /* an answer of calls only */
/* The k-th call of its last answer ended well, asking for this; NULL = nothing. */
void agent_acts(sim *s, const char *agent, int k, const char *actions);
void agent_fails(sim *s, const char *agent, int code);
void agent_may(sim *s, const char *agent, int k,
               bool approved); /* the k-th call, after a question */

/* ---- playing --------------------------------------------------------------------------------------- */
typedef struct sim_effect {
    ptrdiff_t who; /* frame; -1 = the run itself */
    hob_effect_kind kind;
    char key[64], tool[32], arg[64];
    bool stop;
} sim_effect;

enum { SIM_EFFECTS_MAX = 256 };
/* Everything under way but timers. */
size_t sim_effects(sim *s, sim_effect out[SIM_EFFECTS_MAX]);
void sim_play(sim *s, const sim_effect *e); /* it ends as said above, or as one that was stopped */
bool sim_approve(sim *s, bool yes);         /* the first question that waits; false = none does */
int64_t sim_due(sim *s);                    /* the first timer; 0 = none */
void sim_play_out(sim *s);                  /* until everything has ended; fails if it cannot */

#endif
