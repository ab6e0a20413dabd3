#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a load-balancing policy costs: time of a hop of scenarios/permutation.yaml with each, over that with ECMP; and of two
# policies as a user's file, over the same policy of the switch's own. Asserts nothing; exit status 1 if a run did not end well.
#
# As in cost.sh: the time of the run alone, of BENCH_RUNS rounds (7), in which all take turns, the least.
set -u
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
planes=inline
[ "$(id -u)" != 0 ] || planes="inline kernel"

python3 - "${BUILD:-build}/fabricbed" "$scratch" "${BENCH_RUNS:-7}" $planes <<'END'
import json, os, shutil, subprocess, sys

command, scratch, rounds, planes = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
OWN = ["ecmp", "spray", "random", "adaptive", "ecmp-adaptive", "flowlet", "letflow", "drill"]
FILES = ["spray", "adaptive"]
MESSAGE = {"inline": "8MB", "kernel": "2MB"}
ASKED = {("inline", "spray"): 1.1, ("inline", "adaptive"): 1.1, ("kernel", "spray"): 1.05, ("kernel", "adaptive"): 1.05}
ASKED_OF_FILE = 1.05


def hop_ns(policy, plane):
    run = subprocess.run([command, "run", "scenarios/permutation.yaml", "--dataplane", plane, "--json", "--out", scratch,
                          "--set", "expect=[]", "--set", f"switch.balance={policy}",
                          "--set", f"workload.0.permutation.message={MESSAGE[plane]}"],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr)
    summary = json.loads(run.stdout)
    return summary["wall_s"] / summary["hops"] * 1e9


def tell(name, ns, ratio, asked):
    print(f"{name:20}{ns:8.0f} ns{ratio:8.2f}" + (f", <= {asked}{'' if ratio <= asked else '  !'}" if asked else ""), flush=True)


file_of = {}
for name in FILES:
    file_of[name] = os.path.join(scratch, name + ".c")
    shutil.copy(f"bpf/sw/balance/{name}.h", file_of[name])
for plane in planes:
    cost = dict.fromkeys(OWN + list(file_of.values()), float("inf"))
    for _ in range(rounds):
        for policy in cost:
            cost[policy] = min(cost[policy], hop_ns(policy, plane))
    print(f"{plane + ', fat-tree k=8':20}{'a hop':>11}{'ratio':>8}")
    for policy in OWN:
        tell(policy, cost[policy], cost[policy] / cost["ecmp"], ASKED.get((plane, policy)))
    for name, path in file_of.items():
        tell(f"{name} as a file", cost[path], cost[path] / cost[name], ASKED_OF_FILE)
END
status=$?
[ "$planes" = inline ] && echo "the kernel dataplane is measured as root only"
exit $status
