#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A scenario that compares variants: what is run, written and printed, and what happens when one of them is
# wrong, misses what is expected of it, or is interrupted.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

cat >three.yaml <<'END'
name: three
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}
workload:
  - permutation: {message: 200KB}
compare:
  - name: adaptive
    set: {host.transport: strack}
  - name: single
    set: {host.transport.strack.spray: single, switch.buffer: "{per_port: 60KB}"}
  - name: roce
    set: {host.transport: roce, host.ip: 6}
expect:
  - {metric: flows.unfinished, equals: 0}
END
variants="adaptive single roce"
run() { # OPTION...
	try "$fabricbed" run three.yaml --dataplane inline "$@"
}
hash_of() { # FOLDER
	figure "$1/summary.json" trace_hash
}

# ---- all goes well

run --out out
exits "three variants" 0
printed=$out
same "a folder a variant, and compare.json" "$(ls out)" "$(tr ' ' '\n' <<<"compare.json $variants" | sort)"
for variant in $variants; do
	holds "$variant: every kind of result" test -s "out/$variant/summary.json" -a -s "out/$variant/flows.csv" \
		-a -f "out/$variant/events.jsonl" -a -s "out/$variant/scenario.yaml"
	like "$variant: its results are printed" "$printed" "*three ($variant)"$'\n'"*results     out/$variant/*"
	try "$fabricbed" run "out/$variant/scenario.yaml" --dataplane inline --quiet --out alone
	exits "$variant: its scenario.yaml runs alone" 0
	same "$variant: to the same trace" "$(hash_of alone)" "$(hash_of "out/$variant")"
	same "$variant: without comparing anything" "$(ls alone)" $'events.jsonl\nflows.csv\nports.csv\nscenario.yaml\nsummary.json'
done
same "three traces" "$(for variant in $variants; do hash_of "out/$variant"; done | sort -u | grep -c .)" 3
like "the variant's keys are set" "$(cat out/single/scenario.yaml)" "*per_port: 60KB*spray: single*"
same "and no other variant's" "$(grep -l -e 60KB -e 'spray: single' out/*/scenario.yaml)" out/single/scenario.yaml

cat >table.py <<'END'
import json, re, sys
compared, variants = json.load(open("out/compare.json")), sys.argv[1].split()
assert list(compared) == variants, list(compared)
for name in variants:
    assert compared[name] == json.load(open(f"out/{name}/summary.json")), name
def human(us):
    unit, name = (1e6, "s") if us >= 999950 else (1e3, "ms") if us >= 999.95 else (1, "us")
    number = us / unit
    return f"{number:.{1 if number >= 99.995 else 2 if number >= 9.9995 else 3}f} {name}"
head, *rows = sys.stdin.read().split("three, side by side\n")[1].splitlines()
assert head.split() == variants, head
titles = {"max / ideal": lambda s: s["slowdown"],
          "packets dropped": lambda s: sum(s["packets"]["dropped"].values())}
row, = [r for r in rows if r.strip().startswith("completion, max")]
for name in variants:
    assert human(compared[name]["flows"]["fct_us"]["max"]) in row, (row, name)
for title, of in titles.items():
    row, = [r.strip()[len(title):] for r in rows if r.strip().startswith(title)]
    values = [of(compared[name]) for name in variants]
    ratios = [f"({v / values[0]:.2f}x)" for v in values[1:] if values[0]]
    assert re.findall(r"\(.*?\)", row) == ratios, (row, ratios)
    assert re.sub(r"\(.*?\)", "", row).split() == [f"{v:.4g}" if v != round(v) else f"{v:.0f}" for v in values], (row, values)
END
holds "compare.json is all summaries, in order, and the table what it says" \
	python3 table.py "$variants" < <(printf '%s\n' "$printed")

# on a terminal of 80 columns the table is several, none wider
python3 "$root/tests/lib/terminal.py" 80 "$fabricbed" run three.yaml --dataplane inline --out wide \
	--set 'compare=[{name: long-name-of-23-letters, set: {seed: 1}}, {name: another-name-23-chars, set: {seed: 2}},
		{name: third-name-of-23-letters, set: {seed: 3}}, {name: four, set: {seed: 4}}, {name: five, set: {seed: 5}}]' |
	sed 's/.*side by side/side by side/; 1,/side by side/d' >narrow
same "80 columns: no line is longer" "$(grep -E '^.{81}' narrow)" ""
same "80 columns: each variant once" "$(grep -oE '(long|another|third)-[a-z0-9-]*|four|five' narrow | tr '\n' ' ')" \
	"long-name-of-23-letters another-name-23-chars third-name-of-23-letters four five "
same "80 columns: several tables" "$(($(grep -c 'completion, mean' narrow) > 1))" 1

# ---- options

run --out out --json
exits "--json" 0
same "--json prints compare.json" "$(python3 -m json.tool --sort-keys <<<"$out")" \
	"$(python3 -m json.tool --sort-keys out/compare.json)"
run --out out --quiet
same "--quiet prints nothing" "$out$err" ""
before=$(hash_of out/adaptive)
run --out out --quiet --set host.transport.strack.spray=adaptive
same "--set has the last word" "$(grep -h spray: out/*/scenario.yaml | sort -u | tr -d ' ')" spray:adaptive
same "--set changes no variant that agrees" "$(hash_of out/adaptive)" "$before"
run --out out --set host.transport.strack.spray=adaptive
like "--set tells which variant it changes" "$err" "*note: --set host.transport.strack.spray=adaptive takes the place of host.transport.strack.spray=* of variant *"
same "and no other" "$(grep -c note: <<<"$err")" 1
like "nor what it does not name" "$(cat out/single/scenario.yaml)" "*per_port: 60KB*"
run --out out --quiet --seed 7
same "--seed is for all" "$(grep -h ^seed: out/*/scenario.yaml | sort | uniq -c | tr -s ' ')" " 3 seed: 7"
(mkdir default && cd default && "$fabricbed" run ../three.yaml --dataplane inline --quiet)
same "without --out: runs/NAME-N" "$(cd default && echo runs/*/*/)" \
	"runs/three-1/adaptive/ runs/three-1/roce/ runs/three-1/single/"

# a folder that is used again holds this run's results and no other's
run --out out --quiet --set 'compare=[{name: only, set: {host.ip: 6}}]'
exits "one variant, where three had been" 0
same "those are gone" "$(ls out)" $'compare.json\nonly'
try "$fabricbed" run "$scenarios/hello.yaml" --dataplane inline --quiet --out out
same "and all are where one run had the folder then" "$(ls out)" $'events.jsonl\nflows.csv\nports.csv\nscenario.yaml\nsummary.json'
run --out out --quiet
same "and the other way round" "$(ls out)" "$(tr ' ' '\n' <<<"compare.json $variants" | sort)"

# ---- one does not finish

cat >patience.yaml <<'END'
name: patience
topology:
  leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1}
workload:
  - pairs: {from: h0, to: h1, message: 1MB}
compare:
  - name: short
    set: {until: 10us}
  - name: long
    set: {until: auto}
END
try "$fabricbed" run patience.yaml --dataplane inline --out patience
exits "one of two does not finish" 0
row() {
	grep "^$1 " <<<"$out" | tr -s ' '
}
like "a figure that a variant has not is -, and nothing is compared with it" "$(row 'completion, max')" \
	"completion, max - [0-9]*.[0-9]* us"
same "no ratio to nothing" "$(row 'completion, max' | wc -w)" 5
like "how many did not finish" "$(row 'flows unfinished')" "flows unfinished 1 0 (0.00x)"

# ---- one misses what is expected

run --out out --set 'expect=[{metric: packets.dropped, equals: 0}]'
exits "an expectation fails in one variant" 1
like "the table is there all the same" "$out" "*three, side by side*"
same "which one it was" "$(python3 -c '
import json
for name, s in json.load(open("out/compare.json")).items(): print(name, s["expect"][0]["ok"])')" \
	$'adaptive True\nsingle False\nroce True'

# ---- one is wrong

# Nothing may have been run then, nor created.
refused() { # TITLE COMPARE PATTERN
	local title=$1 command

	rm -rf refused
	mkdir refused
	awk -v new="compare: $2" '/^compare:/ { print new; skip = 1; next } /^[a-z]/ { skip = 0 } !skip' three.yaml >wrong.yaml
	for command in validate "run --dataplane inline"; do
		# shellcheck disable=SC2086
		try env -C refused "$fabricbed" $command ../wrong.yaml
		exits "$title: ${command%% *}: exit status" 2
		like "$title: ${command%% *}: the message" "$err" "$3"
	done
	# validate explains what is good before it
	same "$title: run: nothing on standard output" "$out" ""
	same "$title: nothing was created" "$(ls -A refused)" ""
}
good="{name: good, set: {host.ip: 6}}"
refused "two of one name" "[$good, $good]" "*wrong.yaml:6:*: compare.1.name: *two variants are called 'good'*"
refused "a name that is no folder's" "[{name: ../x, set: {host.ip: 6}}]" "*wrong.yaml:6:*: compare.0.name: *"
refused "no name" "[{set: {host.ip: 6}}]" "*wrong.yaml:6:*: compare.0.name*missing*"
refused "nothing to set" "[{name: a}]" "*wrong.yaml:6:*: compare.0.set*missing*"
refused "a value in braces without quotes" "[{name: a, set: {switch.buffer: {per_port: 1MB}}}]" \
	"*wrong.yaml:6:*: compare.0.set.switch.buffer: *a single value*"
refused "a wrong value" "[$good, {name: bad, set: {host.transport.strack.spray: sngle}}]" \
	"*wrong.yaml:*host.transport.strack.spray: 'sngle' is not known; did you mean 'single'?*"
like "a wrong value: whose it is" "$err" "*bad*"
refused "a wrong key" "[$good, {name: bad, set: {host.tranport: roce}}]" "*did you mean 'transport'?*"
refused "a value that does not fit the fabric" "[$good, {name: bad, set: {faults: '[{at: 0, link: nowhere, do: down}]'}}]" \
	"*nowhere*"

# ---- one is interrupted

# Long enough for any machine: it ends by the signal.
sed -i 's/host.transport.strack.spray: single,/workload.0.permutation.message: 16GB, &/' three.yaml
interrupt() { # TITLE FOLDER: when it is there
	"$fabricbed" run three.yaml --dataplane inline --out out >interrupted.out 2>interrupted.err </dev/null &
	children=($!)
	wait_for test -e "$2/events.jsonl.part"
	kill -INT "${children[0]}"
	wait "${children[0]}"
	same "$1: exit status" $? 4
	children=()
	like "$1: it says so" "$(cat interrupted.err)" "*interrupted at * us of model time*"
}
rm -rf out
interrupt "Ctrl-C in the second variant" out/single
holds "the first is whole" test "$(figure out/adaptive/summary.json flows.unfinished)" = 0
same "the second is what there was" "$(figure out/single/summary.json interrupted)" True
same "the third was not run" "$(ls -d out/roce 2>/dev/null)" ""
sed -i 's/set: {host.transport: strack}/set: {workload.0.permutation.message: 16GB}/' three.yaml
run --out out --quiet --set workload.0.permutation.message=4KB
rm -f out/*/events.jsonl
interrupt "Ctrl-C in the first variant" out/adaptive
same "the first is what there was" "$(figure out/adaptive/summary.json interrupted)" True
same "of an earlier run nothing passes for this one's" "$(find out -mindepth 1 -maxdepth 1 ! -name adaptive ! -name compare.json ! -name .fabricbed)" ""
holds "nor in compare.json, if it is there" python3 -c '
import json, os
if os.path.exists("out/compare.json"):
    compared = json.load(open("out/compare.json"))
    assert list(compared) == ["adaptive"] and compared["adaptive"]["interrupted"], list(compared)'
tap_done
