/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/xsk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/parallel.h"

#define CLOSING_THREADS 128 /* they sleep: it is grace periods that overlap, not work */

static const struct {
	int option;
	off_t offset; /* where mmap() finds it */
	size_t entry_bytes;
} rings[XSK_RINGS] = {
	[XSK_RX] = {XDP_RX_RING, XDP_PGOFF_RX_RING, sizeof(struct xdp_desc)},
	[XSK_TX] = {XDP_TX_RING, XDP_PGOFF_TX_RING, sizeof(struct xdp_desc)},
	[XSK_FILL] = {XDP_UMEM_FILL_RING, XDP_UMEM_PGOFF_FILL_RING, sizeof(uint64_t)},
	[XSK_COMPLETION] = {XDP_UMEM_COMPLETION_RING, XDP_UMEM_PGOFF_COMPLETION_RING,
		sizeof(uint64_t)},
};

static size_t rings_bytes(const struct xsk_pool *p)
{
	return (size_t)p->count * XSK_RINGS * p->page_bytes;
}

static size_t frames_bytes(const struct xsk_pool *p)
{
	return 2 * XSK_BATCH * (size_t)p->frame_bytes;
}

/* The kernel reports the layout of the rings, the same for all sockets. */
static int read_offsets(struct xsk_pool *p)
{
	struct xdp_mmap_offsets at;
	socklen_t bytes = sizeof(at);
	int fd, r = 0;

	fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &bytes) < 0)
		r = -errno;
	close(fd);
	if (r < 0)
		return r;
	if (bytes != sizeof(at)) /* before Linux 5.4 */
		return -EOPNOTSUPP;
	p->at[XSK_RX] = at.rx;
	p->at[XSK_TX] = at.tx;
	p->at[XSK_FILL] = at.fr;
	p->at[XSK_COMPLETION] = at.cr;
	return 0;
}

static void *reserve(size_t bytes, int protection)
{
	void *at =
		mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int xsk_pool_open(struct xsk_pool *ret, uint32_t count, uint32_t packet_bytes, struct error *why)
{
	struct xsk_pool p = {.count = count, .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE)};
	uint32_t i;
	int r;

	p.frame_bytes = packet_bytes + XSK_RX_RESERVED <= 2048 ? 2048 : 4096;
	if (packet_bytes + XSK_RX_RESERVED > p.frame_bytes)
		return error_set(why, -EMSGSIZE, "packets of %u bytes do not fit an AF_XDP frame",
			packet_bytes);
	r = read_offsets(&p);
	if (r < 0)
		return error_set(why, r, "cannot open an AF_XDP socket: %s", strerror(-r));

	p.rings = reserve(rings_bytes(&p), PROT_NONE);
	p.frames = reserve(frames_bytes(&p), PROT_READ | PROT_WRITE);
	p.fds = malloc(count * sizeof(*p.fds));
	if (p.fds)
		for (i = 0; i < count; i++)
			p.fds[i] = -1;
	if (!p.rings || !p.frames || !p.fds) {
		xsk_pool_close(&p);
		return error_set(why, -ENOMEM, "out of memory");
	}
	*ret = p;
	return 0;
}

static int close_one(void *context, uint32_t i, struct error *why)
{
	struct xsk_pool *p = context;

	(void)why;
	if (p->fds[i] >= 0)
		close(p->fds[i]);
	return 0;
}

void xsk_pool_close(struct xsk_pool *p)
{
	uint32_t i;

	/*
	 * A mapped ring keeps its socket open, and the last munmap() would then wait in the place
	 * of close().
	 */
	if (p->rings)
		munmap(p->rings, rings_bytes(p));
	if (p->fds && parallel_for(p->count, CLOSING_THREADS, close_one, p, NULL) < 0)
		for (i = 0; i < p->count; i++)
			close_one(p, i, NULL);
	if (p->frames)
		munmap(p->frames, frames_bytes(p));
	free(p->fds);
	*p = (struct xsk_pool){0};
}

static int open_rings(struct xsk_pool *p, uint32_t i, int fd)
{
	int entries = XSK_BATCH, ring;

	for (ring = 0; ring < XSK_RINGS; ring++) {
		size_t bytes = p->at[ring].desc + XSK_BATCH * rings[ring].entry_bytes;

		if (setsockopt(fd, SOL_XDP, rings[ring].option, &entries, sizeof(entries)) < 0)
			return -errno;
		if (mmap(xsk_ring_base(p, i, ring), bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_FIXED, fd, rings[ring].offset) == MAP_FAILED)
			return -errno;
	}
	return 0;
}

int xsk_open(struct xsk_pool *p, uint32_t i, struct error *why)
{
	struct xdp_umem_reg umem = {
		.addr = (uintptr_t)p->frames,
		.len = frames_bytes(p),
		.chunk_size = p->frame_bytes,
	};
	int fd, r;

	fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(why, -errno, "cannot open an AF_XDP socket: %s", strerror(errno));
	if (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem)) < 0) {
		r = error_set(why, -errno, "cannot register AF_XDP frames: %s%s", strerror(errno),
			errno == ENOBUFS ? "; raise the limit of locked memory (ulimit -l)" : "");
		close(fd);
		return r;
	}
	r = open_rings(p, i, fd);
	if (r < 0) {
		/* What is mapped goes with the pool. */
		error_set(why, r, "cannot map the rings of an AF_XDP socket: %s%s", strerror(-r),
			r == -ENOMEM ? "; raise sysctl vm.max_map_count" : "");
		close(fd);
		return r;
	}
	p->fds[i] = fd;
	return 0;
}

int xsk_bind(struct xsk_pool *p, uint32_t i, uint32_t ifindex, struct error *why)
{
	struct sockaddr_xdp to = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_COPY,
		.sxdp_ifindex = ifindex,
	};

	if (bind(p->fds[i], (struct sockaddr *)&to, sizeof(to)) < 0)
		return error_set(why, -errno, "cannot bind an AF_XDP socket to interface %u: %s",
			ifindex, strerror(errno));
	return 0;
}
