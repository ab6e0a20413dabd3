#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Random scenarios over all keys (tests/random): what validate takes, runs; the kernel, the inline dataplane, the same under ASan and
# UBSan and the written scenario.yaml give the same bytes; packets balance; what is lossless loses nothing.
# 60 of them; FABRICBED_LONG: 3,000. FABRICBED_SEEDS="FIRST COUNT": others. FABRICBED_KEEP: a folder for what failed.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
# among these 60 there is something of each kind
seeds="200 60"
[ -z "${FABRICBED_LONG-}" ] || seeds="1 3000"
read -r first count <<<"${FABRICBED_SEEDS:-$seeds}"
fabric=$name
if ! can_build; then
	tap_skip "every random scenario is the same on both dataplanes" "$reason"
	fabric=
fi
while IFS= read -r line; do
	case $line in
	"ok "*) tap_ok "${line#ok }" ;;
	"not ok "*) tap_fail "${line#not ok }" ;;
	*) echo "$line" ;;
	esac
done < <(python3 "$root/tests/random/runs.py" "$fabricbed" "$fabricbed-asan" "$fabric" "$first" "${count:-60}" 2>&1)
tap_done
