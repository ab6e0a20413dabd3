/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/server.h"

/* Removes a socket at which nobody listens. */
static int remove_stale(const struct sockaddr_un *address, struct error *why)
{
	const char *path = address->sun_path;
	struct stat file;
	int fd, r;

	if (lstat(path, &file) < 0)
		return errno == ENOENT ? 0
				       : error_set(why, -errno, "cannot look at %s: %s", path,
						 strerror(errno));
	if (!S_ISSOCK(file.st_mode))
		return error_set(why, -EEXIST, "%s is there, and is no socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(why, -errno, "cannot make a socket: %s", strerror(errno));
	r = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;
	close(fd);
	if (!r || r == -EAGAIN)
		return error_set(why, -EADDRINUSE, "another process listens at %s", path);
	if (r != -ECONNREFUSED)
		return error_set(why, r, "cannot tell who listens at %s: %s", path, strerror(-r));
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set(why, -errno, "cannot remove %s: %s", path, strerror(errno));
	return 0;
}

static int make_socket(struct listener *l, struct error *why)
{
	const char *path = l->address.sun_path;
	struct stat file;

	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return error_set(why, -errno, "cannot make a socket: %s", strerror(errno));
	/* Linux gives the file the socket's mode at bind: it is never open to others */
	if (fchmod(l->fd, 0600) < 0 ||
		bind(l->fd, (const struct sockaddr *)&l->address, sizeof(l->address)) < 0)
		return error_set(why, -errno, "cannot make %s: %s", path, strerror(errno));
	if (lstat(path, &file) < 0)
		return error_set(why, -errno, "cannot look at %s: %s", path, strerror(errno));
	l->device = file.st_dev;
	l->inode = file.st_ino;
	l->spare = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
	if (l->spare < 0 || listen(l->fd, CONTROL_CLIENTS) < 0)
		return error_set(why, -errno, "cannot listen at %s: %s", path, strerror(errno));
	return 0;
}

int listener_open(struct listener *ret, const char *path, struct error *why)
{
	struct listener l = {.fd = -1, .spare = -1, .address.sun_family = AF_UNIX};
	int r;

	if (strlen(path) >= sizeof(l.address.sun_path))
		return error_set(why, -ENAMETOOLONG, "the path %s is too long for a socket", path);
	strcpy(l.address.sun_path, path);
	r = remove_stale(&l.address, why);
	if (!r)
		r = make_socket(&l, why);
	if (r)
		listener_close(&l);
	else
		*ret = l;
	return r;
}

void listener_close(struct listener *l)
{
	struct stat file;

	if (l->inode && !lstat(l->address.sun_path, &file) && file.st_ino == l->inode &&
		file.st_dev == l->device)
		unlink(l->address.sun_path);
	if (l->spare >= 0)
		close(l->spare);
	if (l->fd >= 0)
		close(l->fd);
}

void listener_refuse(int fd, const char *why)
{
	char line[256];
	int n = snprintf(line, sizeof(line),
		"{\"version\":%d,\"id\":null,\"ok\":false,"
		"\"error\":{\"kind\":\"state\",\"text\":\"%s\"}}\n",
		CONTROL_VERSION, why);

	send(fd, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static int accept_one(struct listener *l)
{
	return accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Without a descriptor left a connection would wait, and epoll would report it again and again. */
static int refuse_with_spare(struct listener *l)
{
	int fd;

	if (l->spare < 0)
		return -EAGAIN;
	close(l->spare);
	fd = accept_one(l);
	if (fd >= 0)
		listener_refuse(fd, "there are too many open files");
	l->spare = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -EAGAIN : -ECONNREFUSED;
}

static bool peer_may_ask(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

int listener_accept(struct listener *l)
{
	int fd = accept_one(l);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return refuse_with_spare(l);
	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED ? -ECONNREFUSED : -EAGAIN;
	if (peer_may_ask(fd))
		return fd;
	listener_refuse(fd, "only root may ask");
	return -ECONNREFUSED;
}
