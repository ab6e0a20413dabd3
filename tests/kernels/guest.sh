#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is tried on every kernel of tests/kernels/check.sh, in the machine that it boots. The machine has no /etc/hosts.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

try "$fabricbed" doctor
exits "doctor: the kernel dataplane is ready" 0
like "doctor: the kernel is not too old" "$out" "*ok       kernel *Linux $(uname -r)*"
like "doctor: live fabrics are possible" "$out" "*ok       TAP *"
ip -o link >links.before

# ---- every scenario that ships, variant by variant

while read -r title hash; do
	file=${title%%/*}
	for plane in inline kernel; do
		if [ ! -d "$file-$plane" ]; then
			path=$scenarios/$file.yaml
			[ -f "$path" ] || path=$root/tests/golden/$file.yaml
			try "$fabricbed" run "$path" --dataplane $plane --set name="$name" --set clock=stepped \
				--out "$file-$plane" --quiet
			exits "$file: runs on $plane" 0
		fi
		same "$title: $plane gives the known trace" \
			"$(figure "$file-$plane/${title#"$file"}/summary.json" trace_hash)" "$hash"
	done
done <"$root/tests/golden/traces.txt"

# ---- a live fabric

programs() {
	"$bpftool" prog show | grep -q fabricbed_
}
inside() { # TITLE STATUS HOST COMMAND...
	local title=$1 expected=$2

	shift 2
	try "$fabricbed" exec "$name" "$@"
	exits "live: $title" "$expected"
}
by_hand() { # TITLE WORDS...
	local title=$1

	shift
	try "$fabricbed" "$@"
	exits "live: $title" 0
}
answers() { # HOST OPTION...
	"$fabricbed" exec "$name" h0 -- ping -c 1 -W 1 "$@" >/dev/null 2>&1
}

holds "there is no /etc/hosts" test ! -e /etc/hosts
by_hand "up" up "$scenarios/lab.yaml" --name "$name" --out live --quiet
holds "its programs are in the kernel" programs
inside "ping by name" 0 h0 -- ping -c 3 -i 0.2 -W 10 h3
inside "ping by name, IPv4" 0 h0 -- ping -4 -c 3 -i 0.2 -W 10 h3
by_hand "both of a leaf's links die by hand" inject "$name" link 'leaf0-spine*' down
like "live: they are dead" "$out" "*leaf0-spine0, leaf0-spine1 are down since*"
inside "ping has no way" 1 h0 -- ping -c 2 -i 0.2 -W 1 h3
by_hand "they are healed" heal "$name" all
holds "live: ping has one again" wait_for answers h3
by_hand "a message by STrack" start "$name"
by_hand "it ends" until "$name" flows
by_hand "the fabric goes on" go "$name"
by_hand "down" down "$name"
same "live: the message came through" "$(figure live/summary.json flows.count) $(figure live/summary.json flows.unfinished)" "1 0"

# ---- nothing stays

tap_empty "nothing is left: names" "$(leftovers; ls -A /run/netns)"
same "nothing is left: interfaces" "$(ip -o link)" "$(cat links.before)"
no_programs() {
	! programs
}
holds "nothing is left: programs" wait_for no_programs
tap_done
