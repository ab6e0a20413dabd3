/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/offload.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int offload_off(const char *interface, struct error *why)
{
	/* Without checksum offload the kernel has no segmentation offload either. */
	struct ethtool_value off = {.cmd = ETHTOOL_STXCSUM, .data = 0};
	struct ifreq ask = {.ifr_data = (void *)&off};
	int fd, r;

	snprintf(ask.ifr_name, sizeof(ask.ifr_name), "%s", interface);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	r = fd < 0 || ioctl(fd, SIOCETHTOOL, &ask) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return r < 0 ? error_set(why, r, "cannot switch the checksum offload of %s off: %s",
			       interface, strerror(-r))
		     : 0;
}
