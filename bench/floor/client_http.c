#include "client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CURL *easy;
static struct curl_slist *headers;

void floor_http_open(const char *url) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || !(easy = curl_easy_init()))
        floor_die("libcurl cannot be used");
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Accept: text/event-stream");
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
}

/* The characters between a mark and the next quote or backslash; NULL if the mark is not there. */
static const char *after(const char *line, const char *mark, size_t *n) {
    const char *p = strstr(line, mark);
    if (!p) return NULL;
    p += strlen(mark);
    *n = strcspn(p, "\"\\");
    return p;
}

static void look_for_tool(floor_answer *a, const char *line) {
    size_t n;
    const char *p = after(line, "\"tool_use\",\"id\":\"", &n);
    if (p) {
        a->tool = true;
        a->bash = strstr(line, "\"name\":\"bash\"") != NULL;
        snprintf(a->id, sizeof(a->id), "%.*s", (int)n, p);
    }
    if ((p = strstr(line, "\"partial_json\":"))) {
        p += strcspn(p, "0123456789");
        a->line = strtol(p, NULL, 10);
    }
}

static void on_line(floor_answer *a, const char *line) {
    size_t n;
    const char *p = after(line, "\"text_delta\",\"text\":\"", &n);
    if (!p) p = after(line, "\"delta\":{\"content\":\"", &n);
    if (p) {
        floor_add(&a->text, p, n);
        fwrite(p, 1, n, stdout);
    } else {
        look_for_tool(a, line);
    }
}

static size_t on_bytes(char *p, size_t size, size_t n, void *user) {
    floor_answer *a = user;
    size_t taken = 0;
    floor_add(&a->rest, p, size * n);
    for (char *end; (end = memchr(a->rest.p + taken, '\n', a->rest.n - taken));) {
        *end = 0;
        on_line(a, a->rest.p + taken);
        taken = (size_t)(end - a->rest.p) + 1;
    }
    memmove(a->rest.p, a->rest.p + taken, a->rest.n - taken);
    a->rest.n -= taken;
    fflush(stdout);
    return size * n;
}

void floor_http_post(const floor_text *body, floor_answer *a) {
    a->tool = false;
    a->text.n = a->rest.n = 0;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body->p);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->n);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, a);
    CURLcode rc = curl_easy_perform(easy);
    if (rc != CURLE_OK) floor_die(curl_easy_strerror(rc));
}

void floor_http_close(void) {
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    curl_global_cleanup();
}
