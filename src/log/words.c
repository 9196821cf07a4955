/*
 * words.c - one pass over the code points: each is part of a word, a word by itself, nothing, or a gap.
 */
#include "log/words.h"

typedef struct range {
    uint32_t first, last;
} range;

/* Neither letters nor digits; beyond ASCII only what is met in texts. */
static const range gaps[] = {
    {0x00, 0x2F},     {0x3A, 0x40},     {0x5B, 0x60},       {0x7B, 0xA9},     {0xAB, 0xB1},
    {0xB4, 0xB4},     {0xB6, 0xB8},     {0xBB, 0xBF},       {0xD7, 0xD7},     {0xF7, 0xF7},
    {0x2C2, 0x2DF},   {0x37E, 0x37E},   {0x387, 0x387},     {0x482, 0x482},   {0x55A, 0x55F},
    {0x589, 0x58A},   {0x5BE, 0x5BE},   {0x5C0, 0x5C0},     {0x5C3, 0x5C3},   {0x5F3, 0x5F4},
    {0x60C, 0x60D},   {0x61B, 0x61F},   {0x66A, 0x66D},     {0x6D4, 0x6D4},   {0x964, 0x965},
    {0xE2F, 0xE2F},   {0xE4F, 0xE4F},   {0xE5A, 0xE5B},     {0x104A, 0x104F}, {0x1360, 0x1368},
    {0x17D4, 0x17DA}, {0x2000, 0x200A}, {0x2010, 0x2029},   {0x202F, 0x205F}, {0x20A0, 0x20CF},
    {0x2190, 0x245F}, {0x2500, 0x2BFF}, {0x2E00, 0x2E7F},   {0x3000, 0x3004}, {0x3008, 0x3020},
    {0x3030, 0x3030}, {0x303D, 0x303F}, {0x30FB, 0x30FB},   {0xE000, 0xF8FF}, {0xFE10, 0xFE1F},
    {0xFE30, 0xFE6F}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20},   {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65},
    {0xFFE0, 0xFFEE}, {0xFFF0, 0xFFFF}, {0x1F000, 0x1FAFF},
};

/* Marks and formatting: as if they were not there. */
static const range nothing[] = {
    {0xAD, 0xAD},     {0x300, 0x36F},   {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F},
    {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF},
};

/* Written without spaces, or with particles grown onto words. */
static const range alone[] = {
    {0xE01, 0xEFF},   {0x1000, 0x109F}, {0x1100, 0x11FF}, {0x1780, 0x17FF},   {0x3005, 0x3007},
    {0x3041, 0x30FF}, {0x3131, 0x318F}, {0x31F0, 0x31FF}, {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
    {0xAC00, 0xD7AF}, {0xF900, 0xFAFF}, {0xFF66, 0xFF9F}, {0x1B000, 0x1B16F}, {0x20000, 0x3FFFF},
};

static bool is_in(const range *r, size_t n, uint32_t cp) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (cp > r[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && cp >= r[low].first;
}

/* ---- folding ---------------------------------------------------------------------------------- */

/* The letter without its accent, from U+00C0 on; '.' = no such letter. */
static const char plain[] = "aaaaaa.ceeeeiiii"
                            ".nooooo.ouuuuy.."
                            "aaaaaa.ceeeeiiii"
                            ".nooooo.ouuuuy.y"
                            "aaaaaaccccccccdd"
                            "ddeeeeeeeeeegggg"
                            "gggghhhhiiiiiiii"
                            "ii..jjkkklllllll"
                            "lllnnnnnnn..oooo"
                            "oo..rrrrrrssssss"
                            "ssttttttuuuuuuuu"
                            "uuuuwwyyyzzzzzzs";

static uint32_t fold_latin(uint32_t cp) {
    char c = plain[cp - 0xC0];
    if (c != '.') return (uint32_t)c;
    if (cp < 0xDF) return cp + 32;
    return cp >= 0x100 ? cp | 1 : cp;
}

static uint32_t fold_greek(uint32_t cp) {
    static const struct {
        uint32_t from, to;
    } accents[] = {{0x386, 0x3B1}, {0x388, 0x3B5}, {0x389, 0x3B7}, {0x38A, 0x3B9}, {0x38C, 0x3BF},
                   {0x38E, 0x3C5}, {0x38F, 0x3C9}, {0x390, 0x3B9}, {0x3AC, 0x3B1}, {0x3AD, 0x3B5},
                   {0x3AE, 0x3B7}, {0x3AF, 0x3B9}, {0x3B0, 0x3C5}, {0x3C2, 0x3C3}, {0x3CA, 0x3B9},
                   {0x3CB, 0x3C5}, {0x3CC, 0x3BF}, {0x3CD, 0x3C5}, {0x3CE, 0x3C9}};
    if (cp >= 0x391 && cp <= 0x3AB) cp += 32;
    for (size_t i = 0; i < HOB_ARRAY_LEN(accents); i++) {
        if (accents[i].from == cp) return accents[i].to;
    }
    return cp;
}

static uint32_t fold_cyrillic(uint32_t cp) {
    if (cp <= 0x40F) cp += 80;
    if (cp <= 0x42F) cp += 32;
    if (cp == 0x451) return 0x435;
    if (cp >= 0x4C1 && cp <= 0x4CE) return cp & 1 ? cp + 1 : cp;
    return cp >= 0x460 && cp <= 0x52F && cp != 0x4C0 ? cp | 1 : cp;
}

static uint32_t fold(uint32_t cp) {
    if (cp < 0x80) return cp >= 'A' && cp <= 'Z' ? cp + 32 : cp;
    if (cp >= 0xC0 && cp < 0x180) return fold_latin(cp);
    if (cp >= 0x370 && cp < 0x400) return fold_greek(cp);
    if (cp >= 0x400 && cp < 0x530) return fold_cyrillic(cp);
    if (cp >= 0x531 && cp <= 0x556) return cp + 48;
    if (cp >= 0x1E00 && cp < 0x1F00) return cp | 1;
    if (cp >= 0xFF10 && cp <= 0xFF19) return cp - 0xFF10 + '0';
    if (cp >= 0xFF21 && cp <= 0xFF3A) return cp - 0xFF21 + 'a';
    if (cp >= 0xFF41 && cp <= 0xFF5A) return cp - 0xFF41 + 'a';
    return cp;
}

/* "cats" is found by "cat"; "class", "status" and "this" are no plurals. */
static size_t without_plural(const char *word, size_t n) {
    if (n < 4 || word[n - 1] != 's' || strchr("siu", word[n - 2])) return n;
    for (size_t i = 0; i < n; i++) {
        if (word[i] < 'a' || word[i] > 'z') return n;
    }
    return n - 1;
}

/* ---- words ------------------------------------------------------------------------------------ */

void hob_word_scan_init(hob_word_scan *w, hob_str text) {
    w->text = text;
    w->at = w->n = 0;
}

typedef enum role { PART, WHOLE, SKIPPED, GAP } role;

static role role_of(uint32_t cp) {
    if (cp < 0x80 && ((cp | 32) - 'a' < 26 || cp - '0' < 10)) return PART;
    if (is_in(gaps, HOB_ARRAY_LEN(gaps), cp)) return GAP;
    if (is_in(nothing, HOB_ARRAY_LEN(nothing), cp)) return SKIPPED;
    return is_in(alone, HOB_ARRAY_LEN(alone), cp) ? WHOLE : PART;
}

static void add(hob_word_scan *w, uint32_t cp) {
    char bytes[4];
    size_t n = hob_utf8_put(bytes, fold(cp));
    if (w->n + n > HOB_WORD_MAX) return;
    memcpy(w->word + w->n, bytes, n);
    w->n += n;
}

bool hob_word_scan_next(hob_word_scan *w, hob_str *out) {
    bool ended = false;
    w->n = 0;
    while (!ended && w->at < w->text.n) {
        size_t next = w->at;
        uint32_t cp = hob_utf8_next(w->text, &next);
        role r = role_of(cp);
        ended = w->n > 0 && (r == GAP || r == WHOLE);
        if (ended && r == WHOLE) break; /* it is the next word */
        w->at = next;
        if (r == PART || r == WHOLE) add(w, cp);
        ended = ended || r == WHOLE;
    }
    *out = hob_str_n(w->word, without_plural(w->word, w->n));
    return w->n > 0;
}
