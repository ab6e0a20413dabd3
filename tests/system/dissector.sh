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
# Each field of each packet by itself: bytes as bpf/abi/wire.h has them, written by hand. And packets that end too soon.
cat >frames.py <<'END'
import struct
sent, bits = 0x0102030405060708, 1 << 63 | 1 << 5 | 0b11
def frame(opcode, extension, dscp=0):
    bth = struct.pack(">BBHII", opcode, 0, 0xffff, 2 + 2 * 9 + 1, 1 << 31 | 77) + extension
    udp = struct.pack(">HHHH", 50000, 4791, 8 + len(bth), 0) + bth
    ip = struct.pack(">BBHHHBBHII", 0x45, dscp << 2 | 2, 20 + len(udp), 0, 0, 64, 17, 0, 0x0a000001, 0x0a000002) + udp
    return b"\2" * 6 + b"\4" * 6 + b"\x08\x00" + ip
strack_data = struct.pack(">QHB5x", sent, 301, 0x04)
strack_sack = struct.pack(">IIQQIHBxQ", 1001, 1002, bits, 1003, 1004, 302, 0x0b, sent)
def answer(recovery, flags):
    return struct.pack(">QIIIQHHBBB5x", sent, 2001, 2002, 2003, bits, 303, 304, flags, recovery, 5)
def data(recovery):
    return struct.pack(">QIHHIBB2x", sent, 3001, 305, 306, 3002, 0x04, recovery)
frames = [frame(0xc0, strack_data + bytes(104)), frame(0xc1, strack_sack),
    frame(0xc2, struct.pack(">QHBxI", sent, 307, 0, 1005)),
    frame(0xc4, data(0) + bytes(104)), frame(0xc4, data(6) + bytes(104)), frame(0xc4, data(200) + bytes(104)),
    frame(0xc5, answer(0, 0x01)), frame(0xc5, answer(1, 0x04)), frame(0xc5, answer(3, 0x10)), frame(0xc5, answer(6, 0x08)),
    frame(0xc4, data(6)[:16], dscp=50), frame(0xc1, strack_sack[:30]), frame(0xc4, b"")]
out = open("frames.pcap", "wb")
out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
for f in frames:
    out.write(struct.pack("<IIII", 0, 0, len(f), len(f)) + f)
END
python3 frames.py
same "each field of each packet" "$(tshark -X "lua_script:$dissector" -n -r frames.pcap -T json --no-duplicate-keys -J \
	"fabricbed strack assembled" 2>/dev/null | python3 -c '
import json, sys
def leaves(node):
    for key, value in node.items() if isinstance(node, dict) else ():
        for child in value if isinstance(value, list) else [value]:
            yield from leaves(child)
        if isinstance(value, str) and key.startswith(("fabricbed.", "strack.", "assembled.", "infiniband.")):
            # tshark 4.0 writes 1, 4.4 writes True
            yield key.split(".")[-1], {"True": "1", "False": "0"}.get(value, value)
for packet in json.load(sys.stdin):
    print(*(f"{k}={v}" for k, v in leaves(packet["_source"]["layers"])))')" "\
opcode=192 destqp=0x000015 a=1 psn=77 flow=9 sent_ps=72623859790382856 path=301 again=1 payload=100
opcode=193 destqp=0x000015 a=1 psn=77 flow=9 epsn=1001 base_psn=1002 bitmap=0x8000000000000023 arrived=1002-1003, 1007, 1065 bytes_recvd=1003 ooo_packets=1004 path=302 ce=1 probe=1 trimmed=1 sent_ps=72623859790382856
opcode=194 destqp=0x000015 a=1 psn=77 flow=9 sent_ps=72623859790382856 path=307 base_psn=1005
opcode=196 destqp=0x000015 a=1 psn=77 flow=9 recovery=0 sent_ps=72623859790382856 symbol=3001 path=305 subflow=306 message=3002 again=1 payload=100
opcode=196 destqp=0x000015 a=1 psn=77 flow=9 recovery=6 sent_ps=72623859790382856 number=3001 path=305 subflow=306 message=3002 again=1 payload=100
opcode=196 destqp=0x000015 a=1 psn=77 flow=9 recovery=200 sent_ps=72623859790382856 number=3001 path=305 subflow=306 message=3002 again=1 payload=100
opcode=197 destqp=0x000015 a=1 psn=77 flow=9 recovery=0 sent_ps=72623859790382856 complete=2001 symbols=2002 message=2003 path=303 subflow=304 ce=1 again=0 trimmed=0 nak=0 hops=5
opcode=197 destqp=0x000015 a=1 psn=77 flow=9 recovery=1 sent_ps=72623859790382856 expected=2001 beyond=2002 path=303 subflow=304 ce=0 again=1 trimmed=0 nak=0 hops=5
opcode=197 destqp=0x000015 a=1 psn=77 flow=9 recovery=3 sent_ps=72623859790382856 expected=2001 path=303 subflow=304 ce=0 again=0 trimmed=0 nak=1 hops=5
opcode=197 destqp=0x000015 a=1 psn=77 flow=9 recovery=6 sent_ps=72623859790382856 expected=2001 beyond=2002 base=2003 bitmap=0x8000000000000023 arrived=2003-2004, 2008, 2066 path=303 subflow=304 ce=0 again=0 trimmed=1 nak=0 hops=5
opcode=196 destqp=0x000015 a=1 psn=77 flow=9 sent_ps=72623859790382856 number=3001 path=305 subflow=306 trimmed= returned=
opcode=193 destqp=0x000015 a=1 psn=77 flow=9 epsn=1001 base_psn=1002 bitmap=0x8000000000000023 arrived=1002-1003, 1007, 1065 bytes_recvd=1003 ooo_packets=1004 path=302 short="

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

# A capture may hold the beginnings of frames alone.
for length in 46 58; do
	for kind in coding roce; do
		editcap -s $length $kind.pcapng $kind.$length.pcapng
	done
done
mergecap -w short.pcapng {coding,roce}.{46,58}.pcapng
tap_empty "frames that are cut short are no error" "$(summaries short.pcapng '_ws.lua.error || fabricbed.short')"

tap_done
