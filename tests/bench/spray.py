#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Largest completion time of permutations, over the bound that host links set: the figures behind
docs/transports.md. Inline dataplane; mean (least-largest) over BENCH_SEEDS seeds, 8 by default."""
import json
import os
import subprocess
import sys

COMMAND = os.path.join(os.environ.get("BUILD", "build"), "fabricbed")
SEEDS = range(1, int(os.environ.get("BENCH_SEEDS", "8")) + 1)
FABRICS = {
    "fat-tree k=8, 100 Gbps": ["topology={fat_tree: {k: 8}, rate: 100Gbps, delay: 1us}",
                               "switch.buffer.per_port=400KB"],
    "leaf-spine of 128, 400 Gbps": [
        "topology={leaf_spine: {leaves: 8, spines: 16, hosts_per_leaf: 16}, rate: 400Gbps, delay: 1us}",
        "switch.buffer.per_port=500% BDP"],
}
VARIANTS = {
    "adaptive": [],
    "oblivious": ["host.transport.strack.spray=oblivious"],
    "single path": ["host.transport.strack.spray=single"],
    "adaptive, window 100% BDP": ["host.transport.strack.window=100% BDP"],
    "oblivious, window 100% BDP": ["host.transport.strack.window=100% BDP",
                                   "host.transport.strack.spray=oblivious"],
    "adaptive, a SACK for 4 packets": ["host.transport.strack.sack_packets=4"],
    "adaptive, marks reset at 2 RTTs": ["host.transport.strack.bitmap_rtts=2"],
    "adaptive, marks never reset": ["host.transport.strack.bitmap_rtts=0"],
    "adaptive, answers among the data": ["host.dscp=0"],
}


def slowdown(settings, seed):
    args = [COMMAND, "run", "scenarios/permutation.yaml", "--dataplane", "inline", "--json",
            "--out", os.environ["SCRATCH"], "--seed", str(seed), "--set", "expect=[]"]
    for setting in settings:
        args += ["--set", setting]
    run = subprocess.run(args, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(run.stderr)
    return json.loads(run.stdout)["slowdown"]


def main():
    print(f"{'':45}{'2 MB':>20}{'16 MB':>20}")
    for fabric, topology in FABRICS.items():
        print(fabric)
        for variant, settings in VARIANTS.items():
            row = f"  {variant:43}"
            for size in ("2MB", "16MB"):
                load = [f"workload.0.permutation.message={size}"]
                values = [slowdown(topology + settings + load, seed) for seed in SEEDS]
                mean = sum(values) / len(values)
                row += f"{mean:8.2f} ({min(values):.2f}-{max(values):.2f})"
            print(row, flush=True)


if __name__ == "__main__":
    main()
