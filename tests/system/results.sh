#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The folder of a run's results: what is there that no run wrote stays as it is, results appear whole, and a disk that takes
# nothing is told of when it shows.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

hello=$scenarios/hello.yaml
inline() {
	try "$fabricbed" run --dataplane inline --quiet "$@"
}
# Everything below a folder, and what is in it.
content() { # FOLDER
	(cd "$1" && find . -type f ! -name .fabricbed | sort | xargs -r sha256sum && find . -type l -o -type d | sort)
}
untouched() { # NAME FOLDER BEFORE
	same "$1: nothing has changed" "$(content "$2")" "$3"
}

# ---- what no run wrote

mkdir mine
cp "$hello" mine/scenario.yaml
echo keep >mine/flows.csv
before=$(content mine)
cd mine || exit 1
inline scenario.yaml --out .
exits "the scenario is in the way: exit status" 2
like "the scenario is in the way: it is named" "$err" "*scenario.yaml is the scenario itself*--out*"
inline "$hello" --out .
exits "somebody's file is in the way: exit status" 2
like "somebody's file is in the way: it is named" "$err" "*scenario.yaml is in the way: no run wrote it*"
cd ..
untouched "what is in the way" mine "$before"
same "nor is there anything else" "$(ls -A mine)" $'flows.csv\nscenario.yaml'
printf 'fabricbed 1 process 1\nvariant ..\nvariant .\nvariant a/b\nfile ../mine/flows.csv 5 1.0\n' >mine/.fabricbed
mkdir mine/sub
cp mine/.fabricbed mine/sub
echo '{"..": {}}' >mine/sub/compare.json
inline "$hello" --out mine/sub
rm -rf mine/sub mine/.fabricbed
untouched "names that lead out of the folder" mine "$before"
mkdir planted
ln -s ../mine/flows.csv planted/flows.csv
inline "$hello" --out planted
exits "a link is in the way" 2
ln -sf ../mine/flows.csv planted/flows.csv.new
rm planted/flows.csv
inline "$hello" --out planted
exits "a link where a result is to be made" 2
untouched "links" mine "$before"
mkfifo fifo
mkdir odd
mv fifo odd/.fabricbed
inline "$hello" --out odd
exits "a pipe in the place of .fabricbed" 2

# A file that the user named takes the old one's place when it is whole, and nothing goes through a link of somebody else's.
echo old >report.xml
ln -s report.xml own.xml
inline "$hello" --out named --junit own.xml
exits "through a link of one's own" 0
holds "through a link of one's own: it is written" grep -q testsuite report.xml
if is_root && drop_root; then
	mkdir -m 777 shared
	echo keep >victim.xml
	"${nobody[@]}" ln -s ../victim.xml shared/report.xml
	inline "$hello" --out named --junit shared/report.xml
	holds "through a link of nobody's: exit status" test "$status" -ne 0
	like "through a link of nobody's: the message" "$err" "*can't write shared/report.xml: Permission denied*"
	same "through a link of nobody's: what it leads to stays" "$(cat victim.xml)" keep
	"${nobody[@]}" touch shared/.fabricbed
	inline "$hello" --out shared
	exits "a .fabricbed of nobody's" 2
else
	tap_skip "through a link of nobody's" "needs root and setpriv"
fi

# ---- what a run wrote

inline "$hello" --out again --set telemetry.queues=1us
exits "a run" 0
inline "$hello" --out again --seed 2
exits "another in its folder" 0
same "has taken its place" "$(ls again)" $'events.jsonl\nflows.csv\nports.csv\nscenario.yaml\nsummary.json'
before=$(content again)
inline again/scenario.yaml --out again
exits "its own scenario in its place: exit status" 2
inline "$hello" --out again --capture none/x.pcapng
exits "a run that can't begin: exit status" 4
untouched "a run that did not begin" again "$before"
cp -a again moved
inline "$hello" --out moved
exits "into a copy of results" 0
echo >>again/flows.csv
before=$(content again)
inline "$hello" --out again
exits "a result that was edited: exit status" 2
like "a result that was edited: it is named" "$err" "*again/flows.csv is in the way: it was changed*"
untouched "a result that was edited" again "$before"

cat >two.yaml <<END
name: two
topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 2}}
workload: [{pairs: {from: [h0], to: [h1], message: 1MB}}]
compare: [{name: one, set: {seed: 1}}, {name: other, set: {seed: 2}}]
END
inline two.yaml --out compared
exits "a comparison" 0
inline two.yaml --out compared --set 'compare=[{name: third, set: {seed: 3}}, {name: one, set: {seed: 1}}]'
exits "another in its folder" 0
same "and of the first nothing is left" "$(ls compared)" $'compare.json\none\nthird'
echo note >compared/third/summary.json
before=$(content compared)
inline "$hello" --out compared
exits "a variant's result that was edited: exit status" 2
inline two.yaml --out compared
exits "and by another comparison" 2
untouched "a variant's result that was edited" compared "$before"
inline compared/one/scenario.yaml --out compared
exits "a variant's scenario, into the folder of the comparison" 2
untouched "a variant's scenario" compared "$before"

# ---- killed

"$fabricbed" run "$hello" --dataplane inline --quiet --out killed --set 'workload=[{pairs: {from: [h0], to: [h1], message: 16GB}}, {pairs: {from: [h1], to: [h0], message: 1}}]' </dev/null 2>/dev/null &
children=($!)
begun() { grep -q process killed/.fabricbed && grep -q h1,h0 killed/flows.csv.part; }
holds "a long run" wait_for begun
before=$(content killed)
inline "$hello" --out killed
exits "a second run in the folder of one that runs: exit status" 2
like "a second run in the folder of one that runs: the message" "$err" \
	"*a run or a living fabric (process ${children[0]}) writes its results in killed; --out*"
untouched "a second run in the folder of one that runs" killed "$before"
kill -KILL "${children[0]}"
wait "${children[0]}" 2>/dev/null
children=()
same "killed: the rows of the flows that had ended are there" "$(sed -n '1s/,.*//p;2s/,.*//p;3p' killed/flows.csv.part)" $'flow\n1'
same "killed: no result" "$(ls killed/*.json killed/*.csv killed/*.yaml 2>/dev/null)" ""
inline "$hello" --out killed
exits "the next run in its folder" 0
same "all is there" "$(ls -A killed)" $'.fabricbed\nevents.jsonl\nflows.csv\nports.csv\nscenario.yaml\nsummary.json'

# A limit on the size of files stands for a full disk.
limited() { # KILOBYTES COMMAND...
	bash -c 'trap "" XFSZ; ulimit -f $1; shift; exec "$@"' - "$@"
}
for limit in 1 2 4 8; do
	rm -rf small
	try limited $limit "$fabricbed" run "$scenarios/incast.yaml" --dataplane inline --quiet --out small
	exits "results over $limit KB: exit status" 4
	like "results over $limit KB: the reason" "$err" "*can't write results in small: File too large*"
	same "results over $limit KB: none is there" "$(ls -A small 2>&1)" "$(ls -A none 2>&1 | sed s/none/small/)"
done
# so long that the run is still on when it shows
limited 100 "$fabricbed" run "$hello" --dataplane inline --quiet --out lossy --capture lossy.pcapng \
	--set workload.0.pairs.message=16GB </dev/null 2>lossy.err &
children=($!)
told() { grep -q "can't write lossy.pcapng: File too large; the run goes on" lossy.err; }
holds "a capture that can't be written is told when it shows" wait_for told
holds "and the run goes on" kill -0 "${children[0]}"
kill -INT "${children[0]}"
wait "${children[0]}"
same "a capture that can't be written: exit status" $? 4
holds "a capture that can't be written: the results are there" test -s lossy/summary.json

# ---- live fabrics

if ! can_build; then
	tap_skip "results of live fabrics" "$reason"
	tap_done
	exit
fi
fb() { # COMMAND OPTION...
	try "$fabricbed" "$1" "$name" "${@:2}"
}
up() { # FOLDER
	try "$fabricbed" up "$scenarios/lab.yaml" --name "$name" --out "$1" --quiet
	exits "up, with results in $1" 0
}
here() { "$fabricbed" show "$name" --json | python3 -c 'import json, sys; print(json.load(sys.stdin).get("trouble", ""))'; }
up live
inline "$hello" --out live
exits "a run in a live fabric's folder" 2
like "a run in a live fabric's folder: the message" "$err" "*living fabric (process *) writes its results in live*"
rm -rf live
notices() { here | grep -q "the folder is gone"; }
holds "a folder that is gone shows" wait_for notices
like "in list too" "$("$fabricbed" list)" "*$name: can't write results in *live: the folder is gone*"
fb down
exits "down: exit status" 4
like "down: why, and what can be done" "$err" "*can't write results in $scratch/live: No such file*down $name --output DIR*--discard*"
like "the fabric has stopped" "$("$fabricbed" show "$name")" "$name: stopped*TROUBLE*can't write results*"
fb inject link leaf0-spine0 down
exits "it does nothing more: exit status" 4
like "it does nothing more: the message" "$err" "*stopped, and waits for its results to be written*"
fb show ports
exits "but can be looked at" 0
cp -r mine elsewhere
fb down --out elsewhere
exits "down to where somebody's files are: exit status" 4
like "down to where somebody's files are: the message" "$err" "*elsewhere/scenario.yaml is in the way*"
fb down --out saved
exits "down --out another folder" 0
like "it says where" "$out" "*results     $scratch/saved/*"
holds "the results are there" python3 -m json.tool saved/summary.json
same "and all of them" "$(ls saved)" $'events.jsonl\nflows.csv\nports.csv\nscenario.yaml\nsummary.json'
same "nothing is left" "$(leftovers)" ""

mkdir disk
if mount -t tmpfs -o size=64k none disk 2>/dev/null; then
	up disk/out
	"$fabricbed" inject "$name" link leaf0-spine0 down >/dev/null
	cat /dev/zero >disk/filler 2>/dev/null
	wait_for eval 'here | grep -q "No space left"'
	like "a full disk shows" "$(here)" "can't write results in $scratch/disk/out: No space left on device"
	fb down --json
	exits "down on a full disk: exit status" 4
	like "down on a full disk: the reason" "$err" "*can't write results in $scratch/disk/out: No space left on device*"
	holds "down on a full disk: as JSON" python3 -c 'import json; assert json.load(open(".out"))["stays"] is True'
	same "down on a full disk: nothing half-made" "$(ls disk/out)" $'events.index.part\nevents.jsonl.part\nflows.csv.part'
	rm disk/filler
	fb down
	exits "down once there is room" 0
	holds "nothing is lost" grep -q '"link_down","link":"leaf0-spine0","by":"hand"' disk/out/events.jsonl
	umount disk
else
	tap_skip "a full disk" "can't mount a tmpfs"
fi
up gone
rm -rf gone
fb down --discard
exits "down --discard" 0
same "nothing is left in the end" "$(leftovers)" ""

# What a fabric told of stays, whatever ends it.
up crash
"$fabricbed" inject "$name" link leaf0-spine0 down >/dev/null
written() { grep -q link_down crash/events.jsonl.part; }
holds "events are written as they come" wait_for written
pid=$("$fabricbed" list --json | python3 -c 'import json, sys; print([r["pid"] for r in json.load(sys.stdin) if r["name"] == sys.argv[1]][0])' "$name")
kill -KILL "$pid"
fb down
holds "and are there after a crash" grep -q link_down crash/events.jsonl.part
up crash
fb down
exits "another fabric in the folder of one that crashed" 0
tap_done
