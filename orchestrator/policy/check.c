/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/check.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "abi/drop.h"
#include "abi/policies.h"
#include "dataplane/dataplane.h"
#include "dataplane/kernel.h"
#include "io/netlink.h"
#include "io/netns.h"
#include "policy/check_world.h"
#include "policy/source.h"
#include "policy/verify.h"

#define CPU_SECONDS 10 /* of a trial, and 1 for each 1,000 packets: one takes 20 us */

/* The same switches twice; the kernel's are NULL where it has no part. */
struct trial {
	const struct check_params *params;
	struct check_result *result;
	struct check_world world;
	struct dataplane *native, *kernel;
	int program;
};

/* What the parent sees of the child. */
struct shared {
	struct check_result result;
	struct error why;
	int status;
};

/* ---- the kernel's half ---- */

static int program_size(struct check_size *ret, int program, struct error *why)
{
	struct bpf_prog_info info = {0};
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &length))
		return error_set(
			why, -errno, "the kernel does not tell of a program: %s", strerror(errno));
	ret->loaded = info.xlated_prog_len / (uint32_t)sizeof(struct bpf_insn);
	ret->walked = info.verified_insns;
	return 0;
}

/* The ports at which packets arrive are interfaces: a test run takes no others. */
static int make_interfaces(const struct trial *t, struct error *why)
{
	int r = netns_enter_anonymous(), ns = r < 0 ? -1 : netns_open_own();
	struct rtnl *rtnl = NULL;

	if (ns < 0)
		return error_set(why, r < 0 ? r : ns, "can't make a network namespace: %s",
			strerror(r < 0 ? -r : -ns));
	r = rtnl_open(&rtnl, why);
	for (uint32_t n = 0; r == 0 && n < CHECK_SWITCHES * WORLD_INGRESS; n += 2) {
		struct veth_end ends[2];

		for (uint32_t i = 0; i < 2; i++) {
			uint32_t id =
				world_ingress(&t->world, n / WORLD_INGRESS, n % WORLD_INGRESS + i);

			ends[i] = (struct veth_end){.netns_fd = ns,
				.index = id,
				.mac = {2, 0, 0, 0, 0, (uint8_t)(n + i)}};
			snprintf(ends[i].name, sizeof(ends[i].name), "p%u", id);
		}
		rtnl_add_veth(rtnl, &ends[0], &ends[1], 1500);
		for (uint32_t i = 0; i < 2; i++) {
			rtnl_no_autoconf(rtnl, ends[i].index);
			rtnl_attach_xdp(rtnl, ends[i].index, t->program);
			rtnl_link_up(rtnl, ends[i].index);
		}
	}
	if (r == 0)
		r = rtnl_flush(rtnl, why);
	rtnl_close(rtnl);
	close(ns);
	return r;
}

/* The policy's program, and for comparison ECMP's. */
static int open_kernel(struct trial *t, struct error *why)
{
	struct sw_sizes sizes = world_sizes(&t->world);
	struct dataplane *ecmp;
	int r = dataplane_kernel_load(&t->kernel, &sizes, WORLD_FRAME, NULL, t->params->code, why);

	if (r < 0)
		return policy_explain(t->params->source, r, why);
	t->program = dataplane_kernel_program_fd(t->kernel, PORT_SWITCH);
	r = program_size(&t->result->policy, t->program, why);
	sizes.config.features &= ~SW_BALANCE;
	sizes.config.flow_sets = 0;
	if (r == 0)
		r = dataplane_kernel_load(&ecmp, &sizes, WORLD_FRAME, NULL, NULL, why);
	if (r == 0) {
		r = program_size(
			&t->result->ecmp, dataplane_kernel_program_fd(ecmp, PORT_SWITCH), why);
		ecmp->ops->close(ecmp);
	}
	if (r == 0)
		r = make_interfaces(t, why);
	if (r == 0)
		world_write(&t->world, &t->kernel->tables);
	return r;
}

static int run_kernel(struct trial *t, uint32_t port, struct frame *frame, struct error *why)
{
	uint32_t bytes = HOP_BYTES + WORLD_FRAME;
	struct xdp_md md = {.data_end = bytes, .ingress_ifindex = port};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = bytes,
		.data_out = frame, .data_size_out = bytes, .ctx_in = &md, .ctx_size_in = sizeof(md),
		.repeat = 1);

	if (bpf_prog_test_run_opts(t->program, &opts) < 0)
		return error_set(
			why, -errno, "the kernel can't run the program: %s", strerror(errno));
	return 0;
}

/* ---- comparing ---- */

/* The first table that differs; NULL: none does. */
static const char *compare_tables(const struct sw_tables *a, const struct sw_tables *b)
{
#define X(name, element, bytes, elements)                                                          \
	if (memcmp(a->name, b->name, (size_t)a->count.name * (bytes)))                             \
		return #name;
	SW_TABLES(X)
#undef X
	return NULL;
}

static void describe(char text[64], const struct verdict *v, const struct trial *t, uint32_t sw)
{
	if (v->action == VERDICT_FORWARD)
		snprintf(text, 64, "takes port %u", v->port - t->world.first_port[sw]);
	else if (v->reason == DROP_POLICY)
		snprintf(text, 64, "returns no candidate");
	else
		snprintf(text, 64, "drops it (reason %u)", v->reason);
}

/* What a policy's author knows of a table. */
static const char *meaning(const char *table)
{
	if (!strcmp(table, "balances"))
		return "memory of the switch (POLICY_SWITCH)";
	return strcmp(table, "balance_flows") ? table : "memory of a flow (POLICY_FLOW)";
}

static void compare(struct trial *t, const struct world_packet *p, const struct frame *native,
	const struct frame *kernel)
{
	struct check_result *result = t->result;
	const char *table = compare_tables(&t->native->tables, &t->kernel->tables);
	char here[64], there[64];

	if (memcmp(native, kernel, sizeof(*native) + WORLD_FRAME)) {
		describe(here, &native->verdict, t, p->sw);
		describe(there, &kernel->verdict, t, p->sw);
		snprintf(result->difference, CHECK_TEXT,
			"packet %u, at switch %u with %u candidates: the kernel %s, the process %s",
			result->packets, p->sw, p->candidates, there, here);
		result->differs = true;
	} else if (table) {
		snprintf(result->difference, CHECK_TEXT,
			"packet %u, at switch %u with %u candidates: kernel and process differ in the %s",
			result->packets, p->sw, p->candidates, meaning(table));
		result->differs = true;
	}
}

static void count(struct trial *t, const struct world_packet *p, const struct verdict *v)
{
	struct check_result *result = t->result;

	result->choices += p->candidates > 1;
	if (v->action != VERDICT_DROP || v->reason != DROP_POLICY)
		return;
	if (!result->out_of_range++)
		snprintf(result->example, CHECK_TEXT,
			"packet %u, at switch %u: it returned %u of %u candidates (0 to %u)",
			result->packets, p->sw, *t->params->returned, p->candidates,
			p->candidates - 1);
}

/* ---- the trial ---- */

static int run_packet(struct trial *t, struct error *why)
{
	union {
		struct frame frame;
		uint8_t bytes[sizeof(struct frame) + WORLD_FRAME];
	} native, kernel;
	struct frame_ref ref = {&native.frame, WORLD_FRAME};
	struct world_packet p;
	int r;

	t->result->packets++;
	world_packet(&t->world, &p, &native.frame);
	memcpy(&kernel, &native, sizeof(native));
	r = t->native->ops->submit(t->native, p.port, &ref, 1);
	if (r < 0)
		return error_set(why, r, "the process can't run the program: %s", strerror(-r));
	count(t, &p, &native.frame.verdict);
	if (t->kernel) {
		r = run_kernel(t, p.port, &kernel.frame, why);
		if (r == 0)
			compare(t, &p, &native.frame, &kernel.frame);
	}
	return r;
}

static int open_native(struct trial *t, struct error *why)
{
	struct sw_sizes sizes = world_sizes(&t->world);
	int r = dataplane_inline_open(&t->native, &sizes, WORLD_FRAME);

	if (r < 0)
		return error_set(why, r, "out of memory for the switches' tables");
	t->native->tables.policy = t->params->code->function;
	world_write(&t->world, &t->native->tables);
	return 0;
}

static int run_trial(struct trial *t, struct error *why)
{
	int r = t->params->kernel ? open_kernel(t, why) : 0;

	if (r == 0)
		r = open_native(t, why);
	for (uint32_t i = 0; r == 0 && i < t->params->packets && !t->result->differs; i++) {
		if (i % WORLD_CHANGES == 0)
			world_change(&t->world, &t->native->tables,
				t->kernel ? &t->kernel->tables : NULL);
		r = run_packet(t, why);
	}
	if (t->native)
		t->native->ops->close(t->native);
	if (t->kernel)
		t->kernel->ops->close(t->kernel);
	return r;
}

static void run_child(struct shared *s, const struct check_params *params)
{
	const rlim_t seconds = CPU_SECONDS + params->packets / 1000;
	const struct rlimit cpu = {seconds, seconds + 1};
	const struct rlimit core = {0, 0};
	struct trial *t = calloc(1, sizeof(*t));

	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	/* the sanitizers' builds catch them */
	signal(SIGFPE, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	if (!t) {
		s->status = error_set(&s->why, -ENOMEM, "out of memory");
		return;
	}
	t->params = params;
	t->result = &s->result;
	world_init(&t->world, params->seed);
	s->status = run_trial(t, &s->why);
	free(t);
}

static int explain_end(
	const struct shared *s, const struct policy_source *source, int status, struct error *why)
{
	const char *what = "it crashed";

	if (WIFEXITED(status))
		return s->status < 0 ? error_set(why, s->status, "%s", s->why.text) : 0;
	if (WTERMSIG(status) == SIGFPE)
		what = "it divides by zero, which ends a run in the process";
	else if (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)
		what = "it does not return: a loop without bound?";
	else if (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS)
		what = "it reads or writes outside of its memory";
	return error_set(why, -EINVAL, "%s: %s (packet %u)", source->name, what, s->result.packets);
}

int policy_check(struct check_result *ret, const struct check_params *params, struct error *why)
{
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0, r = 0;
	pid_t pid;

	if (s == MAP_FAILED)
		return error_set(why, -errno, "out of memory");
	pid = fork();
	if (pid == 0) {
		run_child(s, params);
		_exit(0);
	}
	if (pid < 0)
		r = error_set(why, -errno, "can't start a process: %s", strerror(errno));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0)
		r = explain_end(s, params->source, status, why);
	*ret = s->result;
	munmap(s, sizeof(*s));
	return r;
}
