#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/your-own-transport.md: its patches apply, what they add builds and passes its test, and what a reader types works and prints what
# is shown (tests/lib/document.sh). Only what the patches change is compiled; in the long form, all is, as the page says.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/document.sh
. tests/lib/command.sh

if ! command -v patch >/dev/null; then
	tap_skip "the patches of the document" "patch is not installed"
	tap_done
	exit
fi
built=$(dirname "$fabricbed")
document_read your-own-transport.md
mkdir tree
cp -r "$root"/{Makefile,bpf,userspace,orchestrator,scenarios,tests} tree
for file in aimd test; do
	holds "$file.patch applies" patch -d tree -p1 --forward --no-backup-if-mismatch -i "$scratch/$file.patch"
done

# The objects of what is new, or has the table in it, go before the library, whose own are then not linked.
build_short() {
	local flags=(-std=gnu11 -Wall -Wextra -Werror -O1 -fno-lto -D_GNU_SOURCE -Ibpf -Iuserspace -Iorchestrator -Itests)
	local libs=(-lbpf -lmnl -lyaml -ljansson -lsqlite3 -lpthread -lm) file

	cd tree && mkdir -p build/tests/unit || return
	for file in transport/control/aimd transport/control/control transport/assembled_kind; do
		"${CC:-cc}" "${flags[@]}" -c "userspace/$file.c" -o "build/${file##*/}.o" || return
	done
	"${CC:-cc}" -fno-lto -o build/fabricbed build/*.o "$built"/obj/orchestrator/cli/*.o "$built/libfabricbed.a" "${libs[@]}" -lncurses -ltinfo &&
		"${CC:-cc}" "${flags[@]}" -o build/tests/unit/test_control_aimd tests/unit/test_control_aimd.c build/*.o "$built/libtests.a" \
			"$built/libfabricbed.a" -lcmocka "${libs[@]}"
}

if [ -n "${FABRICBED_LONG-}" ]; then
	holds "it builds" make -s -C tree -j"$(nproc)" BUILD=build LTO= all build/tests/unit/test_control_aimd
else
	holds "it builds" build_short
fi
fabricbed=$scratch/tree/build/fabricbed
holds "its test passes" tree/build/tests/unit/test_control_aimd
document_follow
holds "the document has commands" test "$(grep -c ^run todo)" -ge 8
tap_done
