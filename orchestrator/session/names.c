/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include "base/diag.h"
#include "scenario/text.h"
#include "topology/fabric.h"

_Static_assert(PORT_NAME <= RECORDER_NAME, "the name of any port");

const char *port_name(const void *arg, uint32_t port, char *buf)
{
	return fabric_port_name(arg, port, buf);
}

const char *node_name(const void *arg, uint32_t node, char *buf)
{
	const struct fabric *f = arg;

	snprintf(buf, RECORDER_NAME, "%s", f->nodes[node].name);
	return buf;
}

uint32_t node_level(const void *arg, uint32_t node)
{
	const struct fabric *f = arg;

	return f->nodes[node].tier;
}

bool port_matches(const struct fabric *f, uint32_t port, const char *word)
{
	char name[RECORDER_NAME];

	return !fnmatch(word, port_name(f, port, name), 0);
}

int names_unknown(struct error *why, const char *kind, const char *word, const char *const *names,
	size_t count)
{
	char shown[TEXT_SHOWN], hint[DIAG_HINT];

	return error_set(why, -EINVAL, "there is no %s '%s'%s", kind, text_shown(shown, word),
		diag_hint(hint, word, names, count, ""));
}
