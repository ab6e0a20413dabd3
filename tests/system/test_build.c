/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics in the kernel: what is in them, their names, and what a failure leaves. */
#include "lib/kernel_case.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include "abi/wire.h"
#include "base/parallel.h"
#include "bringup/record.h"
#include "bringup/watch.h"
#include "dataplane/kernel.h"
#include "io/netlink.h"
#include "io/netns.h"
#include "io/probe.h"

/*
 * Runs in a thread of its own: which interface a namespace has, and whether it is silent and
 * addressed.
 */
struct look {
	const char *netns, *interface;
	uint32_t index;
	const char *addresses; /* all it has, in the order of getifaddrs() */
};

static int look_inside(void *context, uint32_t index, struct error *why)
{
	struct look *look = context;
	struct ifaddrs *all = NULL, *i;
	char address[64], found[256] = "";
	int fd = netns_open(look->netns);

	(void)index;
	if (fd < 0 || netns_enter(fd) < 0)
		return error_set(why, -ENOENT, "no namespace %s", look->netns);
	close(fd);
	if (if_nametoindex(look->interface) != look->index)
		return error_set(
			why, -ENODEV, "%s is not interface %u", look->interface, look->index);
	getifaddrs(&all);
	for (i = all; i; i = i->ifa_next) {
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;

		if (strcmp(i->ifa_name, look->interface))
			continue;
		if (!(i->ifa_flags & IFF_UP) || !(i->ifa_flags & IFF_NOARP) ||
			i->ifa_flags & IFF_MULTICAST)
			return error_set(why, -EINVAL, "flags %x", i->ifa_flags);
		if (family != AF_INET && family != AF_INET6)
			continue;
		inet_ntop(family,
			family == AF_INET
				? (void *)&((struct sockaddr_in *)i->ifa_addr)->sin_addr
				: (void *)&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr,
			address, sizeof(address));
		strcat(strcat(found, address), " ");
	}
	freeifaddrs(all);
	if (strcmp(found, look->addresses))
		return error_set(why, -EINVAL, "addresses %s", found);
	return 0;
}

struct node_look {
	const char *node;
	struct look look;
};

static void assert_looks(const struct kernel_case *s, struct node_look *looks, unsigned count)
{
	struct error why = ERROR_INIT;
	char name[64];

	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s-%s", s->name, looks[i].node);
		looks[i].look.netns = name;
		if (parallel_for(1, 1, look_inside, &looks[i].look, &why) < 0)
			fail_msg("%s: %s", name, why.text);
	}
}

static void namespaces_hold_what_they_should(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build(s);
	struct node_look looks[] = {
		{"h0", {.interface = "link0", .index = H0, .addresses = "10.0.0.1 fd00:fab::1 "}},
		{"h1", {.interface = "link0", .index = H1, .addresses = "10.0.0.2 fd00:fab::2 "}},
		{"s0", {.interface = "p0", .index = S0_H0, .addresses = ""}},
		{"s0", {.interface = "p1", .index = S0_H1, .addresses = ""}},
	};

	assert_looks(s, looks, 4);
	build_down(b);
}

static void with_stacks_hosts_have_a_card_for_programs(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build_stacks(s);
	struct node_look looks[] = {
		{"h0", {.interface = "link0", .index = H0, .addresses = ""}},
		{"h0", {.interface = "eth0", .index = ETH0, .addresses = "10.0.0.1 fd00:fab::1 "}},
		{"h1", {.interface = "link0", .index = H1, .addresses = ""}},
		{"h1", {.interface = "eth0", .index = ETH0, .addresses = "10.0.0.2 fd00:fab::2 "}},
		{"s0", {.interface = "p0", .index = S0_H0, .addresses = ""}},
	};

	assert_looks(s, looks, 5);
	assert_forwards(s, b);
	build_down(b);
	assert_nothing_left(s);
}

struct sabotage {
	atomic_int left; /* steps until one fails */
};

static int fail_at_last(void *context, enum build_step step, uint32_t index)
{
	struct sabotage *sabotage = context;

	(void)step;
	(void)index;
	return atomic_fetch_sub(&sabotage->left, 1) == 1 ? -ECANCELED : 0;
}

static void a_failure_at_any_step_leaves_nothing(void **state)
{
	const struct kernel_case *s = *state;
	unsigned before = open_files();
	int steps, r = -ECANCELED;

	for (steps = 1; r == -ECANCELED; steps++) {
		struct build_params params = kernel_case_stack_params(s);
		struct sabotage sabotage = {steps};
		struct build_watch watch = {fail_at_last, &sabotage};
		struct error why = ERROR_INIT;
		struct built *b = (struct built *)&why;

		r = build_up_watched(&b, &params, &watch, &why);
		if (r < 0) {
			assert_int_equal(r, -ECANCELED);
			assert_ptr_equal(b, &why); /* untouched */
			assert_string_not_equal(why.text, "");
		} else {
			build_down(b);
		}
		assert_nothing_left(s);
		assert_int_equal(open_files(), before);
	}
	assert_int_equal(r, 0);
	/*
	 * claim, programs, 3 namespaces, 2 links, 2 stacks, and a socket, an interface and a bind
	 * for each of 4 ports
	 */
	assert_int_equal(steps - 2, 2 + 3 + 2 + 2 + 3 * 4);
}

/* Runs in a thread of its own: the XDP program of an interface of s0. */
struct attachment {
	char netns[64];
	uint32_t port, flags; /* XDP_FLAGS_* */
	int fd;               /* attached in the place of the one there; -1: it is only detached */
};

static int attach_another(void *context, uint32_t index, struct error *why)
{
	const struct attachment *a = context;
	int netns = netns_open(a->netns);

	(void)index;
	if (netns < 0 || netns_enter(netns) < 0)
		return error_set(why, -ENOENT, "no namespace %s", a->netns);
	close(netns);
	return bpf_xdp_detach((int)a->port, a->fd < 0 ? a->flags : XDP_FLAGS_DRV_MODE, NULL) ||
			       (a->fd >= 0 && bpf_xdp_attach((int)a->port, a->fd, a->flags, NULL))
		       ? error_set(why, -EINVAL, "XDP of port %u", a->port)
		       : 0;
}

static int program_of(void *context, uint32_t index, struct error *why)
{
	struct attachment *a = context;
	int netns = netns_open(a->netns);
	uint32_t id;

	(void)index;
	if (netns < 0 || netns_enter(netns) < 0 ||
		bpf_xdp_query_id((int)a->port, XDP_FLAGS_DRV_MODE, &id) < 0)
		return error_set(why, -ENOENT, "no port %u in %s", a->port, a->netns);
	close(netns);
	a->fd = (int)id;
	return 0;
}

static void in_thread(
	int (*work)(void *context, uint32_t index, struct error *why), struct attachment *a)
{
	struct error why = ERROR_INIT;

	if (parallel_for(1, 1, work, a, &why) < 0)
		fail_msg("%s", why.text);
}

/* The number of the program of S0_H0. */
static int program_now(const struct kernel_case *s)
{
	struct attachment a = {.port = S0_H0};

	snprintf(a.netns, sizeof(a.netns), "%s-s0", s->name);
	in_thread(program_of, &a);
	return a.fd;
}

/* A port that takes no native program, since it has a generic one: those before it have the new. */
static void a_swap_that_fails_half_way_is_undone(void **state)
{
	const struct kernel_case *s = *state;
	struct built *b = kernel_case_build(s);
	struct policy_code code = {.name = "none.c"};
	struct attachment foreign = {.port = S0_H1, .flags = XDP_FLAGS_SKB_MODE};
	struct error why = ERROR_INIT;
	int lost = 2, built_in = program_now(s), swapped;

	code.program = dataplane_kernel_object(&code.program_bytes);
	assert_int_equal(build_swap(b, s->f, &code, &lost, &why), 0);
	assert_int_equal(lost, 0);
	swapped = program_now(s);
	assert_int_not_equal(swapped, built_in);
	assert_forwards(s, b);

	snprintf(foreign.netns, sizeof(foreign.netns), "%s-s0", s->name);
	foreign.fd = dataplane_kernel_program_fd(build_dataplane(b), PORT_HOST);
	in_thread(attach_another, &foreign);
	assert_true(build_swap(b, s->f, &code, &lost, &why) < 0);
	assert_string_not_equal(why.text, "");
	assert_int_equal(lost, 1);
	assert_int_equal(program_now(s), built_in);

	foreign.fd = -1;
	in_thread(attach_another, &foreign);
	assert_int_equal(build_swap(b, s->f, NULL, &lost, &why), 0);
	assert_int_equal(lost, 0);
	assert_int_equal(program_now(s), built_in);
	assert_forwards(s, b);
	build_down(b);
	assert_nothing_left(s);
}

static void two_of_a_name_live_side_by_side(void **state)
{
	const struct kernel_case *s = *state;
	struct built *a = kernel_case_build(s), *b = kernel_case_build(s);
	char second[64];

	snprintf(second, sizeof(second), "%s-2", s->name);
	assert_string_equal(build_name(a), s->name);
	assert_string_equal(build_name(b), second);
	assert_true(build_sweep(NULL, NULL) >= 0); /* takes neither, for both live */
	assert_forwards(s, a);
	assert_forwards(s, b);
	build_down(a);
	assert_int_equal(files_of(NETNS_DIR, second), 3);
	assert_forwards(s, b);
	build_down(b);
	assert_nothing_left(s);
}

static void an_exact_name_is_had_or_refused(void **state)
{
	const struct kernel_case *s = *state;
	struct build_params params = kernel_case_params(s);
	struct built *a = kernel_case_build(s), *b = NULL;
	struct error why = ERROR_INIT;

	params.exact = true;
	assert_int_equal(build_up(&b, &params, &why), -EEXIST);
	assert_null(b);
	assert_non_null(strstr(why.text, s->name));
	assert_forwards(s, a);
	build_down(a);
	assert_nothing_left(s);
	assert_int_equal(build_up(&b, &params, &why), 0);
	assert_string_equal(build_name(b), s->name);
	build_down(b);
	assert_nothing_left(s);
}

static void foreign_namespaces_are_left_alone(void **state)
{
	const struct kernel_case *s = *state;
	char path[128], second[64];
	struct built *b;
	int fd;

	snprintf(path, sizeof(path), "%s/%s-h1", NETNS_DIR, s->name);
	assert_int_equal(netns_prepare(), 0);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
	assert_true(fd >= 0);
	close(fd);
	b = kernel_case_build(s);
	snprintf(second, sizeof(second), "%s-2", s->name);
	assert_string_equal(build_name(b), second);
	build_down(b);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	assert_nothing_left(s);
}

static void bad_names_are_refused(void **state)
{
	static const char *const names[] = {"", ".", "..", "a/b", "-a", "a b", "\xc3\xa9"};
	const struct kernel_case *s = *state;
	struct build_params params = kernel_case_params(s);
	char long_name[RECORD_NAME_MAX + 2];

	memset(long_name, 'a', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	for (unsigned i = 0; i <= sizeof(names) / sizeof(names[0]); i++) {
		struct error why = ERROR_INIT;
		struct built *b = NULL;

		params.name = i < sizeof(names) / sizeof(names[0]) ? names[i] : long_name;
		assert_int_equal(build_up(&b, &params, &why), -EINVAL);
		assert_null(b);
		assert_string_not_equal(why.text, "");
	}
	assert_nothing_left(s);
}

static void frames_too_large_are_refused(void **state)
{
	const struct kernel_case *s = *state;
	struct build_params params = kernel_case_params(s);
	struct error why = ERROR_INIT;
	struct built *b = NULL;

	params.frame_capacity = 9000;
	assert_int_equal(build_up(&b, &params, &why), -EMSGSIZE);
	assert_nothing_left(s);
}

/* Five requests of which the third is wrong, in one batch. */
static int ask_for_a_wrong_link(void *context, uint32_t index, struct error *why)
{
	struct veth_end a = {.mac = {2}}, b = {.mac = {2, 1}};
	struct rtnl *rtnl = NULL;
	int r, i, fd = -1;

	(void)context;
	(void)index;
	r = netns_enter_anonymous();
	if (!r)
		r = rtnl_open(&rtnl, why);
	if (!r)
		fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	a.netns_fd = b.netns_fd = fd;
	for (i = 0; !r && i < 5; i++) {
		a.index = 10 + 2 * (i == 2 ? 1 : (uint32_t)i);
		b.index = a.index + 1;
		snprintf(a.name, sizeof(a.name), "a%d", i);
		snprintf(b.name, sizeof(b.name), "b%d", i);
		rtnl_add_veth(rtnl, &a, &b, 1500);
	}
	if (!r)
		r = rtnl_flush(rtnl, why);
	if (fd >= 0)
		close(fd);
	rtnl_close(rtnl);
	return r;
}

static void netlink_tells_which_request_failed(void **state)
{
	struct error why = ERROR_INIT;

	(void)state;
	assert_int_equal(parallel_for(1, 1, ask_for_a_wrong_link, NULL, &why), -EEXIST);
	assert_non_null(strstr(why.text, "interface 12"));
}

static void probes_find_all(void **state)
{
	struct probe probes[PROBES];

	probe_machine(probes, 0, 0);
	assert_null(probe_missing(probes));
	/* More ports than any process may have files. */
	probe_machine(probes, UINT32_MAX / 8, 1);
	assert_ptr_equal(probe_missing(probes), &probes[PROBE_FILES]);
	assert_string_not_equal(probes[PROBE_FILES].remedy, "");
	assert_int_equal(files_of(NETNS_DIR, "fabricbed-probe"), 0);
	assert_nothing_left(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		kernel_case_test(namespaces_hold_what_they_should),
		kernel_case_test(with_stacks_hosts_have_a_card_for_programs),
		kernel_case_test(a_failure_at_any_step_leaves_nothing),
		kernel_case_test(a_swap_that_fails_half_way_is_undone),
		kernel_case_test(two_of_a_name_live_side_by_side),
		kernel_case_test(an_exact_name_is_had_or_refused),
		kernel_case_test(foreign_namespaces_are_left_alone),
		kernel_case_test(bad_names_are_refused),
		kernel_case_test(frames_too_large_are_refused),
		kernel_case_test(netlink_tells_which_request_failed),
		kernel_case_test(probes_find_all),
	};

	return kernel_case_run(tests, sizeof(tests) / sizeof(tests[0]));
}
