#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The command line as a user and a script meet it: exit statuses, help, completion, output, folders.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
hello=$scenarios/hello.yaml
newline=$'\n'
commands="run sweep validate graph up down list exec top show inject heal start pause go step until save capture policy doctor help version"
inline() { # FILE OPTION...
	try "$fabricbed" run --dataplane inline "$@"
}

# ---- exit statuses

inline "$hello"
exits "status 0: all went well" 0
inline "$hello" --set 'expect=[{metric: flows.fct_us.max, at_most: 1}]'
exits "status 1: an expectation failed" 1
like "status 1: it is named" "$out" "*FAIL*flows.fct_us.max*at_most 1: 90.2*"
# what never finished took no time that could be small enough
inline "$scenarios/permutation.yaml" --set until=10us \
	--set 'expect=[{metric: slowdown, at_most: 1.45}, {metric: flows.fct_us.p99, at_most: 200}]'
exits "status 1: nothing had finished" 1
like "status 1: nothing had finished, and it is said" "$out" \
	"*completion  -$newline*FAIL*slowdown at_most 1.45: -, no flow has finished$newline*FAIL*flows.unfinished equals 0 (implied): 128*"
inline "$scenarios/pfc-deadlock.yaml" --set switch.roles=off \
	--set 'expect=[{metric: slowdown, at_most: 5}, {metric: slowdown, at_most: 5, of: finished}]'
exits "status 1: a deadlock" 1
like "status 1: a deadlock, and what it held up" "$out" \
	"*of the 4 finished: mean *FAIL*slowdown at_most 5: -, 12 of 16 flows have not finished$newline*ok *slowdown at_most 5 of finished: *"
inline "$scenarios/pfc-deadlock.yaml" --set switch.roles=off --set 'expect=[{metric: slowdown, at_most: 5, of: finished}]'
exits "status 1: what has finished does not make up for the others" 1
inline "$scenarios/pfc-deadlock.yaml" --set switch.roles=off \
	--set 'expect=[{metric: slowdown, at_most: 5, of: finished}, {metric: flows.unfinished, at_least: 0}]'
exits "status 0: it may stay unfinished" 0
inline none.yaml
exits "status 2: the input is wrong" 2
try setpriv --bounding-set=-net_admin "$fabricbed" run "$hello" --set name="$name"
if is_root; then exits "status 3: the machine lacks something" 3; else tap_skip "status 3" "needs root"; fi
inline "$hello" --capture none/x.pcapng
exits "status 4: the run failed" 4
like "status 4: it says why" "$err" "*none/x.pcapng: No such file*"

# ---- wrong command lines

wrong() { # PATTERN ARGUMENT...
	local pattern=$1

	shift
	try "$fabricbed" "$@"
	exits "'$*': exit status" 2
	like "'$*': the message" "$err" "fabricbed: *$pattern*"
	same "'$*': nothing on standard output" "$out" ""
}
wrong "no command 'rnu'; did you mean 'run'?" rnu
wrong "no command 'valdate'; did you mean 'validate'?" valdate
wrong "no command 'xyzzy'; 'fabricbed help' lists them all" xyzzy
wrong "no command ''" ""
wrong "no command 'grpah'; did you mean 'graph'?" help grpah
wrong "no option '--dataplnae'; did you mean '--dataplane'?" run --dataplnae inline "$hello"
wrong "no option '--help-me'" run --help-me
wrong "no option '--jsno'; did you mean '--json'?" doctor --jsno
wrong "no option '-z'" run -qz "$hello"
wrong "'--seed' needs a value" run "$hello" --seed
wrong "'-o' needs a value" run "$hello" -qo
wrong "'--quiet' takes no value" run --quiet=yes "$hello"
wrong "'--json' takes no value" doctor --json=yes
wrong "run: needs FILE" run
wrong "'two' is one too many" run one two
wrong "'extra' is one too many" version extra
wrong "'kernel' or 'inline', not 'ebpf'" run "$hello" --dataplane ebpf
wrong "--format is dot, svg, png, pdf, ps, ..., not 'xls'" graph "$hello" --format xls
try "$fabricbed" run "$hello" --seed minus
exits "--seed minus: exit status" 2
like "--seed minus: the message" "$err" "*seed: *'minus'*"
try "$fabricbed" run "$hello" --seed 18446744073709551616
exits "a seed of 2^64: exit status" 2
try "$fabricbed"
exits "no command at all: exit status" 2
like "no command at all: help" "$out" "*usage: fabricbed COMMAND*"

cat >seeded.yaml <<END
$(sed '/^seed:/d' "$hello")
compare:
  - {name: one, set: {seed: 1}}
  - {name: two, set: {seed: 2}}
END
wrong "variant one of hello has a seed of its own*--set seed=9" run seeded.yaml --dataplane inline --seed 9
inline seeded.yaml --set seed=9 --quiet
exits "--set has the last word over a variant's seed" 0

# ---- help, man page, completion, version

try "$fabricbed" help
exits "help" 0
for command in $commands; do
	like "help names $command" "$out" "*  $command *"
done
for metric in flows.fct_us.p99 packets.dropped.buffer packets.dropped.ttl fidelity.lost; do
	like "help metrics names $metric" "$("$fabricbed" help metrics)" "*  $metric  *"
done
same "--help is help" "$("$fabricbed" --help)" "$out"
for command in $commands; do
	try "$fabricbed" "$command" --help
	exits "$command --help" 0
	like "$command --help: usage" "$out" "usage: fabricbed $command*"
	same "help $command is the same" "$("$fabricbed" help "$command")" "$out"
	same "$command --help fits a terminal" "$(grep -E '.{111}' <<<"$out")" ""
done
"$fabricbed" help --man >fabricbed.8
if command -v man >/dev/null; then
	same "the man page has no warnings" "$(LC_ALL=C.UTF-8 man --warnings -l fabricbed.8 2>&1 >/dev/null)" ""
	LC_ALL=C.UTF-8 MANWIDTH=100 man -l fabricbed.8 2>/dev/null | sed 's/.\x08//g' >page
	for word in NAME SYNOPSIS --dataplane --seed "EXIT STATUS" summary.json $commands; do
		holds "the man page tells of $word" grep -q -- "$word" page
	done
else
	tap_skip "the man page has no warnings" "man is not installed"
fi
try "$fabricbed" version
like "version" "$out" "fabricbed [0-9]*.[0-9]*.[0-9]*"
same "--version is version" "$("$fabricbed" --version)" "$out"

"$fabricbed" help --completion >completion
holds "the completion is bash" bash -n completion
: >scenario.yaml
: >"two words.yaml"
# What the shell would offer for these words, the last being completed.
complete_words() { # WORD...
	(
		. ./completion
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_fabricbed
		printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
	)
}
sorted() {
	printf '%s\n' "$@" | LC_ALL=C sort
}
# shellcheck disable=SC2086
same "completes commands" "$(complete_words fabricbed '')" "$(sorted $commands)"
same "completes a command" "$(complete_words fabricbed va)" validate
for command in $commands; do
	same "completes all options of $command" "$(complete_words fabricbed "$command" --)" \
		"$({ echo --help; "$fabricbed" "$command" --help | grep -oE '^  (-.,|   ) --[a-z]+' | grep -oE -- '--.*'; } |
			LC_ALL=C sort)"
done
same "completes an option" "$(complete_words fabricbed run --da)" --dataplane
same "completes a value" "$(complete_words fabricbed run --dataplane '')" "$(sorted kernel inline)"
same "completes a file" "$(complete_words fabricbed run sc)" scenario.yaml
same "completes a file with a blank" "$(complete_words fabricbed validate two)" "two words.yaml"
same "completes help's commands" "$(complete_words fabricbed help gr)" graph
holds "the shell accepts it" bash -c '. ./completion && complete -p fabricbed'

# ---- folders and paths

mkdir -p here/deep
cp "$hello" here/hello.yaml
cd here/deep || exit 1
inline ../hello.yaml
exits "a relative path from another folder" 0
like "results go below the folder it is called in" "$out" "*results *runs/hello-1/*"
inline "$scratch/here/hello.yaml"
like "an absolute path; the next number" "$out" "*results *runs/hello-2/*"
rm -rf runs/hello-1
inline ../hello.yaml
like "the first free number" "$out" "*results *runs/hello-1/*"
inline ../hello.yaml --set name=other
like "each name counts by itself" "$out" "*results *runs/other-1/*"
same "all that a run leaves" "$(ls runs/other-1)" \
	"$(printf '%s\n' events.jsonl flows.csv ports.csv scenario.yaml summary.json)"
cd "$(dirname "$fabricbed")" || exit 1
try "./$(basename "$fabricbed")" version
exits "from its own folder" 0
cd "$scratch" || exit 1
ln -s "$fabricbed" linked
try ./linked version
exits "through a symbolic link" 0

mkdir mine
echo keep >mine/note
inline "$hello" --out mine --set telemetry.queues=1us
exits "--out an existing folder" 0
same "--out leaves what is there" "$(cat mine/note)" keep
inline "$hello" --out mine --set seed=2
exits "--out the same folder again" 0
same "--out the same folder again: the results are the new ones" "$(figure mine/summary.json seed)" 2
holds "--out the same folder again: no results of the old run" test ! -e mine/queues.csv
inline "$hello" --out parents/are//made/ --junit parents/too/junit.xml
exits "--out makes the folders above it" 0
holds "--out makes the folders above it: the results" test -e parents/are/made/summary.json -a -e parents/too/junit.xml
inline "$hello" --output whole/word
holds "--output is the whole word" test -e whole/word/summary.json
inline "$hello" --out /proc/none/such
exits "--out below a folder that can't be made" 2
like "--out below a folder that can't be made: the message" "$err" "*/proc/none/such*No such file*; --output names another*"
inline "$hello" --out mine/note
like "--out a file" "$err" "*mine/note*Not a directory*"
holds "--out a file is no success" test "$status" -ne 0

# ---- what is printed

inline "$hello" --json --out json
exits "--json" 0
same "--json prints summary.json" "$out" "$(cat json/summary.json)"
same "--json prints nothing else" "$err" ""
holds "--json is JSON with all keys" python3 -c '
import json, sys
s = json.loads(sys.argv[1])
assert list(s)[:12] == "schema scenario seed dataplane clock version commit command date host kernel scenario_hash".split(), list(s)
assert s["command"] == ["fabricbed", *sys.argv[2:]], s["command"]
for key in "trace_hash model_time_us wall_s hops hops_per_s peak_rss_mb flows packets queues ideal_us ideal_fabric_us slowdown slowdown_finished ended_by expect".split():
    assert key in s, key
assert set(s["flows"]) == {"count", "unfinished", "unmeasured", "bytes", "fct_us", "fct_slowdown", "finished", "goodput_gbps", "by_size",
                           "retransmitted", "spurious", "reordered", "loss_rate"}
assert set(s["flows"]["finished"]) == {"count", "fct_us", "fct_slowdown", "by_size"}
assert set(s["flows"]["fct_us"]) == set(s["flows"]["fct_slowdown"]) == {"mean", "p50", "p90", "p95", "p99", "p999", "max"}
assert set(s["flows"]["by_size"]["1MB"]) == {"count", "fct_us", "fct_slowdown"}
assert len(s["trace_hash"]) == 16 and int(s["trace_hash"], 16)
assert s["expect"] and all(set(e) == {"metric", "bound", "value", "ok"} for e in s["expect"])' "$out" run --dataplane inline "$hello" --json --out json
for command in "validate $hello" doctor; do
	# shellcheck disable=SC2086
	"$fabricbed" $command --json >printed.json
	holds "${command%% *} --json is JSON" python3 -m json.tool printed.json
done
inline "$hello" --quiet
exits "--quiet" 0
same "--quiet prints nothing" "$out$err" ""
inline "$hello"
same "no progress in a pipe" "$err" ""
like "the summary names the run" "$out" "hello: *"
same "the summary has no hole" "$(grep -c '^$' <<<"$out")" 1
inline "$hello" --set about=
like "a scenario without words about it" "$out" "hello"$'\n\n'"*"

# what is written about a file may be false of what overrides made of it
inline "$scenarios/incast.yaml" --set workload.0.incast.senders=2 --set workload.0.incast.message=1KB --out changed
like "--set: what was changed, and not what the file says" "$out" \
	"incast: with workload.0.incast.senders=2, workload.0.incast.message=1KB"$'\n\n'"*"
like "--set: scenario.yaml says it too" "$(cat changed/scenario.yaml)" "*about: *with workload.0.incast.senders=2*"
inline "$hello" --set seed=3 --set 'expect=[]' --set name=hello
like "--set: what leaves the words true" "$out" "hello: Two hosts*"
inline "$hello" --set host.ip=6 --set about=mine
like "--set about" "$out" "hello: mine"$'\n\n'"*"

# each figure with the unit that suits it; files have the one in the key's name
inline "$hello" --set topology.rate=1Mbps --set topology.delay=1us --set until=100s --set 'expect=[]' --out slow
like "units: seconds and Kbps" "$out" "*completion  mean [0-9].[0-9][0-9][0-9] s, *goodput     9[0-9][0-9].[0-9] Kbps, *"
holds "units: files keep theirs" python3 -c '
import json
s = json.load(open("slow/summary.json"))
assert s["flows"]["fct_us"]["mean"] > 1e6 and s["flows"]["goodput_gbps"] < 1e-3, s["flows"]'

# a run that takes a while, on a terminal and with its results elsewhere: only there a line is redrawn
on_terminal() { # COMMAND...
	python3 "$root/tests/lib/terminal.py" 200 "$@"
}
long=(run "$scenarios/permutation.yaml" --dataplane inline --out long --set 'workload.0.permutation.message=16MB'
	--set expect=[])
on_terminal "$fabricbed" "${long[@]}" >seen
same "on a terminal: exit status" "$?" 0
like "on a terminal: progress" "$(cat seen)" *$'\r\e[K'*"us  "*" of 128 flows  "*"hops/s"*
like "on a terminal: it is gone at the end" "$(cat seen)" *$'\r\e[K'"permutation: "*
on_terminal "$fabricbed" "${long[@]}" --quiet >seen
same "on a terminal: --quiet" "$(cat seen)" ""
failing=(run "$hello" --dataplane inline --set 'expect=[{metric: flows.fct_us.max, at_most: 1}]')
TERM=xterm on_terminal "$fabricbed" "${failing[@]}" >seen
like "on a terminal: FAIL is red" "$(cat seen)" *$'\e[1;31mFAIL\e[0m'*
for plain in NO_COLOR=1 TERM=dumb TERM=; do
	env TERM=xterm "$plain" python3 "$root/tests/lib/terminal.py" 200 "$fabricbed" "${failing[@]}" >seen
	like "on a terminal: $plain" "$(cat seen)" *"expect      FAIL  flows"*
done
on_terminal "$fabricbed" "${long[@]}" --json | tr -d '\r' >seen
holds "on a terminal: --json" python3 -m json.tool seen

# ---- output that can't be written

for command in "run --dataplane inline $hello" "run --dataplane inline --json $hello" "validate $hello" \
	"validate --json $hello" "graph $hello" help "help --man" version; do
	# shellcheck disable=SC2086
	err=$("$fabricbed" $command 2>&1 >/dev/full)
	status=$?
	exits "full: ${command% *}: exit status" 4
	like "full: ${command% *}: the message" "$err" "*can't write to standard output: No space left*"
	# shellcheck disable=SC2086
	err=$("$fabricbed" $command 2>&1 >&-)
	status=$?
	exits "closed: ${command% *}: exit status" 4
	like "closed: ${command% *}: the message" "$err" "*can't write to standard output*"
done
"$fabricbed" run --dataplane inline "$hello" --out closed --quiet <&- >&- 2>&-
same "all three streams closed: exit status" "$?" 0
holds "all three streams closed: the results are whole" python3 -m json.tool closed/summary.json
same "all three streams closed: no output among the results" "$(cat closed/events.jsonl)" ""
"$fabricbed" graph "$hello" --output /dev/full 2>full.err
same "graph --output on a full disk: exit status" "$?" 4
like "graph --output on a full disk: the message" "$(cat full.err)" "*can't write /dev/full: No space left*"
# a limit on the size of files stands for a full disk: 1 KB, then 8
for limit in 1 8; do
	rm -rf small
	err=$(bash -c 'trap "" XFSZ; ulimit -f '$limit'; exec "$@"' - "$fabricbed" run --dataplane inline \
		"$scenarios/incast.yaml" --out small --quiet 2>&1)
	status=$?
	exits "no room for results over $limit KB: exit status" 4
	like "no room for results over $limit KB: the message" "$err" "*can't write results in small: *"
done

# ---- pictures

"$fabricbed" graph "$scenarios/link-failure.yaml" >graph.dot
same "graph draws all links" "$(grep -c -- ' -- ' graph.dot)" 48
if command -v dot >/dev/null; then
	holds "Graphviz reads it" dot -Tsvg graph.dot -o /dev/null
else
	tap_skip "Graphviz reads it" "dot is not installed"
fi
# what Graphviz's program is called with, and what it reads
mkdir graphviz empty
cat >graphviz/dot <<'END'
#!/bin/bash
echo "$1 ${2%%/*} $#" >called
cp "$3" read.dot
printf '\x89picture' >"${2#-o}"
END
cat >empty/dot <<'END'
#!/bin/bash
echo "dot: out of ink" >&2
exit 1
END
chmod +x graphviz/dot empty/dot
try env PATH="$PWD/graphviz:$PATH" "$fabricbed" graph "$scenarios/link-failure.yaml" --output x.PNG
exits "graph --output x.PNG" 0
same "Graphviz draws it, of the file's kind" "$(cat called)" "-Tpng -o 3"
same "of the text" "$(cat read.dot)" "$(cat graph.dot)"
same "and the picture is in the file" "$(cat x.PNG)" $'\x89picture'
try env PATH="$PWD/graphviz:$PATH" "$fabricbed" graph "$hello" --format svg
same "graph --format svg: to standard output" "$(cat called) $out" $'-Tsvg -o 3 \x89picture'
err=$(PATH="$PWD/graphviz:$PATH" "$fabricbed" graph "$hello" -f svg 2>&1 >/dev/full)
same "a picture for a full disk: exit status" "$?" 4
try env PATH="$PWD/empty:$PATH" "$fabricbed" graph "$hello" --output y.pdf
exits "Graphviz fails" 4
like "and why is told" "$err" "*dot failed: dot: out of ink"
try env PATH=/nonexistent "$fabricbed" graph "$hello" --output y.pdf
exits "there is no Graphviz" 3
like "its package is named" "$err" "*is not installed; remedy: install the package graphviz*"
holds "no picture: no file" test ! -e y.pdf
try env PATH=/nonexistent "$fabricbed" graph "$hello" --output y.dot
exits "the text needs no Graphviz" 0

# ---- installed

try env -u MAKEFLAGS -u MAKELEVEL make -C "$root" BUILD="$(dirname "$fabricbed")" DESTDIR="$scratch/image" PREFIX=/usr install
exits "make install" 0
try image/usr/bin/fabricbed run image/usr/share/fabricbed/scenarios/hello.yaml --dataplane inline --quiet
exits "what is installed runs" 0
same "the installed completion is the command's" \
	"$(cat image/usr/share/bash-completion/completions/fabricbed)" "$(cat completion)"
same "the installed man page is the command's" "$(cat image/usr/share/man/man8/fabricbed.8)" "$(cat fabricbed.8)"
holds "Wireshark's dissector is installed" cmp image/usr/share/fabricbed/wireshark/fabricbed.lua "$root/wireshark/fabricbed.lua"
try env -u MAKEFLAGS -u MAKELEVEL make -C "$root" BUILD="$(dirname "$fabricbed")" DESTDIR="$scratch/image" PREFIX=/usr uninstall
same "make uninstall takes it all away" "$(find image -type f)" ""
tap_done
