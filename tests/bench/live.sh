#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Ordinary programs in a live fabric: the part of the table of figures (figures.sh) that depends on how quick and how idle the
# box is. Asserts nothing; exit status 1 if something did not run.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/bench/table.sh
if [ "$(id -u)" != 0 ]; then
	exit 0
fi
command=$(realpath "${BUILD:-build}/fabricbed")
scratch=$(mktemp -d) || exit 1
name=b$(printf '%04x%04x' $RANDOM $RANDOM)
trap '"$command" down "$name" >/dev/null 2>&1; rm -rf "$scratch"' EXIT
status=0

# Six links from h0 to h1, and from h2 to h3, of which four are the same.
cat >"$scratch/chain.yaml" <<'END'
name: chain
clock: wall
topology:
  custom:
    hosts: [h0, h1, h2, h3]
    switches: [s0, s1, s2, s3, s4]
    links: [h0-s0, s0-s1, s1-s2, s2-s3, s3-s4, s4-h1, h2-s0, s4-h3]
  mtu: 1440
END

up() { # FILE SETTING...
	local setting args=()

	for setting in "${@:2}"; do
		args+=(--set "$setting")
	done
	"$command" up --quiet --name "$name" --out "$scratch/results" "${args[@]}" "$1"
}

down() {
	"$command" down "$name" >/dev/null
	rm -rf "$scratch/results"
}

on() { # HOST COMMAND...
	"$command" exec "$name" "$1" -- "${@:2}"
}

serve() { # HOST
	on "$1" iperf3 --server --daemon && until [ -n "$(on "$1" ss -Hltn "sport = :5201")" ]; do sleep 0.01; done
}

# Mbps that the receiver had in 10 s, after one for the window to open.
receive() { # FROM TO
	on "$1" iperf3 -c "$2" -4 -O 1 -t 10 -J | python3 -c 'import json, sys
print(json.load(sys.stdin)["end"]["sum_received"]["bits_per_second"] / 1e6)'
}

verdict() {
	"$command" show "$name" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["fidelity"]["verdict"])'
}

seconds() { # COMMAND...
	local started

	started=$(date +%s.%N)
	"$@" >/dev/null || status=1
	echo "$started $(date +%s.%N)" | awk '{ print $2 - $1 }'
}

if command -v ping >/dev/null && up "$scratch/chain.yaml" topology.rate=10Gbps topology.delay=100us; then
	# 98 bytes, and 24 more on the wire, take 97.6 ns a link
	beyond=$(on h0 ping -4 -i 0.002 -c 2500 h1 | sed -n 's/.* time=\([0-9.]*\) ms/\1/p' | sort -g |
		awk '{ v[NR] = $1 * 1000 - 12 * 100.0976 } END { if (NR > 900) print v[int((99 * NR + 99) / 100)] }')
	figure "ping over 6 links of 100 us: beyond their sum, 99th percentile" most 100 us "$beyond" 1
	down
else
	status=1
fi

if command -v iperf3 >/dev/null && up "$scratch/chain.yaml" topology.rate=200Mbps topology.delay=100us; then
	serve h1 && serve h3
	alone=$(receive h0 h1)
	# of 1,538 bytes 1,448 are a program's
	off=$(awk -v v="$alone" 'BEGIN { d = v / (200 * 1448 / 1538) - 1; print d < 0 ? -d : d }')
	figure "iperf3 over 6 links of 200 Mbps: off their rate less headers" most 2 % "$off" 0.01
	receive h2 h3 >"$scratch/other" &
	one=$(receive h0 h1)
	wait $!
	share=$(awk -v a="$one" -v b="$(cat "$scratch/other")" 'BEGIN { s = a / (a + b); print (s > 0.5 ? s : 1 - s) }')
	figure "  two of them: the larger one's share" most 55 % "$share" 0.01
	down
else
	status=1
fi

if command -v iperf3 >/dev/null && up "$scratch/chain.yaml" topology.rate=100Gbps topology.mtu=9000; then
	serve h1
	figure "iperf3 over 6 links of 100 Gbps, packets of 9,000 bytes" least 1 Gbps "$(receive h0 h1)" 1000
	row "  said of it" "degraded if it is" "$(verdict)"
	down
else
	status=1
fi

# Faults by hand, each healed again: ms from the request to the answer, which comes when the fault is in force.
inject_ms() {
	python3 - "/run/fabricbed/live/$name/control" <<-'END'
		import json, socket, sys, time
		control = socket.socket(socket.AF_UNIX)
		control.connect(sys.argv[1])
		answers = control.makefile()

		def ask(verb, words):
		    began = time.monotonic()
		    control.sendall(json.dumps({"version": 1, "do": verb, "words": words}).encode() + b"\n")
		    assert json.loads(answers.readline())["ok"]
		    return (time.monotonic() - began) * 1e3

		longest = 0
		for _ in range(100):
		    longest = max(longest, ask("inject", ["link", "tor0.0-agg0.0", "down"]))
		    ask("heal", ["all"])
		print(longest)
	END
}

fat_tree=scenarios/permutation.yaml
figure "fat-tree k=4: up" most 0.5 s "$(seconds up $fat_tree clock=wall topology.fat_tree.k=4)" 1
pid=$("$command" show "$name" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])')
# user and system time in ticks, of 5 s
ticks() {
	awk '{ print $14 + $15 }' "/proc/$pid/stat"
}
before=$(ticks)
sleep 5
figure "  a core's time, idle" most 2 % $(($(ticks) - before)) $((5 * $(getconf CLK_TCK) / 100))
figure "  inject, until it is in force: the longest of 100" most 5 ms "$(inject_ms)" 1
figure "  down" most 0.3 s "$(seconds "$command" down "$name")" 1

# over the socket itself, while flows and programs go on
cat >"$scratch/busy.yaml" <<'END'
name: busy
clock: {wall: {slowdown: 100}}
topology: {fat_tree: {k: 4}, rate: 10Gbps, delay: 10us}
workload:
  - permutation: {message: 100KB, repeat: 100000}
END
if up "$scratch/busy.yaml" && "$command" start "$name" >/dev/null; then
	python3 tests/lib/live_faults.py "/run/fabricbed/live/$name/control" 1000 "$scratch/times" | grep -v '^ok' && status=1
	answered=$(sort -g "$scratch/times" | awk '{ v[NR] = $1 } END { if (NR == 1000) print v[990] }')
	figure "inject, 1,000 at random under load: the 99th percentile" most 5 ms "$answered" 1000
	down
else
	status=1
fi
exit $status
