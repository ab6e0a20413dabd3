#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What each setting of DCQCN gives for the STrack paper's figures 9, 12 and 16: the tables of docs/transports.md. Inline
dataplane; BENCH_SEEDS seeds, 3 by default. BENCH_LONG adds 64 MB and the paper's 8,192 hosts, about 5 minutes a run.

    make && tests/bench/dcqcn.py > table.txt"""
import csv
import json
import os
import subprocess
import sys
import tempfile

COMMAND = os.path.join(os.environ.get("BUILD", "build"), "fabricbed")
SEEDS = range(1, int(os.environ.get("BENCH_SEEDS", "3")) + 1)
LONG = "BENCH_LONG" in os.environ
GBPS = 400
TOPOLOGY = "{{leaf_spine: {{leaves: {}, spines: {}, hosts_per_leaf: {}}}, rate: 400Gbps, delay: 1us}}"
FULL, OVERSUBSCRIBED = TOPOLOGY.format(16, 16, 16), TOPOLOGY.format(16, 4, 16)
PAPER_SCALE = TOPOLOGY.format(128, 64, 64)
SIZES = ["128KB", "512KB", "2MB", "16MB"] + (["64MB"] if LONG else [])

# Section 4.1: ECN at one BDP for RoCEv2; what each switch buffers, and answers in a class of their own for both.
ONE_BDP = "{kmin: 100% BDP, kmax: 100% BDP}"
DEPLOYED = "{kmin: 32us, kmax: 128us, pmax: 0.2}"  # 100 KB, 400 KB, 0.2 at 25 Gbps
LOSSLESS = ("{{buffer: {{shared: auto, alpha: {}}}, ecn: {}, pfc: on, classes: ["
            "{{class: 3, dscp: 26, lossless: yes}}, {{class: 6, dscp: 48}}, {{class: 0}}]}}")
LOSSY = "{buffer: {per_port: 500% BDP}, classes: [{class: 6, dscp: 48}, {class: 0}]}"


def roce(options, ecn=ONE_BDP, alpha=0.125):
    return {"transport": f"{{roce: {options}}}", "switch": LOSSLESS.format(alpha, ecn),
            "dscp": "{data: 26, control: 48, notify: 48}"}


STRACK = {"transport": "strack", "switch": LOSSY, "dscp": "{data: 0, control: 48, notify: 48}"}
RIVALS = {
    "paper": roce("{dcqcn: paper}"),
    "paper, alpha 1": roce("{dcqcn: paper}", alpha=1),
    "tuned": roce("{dcqcn: tuned}", ecn=DEPLOYED),
    "tuned, ECN at one BDP": roce("{dcqcn: tuned}"),
    "strack-paper": roce("{dcqcn: strack-paper}"),
    "congestion: off": roce("{congestion: off}"),
    "strack-paper, 4 queue pairs": roce("{dcqcn: strack-paper, qps_per_connection: 4}"),
    "tuned, 4 queue pairs": roce("{dcqcn: tuned, qps_per_connection: 4}", ecn=DEPLOYED),
}


def run(kind, topology, load, seed, folder, telemetry="off"):
    """The summary; other results are in the folder."""
    path = os.path.join(folder, "scenario.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"name: dcqcn\ntopology: {topology}\nswitch: {kind['switch']}\n"
                  f"host: {{transport: {kind['transport']}, dscp: {kind['dscp']}}}\n"
                  f"workload: [{load}]\ntelemetry: {{queues: {telemetry}}}\n"
                  "expect: [{metric: flows.unfinished, equals: 0}]\n")
    done = subprocess.run([COMMAND, "run", path, "--dataplane", "inline", "--json", "--seed", str(seed),
                           "--out", os.path.join(folder, "results")], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def completion(kind, topology, size, folder, seeds=SEEDS):
    runs = [run(kind, topology, f"{{permutation: {{message: {size}}}}}", seed, folder) for seed in seeds]
    return [r["flows"]["fct_us"]["max"] for r in runs]


def mean(values):
    return sum(values) / len(values)


def permutations(title, topology, sizes, folder, seeds=SEEDS):
    print(f"\n{title}: largest completion time in us; of RoCEv2 over STrack's\n")
    print("| | " + " | ".join(sizes) + " |\n" + "| --- " * (len(sizes) + 1) + "|")
    base = [mean(completion(STRACK, topology, size, folder, seeds)) for size in sizes]
    print("| STrack | " + " | ".join(f"{b:.0f}" for b in base) + " |", flush=True)
    for name, kind in RIVALS.items():
        took = [mean(completion(kind, topology, size, folder, seeds)) for size in sizes]
        print(f"| {name} | " + " | ".join(f"{t:.0f}: {t / b:.1f}" for t, b in zip(took, base)) + " |", flush=True)


def incast(kind, seed, folder):
    """Most bytes in front of the receiver; when they were last above two BDPs; the last pause's end; completion over bound."""
    results = os.path.join(folder, "results")
    summary = run(kind, FULL, "{incast: {senders: 32, to: h0, message: 16MB}}", seed, folder, "5us")
    depth = {}
    with open(os.path.join(results, "queues.csv"), encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["port"] == "leaf0->h0":
                depth[float(row["t_us"])] = depth.get(float(row["t_us"]), 0) + int(row["depth_bytes"])
    with open(os.path.join(results, "events.jsonl"), encoding="utf-8") as lines:
        pauses = [e["until_us"] for e in map(json.loads, lines) if e["event"] == "pauses"]
    settled = max((t for t, d in depth.items() if d > 2 * 8 * GBPS * 1e3 / 8), default=0)
    return max(depth.values()) / 1e6, settled, max(pauses, default=0), summary["slowdown"]


def incasts(folder):
    print("\nFigure 16, incast 32:1 of 16 MB\n\n| | most, MB | settled, us | last pause, us | completion over bound |")
    print("| --- " * 5 + "|")
    for name, kind in {"STrack": STRACK, **RIVALS}.items():
        most, settled, pause, slowdown = (mean(v) for v in zip(*(incast(kind, seed, folder) for seed in SEEDS)))
        print(f"| {name} | {most:.1f} | {settled:,.0f} | {pause:,.0f} | {slowdown:.3f} |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        incasts(folder)
        permutations("Figure 9, permutation of 256 hosts", FULL, SIZES, folder)
        permutations("Figure 12, the same 4:1 oversubscribed", OVERSUBSCRIBED, ["128KB", "2MB", "16MB"], folder)
        if LONG:
            permutations("Figure 9 at its own scale, 8,192 hosts", PAPER_SCALE, ["16MB"], folder, seeds=[1])


if __name__ == "__main__":
    main()
