/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a scenario does not ask for is not in the loaded programs: the kernel's instructions of
 * both, and how many the verifier walked, by features. Root. Prints a table; asserts nothing, but
 * each must load.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "abi/policies.h"
#include "abi/shared_state.h"
#include "abi/egress.h"
#include "fabricbed.skel.h"
#include "lib/program_size.h"

/* The features of a scenario's keys: PFC needs lossless classes; roles and CNPs need PFC. */
#define WITH_PFC (SW_CLASSES | SW_BUFFERS | SW_PFC | SW_CONTROL)

static const struct {
	const char *what;
	__u32 features, balances;
} rows[] = {
	{"nothing", 0, 0},
	{"classes", SW_CLASSES, 0},
	{"average depth", SW_AVERAGE, 0},
	{"shared pool", SW_BUFFERS, 0},
	{"trimming", SW_CLASSES | SW_TRIM, 0},
	{"faults on cables", SW_FAULTS, 0},
	{"detours", SW_DETOUR, 0},
	{"LLDP", SW_CONTROL, 0},
	{"CNPs", SW_CNP, 0},
	{"classes, lossless, PFC", WITH_PFC, 0},
	{"classes, lossless, PFC, roles", WITH_PFC | SW_ROLES, 0},
	{"classes, lossless, PFC, CNPs", WITH_PFC | SW_CNP, 0},
	{"hosts' stacks", SW_STACK, 0},
	{"hosts' stacks, a gateway", SW_STACK | SW_GATEWAY, 0},
	{"spray", SW_BALANCE, 1u << BALANCE_SPRAY},
	{"adaptive", SW_BALANCE, 1u << BALANCE_ADAPTIVE},
	{"flowlet", SW_BALANCE, 1u << BALANCE_FLOWLET},
	{"drill", SW_BALANCE, 1u << BALANCE_DRILL},
	{"everything", SW_FEATURES, (1u << BALANCE_FILE) - 1},
};

/* What a behaviour is told when it is on: zeros would rule out some of it. */
static const struct sw_config config = {
	.trim_classes = 1,
	.trim_or_return = 1,
	.trimmed_dscp = 49,
	.returned_dscp = 50,
	.cnp_dscp = 48,
	.quanta = 65535,
	.response_ps = 1,
	.watchdog_ps = 1,
	.cnp_interval_ps = 1,
};

static int print_row(const char *what, __u32 features, __u32 balances)
{
	struct fabricbed_bpf *skel = fabricbed_bpf__open();
	struct program_size at_switch, at_host;
	int r;

	if (!skel)
		return -1;
	skel->rodata->config = config;
	skel->rodata->config.features = features;
	skel->rodata->config.balances = balances;
	r = fabricbed_bpf__load(skel);
	at_switch = program_size(skel->progs.fabricbed_switch);
	at_host = program_size(skel->progs.fabricbed_host);
	fabricbed_bpf__destroy(skel);
	if (r < 0) {
		printf("%-30s  %s\n", what, strerror(-r));
		return r;
	}
	printf("%-30s %12u %9u %14u %9u\n", what, at_switch.loaded, at_switch.walked,
		at_host.loaded, at_host.walked);
	return 0;
}

int main(void)
{
	int status = 0;

	if (geteuid()) {
		printf("the programs' instructions are measured as root only\n");
		return 0;
	}
	libbpf_set_print(NULL);
	printf("%-30s %12s %9s %14s %9s\n", "instructions", "switch", "walked", "host", "walked");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (print_row(rows[i].what, rows[i].features, rows[i].balances) < 0)
			status = 1;
	return status;
}
