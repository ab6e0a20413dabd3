/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An AF_XDP program as one writes it with libxdp: "libxdp_echo INTERFACE native|skb" answers UDP
 * datagrams over IPv4 to port 7 (RFC 862) from the ring, until SIGTERM. It says "ready" when it
 * listens. What is not for it is dropped: the interface is its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <xdp/xsk.h>

#define FRAMES      64
#define FRAME_BYTES 4096
#define ECHO_PORT   7

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static void swap(void *a, void *b, size_t n)
{
	uint8_t kept[ETH_ALEN];

	memcpy(kept, a, n);
	memcpy(a, b, n);
	memcpy(b, kept, n);
}

/* Makes a request its answer: the sums stay right, since it has the same words in another order. */
static bool answer(uint8_t *frame, uint32_t bytes)
{
	struct ether_header *eth = (void *)frame;
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);

	if (bytes < sizeof(*eth) + sizeof(*ip) + sizeof(*udp) ||
		eth->ether_type != htons(ETHERTYPE_IP) || ip->ihl != 5 ||
		ip->protocol != IPPROTO_UDP || udp->dest != htons(ECHO_PORT))
		return false;
	swap(eth->ether_shost, eth->ether_dhost, ETH_ALEN);
	swap(&ip->saddr, &ip->daddr, sizeof(ip->saddr));
	swap(&udp->source, &udp->dest, sizeof(udp->source));
	return true;
}

struct port {
	struct xsk_umem *umem;
	struct xsk_socket *socket;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons completion, rx;
	uint8_t *frames;
};

static void lend(struct port *p, uint64_t address)
{
	uint32_t at;

	/* there are as many entries as frames */
	if (xsk_ring_prod__reserve(&p->fill, 1, &at) == 1)
		*xsk_ring_prod__fill_addr(&p->fill, at) = address;
	xsk_ring_prod__submit(&p->fill, 1);
}

/* The kernel frees the queue of a socket that was closed a while after (xp_release_deferred()). */
static int create_socket(
	struct port *p, const char *interface, const struct xsk_socket_config *config)
{
	int r;

	do
		r = xsk_socket__create(&p->socket, interface, 0, p->umem, &p->rx, &p->tx, config);
	while (r == -EBUSY && !ended && !poll(NULL, 0, 10));
	return r;
}

static int open_port(struct port *p, const char *interface, bool native)
{
	const struct xsk_umem_config memory = {
		.fill_size = FRAMES, .comp_size = FRAMES, .frame_size = FRAME_BYTES};
	const struct xsk_socket_config config = {
		.rx_size = FRAMES,
		.tx_size = FRAMES,
		.xdp_flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE,
		.bind_flags = XDP_COPY,
	};
	int r;

	p->frames = mmap(NULL, (size_t)FRAMES * FRAME_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->frames == MAP_FAILED)
		return -errno;
	r = xsk_umem__create(&p->umem, p->frames, (uint64_t)FRAMES * FRAME_BYTES, &p->fill,
		&p->completion, &memory);
	if (!r)
		r = create_socket(p, interface, &config);
	for (uint64_t i = 0; !r && i < FRAMES; i++)
		lend(p, i * FRAME_BYTES);
	return r;
}

static void serve(struct port *p)
{
	uint32_t at, to;

	while (xsk_ring_cons__peek(&p->completion, 1, &at)) {
		uint64_t address = *xsk_ring_cons__comp_addr(&p->completion, at);

		xsk_ring_cons__release(&p->completion, 1);
		lend(p, address / FRAME_BYTES * FRAME_BYTES);
	}
	while (xsk_ring_cons__peek(&p->rx, 1, &at)) {
		const struct xdp_desc got = *xsk_ring_cons__rx_desc(&p->rx, at);

		xsk_ring_cons__release(&p->rx, 1);
		if (answer(xsk_umem__get_data(p->frames, got.addr), got.len) &&
			xsk_ring_prod__reserve(&p->tx, 1, &to)) {
			*xsk_ring_prod__tx_desc(&p->tx, to) =
				(struct xdp_desc){.addr = got.addr, .len = got.len};
			xsk_ring_prod__submit(&p->tx, 1);
			sendto(xsk_socket__fd(p->socket), NULL, 0, MSG_DONTWAIT, NULL, 0);
		} else {
			lend(p, got.addr / FRAME_BYTES * FRAME_BYTES);
		}
	}
}

int main(int argc, char **argv)
{
	struct port port = {0};
	struct pollfd wait = {.events = POLLIN};
	int r;

	if (argc != 3)
		return 2;
	signal(SIGTERM, end);
	r = open_port(&port, argv[1], !strcmp(argv[2], "native"));
	if (r) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	wait.fd = xsk_socket__fd(port.socket);
	while (!ended) {
		poll(&wait, 1, 100);
		serve(&port);
	}
	xsk_socket__delete(port.socket);
	xsk_umem__delete(port.umem);
	return 0;
}
