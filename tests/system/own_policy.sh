#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# docs/your-own-policy.md: what a reader types works, and prints what is shown. Files are the blocks after a line that ends with
# their name; commands are the blocks of "```sh"; a block without a word after them has lines of their output. All is in one
# folder, and the fabric has a random name. Runs are inline and checks short, unless FABRICBED_LONG is set.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

if ! command -v clang >/dev/null; then
	tap_skip "the policies of the document" "there is no clang"
	tap_done
	exit
fi
export XDG_CACHE_HOME=$scratch/.cache
mkdir -m 700 "$XDG_CACHE_HOME"

# The document's files, and in "todo" a line for each command ("run COMMAND") and line of output ("see LINE").
awk '
	/^```/ && !inside {
		kind = substr($0, 4)
		file = match(before, /`[a-z]+\.(c|yaml)`:$/) ? substr(before, RSTART + 1, RLENGTH - 3) : ""
		inside = 1
		shown = kind == "" && after_commands
		next
	}
	/^```/ { inside = 0; after_commands = (kind == "sh" || (after_commands && kind == "")); before = ""; next }
	inside && file { print > file; next }
	inside && kind == "sh" { print "run " $0 > "todo"; next }
	inside && shown { print "see " $0 > "todo"; next }
	!inside && NF { before = $0 }' "$root/docs/your-own-policy.md"
sed -i "s/^name: mine$/name: $name/" fabric.yaml
sed -i -E "/^run/s/\bmine\b/$name/; s/^see mine:/see $name:/" todo
if [ -z "${FABRICBED_LONG-}" ]; then
	sed -i -E 's/^run fabricbed run.*/& --dataplane inline/; s/^run fabricbed up.*/& --dataplane inline/
		s/^run fabricbed policy check.*/& -n 100/; s/^(see .*: )10000 packets.*/\1100 packets/' todo
fi

seen=
while read -r what line <&3; do
	want=0
	[[ $line != *'# exit status '* ]] || want=${line##* }
	case $what in
	run)
		line=${line%% \#*}
		# shellcheck disable=SC2086
		try "$fabricbed" ${line#fabricbed }
		seen+=$out$'\n'$err$'\n'
		# the kernel's half of a check takes privilege
		[[ $status$line != 3*' policy check '* ]] || can_build || status=3 want=3
		exits "$line" "$want"
		;;
	see)
		# the sizes of programs are the compiler's
		[[ $line =~ ^(switch program|instructions|walked) || -z $line ]] && continue
		[[ $line != *' in the kernel '* ]] || can_build || continue
		like "it prints: $line" "$seen" "*$line*"
		;;
	esac
done 3<todo
same "README.md has the same first policy" "$(awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md")" \
	"$(cat shortest.c)"
holds "the document has commands" test "$(grep -c ^run todo)" -ge 15
same "nothing is left" "$(leftovers)" ""
tap_done
