/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_SWITCH_CASES_H
#define FABRICBED_TEST_SWITCH_CASES_H

/*
 * What the switch program must do, once, for every way to run it: each case is a cmocka test whose
 * state is a struct switch_bench. A runner opens a dataplane and runs them all. A file a subject:
 * switch_cases_<subject>.c.
 */
#define SWITCH_CASES(X)                                                                            \
	/* forward */                                                                              \
	X(ip4_is_forwarded)                                                                        \
	X(ip6_is_forwarded)                                                                        \
	X(what_is_not_udp_is_forwarded)                                                            \
	X(every_ttl)                                                                               \
	X(every_checksum)                                                                          \
	X(both_forms_of_a_zero_checksum)                                                           \
	X(only_the_right_checksum_passes)                                                          \
	X(a_flipped_header_bit_is_dropped)                                                         \
	X(batch_keeps_order)                                                                       \
	/* mark */                                                                                 \
	X(marks_between_thresholds)                                                                \
	X(no_thresholds_no_marks)                                                                  \
	X(thresholds_that_meet_or_cross)                                                           \
	X(mark_probability)                                                                        \
	X(mark_dice_to_the_point)                                                                  \
	X(every_tos_marked)                                                                        \
	X(marked_checksum_at_every_value)                                                          \
	X(mark_before_drop)                                                                        \
	/* wire and host port */                                                                   \
	X(link_down)                                                                               \
	X(cut_while_on_the_wire)                                                                   \
	X(host_takes_its_own)                                                                      \
	X(host_refuses_others)                                                                     \
	X(host_port_marks_and_loses)                                                               \
	/* route and balance */                                                                    \
	X(routes_by_host)                                                                          \
	X(hosts_out_of_range)                                                                      \
	X(foreign_addresses)                                                                       \
	X(route_none_is_no_group)                                                                  \
	X(broken_tables_drop)                                                                      \
	X(ecmp_is_even)                                                                            \
	X(a_flow_keeps_its_port)                                                                   \
	X(switch_seeds_do_not_correlate)                                                           \
	X(flow_label_chooses)                                                                      \
	X(flow_label_and_port_do_not_cancel)                                                       \
	X(what_has_no_ports_is_one_flow)                                                           \
	/* admit */                                                                                \
	X(exactly_full)                                                                            \
	X(queue_accounting)                                                                        \
	X(a_frame_ahead_of_time_takes_no_space)                                                    \
	X(a_length_near_2_to_32_does_not_wrap)                                                     \
	/* malformed */                                                                            \
	X(every_truncation)                                                                        \
	X(wrong_versions)                                                                          \
	X(wrong_lengths)                                                                           \
	X(every_ethertype)

#define X(name) void switch_##name(void **state);
SWITCH_CASES(X)
#undef X

/* The entries of a struct CMUnitTest array. */
#define SWITCH_CASE(name) cmocka_unit_test_setup(switch_##name, bench_reset),

#endif
