#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs scenarios and prints what was asked beside what was measured: the median of BENCH_RUNS (3) runs.
# Asserts nothing; exit status 1 if a run did not end well.
#
# up     from the command's start to the first packet: its whole time but for the run and what follows
# down   from the last result written to the command's end
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/bench/table.sh
command=${BUILD:-build}/fabricbed
runs=${BENCH_RUNS:-3}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
status=0

# Prints "hops_per_s peak_rss_mb whole_s up_s down_s" of one run.
run_once() { # DATAPLANE SCENARIO SETTING...
	# other sizes than the scenario's own may miss what it expects
	local dataplane=$1 scenario=$2 setting started ended written args=(--set 'expect=[]')

	shift 2
	for setting; do
		args+=(--set "$setting")
	done
	rm -rf "$scratch/run"
	started=$(date +%s.%N)
	"$command" run "scenarios/$scenario.yaml" --dataplane "$dataplane" --out "$scratch/run" --quiet \
		"${args[@]}" || return 1
	ended=$(date +%s.%N)
	written=$(stat -c %.9Y "$scratch/run/flows.csv")
	python3 - "$scratch/run/summary.json" "$started" "$written" "$ended" <<-'END'
	import json, sys
	started, written, ended = map(float, sys.argv[2:])
	with open(sys.argv[1]) as f:
	    s = json.load(f)
	print(s["hops_per_s"], s["peak_rss_mb"], ended - started,
	      written - started - s["wall_s"], max(0, ended - written))
	END
}

# Sets hops_per_s, rss, whole, up, down; empty if there is nothing to show.
measure() { # DATAPLANE SCENARIO SETTING...
	local i

	hops_per_s='' rss='' whole='' up='' down=''
	if [ "$1" = kernel ] && [ "$(id -u)" != 0 ]; then
		return
	fi
	for ((i = 0; i < runs; i++)); do
		run_once "$@" || { status=1; return; }
	done >"$scratch/values"
	[ -s "$scratch/values" ] || return
	hops_per_s=$(median 1) rss=$(median 2) whole=$(median 3) up=$(median 4) down=$(median 5)
}

median() { # COLUMN
	awk -v c="$1" '{ print $c }' "$scratch/values" | sort -g |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

row what asked measured
measure kernel permutation topology.fat_tree.k=4
figure "kernel, fat-tree k=4, permutation of 2 MB" least 0.8 "M hops/s" "$hops_per_s" 1e6
measure kernel permutation topology.fat_tree.k=8
figure "kernel, fat-tree k=8, permutation of 2 MB" least 0.4 "M hops/s" "$hops_per_s" 1e6
figure "  its memory" most 200 MB "$rss" 1
measure inline permutation topology.fat_tree.k=4
figure "inline, fat-tree k=4, permutation of 2 MB" least 10 "M hops/s" "$hops_per_s" 1e6
measure inline permutation topology.fat_tree.k=8
figure "inline, fat-tree k=8, permutation of 2 MB" least 10 "M hops/s" "$hops_per_s" 1e6

while read -r k most_up most_down; do
	measure kernel permutation "topology.fat_tree.k=$k" workload.0.permutation.message=4KB
	figure "kernel, fat-tree k=$k, up to the first packet" most "$most_up" s "$up" 1
	figure "  down again" most "$most_down" s "$down" 1
done <<-END
	4 0.15 0.1
	8 0.6 0.3
	16 6 2
END

while read -r hosts leaves spines each most_s most_mb; do
	measure inline oversubscribed "topology.leaf_spine.leaves=$leaves" \
		"topology.leaf_spine.spines=$spines" "topology.leaf_spine.hosts_per_leaf=$each"
	figure "inline, leaf-spine of $hosts hosts, 400 Gbps, permutation of 2 MB" most "$most_s" s "$whole" 1
	figure "  its memory" most "$most_mb" MB "$rss" 1
	figure "  its speed" least 4 "M hops/s" "$hops_per_s" 1e6
done <<-END
	1,024 32 32 32 2 150
	8,192 128 64 64 15 1024
END
# all of it is read before the last line is found to be wrong, and then nothing is built
awk 'BEGIN {
	print "src,dst,bytes,start_us"
	for (i = 0; i < 1000000; i++) printf "h%d,h%d,%d,%.2f\n", i % 16, (i + 1 + i % 15) % 16, i % 5000 + 1, i / 100
	print "h0,h99,1,0"
}' >"$scratch/list.csv"
printf 'name: list\ntopology: {fat_tree: {k: 4}}\nworkload: [{flows: {file: list.csv}}]\n' >"$scratch/list.yaml"
TIMEFORMAT=%R
seconds=$({ time "$command" validate "$scratch/list.yaml" >"$scratch/said" 2>&1; } 2>&1)
grep -q 'line 1000002' "$scratch/said" || status=1
figure "a flow list of a million lines, read and checked" most 1 s "$seconds" 1
tests/bench/live.sh || status=1
echo "! behind a figure: not what was asked; the kernel dataplane and live fabrics are measured as root only"
exit $status
