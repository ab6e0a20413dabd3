/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * The plugin that speaks MPI. A message is its length and then parts of it, because MPI counts in
 * ints. No call waits within MPI, which does so by asking again and again, while the runs of a
 * sweep want the processor.
 */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include "sweep/ranks_ops.h"

#define TAG_LENGTH   1
#define TAG_PART     2
#define PART         (64 << 20) /* bytes */
#define PAUSE_MIN_NS 20000
#define PAUSE_MAX_NS 5000000 /* nothing against a run */

/* The first pauses are short, for what is about to arrive. */
struct pause {
	long ns;
};

static void pause_once(struct pause *p)
{
	const struct timespec t = {.tv_nsec = p->ns ? p->ns : PAUSE_MIN_NS};

	nanosleep(&t, NULL);
	p->ns = t.tv_nsec < PAUSE_MAX_NS / 2 ? 2 * t.tv_nsec : PAUSE_MAX_NS;
}

static int wait_for(MPI_Request *request)
{
	struct pause p = {0};
	int done = 0;

	while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
		if (done)
			return 0;
		pause_once(&p);
	}
	return -EIO;
}

static int send_part(int to, int tag, const void *bytes, int length)
{
	MPI_Request request;

	if (MPI_Isend(bytes, length, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		return -EIO;
	return wait_for(&request);
}

static int receive_part(int from, int tag, void *bytes, int length)
{
	MPI_Request request;

	if (MPI_Irecv(bytes, length, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		return -EIO;
	return wait_for(&request);
}

static int part_at(size_t at, size_t length)
{
	return (int)(length - at < PART ? length - at : PART);
}

static int mpi_send(struct ranks *r, int to, const void *bytes, size_t length)
{
	uint64_t all = length;
	int e = send_part(to, TAG_LENGTH, &all, sizeof(all));

	(void)r;
	for (size_t at = 0; e == 0 && at < length; at += PART)
		e = send_part(to, TAG_PART, (const char *)bytes + at, part_at(at, length));
	return e;
}

/* Which of them has sent a message. */
static int wait_for_sender(int from, int *ret_from)
{
	struct pause p = {0};
	MPI_Status status;
	int there = 0;

	while (MPI_Iprobe(from < 0 ? MPI_ANY_SOURCE : from, TAG_LENGTH, MPI_COMM_WORLD, &there,
		       &status) == MPI_SUCCESS) {
		if (there) {
			*ret_from = status.MPI_SOURCE;
			return 0;
		}
		pause_once(&p);
	}
	return -EIO;
}

static int mpi_recv(
	struct ranks *r, int from, int *ret_from, uint8_t **ret_bytes, size_t *ret_length)
{
	uint8_t *bytes = NULL;
	uint64_t length = 0;
	int e = wait_for_sender(from, &from);

	(void)r;
	if (e == 0)
		e = receive_part(from, TAG_LENGTH, &length, sizeof(length));
	if (e == 0 && !(bytes = calloc(1, length + 1)))
		e = -ENOMEM;
	for (size_t at = 0; e == 0 && at < length; at += PART)
		e = receive_part(from, TAG_PART, bytes + at, part_at(at, length));
	if (e < 0) {
		free(bytes);
		return e;
	}
	*ret_from = from;
	*ret_bytes = bytes;
	*ret_length = length;
	return 0;
}

static int mpi_open(struct ranks *r)
{
	int level;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &level) != MPI_SUCCESS)
		return -EIO;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &r->size);
	return 0;
}

static void mpi_close(struct ranks *r)
{
	(void)r;
	MPI_Finalize();
}

const struct ranks_ops fabricbed_ranks_1 = {
	.open = mpi_open,
	.send = mpi_send,
	.recv = mpi_recv,
	.close = mpi_close,
};
