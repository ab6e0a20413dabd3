#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who may include whom, and no state outside of the structs that are passed around. docs/contributing.md
# tells why. Violations are printed as file:line.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
set -f # patterns below are for `case`, not for the shell to expand

# A path prefix (the longest that fits counts), then patterns over what it may include with quotes.
userspace_all='abi/* base/* control/* dataplane/* engine/* faults/* io/* telemetry/* transport/* workload/*'
rules=$(
	cat <<-END
	bpf/                            xdp.h sw/pipeline.h
	bpf/xdp.h                       sw/pipeline.h
	bpf/egress.bpf.c                egress/*
	bpf/egress/                     abi/* lib/* egress/packet.h
	bpf/abi/
	bpf/lib/                        abi/* lib/*
	bpf/fabricbed/                  abi/* lib/*
	bpf/sw/                         abi/* lib/* sw/context.h
	bpf/sw/balance/                 fabricbed/policy.h
	bpf/sw/balance.h                abi/* sw/context.h sw/balance/* fabricbed/policy.h
	bpf/sw/context.h                abi/* lib/*
	bpf/sw/resubmit.h               sw/*
	bpf/sw/trim.h                   lib/* sw/resubmit.h
	bpf/sw/generate.h               sw/*
	bpf/sw/pipeline.h               sw/*
	userspace/base/                 base/* abi/* lib/rng.h lib/random.h lib/compiler.h
	userspace/control/              control/* base/* abi/* dataplane/dataplane.h
	userspace/dataplane/dataplane.h abi/*
	userspace/dataplane/inline.c    abi/policies.h dataplane/dataplane.h dataplane/table_list.h sw/pipeline.h
	userspace/dataplane/table_list  dataplane/table_list.h abi/*
	userspace/dataplane/kernel      dataplane/* base/* abi/* io/* fabricbed.skel.h
	userspace/engine/               engine/* base/* abi/* lib/compiler.h lib/buffer.h lib/pause.h dataplane/dataplane.h transport/transport.h
	userspace/faults/               faults/* base/* abi/* engine/engine.h
	userspace/io/                   io/* base/*
	userspace/telemetry/            telemetry/* base/* abi/* engine/engine.h
	userspace/transport/            transport/* base/* abi/* lib/rng.h lib/compiler.h lib/checksum.h
	userspace/workload/             workload/* base/* abi/*
	orchestrator/scenario/          scenario/* base/* faults/fault_kind.h workload/kind.h transport/kind.h topology/topology_kind.h abi/wire.h
	orchestrator/topology/          topology/* scenario/* base/* abi/* faults/fault_kind.h workload/kind.h transport/kind.h
	orchestrator/bringup/           bringup/* topology/* scenario/* $userspace_all
	orchestrator/policy/            policy/* base/* abi/* io/* dataplane/dataplane.h dataplane/kernel.h lib/checksum.h lib/compiler.h
	orchestrator/session/           session/* policy/* bringup/* topology/* scenario/* $userspace_all
	orchestrator/daemon/            daemon/* session/* policy/* bringup/* topology/* scenario/* $userspace_all
	orchestrator/report/            report/* topology/* scenario/* $userspace_all
	orchestrator/sweep/             sweep/* report/plot.h scenario/* $userspace_all
	orchestrator/cli/               cli/* sweep/* report/* daemon/* session/* policy/* bringup/* topology/* scenario/* $userspace_all
	END
)

# Folders whose time and input are arguments, and the headers that would let in the machine's.
pure='userspace/engine userspace/transport userspace/workload userspace/control orchestrator/topology'
impure='time.h sys/time.h unistd.h fcntl.h sys/socket.h sys/ioctl.h poll.h sys/epoll.h sys/random.h'

# "file:line header" of every include with quotes, or with angle brackets, below the folders named.
includes() { # BRACKET FOLDER...
	local open=$1

	shift
	grep -rnE "^[ 	]*#[ 	]*include[ 	]*$open" --include='*.[ch]' "$@" |
		sed -E "s/^([^:]*:[0-9]+):[^\"<]*[\"<]([^\">]*)[\">].*/\1 \2/"
}

# Sets rule and allowed for a file; false: no rule covers it.
find_rule() { # FILE
	local prefix rest

	rule=
	while read -r prefix rest; do
		case $1 in
		"$prefix"*) [ ${#prefix} -le ${#rule} ] || rule=$prefix allowed=$rest ;;
		esac
	done <<<"$rules"
	[ -n "$rule" ]
}

is_allowed() { # HEADER
	local pattern

	for pattern in $allowed; do
		case $1 in
		$pattern) return 0 ;;
		esac
	done
	return 1
}

declare -A wrong
uncovered=
while read -r where header; do
	file=${where%%:*}
	if ! find_rule "$file"; then
		uncovered+="$where: no rule covers this file"$'\n'
	elif ! is_allowed "$header"; then
		wrong[$rule]+="$where: may not include \"$header\"${allowed:+; it may: $allowed}"$'\n'
	fi
done < <(includes '"' bpf userspace orchestrator)
while read -r rule allowed; do
	tap_empty "$rule includes no more than it may" "${wrong[$rule]-}"
done <<<"$rules"
tap_empty "every folder has a rule" "$uncovered"

tap_empty "bpf/abi includes <linux/types.h> alone" \
	"$(includes '<' bpf/abi | grep -v ' linux/types\.h$')"
for folder in $pure; do
	tap_empty "$folder reads no clock and does no input or output" \
		"$(includes '<' "$folder" | grep -E " (${impure// /|})$")"
done

# Zeroed, initialised and common data; constants that hold addresses lie in .data.rel.ro and are none.
# objdump and not nm: of an object that carries code for link-time optimisation, nm reads that
globals() {
	objdump -t "$1" | awk '
		/^[^ ]+: +file format/ { object = $1; sub(/:$/, "", object) }
		NF >= 5 && $(NF - 2) ~ /^(\.t?bss|\.t?data|\*COM\*)/ && $(NF - 2) !~ /^\.data\.rel\.ro/ &&
			$NF !~ /^(__|\.)/ {
			print object ": " $NF " in " $(NF - 2)
		}'
}

library=${BUILD:-build}/libfabricbed.a
if [ -e "$library" ]; then
	tap_empty "no global variables outside orchestrator/cli" "$(globals "$library")"
else
	tap_skip "no global variables outside orchestrator/cli" "there is no $library"
fi
tap_done
