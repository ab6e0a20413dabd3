#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The way out of a live fabric: a host of it joins a bridge of an Open vSwitch of this test's own (in a network
# namespace), and so does a namespace that is the outside. Packets and TCP pass both ways; nothing of it
# stays, however the fabric ends, and whether Open vSwitch is there by then or not.
#
# DATAPATH  of the bridge: netdev, in user space, or system, the kernel's (netdev)
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
PATH=$PATH:/usr/sbin:/sbin
schema=/usr/share/openvswitch/vswitch.ovsschema
yaml=$scenarios/external.yaml
bridge=fabric-out # of that scenario
datapath=${DATAPATH:-netdev}
switch=o${name#t}-switch outside=o${name#t}-outside

can_switch() {
	local program

	can_build || return 1
	for program in ovsdb-tool ovsdb-server ovs-vswitchd ovs-vsctl ethtool nsenter python3; do
		command -v "$program" >/dev/null || reason="needs $program"
	done
	[ -c /dev/net/tun ] || reason="needs /dev/net/tun"
	[ -r "$schema" ] || reason="needs $schema"
	[ -z "$reason" ]
}
if ! can_switch; then
	tap_skip "a way out of the fabric" "$reason"
	tap_done
	exit
fi

leave_outside() {
	local status=$? netns

	for netns in "$switch" "$outside"; do
		[ -e "/run/netns/$netns" ] && ip netns del "$netns"
	done
	kill -KILL "${children[@]}" 2>/dev/null
	rm -rf "$memory"
	(exit $status)
	leave
}
trap leave_outside EXIT
trap 'exit 1' INT TERM HUP

# ---- Open vSwitch, and an outside

# Its database is written through to the disk each time: in memory nobody waits for a disk that others keep busy.
memory=$(mktemp -d /dev/shm/fabricbed-XXXXXX || echo "$scratch/ovs")
export OVS_RUNDIR=$memory OVS_LOGDIR=$memory OVS_DBDIR=$memory OVS_SYSCONFDIR=$memory
database=unix:$OVS_RUNDIR/db.sock

start_switch() {
	local without=

	[ "$datapath" = system ] || without=--disable-system
	mkdir -p "$OVS_RUNDIR"
	[ -e "$OVS_RUNDIR/conf.db" ] || ovsdb-tool create "$OVS_RUNDIR/conf.db" "$schema"
	ovsdb-server "$OVS_RUNDIR/conf.db" --remote="p$database" --no-chdir >server.log 2>&1 </dev/null &
	server=$!
	children+=("$server")
	wait_for ovs-vsctl --no-wait init 2>/dev/null
	# not by "ip netns exec", whose mount namespace the fabric's names would stay in
	# shellcheck disable=SC2086
	nsenter --net="/run/netns/$switch" ovs-vswitchd "$database" $without >switch.log 2>&1 </dev/null &
	vswitchd=$!
	children+=("$vswitchd")
	ovs-vsctl --timeout=60 --may-exist add-br "$bridge" -- set bridge "$bridge" datapath_type="$datapath"
}

# What the command line is to a user in the namespace of the bridge.
up() { # OPTION...
	rm -rf results
	try nsenter --net="/run/netns/$switch" "$fabricbed" up "$yaml" --name "$name" --out results --quiet "$@"
}
process() {
	sed -n 's/^ *"pid": \([0-9]*\),*$/\1/p' "/run/fabricbed/live/$name/state.json"
}

inside() { # HOST COMMAND...
	"$fabricbed" exec "$name" "$@"
}
outside() { # COMMAND...
	ip netns exec "$outside" "$@"
}

plug_outside() {
	ip netns add "$outside"
	ip -n "$switch" link add out0 type veth peer name eth0 netns "$outside"
	ip -n "$switch" link set out0 up
	ip -n "$outside" link set lo up
	ip -n "$outside" link set eth0 up
	ip -n "$outside" address add 192.0.2.2/24 dev eth0
	ip -n "$outside" address add 2001:db8::2/64 dev eth0 nodad
	ip -n "$outside" route add 10.0.0.0/8 via 192.0.2.1
	ip -n "$outside" route add fd00:fab::/64 via 2001:db8::1
	# a bridge in user space takes frames as they would be on a wire
	[ "$datapath" = system ] || outside ethtool -K eth0 tx off >/dev/null
	ovs-vsctl --timeout=60 add-port "$bridge" out0
}

# Fabrics' ports of the bridge, and fabrics' interfaces beside it.
ports() {
	ovs-vsctl --timeout=60 list-ports "$bridge" | grep '^fb-'
}
interfaces() {
	ip -n "$switch" -o link show | grep -o 'fb-[^@:]*'
}
own_interfaces() {
	ip -o link show | sed 's/ qlen.*//'
}
nothing_left() { # NAME
	tap_empty "$1: nothing is left" "$(leftovers; interfaces; own_interfaces | diff interfaces.before -)"
}

# ---- what passes

# The bridge is another program's, which drops what it comes too late for (docs/external.md): three answers, however many were asked for.
pings() { # TITLE TTL HOST-AND-COMMAND... ADDRESS
	local title=$1 ttl=$2

	shift 2
	answered() { try "$@" && [ "$(grep -c "ttl=$ttl " <<<"$out")" = 3 ]; }
	if wait_for answered "${@:1:$#-1}" ping -c 3 -i 0.2 -w 20 "${@: -1}"; then tap_ok "$title"; else tap_fail "$title" "$out$err$(of_the_switch)"; fi
}
# What the bridge says of itself, for whoever has to find out why.
of_the_switch() {
	ovs-vsctl --timeout=10 show
	ovs-appctl --timeout=10 -t "$OVS_RUNDIR/ovs-vswitchd.$vswitchd.ctl" dpif/show
	ovs-appctl --timeout=10 -t "$OVS_RUNDIR/ovs-vswitchd.$vswitchd.ctl" fdb/show "$bridge"
	ip -n "$switch" -s link
	tail -n 30 switch.log
} 2>&1

# A million bytes by TCP to a port that the receiver has told of; both tell the hash of what they had.
cat >receive.py <<-'END'
	import hashlib, socket, sys
	listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
	listener.settimeout(60)
	print(listener.getsockname()[1], flush=True)
	connection, _ = listener.accept()
	connection.settimeout(60)
	seen = hashlib.sha256()
	while part := connection.recv(65536):
	    seen.update(part)
	print(seen.hexdigest())
END
cat >send.py <<-'END'
	import hashlib, os, socket, sys
	data = os.urandom(1000000)
	with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60) as connection:
	    connection.sendall(data)
	print(hashlib.sha256(data).hexdigest())
END
tcp() { # TITLE RECEIVER ADDRESS SENDER...: a function and its words, as "inside h0"
	local title=$1 receiver=$2 address=$3 port sent seen

	shift 3
	# shellcheck disable=SC2086
	exec {from}< <($receiver timeout 90 python3 receive.py 2>&1)
	read -r port <&"$from"
	sent=$("$@" timeout 90 python3 send.py "$address" "$port" 2>&1)
	read -r seen <&"$from"
	exec {from}<&-
	like "$title: sent" "$sent" "????????????????????????????????????????????????????????????????"
	same "$title: received" "$sent" "$seen"
}

# ---- up

own_interfaces >interfaces.before
ip netns add "$switch"
start_switch
holds "Open vSwitch starts" ovs-vsctl --timeout=60 br-exists "$bridge"
holds "there is an outside" plug_outside

up
exits "up" 0
port=$(ports)
like "the bridge has a port more" "$port" "fb-${name:0:5}-??????"
same "which says whose it is" \
	"$(ovs-vsctl get Port "$port" external_ids:fabricbed external_ids:fabricbed-node | tr -d '"' | xargs)" "$name h3"
like "as the interface does" "$(ip -n "$switch" link show "$port")" "*alias fabricbed $name:h3*"
same "the interface has no address" "$(ip -n "$switch" -o address show "$port")" ""
like "the host has the scenario's addresses" "$(inside h3 ip -o address show ext0)" \
	"*inet 192.0.2.1/24 *inet6 2001:db8::1/64 *"

# three switches and the gateway, each of which takes one off 64
pings "ping to the outside" 60 inside h0 192.0.2.2
pings "ping to the outside, IPv6" 60 inside h0 2001:db8::2
pings "ping from the outside" 60 outside 10.0.0.1
pings "ping from the outside, IPv6" 60 outside fd00:fab::1
pings "ping from the outside to the gateway" 64 outside 192.0.2.1
tcp "TCP to the outside" outside 192.0.2.2 inside h0
tcp "TCP from the outside" "inside h0" 10.0.0.1 outside
tcp "TCP to the outside, IPv6" outside 2001:db8::2 inside h0
tcp "TCP from the outside, IPv6" "inside h0" fd00:fab::1 outside
tcp "TCP of the gateway's own to the outside" outside 192.0.2.2 inside h3
tcp "TCP from the outside to the gateway" "inside h3" 192.0.2.1 outside

# ---- down, in every way

try "$fabricbed" down "$name"
exits "down" 0
tap_empty "down: the port is gone from the bridge" "$(ports)"
nothing_left "down"

kill_fabric() {
	up
	exits "up, to be killed" 0
	kill -KILL "$(process)"
	wait_for is_dead
	same "killed: the port stays" "$(ports)" "$port"
}
is_dead() {
	"$fabricbed" list | grep -q "$name .*crashed"
}

kill_fabric
try env -u OVS_RUNDIR "$fabricbed" down "$name"
exits "down of what was killed, by one who knows nothing of this Open vSwitch" 0
tap_empty "killed: the port is gone from the bridge" "$(ports)"
nothing_left "killed"

kill_fabric
up
exits "up in the place of what was killed" 0
same "it has the port of that name" "$(ports)" "$port"
pings "and a way out" 60 inside h0 192.0.2.2

end_switch() {
	kill "$vswitchd" "$server"
	wait "$vswitchd" "$server" 2>/dev/null
	children=()
}
end_switch
try "$fabricbed" down "$name"
exits "down when Open vSwitch is gone" 0
nothing_left "without Open vSwitch"

start_switch
same "Open vSwitch is back with a port that is nobody's" "$(ports)" "$port"
up
exits "up takes that port over" 0
pings "up in its place" 60 inside h0 192.0.2.2
try "$fabricbed" down "$name"
tap_empty "and it goes" "$(ports)"

# ---- what is missing

up --set external.bridge=nobridge
exits "no such bridge" 3
like "the ones that there are are named" "$err" "*no bridge nobridge, but $bridge;*add-br nobridge*"
nothing_left "no such bridge"

OVS_RUNDIR=$scratch up
exits "no database" 3
like "it is said how to have one" "$err" "*cannot reach the database of Open vSwitch*start it*OVS_RUNDIR*"

OVS_RUNDIR=$scratch/nowhere up
exits "no OVS_RUNDIR" 3
like "which is said" "$err" "*OVS_RUNDIR=$scratch/nowhere: there is no such directory*"

try "$(command -v env)" PATH=/nowhere "$(command -v nsenter)" --net="/run/netns/$switch" "$fabricbed" up "$yaml" \
	--name "$name" --out results
exits "no ovs-vsctl" 3
like "the package that has it is named" "$err" "*no ovs-vsctl*openvswitch-switch*"

# ovs-vswitchd can't see an interface of another network namespace
try "$fabricbed" up "$yaml" --name "$name" --out results
exits "up beside the bridge's namespace" 4
like "its reason" "$err" "*could not open network device*network namespace*"
tap_empty "up beside the bridge's namespace: no port stays" "$(ports)"
nothing_left "what did not come up"
tap_done
