/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dataplane/kernel.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/policies.h"
#include "dataplane/table_list.h"
#include "fabricbed.skel.h"
#include "io/xsk.h"

#define VERIFIER_LOG_BYTES ((16u << 20) - 1) /* all that kernels before 6.4 write */
#define LOST_AFTER_MS      1000 /* a verdict that is so late is not coming: it takes microseconds */

struct kernel {
	struct dataplane dp;
	struct xsk_pool sockets; /* of port p: p - PORT_FIRST */
	uint32_t *peers;         /* index of the socket at the other end of the link */
	struct fabricbed_bpf *skel;
	struct fabricbed_bpf *swapped; /* the same with another policy; NULL: there is none */
};

static struct kernel *kernel_of(const struct dataplane *dp)
{
	return (struct kernel *)((char *)dp - offsetof(struct kernel, dp));
}

/*
 * Waits for verdicts that were not there when the send returned: the softirq ran elsewhere, or the
 * kernel wants to be asked again. -EIO: the frames are lost.
 */
static int await_verdicts(struct kernel *k, uint32_t tx, uint32_t rx, unsigned n, int sent)
{
	struct pollfd wait = {.fd = k->sockets.fds[rx], .events = POLLIN};
	unsigned now, tries;

	for (tries = 0; tries < LOST_AFTER_MS; tries++) {
		now = xsk_rx_count(&k->sockets, rx);
		if (now >= n)
			return 0;
		/*
		 * EAGAIN, EBUSY, ENOBUFS: out of some resource for now; the frames are still in the
		 * ring.
		 */
		if (sent < 0 && sent != -EAGAIN && sent != -EBUSY && sent != -ENOBUFS &&
			sent != -EINTR)
			return sent;
		/*
		 * Lets go of the core: before 6.5 a busy kernel leaves softirqs to ksoftirqd, which
		 * may want this one. With some verdicts there the socket would not be waited for.
		 */
		poll(&wait, now == 0, 1);
		sent = xsk_kick(&k->sockets, tx);
	}
	return -EIO;
}

static int kernel_submit(struct dataplane *dp, uint32_t port, struct frame_ref *frames, unsigned n)
{
	struct kernel *k = kernel_of(dp);
	const struct xsk_pool *sockets = &k->sockets;
	uint32_t rx = port - PORT_FIRST, tx = k->peers[rx], bytes;
	uint32_t most = HOP_BYTES + dp->frame_capacity;
	const uint8_t *packet;
	unsigned i;
	int r;

	for (i = 0; i < n; i++) {
		bytes = HOP_BYTES + frames[i].captured;
		if (bytes > most)
			bytes = most;
		memcpy(xsk_tx_packet(sockets, i), frames[i].frame, bytes);
		xsk_tx_describe(sockets, tx, i, bytes);
	}
	xsk_rx_lend(sockets, rx, n);
	r = xsk_send(sockets, tx, n);
	if (__builtin_expect(xsk_rx_count(sockets, rx) < n, 0)) {
		r = await_verdicts(k, tx, rx, n, r);
		if (r < 0)
			return r;
	}
	for (i = 0; i < n; i++) {
		packet = xsk_rx_packet(sockets, rx, i, &bytes);
		memcpy(frames[i].frame, packet, bytes);
	}
	xsk_rx_release(sockets, rx, n);
	return 0;
}

static void kernel_close(struct dataplane *dp)
{
	struct kernel *k;

	if (!dp)
		return;
	k = kernel_of(dp);
	xsk_pool_close(&k->sockets);
	tables_unmap(&dp->tables);
	fabricbed_bpf__destroy(k->swapped);
	fabricbed_bpf__destroy(k->skel);
	free(k->peers);
	free(k);
}

static const struct dataplane_ops kernel_ops = {
	.name = "kernel",
	.submit = kernel_submit,
	.close = kernel_close,
};

static int size_maps(struct kernel *k, struct fabricbed_bpf *skel)
{
	struct table tables[TABLES];
	int r;

	tables_list(&k->dp.tables, tables);
	r = bpf_map__set_max_entries(skel->maps.sockets, k->dp.tables.count.ports);
	for (int i = 0; i < TABLES && !r; i++)
		r = bpf_map__set_max_entries(
			bpf_object__find_map_by_name(skel->obj, tables[i].name), tables[i].count);
	return r;
}

/* The maps of the programs that there are. */
static int share_maps(struct kernel *k, struct fabricbed_bpf *skel)
{
	struct table tables[TABLES];
	int r = bpf_map__reuse_fd(skel->maps.sockets, bpf_map__fd(k->skel->maps.sockets));

	tables_list(&k->dp.tables, tables);
	for (int i = 0; i < TABLES && !r; i++)
		r = bpf_map__reuse_fd(bpf_object__find_map_by_name(skel->obj, tables[i].name),
			bpf_object__find_map_fd_by_name(k->skel->obj, tables[i].name));
	return r;
}

/*
 * The last line of a source file that the verifier came by: "; text", since Linux 6.10 with
 * " @ file:line" behind it. Of that file, where such a line is there. "": there is none.
 */
static const char *last_source(const char *log, const char *file)
{
	const char *found = "";

	for (const char *line = log; line; line = strchr(line, '\n')) {
		const char *end, *at;

		line += *line == '\n';
		if (line[0] != ';' || line[1] != ' ')
			continue;
		end = strchrnul(line, '\n');
		at = file ? memmem(line, (size_t)(end - line), " @ ", 3) : NULL;
		if (!file || !at || memmem(at, (size_t)(end - at), file, strlen(file)))
			found = line + 2;
	}
	return found;
}

/* Where the verifier was, and its last words: the lines before its statistics. */
static int explain_load(struct error *why, int code, char *log, const char *file)
{
	char *end = strstr(log, "\nprocessed "), *from;
	const char *source;
	int lines = 0;

	if (end)
		*end = '\0';
	source = last_source(log, file);
	for (from = log + strlen(log); from > log && lines < 3; from--)
		lines += from[-1] == '\n';
	return error_set(why, code, "the kernel refuses the programs: %s%s%s%.*s%s%s",
		strerror(-code),
		code == -EPERM ? " (root, or CAP_BPF with CAP_NET_ADMIN, is needed)" : "",
		*source ? KERNEL_AT : "", (int)(strchrnul(source, '\n') - source), source,
		*from ? "\n" : "", from);
}

/* Neither the program of the hosts' eth0 nor its map is made unless it is asked for. */
static int set_egress(const struct fabricbed_bpf *skel, const struct egress_config *egress)
{
	int r;

	if (egress) {
		skel->rodata->egress = *egress;
		return 0;
	}
	r = bpf_program__set_autoload(skel->progs.fabricbed_egress, false);
	return r < 0 ? r : bpf_map__set_autocreate(skel->maps.flowlets, false);
}

/* The programs as they were built, or with a policy. NULL: errno tells why. */
static struct fabricbed_bpf *open_programs(
	const struct policy_code *code, const struct bpf_object_open_opts *opts)
{
	struct fabricbed_bpf *skel;
	int r;

	if (!code)
		return fabricbed_bpf__open_opts(opts);
	skel = calloc(1, sizeof(*skel));
	r = skel ? fabricbed_bpf__create_skeleton(skel) : -ENOMEM;
	if (r == 0) {
		skel->skeleton->data = (void *)code->program;
		skel->skeleton->data_sz = code->program_bytes;
		r = bpf_object__open_skeleton(skel->skeleton, opts);
	}
	if (r == 0)
		return skel;
	fabricbed_bpf__destroy(skel);
	errno = -r;
	return NULL;
}

/* What a set of programs is loaded from, and for. */
struct programs {
	struct sw_config config;
	const struct egress_config *egress; /* NULL: the hosts' eth0 has no program */
	const struct policy_code *code;     /* NULL: BALANCE_FILE is nothing */
	int (*prepare)(struct kernel *k, struct fabricbed_bpf *skel); /* the maps */
};

static int load_programs(
	struct kernel *k, const struct programs *p, struct fabricbed_bpf **ret, struct error *why)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_size = VERIFIER_LOG_BYTES);
	struct fabricbed_bpf *skel;
	libbpf_print_fn_t print;
	char *log;
	int r;

	log = calloc(1, VERIFIER_LOG_BYTES);
	if (!log)
		return error_set(why, -ENOMEM, "out of memory");
	opts.kernel_log_buf = log;
	print = libbpf_set_print(NULL);
	skel = open_programs(p->code, &opts);
	r = skel ? p->prepare(k, skel) : -errno;
	if (!r)
		r = set_egress(skel, p->egress);
	if (!r) {
		skel->rodata->config = p->config;
		r = fabricbed_bpf__load(skel);
	}
	libbpf_set_print(print);
	if (r < 0) {
		explain_load(why, r, log, p->code ? p->code->name : NULL);
		fabricbed_bpf__destroy(skel);
	} else {
		*ret = skel;
	}
	free(log);
	return r;
}

static int map_tables(struct kernel *k, struct error *why)
{
	struct table tables[TABLES];

	tables_list(&k->dp.tables, tables);
	for (int i = 0; i < TABLES; i++) {
		int fd = bpf_object__find_map_fd_by_name(k->skel->obj, tables[i].name);
		void *at = mmap(NULL, table_bytes(&tables[i]), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, fd, 0);

		if (at == MAP_FAILED)
			return error_set(why, -errno, "cannot map the table %s: %s", tables[i].name,
				strerror(errno));
		*tables[i].at = at;
	}
	return 0;
}

int dataplane_kernel_load(struct dataplane **ret, const struct sw_sizes *sizes,
	uint32_t frame_capacity, const struct egress_config *egress, const struct policy_code *code,
	struct error *why)
{
	const struct programs programs = {sizes->config, egress, code, size_maps};
	uint32_t ports = sizes->ports - PORT_FIRST;
	struct kernel *k;
	int r;

	if (frame_capacity > VETH_FRAME_MAX)
		return error_set(why, -EMSGSIZE,
			"frames of %u bytes do not fit a veth with XDP (%u at most); "
			"use payload: headers",
			frame_capacity, VETH_FRAME_MAX);
	k = calloc(1, sizeof(*k));
	if (!k)
		return error_set(why, -ENOMEM, "out of memory");
	k->dp.ops = &kernel_ops;
	k->dp.max_batch = XSK_BATCH;
	k->dp.frame_capacity = frame_capacity;
	tables_size(&k->dp.tables, sizes);
	k->peers = calloc(ports, sizeof(*k->peers));
	r = k->peers ? load_programs(k, &programs, &k->skel, why)
		     : error_set(why, -ENOMEM, "out of memory");
	if (!r)
		r = map_tables(k, why);
	if (!r)
		r = xsk_pool_open(&k->sockets, ports, HOP_BYTES + frame_capacity, why);
	if (r < 0) {
		kernel_close(&k->dp);
		return r;
	}
	*ret = &k->dp;
	return 0;
}

int dataplane_kernel_swap(struct dataplane *dp, const struct policy_code *code, struct error *why)
{
	struct kernel *k = kernel_of(dp);
	struct programs programs = {dp->tables.config, NULL, code, share_maps};
	struct fabricbed_bpf *swapped = NULL;
	int r = 0;

	programs.config.features |= SW_BALANCE;
	programs.config.balances |= 1u << BALANCE_FILE;
	if (code)
		r = load_programs(k, &programs, &swapped, why);
	if (r < 0)
		return r;
	fabricbed_bpf__destroy(k->swapped);
	k->swapped = swapped;
	return 0;
}

const void *dataplane_kernel_object(size_t *ret_bytes)
{
	return fabricbed_bpf__elf_bytes(ret_bytes);
}

int dataplane_kernel_program_fd(const struct dataplane *dp, enum port_kind kind)
{
	const struct kernel *k = kernel_of(dp);

	if (kind == PORT_HOST)
		return bpf_program__fd(k->skel->progs.fabricbed_host);
	return bpf_program__fd((k->swapped ? k->swapped : k->skel)->progs.fabricbed_switch);
}

int dataplane_kernel_egress_fd(const struct dataplane *dp)
{
	return bpf_program__fd(kernel_of(dp)->skel->progs.fabricbed_egress);
}

int dataplane_kernel_open_port(struct dataplane *dp, uint32_t port, struct error *why)
{
	return xsk_open(&kernel_of(dp)->sockets, port - PORT_FIRST, why);
}

int dataplane_kernel_bind_port(
	struct dataplane *dp, uint32_t port, uint32_t peer, struct error *why)
{
	struct kernel *k = kernel_of(dp);
	uint32_t i = port - PORT_FIRST;
	int r;

	r = xsk_bind(&k->sockets, i, port, why);
	if (r < 0)
		return r;
	k->peers[i] = peer - PORT_FIRST;
	if (bpf_map_update_elem(
		    bpf_map__fd(k->skel->maps.sockets), &port, &k->sockets.fds[i], BPF_ANY) < 0)
		return error_set(why, -errno, "cannot enter port %u in the socket map: %s", port,
			strerror(errno));
	return 0;
}
