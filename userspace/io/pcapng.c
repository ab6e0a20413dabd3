/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/outstream.h"
#include "base/units.h"

/* Blocks, draft-ietf-opsawg-pcapng, section 4. */
#define BLOCK_SECTION    0x0a0d0d0au
#define BLOCK_INTERFACE  1u
#define BLOCK_STATISTICS 5u
#define BLOCK_PACKET     6u /* enhanced packet block */
#define BYTE_ORDER_MARK  0x1a2b3c4du
#define LINKTYPE_ETHER   1u

/* Their options. A number means one thing in one kind of block. */
#define OPTION_END         0u
#define OPTION_COMMENT     1u
#define SECTION_USERAPPL   4u
#define INTERFACE_NAME     2u
#define INTERFACE_ABOUT    3u
#define INTERFACE_TSRESOL  9u /* a negative power of 10 */
#define PACKET_FLAGS       2u /* the direction is in the two lowest bits */
#define STATISTICS_IFDROP  5u
#define OPTION_LENGTH_MAX  65532u /* 16 bits, padding included */
#define PICOSECONDS        12u
#define NANOSECONDS        9u
#define SECTION_LENGTH_ANY UINT32_MAX

struct pcapng {
	struct outstream out; /* its file NULL: a sink of the caller's */
	pcapng_sink sink;
	void *arg;
	uint8_t *block; /* that is being made */
	size_t used, capacity;
	bool out_of_memory; /* for this block */
	uint64_t *lost;     /* frames, by interface */
	uint32_t interface_count;
	uint64_t last_ps;
	uint32_t tick_ps;
};

/* A place for so many bytes at the block's end, zeroed; NULL for want of memory. */
static uint8_t *extend(struct pcapng *p, size_t count)
{
	size_t capacity = p->capacity ? p->capacity : 4096;
	uint8_t *at;

	while (capacity < p->used + count)
		capacity *= 2;
	if (capacity != p->capacity) {
		uint8_t *block = realloc(p->block, capacity);

		if (!block) {
			p->out_of_memory = true;
			return NULL;
		}
		p->block = block;
		p->capacity = capacity;
	}
	at = p->block + p->used;
	memset(at, 0, count);
	p->used += count;
	return at;
}

/* Everything is aligned to four bytes; what is padded is zeros. */
static void put(struct pcapng *p, const void *bytes, size_t count)
{
	uint8_t *at = extend(p, (count + 3) & ~(size_t)3);

	if (at && count)
		memcpy(at, bytes, count);
}

static void put32(struct pcapng *p, uint32_t value)
{
	put(p, &value, sizeof(value));
}

static void put_two16(struct pcapng *p, uint16_t first, uint16_t second)
{
	const uint16_t both[] = {first, second};

	put(p, both, sizeof(both));
}

static void put_time(struct pcapng *p, uint64_t time_ps)
{
	uint64_t ticks = time_ps / p->tick_ps;

	put32(p, (uint32_t)(ticks >> 32));
	put32(p, (uint32_t)ticks);
}

static void put_option(struct pcapng *p, uint16_t code, const void *bytes, size_t count)
{
	put_two16(p, code, (uint16_t)count);
	put(p, bytes, count);
}

static void put_text(struct pcapng *p, uint16_t code, const char *text)
{
	if (text)
		put_option(p, code, text, strnlen(text, OPTION_LENGTH_MAX));
}

static void block_begin(struct pcapng *p, uint32_t type)
{
	p->used = 0;
	p->out_of_memory = false;
	put32(p, type);
	put32(p, 0); /* its length is known at its end */
}

/* Hands it over. 0, -ENOMEM or -ENOBUFS. */
static int block_end(struct pcapng *p)
{
	uint32_t length = (uint32_t)p->used + sizeof(length);

	put32(p, length);
	if (p->out_of_memory)
		return -ENOMEM;
	memcpy(p->block + sizeof(length), &length, sizeof(length));
	return p->sink(p->arg, p->block, p->used) ? 0 : -ENOBUFS;
}

static int begin_section(struct pcapng *p)
{
	block_begin(p, BLOCK_SECTION);
	put32(p, BYTE_ORDER_MARK);
	put_two16(p, 1, 0); /* version 1.0 */
	put32(p, SECTION_LENGTH_ANY);
	put32(p, SECTION_LENGTH_ANY);
	put_text(p, SECTION_USERAPPL, "fabricbed " FABRICBED_VERSION);
	put32(p, OPTION_END);
	return block_end(p);
}

static void pcapng_free(struct pcapng *p)
{
	free(p->block);
	free(p->lost);
	free(p);
}

static struct pcapng *pcapng_alloc(pcapng_sink sink, void *arg)
{
	struct pcapng *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->sink = sink;
	p->arg = arg;
	p->tick_ps = 1;
	return p;
}

int pcapng_new(struct pcapng **ret, pcapng_sink sink, void *arg)
{
	struct pcapng *p = pcapng_alloc(sink, arg);
	int r;

	if (!p)
		return -ENOMEM;
	r = begin_section(p);
	if (r < 0) {
		pcapng_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

/* Whether a file took everything is asked for by pcapng_error(), and when it is closed. */
static bool file_sink(void *arg, const void *bytes, size_t count)
{
	struct pcapng *p = arg;

	fwrite(bytes, 1, count, p->out.file);
	return true;
}

int pcapng_open(struct pcapng **ret, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), r;
	struct pcapng *p;

	if (fd < 0)
		return -errno;
	p = pcapng_alloc(file_sink, NULL);
	if (!p) {
		close(fd);
		return -ENOMEM;
	}
	p->arg = p;
	r = outstream_open(&p->out, fd);
	if (r == 0)
		r = begin_section(p);
	if (r < 0) {
		if (p->out.file)
			outstream_close(&p->out);
		pcapng_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

int pcapng_error(const struct pcapng *p)
{
	return p->out.error;
}

void pcapng_in_nanoseconds(struct pcapng *p)
{
	p->tick_ps = PS_PER_NS;
}

int pcapng_add_interface(struct pcapng *p, const char *name, const char *description)
{
	const uint8_t resolution = p->tick_ps == 1 ? PICOSECONDS : NANOSECONDS;
	uint64_t *lost = reallocarray(p->lost, p->interface_count + 1, sizeof(*lost));

	if (!lost)
		return -ENOMEM;
	p->lost = lost;
	p->lost[p->interface_count++] = 0;
	block_begin(p, BLOCK_INTERFACE);
	put_two16(p, LINKTYPE_ETHER, 0);
	put32(p, 0); /* no snap length */
	put_text(p, INTERFACE_NAME, name);
	put_text(p, INTERFACE_ABOUT, description);
	put_option(p, INTERFACE_TSRESOL, &resolution, sizeof(resolution));
	put32(p, OPTION_END);
	return block_end(p);
}

static void put_packet_options(struct pcapng *p, const struct pcapng_packet *packet)
{
	const uint32_t flags = packet->direction;

	if (!flags && !packet->comment)
		return;
	if (flags)
		put_option(p, PACKET_FLAGS, &flags, sizeof(flags));
	put_text(p, OPTION_COMMENT, packet->comment);
	put32(p, OPTION_END);
}

void pcapng_write(struct pcapng *p, const struct pcapng_packet *packet)
{
	if (packet->time_ps > p->last_ps)
		p->last_ps = packet->time_ps;
	block_begin(p, BLOCK_PACKET);
	put32(p, packet->interface);
	put_time(p, packet->time_ps);
	put32(p, packet->captured);
	put32(p, packet->length);
	put(p, packet->bytes, packet->captured);
	put_packet_options(p, packet);
	if (block_end(p) < 0)
		p->lost[packet->interface]++;
}

/* One that has no room itself leaves no trace: nothing can follow it. */
static void write_statistics(struct pcapng *p)
{
	for (uint32_t i = 0; i < p->interface_count; i++) {
		if (!p->lost[i])
			continue;
		block_begin(p, BLOCK_STATISTICS);
		put32(p, i);
		put_time(p, p->last_ps);
		put_option(p, STATISTICS_IFDROP, &p->lost[i], sizeof(p->lost[i]));
		put32(p, OPTION_END);
		block_end(p);
	}
}

int pcapng_close(struct pcapng *p)
{
	int r = 0;

	if (!p)
		return 0;
	write_statistics(p);
	if (p->out.file)
		r = outstream_close(&p->out);
	pcapng_free(p);
	return r;
}
