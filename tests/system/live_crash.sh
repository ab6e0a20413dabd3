#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A live fabric under traffic whose process is killed at any moment, and `down`: again and again, nothing of it stays, and the
# host's own network is as it was. FABRICBED_LONG does it 100 times.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
if ! can_build || [ ! -c /dev/net/tun ]; then
	tap_skip "live fabrics that are killed" "${reason:-no /dev/net/tun}"
	tap_done
	exit
fi
rounds=3
[ -z "${FABRICBED_LONG-}" ] || rounds=100
cat >crash.yaml <<-END
	name: $name
	clock: wall
	topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}, rate: 1Gbps, delay: 50us, mtu: 1500}
	host: {stack: {ect: on, entropy: {flowlet: 1ms}, classes: [{port: 9, dscp: 10}]}}
	workload: [{permutation: {message: 100MB}}]
END

# Processes inside of the fabric's namespaces, or the fabric's own, but for what waits to be reaped.
programs_left() {
	local pid

	for pid in $(pgrep -f "fabricbed.*$name|ping .*$name|udp_flood_$name"); do
		[ "$pid" = $$ ] || is_gone "$pid" || ps -o pid=,args= -p "$pid"
	done
}

# Whether a process is gone, or waits to be reaped.
is_gone() { # PID
	[ ! -e "/proc/$1" ] || [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == Z* ]]
}

model_time() {
	"$fabricbed" show "$name" summary --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["model_time_us"])'
}

traffic() {
	"$fabricbed" start "$name" >/dev/null || return
	"$fabricbed" exec "$name" h0 -- ping -q -i 0.002 h3 >/dev/null 2>&1 &
	children+=("$!")
	"$fabricbed" exec "$name" h1 -- python3 -c "
import socket  # udp_flood_$name
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
while True:
	s.sendto(b'x' * 1000, ('fd00:fab::3', 9))" >/dev/null 2>&1 &
	children+=("$!")
}

network=$(host_network)
wrong=
for ((i = 0; i < rounds && !${#wrong}; i++)); do
	try "$fabricbed" up crash.yaml --out crash --quiet
	[ "$status" = 0 ] || wrong="round $i: up: $err"
	objects=$(bpf_objects leaf0 p0 && bpf_objects h0 link0)
	traffic || wrong="round $i: no traffic"
	# any moment: so many requests later
	for ((k = RANDOM % 6; k > 0; k--)); do
		model_time >/dev/null
	done
	pid=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pid"])' "/run/fabricbed/live/$name/state.json")
	kill -KILL "$pid"
	try "$fabricbed" down "$name"
	[ "$status" = 0 ] || wrong+="round $i: down: status $status $err"
	[ -z "$(leftovers)" ] || wrong+="round $i: $(leftovers)"
	wait_for bpf_gone "$objects" || wrong+="round $i: BPF objects are left"
	left=$(programs_left)
	[ -z "$left" ] || wrong+="round $i: $left"
	children=()
done
tap_empty "$rounds kills under traffic: no namespace, record, folder, program, BPF object is left" "$wrong"
tap_empty "the host's own network is as it was" "$(diff <(echo "$network") <(host_network))"
tap_done
