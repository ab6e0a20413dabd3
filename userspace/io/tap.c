/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int explain(int code, const char *name, struct error *why)
{
	bool remedied = code == -ENOENT || code == -ENODEV || code == -ENXIO || code == -EPERM ||
			code == -EACCES;

	return error_set(why, code, "cannot make the TAP interface %s by " TAP_DEVICE ": %s%s%s",
		name, strerror(-code), remedied ? "; " : "", remedied ? TAP_REMEDY : "");
}

int tap_open(struct tap *ret, const char *name, uint32_t index, struct error *why)
{
	struct ifreq ask = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL};
	int wanted = (int)index, fd, r;

	fd = open(TAP_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return explain(-errno, name, why);
	snprintf(ask.ifr_name, sizeof(ask.ifr_name), "%s", name);
	/*
	 * Persistent, so that its end is part of its namespace's, which the kernel does for many
	 * interfaces at once in the background. Each close would wait for an RCU grace period.
	 */
	if (ioctl(fd, TUNSETIFINDEX, &wanted) < 0 || ioctl(fd, TUNSETIFF, &ask) < 0 ||
		ioctl(fd, TUNSETOFFLOAD, 0ul) < 0 || ioctl(fd, TUNSETPERSIST, 1ul) < 0) {
		r = explain(-errno, name, why);
		close(fd);
		return r;
	}
	ret->fd = fd;
	ret->stats = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);
	return 0;
}

void tap_close(struct tap *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->stats >= 0)
		close(t->stats);
	*t = TAP_NONE;
}

uint64_t tap_refused(const struct tap *t, const char *name)
{
	char text[4096], *line;
	unsigned long long dropped = 0;
	ssize_t n = t->stats < 0 ? -1 : pread(t->stats, text, sizeof(text) - 1, 0);
	size_t length = strlen(name);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	for (line = text; line; line = strchr(line, '\n')) {
		line += strspn(line, " \n");
		/* after the name: 8 counters of reception, then bytes, packets, errors, drops */
		if (!strncmp(line, name, length) && line[length] == ':' &&
			sscanf(line + length + 1,
				"%*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", &dropped) == 1)
			return dropped;
	}
	return 0;
}
