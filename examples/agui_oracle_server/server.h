/*
 * server.h - an AG-UI server in C on hob's producer API: what its three files share.
 */
#ifndef SERVER_H
#define SERVER_H

#include <hob/agui.h>

#include <pthread.h>
#include <stdbool.h>

/* ---- stream.c: bytes on their way from the thread that works to the one that serves -------------------------- */

typedef struct stream {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *bytes;
    size_t n, cap;
    bool ended;   /* nothing more will come */
    bool gone;    /* nobody reads any more */
    bool stopped; /* the run was cancelled */
    bool comments;
    int users;
} stream;

stream *stream_create(bool comments);
void stream_release(stream *st);
/* Waits while there is no room; HOB_ECLOSED when nobody reads. */
int stream_write(stream *st, hob_str bytes);
/* What there is; a comment when nothing comes for a while; -1 at the end. */
long stream_read(stream *st, char *buf, size_t max);
void stream_end(stream *st);
void stream_leave(stream *st); /* the reader is gone */
void stream_stop(stream *st);
/* False: woken early, since the run is to stop or nobody reads. */
bool stream_sleep(stream *st, long ms);

/* ---- thread.c: conversations --------------------------------------------------------------------------------- */

enum { INTERRUPTS = 16 };

typedef struct question {
    char id[37], call[37];
    char expires[32];
    char message[64];
} question;

typedef struct thread {
    struct thread *next;
    char *id;
    stream *busy; /* the run under way */
    question open[INTERRUPTS];
    size_t nopen;
    char *messages; /* JSON array: the conversation so far */
} thread;

/* The thread, claimed for a run; NULL if one is under way. */
thread *thread_claim(hob_str id, stream *st);
void thread_release(thread *t);
bool thread_stop(hob_str id); /* false: there is no such thread */
/* A copy of the conversation, to be freed; NULL if there is no such thread. */
char *thread_messages(hob_str id);
void thread_set_messages(thread *t, hob_str json);
void thread_add_message(thread *t, const char *id, hob_str text);

/* ---- agent.c: the scripted agent ------------------------------------------------------------------------------ */

typedef struct job {
    hob_agui_input *input;
    hob_agui_encoding encoding;
    thread *thread;
    stream *stream;
} job;

void *agent_run(void *job_); /* a thread's function; frees the job */
/* RUN_STARTED, the conversation, RUN_FINISHED. */
void agent_replay(stream *st, const hob_agui_input *in, hob_str messages);

#endif
