#include "net/sse.h"
#include "support/check.h"

typedef struct reading {
    hob_sse sse;
    hob_buf text; /* a line an event: event|data|id, LF in data shown as / */
    int stop_at;  /* the callback returns HOB_ECANCELLED at this event; 0 = never */
    int events;
} reading;

static int on_event(const hob_sse_event *e, void *user) {
    reading *r = user;
    hob_buf_add(&r->text, e->event);
    hob_buf_addc(&r->text, '|');
    for (size_t i = 0; i < e->data.n; i++) {
        hob_buf_addc(&r->text, e->data.p[i] == '\n' ? '/' : e->data.p[i]);
    }
    hob_buf_addc(&r->text, '|');
    hob_buf_add(&r->text, e->id);
    hob_buf_addc(&r->text, '\n');
    return ++r->events == r->stop_at ? HOB_ECANCELLED : HOB_OK;
}

static void init(reading *r, size_t max) {
    *r = (reading){.events = 0};
    hob_buf_init(&r->text, 1 << 20);
    hob_sse_init(&r->sse, max, on_event, r);
}

static void finish(reading *r) {
    hob_sse_finish(&r->sse);
    hob_buf_finish(&r->text);
}

/* Reads `in` cut at a and b; returns the last result of feed. A copy in memory of its own exact
 * size lets the address sanitizer see every byte read too far. */
static int read_cut(reading *r, hob_str in, size_t a, size_t b) {
    const size_t cuts[] = {0, a, b, in.n};
    int result = HOB_OK;
    for (int i = 0; i < 3 && result == HOB_OK; i++) {
        size_t n = cuts[i + 1] - cuts[i];
        char *copy = hob_alloc(n ? n : 1);
        if (n) memcpy(copy, in.p + cuts[i], n);
        result = hob_sse_feed(&r->sse, hob_str_n(copy, n));
        hob_free(copy);
    }
    return result;
}

static void expect(hob_str in, const char *events) {
    for (size_t a = 0; a <= in.n; a++) {
        for (size_t b = a; b <= in.n; b++) {
            reading r;
            init(&r, 0);
            assert_int_equal(read_cut(&r, in, a, b), HOB_OK);
            assert_string_equal(hob_buf_z(&r.text), events);
            finish(&r);
        }
    }
}

#define EXPECT(in, events) expect(HOB_STR(in), events)

static void test_net_sse__line_ends(void **state) {
    (void)state;
    EXPECT("data: a\n\ndata: b\n\n", "|a|\n|b|\n");
    EXPECT("data: a\r\rdata: b\r\r", "|a|\n|b|\n");
    EXPECT("data: a\r\n\r\ndata: b\r\n\r\n", "|a|\n|b|\n");
    EXPECT("event: x\r\ndata: 1\r\ndata: 2\r\n\r\n", "x|1/2|\n");
    EXPECT("data: a\r\n\rdata: b\n\r\ndata: c\r\r\n", "|a|\n|b|\n|c|\n");
    EXPECT("\n\r\n\rdata: a\n\n\n\r\rdata: b\r\n\n", "|a|\n|b|\n");
}

static void test_net_sse__bom(void **state) {
    (void)state;
    EXPECT("\xEF\xBB\xBF"
           "data: a\n\n",
           "|a|\n");
    EXPECT("\xEF\xBB\xBF\n\n\xEF\xBB\xBF"
           "data: not the field\n\n",
           "");
    EXPECT("\xEF\xBB"
           "data: a\n\ndata: b\n\n",
           "|b|\n");
    EXPECT("\xEF", "");
}

static void test_net_sse__fields(void **state) {
    (void)state;
    EXPECT("event: x\ndata:no space\n\n", "x|no space|\n");
    EXPECT("data:  two spaces\n\n", "| two spaces|\n");
    EXPECT("event:y\nid: 7\ndata: a:b: c\n\ndata: d\n\n", "y|a:b: c|7\n|d|7\n");
    EXPECT("data\n\n", "||\n");
    EXPECT("data:\ndata:\n\n", "|/|\n");
    EXPECT("data: 1\ndata: 2\n: comment\ndata: 3\n\n", "|1/2/3|\n");
    EXPECT("event: a\nevent: b\ndata: x\n\n", "b|x|\n");
    EXPECT("retry: 10\nunknown: x\nDATA: y\n data: z\ndata: x\n\n", "|x|\n");
    EXPECT("id: 1\nid\ndata: x\n\n", "|x|\n");
}

static void test_net_sse__id_with_nul_is_ignored(void **state) {
    (void)state;
    EXPECT("id: 1\nid: 2\0\ndata: x\n\n", "|x|1\n");
}

static void test_net_sse__events_without_data_or_end_are_dropped(void **state) {
    (void)state;
    EXPECT("event: ping\n\ndata: x\n\n", "|x|\n");
    EXPECT(": only comments\n\n:\n\n", "");
    EXPECT("data: a\n\ndata: cut off\n", "|a|\n");
    EXPECT("data: a\n\ndata: cut of", "|a|\n");
    EXPECT("", "");
}

static void test_net_sse__utf8_may_be_split(void **state) {
    (void)state;
    EXPECT("data: \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\n\n",
           "|\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80|\n");
}

/* The same with a ceiling: result and events so far must not depend on the cuts either. */
static void expect_limited(hob_str in, size_t max, int result, const char *events) {
    for (size_t a = 0; a <= in.n; a++) {
        reading r;
        init(&r, max);
        assert_int_equal(read_cut(&r, in, a, in.n), result);
        assert_string_equal(hob_buf_z(&r.text), events);
        assert_true(r.sse.line.cap <= max && r.sse.data.cap <= max);
        finish(&r);
    }
}

static void test_net_sse__ceilings(void **state) {
    (void)state;
    expect_limited(HOB_STR("data: 1234\n\n"), 10, HOB_OK, "|1234|\n");
    expect_limited(HOB_STR("data: 12345\n\n"), 10, HOB_ETOOBIG, "");
    expect_limited(HOB_STR("data: a\n\n: long comment\n\n"), 10, HOB_ETOOBIG, "|a|\n");
    expect_limited(HOB_STR("data:12345\ndata:1234\n\n"), 10, HOB_OK, "|12345/1234|\n");
    expect_limited(HOB_STR("data:12345\ndata:12345\n\n"), 10, HOB_ETOOBIG, "");
    expect_limited(HOB_STR("data:no end of line"), 10, HOB_ETOOBIG, "");
}

static void test_net_sse__callback_stops_and_the_error_stays(void **state) {
    (void)state;
    hob_str in = HOB_STR("data: a\r\n\r\ndata: b\r\n\r\ndata: c\r\n\r\n");
    for (size_t a = 0; a <= in.n; a++) {
        reading r;
        init(&r, 0);
        r.stop_at = 2;
        assert_int_equal(read_cut(&r, in, a, in.n), HOB_ECANCELLED);
        assert_int_equal(hob_sse_feed(&r.sse, HOB_STR("data: d\n\n")), HOB_ECANCELLED);
        assert_string_equal(hob_buf_z(&r.text), "|a|\n|b|\n");
        finish(&r);
    }
}

/* Both line ends, megabytes of them: the reader must stay linear (the test's time-out says so). */
static void test_net_sse__long_input_of_one_line_end_is_linear(void **state) {
    (void)state;
    const char ends[] = {'\n', '\r'};
    for (int i = 0; i < 2; i++) {
        hob_buf in;
        reading r;
        hob_buf_init(&in, 8 << 20);
        init(&r, 0);
        memset(hob_buf_reserve(&in, 4 << 20), ends[i], 4 << 20);
        in.n += 4 << 20;
        assert_int_equal(hob_sse_feed(&r.sse, hob_buf_str(&in)), HOB_OK);
        assert_int_equal(r.events, 0);
        finish(&r);
        hob_buf_finish(&in);
    }
}

#define T(name) cmocka_unit_test(test_net_sse__##name)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(line_ends),
        T(bom),
        T(fields),
        T(id_with_nul_is_ignored),
        T(events_without_data_or_end_are_dropped),
        T(utf8_may_be_split),
        T(ceilings),
        T(callback_stops_and_the_error_stays),
        T(long_input_of_one_line_end_is_linear),
    };
    return cmocka_run_group_tests_name("net/sse", tests, NULL, NULL);
}
