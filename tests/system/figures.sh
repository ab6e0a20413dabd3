#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The figures of the papers: each scenario's runs can be made. With FABRICBED_LONG=1 they are, at the scale at which each
# claim still shows, and each claim must hold.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

for file in "$scenarios"/papers/*/*.yaml; do
	figure=${file#"$scenarios/papers/"}
	if [ -z "${FABRICBED_LONG-}" ]; then
		holds "$figure" "$fabricbed" sweep "$file" --scale check --list
	else
		holds "$figure" "$fabricbed" sweep "$file" --scale check --out "$(basename "$file" .yaml)"
	fi
done
tap_done
