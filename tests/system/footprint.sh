#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The memory that validate foresees is what a run's process has at its peak, to 30%: fabrics by size, and flows by number.
# FABRICBED_LONG: larger ones, up to 55,000 switches' ports and a million flows; and as root the kernel's memory of k=16.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

foresees() { # TITLE K WORKLOAD [HOST [TOPOLOGY]]
	local peak

	printf 'name: %s\ntopology: {fat_tree: {k: %s}%s}\nworkload: [%s]\nhost: {%s}\n' "$name" "$2" "${5-}" "$3" "${4-}" >memory.yaml
	try "$fabricbed" run memory.yaml --dataplane inline --quiet --out memory
	if [ "$status" != 0 ]; then
		tap_fail "$1 runs" "$err"
		return
	fi
	peak=$(figure memory/summary.json peak_rss_mb)
	"$fabricbed" validate memory.yaml --json >memory.json
	holds "$1: what validate foresees is within 30% of $peak MB" python3 -c "
import sys
said, peak = $(figure memory.json estimate.inline.memory_mb), $peak
print(f'{said:.1f} MB')
sys.exit(not 1 / 1.3 <= said / peak <= 1.3)"
}

# Of a run on the kernel dataplane, what the machine has less of meanwhile: what is neither free, nor cached, nor a process's, and the process.
kernel_foresees() { # TITLE K WORKLOAD
	printf 'name: %s\ntopology: {fat_tree: {k: %s}}\nworkload: [%s]\n' "$name" "$2" "$3" >memory.yaml
	"$fabricbed" validate memory.yaml --json >memory.json
	holds "$1: what validate foresees for the kernel dataplane is within 30% of what the machine has less" python3 -c "
import subprocess, time

def kernel_kb():
    lines = [line.split() for line in open('/proc/meminfo')]
    m = {line[0].rstrip(':'): int(line[1]) for line in lines}
    return m['MemTotal'] - sum(m[k] for k in ('MemFree', 'Buffers', 'Cached', 'AnonPages', 'SwapCached'))

before, most = kernel_kb(), 0
run = subprocess.Popen(['$fabricbed', 'run', 'memory.yaml', '--dataplane', 'kernel', '--quiet', '--out', 'memory'])
while run.poll() is None:
    most = max(most, kernel_kb() - before)
    time.sleep(0.2)
import json, sys
took = most / 1024 + json.load(open('memory/summary.json'))['peak_rss_mb']
said = json.load(open('memory.json'))['estimate']['kernel']['memory_mb']
print(f'{said:.0f} MB foreseen, {took:.0f} taken')
sys.exit(run.returncode or not 1 / 1.3 <= said / took <= 1.3)"
}

foresees "k=8" 8 "permutation: {message: 64KB}"
foresees "k=16" 16 "permutation: {message: 64KB}"
foresees "20,000 flows of STrack" 8 "permutation: {count: 157, message: 1KB}"
foresees "20,000 flows of RoCEv2" 8 "permutation: {count: 157, message: 1KB}" "transport: roce"
foresees "payload" 8 "permutation: {message: 1MB}" "payload: full" ", mtu: 3000"
if [ -n "${FABRICBED_LONG-}" ]; then
	foresees "k=32" 32 "permutation: {message: 64KB}"
	foresees "k=48" 48 "permutation: {message: 16KB}"
	foresees "a million flows" 16 "permutation: {count: 977, message: 1KB}"
	if [ "$(id -u)" = 0 ]; then
		kernel_foresees "k=16" 16 "permutation: {message: 1MB}"
	else
		tap_skip "k=16: the kernel's memory" "needs root"
	fi
fi
tap_done
