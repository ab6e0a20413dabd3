#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The sources are as clang-format leaves them. Its versions differ in what they do with one configuration,
# so that only the one that .clang-format was written for (Debian 12's) is asked.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh

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
tap_done
