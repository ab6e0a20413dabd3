#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The control socket of a live fabric: who sends rubbish, half a request, a megabyte, or hangs, disturbs nobody, and model
# time goes on. Then faults at random while programs and flows go on: all are answered, and everything balances in the end.
# FABRICBED_LONG: 1,000 of them instead of 100.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! can_build; then
	tap_skip "a live fabric's control socket" "$reason"
	tap_done
	exit
fi
control=/run/fabricbed/live/$name/control
injections=100
[ -z "${FABRICBED_LONG-}" ] || injections=1000

# what python says of each of its cases: "ok NAME", or "not ok NAME: WHY"
cases() { # SCRIPT ARGUMENT...
	local line ended

	python3 "$@" >cases 2>errors
	ended=$?
	while read -r line; do
		case $line in
		"ok "*) tap_ok "${line#ok }" ;;
		*) tap_fail "${line#not ok }" ;;
		esac
	done <cases
	same "${1##*/} came to its end" "$ended$(cat errors)" 0
}

cat >live.yaml <<'END'
name: live
clock: {wall: {slowdown: 100}}
topology: {fat_tree: {k: 4}, rate: 10Gbps, delay: 10us}
switch: {buffer: {per_port: 100KB}, reroute: 1ms}
workload:
  - permutation: {message: 1600KB, repeat: 8000}
END
try "$fabricbed" up live.yaml --set name="$name"
exits "up" 0
same "the socket is root's alone" "$(stat -c '%U %a' "$control")" "root 600"
cases "$root/tests/lib/live_socket.py" "$control"

# ---- faults at random

try "$fabricbed" start "$name"
exits "start" 0
"$fabricbed" exec "$name" h0 -- ping -q -i 0.01 h15 >ping.out 2>&1 &
children+=($!)
cases "$root/tests/lib/live_faults.py" "$control" $injections
reached() { "$fabricbed" exec "$name" "$1" -- ping -c 1 -W 5 "$2" >/dev/null 2>&1; }
for pair in "h0 h15" "h3 h4" "h9 h8" "h12 h1"; do
	# shellcheck disable=SC2086
	holds "after heal all: ${pair/ / reaches }" wait_for reached $pair
done
try "$fabricbed" down "$name"
exits "down" 0
like "down: everything was accounted for" "$out" "*packets * sent*"
same "nothing is left" "$(leftovers)" ""
tap_done
