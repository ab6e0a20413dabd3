# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# TAP for the checks that are scripts for bash: ". tests/lib/tap.sh", then one of these a case, then tap_done.
tap_cases=0 tap_failed=0

tap_ok() { # NAME
	tap_cases=$((tap_cases + 1))
	echo "ok $tap_cases - $1"
}

tap_fail() { # NAME [WHAT-WAS-SEEN]
	tap_cases=$((tap_cases + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_cases - $1"
	[ -z "${2-}" ] || printf '%s\n' "${2%$'\n'}" | sed 's/^/# /'
}

tap_skip() { # NAME REASON
	tap_cases=$((tap_cases + 1))
	echo "ok $tap_cases - $1 # SKIP $2"
}

# Passes if the text is empty; otherwise the text is what was seen.
tap_empty() { # NAME TEXT
	if [ -z "$2" ]; then tap_ok "$1"; else tap_fail "$1" "$2"; fi
}

tap_done() {
	echo "1..$tap_cases"
	[ "$tap_failed" = 0 ]
}
