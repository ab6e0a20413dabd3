#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The recipes of docs/contributing.md: each has a patch in tests/recipes/ that follows it. All patches apply to this tree. In the
# long form they are applied to a copy, which must build once with all of them, and run what they add on both dataplanes.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! command -v patch >/dev/null; then
	tap_skip "the recipes' patches" "patch is not installed"
	tap_done
	exit
fi
recipes=$root/tests/recipes
mkdir tree
cp -r "$root"/{Makefile,bpf,userspace,orchestrator,scenarios} tree
for recipe in "$recipes"/*.patch; do
	title=$(basename "$recipe" .patch)
	holds "$title: the patch applies" patch -d tree -p1 --forward --no-backup-if-mismatch -i "$recipe"
	holds "$title: docs/contributing.md has the recipe" grep -q "tests/recipes/$title.patch" "$root/docs/contributing.md"
done
if [ -z "${FABRICBED_LONG-}" ]; then
	tap_done
	exit
fi

holds "a tree with all of them builds" make -s -C tree -j"$(nproc)" BUILD=build LTO= all
fabricbed=$scratch/tree/build/fabricbed
try "$fabricbed" validate "$recipes/recipes.yaml"
exits "what they add is valid" 0
inline=
for plane in inline kernel; do
	if [ $plane = kernel ] && ! can_build; then
		tap_skip "what they add runs on kernel" "$reason"
		continue
	fi
	try "$fabricbed" run "$recipes/recipes.yaml" --dataplane $plane --set name="$name" --quiet --out $plane
	exits "what they add runs on $plane" 0
	inline=${inline:-$(figure $plane/summary.json trace_hash)}
	same "with one trace" "$(figure $plane/summary.json trace_hash)" "$inline"
	same "the key counts: no sample before 10 us" "$(awk -F, 'NR == 2 { print ($1 >= 10) }' $plane/queues.csv)" 1
done
try "$fabricbed" run inline/scenario.yaml --dataplane inline --quiet --out again
same "the written scenario repeats it" "$(figure again/summary.json trace_hash)" "$inline"
like "help scenario has the transport" "$("$fabricbed" help scenario host.transport.selective)" "*window *under way at most (64)*"
like "help scenario has the paths" "$("$fabricbed" help scenario host.transport.assembled.paths)" "*random *a path at random*"
same "which is the one that ran" "$(grep -c 'window: 32' inline/scenario.yaml)" 1
printf 'name: star\ntopology: {star: {hosts: 8}}\nworkload: [{permutation: {message: 100KB}}]\nexpect: [{metric: flows.count, equals: 8}]\n' >star.yaml
try "$fabricbed" run star.yaml --dataplane inline --quiet --out star
exits "the topology runs" 0
try "$fabricbed" run star/scenario.yaml --dataplane inline --quiet --out star_again
same "and is written" "$(figure star_again/summary.json trace_hash)" "$(figure star/summary.json trace_hash)"
like "help scenario has the workload" "$("$fabricbed" help scenario workload.ring)" "*step *distance of sender and receiver*"
tap_done
