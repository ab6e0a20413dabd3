#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A fabric on the stepped clock as a debugger: step, until, look at it between, break it and heal it; what was done by hand
# comes to the very same trace when the saved scenario is run, on either dataplane.
# FABRICBED_LONG: 100 random fabrics instead of 3; FABRICBED_SEED: where they begin.
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
	python3 -c 'import json, math, sys; a = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$scratch/.out" "$1"
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
		print(s["trace_hash"], *(json.dumps(s[key], sort_keys=True) for key in ("packets", "flows", "queues", "pfc")))
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
host: {transport: {strack: {congestion: off, window: 1000% BDP, sack_packets: 4}}}
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
# From 1 us on each sender has a frame on its line every so often (preamble, checksum and gap: 24 bytes), a microsecond later
# they are there, and the first leaves as soon as it is there.
same "a host's port: as many frames as fit in 10 us" "$(table ports '(lambda r: (
	r["tx_frames"] - math.floor(10 / ((r["tx_bytes"] / r["tx_frames"] + 24) * 8e-5)), r["rx_frames"]))(
	[r for r in rows if r["port"] == "h1->s0"][0])')" "(0, 1)"
same "the queue of an incast: what came less what left" "$(table ports '(lambda h, q: (lambda bytes: (lambda each:
	q["depth_bytes"] - bytes * (4 * math.floor(9 / each) - math.floor((9 - each) / each)))((bytes + 24) * 8e-5))(
	h["tx_bytes"] / h["tx_frames"]))(*[r for p in ("h1->s0", "s0->h0") for r in rows if r["port"] == p])')" 0.0
same "the table of queues says the same" "$(table queues '[r["depth_bytes"] // 4170 for r in rows if r["port"] == "s0->h0"]')" \
	"[79]"
same "no other switch queue holds more than a frame" "$(table queues 'max([r["depth_bytes"] for r in rows
	if r["port"].startswith("s0->") and r["port"] != "s0->h0"] + [0]) < 5000')" True
same "flows: all under way" "$(table flows '[r["fct_us"] for r in rows]')" "[None, None, None, None]"
same "nodes" "$(table nodes 'sorted(set((r["node"], r["kind"], r["ports"]) for r in rows))[-1]')" "('s0', 'switch', 5)"
same "routes" "$(table routes 'len([r for r in rows if r["node"] == "s0"])')" 5
same "faults: none" "$(table faults 'rows')" "[]"
fb show --json
same "status: paused, at that time" "$(answer '"%s %s %.6f" % (a["state"], a["clock"], a["model_time_us"])')" \
	"paused stepped 11.000000"
same "status: all is accounted for" "$(answer '(lambda p: p["sent"] + p["made"] - p["delivered"] - p["consumed"] -
	sum(p["dropped"].values()) - p["in_flight"])(a["packets"])')" 0

fb inject link h1-s0 down for 3us --json
same "inject: since when, until when" "$(answer '"%.6f %.6f %s" % (a["since_us"], a["until_us"], a["targets"])')" \
	"11.000000 14.000000 ['h1-s0']"

# An event is looked for after each window, which is no longer than the smallest delay.
event() { # NAME EVENT FROM-US [WORD...]
	local what=$1 event=$2 from=$3

	shift 3
	fb until "$event" "$@" --json
	same "$what" "$(answer "'%s %s' % (a['stopped'], $from <= a['model_time_us'] <= $from + 1)")" "$event True"
}
event "until fault: the end of the one that was injected" fault 14
stops "an event that does not come before the limit" "limit 15.000000" until mark --limit 15us
exits "a limit is told by the exit status" 1
fb until drop link_down --json
same "until drop REASON" "$(answer 'a["stopped"]')" drop
same "one was dropped for it" "$(table ports 'sum(r["dropped"].get("link_down", 0) for r in rows) > 0')" True
fb until drop link_down --limit 30us --json
exits "no other is dropped for that" 1
fb until drop --json
same "until drop, for whatever" "$(answer 'a["stopped"]')" drop
fb inject link s0-h0 rate 50%
fb inject host h2 pause 0
like "a class that is not lossless can't be paused" "$err" "*lossless*"
fb until flow --json
same "until flow" "$(answer 'a["stopped"]')" flow
same "one has ended" "$(table flows 'sum(r["fct_us"] is not None for r in rows)')" 1
fb start more.yaml
exits "start FILE" 0
fb heal all
fb until flows --json
same "until flows" "$(answer 'a["stopped"]')" flows
before=$(stopped)
same "all have ended" "$(table flows '[r["flow"] for r in rows if r["fct_us"] is not None]')" "[0, 1, 2, 3, 4]"
stops "they have ended already" "$before" until flows
fb until drop --json
same "nothing is left to happen" "$(answer 'a["stopped"]')" idle
exits "which is told by the exit status" 1
stops "a time may pass all the same" "time 5000.000000" until 5ms
same "the table of faults" "$(table faults '[(r["words"], r["state"], r["by"]) for r in rows]')" \
	"[('link h1-s0 down', 'over', 'hand'), ('link s0-h0 rate 50%', 'over', 'hand')]"
replays "steps"
end

# ---- the other events

up "$scenarios/pfc-deadlock.yaml" --set switch.roles=off
fb start
event "until fault: the first of the timetable" fault 100
event "until reroute" reroute 120
fb until pause --json
same "until pause" "$(answer 'a["stopped"]')" pause
same "a queue is paused" "$(table queues 'any(r["paused"] for r in rows)')" True
fb until deadlock --limit 20ms --json
same "until deadlock" "$(answer 'a["stopped"]')" deadlock
same "roles: as LLDP has found them" "$(table roles 'sorted(set(r["role"] for r in rows if r["port"].startswith("leaf0")))')" \
	"['down', 'up']"
end

up "$scenarios/trimming.yaml" --set topology.leaf_spine='{leaves: 2, spines: 2, hosts_per_leaf: 8}' \
	--set workload.0.incast.senders=12 --set workload.0.incast.message=64KB
fb start
fb until trim --json
same "until trim" "$(answer 'a["stopped"]')" trim
same "a port has trimmed" "$(table ports 'sum(r["trimmed"] for r in rows) > 0')" True
fb inject link 'leaf0-spine*' loss 5% for 20us
fb step 7us
fb heal link leaf0-spine1
fb until flows
replays "trimming"
end

up "$scenarios/incast.yaml" --set topology.leaf_spine='{leaves: 2, spines: 2, hosts_per_leaf: 4}' \
	--set workload.0.incast='{senders: 6, to: h0, message: 500KB}'
fb start
fb until mark --json
same "until mark" "$(answer 'a["stopped"]')" mark
same "a port has marked" "$(table ports 'sum(r["marked"] for r in rows) > 0')" True
end

# ---- what was done by hand, again by run

up "$scenarios/link-failure.yaml" --set workload.0.permutation.message=400KB
fb step 3333ns
fb start
fb step 7us
fb inject link 'agg*-core0' down
fb inject switch core3 down for 9us
fb until reroute
fb heal link agg1.0-core0
fb start
fb until flow
fb heal all
fb until flows
replays "link-failure"
end

up "$scenarios/pfc-incast.yaml" --set topology.leaf_spine='{leaves: 2, spines: 2, hosts_per_leaf: 4}' \
	--set workload.0.incast='{senders: 6, to: h0, message: 1MB}' --set switch.buffer='{shared: 1MB, alpha: 1}'
fb start
fb until pause
fb inject host h0 pause 3 for 30us
fb inject link leaf0-spine1 delay 3us
fb step 40us
fb inject link leaf0-spine1 delay 500ns
fb until flows
replays "pfc-incast"
end

up "$scenarios/flaky-links.yaml" --set topology.fat_tree.k=4 --set 'faults.1.link=agg*.1-core2' \
	--set workload.0.permutation.message=400KB
fb start
fb until drop burst
fb inject link 'agg*.0-core0' flaky every 30us last 5us for 50us
fb inject link 'tor1.*-agg1.1' errors 1e-7
fb inject link 'h*' gilbert enter 1% leave 20%
fb step 20us
fb heal fault 4
fb step 60us
replays "flaky-links, on the way"
fb until flows
replays "flaky-links"
end

up "$scenarios/return-to-sender.yaml" --set topology.leaf_spine='{leaves: 2, spines: 2, hosts_per_leaf: 8}' \
	--set workload.0.incast='{senders: 12, to: h0, message: 64KB}'
fb start
fb step 4us
fb inject link 'leaf*-spine0' rate 25%
fb step 4us
fb heal link 'leaf1-*'
fb until flows
replays "return-to-sender"
end

# ---- random fabrics, driven at random, but the same each time

sequences=3
[ -z "${FABRICBED_LONG-}" ] || sequences=100
driven=0 asked=0 refused=0
for ((seed = ${FABRICBED_SEED:-1}; driven < sequences; seed++)); do
	python3 "$root/tests/random/driven.py" "$seed" >deeds
	# not each that is drawn is valid
	"$fabricbed" validate driven.yaml >/dev/null 2>&1 || continue
	driven=$((driven + 1))
	up driven.yaml
	while read -r -a words; do
		# some are refused: what cannot be changes nothing
		fb "${words[@]}"
		asked=$((asked + 1))
		[ "$status" -le 1 ] || refused=$((refused + 1))
	done <deeds
	replays "random $seed"
	end
done
holds "most of what was asked for was done: all but $refused of $asked" [ $((4 * refused)) -lt $asked ]
same "nothing is left" "$(leftovers)" ""
tap_done
