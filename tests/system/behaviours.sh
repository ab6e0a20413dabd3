#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each behaviour of the switches, tests/behaviours/*.yaml: what it is for happens, and the kernel's summary is the
# inline dataplane's to the last figure but those of the machine. FABRICBED_LONG: 20 seeds instead of 1.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
seeds=1
[ -z "${FABRICBED_LONG-}" ] || seeds=20

# What a run says that is not of the machine that it ran on, in $told; a case if it fails. An unmet expectation (status 1) is
# looked at for the seed of the file alone.
tell() { # TITLE FILE DATAPLANE SEED
	try "$fabricbed" run "$2" --dataplane "$3" --seed "$4" --set name="$name" --out result --quiet
	told=
	case $status in
	0 | 1)
		told=$(python3 "$root/tests/random/machine.py" <result/summary.json)$'\n'$(cat result/flows.csv result/events.jsonl)
		;;
	*) tap_fail "$1 runs on $3" "status $status"$'\n'"$err" ;;
	esac
}

for file in "$root"/tests/behaviours/*.yaml; do
	title=$(basename "$file" .yaml)
	for ((seed = 1; seed <= seeds; seed++)); do
		tell "$title" "$file" inline $seed
		inline=$told
		[ $seed != 1 ] || exits "$title: what it is for happens" 0
		if can_build; then
			tell "$title" "$file" kernel $seed
			same "$title, seed $seed: kernel and inline tell the same" "$inline" "$told"
		else
			tap_skip "$title, seed $seed: kernel and inline tell the same" "$reason"
		fi
	done
done
tap_done
