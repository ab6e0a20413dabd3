/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOPOLOGY_TARGETS_H
#define FABRICBED_TOPOLOGY_TARGETS_H

/* Whether workloads and faults name what the fabric has. */
#include "faults/fault_kind.h"
#include "topology/fabric.h"
#include "workload/kind.h"

struct diags;
struct fault_spec;
struct scenario;
struct workload_spec;

/* A scenario's, when its fabric is made; every mismatch is a message. 0 or -ENOMEM. */
int check_scenario(const struct fabric *f, const struct scenario *s, struct diags *diags);

/* The same for its faults alone. */
int check_fault_targets(const struct fabric *f, const struct scenario *s, struct diags *diags);

/*
 * Whether the fabric has what a fault or workload given later names, as many as it picks, and
 * whether it can hold it (a lossless class to pause; no more messages at once than
 * FABRIC_START_MAX); every mismatch is a message. 0; -EINVAL with messages; -ENOMEM.
 */
#define FABRIC_START_MAX 131072 /* messages that are given later, at once */
int fabric_check_fault(const struct fabric *f, const struct fault_spec *fault, struct diags *diags);
int fabric_check_workloads(const struct fabric *f, const struct workload_spec *workloads,
	size_t count, struct diags *diags);

/* The fabric's hosts, as workloads ask for them. */
struct workload_hosts fabric_workload_hosts(const struct fabric *f);

/* The name of a link, which takes buf, or of a node. */
const char *fault_target_name(
	const struct fabric *f, enum fault_target on, uint32_t target, char buf[LINK_NAME]);

#endif
