#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The debugger on the inline dataplane, which needs no root: a fabric is stepped, broken, looked at, saved and taken down by a user;
# others' and root's are apart from it.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! drop_root; then
	tap_done
	exit
fi

cp "$fabricbed" fabricbed
cp "$scenarios"/{hello,incast,lab}.yaml .
chmod 755 fabricbed
chmod 644 ./*.yaml
mkdir mine
! is_root || chown 65534:65534 mine
cd mine || exit 1
# short, since a socket's path is; a longer one would not be taken
runtime=$(mktemp -d /tmp/fXXXXXX) || exit 1
! is_root || chown 65534:65534 "$runtime"
as_nobody() {
	try env XDG_RUNTIME_DIR="$runtime" "${nobody[@]}" ../fabricbed "$@"
}
fb() { # SUBCOMMAND ARGUMENT...
	local command=$1

	shift
	as_nobody "$command" "$name" "$@"
}
leave_inline() {
	local status=$?

	env XDG_RUNTIME_DIR="$runtime" "${nobody[@]}" ../fabricbed down "$name" >/dev/null 2>&1
	rm -rf "$runtime" "$runtime-2"
	(exit $status)
	leave
}
trap leave_inline EXIT

as_nobody list
exits "list: exit status" 0
like "list: none" "$out" "no fabric of yours is up*"
as_nobody up ../incast.yaml --name "$name" --start
exits "up" 0
like "up: which dataplane" "$err" "*note: on the inline dataplane, since you are not root*"
like "up: what to do next" "$out" "*fabricbed step $name 10us*fabricbed until $name drop*"
same "up: nothing to run programs by" "$(grep exec <<<"$out")" ""
same "its folder is the user's alone" "$(stat -c '%a %u' "$runtime/fabricbed" "$runtime/fabricbed/$name" | sort -u)" \
	"$(stat -c '700 %u' .)"
as_nobody up ../incast.yaml --name "$name"
exits "twice" 2
like "twice: the message" "$err" "*$name is up*"
as_nobody list
like "list" "$out" "*$name *paused*"
fb until mark
like "until" "$out" "$name at 3.015 us: mark*"
fb step 8us
exits "step" 0
fb show queues --match '*->h0' --json
holds "show queues" python3 -c '
import json, sys
(row,) = json.loads(sys.argv[1])["rows"]
assert row["port"] == "leaf0->h0" and row["depth_bytes"] // 4170 in (499, 500), row' "$out"
fb show nodes --json
holds "show nodes: no namespaces" python3 -c '
import json, sys
assert {r["netns"] for r in json.loads(sys.argv[1])["rows"]} == {None}' "$out"
fb show --json
holds "show" python3 -c '
import json, sys
s = json.loads(sys.argv[1])
assert s["dataplane"] == "inline" and s["name"] == sys.argv[2] and s["state"] == "paused", s' "$out" "$name"
# on a terminal of 80 columns no table is wider, and what is not shown is told
for words in ports queues flows nodes "routes --match leaf0"; do
	# shellcheck disable=SC2086
	out=$(python3 "$root/tests/lib/terminal.py" 80 env XDG_RUNTIME_DIR="$runtime" "${nobody[@]}" ../fabricbed show "$name" $words)
	like "80 columns: ${words%% *}" "$out" "$name at 11.015 us of model time: ${words%% *}*"
	same "80 columns: ${words%% *}: no line is longer" "$(grep -E '^.{81}' <<<"$out")" ""
done
out=$(python3 "$root/tests/lib/terminal.py" 80 env XDG_RUNTIME_DIR="$runtime" "${nobody[@]}" ../fabricbed show "$name" ports --match 'leaf0->h0')
like "80 columns: ports: three digits and a unit" "$out" "*port *max depth*leaf0->h0 *400G*1.9?M*1.99M*
not shown, all 0 or empty: *paused us*
not shown, for want of room (--json has it): link*"
fb show ports --match 'leaf0->h0'
like "in a pipe all columns are there" "$out" "*link *rx frames *max depth \[bytes\] *208???? *2085000 *"
fb until drop buffer --limit 1ms
like "until drop" "$out" "$name at 1?.??? us: drop (port leaf0->h0, at 1?.??? us, reason buffer)*"
fb inject link leaf1-spine0 down
exits "inject" 0
fb until reroute
exits "until reroute" 0
fb inject link 'leaf*-spine*' pick 1 per pod skip 1 loss 1% for 5us
like "inject what the seed picks" "$out" "fault 1: leaf0-spine?, leaf1-spine?, leaf2-spine?, leaf3-spine? lose 1% since *, until *"
fb heal all
exits "heal" 0
fb exec h0 true
exits "exec: exit status" 3
like "exec: the remedy" "$err" "*inline dataplane*need 'up --dataplane kernel', as root*"
fb top --interval 100ms
exits "top" 0
like "top" "$out" "*leaf0->h0*"
if is_root; then
	try "$fabricbed" show "$name"
	exits "root has none of that name" 2
fi
fb until flows
exits "until flows" 0
fb save --output replay.yaml
exits "save" 0
fb down
exits "down" 0
like "down: the results" "$out" "*packets *results *runs/$name-1/*"
as_nobody run replay.yaml --quiet --output again
same "the saved scenario has the same trace" "$(figure again/summary.json trace_hash)" \
	"$(figure "runs/$name-1/summary.json" trace_hash)"
same "nothing is left of it" "$(ls "$runtime/fabricbed")" ""
same "the summary has the command that brought it up" "$(figure "runs/$name-1/summary.json" command)" \
	"['fabricbed', 'up', '../incast.yaml', '--name', '$name', '--start']"
as_nobody run ../incast.yaml --quiet --output plain
same "and the scenario as it was then" "$(figure "runs/$name-1/summary.json" scenario_hash)" "$(figure plain/summary.json scenario_hash)"

# a list of flows, and a scenario that names one beside itself
mkdir ../lists
printf 'src,dst,bytes,start_us,after\nh0,h1,100KB,1,\nh1,h2,1,0.5,0\nh9,h3,7,,0 1\n' >../lists/flows.csv
printf 'src,dst,bytes\nh0,h1,1\nh0,h99,1\n' >../lists/wrong.csv
printf 'workload: [{flows: {file: flows.csv, start: 3us}}, {load: {sizes: hadoop, load: 10%%, until: 20us}, transport: roce}]\n' >../lists/beside.yaml
printf 'workload: [{permutation: {message: 1}, transport: {roce: {rto: 5ms}}}]\n' >../lists/other.yaml
printf 'num_ranks 2\nrank 0 {\ns: send 9b to 1\n}\nrank 1 {\nr: recv 9b from 0\nc: calc 5\nc requires r\n}\n' >../lists/pair.goal
chmod -R a+rX ../lists
as_nobody up ../incast.yaml --name "$name" --quiet --set workload.0.transport=roce
fb step 2us
fb start ../lists/other.yaml
exits "start: a transport that the fabric has not" 2
like "start: the remedy" "$err" "*other.yaml: workload.0.transport: the fabric was started without it; name the same one*"
fb start ../lists/wrong.csv
exits "start: a wrong list" 2
like "start: a wrong list has its line" "$err" "*flows.file: wrong.csv line 3: dst: there is no host 'h99' among the fabric's 64*"
fb start ../lists/flows.csv
exits "start: a list" 0
like "start: a list: how many" "$out" "3 flows, the first of them number 0, since 2 us*"
fb start ../lists/pair.goal
exits "start: operations of ranks" 0
fb start ../lists/beside.yaml
exits "start: a scenario with a list" 0
fb until flows
fb save --output lists.yaml
fb down
as_nobody run lists.yaml --quiet --output lists
exits "the saved lists run" 0
same "with the same trace" "$(figure lists/summary.json trace_hash)" \
	"$(figure "$(ls -td runs/"$name"-*/ | head -1)summary.json" trace_hash)"
same "the list's start counts from the command" "$(awk -F, '$1 == 0 { print $2, $3, $5 }' lists/flows.csv)" "h0 h1 3.000000"

# what was stepped by hand is not judged, unless that is asked for
for expect in "" --expect; do
	as_nobody up ../hello.yaml --name "$name" --quiet --start --set 'expect=[{metric: flows.fct_us.max, at_most: 1}]'
	same "up --quiet: nothing is said" "$out$err" ""
	fb until flows
	# shellcheck disable=SC2086
	fb down $expect
	exits "down $expect: exit status" $((${#expect} > 0))
	if [ -n "$expect" ]; then
		like "down --expect: what failed" "$out" "*expect *FAIL*flows.fct_us.max*"
	else
		like "down: it is told" "$out" "*expect *not judged*--expect*"
	fi
done
as_nobody up ../hello.yaml --name "$name" --quiet
fb down --quiet
exits "down --quiet" 0
same "down --quiet: nothing is said" "$out$err" ""

# ---- refused

for words in "up ../lab.yaml" "up ../lab.yaml --dataplane inline"; do
	# shellcheck disable=SC2086
	as_nobody $words --name "$name"
	exits "$words: exit status" 3
	like "$words: the remedy" "$err" "*the wall clock*remedy: run this as root*--set clock=stepped*"
done
as_nobody up ../hello.yaml --name "$name" --dataplane kernel
exits "up --dataplane kernel: exit status" 3
like "up --dataplane kernel: the remedy" "$err" "*remedy: run as root*"
as_nobody up ../hello.yaml --name "$name" --dataplane ebpf
exits "up --dataplane ebpf" 2
# in a place that others can write to somebody may have been first
if is_root; then
	own=$runtime runtime=$runtime-2
	mkdir -p "$runtime/fabricbed"
	chmod 777 "$runtime"
	for words in list "show $name" "down $name" "top $name" "up ../hello.yaml --name $name"; do
		# shellcheck disable=SC2086
		as_nobody $words
		exits "somebody else's folder: $words" 3
		like "somebody else's folder: $words: the message" "$err" "*$runtime/fabricbed is no directory that is yours alone*"
	done
	rm -rf "$runtime"
	runtime=$own
	try "$fabricbed" up "$scenarios/hello.yaml" --name "$name" --dataplane inline --quiet
	exits "root's own on the inline dataplane" 0
	for words in "show $name" "exec $name h0 true" "down $name" "step $name 1us" "top $name"; do
		# shellcheck disable=SC2086
		as_nobody $words
		exits "root's: $words: exit status" 2
		like "root's: $words: the remedy" "$err" "*no fabric '$name' of yours*run this as root*"
	done
	try "$fabricbed" down "$name"
	exits "root's own: down" 0
	try "$fabricbed" up "$scenarios/lab.yaml" --name "$name" --dataplane inline
	exits "the wall clock, inline, as root" 2
fi
same "nothing is left" "$(leftovers)" ""
tap_done
