#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/your-own-policy.md: what a reader types works, and prints what is shown (tests/lib/document.sh). The fabric has a random name.
# Checks are short, unless FABRICBED_LONG is set.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/document.sh
. tests/lib/command.sh

if ! command -v clang >/dev/null; then
	tap_skip "the policies of the document" "there is no clang"
	tap_done
	exit
fi
export XDG_CACHE_HOME=$scratch/.cache
mkdir -m 700 "$XDG_CACHE_HOME"

document_read your-own-policy.md
sed -i "s/^name: mine$/name: $name/" fabric.yaml
sed -i -E "/^run/s/\bmine\b/$name/; s/^see mine:/see $name:/" todo
if [ -z "${FABRICBED_LONG-}" ]; then
	sed -i -E 's/^run fabricbed policy check.*/& -n 100/; s/^(see .*: )10000 packets.*/\1100 packets/' todo
fi

# the kernel's half of a check takes privilege
document_ran() { # COMMAND
	[[ $status$1 != 3*' policy check '* ]] || can_build || status=3 want=3
}

# the sizes of programs are the compiler's
document_skips() { # LINE
	[[ $1 =~ ^(switch program|instructions|walked) || -z $1 ]] || { [[ $1 == *' in the kernel '* ]] && ! can_build; }
}

document_follow
same "README.md has the same first policy" "$(awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md")" \
	"$(cat shortest.c)"
holds "the document has commands" test "$(grep -c ^run todo)" -ge 15
same "nothing is left" "$(leftovers)" ""
tap_done
