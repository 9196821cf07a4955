/*
 * stream.c - a bounded buffer between two threads.
 */
#include "server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 1 << 20, KEEP_ALIVE_MS = 400 };

stream *stream_create(bool comments) {
    stream *st = calloc(1, sizeof *st);
    if (!st) abort();
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&st->lock, NULL);
    pthread_cond_init(&st->changed, &attr);
    pthread_condattr_destroy(&attr);
    st->comments = comments;
    st->users = 2; /* the one that works and the one that serves */
    return st;
}

void stream_release(stream *st) {
    pthread_mutex_lock(&st->lock);
    int left = --st->users;
    pthread_mutex_unlock(&st->lock);
    if (left) return;
    pthread_mutex_destroy(&st->lock);
    pthread_cond_destroy(&st->changed);
    free(st->bytes);
    free(st);
}

static struct timespec in_ms(long ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void make_room(stream *st, size_t n) {
    if (st->n + n <= st->cap) return;
    st->cap = st->n + n + 4096;
    st->bytes = realloc(st->bytes, st->cap);
    if (!st->bytes) abort();
}

int stream_write(stream *st, hob_str bytes) {
    pthread_mutex_lock(&st->lock);
    while (!st->gone && st->n && st->n + bytes.n > ROOM) pthread_cond_wait(&st->changed, &st->lock);
    bool gone = st->gone;
    if (!gone) {
        make_room(st, bytes.n);
        memcpy(st->bytes + st->n, bytes.p, bytes.n);
        st->n += bytes.n;
        pthread_cond_broadcast(&st->changed);
    }
    pthread_mutex_unlock(&st->lock);
    return gone ? HOB_ECLOSED : 0;
}

static long take(stream *st, char *buf, size_t max) {
    static const char comment[] = ": keep-alive\n\n";
    if (!st->n && st->ended) return -1;
    if (!st->n) {
        if (!st->comments || max < sizeof comment - 1) return 0;
        memcpy(buf, comment, sizeof comment - 1);
        return (long)sizeof comment - 1;
    }
    size_t n = st->n < max ? st->n : max;
    memcpy(buf, st->bytes, n);
    memmove(st->bytes, st->bytes + n, st->n - n);
    st->n -= n;
    pthread_cond_broadcast(&st->changed);
    return (long)n;
}

long stream_read(stream *st, char *buf, size_t max) {
    struct timespec until = in_ms(KEEP_ALIVE_MS);
    pthread_mutex_lock(&st->lock);
    while (!st->n && !st->ended)
        if (pthread_cond_timedwait(&st->changed, &st->lock, &until) != 0) break;
    long n = take(st, buf, max);
    pthread_mutex_unlock(&st->lock);
    return n;
}

static void set(stream *st, bool *flag) {
    pthread_mutex_lock(&st->lock);
    *flag = true;
    pthread_cond_broadcast(&st->changed);
    pthread_mutex_unlock(&st->lock);
}

void stream_end(stream *st) {
    set(st, &st->ended);
}

void stream_leave(stream *st) {
    set(st, &st->gone);
}

void stream_stop(stream *st) {
    set(st, &st->stopped);
}

bool stream_sleep(stream *st, long ms) {
    struct timespec until = in_ms(ms);
    pthread_mutex_lock(&st->lock);
    while (!st->gone && !st->stopped)
        if (pthread_cond_timedwait(&st->changed, &st->lock, &until) != 0) break;
    bool slept = !st->gone && !st->stopped;
    pthread_mutex_unlock(&st->lock);
    return slept;
}
