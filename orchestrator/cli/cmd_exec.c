/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/diag.h"
#include "cli/cli.h"
#include "cli/fabrics.h"
#include "io/netns.h"
#include "topology/fabric.h"

static const struct cli_option options[] = {
	{0},
};

/* As env(1) and shells have it. */
#define EXIT_NO_EXEC    126
#define EXIT_NO_COMMAND 127

static void explain_node(const struct registry_info *info, const char *node)
{
	size_t count = 0, size = json_object_size(info->nodes);
	const char **names = calloc(size + 1, sizeof(*names)), *name;
	char hint[DIAG_HINT], all[DIAG_HINT];
	json_t *inode;

	json_object_foreach((json_t *)info->nodes, name, inode)
	{
		if (names)
			names[count++] = name;
	}
	snprintf(all, sizeof(all), "; 'fabricbed show %s nodes' lists them", info->name);
	cli_error("%s has no node '%s'%s", info->name, node,
		diag_hint(hint, node, names, count, all));
	free(names);
}

/* On the inline dataplane there is no place where a program could run. */
static int need_namespaces(const struct command *c, const struct registry_info *info)
{
	if (!info->dataplane || strcmp(info->dataplane, "inline"))
		return fabrics_need_root(c->name);
	cli_error(
		"exec: %s is on the inline dataplane, where hosts are no network namespaces; programs need 'up --dataplane kernel', as root",
		info->name);
	return EXIT_MACHINE;
}

/* A descriptor of the node's namespace in *ret. EXIT_WELL, or another status after a message. */
static int open_node(const struct registry_info *info, const char *node, int *ret)
{
	const json_t *inode = json_object_get(info->nodes, node);
	char name[REGISTRY_NAME_MAX + NODE_NAME + 8];
	struct stat st;
	int fd;

	if (!info->alive) {
		cli_error("%s is gone: %s; 'fabricbed down %s' removes what is left", info->name,
			info->reason, info->name);
		return EXIT_RUN;
	}
	if (!inode) {
		explain_node(info, node);
		return EXIT_INPUT;
	}
	snprintf(name, sizeof(name), "%s-%s", info->name, node);
	/* after `ip netns exec up`, say, names are mounted for its own process only */
	fd = netns_open_as_seen_by(info->pid, name);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != (ino_t)json_integer_value(inode)) {
		cli_error("%s %s; 'fabricbed list' tells", info->name,
			info->phase == REGISTRY_STARTING ? "is still coming up" : "is going down");
		return EXIT_RUN;
	}
	*ret = fd;
	return EXIT_WELL;
}

/*
 * /sys shows the interfaces of the namespace that mounted it. The new one lacks what the machine
 * has mounted in the old one, of which programs need the control groups and the pinned BPF objects.
 * Where a container forbids it /sys is unchanged.
 */
static void show_own_sys(const char *name)
{
	static const char *const kept[] = {"/sys/fs/cgroup", "/sys/fs/bpf"};
	int trees[sizeof(kept) / sizeof(kept[0])];
	bool shown;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		trees[i] = open_tree(
			AT_FDCWD, kept[i], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	shown = mount(name, "/sys", "sysfs", 0, NULL) == 0;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (trees[i] < 0)
			continue;
		if (shown)
			move_mount(trees[i], "", AT_FDCWD, kept[i], MOVE_MOUNT_F_EMPTY_PATH);
		close(trees[i]);
	}
}

/*
 * Whether the namespace has a default route. Without one there is no name server either: an unknown
 * name should fail at once, and not after 10 s.
 */
static bool has_way_out(void)
{
	FILE *routes = fopen("/proc/thread-self/net/route", "re");
	char line[256], device[64];
	unsigned long to;
	bool found = false;

	while (routes && !found && fgets(line, sizeof(line), routes))
		found = sscanf(line, "%63s %lx", device, &to) == 2 && to == 0;
	if (routes)
		fclose(routes);
	return found;
}

/*
 * The fabric's names instead of the machine's. They need a file to be mounted on: without one the
 * machine gets an empty one, which means the same.
 */
static void show_own_names(const struct registry_info *info)
{
	int made = open("/etc/hosts", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char hosts[REGISTRY_PATH_MAX];

	if (made >= 0) {
		fchmod(made, 0644); /* whatever the umask */
		close(made);
	}
	if (mount(registry_path(hosts, info->name, "hosts"), "/etc/hosts", "none", MS_BIND, NULL) <
		0)
		cli_error("the hosts' names will not resolve: can't mount /etc/hosts: %s",
			strerror(errno));
}

/* The fabric's names, and /sys of the node, for this process and its children alone. */
static int enter_node(const struct registry_info *info, const char *node, int netns)
{
	int r = netns_enter(netns);

	if (r < 0) {
		cli_error("can't enter %s's network namespace: %s", node, strerror(-r));
		return EXIT_RUN;
	}
	/* slave: what the machine unmounts, as namespaces when the fabric goes, goes here too */
	if (unshare(CLONE_NEWNS) < 0 || mount("", "/", "none", MS_SLAVE | MS_REC, NULL) < 0) {
		cli_error("can't make a mount namespace: %s", strerror(errno));
		return EXIT_RUN;
	}
	show_own_sys(node);
	show_own_names(info);
	if (!has_way_out())
		mount("/dev/null", "/etc/resolv.conf", NULL, MS_BIND, NULL);
	setenv("FABRICBED_NAME", info->name, 1);
	setenv("FABRICBED_NODE", node, 1);
	return EXIT_WELL;
}

/* The user's own prompt, prefixed. fd: of this file; what a shell starts must not have it. */
#define BASH_RC                                                                                    \
	"for f in /etc/bash.bashrc ~/.bashrc; do [ -r $f ] && . $f; done; unset f\n"               \
	"PS1=\"($FABRICBED_NAME:$FABRICBED_NODE) $PS1\"\n"                                         \
	"exec %d<&-\n"

/* bash takes its prompt from its own files, so a file has to set it. NULL: no prompt. */
static const char *bash_rc(void)
{
	static char path[64];
	int fd = memfd_create("prompt", 0);

	if (fd < 0 || dprintf(fd, BASH_RC, fd) < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* A shell whose prompt names the node: "(lab:h0) ". */
static void become_shell(void)
{
	const char *shell = getenv("SHELL"), *base, *rc = NULL;
	char prompt[REGISTRY_NAME_MAX + NODE_NAME + 16];

	if (!shell || !*shell)
		shell = "/bin/sh";
	base = strrchr(shell, '/');
	if (!strcmp(base ? base + 1 : shell, "bash") && (rc = bash_rc()))
		execlp(shell, shell, "--rcfile", rc, NULL);
	snprintf(prompt, sizeof(prompt), "(%s:%s) # ", getenv("FABRICBED_NAME"),
		getenv("FABRICBED_NODE"));
	setenv("PS1", prompt, 1);
	execlp(shell, shell, NULL);
	cli_error("can't run %s: %s", shell, strerror(errno));
}

static int become(char *const *argv)
{
	signal(SIGPIPE, SIG_DFL); /* main() has it ignored, which a program would inherit */
	if (*argv) {
		execvp(argv[0], argv);
		cli_error("can't run %s: %s", argv[0], strerror(errno));
	} else {
		become_shell();
	}
	return errno == ENOENT ? EXIT_NO_COMMAND : EXIT_NO_EXEC;
}

static int run_exec(const struct command *c, const struct cli_args *args)
{
	char *const *words = args->operands + 2;
	const char *node = args->positional[1];
	struct registry_info info;
	int status = fabrics_find(args->positional[0], &info), netns = -1;

	if (status != EXIT_WELL)
		return status;
	status = need_namespaces(c, &info);
	if (status == EXIT_WELL)
		status = open_node(&info, node, &netns);
	if (status == EXIT_WELL)
		status = enter_node(&info, node, netns);
	if (netns >= 0)
		close(netns);
	registry_release(&info);
	if (status != EXIT_WELL)
		return status;
	if (*words && !strcmp(*words, "--"))
		words++;
	return become(words);
}

const struct command cmd_exec = {
	.name = "exec",
	.operands = "NAME NODE [--] [CMD [ARG...]]",
	.summary = "run a program inside a node of a live fabric",
	.details =
		"Runs CMD, or a shell, in the network namespace of a host or of a switch. Hosts have the\n"
		"interface eth0, with an IPv4 and an IPv6 address, and know each other by name. Files,\n"
		"users and processes are the machine's own. The exit status is CMD's; 127: there is no such\n"
		"program; 126: it can't be run. FABRICBED_NAME and FABRICBED_NODE tell it where it is, and a\n"
		"shell's prompt does.\n\n"
		"  fabricbed exec hello h0 -- ping -c 3 h1\n"
		"  fabricbed exec hello h1",
	.options = options,
	.operands_min = 2,
	.operands_max = SIZE_MAX,
	.operands_raw = true,
	.run = run_exec,
};
