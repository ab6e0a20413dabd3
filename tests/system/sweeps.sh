#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `fabricbed sweep`: the runs, their table, what is expected of it; runs that are done, that fail, and that a kill leaves
# half done. With FABRICBED_LONG=1 it is killed 20 times, else 3.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

cat >sizes.yaml <<'END'
name: sizes
about: Two sizes.
topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}}
workload:
  - permutation: {message: 64KB}
compare:
  - {name: adaptive, set: {host.transport.strack.spray: adaptive}}
  - {name: roce, set: {host.transport: roce}}
sweep:
  grid:
    - {key: workload.0.permutation.message, as: message, values: [16KB, 64KB]}
  seeds: 1..2
  tables: [flows]
  scales:
    - {name: small, set: {sweep.seeds: 1, sweep.grid.0.values: '[8KB]'}}
  expect:
    - {metric: flows.fct_us.max, of: roce, over: adaptive, at_most: 100, says: "both work"}
    - {query: "SELECT count(*) FROM flows", equals: 32}
END
sweep() { # OPTION...
	try "$fabricbed" sweep sizes.yaml "$@"
}

# ---- before

try "$fabricbed" validate sizes.yaml
like "validate counts the runs" "$out" "*sweep *2 points, 2 variants, 2 seeds: 8 runs*"
try "$fabricbed" run sizes.yaml --dataplane inline --set compare=[] --set sweep.expect=[] --out one
like "run says that it is one of them" "$err" "*sizes has a sweep, which this is one run of; 'fabricbed sweep sizes.yaml' does all*"
sweep --list --out all
exits "a list of them" 0
like "none is done" "$out" "*  -     adaptive message=16KB, seed 1*8 runs of sizes, 0 done"
holds "and nothing is made" test ! -e all

# ---- all goes well

sweep --out all -j 2
exits "a sweep" 0
like "its runs, means and expectations" "$out" \
	"sizes: Two sizes.*8 of 8 done*message*variant*runs*mean*64KB*roce*ok    both work*results     all/"
same "its files" "$(ls all)" $'runs\nsweep.csv\nsweep.json\nsweep.sqlite'
same "a folder a run" "$(find all/runs -mindepth 1 -maxdepth 1 | grep -c .)" 8
same "the table" "$(cut -d, -f2-5 all/sweep.csv)" "variant,message_bytes,seed,status
adaptive,16384,1,done
adaptive,16384,2,done
roce,16384,1,done
roce,16384,2,done
adaptive,65536,1,done
adaptive,65536,2,done
roce,65536,1,done
roce,65536,2,done"
id=$(sed -n 8p all/sweep.csv | cut -d, -f1)
try "$fabricbed" run sizes.yaml --set compare=[] --set sweep=off --set host.transport=roce --set seed=1 \
	--set workload.0.permutation.message=64KB --dataplane inline --quiet --out alone
same "a row is that run" "$(figure alone/summary.json trace_hash)" "$(figure "all/runs/$id/summary.json" trace_hash)"
try "$fabricbed" sweep sizes.yaml --out all -j 2 --json
exits "again" 0
like "nothing is done twice" "$out" '*"done_before": 8,*'
sweep --out seeds --scale small --seeds 7,9 --best max:slowdown
exits "a scale, and other seeds" 1
like "which miss what was expected of all" "$out" "*4 of 4 done*largest slowdown*FAIL*count(*) FROM flows: 16, equals 32*"

# ---- queries only read, and are one statement

query() { # MESSAGE SQL
	sweep --out all --set "sweep.expect=[{query: \"$2\", at_most: 100}]"
	like "'$2' is refused" "$out" "*FAIL*$1*"
}
query "a query may only read; expected a SELECT" "DELETE FROM runs RETURNING 1"
query "a query may only read; expected a SELECT" "PRAGMA query_only = OFF"
query "the query is more than one statement" "SELECT 1; SELECT 2"
query "the query gives no columns" "VACUUM INTO 'other.sqlite'"
holds "and nothing is written" test ! -e other.sqlite

sweep --out all --set 'sweep.plots=[{name: odd, query: SELEC}]'
exits "a picture of a wrong query" 4
like "is named" "$err" 'fabricbed: plot odd: SQLite: near "SELEC": syntax error*'

# ---- seeds keep their digits

sweep --out seeds --scale small --seeds 18446744073709551615,9007199254740993 --quiet
same "in the table" "$(cut -d, -f4 seeds/sweep.csv | sort -u | tr '\n' ' ')" "18446744073709551615 9007199254740993 seed "

# ---- a picture

sweep --out all --plot fct.svg
if command -v gnuplot >/dev/null; then
	exits "a picture" 0
	like "has a line for each variant" "$(cat fct.svg)" "*<svg*adaptive*roce*"
else
	exits "without gnuplot the script alone" 3
fi
holds "and its script" grep -q adaptive fct.gnuplot

# ---- mistakes

sweep --out none --set workload.0.permutation.message=1MB
exits "a value that the grid has" 2
like "is refused" "$err" "*--set workload.0.permutation.message=1MB would undo the sweep's grid; set sweep.grid.0.values instead*"
sweep --out none --set seed=3
exits "a seed beside seeds" 2
sweep --out none --scale large
exits "no such scale" 2
like "the nearest" "$err" "*no scale 'large'*"
sweep --out none --set 'sweep.grid.0.values=[64KB, 65536]'
exits "the same run twice" 2
like "which" "$err" "*two runs of the sweep are the same one: *message=64KB*message=65536*"
sweep --out none --set 'sweep.grid.0.values=[64KB, 1]' --set 'sweep.grid.0.key=topology.mtu'
exits "a value that is none" 2
like "with its key and its run" "$err" "*topology.mtu: *--set topology.mtu=64KB*that is the run adaptive message=64KB, seed 1*"
same "nothing is made" "$(find none -name '*.csv' 2>/dev/null)" ""
mistake() { # WHAT MESSAGE OPTION...
	sweep --out none "${@:3}"
	exits "$1, before the first run" 2
	like "with the remedy" "$err" "$2"
}
mistake "a wrong metric" "*--metric: 'flows.fct_us.mix' is no number of summary.json; did you mean 'flows.fct_us.max'?*" \
	--metric flows.fct_us.mix
mistake "a wrong metric" "*--best: 'flops' is no number of summary.json*" --best max:flops
mistake "a wrong picture" "*--plot: a picture is a file named NAME.svg or NAME.pdf, not 'fct.png'*" --plot fct.png
mistake "a picture in no folder" "*--plot: can't write no/fct.svg: No such file*" --plot no/fct.svg
mistake "a table that no run writes" "*sweep.tables has queues, which a run writes only with telemetry: {queues: 10us}*" \
	--set 'sweep.tables=[queues]'
mistake "a table that no run writes" "*sweep.tables has pauses, which a run writes only with switch: {pfc: on}*" \
	--set 'sweep.tables=[pauses]'
same "no run was begun" "$(find none -name summary.json)" ""
try "$fabricbed" sweep . --plot fct.svg
exits "one picture of several sweeps" 2
mkdir strange && touch strange/file
sweep --out strange
exits "a folder of others" 2
like "is left alone" "$err" "*strange holds files that are no sweep's*"
sweep --jobs 0
exits "no jobs" 2

# ---- a run that fails

cp -r all broken
mv "broken/runs/$id" saved && touch "broken/runs/$id"
sweep --out broken
exits "a run that can't be done" 4
like "is told" "$err" "*the run roce message=64KB, seed 1 failed: [!f]*broken/runs/$id*"
like "the others are there" "$(cut -d, -f5 broken/sweep.csv | sort | uniq -c | tr -s ' \n' ' ')" "* 7 done 1 failed *"
like "and what is missing fails what is expected of it" "$out" "*7 of 8 done*FAIL*"

# ---- killed, and started again

wait_for_runs() { # FOLDER NUMBER PID: until there are so many, or it has ended
	while kill -0 "$3" 2>/dev/null &&
		[ "$(find "$1" -name summary.json 2>/dev/null | grep -c .)" -lt "$2" ]; do
		:
	done
}
rounds=3
[ -z "${FABRICBED_LONG-}" ] || rounds=20
differences=
for ((i = 0; i < rounds; i++)); do
	rm -rf killed
	for ((k = 0; k < 2; k++)); do
		"$fabricbed" sweep sizes.yaml --out killed -j 2 --quiet &
		children=("$!")
		wait_for_runs killed $((RANDOM % 8)) "${children[0]}"
		kill -KILL "${children[0]}" 2>/dev/null
		wait "${children[0]}" 2>/dev/null
		children=()
	done
	try "$fabricbed" sweep sizes.yaml --out killed -j 2 --quiet
	[ "$status" = 0 ] || differences+="status $status in round $i: $err"$'\n'
	for file in sweep.csv sweep.sqlite; do
		cmp -s "killed/$file" "all/$file" || differences+="$file in round $i"$'\n'
	done
done 2>/dev/null
tap_empty "killed $((2 * rounds)) times and started again: the same tables" "$differences"
tap_done
