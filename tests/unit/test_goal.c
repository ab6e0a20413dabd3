/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GOAL: what a file comes to, what belongs together, how long it takes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/json.h"
#include "base/strbuf.h"
#include "lib/small_session.h"
#include "telemetry/summary.h"
#include "workload_fixture.h"

#define LIST "graph.goal"
#define ALL  SIXTEEN "  - goal: {file: " LIST "}\n"

static void put(const char *text)
{
	FILE *out = fopen(LIST, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* ---- operations ---- */

/*
 * A line an operation: "0>1 10b" a message, "2 500ns" a computation, "@1000ns" its start, and what
 * it waits for: of operation 3 "b3" the begin, "e3" the end, "d3" the delivery.
 */
static void assert_operations(const char *scenario, const char *expected)
{
	struct operations m = operations_of(scenario, 1);
	char all[2048];
	struct strbuf text = STRBUF(all);

	for (size_t i = 0, w = 0; i < m.count; i++) {
		const struct operation *o = &m.items[i];

		strbuf_add(&text, "%u", o->src_host);
		if (o->bytes)
			strbuf_add(&text, ">%u %llub", o->dst_host, (unsigned long long)o->bytes);
		else
			strbuf_add(&text, " %lluns", (unsigned long long)o->lasts_ps / 1000);
		if (o->start_ps)
			strbuf_add(&text, " @%lluns", (unsigned long long)o->start_ps / 1000);
		assert_int_equal(o->waits, w < m.wait_count && m.waits[w].to == i);
		for (; w < m.wait_count && m.waits[w].to == i; w++) {
			assert_true(m.waits[w].from < i);
			strbuf_add(&text, " %c%u", "bed"[m.waits[w].event], m.waits[w].from);
		}
		strbuf_add(&text, "\n");
	}
	operations_release(&m);
	assert_string_equal(all, expected);
}

static void assert_goal(const char *goal, const char *expected)
{
	put(goal);
	assert_operations(ALL, expected);
}

static void statements_are_operations(void **state)
{
	(void)state;
	assert_goal("// of a trace\nnum_ranks 3 /* ranks\n{ */\n\n rank 0 {\n"
		    "l1: send 10b to 1 tag 7 cpu 0 nic 0\nl2:calc 2500 cpu 3\r\n"
		    "l2 requires l1 // and so on\n\tsend 0 b to 2}\n"
		    "rank 2 { // waits for nobody\ncalc 1\nrecv 1b from 0\n}\n"
		    "rank 1 {\na_1 : recv 10b from 0 tag 7\nA_1: calc 5\nA_1 requires a_1\n}",
		"0>1 10b\n0 2500ns e0\n0>2 1b\n2 1ns\n1 5ns d0\n");
}

static void dependences_are_waits(void **state)
{
	(void)state;
	assert_goal(
		"num_ranks 2\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nc requires a\n"
		"c irequires b\nd: send 4b to 1\nd irequires c\ne: send 5b to 1\ne requires d\n}\n"
		"rank 1 {\nd: recv 4b from 0\ne: recv 5b from 0\ne requires d\n}\n",
		"0 1ns\n0 2ns\n0 3ns b1 e0\n0>1 4b b2\n0>1 5b e3\n");
}

/* It ends when its message has come, and not before it has begun. */
static void receives_that_wait_end_later(void **state)
{
	(void)state;
	/* nothing waits for it; its end; its begin; both */
	assert_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\n"
		    "rank 1 {\na: calc 9\nr: recv 1b from 0\nr requires a\n}\n",
		"0>1 1b\n1 9ns\n");
	assert_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: calc 9\n"
		    "r: recv 1b from 0\nr requires a\nb: calc 2\nb requires r\n}\n",
		"0>1 1b\n1 9ns\n1 0ns e1 d0\n1 2ns e2\n");
	assert_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: calc 9\n"
		    "r: recv 1b from 0\nr requires a\nb: calc 2\nb irequires r\n}\n",
		"0>1 1b\n1 9ns\n1 0ns e1\n1 2ns e2\n");
	assert_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: calc 9\n"
		    "r: recv 1b from 0\nr requires a\nb: calc 2\nb irequires r\nc: calc 3\n"
		    "c requires r\n}\n",
		"0>1 1b\n1 9ns\n1 0ns e1\n1 0ns e2 d0\n1 2ns e2\n1 3ns e3\n");
	/* one that has begun at once */
	assert_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\n"
		    "r: recv 1b from 0\nb: calc 2\nb irequires r\n}\n",
		"0>1 1b\n1 2ns\n");
}

#define TWO_RECEIVES                                                                               \
	"rank 1 {\nr1: recv 99b from 0 tag 1\nr2: recv 99b from 0 tag 1\n"                         \
	"c1: calc 1\nc1 requires r1\nc2: calc 2\nc2 requires r2\n}\n"

/* By source and tag, in the order in which they may begin, which need not be the file's. */
static void the_first_of_those_that_fit(void **state)
{
	(void)state;
	assert_goal(
		"num_ranks 2\nrank 0 {\ns1: send 10b to 1 tag 1\ns2: send 20b to 1 tag 1\n}\n" TWO_RECEIVES,
		"0>1 10b\n0>1 20b\n1 1ns d0\n1 2ns d1\n");
	assert_goal("num_ranks 2\nrank 0 {\ns1: send 10b to 1 tag 1\ns2: send 20b to 1 tag 1\n"
		    "s1 requires s2\n}\n" TWO_RECEIVES,
		"0>1 20b\n0>1 10b e0\n1 1ns d0\n1 2ns d1\n");
	assert_goal("num_ranks 3\nrank 0 {\nsend 10b to 2 tag 1\nsend 11b to 2\n}\n"
		    "rank 1 {\nsend 12b to 2\nsend 13b to 2 tag 1\n}\nrank 2 {\n"
		    "a: recv 99b from 1 tag 1\nb: recv 99b from 0\nc: recv 99b from 0 tag 1\n"
		    "d: recv 99b from 1\ne: calc 1\ne requires a\nf: calc 2\nf requires b\n"
		    "g: calc 3\ng requires c\nh: calc 4\nh requires d\n}\n",
		"0>2 10b\n0>2 11b\n1>2 12b\n1>2 13b\n2 1ns d3\n2 2ns d1\n2 3ns d0\n2 4ns d2\n");
}

static void any_rank_and_any_tag(void **state)
{
	(void)state;
	assert_goal(
		"num_ranks 3\nrank 0 {\nsend 10b to 2 tag 5\nsend 11b to 2 tag 6\n}\n"
		"rank 1 {\nsend 12b to 2 tag 6\n}\nrank 2 {\n"
		"a: recv 99b from -1 tag 6\nb: recv 99b from 1 tag -1\nc: recv 99b from -1 tag -1\n"
		"e: calc 1\ne requires a\nf: calc 2\nf requires b\ng: calc 3\ng requires c\n}\n",
		"0>2 10b\n0>2 11b\n1>2 12b\n2 1ns d1\n2 2ns d2\n2 3ns d0\n");
	/* receives that have waited: the one of any rank has for longer than the second */
	assert_goal("num_ranks 2\nrank 0 {\na: recv 99b from -1\nb: recv 99b from 1\n"
		    "e: calc 1\ne requires a\nf: calc 2\nf requires b\n}\n"
		    "rank 1 {\nsend 10b to 0\nsend 11b to 0\n}\n",
		"1>0 10b\n0 1ns d0\n1>0 11b\n0 2ns d2\n");
	/* what can begin is taken, whatever the order of the file is */
	assert_goal("num_ranks 3\nrank 0 {\na: recv 99b from -1\nb: send 7b to 1\nb requires a\n"
		    "c: recv 99b from -1\nc requires a\n}\n"
		    "rank 1 {\na: recv 99b from 0\nb: send 10b to 0\nb requires a\n}\n"
		    "rank 2 {\nsend 11b to 0\n}\n",
		"2>0 11b\n0>1 7b d0\n1>0 10b d1\n");
}

static void messages_to_oneself_take_no_time(void **state)
{
	(void)state;
	assert_goal("num_ranks 1\nrank 0 {\ns: send 5b to 0\nr: recv 5b from 0\nc: calc 7\n"
		    "c requires r\nd: calc 8\nd requires s\n}\n",
		"0 0ns\n0 7ns e0\n0 8ns e0\n");
}

static void keys_of_the_workload(void **state)
{
	(void)state;
	put("num_ranks 2\nrank 0 {\na: calc 4\nsend 1b to 1\n}\nrank 1 {\nr: recv 1b from 0\n"
	    "c: calc 2\nc requires r\n}\n");
	assert_operations(SIXTEEN "  - goal: {file: " LIST ", start: 5us, calc_unit: 3us}\n",
		"0 12000ns @5000ns\n0>1 1b @5000ns\n1 6000ns d1\n");
	assert_operations(SIXTEEN "  - goal: {file: " LIST ", hosts: [h9, h4], calc_unit: 0}\n",
		"9 0ns\n9>4 1b\n4 0ns d1\n");
	assert_operations(SIXTEEN "  - goal: {file: " LIST ", placement: random}\n",
		"4 4ns\n4>8 1b\n8 2ns d1\n");
}

/* ---- the binary form ---- */

struct binary {
	uint8_t bytes[1024];
	size_t length;
};

static void add_number(struct binary *b, uint64_t value, size_t bytes)
{
	for (; bytes; bytes--, value >>= 8)
		b->bytes[b->length++] = (uint8_t)value;
}

static void set_number(struct binary *b, size_t at, uint64_t value, size_t bytes)
{
	size_t length = b->length;

	b->length = at;
	add_number(b, value, bytes);
	b->length = length;
}

static void add_node(struct binary *b, uint32_t dependences, uint8_t type, uint32_t peer,
	uint64_t size, uint32_t tag, uint32_t after, uint32_t begun, uint32_t index)
{
	const struct {
		uint64_t value;
		size_t bytes;
	} members[] = {{dependences, 4}, {type, 1}, {peer, 4}, {size, 8}, {tag, 4}, {0, 1}, {0, 1},
		{after, 4}, {index, 4}, {begun, 4}, {index + after, 4}};

	for (size_t i = 0; i < COUNT(members); i++)
		add_number(b, members[i].value, members[i].bytes);
}

#define RANK0_AT 38 /* from the end of the magic number on */
#define RANK1_AT (RANK0_AT + 8 + 4 + 2 * 39 + 4)
#define END_AT   (RANK1_AT + 8 + 8 + 3 * 39 + 8)

/*
 * Rank 0: a send of 9 bytes with tag 4; a calc after it. Rank 1: a receive from any rank; a calc
 * after it; a calc after that has begun.
 */
static struct binary two_ranks(void)
{
	struct binary b = {.length = 0};

	add_number(&b, 4223, 8);
	add_number(&b, 2, 4);
	add_number(&b, 0, 2);
	add_number(&b, RANK0_AT, 8);
	add_number(&b, RANK1_AT, 8);
	add_number(&b, RANK1_AT, 8);
	add_number(&b, END_AT, 8);
	add_number(&b, 2, 4);
	add_number(&b, 1, 4);
	add_number(&b, 0, 4);
	add_node(&b, 0, 1, 1, 9, 4, 1, 0, 0);
	add_node(&b, 1, 3, 0, 700, 0, 0, 0, 1);
	add_number(&b, 1, 4);
	add_number(&b, 3, 4);
	add_number(&b, 2, 4);
	add_number(&b, 0, 4);
	add_number(&b, 0, 4);
	add_node(&b, 0, 2, UINT32_MAX, 9, UINT32_MAX, 1, 0, 0);
	add_node(&b, 1, 3, 0, 50, 0, 0, 1, 1);
	add_node(&b, 1, 3, 0, 60, 0, 0, 0, 2);
	add_number(&b, 1, 4);
	add_number(&b, 2, 4);
	assert_int_equal(b.length, 8 + END_AT);
	return b;
}

static void put_binary(const struct binary *b)
{
	FILE *out = fopen(LIST, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(b->bytes, 1, b->length, out), b->length);
	assert_int_equal(fclose(out), 0);
}

static void binary_files_say_the_same(void **state)
{
	struct binary b = two_ranks();

	(void)state;
	put_binary(&b);
	assert_operations(ALL, "0>1 9b\n0 700ns e0\n1 50ns d0\n1 60ns b2\n");
}

static void refuses_change(size_t at, uint64_t value, size_t bytes, const char *message)
{
	struct binary b = two_ranks();
	char all[600];

	set_number(&b, 8 + at, value, bytes);
	put_binary(&b);
	snprintf(all, sizeof(all), "workload.0.goal.file: " LIST "%s", message);
	refuses(ALL, all);
}

static void binary_files_are_checked(void **state)
{
	const size_t send_at = RANK0_AT + 12, receive_at = RANK1_AT + 16;
	struct binary b = two_ranks();

	(void)state;
	refuses_change(0, 0, 4, ": its beginning is cut off, or is none");
	refuses_change(0, 1000, 4, ": its beginning is cut off, or is none");
	refuses_change(
		6, RANK0_AT - 1, 8, ": rank 0 is from byte 37 to 132; expected from 38 to 273");
	refuses_change(
		22, RANK0_AT, 8, ": rank 1 is from byte 38 to 273; expected from 132 to 273");
	refuses_change(
		30, END_AT + 1, 8, ": rank 1 is from byte 132 to 274; expected from 132 to 273");
	refuses_change(30, RANK1_AT + 7, 8, ": rank 1 has a part of 7 bytes");
	refuses_change(RANK0_AT, 3, 4, ": 3 operations of rank 0 do not fit its part");
	refuses_change(RANK0_AT + 4, UINT32_MAX, 4, ": 2 operations of rank 0 do not fit its part");
	refuses_change(send_at + 4, 4, 1, " operation 0: rank 0: of type 4; expected 1, 2 or 3");
	refuses_change(
		send_at + 5, 2, 4, " operation 0: rank 0: there is no rank 2; the file has 2");
	refuses_change(send_at + 5, UINT32_MAX, 4,
		" operation 0: rank 0: there is no rank 4294967295; the file has 2");
	refuses_change(
		send_at + 9, 1ull << 41, 8, " operation 0: rank 0: 2199023255552 bytes with tag 4");
	refuses_change(send_at + 23, 2, 4,
		" operation 0: rank 0: 2 that depend on it, from index 0 on; there are 1");
	refuses_change(send_at + 27, 1, 4,
		" operation 0: rank 0: 1 that depend on it, from index 1 on; there are 1");
	refuses_change(
		RANK1_AT - 4, 2, 4, " operation 0: rank 0: operation 2 depends on it; there are 2");
	refuses_change(RANK1_AT - 4, 0, 4,
		" operation 0: a circle: rank 0: a send (operation 0) waits for a send (operation 0)");
	refuses_change(receive_at + 9, 8, 8,
		" operation 0: rank 1: a receive of 8b; rank 0 sends it 9b in operation 0");
	b.length = 8;
	put_binary(&b);
	refuses(ALL, "workload.0.goal.file: " LIST ": its beginning is cut off, or is none");
}

/* ---- what is refused ---- */

static void refuses_goal(const char *text, const char *message)
{
	char all[600];

	put(text);
	snprintf(all, sizeof(all), "workload.0.goal.file: " LIST "%s%s", *message == ':' ? "" : " ",
		message);
	refuses(ALL, all);
}

#define RANK0(text) "num_ranks 2\nrank 0 {\n" text "\n}\n"

static void mistakes_have_their_line(void **state)
{
	(void)state;
	refuses_goal("", "line 1: expected num_ranks and how many there are; the file ends");
	refuses_goal("\nrank 0 {\n}\n",
		"line 2: expected num_ranks and how many there are; it says 'rank'");
	refuses_goal("num_ranks 0\n", "line 1: num_ranks 0; expected at least 1");
	refuses_goal("num_ranks 1000001\n", "line 1: the number of ranks is above 1000000");
	refuses_goal("num_ranks 2\n", ": no rank does anything");
	refuses_goal("num_ranks 17\nrank 0 {\ncalc 1\n}\n",
		"has 17 ranks; ranks_per_host is 1, and the fabric has 16 hosts");
	refuses_goal("num_ranks 2\nrank 2 {\n}\n", "line 2: there is no rank 2; num_ranks is 2");
	refuses_goal(RANK0("") "rank 0 {\n}\n", "line 5: rank 0 again; it begins in line 2");
	refuses_goal("num_ranks 2\nrank 0\n", "line 2: expected '{'; the line ends");
	refuses_goal(
		"num_ranks 2\nrank 0 {\ncalc 1\n", "line 2: rank 0: there is no '}' that ends it");
	refuses_goal(RANK0("calc 1") "}\n", "line 5: expected rank; it says '}'");
	refuses_goal(RANK0("/* calc 1"), "line 3: a comment that does not end");
	refuses_goal(
		RANK0("a: sned 1b to 1"), "line 3: expected send, recv or calc; it says 'sned'");
	refuses_goal(RANK0("5"), "line 3: expected send, recv, calc, a label or '}'; it says '5'");
	refuses_goal(
		RANK0("\033"), "line 3: expected send, recv, calc, a label or '}'; it says '?'");
	refuses_goal(RANK0("send 1 to 1"), "line 3: expected b, for bytes; it says 'to'");
	refuses_goal(RANK0("send 1b from 1"), "line 3: expected to, and a rank; it says 'from'");
	refuses_goal(RANK0("recv 1b to 1"), "line 3: expected from, and a rank; it says 'to'");
	refuses_goal(RANK0("send 1b to -1"), "line 3: expected a rank; it says '-'");
	refuses_goal(RANK0("send 1b to 1 tag -1"), "line 3: expected a tag; it says '-'");
	refuses_goal(RANK0("send 1b to 2"), "line 3: rank 0: there is no rank 2; num_ranks is 2");
	refuses_goal(RANK0("calc 1 tag 5"),
		"line 3: expected cpu, nic or the line's end; it says 'tag'");
	refuses_goal(RANK0("calc 1 cpu 256"), "line 3: the number of a cpu is above 255");
	refuses_goal(
		RANK0("calc 18446744073709551616"), "line 3: a time is above 18446744073709551615");
	refuses_goal(RANK0("calc 864000000000001"),
		"line 3: rank 0: a calc of 864000000000001 takes more than ten days");
	refuses_goal(RANK0("send 68719476737b to 1"),
		"line 3: rank 0: 68719476737 bytes; a message has at most 2^24 packets, 68719476736 bytes");
	refuses_goal(RANK0("a: calc 1 calc 2"),
		"line 3: expected cpu, nic or the line's end; it says 'calc'");
	refuses_goal(RANK0("a: calc 1 }"), "line 4: expected rank; it says '}'");
	refuses_goal(RANK0("a needs b"),
		"line 3: expected ':', requires or irequires behind a label; it says 'needs'");
	refuses_goal(RANK0("a: calc 1\na requires"), "line 4: expected a label; the line ends");
	refuses_goal(RANK0("a: calc 1\na requires a b"),
		"line 4: expected the end of the line; it says 'b'");
	refuses_goal(RANK0("a: calc 1\na requires b"),
		"line 4: rank 0: there is no label 'b' in the lines above");
	refuses_goal(RANK0("a: calc 1") "rank 1 {\nb: calc 1\nb requires a\n}\n",
		"line 7: rank 1: there is no label 'a' in the lines above");
	refuses_goal(RANK0("ab: calc 1\nab: calc 2"),
		"line 4: rank 0: the label 'ab' again; line 3 has it");
}

static void what_can_not_end_is_named(void **state)
{
	(void)state;
	refuses_goal(RANK0("l1: send 9b to 1") "rank 1 {\nl1: recv 9b from 0 tag 5\n}\n",
		"line 6: rank 1: l1 waits for ever: no send from rank 0 with tag 5 is left for it");
	refuses_goal(RANK0("send 9b to 1") "rank 1 {\na: recv 9b from 0\na: calc 1\n}\n",
		"line 7: rank 1: the label 'a' again; line 6 has it");
	refuses_goal(RANK0("send 9b to 1") "rank 1 {\nrecv 9b from 0\nrecv 9b from -1 tag -1\n}\n",
		"line 7: rank 1: a receive waits for ever: no send from any rank with any tag is left for it");
	/* what waits for that is not what is named */
	refuses_goal("num_ranks 2\nrank 0 {\na: recv 1b from 1\n}\nrank 1 {\na: send 1b to 0\n"
		     "b: calc 1\nc: recv 1b from 0\na requires b\nb requires c\n}\n",
		"line 8: rank 1: c waits for ever: no send from rank 0 with tag 0 is left for it");
	refuses_goal(RANK0("l1: send 9b to 1 tag 3"),
		"line 3: rank 0: nothing receives l1: rank 1 has no receive with tag 3 left for it");
	refuses_goal(RANK0("l1: send 9b to 1") "rank 1 {\nl1: recv 8b from 0\n}\n",
		"line 6: rank 1: a receive of 8b; rank 0 sends it 9b in line 3");
	refuses_goal(RANK0("a: calc 1\na irequires a"),
		"line 3: a circle: rank 0: a (line 3) waits for a (line 3)");
	refuses_goal("num_ranks 2\nrank 0 {\nx: calc 5\ns: send 1b to 1\nr: recv 1b from 1\n"
		     "x requires s\ns requires r\n}\n"
		     "rank 1 {\nr: recv 1b from 0\ns: send 1b to 0\ns irequires q\nq: calc 1\n}\n",
		"line 12: rank 1: there is no label 'q' in the lines above");
	refuses_goal("num_ranks 2\nrank 0 {\nx: calc 5\ns: send 1b to 1\nr: recv 1b from 1\n"
		     "x requires s\ns requires r\n}\n"
		     "rank 1 {\nr: recv 1b from 0\nsend 1b to 0\nq: calc 1\nq requires r\n"
		     "s: send 1b to 0 tag 1\ns requires q\nt: recv 1b from -1 tag -1\n}\n",
		"line 16: rank 1: t waits for ever: no send from any rank with any tag is left for it");
	refuses_goal("num_ranks 2\nrank 0 {\nx: calc 5\ns: send 1b to 1\nr: recv 1b from 1\n"
		     "x requires s\ns requires r\n}\n"
		     "rank 1 {\nr: recv 1b from 0\nq: calc 1\nq requires r\ns: send 1b to 0\n"
		     "s requires q\n}\n",
		"line 4: a circle: rank 0: s (line 4) waits for r (line 5), which waits for rank 1: "
		"s (line 13), which waits for q (line 11), which waits for r (line 10), which waits for "
		"rank 0: s (line 4)");
}

static void hosts_fit_the_ranks(void **state)
{
	(void)state;
	put("num_ranks 3\nrank 0 {\ncalc 1\n}\n");
	refuses(SIXTEEN "  - goal: {file: " LIST ", hosts: [h0, h1]}\n",
		"workload.0.goal.hosts: 2 for the 3 ranks of " LIST);
	expect(SIXTEEN "  - goal: {file: " LIST ", hosts: [h0, h1, h0]}\n",
		"4:46: workload.0.goal.hosts.2: 'h0' again; ranks_per_host is 1\n");
	expect(SIXTEEN "  - goal: {start: 1us}\n",
		"4:11: workload.0.goal.file: missing; expected the name of a GOAL file\n");
}

/* ---- time ---- */

#define STAR                                                                                       \
	"name: a\ntopology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 8}, delay: 1us}\n" \
	"workload:\n"

static double figure(const json_t *summary, const char *path)
{
	double value;

	assert_int_equal(summary_lookup(summary, path, &value), 0);
	return value;
}

/* A number of the summary, of a run that met all expectations. */
static double run(const char *scenario, const char *path)
{
	struct small_session s;
	json_t *summary;
	double value;
	bool met;

	small_session_open(&s, scenario, NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_string_equal(look_text(summary, "ended_by"), "workload");
	value = figure(summary, path);
	json_decref(summary);
	small_session_close(&s);
	return value;
}

static double goal_us(const char *goal)
{
	put(goal);
	return run(STAR "  - goal: {file: " LIST "}\n", "goal.time_us");
}

/* A packet of 1000 bytes, which has 98 more on the wire, over two links of 100 Gbps. */
#define WIRE_US   (1098 * 8 / 100e3)
#define PACKET_US (2 * (WIRE_US + 1))

static void time_is_the_closed_form(void **state)
{
	(void)state;
	assert_float_equal(goal_us("num_ranks 1\nrank 0 {\na: calc 2000\nb: calc 500\n"
				   "b requires a\n}\n"),
		2.5, 1e-9);
	assert_float_equal(goal_us("num_ranks 1\nrank 0 {\na: calc 2000\nb: calc 500 cpu 1\n"
				   "b irequires a\n}\n"),
		2, 1e-9);
	assert_float_equal(goal_us("num_ranks 3\nrank 0 {\nsend 1000b to 1\n}\n"
				   "rank 1 {\nr: recv 1000b from 0\nc: calc 3000\nc requires r\n"
				   "s: send 1000b to 2\ns requires c\n}\n"
				   "rank 2 {\nrecv 1000b from 1\n}\n"),
		2 * PACKET_US + 3, 1e-9);
	/* the second message follows the first on the wire */
	assert_float_equal(goal_us("num_ranks 3\nrank 0 {\na: send 1000b to 1\nb: send 1000b to 2\n"
				   "b irequires a\n}\nrank 1 {\nrecv 1000b from 0\n}\n"
				   "rank 2 {\nrecv 1000b from 0\n}\n"),
		PACKET_US + WIRE_US, 1e-9);
	/* and here when its sender knows that the first has come: an answer later */
	assert_float_equal(goal_us("num_ranks 3\nrank 0 {\na: send 1000b to 1\nb: send 1000b to 2\n"
				   "b requires a\n}\nrank 1 {\nrecv 1000b from 0\n}\n"
				   "rank 2 {\nrecv 1000b from 0\n}\n"),
		2 * PACKET_US + 2, 0.03);
	/* a message that has come, and one that has not, as its receive begins */
	assert_float_equal(goal_us("num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\n"
				   "a: calc 9000\nr: recv 1000b from 0\nr requires a\n"
				   "c: calc 1000\nc requires r\n}\n"),
		10, 1e-9);
	assert_float_equal(goal_us("num_ranks 2\nrank 0 {\nw: calc 20000\ns: send 1000b to 1\n"
				   "s requires w\n}\nrank 1 {\na: calc 9000\nr: recv 1000b from 0\n"
				   "r requires a\nb: calc 5000\nb irequires r\nc: calc 1000\n"
				   "c requires r\nd: calc 90\nd requires b\n}\n"),
		20 + PACKET_US + 1, 1e-9);
}

/* Those of one cpu in turn, in the order in which they could begin; those of others beside them. */
static void a_cpu_does_one_calc_at_a_time(void **state)
{
	(void)state;
	assert_float_equal(goal_us("num_ranks 2\nrank 0 {\ncalc 2000\ncalc 500\ncalc 700 cpu 3\n"
				   "}\nrank 1 {\ncalc 2400\n}\n"),
		2.5, 1e-9);
	/* c stands first, and could begin last; d waits for it, and b for nothing but its turn */
	assert_float_equal(
		goal_us("num_ranks 1\nrank 0 {\na: calc 1000 cpu 1\nc: calc 4000\n"
			"c requires a\nd: calc 300 cpu 1\nd requires c\nb: calc 1500\n}\n"),
		1.5 + 4 + 0.3, 1e-9);
	/* what waits for its begin waits for its turn */
	assert_float_equal(goal_us("num_ranks 1\nrank 0 {\na: calc 1000\nb: calc 2000\n"
				   "c: calc 5000 cpu 1\nc irequires b\n}\n"),
		1 + 5, 1e-9);
}

#define SHARED                                                                                     \
	STAR "  - goal: {file: " LIST ", ranks_per_host: 2, inside: {rate: 8Gbps, delay: 3us}}\n"

/* Ranks of a host have a port each for what they send to each other. */
static void ranks_share_hosts(void **state)
{
	(void)state;
	put("num_ranks 4\nrank 0 {\nsend 1000b to 1\nsend 500b to 1\nsend 1000b to 0\n"
	    "recv 1000b from 0\n}\nrank 1 {\nrecv 1000b from 0\nr: recv 500b from 0\n"
	    "c: calc 700\nc requires r\nsend 2000b to 0 tag 1\n}\n"
	    "rank 2 {\ncalc 10\n}\nrank 3 {\ncalc 10\n}\n");
	refuses(SHARED,
		"workload.0.goal.file: " LIST
		" line 13: rank 1: nothing receives a send: rank 0 has no receive with tag 1 left for it");
	put("num_ranks 4\nrank 0 {\nsend 1000b to 1\nsend 500b to 1\nsend 1000b to 0\n"
	    "recv 1000b from 0\n}\nrank 1 {\nrecv 1000b from 0\nr: recv 500b from 0\n"
	    "c: calc 700\nc requires r\n}\n"
	    "rank 2 {\ncalc 10\n}\nrank 3 {\ncalc 10\n}\n");
	/* 1 us and half of one, one after the other; the way; a calc */
	assert_float_equal(run(SHARED, "goal.time_us"), 1 + 0.5 + 3 + 0.7, 1e-9);
	assert_float_equal(run(SHARED, "flows.count"), 0, 0);
	/* to another host it is a message, and all ranks fit half as many hosts */
	put("num_ranks 16\nrank 1 {\nsend 1000b to 2\n}\nrank 2 {\nrecv 1000b from 1\n}\n");
	assert_float_equal(run(SHARED, "goal.time_us"), PACKET_US, 1e-9);
	put("num_ranks 17\nrank 1 {\ncalc 1\n}\n");
	refuses(SHARED, "workload.0.goal.file: " LIST
			" has 17 ranks; ranks_per_host is 2, and the fabric has 8 hosts");
}

#define RANKS   8
#define SEGMENT 50000 /* no whole packets: each message has a connection of its own in both */

/* Each sends on what it has received, so often that all have all. */
static void put_ring(void)
{
	FILE *out = fopen(LIST, "we");

	assert_non_null(out);
	fprintf(out, "num_ranks %d\n", RANKS);
	for (int r = 0; r < RANKS; r++) {
		fprintf(out, "rank %d {\n", r);
		for (int k = 0; k < 2 * (RANKS - 1); k++) {
			fprintf(out, "s%d: send %db to %d tag %d\n", k, SEGMENT, (r + 1) % RANKS,
				k);
			fprintf(out, "r%d: recv %db from %d tag %d\n", k, SEGMENT,
				(r + RANKS - 1) % RANKS, k);
			if (k)
				fprintf(out, "s%d requires r%d\n", k, k - 1);
		}
		fprintf(out, "}\n");
	}
	assert_int_equal(fclose(out), 0);
}

static void a_ring_is_the_collective(void **state)
{
	char collective[300];
	double goal;

	(void)state;
	put_ring();
	goal = run(STAR "  - goal: {file: " LIST "}\n", "goal.time_us");
	snprintf(collective, sizeof(collective),
		STAR "  - collective: {op: all_reduce, size: %dB, chunk: off}\n", RANKS * SEGMENT);
	assert_float_equal(goal, run(collective, "collectives.time_us.max"), goal / 1000);
}

static void results_tell_of_each_graph(void **state)
{
	struct small_session s;
	json_t *summary, *entry;
	bool met;

	(void)state;
	put("num_ranks 2\nrank 0 {\nsend 1000b to 1\na: calc 1000\n}\nrank 1 {\n"
	    "r: recv 1000b from 0\na: calc 1000\na requires r\nb: calc 0\nb requires a\n}\n");
	small_session_open(&s,
		STAR "  - goal: {file: " LIST ", start: 50us}\n"
		     "  - pairs: {from: h3, to: h4, message: 1000B}\n"
		     "  - goal: {file: " LIST ", calc_unit: 4ns, hosts: [h5, h6]}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "goal.count"), 2);
	assert_int_equal(figure(summary, "goal.unfinished"), 0);
	assert_float_equal(figure(summary, "goal.time_us"), PACKET_US + 4, 1e-9);
	assert_int_equal(json_array_size(look(summary, "goal.entries")), 2);
	entry = json_array_get(look(summary, "goal.entries"), 0);
	assert_string_equal(look_text(entry, "file"), LIST);
	assert_string_equal(look_text(entry, "last"), "h1");
	assert_int_equal(figure(entry, "messages"), 1);
	assert_int_equal(figure(entry, "calcs"), 2);
	assert_float_equal(figure(entry, "compute_us"), 1, 1e-9);
	assert_float_equal(figure(entry, "time_us"), PACKET_US + 1, 1e-9);
	entry = json_array_get(look(summary, "goal.entries"), 1);
	assert_string_equal(look_text(entry, "last"), "h6");
	assert_float_equal(figure(entry, "time_us"), PACKET_US + 4, 1e-9);
	json_decref(summary);
	small_session_close(&s);
}

/* Of what has not ended there is no time. */
static void what_is_cut_off_has_no_time(void **state)
{
	struct small_session s;
	json_t *summary, *entry;
	bool met;

	(void)state;
	put("num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\nr: recv 1000b from 0\n"
	    "a: calc 9000\na requires r\nb: calc 1\nb requires a\n}\n");
	small_session_open(&s, STAR "  - goal: {file: " LIST "}\nuntil: 5us\n", NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "flows.unfinished"), 0);
	assert_int_equal(figure(summary, "goal.unfinished"), 1);
	assert_true(json_is_null(look(summary, "goal.time_us")));
	entry = json_array_get(look(summary, "goal.entries"), 0);
	assert_int_equal(figure(entry, "unfinished"), 2);
	assert_true(json_is_null(look(entry, "time_us")));
	assert_true(json_is_null(look(entry, "last")));
	json_decref(summary);
	small_session_close(&s);
}

/* A run lasts for its computations too, however long: until: auto does not end it before. */
static void runs_end_with_the_last_calc(void **state)
{
	(void)state;
	assert_float_equal(
		goal_us("num_ranks 2\nrank 0 {\na: calc 5000000000\nb: calc 0\nb requires a\n}\n"),
		5e6, 1e-9);
}

static double seconds_of(uint32_t lines)
{
	FILE *out = fopen(LIST, "we");
	struct timespec from, to;
	struct operations m;

	assert_non_null(out);
	fputs("num_ranks 16\n", out);
	for (uint32_t r = 0; r < 16; r++) {
		fprintf(out, "rank %u {\n", r);
		for (uint32_t i = 0; i < lines / 64; i++) {
			fprintf(out, "l%u: send 4096b to %u tag %u\n", 2 * i, (r + 1) % 16, i % 7);
			fprintf(out, "l%u: recv 4096b from %u tag %u\n", 2 * i + 1, (r + 15) % 16,
				i % 7);
			if (i)
				fprintf(out, "l%u requires l%u\nl%u requires l%u\n", 2 * i,
					2 * i - 1, 2 * i + 1, 2 * i - 2);
		}
		fputs("}\n", out);
	}
	assert_int_equal(fclose(out), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	m = operations_of(ALL, 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_true(m.count >= lines / 4);
	operations_release(&m);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
}

/* 16 times the lines take 16 times as long, not 256. */
static void time_follows_the_lines(void **state)
{
	double few, many;

	(void)state;
	few = seconds_of(10000);
	many = seconds_of(16 * 10000);
	assert_true(many < 48 * few);
}

static int remove_list(void **state)
{
	(void)state;
	unlink(LIST);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_are_operations),
		cmocka_unit_test(dependences_are_waits),
		cmocka_unit_test(receives_that_wait_end_later),
		cmocka_unit_test(the_first_of_those_that_fit),
		cmocka_unit_test(any_rank_and_any_tag),
		cmocka_unit_test(messages_to_oneself_take_no_time),
		cmocka_unit_test(keys_of_the_workload),
		cmocka_unit_test(binary_files_say_the_same),
		cmocka_unit_test(binary_files_are_checked),
		cmocka_unit_test(mistakes_have_their_line),
		cmocka_unit_test(what_can_not_end_is_named),
		cmocka_unit_test(hosts_fit_the_ranks),
		cmocka_unit_test(time_is_the_closed_form),
		cmocka_unit_test(a_cpu_does_one_calc_at_a_time),
		cmocka_unit_test(ranks_share_hosts),
		cmocka_unit_test(a_ring_is_the_collective),
		cmocka_unit_test(results_tell_of_each_graph),
		cmocka_unit_test(what_is_cut_off_has_no_time),
		cmocka_unit_test(runs_end_with_the_last_calc),
		cmocka_unit_test(time_follows_the_lines),
	};

	return cmocka_run_group_tests(tests, NULL, remove_list);
}
