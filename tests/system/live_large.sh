#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A request that asks for too much of a live fabric: it is refused before it costs anything, or answered by parts.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! can_build; then
	tap_skip "large requests" "$reason"
	tap_done
	exit
fi
fb() { # COMMAND OPTION...
	try "$fabricbed" "$1" "$name" "${@:2}"
}
flows() { # COUNT
	printf 'workload: [{incast: {senders: 1, to: h0, message: 100B, repeat: %d, gap: 1s}}]\n' "$1" >flows.yaml
}
try "$fabricbed" up "$scenarios/hello.yaml" --name "$name" --set "expect=[]" --quiet --out out
exits "up" 0
flows 131073
fb start flows.yaml
exits "too many flows at once: exit status" 2
like "too many flows at once: the message" "$err" "*131073 operations up to here; at most 131072 (a live fabric stands still*"
flows 20000
fb start flows.yaml
exits "20,000 flows" 0
fb show flows --json
exits "show flows: more than one answer may have" 0
holds "and all of them, each once" python3 -c '
import json
rows = json.load(open(".out"))["rows"]
assert [r["flow"] for r in rows] == list(range(20000)), len(rows)'
fb show flows --match 19999
exits "one of them" 0
like "it is there" "$out" "*19999*"
fb show flows --match 20000
exits "one that is not there" 2

# The socket itself: ask REQUEST
ask() {
	python3 - "$name" "$1" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(f"/run/fabricbed/live/{sys.argv[1]}/control")
		s.sendall(sys.argv[2].encode() + b"\n")
		print(s.makefile().readline(), end="")
	END
}
like "without from it is refused" "$(ask '{"version":1,"do":"show","what":"flows"}')" \
	'*"ok":false*"kind":"input"*flows: more than 8192 rows; `match` picks some of them, and with `from` they come by pages*'
like "with from it is a page, and says where the next begins" \
	"$(ask '{"version":1,"do":"show","what":"flows","from":2048}')" '*"rows":*{"flow":2048,*"flow":4095,*"next":4096*'

# What a key must be: a request that is wrong must not be another one.
wrong() { # REQUEST-KEYS WORDS
	like "$1" "$(ask "{\"version\":1,$1}")" "*\"ok\":false*\"kind\":\"input\"*$2*"
}
wrong '"do":"start","scenario":5' 'start: `scenario` is to be a string'
wrong '"do":"show","what":"ports","match":5' 'show: `match` is to be a string'
wrong '"do":"show","what":5' 'show: `what` is to be a string'
wrong '"do":"show","what":"flows","from":"0"' 'show: `from` is to be a whole number'
wrong '"do":"show","what":"flows","from":-1' 'show: `from` is 0, or'
wrong '"do":"until","event":["drop"]' 'until: `event` is to be a string'
wrong '"do":"step","time":10' 'step: `time` is to be a string'
wrong '"do":"inject","words":"link"' 'inject: `words` is to be a list'
wrong '"do":"capture","target":1' 'capture: `target` is to be a string'
wrong '"do":"down","discard":1' 'down: `discard` is to be true or false'
like "null is as good as absent" "$(ask '{"version":1,"do":"show","what":"nodes","match":null}')" '*"ok":true*'
fb show --json
holds "nothing of it has happened" python3 -c '
import json
s = json.load(open(".out"))
assert s["flows"]["count"] == 20000 and s["model_time_us"] == 0, s'
fb down
exits "down" 0
tap_done
