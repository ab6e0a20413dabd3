#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make check-kernels`: boots the kernels of Debian's releases in qemu, with a root file system made by debootstrap, and runs
# guest.sh and a system test there. Such a machine is all in memory and has no network; what it says comes by two serial
# ports. Kernels and packages are those of the machine's own mirror. Nothing is installed here, and all that is made is in
# BUILD/kernels: what makes the next time shorter, and RELEASE/kernel.log. The program is the one that was built here, since
# the root file system is of the same release.
#
# RELEASES  whose kernels (bookworm trixie)
# ACCEL     qemu's accelerator (kvm where that works, else tcg)
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh

fabricbed=${BUILD:-build}/fabricbed
mkdir -p "${BUILD:-build}/kernels" || exit 1
work=$(realpath "${BUILD:-build}/kernels")
scripts="tests/kernels/guest.sh tests/system/external.sh"
machine='' reached='' accelerator=${ACCEL-}

missing() { # REASON
	echo "$1" >&2
	exit 3
}

leave() {
	local status=$?

	trap - EXIT
	[ -z "$machine" ] || kill "$machine" 2>/dev/null
	rm -rf --one-file-system "$work/tmp"
	exit "$status"
}

# ---- what it takes

[ "$(id -u)" = 0 ] || missing "needs root"
[ "$(uname -m)" = x86_64 ] || missing "needs an x86-64 machine"
for tool in qemu-system-x86_64 debootstrap apt-get cpio depmod; do
	command -v $tool >/dev/null || missing "$tool is not installed"
done
release=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME")
[ -n "$release" ] || missing "this is not Debian"
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || missing "apt knows no mirror of $release"
trap leave EXIT
trap 'exit 1' INT TERM HUP
rm -rf --one-file-system "$work/tmp"
mkdir -p "$work/tmp" || exit 1

# ---- kernels

# apt with lists and a cache of its own: another release than the machine's.
apt_of() { # RELEASE COMMAND ARGUMENT...
	local at=$work/tmp/apt-$1 command=$2

	shift 2
	"$command" -q -o Dir::Etc::SourceList="$at/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$at" \
		-o Dir::State::status="$at/status" -o Dir::Cache="$at/cache" -o APT::Sandbox::User=root "$@"
}

reaches() { # RELEASE
	local at=$work/tmp/apt-$1

	mkdir -p "$at/lists/partial" "$at/cache/archives/partial" && : >"$at/status" &&
		echo "deb $mirror $1 main" >"$at/sources.list" &&
		apt_of "$1" apt-get update >"$work/tmp/update.log" 2>&1 && ! grep -q '^[EW]:' "$work/tmp/update.log"
}

# An archive as the kernel takes it for its root file system; several may follow each other.
pack() { # FILE FOLDER
	(cd "$2" && find . -print0 | sort -z | cpio --quiet --null -o -H newc) >"$work/tmp/packed" && mv "$work/tmp/packed" "$1"
}

# The kernel of a release in $work/RELEASE: vmlinuz, and those of its modules that concern networks.
fetch_kernel() { # RELEASE
	local at=$work/$1 unpacked=$work/tmp/unpacked tree=$work/tmp/tree package version modules

	package=$(apt_of "$1" apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" && /linux-image-/ { print $2; exit }')
	package+=_$(apt_of "$1" apt-cache policy "$package" | awk '$1 == "Candidate:" { print $2 }')
	[ "$(cat "$at/package" 2>/dev/null)" != "$package" ] || return 0
	echo "# fetches $package" >&2
	version=${package%%_*}
	version=${version#linux-image-}
	rm -rf "$at" "$unpacked" "$tree"
	mkdir -p "$at" "$tree/usr/lib/modules/$version/kernel/drivers" &&
		(cd "$work/tmp" && apt_of "$1" apt-get download "${package%%_*}") >"$at/fetch.log" 2>&1 &&
		dpkg-deb --extract "$work/tmp/${package%%_*}"_*.deb "$unpacked" &&
		mv "$unpacked/boot/vmlinuz-$version" "$at/vmlinuz" || return
	modules=$(find "$unpacked" -type d -path "*/lib/modules/$version")
	mv "$modules"/modules.{order,builtin}* "$tree/usr/lib/modules/$version/" &&
		mv "$modules"/kernel/{net,lib,crypto,arch} "$tree/usr/lib/modules/$version/kernel/" &&
		mv "$modules/kernel/drivers/net" "$tree/usr/lib/modules/$version/kernel/drivers/" &&
		depmod -b "$tree/usr" "$version" && pack "$at/modules.cpio" "$tree" || return
	rm -rf "$unpacked" "$tree" "$work"/tmp/*.deb
	echo "$package" >"$at/package"
}

# ---- the root file system

# The packages of the libraries that the program was linked with.
library_packages() {
	local library

	for library in $(ldd "$fabricbed" | awk '$2 == "=>" { print $1 }'); do
		dpkg-query -S "*/$library" | sed -n '1s/:.*//p'
	done | sort -u
}

# Without /etc/hosts: a machine may have none.
make_root() {
	local packages root=$work/tmp/root

	packages=$(echo iproute2 iputils-ping procps kmod bpftool ethtool openvswitch-switch python3 $(library_packages))
	[ "$(cat "$work/root.packages" 2>/dev/null)" != "$release $packages" ] || return 0
	echo "# makes a root file system of $release" >&2
	debootstrap --variant=minbase --include="${packages// /,}" "$release" "$root" "$mirror" >"$work/root.log" 2>&1 || return
	rm -rf "$root"/usr/share/{doc,man,locale} "$root"/var/cache/* "$root"/var/lib/apt/lists/* "$root/etc/hosts"
	pack "$work/root.cpio" "$root" || return
	rm -rf --one-file-system "$root"
	echo "$release $packages" >"$work/root.packages"
}

pack_program() {
	local at=$work/tmp/program

	mkdir -p "$at/fabricbed/build" && install tests/kernels/init.sh "$at/init" && cp -r tests scenarios "$at/fabricbed/" &&
		install "$fabricbed" "$at/fabricbed/build/" && pack "$work/tmp/program.cpio" "$at"
}

# ---- a boot

# That there is a /dev/kvm does not say that it works. A kernel without a root file system panics within a second, and ends.
choose_accelerator() { # RELEASE
	[ -z "$accelerator" ] || return 0
	accelerator=tcg
	! timeout 20 qemu-system-x86_64 -nodefaults -no-reboot -display none -accel kvm -cpu max -m 512 -kernel "$work/$1/vmlinuz" \
		-append "console=ttyS0 panic=-1" -serial "file:$work/tmp/panic.log" </dev/null >/dev/null 2>&1 ||
		! grep -q "Kernel panic" "$work/tmp/panic.log" || accelerator=kvm
	echo "# qemu's accelerator is $accelerator" >&2
}

boot() { # RELEASE: what the machine prints comes to the standard output
	cat "$work/root.cpio" "$work/$1/modules.cpio" "$work/tmp/program.cpio" >"$work/tmp/initrd" || return
	# on the first serial port the kernel's log; a machine by tcg takes some minutes
	exec nice timeout 3600 qemu-system-x86_64 -nodefaults -no-reboot -display none -accel "$accelerator" -cpu max -smp 2 -m 3072 \
		-kernel "$work/$1/vmlinuz" -initrd "$work/tmp/initrd" \
		-append "console=ttyS0 panic=-1 scripts=${scripts// /,}" \
		-serial "file:$work/$1/kernel.log" -serial stdio </dev/null 2>"$work/$1/qemu.log"
}

# What the scripts print in the machine becomes cases of this check. One that is skipped there has failed: the machine is made
# such that it has what they need.
report() { # KERNEL LOG
	local line script='' seen=0 ended=' '

	while IFS= read -r line; do
		case $line in
		"# begin "*)
			script=${line#"# begin "} seen=0
			continue
			;;
		"1.."*)
			[ "$line" != "1..$seen" ] || ended+="$script "
			continue
			;;
		"ok "*"# SKIP "*) tap_fail "$1: ${line#* - }" "it was skipped" ;;
		"ok "*) tap_ok "$1: ${line#* - }" ;;
		"not ok "*) tap_fail "$1: ${line#* - }" ;;
		*)
			echo "$line"
			continue
			;;
		esac
		seen=$((seen + 1))
	done
	for script in $scripts; do
		if [[ $ended == *" $script "* ]]; then
			tap_ok "$1: $script ran to its end"
		else
			tap_fail "$1: $script ran to its end" "$(tail -n 20 "$2")"
		fi
	done
	tap_empty "$1: the kernel complains of nothing" "$(grep -E 'WARNING:|BUG:|Oops|Call Trace|Kernel panic|rcu.*stall|blocked for more than' "$2")"
}

try_kernel() { # RELEASE
	local kernel

	kernel=$(sed 's/linux-image-\([0-9]*\.[0-9]*\).*/Linux \1/' "$work/$1/package")
	echo "# boots $(cat "$work/$1/package") of $1" >&2
	: >"$work/$1/kernel.log"
	choose_accelerator "$1"
	boot "$1" >"$work/tmp/said" &
	machine=$!
	report "$kernel" "$work/$1/kernel.log" <"$work/tmp/said"
	wait "$machine"
	machine=
}

for each in ${RELEASES:-bookworm trixie}; do
	if reaches "$each"; then reached+=" $each"; else echo "# the mirror has no $each" >&2; fi
done
[ -n "$reached" ] || missing "the mirror $mirror can't be reached"
make_root || missing "debootstrap failed: $(tail -n 3 "$work/root.log")"
pack_program || exit 1
mkfifo "$work/tmp/said" || exit 1
for each in $reached; do
	if fetch_kernel "$each"; then
		try_kernel "$each"
	else
		tap_fail "the kernel of $each" "$(cat "$work/$each/fetch.log")"
	fi
done
echo "1..$tap_cases"
echo "$((tap_cases - tap_failed)) passed, $tap_failed failed"
[ "$tap_failed" = 0 ]
