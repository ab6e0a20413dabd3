/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LLDP_AGENT_H
#define FABRICBED_LLDP_AGENT_H

/*
 * The LLDP agents of a fabric, one a port (IEEE 802.1AB): what they send, what they know of their
 * neighbours, and the levels and port roles that follow from it (see control/port_roles.h). Each
 * node uses only what its own ports have heard.
 *
 * A node sends a frame from each port at start, every interval_ps from then on, and at once when
 * its level has changed (802.1AB, 9.2.5: a local change does not wait for the interval). A changed
 * role alone can wait: no neighbour decides by it. When frames are sent is the caller's business,
 * as is the clock.
 */
#include <stdbool.h>
#include "abi/shared_state.h"
#include "base/net.h"
#include "control/lldp_frame.h"
#include "control/port_roles.h"

struct lldp;

/*
 * Writes a name, not empty, to buf of LLDP_NAME bytes; returns buf. What is over LLDP_NAME_MAX is
 * cut.
 */
#define LLDP_NAME 80
typedef const char *(*lldp_name)(const void *arg, uint32_t index, char *buf);

struct lldp_params {
	uint64_t interval_ps; /* between two frames of a port: the time to live follows from it */
	lldp_name node_name;  /* of a node, for the System Name */
	lldp_name port_name;  /* of a port, by its id, for the Port ID */
	const void *name_arg;
};

/* What lldp_receive() may have changed. */
#define LLDP_LEVEL_CHANGED ROLES_LEVEL_CHANGED /* the node's: all its ports send at once */
#define LLDP_ROLES_CHANGED ROLES_PORTS_CHANGED /* the role of one of its ports, at least */

/* net outlives it. 0 or -ENOMEM. */
int lldp_new(struct lldp **ret, const struct net *net, const struct lldp_params *p);
void lldp_free(struct lldp *l);

/*
 * Writes what a port sends now, bytes of LLDP_FRAME_MAX; returns the length without FCS, at least
 * 60.
 */
uint32_t lldp_make(const struct lldp *l, uint32_t port, uint8_t *bytes);

/*
 * Any bytes that came in at a port. Returns LLDP_LEVEL_CHANGED, LLDP_ROLES_CHANGED; a frame that is
 * none is counted and changes nothing. Allocates nothing.
 */
unsigned lldp_receive(
	struct lldp *l, uint32_t port, const uint8_t *bytes, uint32_t captured, uint64_t now_ps);

enum port_role lldp_role(const struct lldp *l, uint32_t port);
uint32_t lldp_level(const struct lldp *l, uint32_t node); /* or LLDP_LEVEL_UNKNOWN */

/* A neighbour as people read it: printable ASCII, cut where it is too long. */
#define LLDP_TEXT 64
struct lldp_neighbour {
	char chassis[LLDP_TEXT], port[LLDP_TEXT], system[LLDP_TEXT];
	uint32_t level;      /* the lowest it has claimed, or LLDP_LEVEL_UNKNOWN */
	enum port_role role; /* of the port that hears it */
	uint64_t heard_ps;   /* its last frame */
	uint64_t expires_ps; /* if no other comes, it has gone; what was learnt from it stays */
};

/* False: nobody was ever heard at this port. */
bool lldp_neighbour(const struct lldp *l, uint32_t port, struct lldp_neighbour *ret);

/* Frames that came in at a port, and those among them that were malformed. */
struct lldp_counts {
	uint64_t received, malformed;
};
struct lldp_counts lldp_counts(const struct lldp *l, uint32_t port);

#endif
