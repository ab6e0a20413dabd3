/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/kernel_case.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "abi/wire.h"
#include "bringup/record.h"
#include "io/netns.h"
#include "io/probe.h"

/* The host's interfaces with their flags and addresses, as text to compare. */
static char *host_interfaces(void)
{
	struct ifaddrs *all, *i;
	char *text = NULL, address[64];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(getifaddrs(&all), 0);
	for (i = all; i; i = i->ifa_next) {
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;

		address[0] = '\0';
		if (family == AF_INET)
			inet_ntop(family, &((struct sockaddr_in *)i->ifa_addr)->sin_addr, address,
				sizeof(address));
		if (family == AF_INET6)
			inet_ntop(family, &((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr, address,
				sizeof(address));
		fprintf(out, "%s %x %d %s\n", i->ifa_name, i->ifa_flags, family, address);
	}
	freeifaddrs(all);
	fclose(out);
	return text;
}

unsigned files_of(const char *dir, const char *prefix)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned n = 0;

	if (!d)
		return 0;
	while ((entry = readdir(d)))
		n += !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(d);
	return n;
}

unsigned open_files(void)
{
	return files_of("/proc/self/fd", "");
}

void assert_nothing_left(const struct kernel_case *s)
{
	char *now = host_interfaces();

	assert_int_equal(files_of(NETNS_DIR, s->name), 0);
	assert_int_equal(files_of(RECORD_DIR, s->name), 0);
	assert_string_equal(now, s->interfaces);
	free(now);
}

int kernel_case_set_up(void **state)
{
	static const uint32_t links[][2] = {{0, 2}, {1, 2}};
	struct kernel_case *s = calloc(1, sizeof(*s));
	uint64_t dice;

	assert_non_null(s);
	assert_int_equal(getrandom(&dice, sizeof(dice), 0), sizeof(dice));
	snprintf(s->name, sizeof(s->name), "test-%016llx", (unsigned long long)dice);
	s->f = hand_fabric(2, 1, links, 2);
	s->sizes = hand_sizes(s->f);
	s->interfaces = host_interfaces();
	*state = s;
	return 0;
}

int kernel_case_tear_down(void **state)
{
	struct kernel_case *s = *state;

	hand_fabric_free(s->f);
	free(s->interfaces);
	free(s);
	return 0;
}

struct build_params kernel_case_params(const struct kernel_case *s)
{
	return (struct build_params){
		.fabric = s->f,
		.name = s->name,
		.sizes = &s->sizes,
		.frame_capacity = CAPACITY,
		.gateway = HOST_NONE,
	};
}

/* Constant: it outlives the build. */
static const struct egress_config egress = {
	.rules = {{.port = STACK_PORT, .dscp = STACK_DSCP}},
	.rule_count = 1,
	.ect = 1,
	.entropy = EGRESS_PACKET,
};

struct build_params kernel_case_stack_params(const struct kernel_case *s)
{
	struct build_params params = kernel_case_params(s);

	params.stacks = true;
	params.stack_mtu = STACK_MTU;
	params.egress = &egress;
	params.ecn = true;
	params.gso_off = true;
	params.gateway = 1;
	return params;
}

static struct built *build(const struct kernel_case *s, const struct build_params *params)
{
	struct error why = ERROR_INIT;
	struct built *b = NULL;

	if (build_up(&b, params, &why) < 0)
		fail_msg("%s", why.text);
	hand_tables(s->f, &build_dataplane(b)->tables);
	return b;
}

struct built *kernel_case_build(const struct kernel_case *s)
{
	struct build_params params = kernel_case_params(s);

	return build(s, &params);
}

struct built *kernel_case_build_stacks(const struct kernel_case *s)
{
	struct build_params params = kernel_case_stack_params(s);

	return build(s, &params);
}

int submit_one(const struct kernel_case *s, struct built *b, uint32_t port, struct frame *frame)
{
	struct dataplane *dp = build_dataplane(b);
	struct frame_ref ref = {frame, CAPTURED};
	int r;

	hand_frame(s->f, port, frame, CAPTURED);
	r = dp->ops->submit(dp, port, &ref, 1);
	assert_int_equal(ref.captured, CAPTURED);
	return r;
}

void assert_forwards(const struct kernel_case *s, struct built *b)
{
	union frame_room u;

	assert_int_equal(submit_one(s, b, S0_H1, &u.frame), 0);
	assert_int_equal(u.frame.verdict.magic, VERDICT_MAGIC);
	assert_int_equal(u.frame.verdict.action, VERDICT_FORWARD);
	assert_int_equal(u.frame.verdict.port, S0_H0);
}

int kernel_case_run(const struct CMUnitTest *tests, size_t count)
{
	struct probe probes[PROBES];
	const struct probe *missing;

	probe_machine(probes, 0, 0);
	missing = probe_missing(probes);
	if (!missing && !probes[PROBE_TAP].ok)
		missing = &probes[PROBE_TAP];
	if (missing) {
		/* one case, since tests/run.sh takes a program without any for a failure */
		printf("1..1\nok 1 - fabrics in the kernel # SKIP %s: %s; %s\n", missing->name,
			missing->detail, missing->remedy);
		return 0;
	}
	return _cmocka_run_group_tests("kernel", tests, count, NULL, NULL);
}
