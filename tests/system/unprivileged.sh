#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a user without root meets, and a root whose container took some of it away.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! drop_root; then
	tap_done
	exit
fi

# the build folder and the tree may be closed to others
cp "$fabricbed" fabricbed
cp "$scenarios/hello.yaml" hello.yaml
chmod 755 fabricbed
chmod 644 hello.yaml
mkdir mine
! is_root || chown 65534:65534 mine
cd mine || exit 1
as_nobody() {
	try "${nobody[@]}" ../fabricbed "$@"
}

as_nobody run ../hello.yaml --dataplane kernel
exits "run --dataplane kernel: exit status" 3
like "run --dataplane kernel: what is missing" "$err" "*CAP_NET_ADMIN*"
like "run --dataplane kernel: the remedy" "$err" "*remedy: run as root*"
like "run --dataplane kernel: the way out" "$err" "*--dataplane inline*"
same "run --dataplane kernel: nothing was made" "$(ls)" ""
as_nobody run ../hello.yaml --output unasked
exits "run: exit status" 0
like "run: the dataplane" "$err" "*note: on the inline dataplane, since you are not root*"
same "run: which it was" "$(figure unasked/summary.json dataplane)" inline
as_nobody run ../hello.yaml --output unasked --quiet
same "run --quiet: no note" "$out$err" ""

as_nobody run ../hello.yaml --dataplane inline
same "run --dataplane inline: no note" "$err" ""
exits "run --dataplane inline: exit status" 0
like "run --dataplane inline: the result" "$out" "*1 of 1 finished*"
holds "run --dataplane inline: the folder" test -s runs/hello-1/summary.json
as_nobody run ../hello.yaml --dataplane inline --quiet
try "$fabricbed" run ../hello.yaml --dataplane inline --quiet --out "$scratch/root"
same "run --dataplane inline: the same trace as root's" \
	"$(figure runs/hello-2/summary.json trace_hash)" "$(figure "$scratch/root/summary.json" trace_hash)"

as_nobody run ../hello.yaml --dataplane inline --out /proc/results
exits "a folder that can't be made" 2
like "a folder that can't be made is named" "$err" "*/proc/results*"
mkdir closed
chmod 555 closed
! is_root || chown 0:0 closed
as_nobody run ../hello.yaml --dataplane inline --out closed
like "a folder that can't be written to is named" "$err" "*closed*Permission denied*"
holds "a folder that can't be written to is no success" test "$status" -ne 0
chmod 000 closed
as_nobody run closed/x.yaml --dataplane inline
exits "a scenario that can't be read" 2
like "a scenario that can't be read is named" "$err" "closed/x.yaml: *Permission denied*"

as_nobody doctor
exits "doctor: exit status" 3
like "doctor: what is missing" "$out" "*MISSING*privileges*CAP_NET_ADMIN*"
like "doctor: the remedy" "$out" "*remedy: run as root*"
like "doctor: the verdict" "$out" "*kernel dataplane: not possible here*inline dataplane: ready*"
as_nobody doctor --json
exits "doctor --json: exit status" 3
holds "doctor --json: a remedy for all that is missing" python3 -c '
import json, sys
found = json.loads(sys.argv[1])
assert found["kernel_dataplane"] is False and found["inline_dataplane"] is True
missing = [p for p in found["probes"] if p["required"] and not p["ok"]]
assert missing and all(p["remedy"] for p in missing), missing' "$out"

as_nobody validate ../hello.yaml
exits "validate" 0
as_nobody graph ../hello.yaml
exits "graph" 0
as_nobody graph ../hello.yaml --output picture.dot
exits "graph to a file" 0
holds "the file has the graph" grep -q '^graph fabric' picture.dot

# root without one of its privileges, as containers have it: told apart from a fault of the run
for capability in net_admin net_raw sys_admin; do
	if ! can_build; then
		tap_skip "root without $capability" "$reason"
		continue
	fi
	try setpriv --bounding-set=-$capability "$fabricbed" run ../hello.yaml --set name="$name"
	exits "root without $capability: exit status" 3
	like "root without $capability: what is missing" "$err" "*CAP_${capability^^}*remedy*inline*"
done
if can_build; then
	# CAP_SYS_ADMIN includes CAP_BPF: what run can do, doctor must not deny
	try setpriv --bounding-set=-bpf "$fabricbed" run ../hello.yaml --set name="$name" --quiet
	runs=$status
	try setpriv --bounding-set=-bpf "$fabricbed" doctor
	same "root without bpf: run and doctor agree" "$status" "$runs"
fi
same "nothing is left" "$(leftovers)" ""
tap_done
