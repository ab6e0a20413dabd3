/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/parallel.h"
#include "io/netlink.h"
#include "io/netns.h"
#include "io/tap.h"
#include "io/xsk.h"

#define SPARE_FILES    256
#define SPARE_MAPS     1024 /* libraries, stacks, allocations */
#define KERNEL_MAJOR   6    /* `make check-kernels` */
#define KERNEL_MINOR   1
#define PROBE_PORT     2 /* the first ifindex after the loopback's */
#define PROBE_TAP_PORT 4
#define PROBE_MTU      1500
#define PROBE_PACKET   512
#define ROOT_REMEDY    "run as root (in a container: --privileged), or use --dataplane inline"

__attribute__((format(printf, 3, 4))) static void found(
	struct probe *p, bool ok, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(p->detail, sizeof(p->detail), format, ap);
	va_end(ap);
	p->ok = ok;
}

/* The number after `key` in a file of lines "key number", or `otherwise`. */
static unsigned long long read_number(
	const char *path, const char *key, int base, unsigned long long otherwise)
{
	unsigned long long value = otherwise;
	size_t n = strlen(key);
	char line[256];
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return otherwise;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n)) {
			value = strtoull(line + n, NULL, base);
			break;
		}
	fclose(f);
	return value;
}

static void probe_privilege(struct probe *p)
{
	static const struct {
		int bit;
		const char *name;
	} needed[] = {
		{CAP_NET_ADMIN, " CAP_NET_ADMIN"},
		{CAP_NET_RAW, " CAP_NET_RAW"},
		{CAP_SYS_ADMIN, " CAP_SYS_ADMIN"},
		{CAP_BPF, " CAP_BPF"},
	};
	unsigned long long have = read_number("/proc/self/status", "CapEff:", 16, 0);
	char missing[128] = "";
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		/* CAP_SYS_ADMIN was all before Linux 5.8, and still stands for CAP_BPF */
		if (!(have >> needed[i].bit & 1) &&
			!(needed[i].bit == CAP_BPF && have >> CAP_SYS_ADMIN & 1))
			strcat(missing, needed[i].name);
	found(p, !*missing, *missing ? "missing:%s" : "all there%s", missing);
}

static void probe_run_dir(struct probe *p)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/.fabricbed-probe-%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	found(p, fd >= 0, fd >= 0 ? "writable" : "cannot write: %s", strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
}

/* What the probes in a namespace share; they run one after the other in one thread. */
struct trial {
	struct probe *probes;
	struct rtnl *rtnl;
	struct xsk_pool sockets;
	int netns, program;
};

static bool try_namespace(struct trial *t)
{
	struct probe *p = &t->probes[PROBE_NAMESPACE];
	char name[64];
	int r;

	snprintf(name, sizeof(name), "fabricbed-probe-%d", (int)getpid());
	r = netns_prepare();
	if (!r)
		r = netns_create(name, &t->netns);
	if (!r)
		r = netns_delete(name);
	found(p, !r, r ? "cannot make one: %s" : "made and named one", strerror(-r));
	return p->ok;
}

static bool try_veth(struct trial *t)
{
	struct probe *p = &t->probes[PROBE_VETH];
	struct veth_end a = {.netns_fd = t->netns, .index = PROBE_PORT, .name = "a", .mac = {2}};
	struct veth_end b = {
		.netns_fd = t->netns, .index = PROBE_PORT + 1, .name = "b", .mac = {2, 1}};
	struct error why = ERROR_INIT;
	int r;

	r = rtnl_open(&t->rtnl, &why);
	if (!r) {
		rtnl_add_veth(t->rtnl, &a, &b, PROBE_MTU);
		r = rtnl_flush(t->rtnl, &why);
	}
	found(p, !r, "%s", r ? why.text : "made a pair");
	return p->ok;
}

static bool try_xdp(struct trial *t)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct probe *p = &t->probes[PROBE_XDP];
	struct error why = ERROR_INIT;
	int r = 0;

	t->program = bpf_prog_load(BPF_PROG_TYPE_XDP, "probe", "GPL", pass, 2, NULL);
	if (t->program < 0)
		r = error_set(&why, t->program, "cannot load a program: %s", strerror(-t->program));
	if (!r) {
		rtnl_attach_xdp(t->rtnl, PROBE_PORT, t->program);
		rtnl_link_up(t->rtnl, PROBE_PORT);
		r = rtnl_flush(t->rtnl, &why);
	}
	found(p, !r, "%s",
		r ? why.text : "loaded a program and attached it to a veth in native mode");
	return p->ok;
}

static void try_af_xdp(struct trial *t)
{
	struct probe *p = &t->probes[PROBE_AF_XDP];
	struct error why = ERROR_INIT;
	int r;

	r = xsk_pool_open(&t->sockets, 1, PROBE_PACKET, &why);
	if (!r)
		r = xsk_open(&t->sockets, 0, &why);
	if (!r)
		r = xsk_bind(&t->sockets, 0, PROBE_PORT, &why);
	found(p, !r, "%s", r ? why.text : "bound a socket to a veth in copy mode");
}

static void try_tap(struct trial *t)
{
	struct probe *p = &t->probes[PROBE_TAP];
	struct tap tap = TAP_NONE;
	int r = tap_open(&tap, "tap", PROBE_TAP_PORT, NULL);

	found(p, !r, r ? "cannot make one: %s" : "made one", strerror(-r));
	tap_close(&tap);
}

static int try_all(void *context, uint32_t index, struct error *why)
{
	struct trial *t = context;
	int i;

	(void)index;
	(void)why;
	if (try_namespace(t)) {
		try_tap(t);
		if (try_veth(t) && try_xdp(t))
			try_af_xdp(t);
	}
	for (i = PROBE_NAMESPACE; i <= PROBE_TAP; i++) {
		if (*t->probes[i].detail)
			continue;
		found(&t->probes[i], false, "not tried, for lack of the above");
		t->probes[i].remedy = "see above";
	}
	xsk_pool_close(&t->sockets);
	rtnl_close(t->rtnl);
	if (t->program >= 0)
		close(t->program);
	if (t->netns >= 0)
		close(t->netns);
	return 0;
}

static void probe_files(struct probe *p, uint32_t ports, uint32_t nodes)
{
	unsigned long long maps = read_number("/proc/sys/vm/max_map_count", "", 10, 65530);
	unsigned long long need = probe_files_needed(ports, nodes);
	unsigned long long need_maps = (unsigned long long)ports * XSK_RINGS + SPARE_MAPS;
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	found(p, limit.rlim_max >= need && maps >= need_maps,
		"%llu open files and %llu mappings allowed; %llu and %llu needed",
		(unsigned long long)limit.rlim_max, maps, need, need_maps);
	if (limit.rlim_max < need)
		p->remedy = "raise the limit of open files (ulimit -Hn), or use --dataplane inline";
}

static void probe_memory(struct probe *p)
{
	found(p, true, "%llu MB available; 'fabricbed validate' tells what a scenario needs",
		(unsigned long long)probe_memory_available() >> 20);
}

static void probe_jit(struct probe *p)
{
	unsigned long long on = read_number("/proc/sys/net/core/bpf_jit_enable", "", 10, 0);

	found(p, on, on ? "on" : "off: programs are interpreted, several times slower");
}

static void probe_kernel(struct probe *p)
{
	int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	found(p, major * 1000 + minor >= KERNEL_MAJOR * 1000 + KERNEL_MINOR,
		"Linux %s; %d.%d is the oldest that is tested", u.release, KERNEL_MAJOR,
		KERNEL_MINOR);
	/* before 5.12 no verifier lets functions of a program take pointers, and the switch's do */
	p->required = major * 1000 + minor < 5012;
}

void probe_machine(struct probe ret[PROBES], uint32_t ports, uint32_t nodes)
{
	static const struct {
		const char *name;
		bool required;
		const char *remedy;
	} kinds[PROBES] = {
		[PROBE_PRIVILEGE] = {"privileges", true, ROOT_REMEDY},
		[PROBE_RUN_DIR] = {"/run", true, ROOT_REMEDY},
		[PROBE_NAMESPACE] = {"network namespaces", true, ROOT_REMEDY},
		[PROBE_VETH] = {"veth", true,
			"a kernel with CONFIG_VETH (modprobe veth), or --dataplane inline"},
		[PROBE_XDP] = {"XDP", true,
			"a kernel with CONFIG_BPF_SYSCALL, and privileges for BPF; or --dataplane inline"},
		[PROBE_AF_XDP] = {"AF_XDP", true,
			"a kernel with CONFIG_XDP_SOCKETS, or --dataplane inline"},
		[PROBE_TAP] = {"TAP", false, "for live fabrics: " TAP_REMEDY},
		[PROBE_FILES] = {"open files", true,
			"raise sysctl vm.max_map_count, or use --dataplane inline"},
		[PROBE_MEMORY] = {"memory", false, ""},
		[PROBE_JIT] = {"BPF JIT", false, "sysctl net.core.bpf_jit_enable=1"},
		[PROBE_KERNEL] = {"kernel", false, "a newer kernel, or --dataplane inline"},
	};
	struct trial trial = {.probes = ret, .netns = -1, .program = -1};
	int i;

	for (i = 0; i < PROBES; i++)
		ret[i] = (struct probe){.name = kinds[i].name,
			.required = kinds[i].required,
			.remedy = kinds[i].remedy};
	probe_privilege(&ret[PROBE_PRIVILEGE]);
	probe_run_dir(&ret[PROBE_RUN_DIR]);
	parallel_for(1, 1, try_all, &trial, NULL);
	probe_files(&ret[PROBE_FILES], ports, nodes);
	probe_memory(&ret[PROBE_MEMORY]);
	probe_jit(&ret[PROBE_JIT]);
	probe_kernel(&ret[PROBE_KERNEL]);
}

const struct probe *probe_missing(const struct probe probes[PROBES])
{
	int i;

	for (i = 0; i < PROBES; i++)
		if (probes[i].required && !probes[i].ok)
			return &probes[i];
	return NULL;
}

uint64_t probe_files_needed(uint32_t ports, uint32_t nodes)
{
	return (uint64_t)ports + nodes + SPARE_FILES;
}

uint64_t probe_memory_available(void)
{
	return read_number("/proc/meminfo", "MemAvailable:", 10, 0) << 10;
}
