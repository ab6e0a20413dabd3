#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What can go wrong when a live fabric is steered: wrong names and words, no root, a fabric that is gone, two at once. Each
# message is to name what is wrong and what would be right.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! can_build; then
	tap_skip "mistakes with live fabrics" "$reason"
	tap_done
	exit
fi
live=/run/fabricbed/live/$name

# Three cases: what a command line ends with, what it says, and that it says so without a trace on standard output.
refused() { # STATUS PATTERN COMMAND-LINE...
	local wanted=$1 pattern=$2

	shift 2
	try timeout 20 "$fabricbed" "$@"
	exits "$*: exit status" "$wanted"
	like "$*: what is wrong" "$err" "$pattern"
	same "$*: nothing on standard output" "$out" ""
}
# Commands with a name in front, as few words as they take.
commands=("show" "start" "inject NAME link a-b down" "heal NAME all" "pause" "go" "step NAME 1us" "until NAME drop" "save"
	"capture NAME all" "down" "top")
each() { # FUNCTION: with all words of each command, $name for NAME
	local line

	for line in "${commands[@]}"; do
		[[ $line == *NAME* ]] || line="$line NAME"
		# shellcheck disable=SC2086
		"$1" ${line//NAME/$name}
	done
}

# ---- no fabric

no_such() {
	case $1 in
	down) refused 2 "*there is no fabric*$name*" "$@" ;;
	*) refused 2 "*there is no fabric '$name'*fabricbed *" "$@" ;;
	esac
}
each no_such
refused 2 "*no fabric*" exec "$name" h0 -- true
refused 2 "*no fabric*" show ../x
refused 2 "*no fabric*" show ""

# ---- without root

if command -v setpriv >/dev/null; then
	cp "$fabricbed" fabricbed
	chmod 755 fabricbed
	cp "$scenarios/hello.yaml" hello.yaml
	chmod 644 hello.yaml
	not_root() {
		try setpriv --reuid=65534 --regid=65534 --clear-groups ./fabricbed "$@"
		exits "nobody: $1: exit status" 2
		like "nobody: $1: the message" "$err" "*no fabric '$name' of yours*"
	}
	each not_root
	not_root exec "$name" h0 -- true
else
	tap_skip "without root" "setpriv is not installed"
fi

# ---- wrong words

cat >wrong.yaml <<'END'
workload:
  - pairs: {from: [h0], to: [h99], message: 1MB}
  - incast: {senders: 99, to: h0, message: 1MB}
END
try "$fabricbed" up "$scenarios/link-failure.yaml" --set name="$name" --set workload.0.permutation.message=16GB --set 'expect=[]'
exits "up" 0
refused 2 "*$name is up*fabricbed down $name*another name*" up "$scenarios/link-failure.yaml" --set name="$name"
near=${name%?}
refused 2 "*there is no fabric '$near'*did you mean '$name'*" show "$near"

refused 2 "*'switc'*did you mean 'switch'*" inject "$name" switc core1 down
refused 2 "*agg0.1-core9*" inject "$name" link agg0.1-core9 down
refused 2 "*nothing\**matches no link*" inject "$name" link 'nothing*' down
refused 2 "*core9*did you mean*" inject "$name" switch core9 down
refused 2 "*h0*is a host*" inject "$name" switch h0 down
refused 2 "*needs NAME link|switch|host GLOB \[*\] DEED*" inject "$name" link agg0.1-core2
refused 2 "*dwn*did you mean*down*" inject "$name" link agg0.1-core2 dwn
refused 2 "*'up' is no fault*heal*" inject "$name" link agg0.1-core2 up
refused 2 "*150%*" inject "$name" link agg0.1-core2 loss 150%
refused 2 "*for*" inject "$name" link agg0.1-core2 down for
refused 2 "*5*" inject "$name" link agg0.1-core2 down for 5
refused 2 "*nothing may follow*" inject "$name" link agg0.1-core2 down for 5us now
refused 2 "*lossless*" inject "$name" host h0 pause 3
refused 2 "*heal: expected all, fault NUMBER*" heal "$name" everything
refused 2 "*heal: expected all, fault NUMBER*" heal "$name" fault x
refused 4 "*nothing of that is in force*show*faults*" heal "$name" fault 0
refused 4 "*nothing of that is in force*" heal "$name" link 'h0-*'
refused 2 "*no link*h99*faults*" heal "$name" link 'h99-*'
refused 2 "*is no time*10us*" step "$name" 10
refused 2 "*is no time*" step "$name" soon
refused 2 "*more than no time*" step "$name" 0us
refused 2 "*is no time*" until "$name" 10
refused 2 "*drp*did you mean 'drop'*trim*" until "$name" drp
refused 2 "*nothing is dropped for*did you mean 'link_down'*reasons:*buffer*" until "$name" drop link_dwn
refused 2 "*is no time*" until "$name" drop --limit x
refused 2 "*'everything'*--help*" show "$name" everything
refused 2 "*did you mean*ports*" show "$name" port
refused 2 "*core9*" capture "$name" core9
refused 2 "*wrong.yaml: *h99*senders*" start "$name" wrong.yaml
refused 2 "*nowhere.yaml*No such file*" start "$name" nowhere.yaml
refused 2 "*no node*h99*" exec "$name" h99 -- true
for line in "step" "step NAME" "step NAME 1us 1us" "until NAME" "until NAME drop buffer now" "heal NAME" "inject NAME link" \
	"pause NAME NAME" "go" "save NAME NAME" "show" "down" "capture" "start NAME a.yaml b.yaml"; do
	# shellcheck disable=SC2086
	refused 2 "*fabricbed*${line%% *}*" ${line//NAME/$name}
done

# Nothing of all this has happened.
try "$fabricbed" show "$name" faults --json
same "the timetable is as it was" "$(python3 -c 'import json; a = json.load(open(".out")); print(len(a["rows"]), a["model_time_us"])')" \
	"1 0.0"
"$fabricbed" step "$name" 30us >/dev/null
refused 4 "*it is 30*already*" until "$name" 20us
refused 4 "*it is 30*already*" until "$name" 30us

# ---- two at once

"$fabricbed" start "$name" >/dev/null
"$fabricbed" until "$name" drop no_route >first.out 2>&1 &
children+=($!)
running() { "$fabricbed" show "$name" 2>/dev/null | grep -q running; }
holds "one steps" wait_for running
refused 4 "*another step is under way*pause*" step "$name" 1us
refused 4 "*another step is under way*pause*" until "$name" flow
refused 4 "*another step is under way*pause*" go "$name"
try "$fabricbed" pause "$name"
exits "a pause ends it" 0
wait "${children[-1]}"
like "who stepped is told" "$(cat first.out)" "$name at *: paused"
"$fabricbed" capture "$name" core0 --output one.pcapng >/dev/null 2>&1 &
one=$!
"$fabricbed" capture "$name" 'agg0.*' --output other.pcapng >/dev/null 2>&1 &
other=$!
children=("$one" "$other")
both() { [ -s one.pcapng ] && [ -s other.pcapng ]; }
holds "two captures at once" wait_for both
"$fabricbed" step "$name" 20us >/dev/null
kill -INT "$one" "$other"
wait "$one" "$other"
children=()
if command -v tshark >/dev/null; then
	for file in one other; do
		holds "$file has packets" test "$(tshark -r $file.pcapng 2>/dev/null | head -n 3 | wc -l)" = 3
	done
fi

"$fabricbed" down "$name" >down.1 2>&1 &
one=$!
"$fabricbed" down "$name" >down.2 2>&1 &
other=$!
wait "$one"
first=$?
wait "$other"
second=$?
holds "two at once take it down: neither fails but for being late" test $((first == 0 || second == 0)) = 1
like "who was late is told, or did as much" "$first$second $(cat down.1 down.2)" "@(00|02|20|04|40) *"
same "nothing is left" "$(leftovers; [ ! -e "$live" ] || echo "$live")" ""

"$fabricbed" up "$scenarios/hello.yaml" --set name="$name" >up.1 2>&1 &
one=$!
"$fabricbed" up "$scenarios/hello.yaml" --set name="$name" >up.2 2>&1 &
other=$!
wait "$one"
first=$?
wait "$other"
second=$?
like "two of one name at once: one comes up" "$first $second" "@(0 [24]|[24] 0)"
like "the other is told" "$(cat up.1 up.2)" "*$name is *up*another name*"
same "the one that came up is there" "$("$fabricbed" list | grep -c "^$name ")" 1

# ---- a capture whose client is late when it is ended: all that passed before is in it

cat >much.yaml <<'END'
workload:
  - pairs: {from: [h0], to: [h1], message: 8MB}
END
# Frames that have passed all ports.
frames() {
	"$fabricbed" show "$name" ports --json |
		python3 -c 'import json, sys; print(sum(r["tx_frames"] for r in json.load(sys.stdin)["rows"]))'
}
before=$(frames)
"$fabricbed" capture "$name" all --output late.pcapng >/dev/null 2>&1 &
one=$!
children=("$one")
begun() { [ -s late.pcapng ]; }
holds "a capture" wait_for begun
# more passes than its socket holds
kill -STOP "$one"
"$fabricbed" start "$name" much.yaml >/dev/null
"$fabricbed" until "$name" flows >/dev/null
kill -INT "$one"
kill -CONT "$one"
wait "$one"
same "who is late when it ends ends well" $? 0
children=()
passed=$(($(frames) - before))
holds "much has passed" test $passed -gt 4000
if command -v tshark >/dev/null; then
	# once as it leaves a port, once as it comes to the other
	same "it has all that passed before it was ended" \
		"$(tshark -n -r late.pcapng -T fields -e frame.len 2>/dev/null | wc -l)" $((2 * passed))
else
	tap_skip "it has all that passed before it was ended" "tshark is not installed"
fi

# ---- a fabric that is gone

pid=$("$fabricbed" show "$name" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])')
kill -KILL "$pid"
# or waits for a parent that never looks
gone() { [ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; }
wait_for gone
crashed() {
	[ "$1" = down ] || refused 4 "*$name crashed*fabricbed down $name*" "$@"
}
each crashed
try "$fabricbed" down "$name"
exits "down after a crash" 0
same "nothing is left after a crash" "$(leftovers; [ ! -e "$live" ] || echo "$live")" ""
refused 2 "*no fabric*" down "$name"
tap_done
