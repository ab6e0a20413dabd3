/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_METRICS_H
#define FABRICBED_METRICS_H

/* The numbers of summary.json: what `expect` may bound. */
#include <stddef.h>

/*
 * A row a number, in the order of the file. A name is the path to it.
 *
 *   COUNT(section, name, help)       a counter of struct engine_stats
 *   VALUE(path, json, help)          what telemetry/summary.c makes of e, s, t and info; NULL: it
 *                                    is left out
 *   SPREAD(path, json, what)         the same, an object: the mean, and SPREAD_RANKS
 *   FINISHED(path, json)             a number or spread of the finished flows: by `of: finished`
 *   OTHER(path, help)                what the session adds to the summary
 *
 * The counts by drop reason follow from abi/drop.h, the spreads by message size from SIZE_CLASSES.
 */
#define METRICS(COUNT, VALUE, SPREAD, FINISHED, OTHER)                                             \
	VALUE("model_time_us", us(engine_now(e)), "model time that passed")                        \
	VALUE("setup_s", json_real(info->setup_s),                                                 \
		"seconds from the first kernel object to readiness")                               \
	VALUE("wall_s", json_real(info->wall_s), "seconds that the run itself took")               \
	VALUE("hops", count(s->hops), "frames that crossed a link")                                \
	VALUE("hops_per_s", ratio(s->hops, info->wall_s), "hops by wall_s")                        \
	VALUE("peak_rss_mb", json_real(peak_rss_mb()),                                             \
		"most memory that the process held, in MiB")                                       \
	VALUE("flows.count", count(s->flows), "messages of the workload")                          \
	VALUE("flows.unfinished", count(s->flows - s->flows_done),                                 \
		"those that had not finished at the end")                                          \
	VALUE("flows.bytes", count(t->bytes), "payload of all messages, finished or not")          \
	VALUE("flows.unmeasured", count(t->unmeasured),                                            \
		"those of warm-up, of which no completion time counts")                            \
	SPREAD("flows.fct_us", spread(t, ALL_SIZES, FCT_US, false), "the completion times")        \
	SPREAD("flows.fct_slowdown", spread(t, ALL_SIZES, FCT_SLOWDOWN, false),                    \
		"the slowdowns: time by time alone in the idle fabric")                            \
	FINISHED("flows.finished.count", count(t->finished[ALL_SIZES]))                            \
	FINISHED("flows.finished.fct_us", spread(t, ALL_SIZES, FCT_US, true))                      \
	FINISHED("flows.finished.fct_slowdown", spread(t, ALL_SIZES, FCT_SLOWDOWN, true))          \
	VALUE("flows.retransmitted.mean", per_flow(t, FLOW_RETRANSMITTED),                         \
		"packets that a flow sent again: the mean over flows")                             \
	VALUE("flows.retransmitted.max", most_of_flow(t, FLOW_RETRANSMITTED),                      \
		"the most packets that one flow sent again")                                       \
	VALUE("flows.spurious.mean", per_flow(t, FLOW_SPURIOUS),                                   \
		"packets of a flow that its receiver had already: the mean over flows")            \
	VALUE("flows.spurious.max", most_of_flow(t, FLOW_SPURIOUS),                                \
		"the most packets of one flow that its receiver had already")                      \
	VALUE("flows.loss_rate.mean", per_flow(t, FLOW_LOSS_RATE),                                 \
		"packets of a flow that were dropped, by those that it sent: the mean over flows") \
	VALUE("flows.loss_rate.max", most_of_flow(t, FLOW_LOSS_RATE),                              \
		"the largest share of its packets that one flow lost")                             \
	VALUE("flows.reordered.mean", per_flow(t, FLOW_REORDERED),                                 \
		"packets of a flow that came after some sent later: the mean over flows")          \
	VALUE("flows.reordered.max", most_of_flow(t, FLOW_REORDERED),                              \
		"the most packets of one flow that came after some sent later")                    \
	VALUE("flows.goodput_gbps", goodput(t, s),                                                 \
		"payload of finished flows by the time from first start to last finish")           \
	COUNT(packets, sent, "frames that the hosts' transports made")                             \
	COUNT(packets, delivered, "frames that reached the endpoint they were for")                \
	VALUE("packets.dropped", summary_dropped(s),                                               \
		"frames that ended before, for all reasons together")                              \
	COUNT(packets, in_flight, "frames that were queued or on a wire at the end")               \
	COUNT(packets, marked, "marks set: frames that got CE at a hop")                           \
	COUNT(packets, trimmed, "packets that a switch cut to their headers")                      \
	COUNT(packets, returned, "headers that a switch turned around")                            \
	COUNT(packets, headers_delivered, "of those delivered, the ones that came as headers")     \
	COUNT(packets, remapped,                                                                   \
		"times that a packet was moved to another class between two uplinks")              \
	COUNT(packets, notified, "supplemental CNPs that switches sent")                           \
	COUNT(packets, made, "frames that nodes sent by themselves: PFC, LLDP, supplemental CNPs") \
	COUNT(packets, consumed,                                                                   \
		"of these, PFC and LLDP frames that reached the port that they were for")          \
	VALUE("packets.retransmitted", count(t->retransmitted),                                    \
		"data packets that were sent again")                                               \
	VALUE("packets.spurious", count(t->spurious),                                              \
		"data packets that reached a receiver which had them already")                     \
	VALUE("packets.lost", count(t->lost),                                                      \
		"data packets that were dropped, their headers if they were trimmed")              \
	VALUE("packets.reordered", count(t->reordered),                                            \
		"data packets that came after some that were sent later")                          \
	VALUE("packets.reorder_mean", reorder_mean(t),                                             \
		"mean of their reordering extents (RFC 4737)")                                     \
	VALUE("packets.reorder_max", count(t->reorder_most), "the largest of these extents")       \
	COUNT(packets, corrupt, "data packets whose bytes were not those of the message")          \
	VALUE("queues.max_depth_bytes", count(s->max_queue_bytes),                                 \
		"the deepest any egress queue of a switch has been")                               \
	VALUE("queues.max_delay_us", us(s->max_queue_delay_ps),                                    \
		"the longest wait of a frame in one switch")                                       \
	COUNT(pfc, pauses_sent, "XOFF, counted a class: refreshes included")                       \
	COUNT(pfc, resumes_sent, "XON, counted a class")                                           \
	VALUE("pfc.paused_us", us(s->paused_ps),                                                   \
		"time for which a queue was paused, all queues added up")                          \
	VALUE("balance.flows", flow_tables(e, offsetof(struct switch_balance, flows)),             \
		"entries that switches made in their flow tables for load balancing")              \
	VALUE("balance.forgotten", flow_tables(e, offsetof(struct switch_balance, forgotten)),     \
		"flows whose entries others took before their lifetime was over")                  \
	OTHER("pfc.deadlocks", "1 if queues came to wait for each other in a cycle, else 0")       \
	VALUE("ideal_us", us_or_null(info->ideal_ps),                                              \
		"bound on the longest completion time that the host links set")                    \
	VALUE("ideal_fabric_us", us_or_null(info->fabric_ps), "the bound that all links set")      \
	VALUE("slowdown", slowdown(t, info->ideal_ps, false),                                      \
		"flows.fct_us.max divided by ideal_us")                                            \
	VALUE("ideal_payload_us", us_or_null(info->payload_ps),                                    \
		"the time of the payload alone on the busiest host link")                          \
	VALUE("slowdown_payload", slowdown(t, info->payload_ps, false),                            \
		"flows.fct_us.max divided by ideal_payload_us")                                    \
	FINISHED("slowdown_finished", slowdown(t, info->ideal_ps, true))                           \
	OTHER("collectives.count", "rounds of all jobs of the collectives")                        \
	OTHER("collectives.unfinished", "those of which not all was delivered")                    \
	OTHER("collectives.time_us.min", "the shortest round, from its first message to its last") \
	OTHER("collectives.time_us.mean", "their mean")                                            \
	OTHER("collectives.time_us.max", "the longest")                                            \
	OTHER("goal.count", "graphs of operations that files list")                                \
	OTHER("goal.unfinished", "those of which not all was delivered or computed")               \
	OTHER("goal.time_us", "the longest, from its first operation to its last")                 \
	OTHER("fidelity.late_us.p50", "median lateness of events, wall clock only")                \
	OTHER("fidelity.late_us.p99", "99th percentile of the lateness of events")                 \
	OTHER("fidelity.late_us.max", "the latest event")                                          \
	OTHER("fidelity.slipped_us", "model time that was held back")                              \
	OTHER("fidelity.lost", "frames of programs that were not taken in time")

/* Of a spread: X(key, thousandths of all values that do not exceed it, what it is called, ...). */
#define SPREAD_RANKS(X, ...)                                                                       \
	X("p50", 500, "median", __VA_ARGS__)                                                       \
	X("p90", 900, "90th percentile", __VA_ARGS__)                                              \
	X("p95", 950, "95th percentile", __VA_ARGS__)                                              \
	X("p99", 990, "99th percentile", __VA_ARGS__)                                              \
	X("p999", 999, "99.9th percentile", __VA_ARGS__)                                           \
	X("max", 1000, "the largest", __VA_ARGS__)

/*
 * Messages by their sizes: X(key, the most bytes); a class has what the one before it has not.
 * flows.by_size.KEY has a `count`, and the spreads `fct_us` and `fct_slowdown`. A class without
 * messages is left out.
 */
#define SIZE_CLASSES(X)                                                                            \
	X("1KB", 1ull << 10)                                                                       \
	X("10KB", 10ull << 10)                                                                     \
	X("100KB", 100ull << 10)                                                                   \
	X("1MB", 1ull << 20)                                                                       \
	X("10MB", 10ull << 20)                                                                     \
	X("100MB", 100ull << 20)                                                                   \
	X("larger", UINT64_MAX)

/* For what a list leaves out. */
#define METRIC_SKIP(...)

/* The name of a metric by index, the drop reasons' last; NULL: there are no more. Returns buf. */
#define METRIC_NAME 64
const char *metric_name(size_t index, char buf[METRIC_NAME]);

/* One sentence on it; NULL: a metric of a size class. The index is one that has a name. */
const char *metric_help(size_t index);

#endif
