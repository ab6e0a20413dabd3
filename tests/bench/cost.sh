#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the whole pipeline costs: time of a hop with nothing asked for (scenarios/permutation.yaml) and with
# everything (tests/bench/everything.yaml), the same traffic: as a lossy class, which may be trimmed, and as a
# lossless one. Asserts nothing; exit status 1 if a run did not end well.
#
# The time is that of the run alone (wall_s): set-up has the verifier's in it, which varies by more than what is looked
# for. Of BENCH_RUNS rounds (7), in which all take turns, the least counts: what else runs only adds.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
planes=inline
[ "$(id -u)" != 0 ] || planes="inline kernel"

python3 - "${BUILD:-build}/fabricbed" "$scratch" "${BENCH_RUNS:-7}" $planes <<'END'
import json, subprocess, sys

command, scratch, rounds, planes = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
FULL = "tests/bench/everything.yaml"
KINDS = {"plain": ["scenarios/permutation.yaml"], "everything": [FULL],
         "lossless": [FULL, "--set", "host.dscp={data: 26, control: 28, notify: 28}"]}
MESSAGE = {"inline": "8MB", "kernel": "2MB"}
ASKED = 1.3


def hop_ns(what, plane):
    run = subprocess.run([command, "run", *what, "--dataplane", plane, "--json", "--out", scratch, "--set", "expect=[]",
                          "--set", f"workload.0.permutation.message={MESSAGE[plane]}"],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr)
    summary = json.loads(run.stdout)
    return summary["wall_s"] / summary["hops"] * 1e9


print("time of a hop, fat-tree k=8".ljust(40) + "".join(f"{kind:>12}" for kind in KINDS) + "over plain, asked".rjust(22))
for plane in planes:
    cost = dict.fromkeys(KINDS, float("inf"))
    for _ in range(rounds):
        for kind, what in KINDS.items():
            cost[kind] = min(cost[kind], hop_ns(what, plane))
    worst = max(cost.values()) / cost["plain"]
    print(plane.ljust(40) + "".join(f"{ns:9.0f} ns" for ns in cost.values())
          + f"{worst:12.2f}, <= {ASKED}{'' if worst <= ASKED else '  !'}", flush=True)
END
status=$?
[ "$planes" = inline ] && echo "the kernel dataplane is measured as root only"
exit $status
