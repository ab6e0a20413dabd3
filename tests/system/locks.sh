#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who waits for whom: nobody but root can hold fabricbed up, who waits says for what, and Ctrl-C ends a wait, a set-up and a run
# without anything being left.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

# ---- the set-up of a large fabric

cat >large.yaml <<END
name: $name
topology: {fat_tree: {k: 32}}
workload: [{permutation: {message: 64KB, count: 20}}]
END
"$fabricbed" run large.yaml --dataplane inline --quiet --out large </dev/null 2>large.err &
children=($!)
setting_up() { [ -e large/.fabricbed ]; }
holds "a large fabric is being set up" wait_for setting_up
kill -INT "${children[0]}"
wait "${children[0]}"
same "Ctrl-C ends the set-up: exit status" $? 4
children=()
like "Ctrl-C ends the set-up: the message" "$(cat large.err)" "*interrupted*"
same "and leaves nothing but results of a run that had begun" "$(ls -A large 2>/dev/null | grep -v summary)" \
	"$([ -e large/summary.json ] && ls -A large | grep -v summary)"

if ! can_build; then
	tap_skip "locks" "$reason"
	tap_done
	exit
fi
hello=$scenarios/hello.yaml
kernel() { # OPTION...
	"$fabricbed" run "$hello" --set name="$name" --quiet --out out "$@"
}
try kernel
exits "a run" 0

# ---- nobody

chmod 755 /run/fabricbed /run/fabricbed/live 2>/dev/null
mkdir -p /run/fabricbed/live
chmod 755 /run/fabricbed /run/fabricbed/live
try "$fabricbed" up "$hello" --name "$name" --quiet --out up
exits "up" 0
for folder in /run/fabricbed /run/fabricbed/live; do
	same "an older version's $folder is closed to others" "$(stat -c %a "$folder")" 700
	same "its lock, too" "$(stat -c %a "$folder/.lock")" 600
done
if drop_root && command -v flock >/dev/null; then
	for path in /run/fabricbed /run/fabricbed/.lock /run/fabricbed/live /run/fabricbed/live/.lock "/run/fabricbed/$name"; do
		try "${nobody[@]}" flock -n -s "$path" true
		holds "nobody can't lock $path" test "$status" -ne 0
	done
else
	tap_skip "nobody locks nothing" "setpriv or flock is not installed"
fi
# who had it open before
exec 9</run/fabricbed
flock -s 9
try kernel
exits "a lock on the folder holds nobody up" 0
exec 9<&-
try "$fabricbed" down "$name"
exits "down" 0

# ---- root

if command -v flock >/dev/null; then
	echo "$$" >/run/fabricbed/.lock
	exec 9</run/fabricbed/.lock
	flock 9
	for signal in INT TERM; do
		: >wait.err # what the one before was told must not be taken for this one's
		# no function: its shell would get the signal
		"$fabricbed" run "$hello" --set name="$name" --quiet --out out 9<&- </dev/null 2>wait.err &
		children=($!)
		told() { grep -q "waiting for process $$, which holds the lock /run/fabricbed/.lock" wait.err; }
		holds "run says what it waits for" wait_for told
		kill -$signal "${children[0]}"
		wait "${children[0]}"
		same "SIG$signal ends the wait: exit status" $? 4
		like "SIG$signal ends the wait: the message" "$(cat wait.err)" "*interrupted; it waited for the lock*"
	done
	: >wait.err
	"$fabricbed" up "$hello" --name "$name" --quiet --out up 9<&- </dev/null 2>wait.err &
	children=($!)
	holds "up says what it waits for" wait_for told
	flock -u 9
	wait "${children[0]}"
	same "up goes on when it has the lock" $? 0
	children=()
	exec 9<&-
	try "$fabricbed" down "$name"
	exits "and down again" 0
else
	tap_skip "root waits" "there is no flock"
fi
same "nothing is left" "$(leftovers)" ""

# ---- no patience

"$fabricbed" run "$scenarios/permutation.yaml" --set name="$name" --set workload.0.permutation.message=128MB --quiet \
	--out out </dev/null 2>twice.err &
children=($!)
holds "a long run" wait_for test -e out/events.jsonl.part
kill -INT "${children[0]}"
kill -INT "${children[0]}"
wait "${children[0]}"
same "Ctrl-C twice: exit status" $? 4
children=()
same "Ctrl-C twice: nothing is left" "$(leftovers)" ""

"$fabricbed" run "$scenarios/permutation.yaml" --set name="$name" --set workload.0.permutation.message=128MB --quiet \
	--out out </dev/null 2>/dev/null &
children=($!)
holds "another" wait_for test -e out/events.jsonl.part
kill -KILL "${children[0]}"
wait "${children[0]}" 2>/dev/null
children=()
try "$fabricbed" list
like "list shows what a killed run has left" "$out" "*$name  left over*$name: * namespaces of a run that was killed*"
try "$fabricbed" list --json
holds "as JSON" python3 -c '
import json, sys
row = [r for r in json.load(open(".out")) if r["name"] == sys.argv[1]][0]
assert row["state"] == "left over" and row["pid"] is None, row' "$name"
try "$fabricbed" down "$name"
exits "down removes it" 0
same "nothing is left over" "$(leftovers)" ""
tap_done
