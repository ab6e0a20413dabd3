/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EXTERNAL_H
#define FABRICBED_EXTERNAL_H

/*
 * The uplink of a fabric: ext0 of one host, whose other end is in the builder's network namespace,
 * and is a port of an Open vSwitch bridge there.
 */
#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "io/netns.h"

struct external_spec;

#define EXTERNAL_INTERFACE "ext0"
#define EXTERNAL_MTU       1500u /* an Ethernet's: what others on the bridge expect */

/* All that is needed to take it away again, be it by another process. */
struct external {
	char netns[NETNS_NAME_MAX + 1]; /* of the host */
	char port[IF_NAMESIZE];         /* the other end */
	char rundir[PATH_MAX];          /* of Open vSwitch, see io/ovs.h */
};

/*
 * Plans it for a fabric's host, after a look at the bridge; makes nothing. free() it. 0; -ENOPKG:
 * no Open vSwitch or no such bridge; another -errno; with why.
 */
int external_plan(struct external **ret, const struct external_spec *spec, const char *fabric,
	const char *netns, struct error *why);

/* As a line of a record without its end, in *ret: free() it. 0 or -ENOMEM. */
int external_write(const struct external *x, char **ret);

/* From such a line of the record of that name. False: it is none. */
bool external_read(struct external *ret, const char *line, const char *record);

struct external_site {
	const struct external_spec *spec;
	const char *fabric; /* its name */
	int netns_fd;       /* of the host */
	uint32_t index;     /* free there: the ifindex of ext0 */
	bool ip6;
};

/* Makes it, one end in the thread's namespace. As above. external_remove() it also on failure. */
int external_open(const struct external *x, const struct external_site *site, struct error *why);

/* Whatever there is of it; from any namespace. */
void external_remove(const struct external *x);

#endif
