#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each load-balancing policy of the switch is what a user's is: a file that compiles by itself, for the kernel and for the process, and
# has the one function.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
clang=${CLANG:-clang}

if ! command -v "$clang" >/dev/null; then
	tap_skip "policies are files of users'" "$clang is not installed"
	tap_done
	exit
fi
multiarch=$("$clang" -dumpmachine | sed 's/-pc-/-/;s/-unknown-/-/')
for target in bpf native; do
	flags=()
	[ $target = native ] || flags=(-target bpf -mcpu=v3 "-I/usr/include/$multiarch")
	tap_empty "policies of the switch compile by themselves for $target" \
		"$("$clang" "${flags[@]}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -Ibpf -DFABRICBED_POLICY_FILE -x c bpf/sw/balance/*.h 2>&1)"
done
names=$(sed -n 's/^POLICY(\(.*\))$/\1/p' bpf/sw/balance/*.h | sort)
tap_empty "each has its function, and its row" \
	"$(diff <(printf '%s\n' "$names") <(sed -n 's/^	X(BALANCE_[A-Z_]*, \([a-z_]*\),.*/\1/p' bpf/abi/policies.h | sort))"
tap_empty "of the name of its file" "$(diff <(printf '%s\n' "$names") <(basename -s .h -a bpf/sw/balance/*.h | sort))"
tap_done
