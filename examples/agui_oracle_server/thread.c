/*
 * thread.c - the conversations that the server remembers.
 */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static thread *all;

static char *copy(hob_str s) {
    char *z = malloc(s.n + 1);
    if (!z) abort();
    memcpy(z, s.p, s.n);
    z[s.n] = '\0';
    return z;
}

static thread *find(hob_str id) {
    for (thread *t = all; t; t = t->next)
        if (strlen(t->id) == id.n && !memcmp(t->id, id.p, id.n)) return t;
    return NULL;
}

thread *thread_claim(hob_str id, stream *st) {
    pthread_mutex_lock(&lock);
    thread *t = find(id);
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t) abort();
        t->id = copy(id);
        t->messages = copy(hob_str_z("[]"));
        t->next = all;
        all = t;
    }
    bool mine = !t->busy;
    if (mine) t->busy = st;
    pthread_mutex_unlock(&lock);
    return mine ? t : NULL;
}

void thread_release(thread *t) {
    pthread_mutex_lock(&lock);
    t->busy = NULL;
    pthread_mutex_unlock(&lock);
}

bool thread_stop(hob_str id) {
    pthread_mutex_lock(&lock);
    thread *t = find(id);
    if (t && t->busy) stream_stop(t->busy);
    pthread_mutex_unlock(&lock);
    return t != NULL;
}

char *thread_messages(hob_str id) {
    pthread_mutex_lock(&lock);
    thread *t = find(id);
    char *messages = t ? copy(hob_str_z(t->messages)) : NULL;
    pthread_mutex_unlock(&lock);
    return messages;
}

void thread_set_messages(thread *t, hob_str json) {
    pthread_mutex_lock(&lock);
    free(t->messages);
    t->messages = copy(json);
    pthread_mutex_unlock(&lock);
}

/* The text as a JSON string. */
static void quote(FILE *out, hob_str s) {
    fputc('"', out);
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

void thread_add_message(thread *t, const char *id, hob_str text) {
    char *json;
    size_t n;
    pthread_mutex_lock(&lock);
    FILE *out = open_memstream(&json, &n);
    if (!out) abort();
    size_t had = strlen(t->messages);
    fprintf(out, "%.*s%s{\"id\":\"%s\",\"role\":\"assistant\",\"content\":", (int)had - 1,
            t->messages, had > 2 ? "," : "", id);
    quote(out, text);
    fputs("}]", out);
    fclose(out);
    free(t->messages);
    t->messages = json;
    pthread_mutex_unlock(&lock);
}
