/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/pcapng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SECTION   0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET    6u /* enhanced packet block */
#define BYTE_ORDER_MARK 0x1a2b3c4du
#define LINKTYPE_ETHER  1u
#define OPTION_NAME     2u /* if_name */
#define OPTION_TSRESOL  9u /* if_tsresol: a negative power of 10 */
#define PICOSECONDS     12u

struct pcapng {
	FILE *out;
};

static void put32(struct pcapng *p, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, p->out);
}

static void put16(struct pcapng *p, uint16_t value)
{
	fwrite(&value, sizeof(value), 1, p->out);
}

static uint32_t padded(uint32_t bytes)
{
	return (bytes + 3) & ~3u;
}

static void put_padded(struct pcapng *p, const void *bytes, uint32_t count)
{
	static const char zeros[3];

	fwrite(bytes, 1, count, p->out);
	fwrite(zeros, 1, padded(count) - count, p->out);
}

int pcapng_open(struct pcapng **ret, const char *path)
{
	struct pcapng *p = calloc(1, sizeof(*p));
	const uint32_t length = 28;

	if (!p)
		return -ENOMEM;
	p->out = fopen(path, "we");
	if (!p->out) {
		free(p);
		return -errno;
	}
	put32(p, BLOCK_SECTION);
	put32(p, length);
	put32(p, BYTE_ORDER_MARK);
	put16(p, 1); /* version 1.0 */
	put16(p, 0);
	put32(p, UINT32_MAX); /* of unknown length */
	put32(p, UINT32_MAX);
	put32(p, length);
	*ret = p;
	return 0;
}

void pcapng_add_interface(struct pcapng *p, const char *name)
{
	const uint8_t resolution = PICOSECONDS;
	uint32_t name_length = (uint32_t)strlen(name);
	uint32_t length = 20 + 4 + padded(name_length) + 8 + 4;

	put32(p, BLOCK_INTERFACE);
	put32(p, length);
	put16(p, LINKTYPE_ETHER);
	put16(p, 0);
	put32(p, 0); /* no snap length */
	put16(p, OPTION_NAME);
	put16(p, (uint16_t)name_length);
	put_padded(p, name, name_length);
	put16(p, OPTION_TSRESOL);
	put16(p, 1);
	put_padded(p, &resolution, 1);
	put32(p, 0); /* end of options */
	put32(p, length);
}

void pcapng_write(struct pcapng *p, uint32_t interface, uint64_t time_ps, const uint8_t *bytes,
	uint32_t captured, uint32_t length)
{
	uint32_t block = 32 + padded(captured);

	put32(p, BLOCK_PACKET);
	put32(p, block);
	put32(p, interface);
	put32(p, (uint32_t)(time_ps >> 32));
	put32(p, (uint32_t)time_ps);
	put32(p, captured);
	put32(p, length);
	put_padded(p, bytes, captured);
	put32(p, block);
}

int pcapng_close(struct pcapng *p)
{
	int r;

	if (!p)
		return 0;
	errno = 0;
	r = ferror(p->out) ? -EIO : 0;
	if (fclose(p->out) && r == 0)
		r = errno ? -errno : -EIO;
	free(p);
	return r;
}
