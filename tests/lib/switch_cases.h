/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_SWITCH_CASES_H
#define FABRICBED_TEST_SWITCH_CASES_H

/*
 * What the switch program must do, once, for every way to run it: each case is a cmocka test whose
 * state is a struct switch_bench. A runner opens dataplanes and runs on each what is for it. A file
 * a subject: switch_cases_<subject>.c.
 *
 * What holds whether a behaviour is on or not.
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
	X(the_first_fault_names_the_reason)                                                        \
	X(burst_edges)                                                                             \
	X(faults_as_natively)                                                                      \
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
	X(the_only_way_is_back)                                                                    \
	X(the_next_port_takes_what_would_go_back)                                                  \
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

/* What is there only with everything on. */
#define SWITCH_FULL_CASES(X)                                                                       \
	/* class */                                                                                \
	X(every_dscp_to_its_class)                                                                 \
	/* mark */                                                                                 \
	X(thresholds_are_the_queues)                                                               \
	X(averaged_depth)                                                                          \
	X(the_average_settles)                                                                     \
	/* buffer */                                                                               \
	X(queue_threshold_to_the_byte)                                                             \
	X(pool_to_the_byte)                                                                        \
	X(queues_share_a_pool)                                                                     \
	X(xoff_to_the_byte)                                                                        \
	X(headroom_to_the_byte)                                                                    \
	X(headroom_does_not_wrap)                                                                  \
	X(headroom_is_of_a_port_and_a_class)                                                       \
	X(lossless_queues_are_never_full)                                                          \
	X(a_lossless_frame_ahead_of_time)                                                          \
	X(a_lossless_frame_that_ends_takes_nothing)                                                \
	/* pfc: frames that come */                                                                \
	X(every_set_of_classes_is_paused)                                                          \
	X(pauses_to_the_picosecond)                                                                \
	X(pauses_that_overlap)                                                                     \
	X(pauses_take_time_to_take_effect)                                                         \
	X(malformed_pause_frames)                                                                  \
	X(a_pause_frame_needs_its_link)                                                            \
	X(the_watchdog_ignores_a_storm)                                                            \
	X(a_closed_queue_takes_nothing)                                                            \
	/* pause: frames that are made */                                                          \
	X(pause_frames_for_every_set_of_classes)                                                   \
	X(xon_to_the_byte)                                                                         \
	X(xoff_refresh_xon)                                                                        \
	X(a_storm_of_pauses)                                                                       \
	X(a_host_without_switches)                                                                 \
	X(no_room_for_a_pause_frame)                                                               \
	/* roles */                                                                                \
	X(uplink_to_uplink_is_remapped)                                                            \
	X(the_ingress_class_stays)                                                                 \
	X(lldp_ends_at_the_port)                                                                   \
	X(other_multicast_is_dropped)                                                              \
	/* ask */                                                                                  \
	X(what_leaves_marked_asks)                                                                 \
	X(only_marked_roce_asks)                                                                   \
	X(only_what_goes_on_asks)                                                                  \
	/* cnp */                                                                                  \
	X(the_second_mark_makes)                                                                   \
	X(only_severe_congestion_makes)                                                            \
	X(only_a_newer_psn_makes)                                                                  \
	X(only_rare_marks_make)                                                                    \
	X(a_flow_is_forgotten)                                                                     \
	X(flows_that_share_a_slot)                                                                 \
	X(a_packet_becomes_a_cnp)                                                                  \
	X(a_cnp_may_go_back_where_it_came_from)                                                    \
	X(a_cnp_without_room)                                                                      \
	X(a_lossless_cnp)                                                                          \
	X(a_cnp_of_nothing)                                                                        \
	/* route and balance */                                                                    \
	X(a_policy_that_is_not_there)

/* Packets that find no room, on each of the programs that trim. */
#define SWITCH_TRIM_CASES(X)                                                                       \
	/* trim */                                                                                 \
	X(what_finds_no_room_is_cut)                                                               \
	X(what_finds_room_is_not_cut)                                                              \
	X(every_checksum_of_a_cut)                                                                 \
	X(headers_without_room)                                                                    \
	X(headers_without_room_anywhere)                                                           \
	X(headers_that_find_no_room)                                                               \
	X(returned_headers_that_find_no_room)                                                      \
	X(ways_back)                                                                               \
	X(headers_take_their_share_of_the_pool)                                                    \
	X(what_may_not_be_cut)                                                                     \
	X(lossless_packets_are_not_cut)                                                            \
	X(a_closed_queue_trims)                                                                    \
	X(cuts_are_counted)                                                                        \
	/* roles */                                                                                \
	X(a_bounced_packet_finds_no_room)

/* Hosts with kernel stacks. */
#define SWITCH_STACK_CASES(X)                                                                      \
	X(tcp_ports_choose)                                                                        \
	X(tcp_keeps_its_port)                                                                      \
	X(tcp_without_ports_is_one_flow)                                                           \
	X(tcp_needs_no_more_than_its_ports)                                                        \
	X(every_protocol_at_a_host)                                                                \
	X(every_udp_port_at_a_host)                                                                \
	X(a_hidden_udp_port_is_a_programs)                                                         \
	X(a_stack_takes_only_its_own)                                                              \
	X(marks_and_losses_before_a_stack)

/* And a gateway. */
#define SWITCH_GATEWAY_CASES(X)                                                                    \
	X(outside_is_where_the_gateway_is)                                                         \
	X(hosts_are_not_outside)                                                                   \
	X(the_gateway_takes_what_is_outside)                                                       \
	X(no_other_host_takes_what_is_outside)                                                     \
	X(without_a_way_to_the_gateway)

#define X(name) void switch_##name(void **state);
SWITCH_CASES(X)
SWITCH_FULL_CASES(X)
SWITCH_TRIM_CASES(X)
SWITCH_STACK_CASES(X)
SWITCH_GATEWAY_CASES(X)
#undef X

/* The entries of a struct CMUnitTest array. */
#define SWITCH_CASE(name) cmocka_unit_test_setup(switch_##name, bench_reset),

#endif
