/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel dataplane costs on this machine: bring-up and tear-down of fat-trees, and the
 * time of a hop by number of ports, order of visits and frames a submit. `bench_build [k ...]`;
 * root. Prints a table; asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "abi/wire.h"
#include "base/rng_stream.h"
#include "bringup/bringup.h"
#include "lib/buffer.h"
#include "lib/hand_fabric.h"

#define CAPTURED   96 /* Ethernet, IPv4, UDP, BTH and a transport's header */
#define BATCH      16
#define NODE_VISIT 8 /* submits to a node's ports before the next node's turn */
#define CALLS      200000
#define HOPS       200000

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* With what to compare a hop, which is one system call and the kernel's work behind it. */
static void machine(void)
{
	double started = seconds();
	struct utsname u;
	unsigned i;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	uname(&u);
	printf("Linux %s, %ld cores, an empty system call takes %.0f ns\n", u.release,
		sysconf(_SC_NPROCESSORS_ONLN), (seconds() - started) / CALLS * 1e9);
}

/* Gives back the buffer space, as the engine does when a frame has left. */
static void leave(struct dataplane *dp, const struct verdict *v)
{
	struct port *out = &dp->tables.ports[v->port];

	if (v->action != VERDICT_FORWARD)
		return;
	queue_give(&dp->tables.queues[v->port * CLASSES + v->queue], NULL, v->length);
	out->tx_frames++;
	out->tx_bytes += v->length;
}

/* Sends `hops` frames, `batch` at a time, over the ports in the order given. ns a hop. */
static double visit(struct dataplane *dp, const struct fabric *f, const uint32_t *order,
	uint32_t count, unsigned batch, unsigned hops)
{
	uint8_t(*memory)[sizeof(struct frame) + 2048] = calloc(BATCH, sizeof(*memory));
	struct frame_ref frames[BATCH];
	uint32_t i, at = 0;
	double started;
	unsigned done;

	for (i = 0; i < batch; i++)
		frames[i].frame = (struct frame *)memory[i];
	started = seconds();
	for (done = 0; done < hops; done += batch) {
		for (i = 0; i < batch; i++) {
			hand_frame(f, order[at], frames[i].frame, CAPTURED);
			frames[i].captured = CAPTURED;
		}
		if (dp->ops->submit(dp, order[at], frames, batch) < 0)
			abort();
		for (i = 0; i < batch; i++) {
			if (frames[i].frame->verdict.magic != VERDICT_MAGIC ||
				frames[i].frame->verdict.action == VERDICT_DROP)
				abort();
			leave(dp, &frames[i].frame->verdict);
		}
		at = at + 1 < count ? at + 1 : 0;
	}
	free(memory);
	return (seconds() - started) / hops * 1e9;
}

static void shuffle(uint32_t *order, uint32_t count)
{
	uint64_t dice = 1;
	uint32_t i;

	for (i = count; i > 1; i--) {
		uint32_t j = rng_below(&dice, i), swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
}

/* The ports of a node NODE_VISIT times in a row, then the next node's. */
static uint32_t *node_major(const struct fabric *f, uint32_t *ret_count)
{
	uint32_t *order = calloc((size_t)f->net.port_count * NODE_VISIT, sizeof(*order)), n = 0, i,
		 v, p;

	for (i = 0; i < f->net.node_count; i++)
		for (v = 0; v < NODE_VISIT; v++)
			for (p = 0; p < f->net.nodes[i].port_count; p++)
				order[n++] = f->net.nodes[i].first_port + p;
	*ret_count = n;
	return order;
}

static void bench_hops(struct dataplane *dp, const struct fabric *f)
{
	uint32_t n, *order = node_major(f, &n);

	hand_tables(f, &dp->tables);
	visit(dp, f, order, n, 1, n);
	printf("  %5u ports: node-major %5.0f ns a hop", f->net.port_count,
		visit(dp, f, order, n, 1, HOPS));
	shuffle(order, n);
	printf(", random %5.0f, random in fours %5.0f, in sixteens %5.0f\n",
		visit(dp, f, order, n, 1, HOPS), visit(dp, f, order, n, 4, HOPS),
		visit(dp, f, order, n, BATCH, HOPS));
	free(order);
}

/* Bring-up and tear-down with a stack in each host, and a program at the egress of each. */
static void bench_stacks(const char *what, struct build_params *params)
{
	const struct egress_config egress = {.entropy = EGRESS_PACKET};
	struct error why = ERROR_INIT;
	struct built *b;
	double t[3];

	params->stacks = true;
	params->stack_mtu = 9000;
	params->egress = &egress;
	params->ecn = true;
	params->gso_off = true;
	t[0] = seconds();
	if (build_up(&b, params, &why) < 0) {
		printf("%s: %s\n", what, why.text);
		exit(1);
	}
	t[1] = seconds();
	build_down(b);
	t[2] = seconds();
	printf("%s with %u stacks: up %.3f s, down %.3f s\n", what, params->fabric->net.host_count,
		t[1] - t[0], t[2] - t[1]);
}

static void bench(const char *what, struct fabric *f)
{
	struct sw_sizes sizes = hand_sizes(f);
	struct build_params params = {
		.fabric = f,
		.sizes = &sizes,
		.frame_capacity = 512,
		.gateway = HOST_NONE,
	};
	struct error why = ERROR_INIT;
	struct built *b;
	double t[4];
	char name[64];
	int r;

	snprintf(name, sizeof(name), "bench-%d", (int)getpid());
	t[0] = seconds();
	params.name = name;
	r = build_up(&b, &params, &why);
	if (r < 0) {
		printf("%s: %s\n", what, why.text);
		exit(1);
	}
	t[1] = seconds();
	bench_hops(build_dataplane(b), f);
	t[2] = seconds();
	build_down(b);
	t[3] = seconds();
	printf("%s: %u namespaces, %u links: up %.3f s, down %.3f s\n", what, f->net.node_count,
		f->net.link_count, t[1] - t[0], t[3] - t[2]);
	bench_stacks(what, &params);
	hand_fabric_free(f);
}

int main(int argc, char **argv)
{
	static const uint32_t pair[][2] = {{0, 1}};
	uint32_t star[8][2], i, k;
	char what[32];

	setvbuf(stdout, NULL, _IOLBF, 0);
	machine();
	bench("2 hosts", hand_fabric(2, 0, pair, 1));
	for (i = 0; i < 8; i++) {
		star[i][0] = i;
		star[i][1] = 8;
	}
	bench("star of 8", hand_fabric(8, 1, (const uint32_t(*)[2])star, 8));
	for (i = 1; i < (argc > 1 ? (uint32_t)argc : 4); i++) {
		k = argc > 1 ? (uint32_t)atoi(argv[i]) : 2u << i; /* 4, 8, 16 */
		snprintf(what, sizeof(what), "fat_tree k=%u", k);
		bench(what, hand_fat_tree(k));
	}
	return 0;
}
