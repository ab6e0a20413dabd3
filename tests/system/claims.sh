#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The physics: what STrack's paper says of its spraying, its window and its recovery, as ratios within
# one set of runs. The figures are printed as diagnostics. FABRICBED_LONG: 20 seeds instead of 3, and
# longer messages.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
seeds=${SEEDS:-3}
[ -z "${FABRICBED_LONG-}" ] || seeds=20

# The means over all seeds of figures of a run, in $means, in the order of $figures, and the range of each, from the least
# seed to the most, in $spreads; none if a run failed.
figures="flows.fct_us.max slowdown flows.unfinished"
average() { # FILE OPTION...
	local seed

	means=() spreads=()
	for ((seed = 1; seed <= seeds; seed++)); do
		# the file's own expectations are for the file as it is
		"$fabricbed" run --dataplane inline --quiet --out "run-$seed" --seed $seed "$@" \
			--set expect=[] || return 1
	done
	# shellcheck disable=SC2086
	{ read -ra means && read -ra spreads; } < <(python3 - $seeds $figures <<-'END'
		import json, sys
		runs = [json.load(open(f"run-{n}/summary.json")) for n in range(1, int(sys.argv[1]) + 1)]
		def figure(run, path):
		    for key in path.split('.'):
		        run = run[key]
		    return run
		values = [[figure(r, p) for r in runs] for p in sys.argv[2:]]
		print(*(round(sum(v) / len(v), 4) for v in values))
		print(*(round(max(v) - min(v), 4) for v in values))
	END
	)
}

# One case: an awk expression over numbers holds.
true_of() { # NAME EXPRESSION
	# without figures it is no expression, and awk's status is 2
	if awk "BEGIN { exit !($2) }"; then tap_ok "$1"; else tap_fail "$1" "$2"; fi
}

# ---- spraying: a permutation, by how a flow uses its paths

cat >leaf-spine.yaml <<'END'
name: leaf-spine
topology:
  leaf_spine: {leaves: 8, spines: 16, hosts_per_leaf: 16}
  rate: 400Gbps
  delay: 1us
workload:
  - permutation: {message: 2MB}
END

# Sets adaptive, oblivious and single: the mean over seeds of the largest completion time.
declare -A took spread
spray() { # TITLE FILE MESSAGE KIND...
	local title=$1 file=$2 message=$3 kind

	shift 3
	for kind; do
		average "$file" --set host.transport.strack.spray="$kind" \
			--set workload.0.permutation.message="$message"
		took[$kind]=${means[0]-}
		true_of "$title, $kind: all flows finish" "${means[2]-} == 0"
		echo "# $title, $kind: max completion ${means[0]-} us, ${means[1]-} times the bound; mean of $seeds seeds"
	done
}
close_and_ahead() { # TITLE
	local a=${took[adaptive]} o=${took[oblivious]} s=${took[single]}

	true_of "$1: adaptive is not behind, and oblivious within 10%" "$a <= $o && $o <= 1.1 * $a"
	true_of "$1: single takes at least 2.5 times as long" "$s >= 2.5 * $a && $s >= 2.5 * $o"
}
title="fat-tree k=8, 2 MB"
spray "$title" "$scenarios/permutation.yaml" 2MB adaptive oblivious single
close_and_ahead "$title"
title="leaf-spine, 2 MB"
spray "$title" leaf-spine.yaml 2MB adaptive oblivious single
close_and_ahead "$title"
title="leaf-spine, 16 MB"
spray "$title" leaf-spine.yaml 16MB adaptive oblivious
true_of "$title: adaptive is ahead by 10%" "${took[oblivious]} >= 1.1 * ${took[adaptive]}"

# ---- spraying where links are slow, lose or die: adaptive is never behind oblivious by more than the seeds' spread

for fault in partial-bandwidth flaky-links link-failure; do
	for kind in adaptive oblivious; do
		average "$scenarios/$fault.yaml" --set host.transport.strack.spray=$kind
		took[$kind]=${means[0]-} spread[$kind]=${spreads[0]-}
	done
	echo "# $fault: adaptive ${took[adaptive]-} us, oblivious ${took[oblivious]-} us, its seeds ${spread[oblivious]-} us apart"
	true_of "$fault: adaptive is not behind" \
		"${took[adaptive]-} <= ${took[oblivious]-} + ${spread[oblivious]-}"
done
message=4MB
[ -z "${FABRICBED_LONG-}" ] || message=16MB
for kind in adaptive oblivious; do
	average leaf-spine.yaml --set host.transport.strack.spray=$kind --set workload.0.permutation.message=$message \
		--set 'faults=[{at: 0us, link: "leaf*-spine0", do: {rate: 25%}}]'
	took[$kind]=${means[0]-}
done
echo "# one uplink of 16 at 25%, $message: adaptive ${took[adaptive]-} us, oblivious ${took[oblivious]-} us"
true_of "one uplink of 16 at 25%: adaptive takes at most 0.6 of oblivious's time" "${took[adaptive]-} <= 0.6 * ${took[oblivious]-}"

# ---- the window: incasts at 400 Gbps, with the queue in front of the receiver sampled

# A fabric with room for all; and the scenario that ships, whose uplinks are oversubscribed 4:1, so that the
# first windows of all arrive over a longer time.
sed 's/spines: [0-9]*/spines: 16/' "$scenarios/incast.yaml" >roomy.yaml

# Prints the queue's mean depth as a share of the BDP, and the time of the last loss in base round trips:
# the mean and the most of all seeds. The depth is taken over the second half of the time in which
# all senders are at it: the first half has the burst that they begin with, and after the first has finished the
# queue falls, since the others need a while to take its share.
incast_figures() { # FILE
	python3 - $seeds <("$fabricbed" validate "$1" --json) <<-'END'
		import csv, json, sys
		fabric = json.load(open(sys.argv[2]))
		shares, last = [], 0
		for n in range(1, int(sys.argv[1]) + 1):
		    end = min(float(row["fct_us"]) for row in csv.DictReader(open(f"run-{n}/flows.csv")))
		    depth = {}
		    for row in csv.DictReader(open(f"run-{n}/queues.csv")):
		        if row["port"] == "leaf0->h0":
		            t = round(float(row["t_us"]))
		            depth[t] = depth.get(t, 0) + int(row["depth_bytes"])
		    half = range(int(end / 2), int(end))
		    shares.append(sum(depth.get(t, 0) for t in half) / len(half) / fabric["bdp_bytes"])
		    for line in open(f"run-{n}/events.jsonl"):
		        event = json.loads(line)
		        if event["event"] == "drops":
		            last = max(last, event["until_us"] / fabric["base_rtt_us"])
		print(round(sum(shares) / len(shares), 3), round(last, 2))
	END
}
incast() { # TITLE FILE SENDERS MESSAGE ROUND-TRIPS-WITH-LOSSES
	local title="$1 $3:1, $4" share last

	average "$2" --set workload.0.incast.senders="$3" --set workload.0.incast.message="$4" \
		--set telemetry.queues=1us
	read -r share last < <(incast_figures "$2")
	echo "# $title: ${means[1]-} times the bound; queue $share BDP; last loss after $last base RTTs"
	true_of "$title: all flows finish" "${means[2]-} == 0"
	true_of "$title: within 10% of the bound" "${means[1]-} <= 1.1"
	true_of "$title: the queue settles near the target delay" "$share >= 0.5 && $share <= 1.5"
	true_of "$title: losses only in the first $5 base RTTs" "$last > 0 && $last <= $5"
}
messages=2MB
[ -z "${FABRICBED_LONG-}" ] || messages="2MB 16MB"
for message in $messages; do
	incast roomy roomy.yaml 8 $message 5
	incast roomy roomy.yaml 32 $message 5
	incast oversubscribed "$scenarios/incast.yaml" 8 $message 5
	incast oversubscribed "$scenarios/incast.yaml" 32 $message 10
done

# ---- recovery: a link that dies under a permutation, for a while or for good

for until in 80us never; do
	title="a link dead until $until"
	average "$scenarios/link-failure.yaml" --set faults.0.until=$until
	echo "# $title: ${means[1]-} times the bound"
	true_of "$title: all flows finish" "${means[2]-} == 0"
	true_of "$title: at most three times the bound" "${means[1]-} <= 3"
	figures="packets.dropped.link_down packets.retransmitted packets.spurious"
	average "$scenarios/link-failure.yaml" --set faults.0.until=$until
	echo "# $title: ${means[0]-} lost, ${means[1]-} sent again, ${means[2]-} of them for nothing"
	# what is lost is data or SACKs; only data is sent again
	true_of "$title: what was lost was sent again, and little else" \
		"${means[0]-} > 0 && ${means[1]-} <= 1.25 * ${means[0]-} && ${means[2]-} <= 0.25 * ${means[1]-}"
	figures="flows.fct_us.max slowdown flows.unfinished"
done

# ---- an idle fabric: to the picosecond

"$fabricbed" run "$scenarios/hello.yaml" --dataplane inline --quiet --out hello
same "one message on an idle fabric takes exactly its bound" "$(figure hello/summary.json flows.fct_us.max)" \
	"$(figure hello/summary.json ideal_us)"
same "and so says the slowdown" "$(figure hello/summary.json slowdown)" 1.0
tap_done
