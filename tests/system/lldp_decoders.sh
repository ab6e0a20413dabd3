#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What others make of our LLDP frames: Wireshark's decoder, and lldpd's, which hears them over a cable.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

capture=$scratch/lldp.pcap
try "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -I"$root/bpf" -I"$root/userspace" -o frames \
	"$root"/tests/system/lldp_frames.c "$root"/userspace/control/{lldp_agent,lldp_frame,port_roles}.c
exits "the frames' maker" 0
try ./frames "$capture"
exits "frames of a host and of switches" 0

# The same frames, the type of each Port ID changed: no LLDP any more.
damaged=$scratch/damaged.pcap
python3 - "$capture" "$damaged" <<-'END'
	import sys
	data = bytearray(open(sys.argv[1], 'rb').read())
	at = 24
	while at < len(data):
	    data[at + 16 + 23] = 9 << 1
	    at += 16 + int.from_bytes(data[at + 8:at + 12], sys.byteorder)
	open(sys.argv[2], 'wb').write(data)
END

# ---- Wireshark ---------------------------------------------------------------------------------

# what is wrong with a capture, a line a frame
faults() { # FILE
	tshark -r "$1" -Y '_ws.malformed || _ws.expert' 2>/dev/null
}

fields=(lldp.chassis.id.mac lldp.port.id lldp.time_to_live lldp.tlv.system.name
	lldp.tlv.system_cap lldp.tlv.enable_system_cap lldp.orgtlv.oui lldp.ieee.802_1.subtype)
read_fields() {
	tshark -r "$capture" -T fields "${fields[@]/#/-e}" 2>/dev/null | tr '\t' ' '
}

if command -v tshark >/dev/null; then
	tap_empty "tshark: no frame is malformed" "$(faults "$capture")"
	try tshark -r "$capture" -V
	exits "tshark: exit status" 0
	same "tshark: nor in words" "$(grep -ci malformed <<<"$out")" 0
	same "tshark: topology recognition, by name" "$(grep -c 'IEEE 802.1 Subtype: Topology Recognition' <<<"$out")" 5
	same "tshark: every frame ends with its End TLV" "$(grep -c '^    End of LLDPDU' <<<"$out")" 5
	same "tshark: all that is said" "$(read_fields)" "\
02:fb:00:00:00:02 h0->tor0.0 121 h0 0x0080 0x0080 32962 0x14
02:fb:00:00:00:03 tor0.0->h0 121 tor0.0 0x0014 0x0010 32962 0x14
02:fb:00:00:00:05 core0->tor0.0 121 core0 0x0014 0x0010 32962 0x14
02:fb:00:00:00:03 tor0.0->core0 121 tor0.0 0x0014 0x0010 32962 0x14
02:fb:00:00:00:05 core0->tor0.0 121 core0 0x0014 0x0010 32962 0x14"
	same "tshark: names all damaged frames" "$(faults "$damaged" | wc -l)" 5
else
	tap_skip "tshark" "tshark is not installed"
fi

# ---- lldpd -------------------------------------------------------------------------------------

socket=$scratch/lldpd.socket
ask() { # COMMAND...
	lldpcli -u "$socket" -f json0 "$@" 2>/dev/null
}

# Sends frame N of a capture.
send() { # FILE N
	ip netns exec "$name" python3 - "$1" "$2" <<-'END'
		import socket, sys
		data = open(sys.argv[1], 'rb').read()
		cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		cable.bind(('ours', 0))
		at = 24
		for _ in range(int(sys.argv[2])):
		    at += 16 + int.from_bytes(data[at + 8:at + 12], sys.byteorder)
		length = int.from_bytes(data[at + 8:at + 12], sys.byteorder)
		cable.send(data[at + 16:at + 16 + length])
	END
}

# Frames that lldpd has met: its counter of that name.
count() { # COUNTER
	ask show statistics | python3 -c '
import json, sys
(port,) = json.load(sys.stdin)["lldp"][0]["interface"]
print(port[sys.argv[1]][0][sys.argv[1]])' "$1" 2>/dev/null
}

has_counted() { # COUNTER LEAST
	local n

	n=$(count "$1") && [ "$n" -ge "$2" ]
}

# Sends it, again if need be, until lldpd has counted so many.
send_until() { # FILE N COUNTER LEAST
	send "$1" "$2" && has_counted "$3" "$4"
}

# What lldpd knows, a line a neighbour: chassis, port, time to live, name, what it does, the unknown TLV.
neighbours() {
	ask show neighbors details | python3 -c '
import json, sys
for n in json.load(sys.stdin)["lldp"][0].get("interface", []):
    chassis, port = n["chassis"][0], n["port"][0]
    (tlv,) = n["unknown-tlvs"][0]["unknown-tlv"]
    print(chassis["id"][0]["type"], chassis["id"][0]["value"], port["id"][0]["type"], port["id"][0]["value"],
          port["ttl"][0]["value"], chassis["name"][0]["value"],
          *("%s:%s" % (c["type"], "on" if c["enabled"] else "off") for c in chassis["capability"]),
          tlv["oui"], tlv["subtype"], tlv["value"])'
}

knows() { # PATTERN
	# shellcheck disable=SC2053
	[[ $(neighbours) == $1 ]]
}

send_until_known() { # FILE N PATTERN
	send "$1" "$2" && knows "$3"
}

# A namespace of its own, a cable with both ends in it.
lay_cable() {
	ip netns add "$name" && ip -n "$name" link add ours type veth peer name theirs &&
		ip -n "$name" link set ours up && ip -n "$name" link set theirs up
}

# Without the machine's /run, and with processes that end with the shell that started them (which must
# stay root: a change of user, as lldpd does it, would cut them loose).
start_lldpd() {
	ip netns exec "$name" unshare --mount --propagation private --pid --fork --kill-child sh -c '
		mount -t tmpfs none /run && mkdir /run/lldpd &&
		{ lldpd -dd -r -I theirs -L "" -u "$1" -p /run/lldpd.pid & wait; }' \
		sh "$socket" >"$scratch/lldpd.log" 2>&1 </dev/null &
	children+=($!)
	wait_for has_counted rx 0
}

if ! command -v lldpd >/dev/null; then
	tap_skip "lldpd" "lldpd is not installed"
elif ! is_root; then
	tap_skip "lldpd" "needs root"
elif ! lay_cable 2>"$scratch/why"; then
	tap_skip "lldpd" "no namespace or no veth: $(tr '\n' ' ' <"$scratch/why")"
elif ! start_lldpd; then
	tap_fail "lldpd starts" "$(cat "$scratch/lldpd.log")"
else
	for i in 0 1 2; do
		holds "lldpd: hears frame $i" wait_for send_until "$capture" $i insert_cnt $((i + 1))
	done
	same "lldpd: all that is said" "$(neighbours)" "\
mac 02:fb:00:00:00:02 ifname h0->tor0.0 121 h0 Station:on 00,80,C2 20 00,00,00
mac 02:fb:00:00:00:03 ifname tor0.0->h0 121 tor0.0 Bridge:off Router:on 00,80,C2 20 02,01,01
mac 02:fb:00:00:00:05 ifname core0->tor0.0 121 core0 Bridge:off Router:on 00,80,C2 20 02,FF,FF"
	holds "lldpd: hears core0's level, a downlink" wait_for send_until_known "$capture" 4 \
		"*core0->tor0.0 121 core0 Bridge:off Router:on 00,80,C2 20 02,02,01*"
	same "lldpd: has discarded none" "$(count rx_discarded_cnt)" 0
	holds "lldpd: discards a damaged one" wait_for send_until "$damaged" 0 rx_discarded_cnt 1
fi
tap_done
