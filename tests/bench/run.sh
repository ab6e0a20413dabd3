#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/bench/run.sh PROGRAM... prints the machine, what each program measures, and the table of figures.
set -u
cd "$(dirname "$0")/../.." || exit 1

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
memory=$(awk '/^MemTotal/ { printf "%.1f GB", $2 / 1048576 }' /proc/meminfo)
echo "machine   ${model:-$(uname -m)}, $(nproc) cores, $memory"
echo "kernel    $(uname -sr)"
echo "system    $(. /etc/os-release && echo "$PRETTY_NAME"), $(gcc --version | head -n 1)"
echo "load      $(cut -d' ' -f1-3 /proc/loadavg)"

status=0
for program; do
	printf '\n%s\n' "$(basename "$program")"
	"$program" || status=1
done
printf '\nspray: largest completion time over the bound, mean and range\n'
SCRATCH=$(mktemp -d) && export SCRATCH && trap 'rm -rf "$SCRATCH"' EXIT
tests/bench/spray.py || status=1
printf '\nslowdown: an overloaded fabric at what it was recommended\n'
tests/bench/slowdown.sh || status=1
printf '\ncost\n'
tests/bench/cost.sh || status=1
printf '\nload balancing: a hop with each policy over one with ECMP; a file over the same policy of the switch\n'
tests/bench/balance.sh || status=1
printf '\npaced control over STrack, time a hop: 16,256 flows\n'
tests/bench/paced.sh || status=1
printf '\nworkloads\n'
tests/bench/workloads.sh || status=1
printf '\nfigures\n'
tests/bench/figures.sh || status=1
exit $status
