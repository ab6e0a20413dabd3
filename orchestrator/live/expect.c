/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/expect.h"

#include <errno.h>
#include "telemetry/summary.h"

static bool bound_holds(const struct expect_spec *e, double value)
{
	switch (e->bound) {
	case EXPECT_AT_MOST:
		return value <= e->value;
	case EXPECT_AT_LEAST:
		return value >= e->value;
	case EXPECT_EQUALS:
		return value == e->value;
	}
	return false;
}

static json_t *check_one(const struct expect_spec *e, const json_t *summary, bool *ret_ok)
{
	static const char *const bounds[] = {
		[EXPECT_AT_MOST] = "at_most",
		[EXPECT_AT_LEAST] = "at_least",
		[EXPECT_EQUALS] = "equals",
	};
	double value = 0;
	bool known = summary_lookup(summary, e->metric, &value) == 0;

	*ret_ok = known && bound_holds(e, value);
	return json_pack("{s:s, s:{s:f}, s:o, s:b}", "metric", e->metric, "bound", bounds[e->bound],
		e->value, "value", known ? json_real(value) : json_null(), "ok", (int)*ret_ok);
}

int expect_check(const struct scenario *s, json_t *summary, bool *ret_met)
{
	json_t *list = json_array();
	bool met = true;

	for (size_t i = 0; i < s->expect_count; i++) {
		bool ok;

		if (json_array_append_new(list, check_one(&s->expects[i], summary, &ok)) < 0) {
			json_decref(list);
			return -ENOMEM;
		}
		met &= ok;
	}
	if (json_object_set_new(summary, "expect", list) < 0)
		return -ENOMEM;
	*ret_met = met;
	return 0;
}
