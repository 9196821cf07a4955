/*
 * page.c - the console page: one document that carries its styles and scripts, made from console/ by the build.
 *
 * Its policy lets run what is in it and nothing else: the hashes of the <style> and <script> elements are taken from
 * the page itself, so that a page and its policy cannot disagree. It has no data; it asks for the token.
 */
#include "serve/page.h"

#include "serve/gzip.h"
#include "serve/routes.h"
#include "serve/server.h"

#include <sodium.h>

#define PAGE_MAX (1u << 20)

/* ' sha256-…' of every element of that name. */
static void add_hashes(hob_buf *out, hob_str page, const char *open, const char *shut) {
    for (;;) {
        ptrdiff_t at = hob_str_find(page, hob_str_z(open));
        if (at < 0) return;
        page = hob_str_skip(page, (size_t)at + strlen(open));
        ptrdiff_t start = hob_str_chr(page, '>'), end = hob_str_find(page, hob_str_z(shut));
        if (start < 0 || end < 0 || start > end) return;
        hob_str text = hob_str_n(page.p + start + 1, (size_t)(end - start - 1));
        unsigned char sum[32];
        crypto_hash_sha256(sum, (const unsigned char *)text.p, text.n);
        hob_buf_addz(out, " 'sha256-");
        hob_base64_encode(out, hob_str_n((const char *)sum, sizeof sum));
        hob_buf_addz(out, "'");
        page = hob_str_skip(page, (size_t)end);
    }
}

void hob_page_policy(hob_str page, hob_buf *out) {
    hob_buf_addz(out,
                 "default-src 'none'; connect-src 'self'; img-src 'self' blob: data:; style-src");
    add_hashes(out, page, "<style", "</style>");
    hob_buf_addz(out, "; script-src");
    add_hashes(out, page, "<script", "</script>");
    hob_buf_addz(out, "; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
}

int hob_page_read(hob_buf *out) {
    return hob_inflate(hob_str_n(hob_console_page, hob_console_page_size), out);
}

void hob_route_page(hob_web_request *r) {
    hob_buf policy, page;
    hob_buf_init(&policy, 4096);
    hob_buf_init(&page, PAGE_MAX);
    /* Before the doctype, where the page's scripts find it: who signs in is told where tokens are. */
    if (hob_server_has_token_file(hob_web_server(r))) hob_buf_addz(&page, "<!-- tokens: file -->");
    int rc = hob_page_read(&page);
    if (rc < 0) {
        hob_web_fail(r, 503, "not_implemented",
                     "the page is kept compressed and cannot be read without zlib: install it "
                     "(Debian: zlib1g)");
    } else {
        hob_page_policy(hob_buf_str(&page), &policy);
        hob_web_answer_header(r, "Content-Security-Policy", hob_buf_str(&policy));
        hob_web_answer_header(r, "Cache-Control", HOB_STR("no-cache"));
        hob_web_answer(r, 200, "text/html; charset=utf-8", hob_buf_str(&page));
    }
    hob_buf_finish(&page);
    hob_buf_finish(&policy);
}
