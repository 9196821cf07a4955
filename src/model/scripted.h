/*
 * scripted.h - the parts of the scripted model (docs/scripted-model.md).
 *
 *   scripted_read.c   a script's JSON, checked once: positions, keys, numbers; rules in their order
 *   scripted_when.c   conditions: reading them and holding them against a request
 *   scripted_reply.c  reply steps: reading them
 *   scripted_error.c  the step "error"
 *   scripted_text.c   texts with {{templates}}
 *   scripted_view.c   what a script can know of a request
 *   scripted_play.c   a cursor in a reply: writes the answer move by move
 *   scripted.c        the provider: moves the cursor from the loop
 *
 * The one rule: what is answered follows from the request alone. Nothing is counted in the provider, so that
 * a session that was killed and resumed goes on exactly where an undisturbed one would be.
 */
#ifndef HOB_SRC_SCRIPTED_H
#define HOB_SRC_SCRIPTED_H

#include "model/model.h"

#define HOB_SCRIPT_MAX (16u << 20)       /* bytes of a script */
#define HOB_SCRIPT_MEMORY (256u << 20)   /* bytes of a script and all made of it */
#define HOB_SCRIPT_DEPTH_MAX 64          /* of its JSON: no deeper than what an answer may hold */
#define HOB_SCRIPT_STEPS_MAX 1000000     /* steps of a reply, repeats counted out */
#define HOB_SCRIPT_REPLY_MAX (64u << 20) /* bytes of a reply's own text, repeats counted out */
#define HOB_SCRIPT_NESTING_MAX 4         /* repeats within repeats */
#define HOB_SCRIPT_DELAY_MAX 3600000     /* ms */
#define HOB_SCRIPT_CHUNK 16              /* bytes of a chunk unless said */

/* ---- scripted_view.c ------------------------------------------------------------------------ */
/* Slices borrow from the request, its history and the arena. */
typedef struct hob_script_view {
    hob_str user; /* text of the last user message */
    hob_str rest; /* of it, what follows the words that a rule asked for */
    hob_str system, model, session, thinking;
    const hob_json *tools; /* as offered */
    hob_str tool, result;  /* the last tool result since that message */
    bool has_result, failed;
    int64_t step, turn, messages, attempt;
    int64_t bytes; /* of the whole request, for the estimate of its tokens */
} hob_script_view;
int hob_script_view_init(hob_script_view *v, const hob_model_request *rq, hob_arena *a,
                         hob_error *err);
/* One line that says which request it was, for errors. */
void hob_script_view_describe(const hob_script_view *v, hob_buf *out);

/* ---- scripted_text.c ------------------------------------------------------------------------ */
typedef enum hob_script_var {
    HOB_SCRIPT_LITERAL,
    HOB_SCRIPT_USER,
    HOB_SCRIPT_REST,
    HOB_SCRIPT_RESULT,
    HOB_SCRIPT_TOOL,
    HOB_SCRIPT_MODEL,
    HOB_SCRIPT_SESSION,
    HOB_SCRIPT_STEP,
    HOB_SCRIPT_TURN,
    HOB_SCRIPT_MESSAGES,
    HOB_SCRIPT_ATTEMPT,
    HOB_SCRIPT_REPEAT
} hob_script_var;

typedef struct hob_script_piece {
    hob_script_var var;
    hob_str literal;
} hob_script_piece;

typedef struct hob_script_text {
    hob_script_piece *pieces;
    size_t n;
    size_t bytes; /* of the literal pieces */
    bool json;    /* JSON text: what is put in is escaped for a string */
} hob_script_text;

/* ---- scripted_read.c ------------------------------------------------------------------------ */
/* What every reader function gets. They return HOB_ECONFIG, with line and column in the message. */
typedef struct hob_script_reader {
    hob_arena *arena;
    hob_str text; /* of the script: values point into it */
    hob_error *err;
    size_t chunk; /* from "defaults" */
    int64_t delay_ms;
    int nesting; /* repeats around the step being read */
} hob_script_reader;

int hob_script_bad(hob_script_reader *r, const hob_json *at, const char *fmt, ...) HOB_PRINTF(3, 4);
/* Is v an object in which every key is one of `keys` (NULL-terminated), once? `what` names it. */
int hob_script_keys(hob_script_reader *r, const hob_json *v, const char *what,
                    const char *const *keys);
int hob_script_string(hob_script_reader *r, const hob_json *v, const char *what, hob_str *out);
int hob_script_bool(hob_script_reader *r, const hob_json *v, const char *what, bool *out);
typedef struct hob_script_range {
    int64_t min, max;
} hob_script_range;
int hob_script_int(hob_script_reader *r, const hob_json *v, const char *what, hob_script_range in,
                   int64_t *out);
/* "expected …" with a suggestion; for words out of a list. */
int hob_script_unknown(hob_script_reader *r, const hob_json *at, const char *what, hob_str word,
                       const char *const *known);
int hob_script_no_room(hob_script_reader *r); /* fails with HOB_ETOOBIG */
/* Room for n items; NULL: there is none, err says so. */
void *hob_script_room(hob_script_reader *r, size_t n, size_t size);

/* A text with templates in it. */
int hob_script_text_read(hob_script_reader *r, const hob_json *v, const char *what,
                         hob_script_text *out);
/* Any JSON value, without comments, templates in its strings. */
int hob_script_text_json(hob_script_reader *r, const hob_json *v, hob_script_text *out);
/* `round`: of the innermost repeat, from 1; 0 outside. Over the buffer's ceiling: its sticky error. */
void hob_script_text_expand(const hob_script_text *t, const hob_script_view *v, int64_t round,
                            hob_buf *out);

/* ---- scripted_when.c ------------------------------------------------------------------------ */
typedef struct hob_script_test hob_script_test;
typedef struct hob_script_when {
    hob_script_test *tests; /* all must hold */
    size_t n;
} hob_script_when;
int hob_script_when_read(hob_script_reader *r, const hob_json *v, hob_script_when *out);
/* Sets v->rest when it matches. */
bool hob_script_when_match(const hob_script_when *w, hob_script_view *v);

/* ---- scripted_reply.c ----------------------------------------------------------------------- */
typedef enum hob_script_kind {
    HOB_SCRIPT_STEP_TEXT,
    HOB_SCRIPT_STEP_THINKING,
    HOB_SCRIPT_STEP_CALL,
    HOB_SCRIPT_STEP_OPAQUE,
    HOB_SCRIPT_STEP_DELAY,
    HOB_SCRIPT_STEP_WAIT,
    HOB_SCRIPT_STEP_ERROR,
    HOB_SCRIPT_STEP_CUT,
    HOB_SCRIPT_STEP_USAGE,
    HOB_SCRIPT_STEP_STOP,
    HOB_SCRIPT_STEP_REPEAT
} hob_script_kind;

typedef struct hob_script_step hob_script_step;
typedef struct hob_script_reply {
    hob_script_step *steps;
    size_t n;
    uint64_t total, bytes; /* steps and own text, repeats counted out */
} hob_script_reply;

struct hob_script_step {
    hob_script_kind kind;
    hob_script_text text;    /* text, thinking, arguments, opaque */
    size_t chunk;            /* 0 = all at once */
    int64_t delay_ms;        /* before each chunk; DELAY: once */
    bool new_block;          /* text, thinking: even where the open block could go on */
    hob_str name, id;        /* CALL; id "" = made from turn and place */
    hob_str signature;       /* THINKING */
    hob_model_outcome *fail; /* ERROR */
    hob_usage usage;         /* USAGE; negative = not said */
    hob_stop stop;
    int64_t times; /* REPEAT */
    hob_script_reply body;
};
int hob_script_reply_read(hob_script_reader *r, const hob_json *v, const char *what,
                          hob_script_reply *out);
int hob_script_usage_read(hob_script_reader *r, const hob_json *v, hob_usage *out);

/* ---- scripted_error.c ----------------------------------------------------------------------- */
int hob_script_error_read(hob_script_reader *r, const hob_json *v, const hob_json *arg,
                          hob_script_step *s);

/* ---- scripted_read.c: a whole script -------------------------------------------------------- */
typedef struct hob_script_rule {
    hob_script_when when;
    hob_script_reply reply;
} hob_script_rule;

typedef struct hob_script {
    hob_arena *arena; /* owns all of it */
    hob_usage usage;  /* from "defaults"; negative = not said */
    hob_script_rule *rules;
    size_t nrules;
    const hob_script_reply *otherwise; /* NULL = none */
} hob_script;
int hob_script_create(hob_str text, hob_script **out, hob_error *err);
void hob_script_destroy(hob_script *s);
/* The reply to this request, or NULL. Sets v->rest. */
const hob_script_reply *hob_script_find(const hob_script *s, hob_script_view *v);

/* ---- scripted_play.c ------------------------------------------------------------------------ */
typedef enum hob_script_move {
    HOB_SCRIPT_MOVE_ON,
    HOB_SCRIPT_MOVE_PAUSE,   /* go on in pause_ms */
    HOB_SCRIPT_MOVE_SILENCE, /* nothing will ever come */
    HOB_SCRIPT_MOVE_END      /* outcome says how */
} hob_script_move;

typedef enum hob_script_state {
    HOB_SCRIPT_TAKING,   /* the next step */
    HOB_SCRIPT_SPEAKING, /* chunks of the present one */
    HOB_SCRIPT_SILENT,
    HOB_SCRIPT_ENDED
} hob_script_state;

typedef struct hob_script_frame {
    const hob_script_reply *reply;
    size_t at;            /* the next step */
    int64_t round, times; /* round from 1 */
} hob_script_frame;

typedef struct hob_script_player {
    hob_script_view view; /* set after init */
    hob_usage usage;      /* as said so far; negative = estimated. Set after init */
    hob_answer *answer;
    hob_script_state state;
    hob_script_frame frames[HOB_SCRIPT_NESTING_MAX + 1];
    size_t depth;
    const hob_script_step *step;
    hob_buf text; /* of the step, templates filled in */
    size_t said;  /* bytes of it */
    bool opened;  /* the step has its block */
    bool waited;  /* the delay before the next chunk is over */
    int block;    /* the open one, -1 = none */
    hob_script_kind block_of;
    int calls;
    int64_t spoken, thought; /* bytes of all, of the thinking */
    hob_stop stop;
    bool grew; /* the answer did; the caller clears it */
    int64_t pause_ms;
    hob_model_outcome outcome;
} hob_script_player;
/* `reply` may be NULL if the player is ended before it moves. */
void hob_script_player_init(hob_script_player *p, const hob_script_reply *reply, hob_answer *a);
void hob_script_player_finish(hob_script_player *p);
hob_script_move hob_script_player_move(hob_script_player *p);
hob_script_move hob_script_player_end(hob_script_player *p, int code, const char *message);
void hob_script_player_usage(hob_script_player *p); /* tells the answer */

#endif
