/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each behaviour of the switches, tests/behaviours/: slices of time do not change the run. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "lib/class_net.h"
#include "lib/small_session.h"

#define FOLDER "tests/behaviours"
#define WHOLE  0
#define RANDOM 1 /* slices of random lengths */

static uint64_t next_stop(uint64_t slice, uint64_t now, uint64_t *rng)
{
	if (slice == WHOLE)
		return UINT64_MAX;
	if (slice == RANDOM)
		return now + 1 + rng_below(rng, 2000000);
	return now + slice;
}

static struct engine_stats run(const char *text, uint64_t seed, uint64_t slice, uint64_t *ret_now)
{
	struct error why = ERROR_INIT;
	struct engine_stats stats;
	struct small_session s;
	uint64_t rng = seed;
	char set[32];
	const char *sets[] = {set};

	snprintf(set, sizeof(set), "seed=%u", (unsigned)seed);
	small_session_open(&s, text, sets, 1, NULL);
	while (!session_done(s.session)) {
		uint64_t now = engine_now(session_engine(s.session));

		assert_int_equal(
			session_advance(s.session, next_stop(slice, now, &rng), NULL, &why), 0);
	}
	engine_stats(session_engine(s.session), &stats);
	*ret_now = engine_now(session_engine(s.session));
	assert_int_equal(engine_check_balance(session_engine(s.session)), 0);
	small_session_close(&s);
	return stats;
}

static void assert_cuts_do_not_show(const char *name, const char *text)
{
	static const uint64_t slices[] = {WHOLE, RANDOM, 777777, 335520, 33333};
	uint64_t seeds = getenv("FABRICBED_LONG") ? 20 : 1;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		uint64_t end, now;
		struct engine_stats whole = run(text, seed, WHOLE, &end);

		for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
			struct engine_stats cut = run(text, seed, slices[i], &now);

			if (memcmp(&cut, &whole, sizeof(cut)))
				print_error("%s, seed %u, slices of %u ps\n", name, (unsigned)seed,
					(unsigned)slices[i]);
			assert_int_equal(cut.trace_hash, whole.trace_hash);
			assert_memory_equal(&cut, &whole, sizeof(cut));
			assert_int_equal(now, end);
		}
	}
}

static void cuts_do_not_show(void **state)
{
	DIR *folder = opendir(FOLDER);
	struct dirent *entry;
	uint32_t files = 0;
	char *here = getcwd(NULL, 0);

	(void)state;
	assert_non_null(folder);
	assert_int_equal(chdir(FOLDER), 0); /* for the files that they name */
	while ((entry = readdir(folder))) {
		size_t length = strlen(entry->d_name);
		char *text;

		if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml"))
			continue;
		text = small_file(".", entry->d_name);
		assert_non_null(text);
		assert_cuts_do_not_show(entry->d_name, text);
		free(text);
		files++;
	}
	closedir(folder);
	assert_int_equal(chdir(here), 0);
	free(here);
	assert_true(files >= 11);
}

/* ---- ahead of time -------------------------------------------------------------------------- */

/* A small fabric in which queues fill and drain, pauses come and go, and a host stops. */
static struct engine_stats run_ahead(uint64_t seed, bool shared, uint32_t max_batch)
{
	const uint64_t rate = 100000000000, delay = PS_PER_US;
	struct class_link links[8];
	struct engine_stats stats;
	struct class_net n;
	uint64_t rng = seed;

	for (uint32_t i = 0; i < 6; i++)
		links[i] = (struct class_link){i, 6 + i / 3, rate, delay};
	for (uint32_t i = 6; i < 8; i++)
		links[i] = (struct class_link){6, 7, 2 * rate, delay / 2};
	class_net_init(&n, 6, 2, links, 8);
	class_net_lossless(&n, 3, 40 * CLASS_NET_FRAME);
	n.params.seed = seed;
	n.params.schedule.share[0] = 0.4;
	n.params.schedule.share[3] = 0.6;
	n.switching.classes[0].limit_bytes = 60 * CLASS_NET_FRAME;
	if (shared) {
		n.switching.shared = true;
		for (uint32_t c = 0; c < CLASSES; c++)
			n.switching.classes[c].limit_bytes = 3 * CLASS_NET_FRAME;
		n.switching.pool_bytes = 2000 * CLASS_NET_FRAME;
	}
	n.switching.config.watchdog_ps = seed % 3 ? 0 : 30 * PS_PER_US;
	class_net_open(&n);
	n.dp->max_batch = max_batch;
	for (uint32_t i = 0; i < 24; i++) {
		const struct class_stream s = {.src = i % 6,
			.dst = (i % 6 + 1 + rng_below(&rng, 5)) % 6,
			.class = i & 1 ? 3 : 0,
			.payload = 1 + rng_below(&rng, 4096),
			.packets = 100,
			.start_ps = rng_below(&rng, 100000000),
			.mean_gap_ps = rng_below(&rng, 3) * 500000};

		class_net_stream(&n, &s);
	}
	class_net_run(&n, 40 * PS_PER_US);
	engine_set_storm(n.engine, (uint32_t)(seed % 6), 1u << 3);
	class_net_run(&n, 140 * PS_PER_US);
	engine_set_storm(n.engine, (uint32_t)(seed % 6), 0);
	class_net_run(&n, UINT64_MAX);
	stats = class_net_stats(&n);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	return stats;
}

/* How many frames a dataplane takes at once is its own affair, buffers and pauses or not. */
static void batches_do_not_show(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 200 : 20, pauses = 0, drops = 0;

	(void)state;
	for (uint64_t i = 0; i < 2 * seeds; i++) {
		struct engine_stats plain = run_ahead(i / 2, i & 1, 1);

		pauses += plain.pauses_sent;
		drops += plain.dropped[DROP_BUFFER];
		for (uint32_t batch = 2; batch <= 32; batch *= 4) {
			struct engine_stats o = run_ahead(i / 2, i & 1, batch);

			assert_int_equal(o.trace_hash, plain.trace_hash);
			assert_memory_equal(&o, &plain, sizeof(o));
		}
	}
	print_message("# %u XOFF, %u frames dropped\n", (unsigned)pauses, (unsigned)drops);
	assert_true(pauses > seeds && drops > seeds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_do_not_show),
		cmocka_unit_test(batches_do_not_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
