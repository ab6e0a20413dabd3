#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs as everybody has them in a live fabric (ping, iperf3, curl, tcpdump, lldpd): what they see and what ports count,
# beside closed forms. Links are slow, so that the box's speed does not matter; where a burst must meet an empty queue it is
# sent while model time is held. What depends on speed is tests/bench/live.sh.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! can_build || ! command -v ping >/dev/null; then
	tap_skip "programs in a live fabric" "${reason:-ping is not installed}"
	tap_done
	exit
fi
# not by way of a wrapper that takes its time
python=$(python3 -c 'import sys; print(sys.executable)')

# ---- the fabrics

# Six links in a row. Routes stay for a while when one of them dies.
cat >chain.yaml <<'END'
name: chain
clock: wall
topology:
  custom:
    hosts: [h0, h1]
    switches: [s0, s1, s2, s3, s4]
    links: [h0-s0, s0-s1, s1-s2, s2-s3, s3-s4, s4-h1]
  rate: 20Mbps
  delay: 100us
  mtu: 1440
switch: {buffer: {per_port: 200KB}, ecn: off, reroute: 1000s}
workload:
  - pairs: {from: [h0], to: [h1], message: 100KB}
END
# A bottleneck between two switches, and a slow host.
cat >narrow.yaml <<END
name: narrow
clock: wall
topology:
  custom:
    hosts: [h0, h1, h2, h3]
    switches: [s0, s1]
    links: [h0-s0, h1-s0, h2-s1, {a: h3, b: s1, rate: 5Mbps}, {a: s0, b: s1, rate: 20Mbps}]
  rate: 200Mbps
  delay: 100us
  mtu: 1440
switch:
  buffer: {per_port: 60KB}
  ecn: off
  pfc: on
  classes:
    - {class: 0, ecn: {kmin: 15KB, kmax: 30KB}}
    - {class: 1, dscp: [10, 12], buffer: 30KB}
    - {class: 3, dscp: 26, lossless: yes}
host:
  stack:
    ecn: on
    queue: 100KB
    classes:
      - {port: 5301, dscp: 26}
      - {port: 5302, dscp: 10}
END
cat >spread.yaml <<'END'
name: spread
clock: wall
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}
  rate: 20Mbps
  delay: 100us
  mtu: 1440
switch:
  buffer: {per_port: 200KB}
  ecn: off
host: {stack: {entropy: packet}}
END

# One case: it is up, and is $fabric from now on.
bring_up() { # SUFFIX FILE [OPTION...]
	fabric=$name$1
	try "$fabricbed" up --quiet --name "$fabric" --out "results$1" "${@:2}"
	exits "$1 is up" 0
}

# One case.
take_down() {
	try "$fabricbed" down "$fabric"
	exits "${fabric#"$name"} is down" 0
}

on() { # HOST COMMAND...
	"$fabricbed" exec "$fabric" "$1" -- "${@:2}"
}

# In the background; what it prints is in FILE.
begin_on() { # FILE HOST COMMAND...
	"$fabricbed" exec "$fabric" "${@:2:1}" -- "${@:3}" >"$1" 2>&1 </dev/null &
	children+=($!)
	last=$!
}

# One case: what was begun last ends well.
ends_well() { # NAME
	wait "$last"
	same "$1" $? 0
}

# What a request answered, in Python: told WHAT EXPRESSION; there `rows` are by their first column.
told() { # WHAT... EXPRESSION
	local expression=${*: -1}

	"$fabricbed" show "$fabric" --json "${@:1:$#-1}" | "$python" -c '
import json, sys
r = json.load(sys.stdin)
rows = {next(iter(row.values())): row for row in r.get("rows", [])}
dropped = lambda: {p: row["dropped"] for p, row in rows.items() if row["dropped"]}
print(eval(sys.argv[1]))' "$expression"
}

port() { # PORT COLUMN
	told ports "rows['$1']['$2']"
}

settled() { # SENT
	[ "$(told "r['packets']['sent'] >= $1 and r['packets']['in_flight'] == 0")" = True ]
}

# Nothing is on its way.
quiet() {
	wait_for settled 0
}

eth0() { # HOST COUNTER
	on "$1" cat "/sys/class/net/eth0/statistics/$2"
}

counter() { # HOST NAME
	on "$1" nstat -asz "$2" | awk -v n="$2" '$1 == n { print $2 }'
}

# The kernel's number of a program's listening socket.
listens() { # HOST PROTOCOL PORT
	[ -n "$(on "$1" ss -Hln "$2" "sport = :$3")" ]
}

# Whether these programs are installed; else a case that is skipped.
with() { # NAME PROGRAM...
	local program

	for program in "${@:2}"; do
		command -v "$program" >/dev/null && continue
		tap_skip "$1" "$program is not installed"
		return 1
	done
}

# ---- datagrams

# Reads what comes to these ports.
cat >sink.py <<'END'
import selectors, socket, sys
ready = selectors.DefaultSelector()
for port in map(int, sys.argv[1:]):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.bind(("::", port))
    ready.register(s, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        key.fileobj.recv(2000)
END
# So many datagrams of 1,400 bytes, however many of them have to wait for the network card.
cat >burst.py <<'END'
import socket, sys
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 32, 8 << 20)  # SO_SNDBUFFORCE
s.connect((host, port))
for _ in range(count):
    s.send(bytes(1400))
END
frame4=1442 frame6=1462

begin_sink() { # HOST PORT...
	begin_on sink.log "$1" "$python" sink.py "${@:2}"
	wait_for listens "$1" -u "${*: -1}"
}

# So many have been read.
received() { # HOST COUNT
	[ "$(counter "$1" UdpInDatagrams)" = "$2" ]
}

# Sent in one moment of model time, and all of it has come to its end.
burst() { # FROM ADDRESS PORT COUNT
	local before

	before=$(told "r['packets']['sent']")
	"$fabricbed" pause "$fabric" >/dev/null && on "$1" "$python" burst.py "${@:2}" &&
		"$fabricbed" go "$fabric" >/dev/null && wait_for settled $((before + $4))
}

# ---- ping, on six links of 20 Mbps and 100 us

bring_up chain chain.yaml

# Round trip over all of them in us, for an echo of that frame length: there and back, each time stored and forwarded.
# A thousandth less, since ping's clock may run so much slower than the fabric's.
least_rtt() { # FRAME EXTRA-NS
	echo $(((12 * (100000 + (${1} + 24) * 8 * 50) + ${2:-0}) * 999 / 1000000))
}

# Pings; $least is the shortest round trip in us, whole ones. Succeeds when each ping and each answer has come to its end:
# ping itself waits for the last ones for some round trips only, and a box that is busy is slower.
ping_all() { # COUNT OPTION...
	local before

	before=$(told "r['packets']['sent']")
	try on h0 ping -q -i 0.002 -c "$@" h1
	least=$(sed -n 's/^rtt [^=]*= \([0-9]*\)\.\([0-9]*\).*/\1\2/p' <<<"$out")
	wait_for settled $((before + 2 * $1))
}

# One case: a command comes to print that. A stack may still be at work on what the fabric has given it.
comes_to() { # NAME WANT COMMAND...
	local what=$1 want=$2

	shift 2
	prints() { [ "$("$@")" = "$want" ]; }
	wait_for prints "$@"
	same "$what" "$("$@")" "$want"
}
answers_heard() {
	echo "$(counter h0 IcmpInEchoReps) $(counter h0 Icmp6InEchoReplies)"
}

at_least() { # NAME WHAT LEAST
	if [ -n "$2" ] && [ "$2" -ge "$3" ]; then tap_ok "$1"; else tap_fail "$1" "${2:-nothing}, not at least $3"; fi
}

while read -r what frame options; do
	# shellcheck disable=SC2086
	ping_all 20 $options
	exits "ping $what" 0
	at_least "ping $what: never quicker than the links" "$least" "$(least_rtt "$frame")"
done <<-END
	IPv4 98 -4
	IPv6 118 -6
	IPv4,long 1442 -4 -s 1400
END
same "all pings are answered, and nothing else has crossed the fabric" \
	"$(told "r['packets']['sent'], r['packets']['delivered'], r['hops']")" "(120, 120, 720)"
comes_to "and the answers heard" "40 20" answers_heard
for i in 4 6; do
	try on h0 ping -c 1 -$i h1
	like "ping IPv$i: a hop less for each switch" "$out" "* ttl=59 *"
done
before=$(told "r['packets']['sent']")
for ((i = 1; i <= 5; i++)); do
	on h0 ping -q -4 -c 1 -W 0.01 -t $i h1 >/dev/null
	on h0 ping -q -6 -c 1 -W 0.01 -t $i h1 >/dev/null
done
# not just quiet: a fabric that is late has not seen them all when ping gives up
wait_for settled $((before + 10))
same "too few hops: dropped where they end" "$(told ports "dropped()")" \
	"{'s0->h0': {'ttl': 2}, 's1->s0': {'ttl': 2}, 's2->s1': {'ttl': 2}, 's3->s2': {'ttl': 2}, 's4->s3': {'ttl': 2}}"
try on h0 ping -c 1 -W 60 -t 6 h1
exits "just enough hops" 0

before=$(told "r['packets']['sent']")
try on h0 ping -q -c 1 -W 0.01 10.0.0.77
exits "exec: the status of a ping of nobody" 1
same "and the packet is counted" "$(wait_for settled $((before + 1)) && port 's0->h0' dropped)" "{'ttl': 2, 'no_route': 1}"
try on h0 sh -c 'exit 7'
exits "exec: the status of a shell" 7
try on h0 "$name"
exits "exec: no such command" 127
sent=$(told "r['packets']['sent']")
try on h0 getent hosts "$name"
exits "a name of nobody" 2
same "and nobody was asked for it" "$(told "r['packets']['sent']")" "$sent"

# ---- what is seen of a packet

# Of every port, or of those named; it has begun.
begin_capture() { # FILE TARGET
	rm -f capture.log
	"$fabricbed" capture "$fabric" "$2" -o "$1" 2>capture.log </dev/null &
	capture=$!
	children+=($!)
	wait_for grep -qs capturing capture.log
}
end_capture() {
	kill -INT "$capture"
	wait "$capture"
}

fields() { # FILE FILTER FIELD...
	tshark -n -r "$1" -Y "$2" -T fields "${@:3}" 2>/dev/null
}

# How often each line is there.
tally() {
	sort | uniq -c | tr -s ' \t' ' '
}

if with "what is seen of a packet" tcpdump tshark; then
	begin_capture all.pcapng all
	begin_on tcpdump.log h1 tcpdump -Z root -i eth0 -c 4 -U -w eth0.pcap
	wait_for grep -qs listening tcpdump.log
	began=$(told "int(r['model_time_us'])")
	try on h0 ping -4 -i 0.01 -c 2 h1
	ends_well "tcpdump in a host sees both directions"
	quiet
	ended=$(told "int(r['model_time_us']) + 1")
	end_capture
	same "eth0: what an ordinary card shows" "$(fields eth0.pcap frame -e frame.len -e frame.protocols -e ip.ttl | tally)" "\
 2 98 eth:ethertype:ip:icmp:data 59
 2 98 eth:ethertype:ip:icmp:data 64"
	tap_empty "capture: nothing malformed" "$(fields all.pcapng _ws.malformed -e frame.number)"
	same "capture: each frame as it leaves and as it comes, requests and answers" \
		"$(fields all.pcapng frame -e icmp.type -e frame.packet_flags_direction | tally)" \
		"$(printf ' 12 %s 0x0000000%s\n' 0 1 0 2 8 1 8 2)"
	# 122 bytes on the wire at 20 Mbps, and 100 us
	same "capture: the times are the links', to the nanosecond" \
		"$(fields all.pcapng 'icmp.type == 8 && icmp.seq == 1 && frame.packet_flags_direction == 2' \
			-e frame.time_epoch -e frame.interface_name | "$python" -c '
import sys
rows = [line.split() for line in sys.stdin]
times = [int(t.replace(".", "")) for t, _ in rows]
print(*(p for _, p in rows), *(b - a for a, b in zip(times, times[1:])))')" \
		"h0->s0 s0->s1 s1->s2 s2->s3 s3->s4 s4->h1 148800 148800 148800 148800 148800"
	holds "capture: and they are model time" "$python" -c '
import sys
times = [float(line) * 1e6 for line in open(0)]
assert times and all(int(sys.argv[1]) <= t <= int(sys.argv[2]) for t in times), (sys.argv, times)' \
		"$began" "$ended" < <(fields all.pcapng icmp -e frame.time_epoch)
fi

# ---- faults by hand

inject() { # WORD...
	try "$fabricbed" inject "$fabric" "$@"
	exits "inject $*" 0
}
heal() {
	try "$fabricbed" heal "$fabric" all
	exits "heal" 0
}

inject link s1-s2 down
begin_capture lost.pcapng s1-s2
before=$(told "r['packets']['sent']")
try on h0 ping -q -4 -i 0.01 -c 5 -W 0.1 h1
exits "a dead link: ping's status" 1
like "a dead link: all are lost" "$out" "*5 packets transmitted, 0 received, *100% packet loss*"
wait_for settled $((before + 5))
same "a dead link: and counted with the reason" "$(told ports "sum(row['dropped'].get('link_down', 0) for row in rows.values())")" 5
end_capture
if with "a dead link: a capture has the reason as a comment" tshark; then
	same "a dead link: a capture has the reason as a comment" \
		"$(fields lost.pcapng frame.comment -e frame.comment -e icmp.type | tally)" \
		" 5 dropped: link_down: the link was down while the frame was on it 8"
fi
heal
before=$(counter h0 IcmpInEchoReps)
ping_all 5 -4
same "healed: all come through" $(("$(counter h0 IcmpInEchoReps)" - before)) 5

inject link s2-s3 delay 2ms
ping_all 5 -4
at_least "a slow link: its delay in each direction" "$least" "$(least_rtt 98 4000000)"
heal
inject link s2-s3 rate 10%
ping_all 5 -4
# 48.8 us become 488
at_least "a slow link: a tenth of its rate" "$least" "$(least_rtt 98 878400)"
heal
inject link s2-s3 loss 50%
before=$(counter h0 IcmpInEchoReps)
try on h0 ping -q -4 -i 0.002 -c 40 -W 0.01 h1
# requests that wait for the fabric, and answers that wait for it, are on no counter
accounted() {
	lost=$(told ports "sum(row['dropped'].get('loss', 0) for row in rows.values())")
	back=$(($(counter h0 IcmpInEchoReps) - before))
	[ $((back + lost)) -ge 40 ]
}
wait_for accounted
same "a bad link: what does not come back is counted" $((back + lost)) 40
at_least "a bad link: and that is much" "$lost" 10
heal

# ---- iperf3

# The model time in us, and bytes that ports and cards have counted, from one end to the other.
along() {
	quiet
	echo "$(told "int(r['model_time_us'])") $(eth0 h0 tx_bytes) $(told ports "' '.join(str(rows[p]['tx_bytes']) for p in \
		('h0->s0', 's0->s1', 's1->s2', 's2->s3', 's3->s4', 's4->h1'))") $(eth0 h1 rx_bytes)"
}

# Of 1,500 bytes, and 38 on the wire beside them, that much is a program's. What a link carries it carries in model time: iperf3's own seconds
# begin when its server gets to them, on a busy box after the first bytes.
cat >capacity.py <<'END'
import json, sys
end = json.load(open(".out"))["end"]
got, asked = end["sum_received"], 2 << 20
assert end["sum_sent"]["bytes"] >= asked, end["sum_sent"]
(since, *before), (until, *after) = ([int(n) for n in a.split()] for a in sys.argv[2:])
assert 0 < got["bytes"] * 8 <= (until - since) * 20 * int(sys.argv[1]) / 1538, (got, since, until)
moved = [b - a for a, b in zip(before, after)]
assert len(set(moved)) == 1, moved
assert moved[0] * int(sys.argv[1]) >= got["bytes"] * 1514, (moved, got)
END
all_done() {
	[ "$(told "r['flows']['done'] == r['flows']['count'] == 1")" = True ]
}

if with "iperf3" iperf3; then
	begin_on server.log h1 iperf3 -s
	wait_for listens h1 -t 5201
	for i in 4 6; do
		before=$(along)
		try on h0 iperf3 -$i -c h1 -n 2M -J
		exits "iperf3, TCP over IPv$i" 0
		# what the headers of IP and TCP leave, with timestamps
		carried() { "$python" capacity.py $((i == 4 ? 1448 : 1428)) "$before" "$(along)"; }
		# the last acknowledgements may still wait at a card
		wait_for carried 2>carried.err
		holds "iperf3, IPv$i: no more than the links carry, and every byte counted at each" carried
	done
	# and AF_XDP beside it
	begin_on .tcp h0 iperf3 -c h1 -n 1M
	try "$fabricbed" start "$fabric"
	exits "a workload begins" 0
	ends_well "beside iperf3"
	holds "and all its flows end" wait_for all_done
fi

# ---- curl

head -c 500000 /dev/urandom >file
if with "curl" curl; then
	begin_on web.log h1 "$python" -m http.server --bind :: 8000
	wait_for listens h1 -t 8000
	try on h0 curl -sS -o got http://h1:8000/file
	exits "curl" 0
	holds "curl: the file is whole" cmp file got
	inject link s2-s3 loss 5%
	head -c 200000 file >short
	try on h0 curl -sS -o got http://h1:8000/short
	exits "curl, a link loses 5%" 0
	holds "curl, a link loses 5%: the file is whole" cmp short got
	at_least "curl, a link loses 5%: it does" \
		"$(told ports "sum(row['dropped'].get('loss', 0) for row in rows.values())")" $((lost + 1))
	heal
fi
same "without host.stack.ecn nothing is ECN-capable" "$(counter h0 IpExtInECT0Pkts) $(counter h1 IpExtInECT0Pkts)" "0 0"
balance='
p = json.load(open(sys.argv[1]))["packets"]
assert p["sent"] + p["made"] == p["delivered"] + p["consumed"] + sum(p["dropped"].values()) + p["in_flight"], p'
"$fabricbed" show "$fabric" summary --json >now.json
holds "every packet is accounted for, at any moment" "$python" -c "import json, sys$balance" now.json
take_down
holds "every packet is accounted for, at the end" "$python" -c "import json, sys$balance
assert p['in_flight'] == 0" resultschain/summary.json
same "no flow is left over" "$(figure resultschain/summary.json flows.unfinished)" 0

# ---- classes, by port and by cgroup

cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
cgroup=
classes='{port: 5301, dscp: 26}, {port: 5302, dscp: 10}'
if [ -z "$cgroups" ]; then
	why="there is no cgroup2 mount"
elif ! mkdir "$cgroups/$name" 2>why; then
	why=$(cat why)
else
	cgroup=$cgroups/$name
	classes+=", {cgroup: /$name, dscp: 12}"
fi
leave_narrow() {
	local status=$?

	trap - EXIT
	(exit $status)
	(leave)
	status=$?
	# now that no program is in it any more
	[ -z "$cgroup" ] || rmdir "$cgroup"
	exit $status
}
trap leave_narrow EXIT

bring_up narrow narrow.yaml --set "host.stack.classes=[$classes]"
begin_sink h2 5300 5301 5302
if with "DSCP by port and by cgroup" tcpdump; then
	begin_on tos.log h2 tcpdump -i eth0 -l -n -v -c 5 udp
	wait_for grep -qs listening tos.log
	burst h0 10.0.0.3 5301 1
	burst h0 10.0.0.3 5302 1
	burst h0 fd00:fab::3 5302 1
	burst h0 10.0.0.3 5300 1
	if [ -n "$cgroup" ]; then
		(echo $BASHPID >"$cgroup/cgroup.procs" && on h0 "$python" burst.py 10.0.0.3 5300 1)
	else
		burst h0 10.0.0.3 5300 1
	fi
	ends_well "tcpdump in the receiver"
	holds "and all are read" wait_for received h2 4
	marked=$(sed -nE 's/.* IP6? \((tos|class) 0x([0-9a-f]*).*/\2/p' tos.log)
	same "DSCP by port, and none for others" "$(head -n 4 <<<"$marked" | tr '\n' ' ')" "68 28 28 0 "
	if [ -n "$cgroup" ]; then
		same "DSCP by cgroup" "$(sed -n 5p <<<"$marked")" 30
	else
		tap_skip "DSCP by cgroup" "$why"
	fi
	quiet
	same "each class has its queue" "$(told queues "sorted(row['class'] for row in r['rows'] if row['port'] == 's0->s1')")" "[0, 1, 3]"
fi

# ---- lossy and lossless

# 60 of them take 3.5 ms to come in and 35 ms to go on: of 85 KB, 30 find room in the queue of a lossy class.
before=$(counter h2 UdpInDatagrams)
burst h0 10.0.0.3 5302 60
lost=$(told ports "rows['s0->s1']['dropped'].get('buffer', 0)")
at_least "a lossy class drops" "$lost" 26
holds "what is not dropped arrives" wait_for received h2 $((before + 60 - lost))
burst h0 10.0.0.3 5301 60
same "a lossless class drops nothing" "$(told ports "dropped()")" "{'s0->s1': {'buffer': $lost}}"
holds "a lossless class: all arrive" wait_for received h2 $((before + 120 - lost))
same "a lossless class: the host was paused" "$(told ports "rows['h0->s0']['paused_us'] > 0")" True
same "what is not ECN-capable is not marked" "$(port 's0->s1' marked) $(counter h2 IpExtInCEPkts)" "0 0"

# ---- a host's own queue

# The first is on the line at once, 71 fill 100 KB.
burst h3 10.0.0.3 5300 250
same "a host's queue: what finds no room" "$(told ports "rows['h3->s1']['dropped']")" "{'host_queue': 178}"
same "a host's queue: what does" "$(port 'h3->s1' tx_frames)" 72

# ---- ECN of TCP

if with "TCP with ECN" iperf3; then
	begin_on server.log h2 iperf3 -s
	wait_for listens h2 -t 5201
	try on h0 iperf3 -4 -c h2 -n 500K
	exits "TCP with ECN" 0
	quiet
	at_least "TCP with ECN: it is marked" "$(port 's0->s1' marked)" 1
	marks_unheard() { echo $(($(port 's0->s1' marked) - $(counter h2 IpExtInCEPkts))); }
	comes_to "TCP with ECN: all marks reach the receiver" 0 marks_unheard
	at_least "TCP with ECN: the sender hears of them" "$(counter h0 TcpExtTCPDeliveredCE)" 1
fi
take_down

if with "TCP without ECN" iperf3; then
	bring_up narrow narrow.yaml --set host.stack.ecn=off
	begin_on server.log h2 iperf3 -s
	wait_for listens h2 -t 5201
	try on h0 iperf3 -4 -c h2 -n 500K
	exits "TCP without ECN" 0
	quiet
	same "TCP without ECN: no mark" "$(port 's0->s1' marked) $(counter h2 IpExtInCEPkts) $(counter h0 TcpExtTCPDeliveredCE)" "0 0 0"
	take_down
fi

# ---- ECT for those that do not ask; trimming

bring_up narrow narrow.yaml --set host.stack.ect=on --set switch.trim=receiver
begin_sink h2 5300 5301 5302
burst h0 10.0.0.3 5300 40
marks=$(port 's0->s1' marked)
at_least "ect: on: datagrams are marked" "$marks" 1
comes_to "ect: on: all marks reach the receiver" "$marks" counter h2 IpExtInCEPkts
same "no datagram was cut" "$(port 's0->s1' trimmed)" 0
holds "and all arrive" wait_for received h2 40
burst h0 10.0.0.3 5302 60
cut=$(port 's0->s1' trimmed)
at_least "a class that may be trimmed: cut" "$cut" 26
same "a class that may be trimmed: nothing is dropped" "$(port 's0->s1' dropped)" "{}"
holds "a class that may be trimmed: the others arrive whole" wait_for received h2 $((100 - cut))
same "a class that may be trimmed: headers arrive too" "$(eth0 h2 rx_packets)" 100
burst h0 10.0.0.3 5301 60
same "a lossless class is not" "$(port 's0->s1' trimmed)" "$cut"
holds "and all arrive" wait_for received h2 $((160 - cut))
take_down

# ---- paths

# Datagrams that each spine has had: nothing else passes it.
by_spine() { # FRAME
	quiet
	told ports "' '.join(str(rows['leaf0->spine%d' % i]['tx_bytes'] // $1) for i in (0, 1))"
}

bring_up spread spread.yaml
begin_sink h2 5300
burst h0 fd00:fab::3 5300 60
read -r one other <<<"$(by_spine $frame6)"
same "entropy: packet: all datagrams are counted" $((one + other)) 60
same "entropy: packet: by both spines" $((one > 10 && other > 10)) 1
burst h0 10.0.0.3 5300 60
same "entropy: packet: IPv4 has none" "$(told ports "sorted((rows['leaf0->spine%d' % i]['tx_bytes'] - n * $frame6) // $frame4
	for i, n in enumerate(($one, $other)))")" "[0, 60]"

# ---- routes around what is dead

routes() { # PORTS
	[ "$(told routes "next(row['ports'] for row in r['rows'] if row['node'] == 'leaf0' and row['to'] == 'h2')")" = "$1" ]
}
inject link leaf0-spine0 down
holds "the dead spine's link is left out" wait_for routes "leaf0->spine1"
sent=$(port 'leaf0->spine1' tx_bytes)
before=$(told "r['packets']['sent']")
try on h0 ping -q -6 -c 20 -i 0.002 h2
wait_for settled $((before + 40))
comes_to "all come through by the other spine" 20 counter h0 Icmp6InEchoReplies
at_least "and are counted there" $(("$(port 'leaf0->spine1' tx_bytes)" - sent)) $((20 * 118))
heal
holds "healed: both again" wait_for routes "leaf0->spine0 leaf0->spine1"

take_down

# ---- lldpd

if with "lldpd" lldpd; then
	bring_up spread spread.yaml --set 'switch.lldp={every: 100ms}'
	# without the machine's /run, and ending with the shell that starts it
	# shellcheck disable=SC2016
	begin_on lldpd.log h1 unshare --mount --propagation private --pid --fork --kill-child sh -c '
		mount -t tmpfs none /run && mkdir /run/lldpd &&
		{ lldpd -dd -r -I eth0 -L "" -u "$1" -p /run/lldpd.pid & wait; }' sh "$scratch/lldpd.socket"
	neighbour() {
		[ "$(lldpcli -u lldpd.socket -f keyvalue show neighbors 2>/dev/null |
			sed -n 's/^lldp\.eth0\.\(chassis\.name\|port\.ifname\|chassis\.mac\)=//p' | sort | tr '\n' ' ')" = "$1" ]
	}
	mac=$(on leaf0 cat /sys/class/net/p0/address)
	holds "lldpd in a host hears its leaf" wait_for neighbour "$mac leaf0 leaf0->h1 "
	same "and the leaf its host" "$(told roles "' '.join(str(rows['leaf0->h1'][k]) for k in ('role', 'neighbour', 'neighbour_port'))")" \
		"down h1 h1->leaf0"
	take_down
fi

bring_up spread spread.yaml --set host.stack.entropy=flow
begin_sink h2 5300
burst h0 fd00:fab::3 5300 60
like "entropy: flow: by one spine" "$(by_spine $frame6)" "@(60 0|0 60)"
take_down

same "nothing is left" "$(leftovers)" ""
tap_done
