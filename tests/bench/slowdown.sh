#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Whether the slowdown that is recommended does: an overloaded fabric on the wall clock, then the same at the slowdown that it
# was told, and at "auto", TRIES times each (10). Only an idle box shows it; seconds that other processes are to blame for are told.
set -u
cd "$(dirname "$0")/../.." || exit 1
command=$(realpath "${BUILD:-build}/fabricbed")
tries=${TRIES:-10}
scratch=$(mktemp -d) || exit 1
name=slow$$
trap '"$command" down "$name" >/dev/null 2>&1; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
[ "$(id -u)" = 0 ] && "$command" doctor >/dev/null || { echo "  needs root, and what 'fabricbed doctor' says"; exit 0; }
cat >overload.yaml <<'END'
name: overload
clock: wall
topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}, rate: 10Gbps, delay: 10us}
workload: [{permutation: {message: 1GB, repeat: 10}}]
END

# Two seconds of it: "VERDICT SECONDS-OF-ITS-OWN-LOAD NEXT-SLOWDOWN".
look() { # SLOWDOWN
	"$command" up overload.yaml --name "$name" --set "clock={wall: {slowdown: $1}}" --quiet --out results --start >/dev/null || return
	sleep 2
	"$command" show "$name" --json | python3 -c '
import json, sys
f = json.load(sys.stdin)["fidelity"]
print(f["verdict"], round(f["degraded_s"] - f["others_degraded_s"], 1), f["sufficient_clock_slowdown"] or f["clock_slowdown"])'
	"$command" down "$name" >/dev/null
}

declare -A faithful=() own=() last=()
note() { # KIND VERDICT OWN SLOWDOWN
	[ "$2" != faithful ] || faithful[$1]=$((${faithful[$1]:-0} + 1))
	[ "$3" != 0.0 ] || own[$1]=$((${own[$1]:-0} + 1))
	last[$1]=$4
}
for ((i = 0; i < tries; i++)); do
	read -r _ _ next <<<"$(look 1)"
	read -r verdict load _ <<<"$(look "$next")"
	note recommended "$verdict" "$load" "$next"
	read -r verdict load next <<<"$(look auto)"
	note auto "$verdict" "$load" "$next"
done
for kind in recommended auto; do
	printf '  %-12s faithful %d of %d, without a second degraded by its own load %d of %d; the latest slowdown %s\n' "$kind" \
		"${faithful[$kind]:-0}" "$tries" "${own[$kind]:-0}" "$tries" "${last[$kind]:-none}"
done
