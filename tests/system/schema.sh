#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The keys of a scenario as the command lists them: help, man page, completion; and docs/scenarios.md, which has the same.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

# ---- help

try "$fabricbed" help scenario
exits "help scenario" 0
for key in name topology switch host workload faults expect; do
	like "help scenario lists $key" "$out" "*  $key *"
done
same "no line is longer than a terminal's" "$(awk 'length > 96' <<<"$out")" ""
try "$fabricbed" help scenario switch.ecn.kmin
exits "a key" 0
like "a key: help, value and default" "$out" "switch.ecn.kmin: depth of the queue*value *a size up to 2GB*default *25% BDP*"
try "$fabricbed" help scenario faults.0.do.flaky
like "an element of a list by its number" "$out" "faults.N.do.flaky: *every *last *"
numbered=$out
try "$fabricbed" help scenario faults.do.flaky
same "or without it" "$out" "$numbered"
try "$fabricbed" help scenario switch.ecn.kmni
exits "no such key" 2
like "no such key: the nearest" "$err" "*no key 'switch.ecn.kmni'; did you mean 'switch.ecn.kmin'?*"
try "$fabricbed" help run more
exits "a second word is a scenario's key" 2

# ---- the whole list

"$fabricbed" help scenario --json >keys.json
cat >keys.py <<'END'
import json, re, sys
keys, docs = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
rows = {}
for line in docs.splitlines():
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for name in re.findall(r"`([^`]*)`", cells[0]) if cells else []:
        rows.setdefault(name, []).append(cells)
wrong = 0
for key in keys:
    name = key["key"].split(".")[-1]
    default = key["default"]
    if name not in rows:
        # in the notation of another key's row, or in an example
        if not re.search(rf"[{{,\s`]{name}(:|`|\b.*`)", docs):
            print(f"{key['key']}: docs/scenarios.md does not name it")
            wrong += 1
        continue
    if default in ("", "required", "empty", "none", "all defaults") or default.startswith("the "):
        continue
    if not any(default in cell.replace("`", "") for row in rows[name] for cell in row[1:]) and \
            default.replace("`", "") not in docs.replace("`", ""):
        print(f"{key['key']}: docs/scenarios.md does not say that it is {default!r} by default")
        wrong += 1
for key in keys:
    if not key["help"] or not key["value"]:
        print(f"{key['key']}: has no help")
        wrong += 1
sys.exit(wrong != 0)
END
holds "docs/scenarios.md has each key and its default" python3 keys.py keys.json "$root/docs/scenarios.md"

# Each default that is a value is one: it can be set.
cat >defaults.py <<'END'
import json
skip = ("", "required", "empty", "none", "all defaults", "nothing is sent", "one run", "rate", "strict")
for key in json.load(open("keys.json")):
    path, default = key["key"], key["default"]
    if ".N" in path or default in skip or " by " in f" {default}" or "class" in default or "'" in default:
        continue
    if path.startswith(("topology.", "external.", "switch.roles.", "switch.buffer.", "switch.balance.", "switch.trim.", "clock.wall", "telemetry.ports.", "telemetry.queues.")):
        continue
    print(f"{path}={default}")
END
sets=()
while read -r set; do
	sets+=(--set "$set")
done < <(python3 defaults.py)
holds "there are defaults to set" test ${#sets[@]} -gt 60
hash_of() {
	"$fabricbed" run "$scenarios/hello.yaml" --dataplane inline --quiet --out result "$@" && figure result/summary.json trace_hash
}
# one at a time: a choice excludes the others
plain=$(hash_of)
for ((i = 1; i < ${#sets[@]}; i += 2)); do
	case ${sets[i]} in
	host.transport.roce* | host.transport.*) continue ;;
	esac
	try "$fabricbed" validate "$scenarios/hello.yaml" --set "${sets[i]}"
	exits "the default can be set: ${sets[i]}" 0
done
same "what is written as default changes nothing" "$(hash_of --set switch.reroute.after=100us --set topology.mtu=4096)" "$plain"

# ---- man page and completion

if command -v man >/dev/null; then
	"$fabricbed" help --man scenario >scenario.5
	same "the man page is well formed" "$(man -l --warnings -E UTF-8 scenario.5 2>&1 >/dev/null)" ""
	like "and has keys" "$(MANWIDTH=80 man -l scenario.5 2>/dev/null)" "*switch.buffer.per_port*500% BDP*"
else
	tap_skip "the man page is well formed" "man is not installed"
fi
complete_set() { # WORD
	bash -c 'source <("$0" help --completion); COMP_WORDS=(fabricbed run --set "$1"); COMP_CWORD=3
		compopt() { :; }; _fabricbed; printf "%s\n" "${COMPREPLY[@]}"' "$fabricbed" "$1"
}
same "--set completes keys" "$(complete_set switch.buffer.p)" "switch.buffer.per_port="
same "a mapping that may be a word, too" "$(complete_set host.transport=)" "host.transport="
same "but not the name of a choice" "$(complete_set clock. | tr '\n' ' ')" "clock.wall.slowdown= "
same "of lists those of the first element" "$(complete_set workload.0.incast.s | sort | tr '\n' ' ')" \
	"workload.0.incast.same_nic= workload.0.incast.senders= workload.0.incast.start= "
tap_done
