/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_HEADROOM_H
#define FABRICBED_HEADROOM_H

/*
 * What "auto" stands for in a switch's buffers. The headroom: what a lossless class must be able to
 * hold above XOFF so that nothing is lost, all that still comes until the pause takes effect (IEEE
 * 802.1Q annex N, with this model's delays in the place of a machine's). The pool: by the switch's
 * size.
 */
#include <stdint.h>
#include "base/wiretime.h"

struct headroom_params {
	uint64_t rate_bps, delay_ps; /* of the link */
	uint64_t latency_ps;    /* of the switch: from a frame's arrival to its place in a queue */
	uint64_t response_ps;   /* of the peer: from the frame's arrival to its effect */
	uint32_t frame_bytes;   /* the longest frame of any class */
	uint32_t control_bytes; /* on the wire: control frames ahead of it in its queue */
};

/*
 * XOFF is due when a frame has arrived that does not fit any more: it is the first that the
 * headroom holds. The PFC frame waits for the one that is leaving, and for other control frames, is
 * serialised, travels and is obeyed: the peer has sent for so long, and what it sent a delay and
 * the switch's latency earlier comes too. One more frame it may just have begun.
 */
static inline uint64_t headroom_bytes(const struct headroom_params *p)
{
	/* each frame's time is rounded up; so many there may be ahead at most */
	uint64_t frames = p->control_bytes / (ETH_MIN_BYTES + ETH_LEAD_BYTES) + 1;
	uint64_t wait = serialise_ps(p->frame_bytes, p->rate_bps) +
			serialise_ps(PFC_FRAME, p->rate_bps) +
			(uint64_t)p->control_bytes * 8 * PS_PER_S / p->rate_bps + frames;
	unsigned __int128 bits =
		(unsigned __int128)(wait + 2 * p->delay_ps + p->latency_ps + p->response_ps) *
		p->rate_bps;
	uint64_t on_wire = (uint64_t)(bits / (8 * PS_PER_S)) + 1;

	/* the longest frames have the least overhead */
	return 2 * (uint64_t)p->frame_bytes +
	       on_wire * p->frame_bytes / wire_bytes(p->frame_bytes) + 1;
}

/*
 * 256 MB for 51.2 Tbps (STrack, 4.1): what that is for one, of the rates of all ports of a switch.
 */
#define POOL_BYTES_PER_TBPS (5ull << 20)

static inline uint64_t pool_bytes_auto(uint64_t rate_bps)
{
	return (uint64_t)((unsigned __int128)rate_bps * POOL_BYTES_PER_TBPS / PS_PER_S);
}

#endif
