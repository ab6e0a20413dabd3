/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * capture_blocks FILE: a capture with everything that ours may hold, for foreign readers: two ports
 * of a switch, a frame each way, one that was dropped, and one that found no room.
 */
#include <stdio.h>
#include "io/pcapng.h"

struct sink {
	FILE *out;
	bool full;
};

static bool take(void *arg, const void *bytes, size_t count)
{
	struct sink *s = arg;

	return !s->full && fwrite(bytes, 1, count, s->out) == count;
}

static void write_frames(struct pcapng *p, struct sink *s)
{
	static const uint8_t frame[60] = {2, 0xfb, 0, 0, 0, 3, 2, 0xfb, 0, 0, 0, 2, 0x88, 0xb5};
	struct pcapng_packet packet = {.time_ps = 1000000000001,
		.bytes = frame,
		.captured = sizeof(frame),
		.length = sizeof(frame),
		.direction = PCAPNG_INBOUND};

	pcapng_write(p, &packet);
	packet.time_ps++;
	packet.interface = 1;
	packet.direction = PCAPNG_OUTBOUND;
	pcapng_write(p, &packet);
	s->full = true;
	pcapng_write(p, &packet);
	s->full = false;
	packet.time_ps++;
	packet.comment = "dropped: ttl: TTL or hop limit used up";
	packet.captured = 20;
	pcapng_write(p, &packet);
}

int main(int argc, char **argv)
{
	struct sink s = {.out = argc == 2 ? fopen(argv[1], "we") : NULL};
	struct pcapng *p;

	if (!s.out || pcapng_new(&p, take, &s) < 0)
		return 1;
	if (pcapng_add_interface(p, "tor0.0->h0", "port 0 of tor0.0, link h0-tor0.0") < 0 ||
		pcapng_add_interface(p, "tor0.0->h1", NULL) < 0)
		return 1;
	write_frames(p, &s);
	return pcapng_close(p) < 0 || fclose(s.out);
}
