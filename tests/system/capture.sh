#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run --capture: every kind of frame is there, tshark finds none malformed, times are those of a wire, and both
# dataplanes write the same bytes. With IPv4 and IPv6, with payload and without.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

# Small fabrics in which everything that can be sent is sent: losses on one link make for NAKs and probes.
cat >roce.yaml <<'END'
name: roce
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}
  rate: 100Gbps
  mtu: 1024
switch:
  buffer: {per_port: 100KB}
  ecn: {kmin: 10KB, kmax: 40KB}
  classes:
    - {class: 3, dscp: 26, lossless: yes}
    - {class: 6, dscp: 48}
    - {class: 0}
  pfc: on
  lldp: {every: 20us}
  cnp: {every: 5us}
host:
  transport: {roce: {cnp_interval: 10us}}
  dscp: {data: 26, control: 48, notify: 48}
workload:
  - incast: {senders: 6, to: h0, message: 100KB}
  - pairs: {from: h1, to: h7, message: 100}
faults:
  - {at: 0, link: h5-leaf1, do: {loss: 5%}}
END
cat >strack.yaml <<'END'
name: strack
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}
  rate: 100Gbps
  mtu: 1024
switch:
  buffer: {per_port: 100KB}
  trim: {to: receiver, overflow: return, queue: 200}
  lldp: {every: 20us}
workload:
  - incast: {senders: 6, to: h0, message: 100KB}
faults:
  - {at: 0, link: h5-leaf1, do: {loss: 5%}}
END

# ---- what the file says by itself

# Interfaces are the ports; times are picoseconds; a port's next frame waits for the end of the one before, preamble, FCS
# and gap included, or for longer, at 100 Gbps: 80 ps a byte.
cat >wire.py <<'END'
import json, struct, sys
data, summary = open(sys.argv[1], "rb").read(), json.load(open(sys.argv[2]))
ports, free, count, odd, at, missing = [], {}, 0, 0, 0, 0
while at < len(data):
    kind, length = struct.unpack_from("<II", data, at)
    body = data[at + 8:at + length - 4]
    assert length % 4 == 0 and struct.unpack_from("<I", data, at + length - 4)[0] == length
    if kind == 1:
        options, here = {}, 8
        while True:
            code, size = struct.unpack_from("<HH", body, here)
            if code == 0:
                break
            options[code] = body[here + 4:here + 4 + size]
            here += 4 + (size + 3) // 4 * 4
        assert options[9] == bytes([12]), "not in picoseconds"
        ports.append(options[2].decode())
    elif kind == 6:
        port, high, low, captured, size = struct.unpack_from("<IIIII", body)
        # epb_flags: all of them leave their ports
        assert body[20 + (captured + 3) // 4 * 4:] == struct.pack("<HHII", 2, 4, 2, 0)
        t = high << 32 | low
        assert captured <= size and t >= free.get(port, 0), (ports[port], t, free.get(port))
        free[port] = t + 80 * (max(size + 4, 64) + 20)
        count += 1
        odd += t % 1000 != 0
        missing = max(missing, size - captured)
    else:
        assert kind == 0x0A0D0D0A and at == 0
    at += length
links = [(f"h{h}", f"leaf{h // 4}") for h in range(8)]
links += [(f"leaf{l}", f"spine{s}") for l in range(2) for s in range(2)]
assert sorted(ports) == sorted(f"{a}->{b}" for pair in links for a, b in (pair, pair[::-1])), ports
assert count == summary["hops"], (count, summary["hops"])
assert odd > count / 2, "all times are whole nanoseconds"
# the ICRC has no bytes where there is no payload
assert missing == (1024 + 4 if sys.argv[3] == "headers" else 0), missing
END

# ---- what tshark says

# What there is in a capture and how often, by tshark's own fields, as lines "count kind".
kinds() { # FILE
	tshark -n -o ip.check_checksum:TRUE -r "$1" -T fields -E occurrence=f -e eth.type -e infiniband.bth.opcode \
		-e infiniband.aeth.syndrome.opcode -e ip.dsfield.dscp -e ipv6.tclass.dscp -e macc.cbfc.enbv.c3 \
		-e macc.cbfc.pause_time.c3 -e lldp.orgtlv.oui -e _ws.malformed -e ip.checksum.status \
		-e infiniband.mad 2>/dev/null |
		awk -F'\t' '
			$9 { n["malformed"]++; next }
			# tshark 4.0 writes 1, 4.4 writes True
			$1 == "0x8808" && ($6 == 1 || $6 == "True") { n[$7 > 0 ? "XOFF" : "XON"]++; next }
			$1 == "0x88cc" && $8 { n["LLDP"]++; next }
			$1 != "0x86dd" && !($1 == "0x0800" && $10 == 1) { n["stranger"]++; next }
			$11 { n["management"]++; next } # to queue pairs 0 and 1
			$2 == 6 { n["first"]++; next }
			$2 == 7 { n["middle"]++; next }
			$2 == 8 { n["last"]++; next }
			$2 == 10 { n["only"]++; next }
			$2 == 17 && $3 == 0 { n["ACK"]++; next }
			$2 == 17 && $3 == 3 { n["NAK"]++; next }
			$2 == 129 { n["CNP"]++; next }
			$2 == 192 { dscp = $4 $5; n[dscp == 49 ? "trimmed" : dscp == 50 ? "returned" : "data"]++; next }
			$2 == 193 { n["SACK"]++; next }
			$2 == 194 { n["probe"]++; next }
			{ n["stranger"]++ }
			END { for (k in n) print n[k], k }' | sort -k 2
}
# shellcheck disable=SC2034 # by their names
roce_kinds="ACK CNP LLDP NAK XOFF XON first last middle only"
# shellcheck disable=SC2034
strack_kinds="LLDP SACK data probe returned trimmed"

# The same frames with another byte 22, which is IPv4's TTL: its checksum does not match any more.
damage() { # FILE
	python3 - "$1" <<-'END'
		import struct, sys
		data, at = bytearray(open(sys.argv[1], "rb").read()), 0
		while at < len(data):
		    kind, length = struct.unpack_from("<II", data, at)
		    if kind == 6:
		        data[at + 28 + 22] ^= 1
		    at += length
		open("damaged.pcapng", "wb").write(data)
	END
}

tshark_reads() { # TITLE KIND FILE PAYLOAD
	local title=$1 wanted=${2}_kinds file=$3 seen

	if ! command -v tshark >/dev/null; then
		tap_skip "$title: tshark" "tshark is not installed"
		return
	fi
	# its InfiniBand dissector says "Malformed" of payloads that were not captured, but does not mean it
	[ "$4" != full ] ||
		tap_empty "$title: tshark: nothing malformed, in words" "$(tshark -n -r "$file" 2>/dev/null | grep -i malformed)"
	seen=$(kinds "$file")
	echo "# $title: $(tr '\n' ',' <<<"$seen")"
	same "$title: tshark: every kind, no other, none malformed" "$(cut -d' ' -f2- <<<"$seen")" \
		"$(tr ' ' '\n' <<<"${!wanted}" | sort)"
	[ "$2" != roce ] || same "$title: as many XOFF and XON as were counted" \
		"$(awk '$2 == "XOFF" || $2 == "XON" { printf "%s ", $1 }' <<<"$seen")" \
		"$(figure result/summary.json pfc.pauses_sent) $(figure result/summary.json pfc.resumes_sent) "
}

capture() { # KIND IP PAYLOAD
	local title="$1, IPv$2, $3" options=(--set "host.ip=$2" --set "host.payload=$3" --set name="$name" --quiet)

	try "$fabricbed" run "$1.yaml" --dataplane inline "${options[@]}" --out plain
	try "$fabricbed" run "$1.yaml" --dataplane inline "${options[@]}" --out result --capture inline.pcapng
	exits "$title: runs" 0
	same "$title: a capture changes nothing" "$(figure result/summary.json trace_hash)" \
		"$(figure plain/summary.json trace_hash)"
	holds "$title: ports, times and lengths" python3 wire.py inline.pcapng result/summary.json "$3"
	tshark_reads "$title" "$1" inline.pcapng "$3"
	# each of both once, with both transports, is enough
	[ "$2$3" = 4headers ] || [ "$2$3" = 6full ] || return
	if ! can_build; then
		tap_skip "$title: the kernel's capture" "$reason"
		return
	fi
	try "$fabricbed" run "$1.yaml" "${options[@]}" --out result --capture kernel.pcapng
	exits "$title: runs in the kernel" 0
	holds "$title: the kernel's capture is the same, byte by byte" cmp inline.pcapng kernel.pcapng
}
for kind in roce strack; do
	for payload in headers full; do
		capture $kind 4 $payload
		capture $kind 6 $payload
	done
done
if command -v tshark >/dev/null; then
	"$fabricbed" run roce.yaml --dataplane inline --quiet --out result --capture inline.pcapng
	damage inline.pcapng
	same "tshark: it does not take damaged frames for good ones" \
		"$(kinds damaged.pcapng | grep -cE 'ACK|NAK|CNP|first|middle|last|only')" 0
fi

# ---- what else a capture may hold

# Directions, comments, names and what found no room, as others read them.
try "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -DFABRICBED_VERSION='"1.2.3"' -I"$root/bpf" -I"$root/userspace" -o blocks \
	"$root"/tests/system/capture_blocks.c "$root"/userspace/io/pcapng.c "$root"/userspace/base/outstream.c
exits "the blocks' maker" 0
try ./blocks blocks.pcapng
exits "a file of blocks" 0
if command -v tshark >/dev/null; then
	try tshark -n -r blocks.pcapng -T fields -E separator='|' -e frame.time_epoch -e frame.interface_name \
		-e frame.interface_description -e frame.packet_flags_direction -e frame.comment -e frame.cap_len -e frame.len
	exits "tshark reads it" 0
	# it knows nanoseconds at most
	same "tshark: ports, directions, comments" \
		"$(sed -E 's/^1\.0{9}[0-9]*\|/1s|/; s/\|0x0*([0-9])\|/|\1|/' <<<"$out")" \
		"1s|tor0.0->h0|port 0 of tor0.0, link h0-tor0.0|1||60|60
1s|tor0.0->h1||2||60|60
1s|tor0.0->h1||2|dropped: ttl: TTL or hop limit used up|20|60"
	same "tshark: nothing malformed" "$(tshark -n -r blocks.pcapng -Y _ws.malformed 2>/dev/null)" ""
else
	tap_skip "tshark: directions and comments" "tshark is not installed"
fi
if command -v capinfos >/dev/null; then
	try capinfos blocks.pcapng
	exits "capinfos reads it" 0
	like "capinfos: who wrote it" "$out" "*application:*fabricbed 1.2.3*"
	like "capinfos: picoseconds" "$out" "*Time ticks per second = 1000000000000*Time ticks per second = 1000000000000*"
	like "capinfos: the statistics" "$out" "*Number of stat entries = 1*"
else
	tap_skip "capinfos" "capinfos is not installed"
fi

# ---- paths that are no good

refused() { # TITLE STATUS PATTERN COMMAND-LINE...
	local title=$1 wanted=$2 pattern=$3

	shift 3
	rm -rf "$scratch/empty"
	mkdir "$scratch/empty"
	cd "$scratch/empty" || exit 1
	try "$fabricbed" run --dataplane inline "$@"
	exits "$title: exit status" "$wanted"
	like "$title: the message" "$err" "$pattern"
	same "$title: one line" "$(wc -l <<<"$err")" 1
	same "$title: nothing on standard output" "$out" ""
}
refused "no such folder" 4 "*can't write nowhere/x.pcapng: No such file or directory" \
	../roce.yaml --capture nowhere/x.pcapng
same "no such folder: nothing is left" "$(ls -A)" ""
refused "no such folder, --out" 4 "*can't write nowhere/x.pcapng: No such file or directory" \
	../roce.yaml --capture nowhere/x.pcapng --out results
same "no such folder, --out: nothing is left" "$(ls -A)" ""
refused "a folder" 4 "*can't write .: Is a directory" ../roce.yaml --capture .
same "a folder: nothing is left" "$(ls -A)" ""
refused "several runs" 2 "*--capture is for one run, and strack-vs-roce compares several" \
	"$scenarios/strack-vs-roce.yaml" --capture x.pcapng
same "several runs: nothing is left" "$(ls -A)" ""
try "$fabricbed" run ../roce.yaml --dataplane inline --capture
exits "no path: exit status" 2
if [ -w /dev/full ]; then
	refused "a full disk" 4 "*can't write /dev/full: *" ../roce.yaml --quiet --capture /dev/full --out results
	holds "a full disk: the results are there" figure results/summary.json trace_hash
fi
tap_done
