/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * GOAL as LogGOPSim's txt2bin writes it: little endian, without padding. A magic number of 8 bytes,
 * from whose end on offsets count; u32 ranks, u8 cpus, u8 nics, and of each rank the offsets (u64)
 * of its part and of what follows it. A part: u32 nodes, u32 roots, u32 for each root, the nodes,
 * and then numbers of nodes (u32): of those that depend on each, of which the node has count and
 * index.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include "base/array.h"
#include "workload/goal.h"

#define MAGIC       4223
#define MAGIC_BYTES 8

struct node {
	uint32_t dependences;
	uint8_t type; /* 1 a send, 2 a receive, 3 a calc */
	uint32_t peer;
	uint64_t size;
	uint32_t tag;
	uint8_t cpu, nic;
	uint32_t after_count, after_index, begun_count, begun_index;
} __attribute__((packed));

_Static_assert(sizeof(struct node) == 39, "as it is written");

/* A rank's part of the file. */
struct part {
	const char *nodes, *lists;
	uint32_t rank, first_op, count;
	uint64_t list_count, listed; /* numbers in the lists; of those, how many nodes have named */
};

static uint32_t read32(const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t read64(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

bool goal_is_binary(const struct file_text *file)
{
	return file->length >= MAGIC_BYTES && read64(file->text) == MAGIC;
}

static struct node node_of(const struct part *p, uint32_t i)
{
	struct node n;

	memcpy(&n, p->nodes + i * sizeof(n), sizeof(n));
	return n;
}

static int read_node(struct goal *g, const struct part *p, uint32_t i)
{
	struct node n = node_of(p, i);
	struct goal_op o = {.amount = le64toh(n.size),
		.rank = p->rank,
		.peer = le32toh(n.peer),
		.tag = le32toh(n.tag),
		.line = i,
		.first_after = GOAL_NONE,
		.first_before = GOAL_NONE,
		.kind = (uint8_t)(n.type - 1),
		.cpu = n.cpu};
	bool any = o.kind == GOAL_RECV;

	if (n.type < 1 || n.type > 3)
		return goal_refuse(
			g, i, "rank %u: of type %u; expected 1, 2 or 3", p->rank, n.type);
	if (o.kind != GOAL_CALC) {
		if (o.peer >= g->ranks && !(any && o.peer == GOAL_ANY))
			return goal_refuse(g, i, "rank %u: there is no rank %u; the file has %u",
				p->rank, o.peer, g->ranks);
		if (o.amount > MESSAGE_BYTES_MAX || (o.tag == GOAL_ANY && !any))
			return goal_refuse(g, i, "rank %u: %llu bytes with tag %u", p->rank,
				(unsigned long long)o.amount, o.tag);
	}
	if (g->op_count == OPERATIONS_MAX)
		return -E2BIG;
	return ARRAY_ADD(g->ops, g->op_count, o);
}

/* Those that depend on a node. No number is named twice: the file's size bounds all of it. */
static int read_list(
	struct goal *g, struct part *p, uint32_t i, uint32_t count, uint32_t index, bool begun)
{
	int err = 0;

	if (!count)
		return 0;
	p->listed += count;
	if (p->listed > p->list_count || (uint64_t)index + count > p->list_count)
		return goal_refuse(g, i,
			"rank %u: %u that depend on it, from index %u on; there are %llu", p->rank,
			count, index, (unsigned long long)p->list_count);
	for (uint32_t k = index; err == 0 && k < index + count; k++) {
		uint32_t to = read32(p->lists + 4ull * k);

		err = to < p->count
			      ? goal_add_dependence(g, p->first_op + i, p->first_op + to, begun)
			      : goal_refuse(g, i,
					"rank %u: operation %u depends on it; there are %u",
					p->rank, to, p->count);
	}
	return err;
}

static int read_part(struct goal *g, uint32_t rank, const char *from, uint64_t length)
{
	struct part p = {.rank = rank, .first_op = g->op_count};
	uint64_t roots;
	int err = 0;

	if (length < 8)
		return length ? goal_refuse_file(g, "rank %u has a part of %llu bytes", rank,
					(unsigned long long)length)
			      : 0;
	p.count = read32(from);
	roots = read32(from + 4);
	if (8 + 4 * roots + sizeof(struct node) * (uint64_t)p.count > length)
		return goal_refuse_file(
			g, "%u operations of rank %u do not fit its part", p.count, rank);
	p.nodes = from + 8 + 4 * roots;
	p.lists = p.nodes + sizeof(struct node) * (uint64_t)p.count;
	p.list_count = (uint64_t)(from + length - p.lists) / 4;
	for (uint32_t i = 0; err == 0 && i < p.count; i++)
		err = read_node(g, &p, i);
	for (uint32_t i = 0; err == 0 && i < p.count; i++) {
		struct node n = node_of(&p, i);

		err = read_list(g, &p, i, le32toh(n.after_count), le32toh(n.after_index), false);
		if (err == 0)
			err = read_list(
				g, &p, i, le32toh(n.begun_count), le32toh(n.begun_index), true);
	}
	return err;
}

int goal_read_binary(struct goal *g)
{
	const char *base = g->file->text + MAGIC_BYTES;
	uint64_t length = g->file->length - MAGIC_BYTES, before = 0;
	int err = 0;

	g->ranks = length < 6 ? 0 : read32(base);
	before = 6 + 16 * (uint64_t)g->ranks;
	if (!g->ranks || g->ranks > TIMES_MAX || before > length)
		return goal_refuse_file(g, "its beginning is cut off, or is none");
	for (uint32_t r = 0; err == 0 && r < g->ranks; r++) {
		uint64_t from = read64(base + 6 + 16 * (uint64_t)r);
		uint64_t end = read64(base + 14 + 16 * (uint64_t)r);

		if (from < before || end < from || end > length)
			return goal_refuse_file(g,
				"rank %u is from byte %llu to %llu; expected from %llu to %llu", r,
				(unsigned long long)from, (unsigned long long)end,
				(unsigned long long)before, (unsigned long long)length);
		err = read_part(g, r, base + from, end - from);
		before = end;
	}
	return err;
}
