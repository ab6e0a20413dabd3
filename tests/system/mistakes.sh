#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Scenario files that are wrong: each mistake has its message with its place, the exit status is 2, and
# nothing has been created.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

# what is there before a bad file must be all that is there after it
mkdir empty bad
cd empty || exit 1

# One bad scenario: exit status 2 for run, validate and graph, and a message like the pattern.
refuses() { # TITLE PATTERN COMMAND-LINE...
	local title=$1 pattern=$2 command

	shift 2
	for command in validate graph run; do
		try timeout 20 "$fabricbed" $command "$@"
		[ "$status" = 2 ] || break
	done
	exits "$title: exit status" 2
	like "$title: the message" "$err" "$pattern"
	same "$title: nothing on standard output" "$out" ""
}

# The same for link-failure.yaml with one key changed.
refuses_set() { # KEY=VALUE PATTERN
	refuses "$1" "*$2*" "$scenarios/link-failure.yaml" --set name="$name" --set "$1"
}

# ---- ten mistakes, ten messages

# Each line with a mistake says which place and key its message has.
cat >../bad/ten.yaml <<'END'
name: Ten Mistakes              # 1:7 name
seed: -1                        # 2:7 seed
topology:
  fat_tree: {k: 5}              # 4:17 topology.fat_tree.k
  rate: 0Gbps                   # 5:9 topology.rate
  delya: 1us                    # 6:3 topology.delya
switch:
  buffer: {per_port: -32KB}     # 8:22 switch.buffer.per_port
  ecn: {kmin: 75% BDP, kmax: 25% BDP} # 9:15 switch.ecn.kmin
host:
  transport: strak              # 11:14 host.transport
workload:
  - permutation: {mesage: 2MB}  # 13:19 workload.0.permutation.mesage
expect:
  - {metric: flows.fct_us.maximum, at_most: 400} # 15:14 expect.0.metric
END
refuses "ten mistakes" "*" ../bad/ten.yaml
same "ten mistakes: ten messages, each with its place and its key" \
	"$(grep -oE '^\.\./bad/ten\.yaml:[0-9]+:[0-9]+: [a-z_.0-9]+: .' <<<"$err" | sed -E 's/^[^:]*:([^ ]*): ([^:]*):.*/\1 \2/')" \
	"$(sed -nE 's/.*# ([0-9]+:.*)/\1/p' ../bad/ten.yaml)"
like "ten mistakes: a near miss is named" "$err" "*did you mean 'delay'?*"
like "ten mistakes: what could have been meant" "$err" "*did you mean 'flows.fct_us.max'?*"

like "ten mistakes: how many" "$err" "*10 errors; nothing was created*"
for command in validate run up; do
	try "$fabricbed" $command --json ../bad/ten.yaml
	exits "ten mistakes: $command --json: exit status" 2
	same "ten mistakes: $command --json: nothing on standard error" "$err" ""
	same "ten mistakes: $command --json: the same places and keys" "$(python3 -c '
import json, sys
for e in json.load(sys.stdin)["errors"]:
    assert e["file"] == "../bad/ten.yaml", e
    print("%d:%d %s" % (e["line"], e["column"], e["message"].split(":")[0]))' <<<"$out")" \
		"$(sed -nE 's/.*# ([0-9]+:.*)/\1/p' ../bad/ten.yaml)"
done
cat >../bad/variants.yaml <<'END'
name: variants
topology: {fat_tree: {k: 4}}
compare:
  - {name: one, set: {host.transport: strak}}
  - {name: two, set: {host.ip: 5}}
END
for command in validate run; do
	try "$fabricbed" $command --json ../bad/variants.yaml
	exits "variants: $command --json: exit status" 2
	same "variants: $command --json: each with its name" "$(python3 -c '
import json, sys
print(*[e["variant"] + " " + e["message"].split(":")[0] for e in json.load(sys.stdin)["errors"]], sep="\n")' <<<"$out")" \
		$'one host.transport\ntwo host.ip'
done

# mistakes that can only be seen in the fabric come in the same go
cat >../bad/both.yaml <<'END'
name: both
seed: -1                                         # 2 seed
topology:
  fat_tree: {k: 4}
workload:
  - incast: {senders: 99, to: h0, message: 1MB}  # 6 workload.0.incast.senders
  - pairs: {from: [h0], to: [h77], message: 1MB} # 7 workload.1.pairs.to
faults:
  - {at: 1us, link: core9-agg0.0, do: down}      # 9 faults.0.link
END
refuses "mistakes of both kinds" "*" ../bad/both.yaml
same "mistakes of both kinds: a message for each, with its line and its key" \
	"$(sed -nE 's/^\.\.\/bad\/both\.yaml:([0-9]+):[0-9]+: ([^:]*):.*/\1 \2/p' <<<"$err")" \
	"$(sed -nE 's/.*# ([0-9]+ .*)/\1/p' ../bad/both.yaml)"

# ---- files that are no scenario

: >../bad/empty.yaml
refuses "an empty file" "../bad/empty.yaml: the file is empty*" ../bad/empty.yaml
printf '\n# nothing but this\n' >../bad/comment.yaml
refuses "nothing but a comment" "../bad/comment.yaml: *only comments*" ../bad/comment.yaml
refuses "a directory" "../bad: it is a directory*" ../bad
refuses "a file that is not there" "../bad/none.yaml: cannot open it: No such file*" ../bad/none.yaml
head -c 10485760 /dev/zero | tr '\0' '#' >../bad/large.yaml
refuses "10 MB" "../bad/large.yaml: the file is larger than 1 MB*" ../bad/large.yaml
refuses "endless input" "/dev/zero: *" /dev/zero
head -c 100000 "$fabricbed" >../bad/binary.yaml
refuses "a binary" "../bad/binary.yaml:*" ../bad/binary.yaml
printf 'name: x\ntopology: [\n' >../bad/cut.yaml
refuses "a file cut short" "../bad/cut.yaml:[0-9]*:[0-9]*: *" ../bad/cut.yaml
printf 'a: &a [*a]\n' >../bad/loop.yaml
refuses "an alias to itself" "../bad/loop.yaml:*" ../bad/loop.yaml
python3 -c 'print("a: " + "[" * 900000)' >../bad/deep.yaml
refuses "nested without end" "../bad/deep.yaml:1:*" ../bad/deep.yaml
printf 'name: x\xff\xfe\n' >../bad/latin.yaml
refuses "no UTF-8" "../bad/latin.yaml:1:*" ../bad/latin.yaml
printf -- '- just\n- a list\n' >../bad/list.yaml
refuses "a list" "../bad/list.yaml:*mapping*" ../bad/list.yaml
printf 'name: x\nname: y\ntopology: {fat_tree: {k: 4}}\n' >../bad/twice.yaml
refuses "a key twice" "../bad/twice.yaml:2:1: *'name' again*" ../bad/twice.yaml
refuses "two topologies" "*fat_tree and leaf_spine exclude each other*" "$scenarios/link-failure.yaml" \
	--set 'topology.leaf_spine={leaves: 2, spines: 2, hosts_per_leaf: 2}'

# ---- values

refuses_set topology.fat_tree.k=5 "topology.fat_tree.k: 5 is odd; *4, 6, 8*"
refuses_set topology.fat_tree.k=4000 "topology.fat_tree.k: 4000 is too large*88*"
refuses_set topology.fat_tree.k=99999999999999999999 "topology.fat_tree.k: *"
refuses_set topology.fat_tree.k=0 "topology.fat_tree.k: 0 is too small*"
refuses_set topology.fat_tree.k=four "topology.fat_tree.k: *'four'*"
refuses_set topology.rate=0 "topology.rate: 0 is too small*"
refuses_set topology.rate=0Gbps "topology.rate: 0Gbps is too small*"
refuses_set topology.rate=-1Gbps "topology.rate: -1Gbps is negative*"
refuses_set topology.rate=100 "topology.rate: expected a rate*100Gbps*"
refuses_set topology.delay=-1us "topology.delay: -1us is negative*"
refuses_set topology.delay=2h "topology.delay: *"
refuses_set topology.mtu=0 "topology.mtu: 0 is too small*"
refuses_set topology.mtu=9999999 "topology.mtu: 9999999 is too large*"
refuses_set switch.buffer.per_port=-32KB "switch.buffer.per_port: -32KB is negative*"
refuses_set switch.buffer.per_port=100B "switch.buffer.per_port: *packet*"
refuses_set "switch.ecn.kmin=99% BDP" "switch.ecn.kmin: *kmax*"
refuses_set switch.ecn.pmax=2 "switch.ecn.pmax: 2 is too large*"
refuses_set switch.balance=ecpm "switch.balance: *did you mean 'ecmp'*"
refuses_set host.transport=tcp "host.transport: 'tcp'*strack, roce*"
refuses_set host.transport.roce.qps_per_connection=0 "qps_per_connection: 0 is too small*"
refuses_set host.dscp=64 "host.dscp: 64 is too large*"
refuses_set host.transport.strack.paths=0 "host.transport.strack.paths: 0 is too small*"
refuses_set host.transport.strack.spray=adaptiv "*did you mean 'adaptive'*"
refuses_set workload.0.permutation.message=-2MB "message: -2MB is negative*"
refuses_set workload.0.permutation.message=0 "message: 0 is too small*"
refuses_set workload.0.permutation.count=-1 "count: -1 is negative*"
refuses_set seed=-1 "seed: -1 is negative*"
refuses_set telemetry.queues=0us "telemetry.queues: *"
refuses_set until=-1us "until: *"
refuses_set nonsense=1 "nonsense: no such key*"
refuses_set nonsense "--set nonsense: expected key.path=value*"
refuses_set expect.0.at_most=1 "expect.0*"
refuses_set expect.0.metric=flows.unfinish "*did you mean 'flows.unfinished'*"

# ---- a switch whose settings do not fit each other

refuses_set 'switch.ecn={kmin: 2us, kmax: 1us}' "switch.ecn.kmin: kmin is above kmax*"
refuses_set 'switch.ecn={kmin: 20us, kmax: 100KB}' "switch.ecn.kmin: 250000 bytes on link h0-tor0.0, above kmax*102400*"
refuses_set 'switch.buffer={shared: auto, per_port: 1MB}' "per_port and shared exclude each other*"
refuses_set 'switch.buffer={shared: 10KB}' "switch.buffer.shared: *tor0.0*reserves*give at least*"
refuses_set 'switch.classes=[{class: 3, lossless: yes}]' "class 3 cannot be lossless without PFC; add switch.pfc: on*"
refuses_set 'switch.classes=[{class: 3, dscp: 1}, {class: 4, dscp: 1}]' "DSCP 1 is class 3's and class 4's*"
refuses_set 'switch.classes=[{class: 3}, {class: 3}]' "a second class 3*"
refuses_set 'switch.classes=[{class: 3, schedule: 60%}, {class: 4, schedule: 50%}]' "sum to 110%*at most 100%*"
refuses_set 'switch={pfc: on, buffer: {per_port: 30KB}}' "headroom of 37535 bytes, as link h0-tor0.0 has it, is larger than the buffer of 30720*"
refuses_set 'switch={pfc: on, buffer: {per_port: 40KB}}' "no room for a packet*37535 bytes of headroom*"
refuses_set 'switch={pfc: on, classes: [{class: 3}]}' "switch.pfc: no class is lossless*"
refuses_set 'switch={pfc: on, classes: [{class: 3, lossless: yes, xoff: 10KB, xon: 11KB}]}' "XON is above XOFF*"
refuses_set 'switch={pfc: on, classes: [{class: 3, lossless: yes, xoff: 10KB, xon: 50% BDP}]}' "above XOFF, which comes to 10240*"
refuses_set 'switch={pfc: on, classes: [{class: 3, lossless: yes, buffer: 40KB, headroom: 41KB}]}' "headroom of 41984*larger than the buffer*"
refuses_set 'switch={pfc: on, roles: {remap: {0: 1}}}' "by LLDP, which is off; add switch.lldp: on*"
refuses_set 'switch={pfc: on, lldp: on, roles: {remap: {0: 1}}}' "there is no class 1*"
refuses_set 'switch={trim: receiver, pfc: on}' "switch.trim: nothing to trim*"
refuses_set 'switch.trim={to: sender, overflow: return}' "switch.trim.overflow: *sender anyway*"

# ---- what is not there, what is there twice

refuses_set faults.0.link=agg0.1-core9 "there is no link 'agg0.1-core9'; did you mean 'agg0.1-core2'*"
refuses_set faults.0.link=nowhere "'nowhere' matches no link*"
refuses_set 'faults.0.link=x*-y*' 'matches no link*'
refuses_set 'workload.1={pairs: {from: [h0], to: [h99], message: 1MB}}' "there is no host 'h99'*"
refuses_set 'workload.1={pairs: {from: [core0], to: [h1], message: 1MB}}' "'core0' is a switch*"
refuses_set 'workload.1={pairs: {from: [h1], to: [h1], message: 1MB}}' "'h1' sends to itself*"
refuses_set 'workload.1={incast: {senders: 3, to: h99, message: 1MB}}' "there is no host 'h99'*"
refuses_set 'workload.1={incast: {senders: 16, to: h1, message: 1MB}}' 'at most 15*'
refuses_set 'topology.links.0={match: "spine*", rate: 1Gbps}' "'spine?' matches no link*"
refuses_set faults.0.until=10us "faults.0.until: 10us is not after the start at 20us*"
refuses_set faults.0.do=up "faults.0.do: 'up'*down*"
refuses_set faults.0.do.rate=0% "faults.0.do.rate: 0% is too small*"
refuses_set faults.0.do.rate=150% "faults.0.do.rate: *"
refuses_set 'faults.1={at: 50us, do: down}' "faults.1: expected one of these keys: link, switch, host*"
refuses_set 'faults.1={at: 50us, switch: core9, do: down}' "there is no switch 'core9'; did you mean 'core0'*"
refuses_set 'faults.1={at: 50us, switch: core0, do: {loss: 1%}}' "faults.1.do.loss: not for a switch; expected down*"
refuses_set 'faults.1={at: 50us, host: h1, do: {pause: 0}}' "class 0 is not lossless*add switch.pfc: on*"
refuses_set 'faults.1={at: 50us, link: h1-tor0.0, do: {loss: 110%}}' "110% is too large; expected a probability*"
refuses_set 'faults.1={at: 50us, until: 90us, link: agg0.1-core2, do: down}' "*overlaps*agg0.1-core2*"
refuses_set 'faults.1={at: 50us, until: 90us, link: core2-agg0.1, do: down}' "*overlaps*agg0.1-core2*"
refuses_set 'faults.1={at: 0, until: never, link: "agg*-core*", do: down}' "*overlaps*agg0.1-core2*"

# next to each other in time, or of two kinds, they do not overlap
for other in '{at: 80us, until: 90us, link: agg0.1-core2, do: down}' \
	'{at: 50us, until: 90us, link: agg0.1-core2, do: {rate: 25%}}' \
	'{at: 50us, until: 90us, switch: core2, do: down}' \
	'{at: 50us, link: agg0.1-core2, do: {gilbert: {enter: 1%, leave: 10%}}}'; do
	try "$fabricbed" validate "$scenarios/link-failure.yaml" --set "faults.1=$other"
	exits "fine: $other" 0
done

same "no file was created" "$(ls -A)" ""
same "no namespace was created" "$(leftovers)" ""
tap_done
