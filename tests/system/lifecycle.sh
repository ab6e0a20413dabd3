#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Kernel runs that are killed, interrupted, refused or run beside each other: nothing of them stays, and
# the host is as it was. FABRICBED_LONG: 100 crashes instead of 3.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
if ! can_build; then
	tap_skip "life and death of kernel runs" "$reason"
	tap_done
	exit
fi
crashes=3
[ -z "${FABRICBED_LONG-}" ] || crashes=100

# Runs in the background; its process is $pid. start TITLE OPTION...: results go to TITLE, a fat-tree that keeps busy for longer than
# any machine is waited for: it ends by a signal.
start() {
	local title=$1

	shift
	"$fabricbed" run "$scenarios/link-failure.yaml" --out "$title" --set name="$name" \
		--set workload.0.permutation.message=16GB --set expect=[] "$@" >"$title.out" 2>"$title.err" </dev/null &
	pid=$!
	children+=("$pid")
}

# Its status is $status.
finish() { # PID
	wait "$1"
	status=$?
	children=()
}

nothing_left() {
	[ -z "$(leftovers)" ]
}

# The next run of the same scenario, short.
run_next() { # TITLE
	rm -rf next
	try "$fabricbed" run "$scenarios/link-failure.yaml" --set name="$name" --out next --quiet \
		--set workload.0.permutation.message=200KB --set expect=[]
	exits "$1" 0
}

host_network >host.before
run_next "a run to compare with"
hash=$(figure next/summary.json trace_hash)

# ---- killed in the middle

start killed
holds "the fabric stands" wait_for test -e killed/events.jsonl.part
objects=$(bpf_objects tor0.0 p0)
holds "its programs and maps can be seen" test "$(wc -l <<<"$objects")" -ge 3
kill -KILL "$pid"
finish "$pid"
same "killed" "$status" 137
holds "what is left is on record" test -e "/run/fabricbed/$name"
run_next "after kill -9 the next run succeeds"
same "and gives the same trace" "$(figure next/summary.json trace_hash)" "$hash"
same "and took the same name: the dead one's had been freed" "$(leftovers)" ""
holds "the dead run's programs and maps are gone" wait_for bpf_gone "$objects"

start killed
holds "namespaces are being made" wait_for compgen -G "/run/netns/$name-*"
kill -KILL "$pid"
finish "$pid"
run_next "killed while it was being built: the next run succeeds"
same "killed while it was being built: nothing is left" "$(leftovers)" ""

for ((i = 1; i <= crashes; i++)); do
	# anywhere from the first system call to the middle of the run: it takes about 0.1 s to stand
	timeout --signal=KILL "0.$(printf '%03d' $((RANDOM % 300 + 1)))" "$fabricbed" run \
		"$scenarios/link-failure.yaml" --set name="$name" --out killed --quiet \
		--set workload.0.permutation.message=128MB 2>/dev/null
	[ $i -lt $crashes ] && continue
	run_next "after $crashes crashes at random moments a run succeeds"
	same "after $crashes crashes: the same trace" "$(figure next/summary.json trace_hash)" "$hash"
	same "after $crashes crashes: nothing is left" "$(leftovers)" ""
done

# ---- told to end

for signal in INT TERM HUP; do
	rm -rf ended
	start ended
	wait_for test -e ended/events.jsonl.part
	objects=$(bpf_objects tor0.0 p0)
	kill -$signal "$pid"
	finish "$pid"
	same "SIG$signal: exit status" "$status" 4
	same "SIG$signal: nothing is left" "$(leftovers)" ""
	holds "SIG$signal: no program, no map" wait_for bpf_gone "$objects"
	like "SIG$signal: it says so" "$(cat ended.err)" "*interrupted at * us of model time*"
	holds "SIG$signal: the results so far" python3 -c '
import csv, json
s = json.load(open("ended/summary.json"))
assert s["interrupted"] is True
p = s["packets"]
assert p["sent"] == p["delivered"] + sum(p["dropped"].values()) + p["in_flight"], p
assert 0 < s["flows"]["unfinished"] <= s["flows"]["count"] == 16, s["flows"]
flows = list(csv.DictReader(open("ended/flows.csv")))
assert len(flows) == 16
assert sum(not f["fct_us"] for f in flows) == s["flows"]["unfinished"]
times = [json.loads(line)["t_us"] for line in open("ended/events.jsonl")]
assert times == sorted(times)
samples = [float(r["t_us"]) for r in csv.DictReader(open("ended/queues.csv"))]
assert samples == sorted(samples) and all(t <= s["model_time_us"] for t in samples)'
	try "$fabricbed" validate ended/scenario.yaml
	exits "SIG$signal: scenario.yaml is valid" 0
done

rm -rf ended
start ended --set topology.fat_tree.k=8 --set faults.0.link=agg0.1-core4
wait_for test -e "/run/fabricbed/$name"
kill -INT "$pid"
finish "$pid"
same "SIGINT while it is being built: exit status" "$status" 4
same "SIGINT while it is being built: nothing is left" "$(leftovers)" ""

# ---- a reader that goes away

# more than a pipe's buffer in the C library holds, so that it shows before the fabric is down
much=$(printf '{metric: flows.unfinished, equals: 0}, %.0s' {1..200})
rm -rf ended
# it has gone before the run begins: "| true" might be late
python3 -c '
import os, signal, sys
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 1)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
	"$fabricbed" run "$scenarios/link-failure.yaml" --out ended --set name="$name" --set "expect=[$much]" 2>ended.err
same "a reader that goes away: exit status" $? 4
same "a reader that goes away: no noise" "$(cat ended.err)" ""
same "a reader that goes away: nothing is left" "$(leftovers)" ""
holds "a reader that goes away: the results are there" figure ended/summary.json trace_hash

# ---- side by side

start one
one=$pid
start two
two=$pid
holds "two runs of one scenario stand at once" \
	wait_for test -e one/events.jsonl.part -a -e two/events.jsonl.part
holds "each has its name" test -e "/run/fabricbed/$name" -a -e "/run/fabricbed/$name-2"
kill -INT "$one" "$two"
finish "$one"
finish "$two"
same "both have gone" "$(leftovers)" ""
rm -rf one two
start one --set workload.0.permutation.message=4MB
one=$pid
start two --set workload.0.permutation.message=4MB
two=$pid
finish "$one"
same "two runs of one scenario: the first succeeds" "$status" 0
finish "$two"
same "two runs of one scenario: the second succeeds" "$status" 0
same "two runs of one scenario: equal traces" "$(figure one/summary.json trace_hash)" \
	"$(figure two/summary.json trace_hash)"
same "two runs of one scenario: nothing is left" "$(leftovers)" ""

rm -rf one two
start one --set workload.0.permutation.message=4MB
one=$pid
try "$fabricbed" run "$scenarios/incast.yaml" --set name="${name}other" --out two --quiet
exits "another scenario beside it succeeds" 0
finish "$one"
same "and it is not disturbed" "$status" 0
try "$fabricbed" run "$scenarios/incast.yaml" --dataplane inline --out alone --quiet
same "nor is the other" "$(figure two/summary.json trace_hash)" "$(figure alone/summary.json trace_hash)"

# a living fabric must survive what sweeps dead ones
rm -rf one
start one
one=$pid
wait_for test -e one/events.jsonl.part
start killed
wait_for test -e "/run/fabricbed/$name-2"
kill -KILL "$pid"
wait "$pid"
run_next "a run beside a living and a dead one"
holds "the living one still stands" test -e "/run/netns/$name-tor0.0"
kill -INT "$one"
finish "$one"
same "the living one ends as told" "$status" 4
same "all three: nothing is left" "$(leftovers)" ""

# ---- what the machine does not give

mkdir refused
cd refused || exit 1
try bash -c 'ulimit -n 50; exec "$@"' - "$fabricbed" run "$scenarios/permutation.yaml" --set name="$name"
exits "50 open files: exit status" 3
like "50 open files: what is missing and the remedy" "$err" "*open files*remedy: *ulimit*inline*"
same "50 open files: no folder" "$(ls -A)" ""
mkdir empty
try bash -c 'ulimit -n 50; exec "$@"' - "$fabricbed" run "$scenarios/permutation.yaml" --out empty
holds "50 open files: a folder that was there stays" rmdir empty
try unshare -m sh -c 'mount -t tmpfs -o ro none /run && exec "$@"' - "$fabricbed" run \
	"$scenarios/hello.yaml" --set name="$name"
exits "/run can't be written to: exit status" 3
like "/run can't be written to: it is named" "$err" "*/run*remedy*"
cd ..
same "refused: nothing is left" "$(leftovers)" ""

# ---- the host

host_network >host.after
same "the host's interfaces, addresses, routes and settings are as they were" "$(cat host.before)" \
	"$(cat host.after)"
tap_done
