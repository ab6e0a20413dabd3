#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What many flows of an assembled transport under a paced control cost: each packet has a timer, and a host has 127 senders in turn.
# Time of a hop of an all-to-all with 16,256 flows, over that with STrack in the same fabric. Asserts nothing; exit status 1 if a
# run did not end well.
#
# As in cost.sh: the time of the run alone, of BENCH_RUNS rounds (3), in which all take turns, the least.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

python3 - "${BUILD:-build}/fabricbed" "$scratch" "${BENCH_RUNS:-3}" <<'END'
import json, subprocess, sys

command, scratch, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
ASKED = 1.3
TRIM = {"coding": "off", "dupack": "off", "trim": "receiver"}


def hop_ns(transport, trim):
    run = subprocess.run([command, "run", "scenarios/all-to-all.yaml", "--dataplane", "inline", "--json", "--out", scratch,
                          "--set", "expect=[]", "--set", "topology={fat_tree: {k: 8}}", "--set", f"switch={{trim: {trim}}}",
                          "--set", f"host={{transport: {transport}}}",
                          "--set", "workload=[{all_to_all: {message: 512KB, window: off}}]"],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stdout + run.stderr)
    summary = json.loads(run.stdout)
    return summary["wall_s"] / summary["hops"] * 1e9


cost = {("strack", trim): float("inf") for trim in TRIM.values()}
cost |= {(recovery, trim): float("inf") for recovery, trim in TRIM.items()}
for _ in range(rounds):
    for name, trim in cost:
        transport = name if name == "strack" else f"{{assembled: {{paths: spray, control: {{rate: 1}}, recovery: {name}}}}}"
        cost[name, trim] = min(cost[name, trim], hop_ns(transport, trim))
print(f"{'inline, fat-tree k=8, 16,256 flows':36}{'a hop':>11}{'over STrack':>14}")
for (name, trim), ns in cost.items():
    ratio = ns / cost["strack", trim]
    what = name + (", switches trim" if trim != "off" else "")
    print(f"{what:36}{ns:8.0f} ns{ratio:14.2f}" + (f", <= {ASKED}{'' if ratio <= ASKED else '  !'}" if name != "strack" else ""))
END
