/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program of a host's eth0 as the kernel runs it, by BPF_PROG_TEST_RUN: what it makes of many
 * packets is what the same headers make of them natively.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "dataplane/kernel.h"
#include "egress/class.h"
#include "egress/ect.h"
#include "egress/label.h"
#include "egress/parse_ports.h"
#include "lib/packet.h"

#define PACKETS 3000
#define NEVER   (1ull << 62) /* ns */

static int load(struct dataplane **ret, const struct egress_config *config, struct error *why)
{
	const struct sw_sizes sizes = {.ports = PORT_FIRST + 1};

	return dataplane_kernel_load(ret, &sizes, PACKET_MAX, config, NULL, why);
}

static struct dataplane *load_or_fail(const struct egress_config *config)
{
	struct error why = ERROR_INIT;
	struct dataplane *dp;

	if (load(&dp, config, &why) < 0)
		fail_msg("%s", why.text);
	return dp;
}

/* In place. Whatever it does, the packet goes on to the next filter. */
static void run(struct dataplane *dp, struct packet *p)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = p->bytes, .data_size_in = p->captured,
		.data_out = p->bytes, .data_size_out = p->captured, .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(dataplane_kernel_egress_fd(dp), &opts), 0);
	assert_int_equal((int)opts.retval, TC_ACT_UNSPEC);
	assert_int_equal(opts.data_size_out, p->captured);
}

static bool has_ip6(const struct packet *p)
{
	return packet_get16(p->bytes + 12) == 0x86dd && p->captured >= PACKET_IP + 40;
}

static uint32_t label_of(const struct packet *p)
{
	const uint8_t *ip = p->bytes + PACKET_IP;

	return (ip[1] & 15u) << 16 | packet_get16(ip + 2);
}

static void set_label(struct packet *p, uint32_t label)
{
	uint8_t *ip = p->bytes + PACKET_IP;

	ip[1] = (uint8_t)((ip[1] & 0xf0) | label >> 16);
	packet_put16(ip + 2, (uint16_t)label);
}

/* What must come of it, but for labels drawn at random: those are 0. */
static void run_natively(const struct egress_config *config, struct packet *p)
{
	struct egress_packet e = {.cursor = {p->bytes, p->bytes + p->captured}};
	struct egress_flow flow = {0};

	if (!egress_parse(&e))
		return;
	egress_class(&e, config);
	egress_ect(&e, config);
	if (!e.ip6)
		return;
	egress_flow_of(&e, &flow);
	egress_set_label(&e,
		config->entropy == EGRESS_FLOW ? egress_label_flow(egress_label(&e), &flow) : 0);
}

/* Both families, few ports so that rules match, options, fragments, other protocols, short
 * frames. */
static void random_packet(uint64_t *dice, struct packet *ret)
{
	static const uint8_t protocols[] = {17, 17, 6, 6, 58, 1, 132};
	struct packet_spec s = packet_spec_default;
	uint32_t above;

	s.ip6 = rng_below(dice, 2);
	s.tos = (uint8_t)rng_below(dice, 256);
	s.protocol = protocols[rng_below(dice, sizeof(protocols))];
	s.options = (uint8_t)(rng_below(dice, 4) ? 0 : rng_below(dice, 11));
	s.fragment = (uint16_t)(rng_below(dice, 4) ? 0x4000 : rng_below(dice, 65536));
	s.flow_label = rng_below(dice, 3) ? (uint32_t)rng_below(dice, 1 << 20) : 0;
	s.src_host = rng_below(dice, 4);
	packet_build(ret, &s);
	above = PACKET_IP + (s.ip6 ? 40u : 20u + s.options * 4u);
	packet_put16(ret->bytes + above, (uint16_t)(1000 + rng_below(dice, 4)));
	packet_put16(ret->bytes + above + 2, (uint16_t)(1000 + rng_below(dice, 4)));
	if (!rng_below(dice, 8))
		packet_put16(ret->bytes + 12, rng_below(dice, 2) ? 0x0806 : 0x88cc);
	/* the kernel takes no packet for a test run that ends within its IP header */
	if (!rng_below(dice, 8))
		ret->captured = above + (uint32_t)rng_below(dice, ret->captured - above);
}

/* Returns how many packets differed from what they were before. */
static unsigned compare_many(const struct egress_config *config, uint64_t seed)
{
	struct dataplane *dp = load_or_fail(config);
	unsigned changed = 0;

	for (int i = 0; i < PACKETS; i++) {
		struct packet before, got, want;

		random_packet(&seed, &before);
		got = want = before;
		run(dp, &got);
		run_natively(config, &want);
		if (has_ip6(&got) && config->entropy != EGRESS_FLOW) {
			assert_in_range(label_of(&got), 1, LABEL_MASK);
			set_label(&got, 0);
		}
		packet_assert_equal("packet", got.bytes, want.bytes, got.captured);
		changed += memcmp(got.bytes, before.bytes, got.captured) != 0;
	}
	dp->ops->close(dp);
	return changed;
}

static void packets_come_out_alike(void **state)
{
	struct egress_config config = {.flowlet_ns = 1000};

	(void)state;
	for (config.rule_count = 0; config.rule_count <= EGRESS_RULES; config.rule_count += 4) {
		for (int i = 0; i < EGRESS_RULES; i++)
			config.rules[i] = (struct egress_rule){.port = (uint16_t)(i == 2   ? 1001
										  : i == 7 ? 1002
											   : 0),
				.dscp = (uint8_t)(60 - i)};
		for (config.entropy = EGRESS_FLOW; config.entropy <= EGRESS_PACKET;
			config.entropy++) {
			config.ect = config.entropy != EGRESS_FLOWLET;
			assert_in_range(compare_many(&config, 1), PACKETS / 8, PACKETS);
		}
	}
}

/* With nothing asked for, just IPv6 packets without a label get one. */
static void what_is_off_leaves_packets_alone(void **state)
{
	struct egress_config config = {0};
	struct dataplane *dp = load_or_fail(&config);
	uint64_t dice = 2;

	(void)state;
	for (int i = 0; i < PACKETS; i++) {
		struct packet before, got;

		random_packet(&dice, &before);
		got = before;
		run(dp, &got);
		if (has_ip6(&got) && !label_of(&before)) {
			assert_int_not_equal(label_of(&got), 0);
			set_label(&got, 0);
		}
		packet_assert_equal("packet", got.bytes, before.bytes, got.captured);
	}
	dp->ops->close(dp);
}

/* Runs n packets of one flow, or of n flows; how often the label changed. */
static unsigned label_changes(struct dataplane *dp, unsigned n, bool flows)
{
	struct packet_spec s = packet_spec_default;
	unsigned changes = 0;
	uint32_t last = 0;

	s.ip6 = true;
	for (unsigned i = 0; i < n; i++) {
		struct packet p;

		s.src_port = (uint16_t)(flows ? i : 7);
		packet_build(&p, &s);
		run(dp, &p);
		changes += i && label_of(&p) != last;
		last = label_of(&p);
	}
	return changes;
}

static void a_packet_is_a_path(void **state)
{
	struct egress_config config = {.entropy = EGRESS_PACKET};
	struct dataplane *dp = load_or_fail(&config);

	(void)state;
	assert_in_range(label_changes(dp, 1000, false), 990, 999);
	dp->ops->close(dp);
}

static void a_flowlet_is_a_path(void **state)
{
	struct egress_config config = {.entropy = EGRESS_FLOWLET, .flowlet_ns = NEVER};
	struct dataplane *dp = load_or_fail(&config);

	(void)state;
	assert_int_equal(label_changes(dp, 1000, false), 0);
	assert_in_range(label_changes(dp, 1000, true), 990, 999);
	dp->ops->close(dp);
	config.flowlet_ns = 0; /* any silence is longer */
	dp = load_or_fail(&config);
	assert_in_range(label_changes(dp, 1000, false), 990, 999);
	dp->ops->close(dp);
}

/* More flows than there is room for push each other out, and all get labels. */
static void more_flows_than_are_known(void **state)
{
	struct egress_config config = {.entropy = EGRESS_FLOWLET, .flowlet_ns = NEVER};
	struct dataplane *dp = load_or_fail(&config);

	(void)state;
	assert_in_range(label_changes(dp, 10000, true), 9900, 9999);
	dp->ops->close(dp);
}

/* The folder of this process in the cgroup2 tree; false: there is no such tree here. */
static bool own_cgroup(char *path, size_t size)
{
	char line[512], mount[256] = "", type[64] = "", within[256] = "";
	FILE *f = fopen("/proc/self/mounts", "re");

	while (f && strcmp(type, "cgroup2") && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %255s %63s", mount, type) != 2)
			type[0] = '\0';
	if (f)
		fclose(f);
	f = fopen("/proc/self/cgroup", "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "0::%255s", within);
	if (f)
		fclose(f);
	return !strcmp(type, "cgroup2") && *within &&
	       snprintf(path, size, "%s%s", mount, within) < (int)size;
}

/* A test run's packet has a socket of this process: its cgroup, and any above it. */
static void a_cgroup_is_found(void **state)
{
	struct egress_config config = {.rule_count = 1, .rules = {{.dscp = 33}}};
	struct packet_spec s = packet_spec_default;
	struct dataplane *dp;
	struct packet p;
	struct stat st;
	char path[600];

	(void)state;
	if (!own_cgroup(path, sizeof(path)) || stat(path, &st) < 0)
		skip();
	for (int wrong = 0; wrong < 2; wrong++) {
		config.rules[0].cgroup = st.st_ino + (wrong ? 1u << 30 : 0);
		dp = load_or_fail(&config);
		packet_build(&p, &s);
		run(dp, &p);
		assert_int_equal(packet_tos(&p), wrong ? s.tos : 33 << 2 | (s.tos & 3));
		dp->ops->close(dp);
	}
	config.rules[0].cgroup = 1; /* the root */
	dp = load_or_fail(&config);
	packet_build(&p, &s);
	run(dp, &p);
	assert_int_equal(packet_tos(&p), 33 << 2 | (s.tos & 3));
	dp->ops->close(dp);
}

static void kernel_cannot(void **state)
{
	const struct error *why = *state;

	print_message("not run: %s\n", why->text);
	skip();
}

int main(void)
{
	struct error why = ERROR_INIT;
	const struct egress_config nothing = {0};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_come_out_alike),
		cmocka_unit_test(what_is_off_leaves_packets_alone),
		cmocka_unit_test(a_packet_is_a_path),
		cmocka_unit_test(a_flowlet_is_a_path),
		cmocka_unit_test(more_flows_than_are_known),
		cmocka_unit_test(a_cgroup_is_found),
	};
	const struct CMUnitTest refused[] = {cmocka_unit_test_prestate(kernel_cannot, &why)};
	struct dataplane *dp;
	int r = load(&dp, &nothing, &why);

	if (!r) {
		dp->ops->close(dp);
		return cmocka_run_group_tests_name("egress, in the kernel", tests, NULL, NULL);
	}
	if (r == -EPERM || r == -ENOSYS)
		return cmocka_run_group_tests_name("egress, in the kernel", refused, NULL, NULL);
	fprintf(stderr, "%s\n", why.text);
	return 1;
}
