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
#include "base/rng.h"
#include "dataplane/kernel.h"
#include "io/netlink.h"
#include "io/netns.h"
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

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

static int test_run_open(struct dataplane **ret, struct error *why)
{
	struct sw_tables sizes = bench_sizes();
	struct test_run *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return error_set(why, -ENOMEM, "out of memory");
	r = dataplane_kernel_load(&t->kernel, &sizes, PACKET_MAX, why);
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
static int make_pair(struct rtnl *r, int ns, uint32_t a, uint32_t b, int program, struct error *why)
{
	struct veth_end ends[2] = {
		{.netns_fd = ns, .index = a, .mac = {2, 0, 0, 0, 0, 1}},
		{.netns_fd = ns, .index = b, .mac = {2, 0, 0, 0, 0, 2}},
	};
	int e;

	snprintf(ends[0].name, sizeof(ends[0].name), "p%u", a);
	snprintf(ends[1].name, sizeof(ends[1].name), "p%u", b);
	e = rtnl_add_veth(r, &ends[0], &ends[1], 1500, why);
	for (int i = 0; i < 2 && !e; i++) {
		e = rtnl_no_autoconf(r, ends[i].index, why);
		if (!e)
			e = rtnl_attach_xdp(r, ends[i].index, program, why);
		if (!e)
			e = rtnl_link_up(r, ends[i].index, why);
	}
	return e;
}

static int make_interfaces(struct rtnl *r, int program, struct error *why)
{
	int ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), e;

	if (ns < 0)
		return error_set(
			why, -errno, "cannot open the network namespace: %s", strerror(errno));
	e = make_pair(r, ns, BENCH_HOST_PORT, BENCH_IN, program, why);
	if (!e)
		e = make_pair(r, ns, NO_PORT, NO_PORT + 1, program, why);
	if (!e)
		e = rtnl_flush(r, why);
	close(ns);
	return e;
}

/* The programs are loaded and the process is in a namespace of its own, with the interfaces. */
static int set_up(struct dataplane **ret, struct error *why)
{
	struct rtnl *rtnl;
	int r;

	r = netns_enter_anonymous();
	if (r < 0)
		return error_set(why, r, "cannot make a network namespace: %s", strerror(-r));
	r = test_run_open(ret, why);
	if (r < 0)
		return r;
	r = rtnl_open(&rtnl, why);
	if (!r) {
		r = make_interfaces(rtnl, test_run_of(*ret)->fds[PORT_SWITCH], why);
		rtnl_close(rtnl);
	}
	if (r < 0)
		test_run_close(*ret);
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

static struct packet_spec random_spec(uint64_t *rng)
{
	static const uint8_t protocols[] = {17, 17, 17, 17, 6, 58};
	struct packet_spec s = packet_spec_default;

	s.ip6 = rng_below(rng, 2);
	s.src_host = rng_below(rng, 1 << 16);
	s.dst_host = rng_below(rng, 2) ? rng_below(rng, 130) : BENCH_HOST + rng_below(rng, 12);
	s.tos = (uint8_t)rng_take(rng);
	s.ttl = (uint8_t)(rng_below(rng, 8) ? rng_below(rng, 256) : rng_below(rng, 3));
	s.protocol = protocols[rng_below(rng, sizeof(protocols))];
	s.options = (uint8_t)(rng_below(rng, 8) ? 0 : rng_below(rng, 11));
	s.id = (uint16_t)rng_take(rng);
	s.fragment = (uint16_t)(rng_below(rng, 8) ? 0x4000 : rng_take(rng));
	s.flow_label = rng_below(rng, 1 << 20);
	s.src_port = (uint16_t)rng_take(rng);
	s.payload = (uint16_t)rng_below(rng, 9000);
	return s;
}

static void random_trial(struct trial *t, uint64_t *rng)
{
	struct packet_spec spec = random_spec(rng);

	trial_init(t, &spec);
	t->at = rng_below(rng, 4) ? BENCH_IN : BENCH_HOST_PORT;
	t->hop.behind_bytes = rng_below(rng, 40000);
	t->hop.started_ps = rng_below(rng, 2000);
	t->hop.now_ps = t->hop.started_ps + rng_below(rng, 2000);
	if (!rng_below(rng, 8))
		t->hop.length += rng_below(rng, 100) - 50;
	if (!rng_below(rng, 8))
		t->in.captured = rng_below(rng, t->in.captured + 1);
	for (uint32_t n = rng_below(rng, 4) ? 0 : rng_below(rng, 4); n && t->in.captured; n--)
		t->in.bytes[rng_below(rng, t->in.captured)] = (uint8_t)rng_take(rng);
}

/* What control and engine do to the tables between frames. */
static void random_change(const struct sw_tables *t, uint64_t rng)
{
	struct port *port = &t->ports[BENCH_HOST_PORT + rng_below(&rng, BENCH_PORTS)];
	struct port *in = &t->ports[BENCH_HOST_PORT + rng_below(&rng, 2)];

	port->buffer_bytes = rng_below(&rng, 50000);
	port->depth_bytes -= rng_below(&rng, port->depth_bytes + 1);
	in->up = rng_below(&rng, 8) > 0;
	in->up_since_ps = rng_below(&rng, 1000);
	in->kmin_bytes = rng_below(&rng, 20000);
	in->kmax_bytes = rng_below(&rng, 4) ? rng_below(&rng, 40000) : 0;
	in->pmax = rng_below(&rng, 65537);
	t->switches[0].hash_seed = rng_take(&rng);
}

/* Every kind of end was seen, so that the comparison was one of something. */
static void assert_all_reasons_seen(const struct sw_tables *t, unsigned delivered)
{
	uint64_t marked = 0, depth = 0;

	for (unsigned reason = DROP_NONE + 1; reason < DROP_FOREIGN; reason++) {
		uint64_t sum = 0;

		for (uint32_t port = 0; port < t->port_count; port++)
			sum += t->drops[port].frames[reason];
		assert_true(sum > 0);
	}
	for (uint32_t port = 0; port < t->port_count; port++) {
		marked += t->ports[port].marked_frames;
		depth += t->ports[port].max_depth_bytes > 0;
	}
	assert_true(marked > 0 && depth > BENCH_PORTS / 2 && delivered > 0);
}

static void stream_is_alike_native_and_in_the_kernel(void **state)
{
	struct sw_tables sizes = bench_sizes();
	struct switch_bench *kernel = *state, *native;
	uint64_t rng = rng_stream(1, "stream", 0);
	unsigned delivered = 0;
	struct dataplane *dp;

	assert_int_equal(dataplane_inline_open(&dp, &sizes, PACKET_MAX), 0);
	native = bench_open(dp);
	bench_tables(&dp->tables);
	for (unsigned i = 0; i < STREAM; i++) {
		struct verdict a, b;
		struct packet out_a, out_b;
		struct trial t;

		random_trial(&t, &rng);
		a = trial_run(native, &t, &out_a);
		b = trial_run(kernel, &t, &out_b);
		packet_assert_equal("the verdict", (uint8_t *)&b, (uint8_t *)&a, sizeof(a));
		packet_assert_equal("the frame", out_b.bytes, out_a.bytes, t.in.captured);
		tables_assert_equal(&kernel->dp->tables, &native->dp->tables);
		delivered += a.action == VERDICT_DELIVER;
		if (i % 10 == 0) {
			uint64_t change = rng_take(&rng);

			random_change(&native->dp->tables, change);
			random_change(&kernel->dp->tables, change);
		}
	}
	assert_all_reasons_seen(&native->dp->tables, delivered);
	bench_close(native);
}

static void kernel_cannot(void **state)
{
	const struct error *why = *state;

	print_message("not run: %s\n", why->text);
	skip();
}

static int run_cases(struct switch_bench *b)
{
#define CASE(test)        cmocka_unit_test_prestate_setup_teardown(test, bench_reset, NULL, b)
#define SHARED_CASE(name) CASE(switch_##name),
	const struct CMUnitTest tests[] = {CASE(shorter_than_a_hop_header), CASE(without_the_magic),
		CASE(at_an_interface_that_is_no_port),
		CASE(stream_is_alike_native_and_in_the_kernel), SWITCH_CASES(SHARED_CASE)};

	return cmocka_run_group_tests_name("switch, in the kernel", tests, NULL, NULL);
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
	struct switch_bench *b;
	struct dataplane *dp = NULL;
	int r = set_up(&dp, &why);

	if (r == -EPERM || r == -ENOSYS)
		return cmocka_run_group_tests_name("switch, in the kernel", refused, NULL, NULL);
	if (r < 0) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	b = bench_open(dp);
	r = run_cases(b);
	bench_close(b);
	return r;
}
