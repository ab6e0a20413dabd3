#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make check-container`: the image of the Containerfile, built by podman and used as docs/ci.md says. Its base image is
# made here by debootstrap, of the machine's own Debian and from its own mirror, so that no registry has to be reached.
# All of podman's but its lock and a small cache is in BUILD/container, apart from other images and containers, as is what makes the
# next time shorter: the base, and the layer with the packages.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh

mkdir -p "${BUILD:-build}/container" || exit 1
work=$(realpath "${BUILD:-build}/container")
name=t$(printf '%04x%04x' $RANDOM $RANDOM)
base=$(awk '$1 == "FROM" { print $2 }' Containerfile)
image=localhost/fabricbed
scenarios=/usr/share/fabricbed/scenarios # in the image
failed_at=

skip_all() { # REASON
	tap_skip "fabricbed in a container" "$1"
	tap_done
	exit
}

# ---- podman, with a place of its own

# The one that copies only what is written, where this kernel and this file system have it.
storage_driver() {
	if grep -qw overlay /proc/filesystems && podman --root "$work/overlay" --runroot "$work/run" --tmpdir "$work/libpod" \
		--storage-driver overlay info >/dev/null 2>&1; then
		echo overlay
	else
		rm -rf "$work/overlay"
		echo vfs
	fi
}

engine() { # ARGUMENT...
	TMPDIR=$work/tmp podman --root "$work/$driver" --runroot "$work/run" --tmpdir "$work/libpod" --storage-driver "$driver" \
		--cgroup-manager cgroupfs "${runtime[@]}" "$@"
}

# A privileged container gets limits that only CAP_SYS_RESOURCE can give: a machine that is itself confined may not have it.
own_limits() {
	local files tasks most

	((0x$(awk '/^CapEff:/ { print $2 }' /proc/self/status) >> 24 & 1)) && return
	files=$(ulimit -Hn)
	tasks=$(ulimit -Hu)
	most=$(</proc/sys/kernel/pid_max)
	[ "$tasks" != unlimited ] && [ "$tasks" -lt "$most" ] || tasks=$most
	limits=(--ulimit "nofile=$files:$files" --ulimit "nproc=$tasks:$tasks")
}

# Runs fabricbed in a container that is gone afterwards; the folder $work/out is its /work. $status, $out and $err: what came.
fabricbed() { # ARGUMENT...
	engine run --rm --name "$name" --privileged "${limits[@]}" --network none -v "$work/out:/work" "$image" "$@" \
		>"$work/stdout" 2>"$work/stderr" </dev/null
	status=$?
	out=$(<"$work/stdout")
	err=$(<"$work/stderr")
}

is_gone() {
	! engine container exists "$name"
}

exits() { # NAME STATUS
	if [ "$status" = "$2" ]; then
		tap_ok "$1"
	else
		tap_fail "$1" "status $status instead of $2"$'\n'"$out"$'\n'"$err"
		return 1
	fi
}

wait_for() { # COMMAND...
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

mounts_below() { # FOLDER
	awk -v folder="$1/" 'index($5, folder) == 1 { print $5 }' /proc/self/mountinfo | tac
}

leave() {
	local status=$? mount

	trap - EXIT
	[ -z "${driver-}" ] || engine rm -f -t 0 "$name" >/dev/null 2>&1
	for mount in $(mounts_below "$work"); do
		umount "$mount" || umount -l "$mount"
	done
	rm -rf --one-file-system "$work/root" "$work/tmp" "$work/out" "$work/stdout" "$work/stderr"
	exit "$status"
}

# ---- what it takes

[ "$(id -u)" = 0 ] || skip_all "needs root"
for tool in podman debootstrap apt-get; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
release=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME")
[ -n "$release" ] || skip_all "this is not Debian"
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || skip_all "apt knows no mirror of $release"
trap leave EXIT
trap 'exit 1' INT TERM HUP
mkdir -p "$work/tmp" "$work/out"
/usr/lib/apt/apt-helper download-file "$mirror/dists/$release/InRelease" "$work/tmp/InRelease" >/dev/null 2>&1 ||
	skip_all "the mirror $mirror can't be reached"

runtime=() limits=()
! command -v runc >/dev/null || runtime=(--runtime runc)
own_limits
driver=$(storage_driver)

# What a fabric could leave on the host: links, and what has a name.
leftovers() {
	comm -13 <(echo "$links_before") <(links)
	find /run/netns /run/fabricbed -name "*$name*" 2>/dev/null
}
links() {
	ip -o link | awk '{ print $2 }' | sort
}
links_before=$(links)

# The programs of fabrics that are loaded, wherever: an interface in a namespace that nobody sees any more has them still.
programs() {
	"$bpftool" prog show | awk '$4 ~ /^fabricbed_/ { print $1, $4 }' | sort
}
bpftool=$(command -v bpftool || echo /usr/sbin/bpftool)
programs_before=$(programs)

# ---- the image

make_base() {
	echo "# makes $base of $release from $mirror" >&2
	rm -rf --one-file-system "$work/root"
	debootstrap --variant=minbase "$release" "$work/root" "$mirror" >"$work/base.log" 2>&1 || return
	rm -f "$work"/root/var/cache/apt/archives/*.deb
	tar -C "$work/root" -c . | engine import -q - "$base" >>"$work/base.log" 2>&1 || return
	rm -rf --one-file-system "$work/root"
}
engine image exists "$base" || make_base || failed_at=base
[ -n "$failed_at" ] || engine build --network host --pull=never -t "$image" . >"$work/build.log" 2>&1 || failed_at=build
if [ -n "$failed_at" ]; then
	tap_fail "the image is built" "$(tail -n 20 "$work/$failed_at.log")"
	tap_done
	exit
fi
tap_ok "the image is built"

# ---- runs

fabricbed version
exits "the command is what the container runs" 0
fabricbed doctor
exits "doctor: the kernel dataplane is ready" 0
for scenario in link-failure trimming; do
	fabricbed run $scenarios/$scenario.yaml --set name="$name" --out $scenario --junit $scenario/junit.xml --quiet
	exits "$scenario: on the kernel dataplane" 0
	hash=$(awk -v name=$scenario '$1 == name { print $2 }' tests/golden/traces.txt)
	if grep -q "\"trace_hash\": \"$hash\"" "$work/out/$scenario/summary.json"; then
		tap_ok "$scenario: the trace is that of any machine"
	else
		tap_fail "$scenario: the trace is that of any machine" "$(<"$work/out/$scenario/summary.json")"
	fi
	if grep -q '<testsuite name="'"$name"'" tests="[1-9]*" failures="0" errors="0"' "$work/out/$scenario/junit.xml"; then
		tap_ok "$scenario: the JUnit file is outside"
	else
		tap_fail "$scenario: the JUnit file is outside" "$(ls "$work/out/$scenario")"
	fi
done
fabricbed run $scenarios/hello.yaml --set name="$name" --set 'expect=[{metric: flows.count, equals: 2}]' --junit missed.xml --quiet
exits "an expectation that is missed is the container's exit status" 1
if grep -q '<failure .*flows.count is 1' "$work/out/missed.xml"; then
	tap_ok "and a failure in the JUnit file"
else
	tap_fail "and a failure in the JUnit file" "$(<"$work/out/missed.xml")"
fi

# Killed in the middle of a run that is long enough for any machine; its namespaces are to go with it.
engine run -d --rm --name "$name" --privileged "${limits[@]}" --network none -v "$work/out:/work" "$image" \
	run $scenarios/link-failure.yaml --set name="$name" --set 'workload.0.permutation.message=1GB' --out killed --quiet >"$work/stdout" 2>&1
if wait_for test -e "$work/out/killed/events.jsonl" && engine kill "$name" >>"$work/stdout" 2>&1 && wait_for is_gone; then
	tap_ok "a container killed while it runs"
else
	tap_fail "a container killed while it runs" "$(<"$work/stdout")"
fi

# ---- a live fabric: a container that stays, and commands in it

cat >"$work/out/lab.yaml" <<END_OF_SCENARIO
name: $name
clock: wall
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}
  rate: 1Gbps
  delay: 100us
workload:
  - pairs: {from: [h0], to: [h3], message: 100KB}
expect:
  - {metric: flows.unfinished, equals: 0}
END_OF_SCENARIO
inside() { # TITLE STATUS COMMAND...
	local title=$1 expected=$2

	shift 2
	engine exec "$name" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
	status=$?
	out=$(<"$work/stdout")
	err=$(<"$work/stderr")
	exits "live: $title" "$expected"
}
engine run -d --rm --name "$name" --privileged "${limits[@]}" --network none -v "$work/out:/work" --entrypoint sleep "$image" \
	infinity >"$work/stdout" 2>&1
inside "up" 0 fabricbed up lab.yaml --out lab
inside "ping through the fabric" 0 fabricbed exec "$name" h0 -- ping -c 3 -i 0.2 -W 5 h3
inside "a link dies by hand" 0 fabricbed inject "$name" link leaf0-spine0 down
inside "and by IPv6 the other way round it" 0 fabricbed exec "$name" h3 -- ping -6 -c 3 -i 0.2 -W 5 h0
inside "exec passes the exit status through" 7 fabricbed exec "$name" h1 -- sh -c 'exit 7'
inside "list" 0 fabricbed list
inside "down" 0 fabricbed down "$name"
inside "up again" 0 fabricbed up lab.yaml --out lab
# it stays a zombie: nobody in this container waits for it
inside "its process is killed" 0 sh -c 'kill -KILL $(fabricbed list --json | sed -n "s/.*\"pid\": *\([0-9]*\).*/\1/p")'
inside "down of what is left" 0 fabricbed down "$name"
inside "nothing is left in the container" 1 sh -c 'ls -A /run/netns /run/fabricbed/live | grep -v :; ip -o link | grep -v lo:'
engine rm -f -t 0 "$name" >/dev/null 2>&1

# ---- nothing stays

nothing_left() {
	[ -z "$(leftovers)" ]
}
wait_for nothing_left
tap_empty "nothing is left on the host" "$(leftovers)"
same_programs() {
	[ -z "$(comm -13 <(echo "$programs_before") <(programs))" ]
}
if pgrep -x fabricbed >/dev/null; then
	tap_skip "no program is left in the kernel" "other fabrics are up"
elif wait_for same_programs; then
	tap_ok "no program is left in the kernel"
else
	tap_fail "no program is left in the kernel" "$(comm -13 <(echo "$programs_before") <(programs))"
fi
tap_empty "no container is left" "$(engine ps -a -q --filter name="$name")"
tap_done
