#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs written with libxdp in the hosts of a live fabric: an AF_XDP echo on eth0, and xdp-tools there: xdp-loader, xdpdump.
#
# libxdp keeps what its programs share in the bpf file system, which not every machine has mounted: this script has one of its own.
cd "$(dirname "$0")/../.." || exit 1
if [ "$(id -u)" = 0 ] && [ -z "${OWN_BPFFS-}" ]; then
	OWN_BPFFS=1 exec unshare --mount bash -c 'mount -t bpf bpf /sys/fs/bpf && exec bash tests/system/libxdp.sh'
fi
. tests/lib/tap.sh
. tests/lib/command.sh
PATH=$PATH:/usr/sbin:/sbin

can_load() {
	local program

	can_build || return 1
	for program in xdp-loader xdpdump python3 cc clang; do
		command -v "$program" >/dev/null || reason="needs $program"
	done
	[ -e /usr/include/xdp/xsk.h ] || reason="needs libxdp-dev"
	[ -z "$reason" ]
}
if ! can_load; then
	tap_skip "programs with libxdp" "$reason"
	tap_done
	exit
fi

in_h3() { # COMMAND...
	try "$fabricbed" exec "$name" h3 -- "$@"
}
begin_in_h3() { # LOG COMMAND...: $program is its process
	local log=$1

	shift
	rm -f "$log" # "ready" of another one is not this one's
	"$fabricbed" exec "$name" h3 -- "$@" >"$log" 2>&1 </dev/null &
	program=$!
	children+=("$program")
}
pings() { # TITLE
	try "$fabricbed" exec "$name" h0 -- ping -4 -c 3 -i 0.2 -W 10 h3
	exits "$1" 0
}
# Ten datagrams of ten sizes to port 7 of h3; each has to come back as it was.
cat >ask.py <<-'END'
	import os, socket
	with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
	    s.settimeout(30)
	    s.connect(("h3", 7))
	    for size in range(1, 1473, 160):
	        data = os.urandom(size)
	        s.send(data)
	        assert s.recv(2000) == data
	print("all came back")
END
# xdpdump in h3 shows the frames of three pings: FRAMES of them.
dump() { # TITLE FRAMES
	begin_in_h3 dump.log stdbuf -oL xdpdump -i eth0
	holds "$1: xdpdump listens" wait_for grep -qs "listening on eth0" dump.log
	pings "$1: ping"
	holds "$1: xdpdump shows it" wait_for shown "$2"
	kill -INT "$program"
	wait "$program"
	same "$1: xdpdump ends well" $? 0
}
shown() { # FRAMES
	[ "$(grep -c 'packet size 98 bytes' dump.log)" = "$1" ]
}
# Beside a program xdpdump looks by fentry. A kernel that refuses that refuses it on a veth too, which fabricbed has no part in.
can_trace() {
	local apart=(nsenter --net="/run/netns/$name-veth") tracer

	ip netns add "$name-veth"
	ip -n "$name-veth" link add eth0 type veth peer name eth1
	ip -n "$name-veth" link set eth0 up
	"${apart[@]}" xdp-loader load -m native eth0 pass.o >/dev/null 2>&1
	"${apart[@]}" xdpdump -i eth0 >trace.log 2>&1 </dev/null &
	tracer=$!
	children+=("$tracer")
	wait_for tells_or_ended "$tracer"
	kill "$tracer" 2>/dev/null
	wait "$tracer"
	ip netns del "$name-veth"
	grep -q "listening on eth0" trace.log
}
tells_or_ended() { # PROCESS
	grep -qs "listening on eth0" trace.log || ! [ -e "/proc/$1/exe" ]
}
# libxdp puts a program under a dispatcher where the kernel can, and the mode stands by that.
has_program() { # TITLE MODE PROGRAM
	in_h3 xdp-loader status eth0
	like "$1: in mode $2" "$out" "*eth0*$2*"
	like "$1: by name" "$out" "*eth0*$3*"
}

holds "the echo is built with libxdp" "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -o echo \
	"$root/tests/system/libxdp_echo.c" -lxdp -lbpf
cat >pass.c <<-'END'
	#include <linux/bpf.h>
	#include <bpf/bpf_helpers.h>
	SEC("xdp") int let_pass(struct xdp_md *c) { return XDP_PASS; }
	char _license[] SEC("license") = "GPL";
END
holds "a program of one's own is built" clang -O2 -g -target bpf "-I/usr/include/$(uname -m)-linux-gnu" -c -o pass.o pass.c

try "$fabricbed" up "$scenarios/lab.yaml" --name "$name" --out results --quiet
exits "up" 0
in_h3 xdp-loader status eth0
like "xdp-loader: there is no program" "$out" "*eth0 *No XDP program loaded*"

# ---- AF_XDP

for mode in native skb; do
	begin_in_h3 echo.log ./echo eth0 $mode
	holds "$mode: the echo listens on eth0" wait_for grep -qs ready echo.log
	has_program "$mode: its program is there" $mode xsk_def_prog
	try "$fabricbed" exec "$name" h0 -- python3 ask.py
	same "$mode: each datagram comes back" "$out$err" "all came back"
	kill "$program"
	wait "$program"
	same "$mode: the echo ends well" $? 0
	in_h3 xdp-loader status eth0
	like "$mode: xdp-loader: its program is gone" "$out" "*eth0 *No XDP program loaded*"
done
pings "ping is the stack's again"

# ---- a program of one's own

for mode in native skb; do
	in_h3 xdp-loader load -m $mode eth0 pass.o
	exits "$mode: xdp-loader load" 0
	has_program "$mode: xdp-loader status" $mode let_pass
	pings "$mode: ping passes it"
	in_h3 xdp-loader unload -a eth0
	exits "$mode: xdp-loader unload" 0
done

# ---- xdpdump

# it sees both directions where it has no program to look at, and there what comes in
dump "beside no program" 6
in_h3 xdp-loader load -m native eth0 pass.o
if can_trace; then
	dump "beside a program" 3
else
	tap_skip "beside a program" "nor does it work on a veth: $(grep -m 1 ERROR trace.log)"
fi

try "$fabricbed" down "$name"
exits "down, with a program on eth0" 0
same "every packet is accounted for" "$(figure results/summary.json packets.in_flight)" 0
tap_empty "nothing is left" "$(leftovers)"
tap_done
