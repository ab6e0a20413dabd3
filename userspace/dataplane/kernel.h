/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DATAPLANE_KERNEL_H
#define FABRICBED_DATAPLANE_KERNEL_H

/*
 * The kernel dataplane: each frame goes out of the AF_XDP socket at the sending end of its link,
 * over the veth, through the XDP program of the port it arrives at, and into that port's AF_XDP
 * socket.
 */
#include "abi/egress.h"
#include "base/error.h"
#include "dataplane/dataplane.h"

/*
 * Loads the programs and maps, tables zeroed. 0 or -errno with why (-EMSGSIZE: frame_capacity is
 * over VETH_FRAME_MAX). egress: of the hosts' eth0 program; NULL: not loaded. code: of the policy
 * BALANCE_FILE; NULL: there is none. Close with dp->ops->close, which leaves interfaces and
 * namespaces alone.
 */
#define KERNEL_AT ", at: " /* in why: the line of a source file that the verifier refuses */
int dataplane_kernel_load(struct dataplane **ret, const struct sw_sizes *sizes,
	uint32_t frame_capacity, const struct egress_config *egress, const struct policy_code *code,
	struct error *why);

/*
 * Loads the switches' program once more, on the same tables, with this policy as BALANCE_FILE;
 * NULL: drops it again. From then on it is what dataplane_kernel_program_fd() gives, for the ports
 * to have attached; a program that was dropped goes on where it still is. 0, or -errno with why.
 */
int dataplane_kernel_swap(struct dataplane *dp, const struct policy_code *code, struct error *why);

/* The object of the built-in programs, as the compiler made it. */
const void *dataplane_kernel_object(size_t *ret_bytes);

/* The program for the egress of each host's eth0, where it was loaded. */
int dataplane_kernel_egress_fd(const struct dataplane *dp);

/* Which program a port of that kind must have attached (native XDP). */
int dataplane_kernel_program_fd(const struct dataplane *dp, enum port_kind kind);

/*
 * Opens the AF_XDP socket of port `port` in the calling thread's network namespace, where the
 * port's interface may not be there yet. Threads may do this at once for different ports. 0 or
 * -errno with why.
 */
int dataplane_kernel_open_port(struct dataplane *dp, uint32_t port, struct error *why);

/*
 * Binds it to its interface, whose ifindex is `port` and which is up, and enters it in the socket
 * map; `peer` is the port at the other end of the link. As above.
 */
int dataplane_kernel_bind_port(
	struct dataplane *dp, uint32_t port, uint32_t peer, struct error *why);

#endif
