#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run --junit: what a CI system reads is what summary.json and the exit status say, however the run ended.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

run() { # FILE OPTION...
	try "$fabricbed" run "$1" --dataplane inline --quiet "${@:2}"
}

# Reads a file as CI systems do, checks its sums, and prints a line a suite, case, failure and error.
cat >read.py <<'END_OF_READER'
import sys
import xml.etree.ElementTree as xml

root = xml.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites" and {c.tag for c in root} == {"testsuite"}, root
for of in [root, *root]:
    cases = list(of.iter("testcase"))
    counts = [len(cases), sum(1 for _ in of.iter("failure")), sum(1 for _ in of.iter("error")), 0]
    assert [int(of.get(k)) for k in ("tests", "failures", "errors", "skipped")] == counts, of.attrib
    assert abs(float(of.get("time")) - sum(float(c.get("time")) for c in cases)) < 0.01, of.attrib
    assert cases[0].get("name") == "run", "an error needs a place"
for suite in root:
    print("suite", suite.get("name"))
    for case in suite.iter("testcase"):
        assert case.get("classname") == suite.get("name"), case.attrib
        print("case", case.get("name"))
        for bad in case:
            print(bad.tag, bad.get("type"), bad.get("message"))
END_OF_READER
# The suite of a run has each figure of its summary.json, and no other.
cat >properties.py <<'END_OF_READER'
import json, sys
import xml.etree.ElementTree as xml

def flat(o, prefix=""):
    for key, value in o.items():
        if isinstance(value, dict):
            yield from flat(value, prefix + key + ".")
        elif not isinstance(value, list):
            yield prefix + key, value if isinstance(value, str) else json.dumps(value)

suite = xml.parse(sys.argv[1]).getroot().find(f"testsuite[@name='{sys.argv[2]}']")
found = {p.get("name"): p.get("value") for p in suite.iter("property")}
expected = dict(flat(json.load(open(sys.argv[3]))))
assert "flows.fct_us.max" in expected and found.keys() == expected.keys(), found.keys() ^ expected.keys()
for name, value in expected.items():
    assert found[name] == value or float(found[name]) == float(value), (name, found[name], value)
END_OF_READER
reads() { # TITLE FILE LINES
	same "$1" "$(python3 read.py "$2" 2>&1)" "$3"
}

# ---- all goes well

hello=$scenarios/hello.yaml
newline=$'\n'
run "$hello" --out well --junit well/junit.xml --set 'expect=[{metric: flows.unfinished, equals: 0}, {metric: slowdown, at_most: 1.25}]'
exits "a run that meets its expectations" 0
same "nothing is printed for it" "$out$err" ""
reads "a case for the run, and one an expectation" well/junit.xml \
	$'suite hello\ncase run\ncase flows.unfinished equals 0\ncase slowdown at_most 1.25'
holds "the summary's figures are properties" python3 properties.py well/junit.xml hello well/summary.json
if command -v xmllint >/dev/null; then
	holds "xmllint reads it" xmllint --noout well/junit.xml
else
	tap_skip "xmllint reads it" "xmllint is not installed"
fi
run "$hello" --out well --set 'expect=[]' --junit new/junit.xml
exits "a folder that is not there is made" 0
reads "nothing expected: the run is a case all the same" new/junit.xml $'suite hello\ncase run'
run "$hello" --out well --junit /dev/stdout
same "into a pipe" "$(grep -c '<testcase ' <<<"$out")" 4

# ---- expectations that are missed

cat >compared.yaml <<'END'
name: compared
topology:
  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}
workload:
  - permutation: {message: 200KB}
compare:
  - name: wide
    set: {host.transport: strack}
  - name: narrow
    set: {host.transport.strack.spray: single, switch.buffer: "{per_port: 60KB}"}
expect:
  - {metric: flows.unfinished, equals: 0}
  - {metric: packets.dropped, equals: 0}
END
run "$hello" --out missed --junit missed.xml --set 'expect=[{metric: flows.count, at_least: 2}]'
exits "an expectation that is missed" 1
reads "a failure with the value" missed.xml "suite hello
case run
case flows.count at_least 2
failure expect flows.count is 1, expected at_least 2
case flows.unfinished equals 0 (implied)"
run "$hello" --out early --junit early.xml --set until=1us \
	--set 'expect=[{metric: slowdown, at_most: 2}, {metric: slowdown, at_most: 2, of: finished}]'
exits "a run that ends too early misses what it expects of completion" 1
reads "and says why" early.xml "suite hello
case run
case slowdown at_most 2
failure expect there is no slowdown: no flow has finished; expected at_most 2
case slowdown at_most 2 of finished
failure expect there is no slowdown: no flow has finished; expected at_most 2
case flows.unfinished equals 0 (implied)
failure expect flows.unfinished is 1, expected equals 0"
holds "figures that are not there are null" python3 properties.py early.xml hello early/summary.json
run "$scenarios/link-failure.yaml" --out digits --junit digits.xml --set 'expect=[{metric: flows.fct_us.max, at_most: 1.5}]'
like "a failure with all digits of the value" "$(python3 read.py digits.xml)" \
	"*failure expect flows.fct_us.max is $(figure digits/summary.json flows.fct_us.max), expected at_most 1.5${newline}case *"
run compared.yaml --out compared --junit compared.xml
exits "missed in one variant of two" 1
lost=$(python3 -c 'import json
print(sum(json.load(open("compared/narrow/summary.json"))["packets"]["dropped"].values()))')
reads "a suite a variant, the failure in its own" compared.xml "suite compared.wide
case run
case flows.unfinished equals 0
case packets.dropped equals 0
suite compared.narrow
case run
case flows.unfinished equals 0
case packets.dropped equals 0
failure expect packets.dropped is $lost, expected equals 0"
for variant in wide narrow; do
	holds "$variant: its own figures" python3 properties.py compared.xml compared.$variant compared/$variant/summary.json
done

# ---- runs that fail

# Long enough for any machine: it ends by the signal.
"$fabricbed" run "$hello" --dataplane inline --quiet --out endless --junit endless.xml \
	--set workload.0.pairs.message=16GB 2>endless.err </dev/null &
children=($!)
wait_for test -e endless/events.jsonl.part
kill -INT "${children[0]}"
wait "${children[0]}"
same "interrupted: exit status" $? 4
children=()
like "interrupted: an error, and what was expected of the results so far" "$(python3 read.py endless.xml 2>&1)" \
	$'suite hello\ncase run\nerror run interrupted at * us of model time; *\ncase flows.unfinished equals 0\nfailure expect flows.unfinished is 1, *'
holds "interrupted: the figures so far" python3 properties.py endless.xml hello endless/summary.json
touch note
run "$hello" --out note/results --junit note.xml
exits "a folder for results that can't be made" 2
reads "an error" note.xml $'suite hello\ncase run\nerror run nothing was run: standard error tells why'
# a limit on the size of files stands for a full disk; a pipe has none
bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' - "$fabricbed" run "$hello" --dataplane inline --quiet --out small \
	--junit /dev/stdout 2>small.err | cat >small.xml
same "no room for results: exit status" "${PIPESTATUS[0]}" 4
like "no room for results: an error" "$(python3 read.py small.xml 2>&1)" \
	$'suite hello\ncase run\nerror run can\'t write results in small: *'
mistaken() { # FILE'S-NAME
	printf 'suite %s\ncase run\nerror run nothing was run: standard error tells why' "$1"
}
run compared.yaml --out none --junit wrong.xml --set nothing=1
exits "a mistake" 2
reads "an error of the file" wrong.xml "$(mistaken compared.yaml)"
run $'no<such>&"\'é.yaml' --junit wrong.xml
reads "a name that needs escapes" wrong.xml "$(mistaken $'no<such>&"\'é.yaml')"
run $'no\x01such\xff.yaml' --junit wrong.xml
reads "a name that XML can't hold" wrong.xml "$(mistaken 'no?such?.yaml')"
run compared.yaml --out none --junit wrong.xml --set 'compare=[{name: bad, set: {nothing: 1}}]'
exits "a mistake in a variant" 2
reads "an error of the comparison" wrong.xml "$(mistaken compared.yaml)"
holds "nothing else was created by mistakes" test ! -e none
if is_root && command -v setpriv >/dev/null; then
	cp "$fabricbed" fabricbed
	cp "$hello" hello.yaml
	mkdir closed
	chown 65534:65534 closed
	chmod 644 hello.yaml compared.yaml
	for file in hello compared; do
		try setpriv --reuid=65534 --regid=65534 --clear-groups ./fabricbed run $file.yaml --dataplane kernel --out closed/out --junit closed/$file.xml
		exits "$file, without privileges: exit status" 3
		like "$file, without privileges: an error" "$(python3 read.py closed/$file.xml)" \
			"suite $file"$'*\ncase run\nerror run the kernel dataplane can\'t run here: *'
	done
else
	tap_skip "without privileges" "needs root and setpriv"
fi

# ---- files that can't be written

run "$hello" --out refused --junit /proc/none/junit.xml
exits "no such folder" 2
like "no such folder: the message" "$err" "*can't write /proc/none/junit.xml: No such file or directory"
holds "no such folder: nothing was run" test ! -e refused
run "$hello" --out full --junit /dev/full
exits "a full disk" 4
same "a full disk: one message" "$err" "fabricbed: can't write /dev/full: No space left on device"
holds "a full disk: the results are whole" python3 -m json.tool full/summary.json
run "$hello" --out well --junit kept.xml
run "$hello" --out note/results --junit kept.xml
like "of an older file nothing stays" "$(python3 read.py kept.xml)" $'suite hello\ncase run\nerror *'
tap_done
