/*
 * voice.h - callbacks of a host for tests: they write down that they were called, and answer what the test wants.
 */
#ifndef HOB_TESTS_VOICE_H
#define HOB_TESTS_VOICE_H

#include "support/agents.h"
#include "support/host.h"

typedef enum point {
    BEFORE_AGENT,
    AFTER_AGENT,
    BEFORE_MODEL,
    AFTER_MODEL,
    BEFORE_TOOL,
    AFTER_TOOL
} point;

enum { JOURNAL_MAX = 2048 };

typedef struct voice { /* who has callbacks, and what they answer */
    const char *name;
    char *journal;        /* of the test, JOURNAL_MAX; NULL = none */
    const char *says[6];  /* text, by point */
    const char *delta[6]; /* state */
    hob_outcome outcome[6];
    const char *transfer;                    /* after_model hands over to it */
    bool escalate;                           /* after_model ends the loop */
    bool waits;                              /* the answer comes later, from the test */
    const char *reads;                       /* a key of the state; its value is in `read` */
    char content[512], args[256], read[128]; /* of the last call */
    pthread_mutex_t lock;
    pthread_cond_t cond;
    hob_reply *reply;
    hob_agent_callbacks callbacks;
} voice;

void voice_init(voice *v, const char *name, char *journal);
void voice_finish(voice *v);
void voice_only(voice *v, point p); /* only this point is called back */
hob_reply *voice_wait(voice *v);    /* until it was called; the reply is the test's to answer */
void voice_note(voice *v, const char *what);

/* An agent whose instruction is its name, with these callbacks. */
hob_agent *voice_agent(const char *name, voice *v);

/* A host with callbacks of the session and a tool `quick`, of which the model makes one call and says the result. */
typedef struct talked {
    host h;
    voice plugin;
    hob_tool tool;
    int ran;
    char journal[JOURNAL_MAX];
} talked;

void talked_init(talked *f, const char *store);
void talked_open(talked *f, hob_agent *team); /* takes the reference */
void talked_finish(talked *f);

#endif
