/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adaptive packet spray. The paper's listing writes its bitmap the other way round than its text
 * reads it; here, as in the text, a set bit means that the path came back marked and sits out once.
 */
#include <string.h>
#include "transport/paths/strack_spray.h"

static uint32_t words_of(const struct strack_paths *s)
{
	return (s->paths + 63) / 64;
}

static bool is_set(const uint64_t *words, uint32_t path)
{
	return words[path / 64] >> (path % 64) & 1;
}

void strack_spray_open(struct strack_paths *s, enum strack_spray kind, uint32_t paths, bool recycle,
	uint64_t age_ps, uint64_t *words, uint64_t now)
{
	*s = (struct strack_paths){
		.age_ps = age_ps,
		.reset_ps = now,
		.next = -1,
		.paths = paths,
		.last = UINT32_MAX, /* so that path 0 is the first */
		.kind = kind,
		.recycle = recycle,
	};
	s->marked = words;
	s->used = words + words_of(s);
}

/*
 * STrack, algorithm 3, lines 2 to 10: an ACK of each packet clocks out one packet on the path that
 * proved good, so that a slow path gets as many as it carries. A SACK for several packets names one
 * path only; to use that again would put one packet more on it than the round robin, which serves
 * the others, does anyway, and measurably unbalances the fabric. Only the mark counts then.
 */
void strack_spray_on_ack(struct strack_paths *s, uint32_t path, bool marked)
{
	uint64_t bit = 1ull << (path % 64);

	if (s->kind != STRACK_ADAPTIVE)
		return;
	if (marked) {
		s->next = -1;
		s->marked[path / 64] |= bit;
	} else {
		s->next = s->recycle ? (int32_t)path : -1;
		s->marked[path / 64] &= ~bit;
	}
}

/* The first clear bit of from..end-1, or end. */
static uint32_t first_clear(const uint64_t *words, uint32_t from, uint32_t end)
{
	while (from < end) {
		uint64_t clear = ~words[from / 64] >> (from % 64);

		if (clear) {
			from += (uint32_t)__builtin_ctzll(clear);
			return from < end ? from : end;
		}
		from = (from / 64 + 1) * 64;
	}
	return end;
}

/*
 * STrack, algorithm 3, lines 16 to 27: the next path that is not marked. The first marked one on
 * the way has then sat out, so a circle of marked paths ends at the bit that was just cleared.
 */
static uint32_t round_robin(struct strack_paths *s, uint32_t window)
{
	uint32_t most = s->paths, path, found;
	uint64_t wanted = 2ull * window;

	if (wanted < STRACK_PATHS_MIN)
		wanted = STRACK_PATHS_MIN;
	if (wanted < most)
		most = (uint32_t)wanted;
	path = s->last + 1;
	if (path >= most)
		path %= most;
	if (!is_set(s->marked, path))
		return path;
	s->marked[path / 64] &= ~(1ull << (path % 64));
	found = first_clear(s->marked, path + 1, most);
	return found < most ? found : first_clear(s->marked, 0, path + 1);
}

static uint32_t adaptive(struct strack_paths *s, uint32_t window, uint64_t now)
{
	uint32_t path;

	/* What was learnt long ago says nothing of now (paper, section 1; docs/transports.md). */
	if (s->age_ps && now - s->reset_ps >= s->age_ps) {
		memset(s->marked, 0, words_of(s) * sizeof(*s->marked));
		s->reset_ps = now;
	}
	if (s->next < 0) {
		s->last = round_robin(s, window);
		return s->last;
	}
	/*
	 * Line 13 would move the round robin here too: mostly back, so that the paths after it had
	 * another turn before the others had theirs.
	 */
	path = (uint32_t)s->next;
	s->next = -1;
	return path;
}

uint32_t strack_spray_choose(struct strack_paths *s, uint32_t window, uint64_t now)
{
	uint32_t path = 0;

	if (s->kind == STRACK_ADAPTIVE)
		path = adaptive(s, window, now);
	else if (s->kind == STRACK_OBLIVIOUS)
		path = s->last = s->last + 1 < s->paths ? s->last + 1 : 0;
	if (!is_set(s->used, path)) {
		s->used[path / 64] |= 1ull << (path % 64);
		s->used_count++;
	}
	return path;
}
