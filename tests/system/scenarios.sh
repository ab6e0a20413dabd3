#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every scenario that ships: it is valid, its expectations hold, and both dataplanes tell one story.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

# The folders with results of runs: one, or one a variant where the scenario compares some.
folders() { # FOLDER
	if [ -e "$1/compare.json" ]; then printf '%s\n' "$1"/*/; else echo "$1"; fi
}

# The trace hash of a run, or of all its variants; a case if it does not end well. hash_of DATAPLANE FILE OPTION...
hash_of() {
	local plane=$1 file=$2 folder

	shift 2
	rm -rf result
	# those for live fabrics follow the wall's clock, which is the machine's
	try "$fabricbed" run "$file" --dataplane "$plane" --set name="$name" --set clock=stepped \
		--out result --quiet "$@"
	hash=
	if [ "$status" = 0 ]; then
		hash=$(for folder in $(folders result); do figure "$folder/summary.json" trace_hash; done)
	else
		tap_fail "${file##*/} $* runs on $plane" "status $status"$'\n'"$err"
	fi
}

# One scenario, whole or shrunk: both dataplanes agree, the seed counts.
compare() { # TITLE FILE OPTION...
	local title=$1 file=$2 inline folder

	shift 2
	hash_of inline "$file" "$@"
	inline=$hash
	for folder in $(folders result); do
		holds "$title: inline leaves every kind of result in $folder" \
			test -s "$folder/summary.json" -a -s "$folder/flows.csv" \
			-a -f "$folder/events.jsonl" -a -s "$folder/scenario.yaml"
	done
	if can_build; then
		hash_of kernel "$file" "$@"
		same "$title: kernel and inline give one trace" "$inline" "$hash"
	else
		tap_skip "$title: kernel and inline give one trace" "$reason"
	fi
	hash_of inline "$file" "$@"
	same "$title: again, and it is the same" "$inline" "$hash"
	hash_of inline "$file" "$@" --seed 987654321
	like "$title: another seed, another trace" "$hash" "?*"
	holds "$title: the seed is felt" test "$hash" != "$inline"
}

# What was written as the scenario that was run must load to the same run.
reload() { # TITLE FILE
	local folder

	hash_of inline "$2" --seed 5
	rm -rf first
	mv result first
	for folder in $(folders first); do
		hash_of inline "$folder/scenario.yaml"
		same "$1: scenario.yaml repeats the run in $folder" \
			"$(figure "$folder/summary.json" trace_hash)" "$hash"
	done
}

for file in "$scenarios"/*.yaml; do
	title=$(basename "$file" .yaml)
	try "$fabricbed" validate "$file"
	exits "$title is valid" 0
	same "$title: the file is named as the scenario" "${out%%:*}" "$title"
	compare "$title" "$file"
	reload "$title" "$file"
done

# What no scenario has, on the kernel's real frames: real bytes, IPv6, a link that is slow, then dead for good.
variant() { # TITLE FILE OPTION...
	compare "$@" --set 'expect=[{metric: flows.unfinished, equals: 0}]'
}
variant "small packets" "$scenarios/link-failure.yaml" --set topology.mtu=1024 \
	--set host.payload=full --set workload.0.permutation.message=200KB
variant "IPv6" "$scenarios/link-failure.yaml" --set host.ip=6 --set workload.0.permutation.message=500KB
variant "a slow link" "$scenarios/link-failure.yaml" --set faults.0.do.rate=10%
variant "a link that stays dead" "$scenarios/link-failure.yaml" --set faults.0.until=never
variant "parallel links" "$scenarios/oversubscribed.yaml" --set topology.leaf_spine.links_per_pair=2 \
	--set topology.leaf_spine.hosts_per_leaf=4
same "nothing is left" "$(leftovers)" ""
tap_done
