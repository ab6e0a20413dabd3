# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What was asked beside what was measured, a row each: ". tests/bench/table.sh".
row() { # WHAT ASKED MEASURED
	printf '%-66s %16s %18s\n' "$1" "$2" "$3"
}

# An empty value: it could not be measured.
figure() { # WHAT LEAST|MOST LIMIT UNIT VALUE SCALE
	local reached

	if [ -z "$5" ]; then
		row "$1" "$([ "$2" = least ] && echo '>=' || echo '<=') $3 $4" "not measured"
		return
	fi
	reached=$(awk -v v="$5" -v s="$6" -v l="$3" -v k="$2" -v u="$4" 'BEGIN {
		v /= s
		printf "%.*f %s%s", (v < 1 ? 3 : v < 100 ? 2 : 0), v, u, ((k == "least" ? v >= l : v <= l) ? "" : "  !")
	}')
	row "$1" "$([ "$2" = least ] && echo '>=' || echo '<=') $3 $4" "$reached"
}
