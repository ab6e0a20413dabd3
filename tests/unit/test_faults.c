/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random loss, Gilbert-Elliott and bit errors against their closed forms; and all faults together.
 */
#include "faults_fixture.h"

static void random_loss_is_binomial_and_has_no_memory(void **state)
{
	static const double losses[] = {1e-4, 1e-3, 0.01, 0.3, 0.9};
	enum { N = 200000 };

	(void)state;
	for (unsigned i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		double p = losses[i], lost = 0, runs = 1, kept, mean;
		int is, was = 0;
		struct cable c;

		cable_init(&c);
		faults_set_loss(&c.t, A, p, i);
		for (uint64_t n = 0; n < N; n++) {
			is = nth(&c, A, n) == DROP_LOSS;
			lost += is;
			runs += n && is != was;
			was = is;
		}
		assert_near("lost", lost, N * p, sqrt(N * p * (1 - p)));
		/* Wald and Wolfowitz, 1940 */
		kept = N - lost;
		mean = 1 + 2 * lost * kept / N;
		assert_near("runs", runs, mean, sqrt((mean - 1) * (mean - 2) / (N - 1)));
	}
}

static void certain_and_impossible(void **state)
{
	struct cable c;

	(void)state;
	cable_init(&c);
	faults_set_loss(&c.t, A, 1, 1);
	for (unsigned n = 0; n < 1000; n++)
		assert_int_equal(nth(&c, A, n), DROP_LOSS);
	assert_int_equal(c.faults[A].loss, UINT32_MAX);
	faults_set_loss(&c.t, A, 0.5, 1);
	assert_int_equal(c.faults[A].loss, 1u << 31);
	faults_set_loss(&c.t, A, 0, 1);
	assert_int_equal(c.faults[A].loss, 0);
	assert_int_equal(c.ports[A].faulty, 0);
	faults_set_flaky(&c.t, A, EVERY, 0, 1, 0);
	assert_int_equal(c.ports[A].faulty, 0);
	faults_set_flaky(&c.t, A, 0, LAST, 1, 0);
	assert_int_equal(c.ports[A].faulty, 0);
	for (unsigned n = 0; n < 1000; n++)
		assert_int_equal(nth(&c, A, n), DROP_NONE);
}

/* The two directions of a cable lose on their own. */
static void directions_lose_apart(void **state)
{
	unsigned both = 0;
	struct cable c;

	(void)state;
	cable_init(&c);
	faults_set_loss(&c.t, A, 0.1, 1);
	faults_set_loss(&c.t, B, 0.1, 1);
	for (unsigned n = 0; n < 100000; n++) {
		int a = nth(&c, A, n) == DROP_LOSS, b = nth(&c, B, n) == DROP_LOSS;

		both += a && b;
	}
	assert_near("in both", both, 1000, sqrt(1000 * 0.99));
}

/* Nor do a cable's own faults hit the same frames. */
static void draws_of_a_frame_are_independent(void **state)
{
	enum { N = 100000 };
	static const struct faults_gilbert model = {0, 0, 0.1, 0};
	unsigned both[3] = {0};
	struct cable c[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		cable_init(&c[i]);
	faults_set_loss(&c[0].t, A, 0.1, 1);
	faults_set_gilbert(&c[1].t, A, &model, 1);
	faults_set_errors(&c[2].t, A, -expm1(log(0.9) / (8 * (LENGTH + 4))), 1);
	for (unsigned n = 0; n < N; n++) {
		int loss = nth(&c[0], A, n) != DROP_NONE, gilbert = nth(&c[1], A, n) != DROP_NONE;
		int error = nth(&c[2], A, n) != DROP_NONE;

		both[0] += loss && gilbert;
		both[1] += gilbert && error;
		both[2] += error && loss;
	}
	for (unsigned i = 0; i < 3; i++)
		assert_near("both", both[i], 0.01 * N, sqrt(0.01 * 0.99 * N));
}

static void gilbert_elliott_as_in_closed_form(void **state)
{
	static const struct faults_gilbert models[] = {
		{0.01, 0.2, 0, 1},
		{0.001, 0.1, 0, 1},
		{0.05, 0.5, 0.001, 0.8},
		{0.3, 0.2, 0.1, 0.6},
	};
	enum { N = 400000 };

	(void)state;
	for (unsigned i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		const struct faults_gilbert *m = &models[i];
		double bad = m->enter / (m->enter + m->leave), left = 1 - m->enter - m->leave;
		double p = (1 - bad) * m->lost_good + bad * m->lost_bad;
		/* the states' covariance falls as left^k, and frames are lost by the state alone */
		double gap = m->lost_bad - m->lost_good, lost = 0, runs = 0;
		double covariance = bad * (1 - bad) * gap * gap * left / (1 - left);
		int is, was = 0;
		struct cable c;

		cable_init(&c);
		faults_set_gilbert(&c.t, A, m, i);
		for (uint64_t n = 0; n < N; n++) {
			is = nth(&c, A, n) == DROP_GILBERT;
			lost += is;
			runs += is && !was;
			was = is;
		}
		assert_near("lost", lost, N * p, sqrt(N * (p * (1 - p) + 2 * covariance)));
		/* Gilbert's own: a run of losses is a stay in the bad state, geometric */
		if (m->lost_bad == 1 && m->lost_good == 0)
			assert_near("length of a run", lost / runs, 1 / m->leave,
				sqrt((1 - m->leave) / runs) / m->leave);
	}
}

/* It starts good; a frame is lost by the state that it meets, then the state changes. */
static void gilbert_elliott_to_the_frame(void **state)
{
	static const struct faults_gilbert turns = {1, 1, 0, 1}, stuck = {0, 0, 1, 0};
	struct cable c;

	(void)state;
	cable_init(&c);
	faults_set_gilbert(&c.t, A, &turns, 1);
	for (unsigned n = 0; n < 100; n++)
		assert_int_equal(nth(&c, A, n), n & 1 ? DROP_GILBERT : DROP_NONE);
	nth(&c, A, 0);
	faults_set_gilbert(&c.t, A, &turns, 1); /* in the bad state */
	assert_int_equal(nth(&c, A, 1), DROP_NONE);
	faults_set_gilbert(&c.t, A, &stuck, 1);
	for (unsigned n = 0; n < 100; n++)
		assert_int_equal(nth(&c, A, n), DROP_GILBERT);
}

static void bit_errors_by_length(void **state)
{
	static const double rates[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3};
	static const uint32_t lengths[] = {60, 98, 1024, 1500, 4170, 9000};
	enum { N = 40000 };

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]) * 6; i++) {
		uint32_t length = lengths[i % 6];
		double p = -expm1(8 * (length + 4) * log1p(-rates[i / 6]));
		unsigned lost = 0;
		struct cable c;

		cable_init(&c);
		faults_set_errors(&c.t, A, rates[i / 6], i);
		for (uint64_t n = 0; n < N; n++)
			lost += frame(&c, A, n, n + 1, length) == DROP_FCS;
		assert_near("frames with errors", lost, N * p, sqrt(N * p * (1 - p)));
	}
}

/*
 * The draw at which a frame is just lost, for rates that no test could count: the chance of loss is
 * as it should be to a part in 1,000.
 */
static void bit_errors_to_the_point(void **state)
{
	static const double rates[] = {1e-15, 1e-13, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3};
	static const uint32_t lengths[] = {0, 10, 60, 61, 1500, 9000, 131067};

	(void)state;
	for (unsigned i = 0; i < 49; i++) {
		uint32_t length = lengths[i % 7], bytes = length + 4 < 64 ? 64 : length + 4;
		long double lost = -expm1l(8.0L * bytes * log1pl(-(long double)rates[i / 7]));
		struct cable c;

		if (lost > 0.99L)
			continue;
		cable_init(&c);
		faults_set_errors(&c.t, A, rates[i / 7], 1);
		/* lost if -ln(u) is small: if u, so far below 1, is large */
		assert_true(wire_error(&c.faults[A], length, -(uint64_t)(lost * 0.999L * 0x1p64L)));
		assert_false(
			wire_error(&c.faults[A], length, -(uint64_t)(lost * 1.001L * 0x1p64L)));
	}
}

static void every_bit_wrong(void **state)
{
	struct cable c;

	(void)state;
	cable_init(&c);
	faults_set_errors(&c.t, A, 1, 1);
	for (unsigned n = 0; n < 1000; n++)
		assert_int_equal(frame(&c, A, n, n + 1, n), DROP_FCS);
	assert_true(wire_error(&c.faults[A], UINT32_MAX, 0));
	assert_true(wire_error(&c.faults[A], 0, 0));
}

enum { FLAKY = 1, GILBERT = 2, LOSS = 4, ERRORS = 8 };

static void set(struct cable *c, int which)
{
	static const struct faults_gilbert model = {0.05, 0.1, 0.01, 0.7};

	if (which & FLAKY)
		faults_set_flaky(&c->t, A, 20 * US, 4 * US, 9, 0);
	if (which & GILBERT)
		faults_set_gilbert(&c->t, A, &model, 9);
	if (which & LOSS)
		faults_set_loss(&c->t, A, 0.2, 9);
	if (which & ERRORS)
		faults_set_errors(&c->t, A, 3e-5, 9);
}

/*
 * Any set of faults loses what its members lose alone, and the first names the reason. Loss and
 * errors may even come and go: in the second half of the frames they are on.
 */
static void none_moves_the_dice_of_another(void **state)
{
	static const int order[] = {FLAKY, GILBERT, LOSS, ERRORS};
	static const int reasons[] = {DROP_BURST, DROP_GILBERT, DROP_LOSS, DROP_FCS};
	enum { N = 4000 };
	struct cable single[4];
	struct cable c;

	(void)state;
	for (int which = 0; which < 16; which++) {
		cable_init(&c);
		set(&c, which & (FLAKY | GILBERT));
		for (unsigned i = 0; i < 4; i++) {
			cable_init(&single[i]);
			set(&single[i], order[i]);
		}
		for (uint64_t n = 0; n < N; n++) {
			enum drop_reason want = DROP_NONE;

			if (n == N / 2)
				set(&c, which & (LOSS | ERRORS));
			for (unsigned i = 0; i < 4; i++) {
				enum drop_reason r = nth(&single[i], A, n);

				if (want == DROP_NONE && which & order[i] && (i < 2 || n >= N / 2))
					want = r;
			}
			assert_int_equal(nth(&c, A, n), want);
		}
		for (unsigned i = 0; i < 4; i++)
			assert_true(!(which & order[i]) == !c.drops[A].frames[reasons[i]]);
	}
}

/* Nor is anything written for what is off; the port's own dice belong to the mark. */
static void what_is_off_does_nothing(void **state)
{
	struct cable c;
	struct fault f;

	(void)state;
	for (int how = 0; how < 3; how++) {
		cable_init(&c);
		c.ports[A].rng = 77;
		set(&c, 15);
		assert_int_equal(c.ports[A].faulty, 1);
		if (how == 0) {
			faults_clear(&c.t, A, FAULT_FLAKY);
			faults_clear(&c.t, A, FAULT_GILBERT);
			faults_clear(&c.t, A, FAULT_LOSS);
			assert_int_equal(c.ports[A].faulty, 1);
			faults_clear(&c.t, A, FAULT_ERRORS);
			assert_int_equal(c.ports[A].faulty, 0);
		} else if (how == 1) {
			c.t.config.features = 0;
		} else {
			c.ports[A].faulty = 0;
		}
		f = c.faults[A];
		for (unsigned n = 0; n < 1000; n++)
			assert_int_equal(nth(&c, A, n), DROP_NONE);
		assert_memory_equal(&f, &c.faults[A], sizeof(f));
		assert_int_equal(c.ports[A].rng, 77);
	}
}

/* Each of them alone is enough, and only its own port. */
static void faulty_says_whether_to_look(void **state)
{
	(void)state;
	for (int which = 1; which < 16; which++) {
		struct cable c;

		cable_init(&c);
		set(&c, which);
		assert_int_equal(c.ports[A].faulty, 1);
		assert_int_equal(c.ports[B].faulty, 0);
		/* what the tables have no room for is no fault */
		c.t.count.faults = A;
		assert_int_equal(nth(&c, A, 0), DROP_NONE);
	}
}

/* A link that is down carries nothing that could be hit. */
static void down_comes_first(void **state)
{
	struct cable c;
	struct fault f;

	(void)state;
	cable_init(&c);
	set(&c, 15);
	f = c.faults[A];
	c.ports[A].up = 0;
	for (unsigned n = 0; n < 100; n++)
		assert_int_equal(nth(&c, A, n), DROP_LINK_DOWN);
	assert_memory_equal(&f, &c.faults[A], sizeof(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_loss_is_binomial_and_has_no_memory),
		cmocka_unit_test(certain_and_impossible),
		cmocka_unit_test(directions_lose_apart),
		cmocka_unit_test(draws_of_a_frame_are_independent),
		cmocka_unit_test(gilbert_elliott_as_in_closed_form),
		cmocka_unit_test(gilbert_elliott_to_the_frame),
		cmocka_unit_test(bit_errors_by_length),
		cmocka_unit_test(bit_errors_to_the_point),
		cmocka_unit_test(every_bit_wrong),
		cmocka_unit_test(none_moves_the_dice_of_another),
		cmocka_unit_test(what_is_off_does_nothing),
		cmocka_unit_test(faulty_says_whether_to_look),
		cmocka_unit_test(down_comes_first),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
