/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a damaged, odd or hostile LLDP frame is taken for: 802.1AB, 9.2.7.7. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "lldp_fixture.h"

/* Reads a copy with nothing behind it that a sanitizer would not notice. */
static int read_copy(struct lldp_frame *ret, const uint8_t *bytes, uint32_t length)
{
	uint8_t *copy = malloc(length ? length : 1);
	struct lldp_frame f;
	int r;

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	r = lldp_frame_read(&f, copy, length);
	if (!r && ret)
		*ret = f; /* its strings are gone */
	free(copy);
	return r;
}

static void all_fields_are_read(void **state)
{
	struct lldp_frame f;

	(void)state;
	assert_int_equal(lldp_frame_read(&f, switch_frame, sizeof(switch_frame)), 0);
	assert_ptr_equal(f.chassis, switch_frame + 16);
	assert_int_equal(f.chassis_length, 7);
	assert_ptr_equal(f.port, switch_frame + AT_PORT_ID + 2);
	assert_int_equal(f.port_length, 5);
	assert_int_equal(f.ttl_s, 121);
	assert_true(f.has_system);
	assert_ptr_equal(f.system, switch_frame + AT_SYSTEM + 2);
	assert_int_equal(f.system_length, 2);
	assert_true(f.has_capabilities);
	assert_int_equal(f.capabilities, 0x14);
	assert_int_equal(f.enabled, 0x10);
	assert_true(f.has_topology);
	assert_int_equal(f.device, 2);
	assert_int_equal(f.level, 1);
	assert_int_equal(f.orientation, 1);
}

/*
 * 802.1AB, 9.2.7.7: without its mandatory part a frame is none; an optional TLV that is cut is not
 * there.
 */
static void every_truncation_is_told(void **state)
{
	(void)state;
	for (uint32_t cut = 0; cut <= sizeof(switch_frame); cut++) {
		struct lldp_frame f;
		int r = read_copy(&f, switch_frame, cut);

		assert_int_equal(r, cut < AT_SYSTEM ? -EBADMSG : 0);
		if (r)
			continue;
		assert_int_equal(f.has_system, cut >= AT_CAPABILITIES);
		assert_int_equal(f.has_capabilities, cut >= AT_TOPOLOGY);
		assert_int_equal(f.has_topology, cut >= AT_END);
		assert_int_equal(f.level, cut >= AT_END ? 1 : 255);
	}
}

static int draft_read(const struct draft *d, struct lldp_frame *ret)
{
	return read_copy(ret, d->bytes, d->length);
}

static void only_lldp_to_the_nearest_bridge_counts(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 14; i++) {
		uint8_t bytes[sizeof(host_frame)];
		bool source = i >= 6 && i < 12;

		memcpy(bytes, host_frame, sizeof(bytes));
		bytes[i] ^= 0x20;
		assert_int_equal(read_copy(NULL, bytes, sizeof(bytes)), source ? 0 : -EBADMSG);
	}
}

/* Chassis ID, Port ID, TTL: these, in this order, once. */
static void mandatory_tlvs_have_their_order(void **state)
{
	static const uint8_t id[] = {7, 'x'}, ttl[] = {0, 9};
	static const char *const orders[] = {"", "c", "p", "t", "cp", "ct", "pt", "cpt", "ctp",
		"pct", "ptc", "tcp", "tpc", "ccpt", "cppt", "cptt", "cptc", "cptp", "ncpt", "cnpt",
		"cpnt", "cptn", "cptnc", "cptnn", "cptec"};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const char *order = orders[i];
		bool good = !strcmp(order, "cpt") || !strcmp(order, "cptn") ||
			    !strcmp(order, "cptnn") || !strcmp(order, "cptec");
		struct draft d;

		draft_begin(&d);
		for (; *order; order++) {
			if (*order == 'c')
				draft_tlv(&d, LLDP_TYPE_CHASSIS, id, 2);
			else if (*order == 'p')
				draft_tlv(&d, LLDP_TYPE_PORT, id, 2);
			else if (*order == 't')
				draft_tlv(&d, LLDP_TYPE_TTL, ttl, 2);
			else if (*order == 'n')
				draft_filled(&d, LLDP_TYPE_SYSTEM_NAME, 3);
			else
				draft_tlv(&d, LLDP_TYPE_END, "", 0);
		}
		assert_int_equal(draft_read(&d, NULL), good ? 0 : -EBADMSG);
		/* the same with an End behind it */
		draft_tlv(&d, LLDP_TYPE_END, "", 0);
		assert_int_equal(draft_read(&d, NULL), good ? 0 : -EBADMSG);
	}
}

static void mandatory_tlvs_have_their_length(void **state)
{
	(void)state;
	for (uint32_t which = LLDP_TYPE_CHASSIS; which <= LLDP_TYPE_TTL; which++)
		for (uint32_t length = 0; length <= 511; length++) {
			bool good =
				which == LLDP_TYPE_TTL ? length >= 2 : length >= 2 && length <= 256;
			struct draft d;
			struct lldp_frame f;

			draft_begin(&d);
			for (uint32_t type = LLDP_TYPE_CHASSIS; type <= LLDP_TYPE_TTL; type++)
				draft_filled(&d, type, type == which ? length : 2);
			assert_int_equal(draft_read(&d, &f), good ? 0 : -EBADMSG);
			if (good)
				assert_int_equal(f.ttl_s, 'a' << 8 | 'a');
		}
}

/* Each optional TLV at every length, a good one behind it: it counts, or else the good one does. */
static void optional_tlvs_have_their_length(void **state)
{
	(void)state;
	for (uint32_t length = 0; length <= 511; length++) {
		uint8_t org[511] = {0};
		struct draft d;
		struct lldp_frame f;

		memcpy(org, topology_tlv, sizeof(topology_tlv));
		org[5] = 9;
		draft_mandatory(&d);
		draft_filled(&d, LLDP_TYPE_SYSTEM_NAME, length);
		draft_filled(&d, LLDP_TYPE_SYSTEM_NAME, 7);
		draft_filled(&d, LLDP_TYPE_CAPABILITIES, length);
		draft_tlv(&d, LLDP_TYPE_CAPABILITIES, "\1\2\3\4", 4);
		draft_tlv(&d, LLDP_TYPE_ORGANISATION, org, length);
		draft_tlv(&d, LLDP_TYPE_ORGANISATION, topology_tlv, sizeof(topology_tlv));
		assert_int_equal(draft_read(&d, &f), 0);
		assert_int_equal(f.system_length, length <= 255 ? length : 7);
		assert_int_equal(f.capabilities, length == 4 ? 'a' << 8 | 'a' : 0x0102);
		assert_int_equal(f.level, length == 7 ? 9 : 3);
	}
}

static void only_the_first_of_twins_counts(void **state)
{
	uint8_t other[] = {0x00, 0x80, 0xc2, 20, 2, 5, 0};
	struct draft d;
	struct lldp_frame f;

	(void)state;
	draft_mandatory(&d);
	draft_tlv(&d, LLDP_TYPE_SYSTEM_NAME, "ab", 2);
	draft_tlv(&d, LLDP_TYPE_SYSTEM_NAME, "abc", 3);
	draft_tlv(&d, LLDP_TYPE_CAPABILITIES, "\1\2\3\4", 4);
	draft_tlv(&d, LLDP_TYPE_CAPABILITIES, "\5\6\7\10", 4);
	draft_tlv(&d, LLDP_TYPE_ORGANISATION, topology_tlv, sizeof(topology_tlv));
	draft_tlv(&d, LLDP_TYPE_ORGANISATION, other, sizeof(other));
	assert_int_equal(draft_read(&d, &f), 0);
	assert_int_equal(f.system_length, 2);
	assert_int_equal(f.enabled, 0x0304);
	assert_int_equal(f.device, 1);
	assert_int_equal(f.level, 3);
	assert_int_equal(f.orientation, 1);
}

static void foreign_tlvs_are_passed_over(void **state)
{
	struct lldp_frame f;
	struct draft d;

	(void)state;
	draft_mandatory(&d);
	for (uint32_t type = 4; type < 127; type++)
		if (type != LLDP_TYPE_SYSTEM_NAME && type != LLDP_TYPE_CAPABILITIES)
			draft_filled(&d, type, type % 9);
	/* another byte of the OUI or the subtype makes it someone else's */
	for (uint32_t i = 0; i < 4; i++) {
		uint8_t foreign[sizeof(topology_tlv)];

		memcpy(foreign, topology_tlv, sizeof(foreign));
		foreign[i] ^= 1;
		draft_tlv(&d, LLDP_TYPE_ORGANISATION, foreign, sizeof(foreign));
	}
	assert_int_equal(draft_read(&d, &f), 0);
	assert_false(f.has_system || f.has_capabilities || f.has_topology);
	draft_tlv(&d, LLDP_TYPE_ORGANISATION, topology_tlv, sizeof(topology_tlv));
	draft_tlv(&d, LLDP_TYPE_END, "", 0);
	draft_filled(&d, LLDP_TYPE_SYSTEM_NAME, 3);
	assert_int_equal(draft_read(&d, &f), 0);
	assert_true(f.has_topology);
	assert_int_equal(f.level, 3);
	assert_false(f.has_system); /* behind the End there is but padding */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_are_read),
		cmocka_unit_test(every_truncation_is_told),
		cmocka_unit_test(only_lldp_to_the_nearest_bridge_counts),
		cmocka_unit_test(mandatory_tlvs_have_their_order),
		cmocka_unit_test(mandatory_tlvs_have_their_length),
		cmocka_unit_test(optional_tlvs_have_their_length),
		cmocka_unit_test(only_the_first_of_twins_counts),
		cmocka_unit_test(foreign_tlvs_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
