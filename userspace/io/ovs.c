/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/ovs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "io/command.h"

#define VSCTL          "ovs-vsctl", "--timeout=20"
#define NO_SUCH_BRIDGE 2 /* exit status of br-exists (ovs-vsctl(8)) */
#define START          "systemctl start openvswitch-switch"

/* The caller's environment with another OVS_RUNDIR; free() it: only `own` is copied. */
static char **environment_with(const char *own)
{
	static const char key[] = OVS_RUNDIR "=";
	size_t count = 0, kept = 0;
	char **words;

	while (environ[count])
		count++;
	words = calloc(count + 2, sizeof(*words));
	if (!words)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], key, strlen(key)))
			words[kept++] = environ[i];
	words[kept] = (char *)own;
	return words;
}

/* 0, however ovs-vsctl ended, or -errno. */
static int run(const char *rundir, const char *const argv[], struct command_output *ret)
{
	char **environment, *own = NULL;
	int r;

	if (rundir && *rundir && asprintf(&own, OVS_RUNDIR "=%s", rundir) < 0)
		return -ENOMEM;
	environment = environment_with(own);
	r = environment ? command_run(argv, environment, ret) : -ENOMEM;
	free(environment);
	free(own);
	return r;
}

/* The first line, without the name of who says it. */
static const char *first_line(char *text)
{
	static const char name[] = "ovs-vsctl: ";

	text[strcspn(text, "\n")] = '\0';
	return strncmp(text, name, strlen(name)) ? text : text + strlen(name);
}

static int explain(int code, struct command_output *output, struct error *why)
{
	if (code == -ENOENT)
		return error_set(why, -ENOPKG,
			"there is no ovs-vsctl, which joins a host to a bridge of Open vSwitch; install it "
			"(Debian's package openvswitch-switch)");
	if (code < 0)
		return error_set(why, code, "cannot run ovs-vsctl: %s", strerror(-code));
	if (WIFSIGNALED(output->status) && WTERMSIG(output->status) == SIGALRM)
		return error_set(why, -ENOPKG,
			"Open vSwitch does not answer within 20 s; is its ovs-vswitchd running (%s)?",
			START);
	if (WIFSIGNALED(output->status))
		return error_set(
			why, -EIO, "ovs-vsctl died: %s", strsignal(WTERMSIG(output->status)));
	if (strstr(output->err, "database connection failed"))
		return error_set(why, -ENOPKG,
			"cannot reach the database of Open vSwitch: %s; start it (%s), or set " OVS_RUNDIR
			" to the directory of its db.sock",
			first_line(output->err), START);
	return error_set(why, -EIO, "ovs-vsctl failed: %s", first_line(output->err));
}

/* 0: it ended with exit status 0. */
static int vsctl(
	const char *rundir, const char *const argv[], struct command_output *ret, struct error *why)
{
	int r = run(rundir, argv, ret);

	return r < 0 || ret->status ? explain(r, ret, why) : 0;
}

/* Names the bridges that there are. */
static int explain_bridge(const char *rundir, const char *bridge, struct error *why)
{
	const char *const argv[] = {VSCTL, "list-br", NULL};
	struct command_output output;
	int r = vsctl(rundir, argv, &output, why);

	if (r < 0)
		return r;
	if (!*output.out)
		return error_set(why, -ENOPKG,
			"Open vSwitch has no bridge at all; make it: ovs-vsctl add-br %s", bridge);
	for (char *c = output.out; *c; c++)
		if (*c == '\n')
			*c = c[1] ? ' ' : '\0';
	return error_set(why, -ENOPKG,
		"Open vSwitch has no bridge %s, but %.256s; make it: ovs-vsctl add-br %s", bridge,
		output.out, bridge);
}

int ovs_check_bridge(const char *rundir, const char *bridge, struct error *why)
{
	const char *const argv[] = {VSCTL, "--", "br-exists", bridge, NULL};
	struct command_output output;
	int r = run(rundir, argv, &output);

	if (!r && WIFEXITED(output.status) && WEXITSTATUS(output.status) == NO_SUCH_BRIDGE)
		return explain_bridge(rundir, bridge, why);
	return r < 0 || output.status ? explain(r, &output, why) : 0;
}

/* ovs-vsctl succeeds as soon as the database says so; what came of it is in the database too. */
static int check_port(const char *rundir, const struct ovs_port *port, struct error *why)
{
	const char *const argv[] = {VSCTL, "get", "Interface", port->name, "error", NULL};
	struct command_output output;
	int r = vsctl(rundir, argv, &output, why);

	if (r < 0)
		return r;
	if (output.out[0] == '[')
		return 0;
	return error_set(why, -EIO,
		"Open vSwitch cannot take %s into the bridge %s: %s; does it run in this network namespace?",
		port->name, port->bridge, first_line(output.out));
}

static int add_port(const char *rundir, const struct ovs_port *port, const char *fabric,
	const char *node, struct error *why)
{
	const char *const argv[] = {VSCTL, "--", "add-port", port->bridge, port->name, "--", "set",
		"Port", port->name, fabric, node, NULL};
	struct command_output output;
	int r = vsctl(rundir, argv, &output, why);

	return r < 0 ? r : check_port(rundir, port, why);
}

int ovs_add_port(const char *rundir, const struct ovs_port *port, struct error *why)
{
	char *fabric, *node;
	int r;

	if (asprintf(&fabric, "external_ids:fabricbed=\"%s\"", port->fabric) < 0)
		return error_set(why, -ENOMEM, "out of memory");
	if (asprintf(&node, "external_ids:fabricbed-node=\"%s\"", port->node) < 0) {
		free(fabric);
		return error_set(why, -ENOMEM, "out of memory");
	}
	r = add_port(rundir, port, fabric, node, why);
	free(node);
	free(fabric);
	return r;
}

void ovs_remove_port(const char *rundir, const char *name)
{
	const char *const argv[] = {VSCTL, "--", "--if-exists", "del-port", name, NULL};
	struct command_output output;

	vsctl(rundir, argv, &output, NULL);
}
