#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The tutorial in docs/live.md: what a reader types works. In its blocks of "```console" the lines that begin with "# " are
# commands. All run in their order, in one shell, in a scratch folder that looks like the source tree; the fabric is not called lab
# but by a random name. A block that needs a program which is not here is passed over.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! can_build; then
	tap_skip "the tutorial" "$reason"
	tap_done
	exit
fi

mkdir build scenarios
ln -s "$fabricbed" build/fabricbed
cp "$root/scenarios/incast.yaml" scenarios/
sed "s/^name: lab$/name: $name/" "$scenarios/lab.yaml" >scenarios/lab.yaml

# "NUMBER COMMAND" a line, the number being the block's. The fabric's name is a word of its own, and lab.yaml is none.
awk '/^```/ { inside = /^```console/; block += inside; next }
	inside && /^# / { print block, substr($0, 3) }' "$root/docs/live.md" |
	sed -E "s/\blab(\W|$)/$name\1/g; s/$name\.yaml/lab.yaml/g" >commands
# a reader's three seconds of traffic need not be a test's
[ -n "${FABRICBED_LONG-}" ] || sed -i -E "s/(iperf3 .*-t )[0-9]+/\11/" commands

missing() { # BLOCK
	local program

	for program in ping iperf3 tshark; do
		if grep -E "^$1 .*\b$program\b" commands | grep -qv -- "$program\.txt" && ! command -v "$program" >/dev/null; then
			echo "$program"
			return
		fi
	done
}

# In this shell, for its variables and its jobs. A line that ends with "&" is a job; "wait" asks for their statuses.
jobs_begun=()
follow() { # COMMAND
	local one worst=0

	if [ "$1" = wait ]; then
		for one in "${jobs_begun[@]}"; do
			wait "$one" || worst=$?
		done
		jobs_begun=()
		return $worst
	fi
	eval "$1" || return
	# what is ended by hand has no status to ask for
	[[ $1 != 'kill $!' ]] || unset 'jobs_begun[-1]'
	[[ $1 != *'&' ]] || { jobs_begun+=($!) && children+=($!); }
	# a reader is slower than a server in the background is in beginning to listen
	if [[ $1 =~ exec\ ([^ ]+\ [^ ]+)\ --\ iperf3\ -s(.*-p\ ([0-9]+))? ]]; then
		wait_for listens "${BASH_REMATCH[1]}" "${BASH_REMATCH[3]:-5201}"
	fi
}

listens() { # FABRIC-AND-HOST PORT
	# shellcheck disable=SC2086
	[ -n "$("$fabricbed" exec $1 -- ss -Hltn "sport = :$2")" ]
}

skipped= lack=
while read -r block line <&3; do
	if [ "$block" != "$skipped" ]; then
		lack=$(missing "$block")
	fi
	if [ -n "$lack" ]; then
		[ "$block" = "$skipped" ] || tap_skip "block $block" "needs $lack"
		skipped=$block
		continue
	fi
	if follow "$line" >.seen 2>&1 </dev/null; then
		tap_ok "$line"
	else
		tap_fail "$line" "status $?"$'\n'"$(cat .seen)"
	fi
done 3<commands
holds "there is a tutorial" test "$(wc -l <commands)" -gt 20
same "nothing is left" "$(leftovers)" ""
tap_done
