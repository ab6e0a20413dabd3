#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The screen of `top`, in a terminal of tmux's, before a fabric that is fake and so is always in the same state.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
live=/run/fabricbed/live/$name

if ! is_root; then
	tap_skip "top" "needs root"
	tap_done
	exit
fi

leave_top() {
	local status=$?

	tmux -L "$name" kill-server 2>/dev/null
	[ -z "$fabric" ] || kill -KILL "$fabric" 2>/dev/null
	rm -rf "$live"
	(exit $status)
	leave
}
fabric=
trap leave_top EXIT

listens() {
	[ -S "$live/control" ]
}
fake() { # as what
	FAKE=$1 python3 "$root/tests/lib/fake_fabric.py" "$name" &
	fabric=$!
	wait_for listens
}
end_fake() {
	kill "$fabric" 2>/dev/null
	wait "$fabric" 2>/dev/null
	fabric=
}

# ---- without a screen

try "$fabricbed" top "$name"
exits "no such fabric" 2
fake faithful
try "$fabricbed" top "$name" --interval 7
exits "an interval without a unit" 2
try "$fabricbed" top "$name" --interval 100ms
exits "into a pipe" 0
like "into a pipe: the header" "$out" "$name  running  wall clock, slowed 2x  model time *fidelity  faithful *"
like "into a pipe: rates by model time" "$out" "*
packets   sent * (50.0k/s)  delivered * (50.0k/s)  in flight *
dropped   * (42/s): queue-full *, link-down *"
like "into a pipe: the busiest port first" "$out" "*
links (96)
port *
core3->agg3.1 *99.0 *
agg3.1->core3 *"
like "into a pipe: all views" "$out" "*queues (96)*flows (16)*faults (2)*nodes (20)*"
same "into a pipe: nothing for a terminal" "$(tr -d '[:print:]\n' <<<"$out")" ""
try "$fabricbed" top "$name" --json --interval 100ms
exits "--json" 0
same "--json: a port" "$(python3 - <<'END'
import json
rows = {r["port"]: r for r in json.load(open(".out"))["links"]}
r = rows["tor1.0->agg1.0"]
print(len(rows), r["state"], round(r["utilisation_percent"], 1), r["dropped_per_s"])
r = rows["agg0.1->core2"]
print(r["state"], r["rate_gbps"], rows["core0->agg0.0"]["state"])
END
)" "96 up 29.2 0.0
up 100.0 down"
end_fake

# ---- the screen

# a terminal without colours or without a cursor that moves
cat >terminal.py <<'END'
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
seen = b""
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    seen += chunk
    if b"DEGRADED" in seen:
        os.write(terminal, b"q")
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
fake degraded
TERM=dumb python3 terminal.py "$fabricbed" top "$name" >seen
same "TERM=dumb: exit status" "$?" 3
like "TERM=dumb: the message" "$(cat seen)" "*can't move its cursor (TERM); 'fabricbed top --once' needs none*"
env NO_COLOR= TERM=xterm python3 terminal.py "$fabricbed" top "$name" >seen
like "an empty NO_COLOR is none: red" "$(cat seen)" *$'\e'\[3[18]*m*
NO_COLOR=1 TERM=xterm python3 terminal.py "$fabricbed" top "$name" >seen
same "NO_COLOR: exit status" "$?" 0
like "NO_COLOR: it is drawn" "$(cat seen)" "*DEGRADED*"
same "NO_COLOR: no colour" "$(grep -oE $'\e''\[[0-9;]*m' seen | tr ';[m' '\n\n\n' | grep -E '^(3[0-7]|38|4[0-7])$')" ""
end_fake

if ! command -v tmux >/dev/null; then
	tap_skip "the screen of top" "there is no tmux"
	tap_done
	exit
fi

terminal() {
	tmux -L "$name" -f /dev/null "$@" 2>/dev/null
}
keys() {
	terminal send-keys -t top "$@"
}
screen() {
	terminal capture-pane -p -t top
}
# The screen in one line of blanks and words, to compare with a pattern.
shows() { # PATTERN
	# shellcheck disable=SC2053
	[[ $(screen) == $1 ]]
}
# One case: the screen comes to match a pattern.
sees() { # NAME PATTERN
	if wait_for shows "$2"; then tap_ok "$1"; else tap_fail "$1" "not like $2:"$'\n'"$(screen)"; fi
}
# The first row of the table begins so: its headings are the line before.
first() { # NAME HEADING ROW-PATTERN
	sees "$1" "*"$'\n'"$2 *([^"$'\n'"])"$'\n'"$3*"
}
open_top() { # WIDTH HEIGHT
	terminal new-session -d -s top -x "$1" -y "$2" \
		"'$fabricbed' top '$name' --interval 100ms; echo \"status \$?\"; stty -a; exec cat"
}
shopt -s extglob
# the server ends with its last session, and one that is ending takes no new one
terminal new-session -d -s keep "exec cat"

fake degraded
open_top 110 24
first "links by utilisation at first" port "core3->agg3.1 *99.0 *"
sees "the header: the state" "$name  running  wall clock, slowed 2x  model time *"
sees "the header: fidelity" "*fidelity  DEGRADED now, for 12 s of ???: slowdown 8.5 would do  late *"
in_red() { [[ $(terminal capture-pane -p -e -t top | sed -n 2p) == *$'\e'\[*31m*DEGRADED* ]]; }
holds "the header: fidelity is red" wait_for in_red
sees "the header: flows and faults" "*flows     8 active, 8 done  faults 1 in force  marked *"
sees "the footer" "*q quit  h help *"

keys d
first "d sorts by drops" port "agg1.0->core0 *42 *"
keys p
first "p sorts by pauses" port "tor0.1->agg0.0 *25.0*"
keys n
first "n sorts by name" port "agg0.0->core0 *"
keys r
first "r reverses" port "tor3.1->h15 *"
keys u
first "u sorts by utilisation, and not in reverse" port "core3->agg3.1 *"
keys Down
first "an arrow scrolls" port "agg3.1->core3 *"
keys End
sees "End goes to the end" "*h0->tor0.0 *q quit*"
keys Home
first "Home goes back" port "core3->agg3.1 *"

keys / "core0->" Enter
sees "a word filters" "*4 of 96 match core0->*"
first "and what is left is sorted" port "core0->agg3.0 *"
keys Escape
sees "Esc clears the filter" "*96 in all*"
keys / "h1[45]->*" Enter
sees "a glob filters" "*2 of 96 match h1\[45\]->\**"
keys / C-u nothing Enter
sees "a filter that nothing matches" "*(no row matches the filter)*"
keys / xx
sees "a filter that is typed" "*Esc clears): nothingxx*"
keys Escape
sees "Esc clears that too" "*96 in all*"

keys 2
first "2: queues by their depth" port "core3->agg3.1 *95.0K*"
keys p
first "queues by pauses" port "tor0.1->agg0.0 *paused *25.0*"
keys Tab
first "Tab: flows by packets a second" "  flow" "    15 *h15 *done *1.50k*"
keys '<' '<'
first "< sorts by another column" "  flow" "     0 *active *"
keys 4
sees "4: faults" "*link agg0.1-core2 loss 1%*"
keys 5
first "5: nodes" node "core3 *19.0k*"
keys h
sees "h: help" "fabricbed top*any key goes back*"
keys x 1
first "back to links" port "core3->agg3.1 *99.0 *"

terminal resize-window -t top -x 40 -y 12
sees "a small terminal: the columns that matter" "*port *util% * queue *core3->agg3.1 *"
sees "a small terminal: a shorter header" "*fidelity*
 1 links *"
same "a small terminal: nothing is wrapped" "$(screen | grep -c 'agg3.1->core3')" 1
terminal resize-window -t top -x 110 -y 24
sees "a large one again" "*faults 1 in force*drop/s*"

keys Space
sees "space pauses the screen" "*SCREEN PAUSED*"
before=$(screen)
keys n
first "a paused screen can be sorted" port "agg0.0->core0 *"
like "and is as old as before" "$(screen | head -n 1)" "$(head -n 1 <<<"$before")"
keys u Space
sees "space goes on" "*model time *"
moved() { ! shows "*$(grep -o 'model time [0-9.]*' <<<"$before") s*"; }
holds "and model time with it" wait_for moved

kill -USR1 "$fabric"
sees "a fabric that hangs" "* NO ANSWER for *"
keys n
first "the keys are heard all the same" port "agg0.0->core0 *"
kill -USR2 "$fabric"
no_alarm() { ! shows "*NO ANSWER*"; }
holds "it answers again" wait_for no_alarm

restored() { # NAME
	local modes

	modes=$(screen | tr -s ' ;\n' '\n' | grep -xE 'icanon|echo|isig|onlcr' | sort | tr '\n' ' ')
	same "$1: the terminal's modes" "$modes" "echo icanon isig onlcr "
	same "$1: cursor and screen" "$(terminal display -p -t top '#{cursor_flag} #{alternate_on}')" "1 0"
	terminal kill-session -t top
}
keys q
sees "q quits" "status 0*extproc*"
restored q
open_top 80 50
sees "80 columns: the footer fits" "*space pause*"
sees "80 columns: the remedy is seen" "*fidelity  DEGRADED now, for 12 s of *: slowdown 8.5 would do*"
sees "80 columns: losses are seen" "*port *state *util% *queue *drop/s *mark/s *paus% *"
keys C-c
sees "Ctrl-C quits" "status 0*extproc*"
restored Ctrl-C
open_top 80 50
sees "before the fabric goes away" "*core3->agg3.1 *"
end_fake
sees "the fabric goes away" "*fabricbed: $name went away*status 4*extproc*"
restored "gone"
tap_done
