#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The sources are as clang-format leaves them, and lines end at column 100. Versions of clang-format differ in what
# they do with one configuration, so that only the one that .clang-format was written for (Debian 12's) is asked.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh

# Lists the lines of the named files that are longer than 100 columns, as file:line. The string literals of a line
# that has no comment do not count, nor does a backslash at its end.
too_long() { # FILE...
	awk '
	{
		line = $0
		if (line !~ /\/\*|^[ \t]*\*/)
			gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		sub(/ *\\$/, "", line)
		while (at = index(line, "\t"))
			line = substr(line, 1, at - 1) substr("        ", (at - 1) % 8 + 1) substr(line, at + 1)
		if (length(line) > 100)
			print FILENAME ":" FNR
	}' "$@"
}

name="clang-format"
version=14
if ! command -v clang-format >/dev/null; then
	tap_skip "$name" "clang-format is not installed"
elif ! clang-format --version | grep -q "version $version\."; then
	tap_skip "$name" "this is not clang-format $version"
else
	tap_empty "$name" "$(find bpf userspace orchestrator tests -name '*.[ch]' -print0 |
		xargs -0 clang-format --dry-run -Werror 2>&1 | grep 'error:' | sort)"
fi
sources=$(find bpf userspace orchestrator tests -name '*.[ch]' | sort)
# shellcheck disable=SC2086 # a list of files
tap_empty "lines end at column 100" "$(too_long $sources)"
tap_done
