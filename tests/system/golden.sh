#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The trace of each shipped scenario, and of those of tests/golden, is the one in tests/golden/traces.txt, of each variant where it compares
# some. A change of it may well be meant: then "make golden" writes the file anew, and the commit says what changed the trace.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

ran=
while read -r title hash; do
	file=${title%%/*}
	if [ "$file" != "$ran" ]; then
		rm -rf result
		path=$scenarios/$file.yaml
		[ -f "$path" ] || path=$root/tests/golden/$file.yaml
		try "$fabricbed" run "$path" --dataplane inline --set clock=stepped --out result --quiet
		exits "$file runs" 0
	fi
	ran=$file
	same "$title: its trace is the known one" \
		"$(figure "result/${title#"$file"}/summary.json" trace_hash)" "$hash"
done <"$root/tests/golden/traces.txt"
# whatever the machine does meanwhile: the clock says when things are done, and not what
for file in hello link-failure; do
	try "$fabricbed" run "$scenarios/$file.yaml" --dataplane inline --set clock=wall --out wall --quiet
	exits "$file runs on the wall clock" 0
	same "$file: its trace is the same there" "$(figure wall/summary.json trace_hash)" \
		"$(sed -n "s/^$file //p" "$root/tests/golden/traces.txt")"
	rm -rf wall
done
same "every scenario has a known trace" "$(cut -d' ' -f1 "$root/tests/golden/traces.txt" | cut -d/ -f1 | uniq)" \
	"$(basename -s .yaml -a "$scenarios"/*.yaml "$root"/tests/golden/*.yaml)"
words=$(sed -n 's/^	X(BALANCE_[A-Z_]*, [a-z_]*, "\([a-z-]*\)",.*/\1/p' "$root/bpf/abi/policies.h" | sort)
same "every load-balancing policy has a known trace" "$(sed -n 's,^policies/\(.*\) .*,\1,p' "$root/tests/golden/traces.txt" | grep -v tiers | sort)" "$words"
tap_done
