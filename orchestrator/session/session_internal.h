/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SESSION_INTERNAL_H
#define FABRICBED_SESSION_INTERNAL_H

/* A session's own state, shared by its files and nobody else. */
#include "base/numbers.h"
#include "bringup/bringup.h"
#include "control/routing.h"
#include "io/pcapng.h"
#include "session/lldp_agents.h"
#include "session/capture.h"
#include "session/capture_order.h"
#include "session/fault_apply.h"
#include "session/deadlock_watch.h"
#include "session/folder.h"
#include "session/active_faults.h"
#include "session/session.h"
#include "session/setup.h"
#include "session/traffic.h"
#include "session/host_stacks.h"
#include "policy/program.h"
#include "telemetry/recorder.h"

/* What is taken at a time is handed to the engine ahead of its time. */
struct session_arrivals {
	struct arrivals next;
	uint64_t due_ps; /* when the last of the latest part begins; UINT64_MAX: that was all */
};

struct session {
	struct session_params params;
	struct dataplane *dp;           /* owned by built, if that is set */
	struct policy_program *policy;  /* the scenario's file; NULL: it names none */
	struct policy_program *swapped; /* in the place of the switches' own; NULL: none */
	uint32_t policy_swaps;          /* so far */
	struct built *built;
	struct routing *routing;
	struct changes changes;
	struct active_faults active_faults;
	size_t own_faults;     /* of the scenario as it was given */
	struct agents *agents; /* NULL: no LLDP */
	struct engine *engine;
	struct recorder *recorder;
	struct series_spec series[SERIES_KINDS]; /* that it samples */
	struct pcapng *capture;                  /* of everything, to a file */
	struct captures *captures;               /* by request; NULL where it does not last */
	struct capture_order order;              /* what is on its way to either */
	struct timeline timeline;
	struct fair_shares shares;         /* of the workload; none: they are not known */
	struct measure *measure;           /* of what arrives; NULL: nothing does */
	struct session_arrivals *arrivals; /* of open-loop workloads */
	size_t arrivals_count;
	uint64_t next_lldp_ps, next_search_ps;
	uint64_t least_look_ps;               /* between two samples, or searches */
	bool seen_still;                      /* since nothing moves any more, all was looked at */
	uint64_t end_ps, ideal_ps, fabric_ps; /* the end; bounds by host links, and by all */
	uint64_t payload_ps;      /* of the payload alone at the busiest host link; 0: not known */
	bool reported_end;        /* that its time was over before its workload was done */
	uint64_t bytes, messages; /* of the workload, those that are to arrive included */
	struct deadlock deadlock;
	char fault_words[80]; /* the latest of session_port_faults() */
	struct session_tally tally;
	enum action_kind latest; /* that was done */
	uint64_t latest_ps;      /* time of that; 0 also: never, nothing has begun */
	struct stacks *stacks;   /* NULL: hosts have no kernel stack */
};

/* Adds what workloads from number `first` on send, none of it before now. 0 or -ENOMEM. */
int session_add_traffic(struct session *s, size_t first);

/* Hands the next part of what arrives to the engine, where the latest has begun. 0 or -ENOMEM. */
int session_add_arrivals(struct session *s);

/* When the next part is due; UINT64_MAX: there is none. */
uint64_t session_next_arrivals(const struct session *s);

/* Does what is scheduled for the present time, but nothing periodic. 0 or -errno. */
int session_follow(struct session *s);

/* A fault begins or ends at a target: in the engine, the history and the events. 0 or -ENOMEM. */
int session_begin_fault(struct session *s, uint32_t fault, uint32_t target, const char *by);
void session_end_fault(struct session *s, uint32_t fault, uint32_t target, const char *by);

/* All that are listed, in the order of a schedule; sorts the list. */
void session_end_faults(struct session *s, struct active_faults *list, const char *by);

#endif
