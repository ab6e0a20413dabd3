# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034
#
# For tests of the command as a user meets it, in bash: ". tests/lib/command.sh" after tap.sh. It makes a
# scratch folder with a random name, goes there, and on any exit takes away that folder, the
# processes named in $children, and all fabrics, live ones too, whose name begins with $name.
#
# $root       the source tree          $scenarios  its scenario files
# $fabricbed  the program              $scratch    the scratch folder, where the shell is
# $name       a random name for fabrics: --set name=$name
root=$PWD
scenarios=$root/scenarios
fabricbed=$(realpath "${BUILD:-build}/fabricbed")
scratch=$(mktemp -d) || exit 1
name=t$(printf '%04x%04x' $RANDOM $RANDOM)
children=()
bpftool=$(command -v bpftool || echo /usr/sbin/bpftool)
chmod 755 "$scratch"
cd "$scratch" || exit 1

leave() {
	local status=$? pid live netns record

	trap - EXIT
	for live in /run/fabricbed/live/"$name"*; do
		[ -d "$live" ] && "$fabricbed" down "${live##*/}" --discard >/dev/null 2>&1 </dev/null
	done
	for pid in "${children[@]}"; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	for netns in /run/netns/"$name"*; do
		[ -e "$netns" ] && ip netns del "${netns##*/}"
	done
	for record in /run/fabricbed/"$name"*; do
		[ -e "$record" ] && rm -f "$record"
	done
	cd / && rm -rf "$scratch"
	exit "$status"
}
trap leave EXIT
trap 'exit 1' INT TERM HUP

# Runs a command: $status, $out and $err are what came of it.
try() { # COMMAND...
	"$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null
	status=$?
	out=$(tr -d '\0' <"$scratch/.out")
	err=$(tr -d '\0' <"$scratch/.err")
}

# One case: the last try() ended with this status.
exits() { # NAME STATUS
	if [ "$status" = "$2" ]; then
		tap_ok "$1"
	else
		tap_fail "$1" "status $status instead of $2"$'\n'"$out"$'\n'"$err"
	fi
}

# One case: a text matches a pattern of the shell's.
like() { # NAME TEXT PATTERN
	# shellcheck disable=SC2053
	if [[ $2 == $3 ]]; then tap_ok "$1"; else tap_fail "$1" "not like $3:"$'\n'"$2"; fi
}

# One case: two texts are the same.
same() { # NAME ONE OTHER
	if [ "$2" = "$3" ]; then tap_ok "$1"; else tap_fail "$1" "$(diff <(echo "$2") <(echo "$3"))"; fi
}

# One case: a command succeeds; else what it printed is shown.
holds() { # NAME COMMAND...
	local what=$1 seen

	shift
	if seen=$("$@" 2>&1); then tap_ok "$what"; else tap_fail "$what" "$*"$'\n'"$seen"; fi
}

# A figure of a summary: figure runs/x/summary.json flows.fct_us.max
figure() { # FILE PATH
	python3 - "$1" "$2" <<-'END'
		import json, sys
		value = json.load(open(sys.argv[1]))
		for key in sys.argv[2].split('.'):
		    value = value[key]
		print(value)
	END
}

# Waits until a command succeeds, at most a minute; false: it never did.
wait_for() { # COMMAND...
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.01
	done
}

# What there is of fabrics whose names begin with $name: namespaces, records, live ones' folders.
leftovers() {
	local entry

	for entry in /run/netns/"$name"* /run/fabricbed/"$name"* /run/fabricbed/live/"$name"*; do
		[ -e "$entry" ] && echo "$entry"
	done
	return 0
}

# The host's own network, for comparing: interfaces, addresses, routes, rules, settings.
host_network() {
	ip -o link show | sed 's/ qlen.*//'
	ip -o address show
	ip route show table all
	ip -6 route show table all | sed 's/ expires [0-9a-z]*//'
	ip rule show
	sysctl -a 2>/dev/null | grep '^net\.'
}

# The kernel's numbers of the XDP program of an interface of a node of the fabric $name, and of its maps: "prog N" or
# "map N" a line.
bpf_objects() { # NODE INTERFACE
	local id

	id=$(ip netns exec "$name-$1" ip -j -d link show "$2" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["xdp"]["prog"]["id"])')
	echo "prog $id"
	"$bpftool" -j prog show id "$id" |
		python3 -c 'import json, sys; [print("map", i) for i in json.load(sys.stdin)["map_ids"]]'
}

# Whether none of these is there any more.
bpf_gone() { # OBJECTS
	local kind id

	while read -r kind id; do
		"$bpftool" -j "$kind" show id "$id" >/dev/null 2>&1 && return 1
	done <<<"$1"
	return 0
}

is_root() {
	[ "$(id -u)" = 0 ]
}

# Whether kernel fabrics can be tried here; if not, why is in $reason.
can_build() {
	reason=
	is_root || reason="needs root"
	[ -n "$reason" ] || "$fabricbed" doctor >/dev/null || reason="see 'fabricbed doctor'"
	[ -z "$reason" ]
}

# Commands that run as a user without root: "${nobody[@]}" COMMAND..., which is nothing where the tests are not root's. False,
# and a case is skipped, if that can't be.
drop_root() {
	nobody=()
	is_root || return 0
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	command -v setpriv >/dev/null && return
	tap_skip "as nobody" "setpriv is not installed"
	return 1
}
