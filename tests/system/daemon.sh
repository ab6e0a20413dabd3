#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The life of live fabrics: up, list, exec, down; killed, interrupted, refused, twice, two at once. Nothing of
# them stays, and the host's interfaces are as they were. FABRICBED_LONG: 100 crashes instead of 5.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
if ! can_build; then
	tap_skip "life and death of live fabrics" "$reason"
	tap_done
	exit
fi
live=/run/fabricbed/live
crashes=5
[ -z "${FABRICBED_LONG-}" ] || crashes=100

up() { # OPTION...
	try "$fabricbed" up "$scenarios/hello.yaml" --set name="$name" --set clock=wall --set expect=[] "$@"
}

process() { # of the fabric; nothing while there is none
	sed -n 's/^ *"pid": \([0-9]*\),*$/\1/p' "$live/$name/state.json" 2>/dev/null
}

# A program in the fabric's node h0 that can be told from all others; $program is its process when it is there.
mark=86$((RANDOM + 10000))
in_node() {
	"$fabricbed" exec "$name" h0 sleep "$mark" 2>/dev/null &
	children+=($!)
	program=
	wait_for find_program
}
find_program() {
	program=$(pgrep -xf "sleep $mark")
}

# Zombies are no longer there, but for their parent to notice: in some containers it never does.
is_gone() { # PID
	local state

	state=$(sed -n 's/^State:\s*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
	[ -z "$state" ] || [ "$state" = Z ]
}

all_left() {
	leftovers
	ls -d "$live/$name"* 2>/dev/null
	pgrep -xf "sleep $mark"
	pgrep -f "fabricbed up .*name=$name" | while read -r pid; do is_gone "$pid" || echo "process $pid"; done
}
# A process that has been told to end, or that nobody waits for any more, is still seen for a moment.
nothing_left() { # NAME
	wait_for is_all_gone
	tap_empty "$1: nothing is left" "$(all_left)"
}
is_all_gone() {
	[ -z "$(all_left)" ]
}
interfaces() {
	ip -o link show | sed 's/ qlen.*//'
}
before=$(interfaces)

# ---- up, list, exec, down

up
exits "up" 0
like "up tells what came up" "$out" "$name is up: 2 hosts, 1 switch, 2 links, in *(process $(process))*"
like "up tells how to look around" "$out" "*fabricbed exec $name h0 -- ping h1*fabricbed down $name*"
same "up: the folder is root's alone" "$(stat -c %a "$live/$name" "$live/$name/control")" $'700\n600'
same "up: nothing was said in the background" "$(cat "$live/$name/log")" ""
pid=$(process)
same "its session is its own" "$(ps -o sid= -p "$pid" | tr -d ' ')" "$pid"
same "it has no terminal" "$(ps -o tty= -p "$pid" | tr -d ' ')" "?"

try "$fabricbed" list
like "list" "$out" "*$name *running*$scratch/runs/$name-1*"
try "$fabricbed" list --json
same "list --json" "$(python3 -c '
import json, sys
row = [row for row in json.load(sys.stdin) if row["name"] == sys.argv[1]][0]
print(row["state"], row["hosts"], row["switches"], row["clock"], row["pid"])' "$name" <<<"$out")" \
	"running 2 1 wall $pid"

try "$fabricbed" exec "$name" h0 -- ping -c 1 -W 5 10.0.0.2
exits "exec: IPv4" 0
try "$fabricbed" exec "$name" h0 ping -c 1 -W 5 h1
exits "exec: names resolve, and options are the program's" 0
for shell in /bin/bash /bin/sh; do
	prompt=$(SHELL=$shell timeout 60 python3 - "$fabricbed" "$name" <<-'END'
		import os, pty, sys
		pid, terminal = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], [sys.argv[1], "exec", sys.argv[2], "h0"])
		seen = b""
		while b":h0)" not in seen:
		    seen += os.read(terminal, 4096)
		os.write(terminal, b"exit\n")
		print(seen.decode(errors="replace"))
		try:
		    while os.read(terminal, 4096):
		        pass
		except OSError:
		    pass
	END
	)
	like "exec: the prompt of $shell names the node" "$prompt" "*($name:h0)*"
done
same "exec: the node's own interfaces in /sys" \
	"$("$fabricbed" exec "$name" h0 -- ls /sys/class/net | tr '\n' ' ')" "eth0 link0 lo "
same "exec: it is told where it is" \
	"$("$fabricbed" exec "$name" h1 sh -c 'echo $FABRICBED_NODE')" h1
same "exec: the shell, if nothing is named" \
	"$(echo 'ip -o -4 addr show eth0 | tr -s " " | cut -d" " -f4' | SHELL=/bin/sh "$fabricbed" exec "$name" h1)" 10.0.0.2/8
same "exec: the machine's names are as they were" "$(grep -c 'h1$' /etc/hosts)" 0
# what is mounted on /etc for it lacks the machine's file of names
mkdir etc && cp /etc/nsswitch.conf /etc/passwd etc/
try unshare --mount sh -c 'umask 077; mount --bind etc /etc; exec "$0" "$@"' "$fabricbed" exec "$name" h0 ping -c 1 -W 5 h1
exits "exec: names resolve on a machine without /etc/hosts" 0
same "exec: which has an empty one now" "$(stat -c '%a %s' etc/hosts)" "644 0"
try "$fabricbed" exec "$name" h0 -- sh -c 'exit 7'
exits "exec: the program's exit status" 7
try "$fabricbed" exec "$name" h0 -- sh -c 'kill -PIPE $$'
exits "exec: of one that a closed pipe ended" 141
try "$fabricbed" exec "$name" h0 no-such-program
exits "exec: no such program" 127
try "$fabricbed" exec "$name" h0 /etc/passwd
exits "exec: no program" 126
try "$fabricbed" exec "$name" h00 true
exits "exec: no such node" 2
like "exec: the nearest node" "$err" "*no node 'h00'; did you mean 'h0'?*"

up
exits "up twice" 2
like "up twice: who is there, and what to do" "$err" "*$name is up (process $pid); 'fabricbed down $name'*--name $name-2*"
up --name "$name-2" --quiet
exits "up, by another name" 0
same "--quiet" "$out" ""
try "$fabricbed" down "$name-22"
exits "down: no such fabric" 2
like "down: the nearest fabric" "$err" "*there is no fabric '$name-22'; did you mean '$name-2'?*"
try "$fabricbed" down "$name-2"
exits "down of the other" 0
holds "the first one is still there" "$fabricbed" exec "$name" h0 -- ping -c 1 -W 5 h1

in_node
try "$fabricbed" down "$name"
exits "down" 0
like "down tells of packets and fidelity" "$out" "$name is down*packets *sent*fidelity *"
like "down tells where the results are" "$out" "*results *$scratch/runs/$name-1/*"
holds "the results are there" test -s "runs/$name-1/summary.json"
nothing_left "down, with a program in it"
try "$fabricbed" down "$name"
exits "down twice" 2
like "down twice: what is said" "$err" "*there is no fabric '$name'*"
try "$fabricbed" exec "$name" h0 true
exits "exec of what is gone" 2

# ---- refused

up --name live
exits "the reserved name" 2
up --name ../x
exits "no name" 2
up --set topology.rate=0
exits "a wrong scenario" 2
up --out /proc/no
exits "a folder that can't be made" 2
nothing_left "refused"
if command -v setpriv >/dev/null; then
	for words in "down $name" "exec $name h0 true"; do
		# shellcheck disable=SC2086
		try setpriv --reuid=65534 --regid=65534 --clear-groups bash -c '"$0" "$@"' "$fabricbed" $words
		# where the build folder is closed to others, the shell says so with 126
		[ "$status" = 126 ] || [ "$status" = 127 ] || exits "${words%% *} without root" 2
	done
fi

# ---- dying

up --json
same "up --json" "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])' <<<"$out")" "$(process)"
in_node
pid=$(process)
kill -KILL "$pid"
wait_for is_gone "$pid"
try "$fabricbed" list
like "killed: list says so" "$out" "*$name *crashed*$name: killed, or the machine ran out of memory*"
try "$fabricbed" exec "$name" h0 true
exits "killed: exec" 4
try "$fabricbed" down "$name"
exits "killed: down" 0
like "killed: what down says" "$out" "*$name was gone already: killed*programs *1*"
nothing_left "killed"

up
kill -SEGV "$(process)"
wait_for is_gone "$(process)"
try "$fabricbed" list
like "crashed: list has the reason" "$out" "*$name: crashed by signal 11 (segmentation fault)*"
up
exits "crashed: up again" 0
like "crashed: what up says" "$err" "*$name is gone: crashed by signal 11*taken away*"
results=$(sed -n 's/^ *"results": "\(.*\)",$/\1/p' "$live/$name/state.json")
kill -TERM "$(process)"
wait_for test ! -e "$live/$name"
nothing_left "SIGTERM"
holds "SIGTERM: results are written" test -s "$results/summary.json"

up
kill -STOP "$(process)"
try timeout 30 "$fabricbed" list
like "stopped: list does not wait" "$out" "*$name *no answer*"
kill -CONT "$(process)"

# ---- two at once, from inside

try bash -c '"$1" down "$2" & "$1" down "$2"; wait $!' - "$fabricbed" "$name"
nothing_left "two at once"
up
try "$fabricbed" exec "$name" h0 -- sh -c '"$0" down "$1"; echo survived' "$fabricbed" "$name"
like "down from inside: the caller is left alone" "$out" "*$name is down*survived"
nothing_left "down from inside"

# ---- at any moment

for ((i = 0; i < crashes; i++)); do
	"$fabricbed" up "$scenarios/link-failure.yaml" --set name="$name" --set clock=wall --set expect=[] \
		--out crash --quiet >/dev/null 2>&1 &
	pid=$!
	children+=("$pid")
	sleep "0.$(printf %02d $((RANDOM % 40)))" # a moment, not a condition
	case $((i % 3)) in
	0) kill -KILL "$pid" ;;
	1) kill -KILL "$(process)" ;;
	2) kill -INT "$pid" ;;
	esac 2>/dev/null
	wait "$pid" 2>/dev/null
	"$fabricbed" down "$name" >/dev/null 2>&1
	wait_for is_all_gone || break
done
nothing_left "$crashes ends at any moment"
same "the host's interfaces are as they were" "$(interfaces)" "$before"
tap_done
