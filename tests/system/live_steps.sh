#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A fabric on the stepped clock as a debugger: step, until, look at it between, break it and heal it; what was done by hand
# comes to the very same trace when the saved scenario is run, on either dataplane.
# FABRICBED_LONG: ten times as many random sequences.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! can_build; then
	tap_skip "stepped fabrics" "$reason"
	tap_done
	exit
fi

fb() { # SUBCOMMAND ARGUMENT...
	local command=$1

	shift
	try "$fabricbed" "$command" "$name" "$@"
}
up() { # FILE OPTION...
	try "$fabricbed" up "$@" --set name="$name"
	[ "$status" = 0 ] || tap_fail "up $1" "$out$err"
}
# A figure of what was just answered as JSON, or of all rows together.
answer() { # PYTHON-EXPRESSION, of `a`
	python3 -c 'import json, sys; a = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$scratch/.out" "$1"
}
# Where it stopped: "EVENT microseconds", rounded to picoseconds.
stopped() {
	answer '"%s %.6f" % (a.get("stopped"), a["model_time_us"])'
}
# One case: a step or the like stops for a reason and at a time.
stops() { # NAME WANT SUBCOMMAND ARGUMENT...
	local what=$1 want=$2

	shift 2
	fb "$@" --json
	same "$what" "$(stopped 2>&1)" "$want"
}
# Of a table: an expression over its rows, r by r.
table() { # WHAT EXPRESSION
	try "$fabricbed" show "$name" "$1" --json
	answer "(lambda rows: $2)(a['rows'])"
}
end() {
	"$fabricbed" down "$name" >/dev/null 2>&1
}

# The saved scenario, on both dataplanes, beside the summary of the fabric itself.
replays() { # NAME
	local what=$1 dataplane figures=figures.py

	cat >$figures <<-'END'
		import json, sys
		s = json.load(open(sys.argv[1]))
		s = s.get("summary", s)
		print(s["trace_hash"], json.dumps(s["packets"], sort_keys=True), json.dumps(s["flows"], sort_keys=True))
	END
	fb save --output saved.yaml
	exits "$what: save" 0
	try "$fabricbed" show "$name" summary --json
	python3 $figures "$scratch/.out" >by-hand
	for dataplane in inline kernel; do
		try "$fabricbed" run saved.yaml --dataplane $dataplane --set name="$name-again" --quiet \
			--set 'expect=[]' --out again
		[ "$status" = 0 ] || tap_fail "$what: $dataplane runs it" "$err"
		same "$what: $dataplane comes to the same" "$(python3 $figures again/summary.json)" "$(cat by-hand)"
	done
}

# ---- steps and looks between them: an incast of 4, beside closed forms

# A frame of 4096 bytes of payload takes about 330 ns at 100 Gbps: all from figures that the tool tells itself.
cat >incast.yaml <<'END'
name: incast
topology:
  custom:
    hosts: [h0, h1, h2, h3, h4]
    switches: [s0]
    links: [h0-s0, h1-s0, h2-s0, h3-s0, h4-s0]
  rate: 100Gbps
  delay: 1us
switch: {buffer: {per_port: 1MB}, ecn: off}
host: {transport: {strack: {congestion: off, window: 1000% BDP}}}
workload:
  - incast: {senders: 4, to: h0, message: 400KB}
END
cat >more.yaml <<'END'
workload:
  - pairs: {from: [h0], to: [h1], message: 40KB, start: 5us}
END

up incast.yaml
fb step 1us --json
same "a step of an idle fabric" "$(stopped)" "time 1.000000"
fb start --json
same "start: flows, since when" "$(answer '"%d %d %.6f" % (a["first_flow"], a["flows"], a["since_us"])')" "0 4 1.000000"
stops "until a time" "time 11.000000" until 11us
# four send from 1 us on, and have sent for 10 us: frames whose last bit is on the line, each of the same length
same "a host's port: frames sent in 10 us" "$(table ports '(lambda p: abs(p["tx_bytes"] * 8 / 100e3 - 10) < 0.4)(
	[r for r in rows if r["port"].startswith("h1->")][0])')" True
# what came in less what went out since 2 us, at the most a frame of each astray
same "the queue of an incast: three shares of four wait" "$(table queues '(lambda q: abs(
	q["depth_bytes"] * 8 / 100e3 - 3 * 9) < 5 * 0.4)([r for r in rows if r["port"] == "s0->h0"][0])')" True
same "no other switch queue holds more than a frame" "$(table queues 'max([r["depth_bytes"] for r in rows
	if r["port"].startswith("s0->") and r["port"] != "s0->h0"] + [0]) < 5000')" True
same "flows: all under way" "$(table flows '[r["fct_us"] for r in rows]')" "[None, None, None, None]"
same "nodes" "$(table nodes 'sorted(set((r["node"], r["kind"], r["ports"]) for r in rows))[-1]')" "('s0', 'switch', 5)"
same "routes" "$(table routes 'len([r for r in rows if r["node"] == "s0"])')" 5
same "roles: none without LLDP" "$(table roles 'len(rows) >= 0')" True
same "faults: none" "$(table faults 'rows')" "[]"
fb show --json
same "status: paused, at that time" "$(answer '"%s %s %.6f" % (a["state"], a["clock"], a["model_time_us"])')" \
	"paused stepped 11.000000"
same "status: all is accounted for" "$(answer 'a["packets"]["sent"] + a["packets"]["made"] - a["packets"]["delivered"] -
	a["packets"]["consumed"] - sum(a["packets"]["dropped"].values()) - a["packets"]["in_flight"]')" 0

fb inject link h1-s0 down for 3us --json
same "inject: since when, until when" "$(answer '"%.6f %.6f %s" % (a["since_us"], a["until_us"], a["targets"])')" \
	"11.000000 14.000000 ['h1-s0']"
