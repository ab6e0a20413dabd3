#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# wireshark/fabricbed.lua in tshark: what it reads of a run's packets is what the run's own results say of them.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

dissector=$root/wireshark/fabricbed.lua
if ! command -v tshark >/dev/null; then
	tap_skip "the dissector" "tshark is not installed"
	tap_done
	exit
elif ! tshark --version 2>/dev/null | tr '\n' ' ' | grep -q 'with Lua'; then
	tap_skip "the dissector" "tshark was built without Lua"
	tap_done
	exit
fi

# An incast that trims, returns and marks packets, and loses some of one host.
cat >incast.yaml <<'END'
name: incast
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 3}
  rate: 100Gbps
  mtu: 1024
switch:
  buffer: {per_port: 30KB}
  ecn: {kmin: 5KB, kmax: 20KB}
  trim: {to: receiver, overflow: return, queue: 200}
workload:
  - incast: {senders: 5, to: h0, message: 20KB}
faults:
  - {at: 0, link: h4-leaf1, do: {loss: 10%}}
END

# Reads "port, DSCP, flow, opcode, PSN, payload, sent again, path, CE, expected, arrived bytes or symbols, bitmap, where that
# begins, that in words, experts, summary" of each frame, and compares it with flows.csv and summary.json.
cat >compare.py <<'END'
import csv, json, sys
kind, counted = sys.argv[1], json.load(open("result/summary.json"))["packets"]
data, answer, probe, done = {"strack": ("192", "193", "194", "20"), "coding": ("196", "197", None, "1"),
    "trim": ("196", "197", None, "20")}[kind]
frames = [line.rstrip("\n").split("\t") for line in open("frames")]
flows = {row["flow"]: row for row in csv.DictReader(open("result/flows.csv"))}
yes, lossy, wrong, cut = ("1", "True"), "h4", [], [0, 0]
bitmaps = 0
def same(what, seen, wanted):
    if seen != wanted:
        wrong.append(f"{what}: {seen} instead of {wanted}")
def numbers(words):
    runs = [run.split("-") for run in words.split(", ")] if words != "none" else []
    return [n for run in runs for n in range(int(run[0]), int(run[-1]) + 1)]
for port, dscp, flow, opcode, psn, payload, again, path, ce, expected, got, bitmap, base, arrived, experts, words in frames:
    headers = dscp in ("49", "50")
    same("headers alone", ("payload cut off by a switch" in experts, "returned to its sender" in experts),
        (headers, dscp == "50"))
    same("and in the summary", "[payload cut off by a switch" in words, headers)
    same("payload", payload == "", headers or opcode != data)
    cut[port.endswith("->" + lossy)] += headers and "->h" in port
    if bitmap:
        bits = int(bitmap, 0)
        bitmaps += bits > 0
        same("bitmap", numbers(arrived), [int(base) + i for i in range(64) if bits >> i & 1])
    for name, value in ("flow", flow), ("psn", psn), ("path", path):
        same("the summary's " + name, value == "" or f" {name}={value}" in words, True)
for flow, row in flows.items():
    mine = [f for f in frames if f[2] == flow]
    sent = [f for f in mine if f[0].startswith(row["src"] + "->") and f[3] in (data, probe)]
    heard = [f for f in mine if f[0].endswith("->" + row["src"]) and f[3] == answer]
    # a sender that is done listens no more
    last = next(i for i, f in enumerate(heard) if f[9] == done) if row["src"] != lossy else 0
    of = f"flow {flow}, "
    first = [f for f in sent if f[3] == data and f[6] not in yes]
    same(of + "packets", len([f for f in sent if f[3] == data]), int(row["packets"]))
    same(of + "repeats", int(row["packets"]) - len(first), int(row["retransmitted"]))
    same(of + "paths", len({f[7] for f in sent}), int(row["paths"]))
    same(of + "done", str(max(int(f[9]) for f in heard)), done)
    if row["src"] != lossy:
        same(of + "marks", len([f for f in heard[:last + 1] if f[8] in yes]), int(row["marks"]))
    if kind == "coding":
        same(of + "symbols", max(int(f[10]) for f in heard), 19)
    else:
        same("bitmaps with bits", bitmaps > 0, True)
        same(of + "PSNs", sorted(int(f[4]) for f in first), list(range(20)))
        same(of + "payload", sum(int(f[5]) for f in first), int(row["bytes"]))
    if kind == "strack":
        same(of + "bytes received", max(int(f[10]) for f in heard), int(row["bytes"]))
# those that are lost on the way to the host with the lossy link do not arrive
same("headers that reach a host", cut[0] > 0 and 0 <= counted["headers_delivered"] - cut[0] <= cut[1], True)
same("kinds", {f[3] for f in frames}, {data, answer, probe} - {None})
sys.exit("\n".join(wrong[:10]) or 0)
END

# What tshark reads of a transport's frames; what two transports do not name alike is an argument.
read_frames() { # FILE PROTOCOL EXPECTED GOT BASE
	local field options=()

	for field in frame.interface_name ip.dsfield.dscp fabricbed.flow infiniband.bth.opcode infiniband.bth.psn \
		fabricbed.payload "$2.again" "$2.path" "$2.ce" "$2.$3" "$2.$4" "$2.bitmap" "$2.$5" "$2.arrived" \
		_ws.expert.message _ws.col.Info; do
		options+=(-e "$field")
	done
	tshark -X "lua_script:$dissector" -n -r "$1" -T fields "${options[@]}"
}
reads() { # NAME TRANSPORT SUMMARY PROTOCOL EXPECTED GOT BASE
	try "$fabricbed" run incast.yaml --dataplane inline --set name="$name" --set host.transport="$2" --quiet --out result \
		--capture "$1.pcapng"
	exits "$1: runs" 0
	try read_frames "$1.pcapng" "${@:4}"
	cp .out frames
	tap_empty "$1: tshark has nothing to complain of" "$(grep -v '^Running as' <<<"$err")"
	tap_empty "$1: no frame is malformed, and the dissector has no error" "$(grep -iE 'malformed|lua error' frames)"
	holds "$1: fields are as the results have it" python3 compare.py "$1"
	same "$1: a summary" "$(cut -f 16 frames | grep -m 1 'CE$')" "$3"
}
reads strack strack "SACK flow=2 psn=5 epsn=5 ooo=0 path=4 CE" strack epsn bytes_recvd base_psn
reads coding '{assembled: {recovery: coding}}' "ANSWER flow=2 psn=4 coding complete=0 symbols=5 message=0 path=4 CE" \
	assembled complete symbols base
reads trim '{assembled: {recovery: trim}}' "ANSWER flow=2 psn=4 trim expected=5 beyond=0 path=4 CE" assembled expected beyond base

summaries() { # FILE FILTER OPTION...
	tshark -X "lua_script:$dissector" -n -r "$1" -Y "$2" "${@:3}" -T fields -e _ws.col.Protocol -e _ws.col.Info 2>/dev/null
}
same "the DSCPs of trimmed headers are preferences" \
	"$(summaries strack.pcapng fabricbed.trimmed -o fabricbed.trimmed:1 -o fabricbed.returned:2)" ""
same "the schemes of recovery are named" "$(sed -n 's/^local RECOVERIES = //p' "$dissector")" \
	"{[0] = $(sed -n '/define RECOVERIES/,/[^\\]$/p' "$root/userspace/transport/recovery/recovery.h" | grep -o '"[^"]*"' |
		paste -sd , | sed 's/,/, /g')}"
# A capture may hold the beginnings of frames alone.
editcap -s 50 coding.pcapng cut.pcapng
editcap -s 60 strack.pcapng cut2.pcapng
mergecap -w both.pcapng cut.pcapng cut2.pcapng
tap_empty "frames that are cut short are no error" "$(summaries both.pcapng '_ws.lua.error || fabricbed.short')"

# RoCEv2's packets are for Wireshark's dissector, but that it does not know what trimming leaves.
try "$fabricbed" run incast.yaml --dataplane inline --set name="$name" --set host.transport=roce --quiet --out result \
	--capture roce.pcapng
exits "roce: runs" 0
roce() {
	tshark "$@" -n -r roce.pcapng -T fields -e ip.dsfield.dscp -e infiniband.bth.opcode -e infiniband.bth.psn -e infiniband.reth.dmalen \
		-e infiniband.aeth.msn -e _ws.malformed -e _ws.col.Info 2>/dev/null
}
roce -X "lua_script:$dissector" >with
roce >without
same "roce: read as before" "$(sed 's/ \[payload cut off.*//' with)" "$(cat without)"
same "roce: trimmed headers are named" "$(grep -c '^49' with) $(grep -c '^50' with)" \
	"$(grep -c 'payload cut off by a switch\]' with) $(grep -c 'cut off by a switch, returned to its sender\]' with)"

tap_done
