/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_METRICS_H
#define FABRICBED_METRICS_H

/* The numbers of summary.json: what `expect` may bound. */
#include <stddef.h>

/*
 * A row a number, in the order of the file. A name is the path to it.
 *
 *   COUNT(section, name, help)       a counter of struct engine_stats
 *   VALUE(path, json, help)          what telemetry/summary.c makes of e, s, t and info
 *   FINISHED(path, json)             the same, of the finished flows alone: by `of: finished`
 *   OTHER(path, help)                what the session adds to the summary
 *
 * The counts by drop reason follow from abi/drop.h.
 */
#define METRICS(COUNT, VALUE, FINISHED, OTHER)                                                     \
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
	VALUE("flows.fct_us.mean", fct_mean(t, all_finished(t, s)), "mean completion time")        \
	VALUE("flows.fct_us.p50", fct_rank(t, all_finished(t, s), 50), "median completion time")   \
	VALUE("flows.fct_us.p99", fct_rank(t, all_finished(t, s), 99),                             \
		"99th percentile of the completion times")                                         \
	VALUE("flows.fct_us.max", fct_rank(t, all_finished(t, s), 100),                            \
		"the longest completion time")                                                     \
	FINISHED("flows.finished.count", count(t->finished))                                       \
	FINISHED("flows.finished.fct_us.mean", fct_mean(t, t->finished))                           \
	FINISHED("flows.finished.fct_us.p50", fct_rank(t, t->finished, 50))                        \
	FINISHED("flows.finished.fct_us.p99", fct_rank(t, t->finished, 99))                        \
	FINISHED("flows.finished.fct_us.max", fct_rank(t, t->finished, 100))                       \
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
	COUNT(packets, corrupt, "data packets whose bytes were not those of the message")          \
	VALUE("queues.max_depth_bytes", count(s->max_queue_bytes),                                 \
		"the deepest any egress queue of a switch has been")                               \
	VALUE("queues.max_delay_us", us(s->max_queue_delay_ps),                                    \
		"the longest wait of a frame in one switch")                                       \
	COUNT(pfc, pauses_sent, "XOFF, counted a class: refreshes included")                       \
	COUNT(pfc, resumes_sent, "XON, counted a class")                                           \
	VALUE("pfc.paused_us", us(s->paused_ps),                                                   \
		"time for which a queue was paused, all queues added up")                          \
	OTHER("pfc.deadlocks", "1 if queues came to wait for each other in a cycle, else 0")       \
	VALUE("ideal_us", us_or_null(info->ideal_ps),                                              \
		"bound on the longest completion time that the host links set")                    \
	VALUE("ideal_fabric_us", us_or_null(info->fabric_ps), "the bound that all links set")      \
	VALUE("slowdown", slowdown(t, info, all_finished(t, s)),                                   \
		"flows.fct_us.max divided by ideal_us")                                            \
	FINISHED("slowdown_finished", slowdown(t, info, t->finished))                              \
	OTHER("collectives.count", "rounds of all jobs of the collectives")                        \
	OTHER("collectives.unfinished", "those of which not all was delivered")                    \
	OTHER("collectives.time_us.min", "the shortest round, from its first message to its last") \
	OTHER("collectives.time_us.mean", "their mean")                                            \
	OTHER("collectives.time_us.max", "the longest")                                            \
	OTHER("fidelity.late_us.p50", "median lateness of events, wall clock only")                \
	OTHER("fidelity.late_us.p99", "99th percentile of the lateness of events")                 \
	OTHER("fidelity.late_us.max", "the latest event")                                          \
	OTHER("fidelity.slipped_us", "model time that was held back")                              \
	OTHER("fidelity.lost", "frames of programs that were not taken in time")

/* For what a list leaves out. */
#define METRIC_SKIP(...)

/* The name of a metric by index, the drop reasons' last; NULL: there are no more. Returns buf. */
#define METRIC_NAME 64
const char *metric_name(size_t index, char buf[METRIC_NAME]);

/* One sentence on it. The index is one that has a name. */
const char *metric_help(size_t index);

#endif
