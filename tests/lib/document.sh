# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Pages of docs/ whose commands are tests: ". tests/lib/document.sh" before command.sh. Files of a page are the blocks after a line that
# ends with their name; commands are the blocks of "```sh"; a block without a word after them has lines of their output. All is in one
# folder. Runs are inline, unless FABRICBED_LONG is set.

# Writes the files of a page, and to "todo" a line for each command ("run COMMAND") and line of output ("see LINE").
document_read() { # PAGE
	awk '
	/^```/ && !inside {
		kind = substr($0, 4)
		file = match(before, /`[a-z]+\.(c|yaml|patch)`:$/) ? substr(before, RSTART + 1, RLENGTH - 3) : ""
		inside = 1
		shown = kind == "" && after_commands
		next
	}
	/^```/ { inside = 0; after_commands = (kind == "sh" || (after_commands && kind == "")); before = ""; next }
	inside && file { print > file; next }
	inside && kind == "sh" { print "run " $0 > "todo"; next }
	inside && shown { print "see " $0 > "todo"; next }
	!inside && NF { before = $0 }' "$root/docs/$1"
	[ -n "${FABRICBED_LONG-}" ] || sed -i -E 's/^run fabricbed (run|up)/& --dataplane inline/' todo
}

# For a script to redefine: after a command ($status, and $want, which may be changed), and whether a line of output is not compared.
document_ran() { :; } # COMMAND
document_skips() { [ -z "$1" ]; } # LINE

# What a reader types works, and prints what is shown: a case for each line of "todo".
document_follow() {
	local what line want seen=

	while read -r what line <&3; do
		want=0
		[[ $line != *'# exit status '* ]] || want=${line##* }
		case $what in
		run)
			line=${line%% \#*}
			eval "try \"\$fabricbed\" ${line#fabricbed }"
			seen+=$out$'\n'$err$'\n'
			document_ran "$line"
			exits "$line" "$want"
			;;
		see) document_skips "$line" || like "it prints: $line" "$seen" "*$line*" ;;
		esac
	done 3<todo
}
