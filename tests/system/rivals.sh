#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# STrack and RoCEv2 side by side: the queue of an incast, the completion of permutations, the goodput under loss,
# each beside what was published. Settings of both are those of the STrack paper, section 4.1, with the DCQCN that is the fairest
# to RoCEv2 (docs/transports.md). The figures are printed as diagnostics. FABRICBED_LONG: 20 seeds instead of one (SEEDS), and the paper's
# 8,192 hosts.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
seeds=${SEEDS:-1}
[ -z "${FABRICBED_LONG-}" ] || seeds=20

# Runs a scenario with all seeds: results are in TITLE-1, TITLE-2, ... False if one does not end well.
run_seeds() { # TITLE FILE OPTION...
	local title=$1 seed

	shift
	for ((seed = 1; seed <= seeds; seed++)); do
		# the file's own expectations are for the file as it is
		"$fabricbed" run "$@" --dataplane inline --quiet --out "$title-$seed" --seed $seed \
			--set expect=[] || return 1
	done
}

# One case: an awk expression over numbers holds.
true_of() { # NAME EXPRESSION
	# without figures it is no expression, and awk's status is 2
	if awk "BEGIN { exit !($2) }"; then tap_ok "$1"; else tap_fail "$1" "$2"; fi
}

# What a program of Python's prints: the lines with a "#" are diagnostics, the last line sets variables of the shell.
figures_of() { # COMMAND...
	local line

	while read -r line; do
		case $line in
		\#*) echo "$line" ;;
		*) declare -g "${line?}" ;;
		esac
	done < <("$@")
}

# ---- incast 32:1 of 16 MB at 400 Gbps: the queue in front of the receiver

# Settled is the queue after which it is never again two base round trips deep, which is twice STrack's target; the mean
# of what follows goes up to the first flow's end, since the others need a while to take its share.
cat >incast.py <<'END'
import csv, json, sys
rtt, seeds = float(sys.argv[1]), range(1, int(sys.argv[2]) + 1)
times = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000, 5000, 10000]
gbps = 400
def us(depth):
    return depth * 8e-3 / gbps
def read(kind, seed):
    folder = f"{kind}-{seed}"
    depth, pauses = {}, []
    for row in csv.DictReader(open(f"{folder}/queues.csv")):
        if row["port"] == "leaf0->h0":
            t = round(float(row["t_us"]))
            depth[t] = depth.get(t, 0) + int(row["depth_bytes"])
    for line in open(f"{folder}/events.jsonl"):
        event = json.loads(line)
        if event["event"] == "pauses":
            pauses.append(event)
    summary = json.load(open(f"{folder}/summary.json"))
    first = int(min(float(row["fct_us"]) for row in csv.DictReader(open(f"{folder}/flows.csv"))))
    settled = max([t for t in depth if us(depth[t]) > 2 * rtt], default=0)
    quiet = [depth.get(t, 0) for t in range(settled + 1, first)]
    return {"depth": depth, "pauses": pauses, "summary": summary, "settled": settled,
            "most": max(depth.values()), "mean": sum(depth.get(t, 0) for t in range(first)) / first,
            "target": us(sum(quiet) / max(len(quiet), 1)) / rtt}
def paused(run, t, key):
    # of a series only its beginning, its end and its sum are known
    return sum(p[key] * min(max((t - p["t_us"]) / (p["until_us"] - p["t_us"]), 0), 1) for p in run["pauses"])
def mean(kind, key):
    return sum(r[key] for r in runs[kind]) / len(runs[kind])
runs = {kind: [read(kind, seed) for seed in seeds] for kind in ("strack", "roce")}
print("# the queue of leaf0->h0, seed 1:        STrack                 RoCEv2       pauses so far, paused for (about)")
for t in times:
    s, r = (runs[kind][0] for kind in ("strack", "roce"))
    a, b = s["depth"].get(t, 0), r["depth"].get(t, 0)
    print(f"# {t:6} us {a / 1024:21.0f} KB {us(a):7.1f} us {b / 1024:8.0f} KB {us(b):7.1f} us"
          f"{paused(r, t, 'count'):12.0f} {paused(r, t, 'paused_us'):9.0f} us")
for kind, name in (("strack", "STrack"), ("roce", "RoCEv2")):
    print(f"# {name}: at most {us(mean(kind, 'most')):.1f} us, mean {us(mean(kind, 'mean')):.1f} us; settled after"
          f" {mean(kind, 'settled'):.0f} us, then {mean(kind, 'target'):.2f} base RTTs in the mean")
print("# the paper, figure 16: settled after 95 us and 7800 us, RoCEv2's queue up to 37.5 MB (750 us at 400 Gbps)")
for key in ("most", "mean", "settled"):
    worst = min(r[key] / s[key] for r, s in zip(runs["roce"], runs["strack"]))
    print(f"# RoCEv2 over STrack, {key}: {mean('roce', key) / mean('strack', key):.1f}, at least {worst:.1f}")
    print(f"{key}={worst}")
print(f"settled_strack={max(r['settled'] for r in runs['strack'])}")
print(f"target_low={min(r['target'] for r in runs['strack'])}")
print(f"target_high={max(r['target'] for r in runs['strack'])}")
ends = [max((p["until_us"] for p in r["pauses"]), default=0) / r["settled"] for r in runs["roce"]]
print(f"pauses_strack={sum(r['summary']['pfc']['pauses_sent'] for r in runs['strack'])}")
print(f"pauses_roce={min(r['summary']['pfc']['pauses_sent'] for r in runs['roce'])}")
print(f"pauses_end={min(ends)}")
settled_roce = [r["settled"] for r in runs["roce"]]
print(f"settled_soonest={min(settled_roce)}")
print(f"settled_latest={max(settled_roce)}")
slow = max(r["summary"]["slowdown"] for r in runs["strack"])
slow_roce = max(r["summary"]["slowdown"] for r in runs["roce"])
print(f"# STrack finishes within {slow:.3f} of the bound, RoCEv2 {slow_roce:.3f}")
print(f"slow_roce={slow_roce}")
print(f"unfinished={sum(r['summary']['flows']['unfinished'] for k in runs for r in runs[k])}")
print(f"lost_roce={sum(sum(r['summary']['packets']['dropped'].values()) for r in runs['roce'])}")
END
file=$scenarios/pfc-incast.yaml
rtt=$("$fabricbed" validate "$file" --json >fabric.json && figure fabric.json base_rtt_us)
# the fabric to which that DCQCN is fitted
fabric=(--set workload.0.incast.message=16MB --set topology.leaf_spine.leaves=16)
run_seeds roce "$file" "${fabric[@]}" --set switch.buffer.alpha=0.125 \
	--set host.transport.roce.dcqcn=strack-paper
run_seeds strack "$file" "${fabric[@]}" --set 'host={transport: strack}' \
	--set 'switch={buffer: {per_port: 500% BDP}}'
figures_of python3 incast.py "$rtt" $seeds
title="incast 32:1"
true_of "$title: all flows finish" "${unfinished-} == 0"
true_of "$title: RoCEv2 loses nothing" "${lost_roce-} == 0"
true_of "$title: RoCEv2's queue is far above STrack's, at its most" "${most-} >= 10"
true_of "$title: and in the mean" "${mean-} >= 5"
true_of "$title: STrack's settles after some 100 us" "${settled_strack-} <= 200"
true_of "$title: near its target, a base round trip" "${target_low-} >= 0.5 && ${target_high-} <= 1.5"
true_of "$title: RoCEv2's takes ten times as long" "${settled-} >= 10"
true_of "$title: about as long as in the paper, to which it is fitted" \
	"${settled_soonest-} >= 6500 && ${settled_latest-} <= 9500"
true_of "$title: with pauses until then" "${pauses_roce-} > 100 && ${pauses_end-} >= 0.9"
true_of "$title: and it finishes nearly as soon as can be" "${slow_roce-} <= 1.1"
true_of "$title: STrack needs none" "${pauses_strack-} == 0"

# ---- permutations: the largest completion time, by the scenario that ships

cat >permutation.py <<'END'
import json, sys
title, folder, seeds = sys.argv[1], sys.argv[2], range(1, int(sys.argv[3]) + 1)
runs = [json.load(open(f"{folder}-{seed}/compare.json")) for seed in seeds]
took = {kind: [run[kind]["flows"]["fct_us"]["max"] for run in runs] for kind in runs[0]}
text = ", ".join(f"{kind} {sum(v) / len(v):.1f} us" for kind, v in took.items())
print(f"# {title}: {text}: largest completion time, mean of {len(runs)} seeds")
for kind in ("roce-1qp", "roce-4qp"):
    ratios = [r / s for r, s in zip(took[kind], took["strack"])]
    print(f"# {title}: {kind} over strack {sum(ratios) / len(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    print(f"{kind.replace('-', '_')}={min(ratios)}")
    print(f"{kind.replace('-', '_')}_mean={sum(ratios) / len(ratios)}")
print(f"unfinished={sum(run[kind]['flows']['unfinished'] for run in runs for kind in run)}")
END
permutation() { # TITLE MESSAGE OPTION...
	local title="permutation, $1, $2" message=$2

	shift 2
	unfinished='' roce_1qp='' roce_1qp_mean='' roce_4qp=''
	run_seeds pair "$scenarios/strack-vs-roce.yaml" --set workload.0.permutation.message="$message" "$@"
	figures_of python3 permutation.py "$title" pair $seeds
	true_of "$title: all flows finish" "$unfinished == 0"
	true_of "$title: STrack is ahead of RoCEv2 with one queue pair" "$roce_1qp >= 1.5"
	true_of "$title: by no more than the paper has" "$roce_1qp_mean <= 6.5"
	true_of "$title: and with four" "$roce_4qp >= 1.2"
}
leaf_spine='topology={leaf_spine: {leaves: 8, spines: 16, hosts_per_leaf: 16}, rate: 400Gbps, delay: 1us}'
for message in 2MB 16MB; do
	permutation "fat-tree k=8" $message
	permutation "leaf-spine of 128" $message --set "$leaf_spine"
done
if [ -n "${FABRICBED_LONG-}" ]; then
	seeds=1
	permutation "leaf-spine of 8,192" 16MB \
		--set "topology={leaf_spine: {leaves: 128, spines: 64, hosts_per_leaf: 64}, rate: 400Gbps, delay: 1us}"
	seeds=20
fi
echo "# the paper, 8,192 hosts: up to 6.3 times over RoCEv2 with one queue pair; with four only collectives are shown, 27.4%"

# ---- goodput under loss: one flow over a link that loses frames at random

cat >lossy.yaml <<'END'
name: lossy
topology:
  leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1}
  rate: 100Gbps
  delay: 1us
switch:
  classes:
    - {class: 3, dscp: 26, lossless: yes}
    - {class: 6, dscp: 48}
    - {class: 0}
  pfc: on
host:
  dscp: {data: 26, control: 48, notify: 48}
workload:
  - pairs: {from: h0, to: h1, message: 256MB}
compare:
  - {name: strack, set: {host.transport: strack}}
  - {name: roce, set: {host.transport: roce}}
END
cat >lossy.py <<'END'
import json, sys
seeds = range(1, int(sys.argv[1]) + 1)
goodput = {}
print("# goodput by loss: Gbps, share of what it is without")
for name, loss in (("none", "0"), ("e4", "1e-4"), ("e3", "1e-3"), ("e2", "1e-2")):
    runs = [json.load(open(f"loss-{name}-{seed}/compare.json")) for seed in seeds]
    line = f"# {loss:>5}"
    for kind in ("strack", "roce"):
        assert all(run[kind]["flows"]["unfinished"] == 0 for run in runs)
        mean = sum(run[kind]["flows"]["goodput_gbps"] for run in runs) / len(runs)
        share = mean / goodput.setdefault(kind, mean)
        line += f"   {kind} {mean:6.2f} {100 * share:6.1f}%"
        print(f"{kind}_{name}={share}")
    print(line)
print("# Nendica, Intelligent Lossless Data Center Networks, figure 20: RoCEv2 has lost about 30% at 1e-3")
END
run_seeds loss-none lossy.yaml
for exponent in 4 3 2; do
	run_seeds loss-e$exponent lossy.yaml \
		--set "faults=[{at: 0, link: leaf0-spine0, do: {loss: 1e-$exponent}}]"
done
figures_of python3 lossy.py $seeds
title="goodput under loss"
true_of "$title: RoCEv2's falls all the way" "${roce_e4-} < 1 && ${roce_e3-} < ${roce_e4-} && ${roce_e2-} < ${roce_e3-}"
true_of "$title: RoCEv2 notices 1e-4" "${roce_e4-} >= 0.9 && ${roce_e4-} <= 0.99"
true_of "$title: RoCEv2 has lost about 30% at 1e-3" "${roce_e3-} >= 0.55 && ${roce_e3-} <= 0.85"
true_of "$title: and most at 1e-2" "${roce_e2-} <= 0.4"
true_of "$title: STrack loses little more than was lost" \
	"${strack_e4-} >= 0.998 && ${strack_e3-} >= 0.995 && ${strack_e2-} >= 0.95"
tap_done
