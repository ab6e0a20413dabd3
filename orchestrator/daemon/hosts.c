/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/hosts.h"

#include <arpa/inet.h>
#include "base/net.h"
#include "topology/fabric.h"

void hosts_write(const struct fabric *f, FILE *out)
{
	char text4[INET_ADDRSTRLEN], text6[INET6_ADDRSTRLEN];

	fputs("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n", out);
	for (uint32_t i = 0; i < f->net.host_count; i++) {
		struct host_address a = host_address(f->net.nodes[i].number);

		inet_ntop(AF_INET, &a.ip4, text4, sizeof(text4));
		inet_ntop(AF_INET6, a.ip6, text6, sizeof(text6));
		fprintf(out, "%s\t%s\n%s\t%s\n", text4, f->nodes[i].name, text6, f->nodes[i].name);
	}
}
