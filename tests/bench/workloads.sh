#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What workloads take beside what was asked, once each: an all-to-all, many collectives at once, samples during a run, a
# sweep, an open loop, and the memory of a message. Asserts nothing; exit status 1 if a run did not end well.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/bench/table.sh
command=${BUILD:-build}/fabricbed
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
status=0

# Sets whole (s), hops, hops_per_s, rss (MB), flows; empty if it could not be measured.
measure() { # DATAPLANE SCENARIO SETTING...
	local dataplane=$1 scenario=$2 setting started ended args=(--set 'expect=[]')

	whole='' hops='' hops_per_s='' rss='' flows=''
	shift 2
	if [ "$dataplane" = kernel ] && [ "$(id -u)" != 0 ]; then
		return
	fi
	for setting; do
		args+=(--set "$setting")
	done
	rm -rf "$scratch/run"
	started=$(date +%s.%N)
	"$command" run "$scenario" --dataplane "$dataplane" --out "$scratch/run" --quiet "${args[@]}" ||
		[ -e "$scratch/run/summary.json" ] || { status=1; return; }
	ended=$(date +%s.%N)
	read -r whole hops hops_per_s rss flows <<<"$(python3 - "$scratch/run/summary.json" "$started" "$ended" <<-'END'
	import json, sys
	with open(sys.argv[1]) as f:
	    s = json.load(f)
	print(float(sys.argv[3]) - float(sys.argv[2]), s["hops"], s["hops_per_s"], s["peak_rss_mb"], s["flows"]["count"])
	END
	)"
}

over() { # A B: their quotient, empty if there is none
	[ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'
}

least_of() { # A B: either may be empty
	awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || (b != "" && b + 0 < a + 0) ? b : a }'
}

cat >"$scratch/a2a.yaml" <<-'END'
	name: a2a
	topology: {fat_tree: {k: 8}, rate: 100Gbps, delay: 1us}
	workload: [{all_to_all: {message: 2MB}}]
END
row what asked measured
measure inline "$scratch/a2a.yaml"
figure "inline, fat-tree k=8, all-to-all of 2 MB" most 12 s "$whole" 1
figure "  its memory" most 300 MB "$rss" 1
measure kernel "$scratch/a2a.yaml"
figure "kernel, the same" most 120 s "$whole" 1

cat >"$scratch/jobs.yaml" <<-'END'
	name: jobs
	topology: {leaf_spine: {leaves: 64, spines: 32, hosts_per_leaf: 32}, rate: 400Gbps, delay: 1us}
	workload: [{collective: {op: all_reduce, algorithm: ring, ranks: 32, jobs: 64, placement: random, size: 100MB, chunk: 128KB}}]
END
measure inline "$scratch/jobs.yaml"
row "inline, 64 all-reduces of 32 ranks, 100 MB in chunks of 128 KB" "" "$(printf '%.0f s, %.0f MB' "${whole:-0}" "${rss:-0}")"
jobs=$hops_per_s
measure inline "$scratch/jobs.yaml" 'workload=[{permutation: {message: 16MB}}]'
figure "  its time of a hop over that in a permutation" most 1.3 "" "$(over "$hops_per_s" "$jobs")" 1

# With samples and without, in turn: the best of each, of the whole command.
plain='' sampled=''
for _ in 1 2 3 4 5; do
	measure inline scenarios/permutation.yaml topology.fat_tree.k=8
	plain=$(least_of "$plain" "$whole")
	measure inline scenarios/permutation.yaml topology.fat_tree.k=8 telemetry.ports=10us telemetry.flows=10us
	sampled=$(least_of "$sampled" "$whole")
done
figure "inline, fat-tree k=8, permutation, ports and flows each 10 us, over without" most 1.15 "" "$(over "$sampled" "$plain")" 1

# A sweep's own work stands between its runs.
TIMEFORMAT='%R %U %S'
used=$( { time "$command" sweep scenarios/permutation.yaml --set topology.fat_tree.k=8 --seeds 1..100 -j 2 --quiet \
	--out "$scratch/sweep" 2>/dev/null; } 2>&1) || status=1
figure "a sweep of 100 such runs with -j 2, share of two cores that is busy" least 95 % \
	"$(awk '{ print 100 * ($2 + $3) / $1 / 2 }' <<<"$used")" 1

# Short flows, of which many end: what each leaves behind.
printf '# bytes share\n4096 1\n' >"$scratch/short.cdf"
cat >"$scratch/load.yaml" <<-'END'
	name: load
	topology: {fat_tree: {k: 8}, rate: 100Gbps, delay: 1us}
	workload: [{load: {sizes: short.cdf, load: 30%, until: 1ms}}]
END
measure inline "$scratch/load.yaml"
few=$flows least=$rss
measure inline "$scratch/load.yaml" workload.0.load.until=4ms
figure "inline, an open loop of ${flows:-0} flows: what one that has ended leaves" most 32 bytes \
	"$(awk -v m="$rss" -v n="$flows" -v l="$least" -v f="$few" 'BEGIN { print (m - l) * 1048576 / (n - f) }')" 1

# What each more takes at the peak, from two runs that end before much has happened.
each() { # SCENARIO FEW MANY: sets bytes, of a message, and of what belongs to it
	local few least

	measure inline "$1" "$2" until=2us
	few=$flows least=$rss
	measure inline "$1" "$3" until=2us
	bytes=''
	[ -z "$rss" ] || [ -z "$least" ] ||
		bytes=$(awk -v m="$rss" -v n="$flows" -v l="$least" -v f="$few" \
			'BEGIN { print (m - l) * 1048576 / (n - f) }')
}

cat >"$scratch/few.yaml" <<-'END'
	name: few
	topology: {leaf_spine: {leaves: 4, spines: 4, hosts_per_leaf: 8}, rate: 100Gbps, delay: 1us}
	workload: [{permutation: {message: 64KB}}]
END
each "$scratch/few.yaml" workload.0.permutation.repeat=1000 workload.0.permutation.repeat=30000
figure "inline, a message that waits for another, while it is read in" most 100 bytes "$bytes" 1
each "$scratch/few.yaml" workload.0.permutation.count=100 workload.0.permutation.count=3000
figure "inline, a message that is under way" most 1024 bytes "$bytes" 1
exit $status
