/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The switch programs as the kernel runs them: the same cases as natively, through
 * BPF_PROG_TEST_RUN, and a random stream that must come out alike from both.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include "dataplane/kernel.h"
#include "io/netlink.h"
#include "io/netns.h"
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"
#include "lib/switch_stream.h"

#define NO_PORT 1000u /* an interface that is not in the port table */
#define STREAM  5000u

/* The kernel dataplane's programs and maps, with test runs in the place of veths and sockets. */
struct test_run {
	struct dataplane dp;
	struct dataplane *kernel;
	int fds[2]; /* by enum port_kind */
};

static struct test_run *test_run_of(struct dataplane *dp)
{
	return (struct test_run *)((char *)dp - offsetof(struct test_run, dp));
}

/* One run; data is rewritten in place. The program's return value, or -errno. */
static int test_run(int program, uint32_t ifindex, void *data, uint32_t bytes)
{
	struct xdp_md md = {.data_end = bytes, .ingress_ifindex = ifindex};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data, .data_size_in = bytes,
		.data_out = data, .data_size_out = bytes, .ctx_in = &md, .ctx_size_in = sizeof(md),
		.repeat = 1);
	int r = bpf_prog_test_run_opts(program, &opts);

	if (r < 0)
		return r;
	return opts.data_size_out == bytes ? (int)opts.retval : -EMSGSIZE;
}

/*
 * Without sockets in the map the redirect falls back to a drop; the verdict is there all the same.
 */
static int test_run_submit(
	struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	struct test_run *t = test_run_of(dp);
	int program = t->fds[dp->tables.ports[port].kind];

	for (unsigned i = 0; i < n; i++) {
		int r = test_run(program, port, frames[i].frame, HOP_BYTES + frames[i].captured);

		if (r < 0)
			return r;
		if (r != XDP_DROP)
			return -EPROTO;
	}
	return 0;
}

static void test_run_close(struct dataplane *dp)
{
	struct test_run *t = test_run_of(dp);

	t->kernel->ops->close(t->kernel);
	free(t);
}

static const struct dataplane_ops test_run_ops = {
	.name = "test run",
	.submit = test_run_submit,
	.close = test_run_close,
};

static int test_run_open(struct dataplane **ret, const struct sw_sizes *sizes, struct error *why)
{
	struct test_run *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return error_set(why, -ENOMEM, "out of memory");
	r = dataplane_kernel_load(&t->kernel, sizes, PACKET_MAX, NULL, NULL, why);
	if (r < 0) {
		free(t);
		return r;
	}
	t->dp = *t->kernel;
	t->dp.ops = &test_run_ops;
	t->fds[PORT_HOST] = dataplane_kernel_program_fd(t->kernel, PORT_HOST);
	t->fds[PORT_SWITCH] = dataplane_kernel_program_fd(t->kernel, PORT_SWITCH);
	*ret = &t->dp;
	return 0;
}

/*
 * An interface is only taken as the ingress of a test run if its receive queue is set up: native
 * XDP, and up.
 */
static void make_pair(struct rtnl *r, int ns, uint32_t a, uint32_t b, int program)
{
	struct veth_end ends[2] = {
		{.netns_fd = ns, .index = a, .mac = {2, 0, 0, 0, 0, 1}},
		{.netns_fd = ns, .index = b, .mac = {2, 0, 0, 0, 0, 2}},
	};

	snprintf(ends[0].name, sizeof(ends[0].name), "p%u", a);
	snprintf(ends[1].name, sizeof(ends[1].name), "p%u", b);
	rtnl_add_veth(r, &ends[0], &ends[1], 1500);
	for (int i = 0; i < 2; i++) {
		rtnl_no_autoconf(r, ends[i].index);
		rtnl_attach_xdp(r, ends[i].index, program);
		rtnl_link_up(r, ends[i].index);
	}
}

static int make_interfaces(struct rtnl *r, int program, struct error *why)
{
	int ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), e;

	if (ns < 0)
		return error_set(
			why, -errno, "cannot open the network namespace: %s", strerror(errno));
	make_pair(r, ns, BENCH_HOST_PORT, BENCH_IN, program);
	make_pair(r, ns, NO_PORT, NO_PORT + 1, program);
	e = rtnl_flush(r, why);
	close(ns);
	return e;
}

/* A network namespace of its own, with the interfaces, and a program for every kind of bench. */
static int set_up(struct dataplane *ret[BENCH_KINDS], struct error *why)
{
	struct rtnl *rtnl;
	int r;

	r = netns_enter_anonymous();
	if (r < 0)
		return error_set(why, r, "cannot make a network namespace: %s", strerror(-r));
	for (int kind = 0; kind < BENCH_KINDS && !r; kind++) {
		struct sw_sizes sizes = bench_sizes((enum bench_kind)kind);

		r = test_run_open(&ret[kind], &sizes, why);
	}
	if (!r)
		r = rtnl_open(&rtnl, why);
	if (r < 0)
		return r;
	r = make_interfaces(rtnl, test_run_of(ret[BENCH_PLAIN])->fds[PORT_SWITCH], why);
	rtnl_close(rtnl);
	return r;
}

static int programs(struct switch_bench *b, enum port_kind kind)
{
	return test_run_of(b->dp)->fds[kind];
}

/* Runs bytes that are no hop header and a frame: counted, dropped and left alone. */
static void expect_foreign(struct switch_bench *b, uint32_t port, const uint8_t *bytes, uint32_t n)
{
	uint8_t data[PACKET_MAX];

	for (int kind = PORT_HOST; kind <= PORT_SWITCH; kind++) {
		memcpy(data, bytes, n);
		assert_int_equal(test_run(programs(b, kind), port, data, n), XDP_DROP);
		packet_assert_equal("the frame", data, bytes, n);
		if (port < BENCH_PORT_COUNT)
			b->want.drops[port].frames[DROP_FOREIGN]++;
		tables_assert_equal(&b->dp->tables, &b->want);
	}
}

/* The kernel passes no frame of less than 14 bytes to a test run. */
static void shorter_than_a_hop_header(void **state)
{
	struct hop hop = {.magic = HOP_MAGIC, .length = 64};

	for (uint32_t n = 14; n < HOP_BYTES; n++)
		expect_foreign(*state, BENCH_IN, (uint8_t *)&hop, n);
}

/* A frame of a host's kernel stack, and every magic that is off by a bit. */
static void without_the_magic(void **state)
{
	uint8_t bytes[PACKET_MAX];
	struct packet p;
	struct hop hop;

	packet_build(&p, &packet_spec_default);
	expect_foreign(*state, BENCH_IN, p.bytes, p.captured);
	expect_foreign(*state, BENCH_HOST_PORT, p.bytes, p.captured);
	for (unsigned bit = 0; bit < 32; bit++) {
		hop = (struct hop){.magic = HOP_MAGIC ^ 1u << bit, .length = p.length};
		memcpy(bytes, &hop, sizeof(hop));
		memcpy(bytes + sizeof(hop), p.bytes, p.captured);
		expect_foreign(*state, BENCH_IN, bytes, HOP_BYTES + p.captured);
	}
	/* a verdict that comes round again is no hop header */
	hop = (struct hop){.magic = VERDICT_MAGIC, .length = p.length};
	memcpy(bytes, &hop, sizeof(hop));
	expect_foreign(*state, BENCH_IN, bytes, HOP_BYTES + p.captured);
}

/* There is no place to count it, and the frame goes nowhere. */
static void at_an_interface_that_is_no_port(void **state)
{
	uint8_t bytes[PACKET_MAX];
	struct hop hop = {.magic = HOP_MAGIC};
	struct packet p;

	packet_build(&p, &packet_spec_default);
	hop.length = p.length;
	memcpy(bytes, &hop, sizeof(hop));
	memcpy(bytes + sizeof(hop), p.bytes, p.captured);
	expect_foreign(*state, NO_PORT, bytes, HOP_BYTES + p.captured);
}

static struct switch_bench *open_native(const struct sw_sizes *sizes)
{
	struct dataplane *dp;

	assert_int_equal(dataplane_inline_open(&dp, sizes, PACKET_MAX), 0);
	bench_tables(&dp->tables);
	return bench_open(dp);
}

static void stream_is_alike_native_and_in_the_kernel(void **state)
{
	struct switch_bench *kernel = *state, *native;
	const struct sw_tables *t = &kernel->dp->tables;
	struct stream_seen seen;

	native = open_native(&(struct sw_sizes){
		t->count.ports, t->count.switches, t->count.routes, t->count.groups, t->config});
	seen = stream_run(kernel, native, STREAM);

	stream_assert_seen(native, &seen);
	bench_close(native);
}

/* What is off is not in a loaded program: each behaviour alone, and each that is missing alone, is
 * a program of its own. */
static void every_behaviour_is_alike_alone_and_missing(void **state)
{
	unsigned number = 0;

	(void)state;
	for (uint32_t bit = 1; bit < SW_FEATURES; bit <<= 1) {
		for (int missing = 0; missing < 2; missing++) {
			struct sw_sizes sizes = bench_sizes(BENCH_OR_RETURN);
			struct switch_bench *kernel, *native;
			struct error why = ERROR_INIT;
			struct dataplane *dp;

			sizes.config.features = missing ? SW_FEATURES & ~bit : bit;
			/* all policies at once take the verifier half a second */
			sizes.config.balances = 1u << BALANCE_ECMP | 1u << number++ % BALANCE_FILE;
			assert_int_equal(test_run_open(&dp, &sizes, &why), 0);
			kernel = bench_open(dp);
			bench_tables(&dp->tables);
			native = open_native(&sizes);
			stream_run(kernel, native, STREAM / 10);
			bench_close(native);
			bench_close(kernel);
		}
	}
}

static void kernel_cannot(void **state)
{
	const struct error *why = *state;

	print_message("not run: %s\n", why->text);
	skip();
}

/* A program at a time: what is for every way to run it, and what only test runs can show. */
static int run_cases(const char *name, struct switch_bench *b, bool full)
{
#define CASE(test)        cmocka_unit_test_prestate_setup_teardown(test, bench_reset, NULL, b)
#define SHARED_CASE(name) CASE(switch_##name),
#define OWN_CASES                                                                                  \
	CASE(shorter_than_a_hop_header), CASE(without_the_magic),                                  \
		CASE(at_an_interface_that_is_no_port),                                             \
		CASE(stream_is_alike_native_and_in_the_kernel)
	const struct CMUnitTest on_plain[] = {OWN_CASES, SWITCH_CASES(SHARED_CASE)};
	const struct CMUnitTest on_full[] = {CASE(every_behaviour_is_alike_alone_and_missing),
		OWN_CASES,
		SWITCH_CASES(SHARED_CASE) SWITCH_FULL_CASES(SHARED_CASE)
			SWITCH_TRIM_CASES(SHARED_CASE)};

	return full ? cmocka_run_group_tests_name(name, on_full, NULL, NULL)
		    : cmocka_run_group_tests_name(name, on_plain, NULL, NULL);
}

/* The same with kernel stacks, and where one of them is a gateway. */
static int run_stack_cases(const char *name, struct switch_bench *b)
{
	const struct CMUnitTest tests[] = {CASE(stream_is_alike_native_and_in_the_kernel),
		SWITCH_CASES(SHARED_CASE) SWITCH_FULL_CASES(SHARED_CASE)
			SWITCH_STACK_CASES(SHARED_CASE)};

	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

static int run_gateway_cases(const char *name, struct switch_bench *b)
{
	const struct CMUnitTest tests[] = {CASE(stream_is_alike_native_and_in_the_kernel),
		SWITCH_STACK_CASES(SHARED_CASE) SWITCH_GATEWAY_CASES(SHARED_CASE)};

	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

/* Where headers go is told by the program's configuration. */
static int run_trim_cases(const char *name, struct switch_bench *b)
{
	const struct CMUnitTest tests[] = {
		CASE(stream_is_alike_native_and_in_the_kernel), SWITCH_TRIM_CASES(SHARED_CASE)};

	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

static int run_all(struct dataplane *dps[BENCH_KINDS])
{
	struct switch_bench *b[BENCH_KINDS];
	int failed;

	for (int kind = 0; kind < BENCH_KINDS; kind++)
		b[kind] = bench_open(dps[kind]);
	failed = run_cases("switch, in the kernel, plain", b[BENCH_PLAIN], false);
	failed += run_cases("switch, in the kernel, everything on", b[BENCH_FULL], true);
	failed += run_trim_cases("switch, in the kernel, trimmed or returned", b[BENCH_OR_RETURN]);
	failed += run_trim_cases("switch, in the kernel, returned", b[BENCH_TO_SENDER]);
	failed += run_stack_cases("switch, in the kernel, with stacks", b[BENCH_STACK]);
	failed += run_gateway_cases("switch, in the kernel, with a gateway", b[BENCH_GATEWAY]);
	for (int kind = 0; kind < BENCH_KINDS; kind++)
		bench_close(b[kind]);
	return failed;
}

/*
 * What the machine does not allow is skipped. Anything else, such as a program that is refused, is
 * a failure.
 */
int main(void)
{
	struct error why = ERROR_INIT;
	const struct CMUnitTest refused[] = {
		cmocka_unit_test_prestate(kernel_cannot, &why),
	};
	struct dataplane *dps[BENCH_KINDS] = {NULL};
	int r = set_up(dps, &why);

	if (!r)
		return run_all(dps);
	for (int kind = 0; kind < BENCH_KINDS; kind++)
		if (dps[kind])
			dps[kind]->ops->close(dps[kind]);
	if (r == -EPERM || r == -ENOSYS)
		return cmocka_run_group_tests_name("switch, in the kernel", refused, NULL, NULL);
	fprintf(stderr, "%s\n", why.text);
	return 1;
}
