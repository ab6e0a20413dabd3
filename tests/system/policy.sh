#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Policies of the user's, by the compiler and in the kernel: what is built, what is refused and with which line, and that
# both dataplanes are compared. Few compiler runs: tests/unit/test_policy.c has what needs none.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh
export XDG_CACHE_HOME=$scratch/cache
policies=$XDG_CACHE_HOME/fabricbed/policies
mkdir -m 700 "$XDG_CACHE_HOME"

if ! command -v clang >/dev/null; then
	tap_skip "policies are built" "there is no clang"
	tap_done
	exit
fi

policy() { # NAME, the rest of the file being standard input
	{ echo '#include <fabricbed/policy.h>'; cat; } >"$1"
}

# One case: a file is refused with these words.
refuses() { # NAME FILE PATTERN
	try "$fabricbed" policy build "$2"
	like "$1" "$status $err" "2 fabricbed: $3*"
}

policy good.c <<-'END'
	struct turn { __u32 next[64]; };
	struct seen { __u64 last_ps; __u32 pick; };

	POLICY(good)
	{
		struct turn *t = POLICY_SWITCH(struct turn);
		struct seen *s = POLICY_FLOW(struct seen);

		if (!s->last_ps || p->now_ps - s->last_ps > p->gap_ps)
			s->pick = policy_shortest(p, t->next[p->group % 64]++ % p->count);
		s->last_ps = p->now_ps;
		return s->pick % p->count;
	}
END
policy missing.c <<<'static int x;'
policy two.c <<-'END'
	POLICY(a) { return 0; }
	POLICY(b) { return 0; }
END
policy syntax.c <<<'POLICY(a) { return p->counts; }'
policy clock.c <<-'END'
	POLICY(a)
	{
		return bpf_ktime_get_ns() % p->count;
	}
END
policy static.c <<-'END'
	/* turn */
	POLICY(a)
	{
		static __u32 turn;
		return turn++ % p->count;
	}
END

cat >small.yaml <<-'END'
	name: small
	topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}}
	workload: [{pairs: {from: [h0, h1], to: [h2, h3], message: 64KB}}]
	switch: {balance: {policy: good.c}}
	expect: [{metric: flows.unfinished, equals: 0}, {metric: packets.dropped, equals: 0}]
END
try env PATH=/nowhere "$fabricbed" policy build good.c
like "a missing compiler is named with its package" "$status $err" \
	"3 fabricbed: good.c: a policy is compiled by clang, which is not installed; remedy: apt-get install clang"
try env PATH=/nowhere "$fabricbed" validate small.yaml
like "validate says that it could not build it" "$status $err" \
	"0 fabricbed: note: good.c: a policy is compiled by clang, which is not installed; remedy: apt-get install clang"
{ cat good.c; printf '/*%65500s*/' ''; } >large.c
try "$fabricbed" policy swap none large.c
like "a policy that is too long for a live fabric is told before it is asked" "$status $err" \
	"2 fabricbed: large.c has 6[0-9]* bytes, 6[0-9]* as JSON; a live fabric takes policies of up to 65472 bytes as JSON"
refuses "a file without a policy is refused" missing.c "missing.c: it has no policy; one is POLICY(name) { return ...; }"
refuses "two policies are refused with the line" two.c "two.c:3:1: a second POLICY(); the file of a policy has one"
refuses "a mistake has the compiler's words and the line" syntax.c \
	"syntax.c:2:23: no member named 'counts' in 'struct policy'; did you mean 'count'?"
refuses "a clock is refused with the line" clock.c \
	"clock.c:4: a policy can't call bpf_ktime_get_ns(): it has no clock but model time: p->now_ps"
refuses "a static variable is refused with the line" static.c "static.c:5: 'turn' is a global or static variable"
same "nothing is left of what was refused" "$(ls -A "$policies")" ""

try "$fabricbed" policy check good.c -n 500 --json
if [ "$(id -u)" = 0 ]; then
	exits "a policy is alike in the kernel and in the process" 0
	like "and the check tells so" "$out" '*"packets": 500,*"out_of_range": 0,*"kernel": true,*"difference": null,*"walked": *'
else
	exits "without privilege a check is of the process alone" 3
fi
try "$fabricbed" policy build good.c
like "it is built once" "$status $out" "0 good.c: it was built before, hash *"
out_hash=$(sed 's/.*hash \([0-9a-f]*\).*/\1/' <<<"$out")
same "the cache is the owner's alone" "$(stat -c %a "$policies" "$policies"/*.policy)" "700
600"

try "$fabricbed" run small.yaml --dataplane inline --set clock=stepped --output run -q
exits "a scenario names its policy" 0
same "and results tell which it was" "$(figure run/summary.json policy.file) $(figure run/summary.json policy.hash)" \
	"good.c $out_hash"
try "$fabricbed" run small.yaml --set switch.balance.policy=syntax.c --dataplane inline --output wrong
like "a run with a wrong policy is refused before anything is made" "$status $err" "2 fabricbed: syntax.c:2:23: *"
same "and leaves no results" "$(ls -d wrong 2>/dev/null)" ""
try "$fabricbed" validate small.yaml --set switch.balance.policy=syntax.c --json
like "validate tells it too" "$status $out" '2 *"file": "syntax.c"*"line": 2,*"column": 23,*'

try "$fabricbed" run small.yaml --set switch.balance='{policy: flowlet, flows: 8}' --set workload='[permutation: {message: 4KB, count: 20}]' \
	--dataplane inline --output forgot
like "a flow table that is too small is told with the remedy" "$out" \
	"*balance *[1-9]* of *entries of flow tables went to other flows too early; remedy: a larger switch.balance.flows*"
try "$fabricbed" run small.yaml --set switch.balance=flowlet --dataplane inline --output kept
same "one that is large enough is not told of" "$status $(grep '^  balance' <<<"$out")" "0 "

# Policies are swapped in a fabric that runs: good.c, turn.c, a wrong file, and the switches' own again. The trace is in $trace.
policy turn.c <<<"$(grep -v '^#include' "$root/bpf/sw/balance/spray.h")"
swaps() { # DATAPLANE
	local file seen

	try "$fabricbed" up small.yaml --name "$name" --set switch.balance=ecmp --set clock=stepped --dataplane "$1" --start --quiet
	exits "$1: up" 0
	seen=
	for file in good.c turn.c syntax.c --back; do
		"$fabricbed" step "$name" 1us >/dev/null
		try "$fabricbed" policy swap "$name" "$file"
		seen+="$file $status: $("$fabricbed" show "$name" balance --json |
			sed -n 's/.*"policy": "\(.*\)".*/\1/p' | sort -u | tr '\n' ' ')"
	done
	same "$1: each swap is of all switches, and a wrong file changes nothing" "$seen" \
		"good.c 0: good.c turn.c 0: turn.c syntax.c 2: turn.c --back 0: ecmp "
	try "$fabricbed" save "$name" --output saved.yaml
	like "$1: what is saved can't tell of them, and that is said" "$status $err" "0 *the scenario does not tell of 'policy swap'*"
	"$fabricbed" until "$name" flows >/dev/null
	"$fabricbed" down "$name" --expect --output "$1" >/dev/null
	same "$1: all flows finish, nothing is dropped" $? 0
	trace=$(figure "$1"/summary.json trace_hash)
}
swaps inline
inline=$trace
try "$fabricbed" run saved.yaml --dataplane inline --output own -q
holds "packets take other ports by the policies" test "$(figure own/summary.json trace_hash)" != "$inline"
if can_build; then
	swaps kernel
	same "swaps in the kernel come to the same trace" "$trace" "$inline"
	same "and leave nothing" "$(leftovers)" ""
else
	tap_skip "swaps in the kernel" "$reason"
fi

if [ -n "${FABRICBED_LONG-}" ] && [ "$(id -u)" = 0 ]; then
	policy differs.c <<-'END'
		POLICY(a)
		{
		#ifdef __bpf__
			return 0;
		#else
			return p->hash % 100 == 7;
		#endif
		}
	END
	policy range.c <<<'POLICY(a) { return p->hash % (p->count + 1); }'
	policy ingress.c <<<'POLICY(a) { return p->in_port; }'
	policy zero.c <<<'POLICY(a) { return p->length / policy_depth(p, 0) % p->count; }'
	policy endless.c <<-'END'
		POLICY(a)
		{
			__u32 i = 0;

			while (p->count)
				i = i & 7;
			return i;
		}
	END
	policy bounds.c <<-'END'
		struct m { __u32 turn[64]; };
		POLICY(a)
		{
			return POLICY_SWITCH(struct m)->turn[p->group] % p->count;
		}
	END
	policy million.c <<<'POLICY(a) { __asm__ volatile(".rept 1000001; r0 = r0; .endr"); return 0; }'
	{
		echo 'POLICY(a) { __u64 x = p->hash;'
		for i in {1..40000}; do echo "x = x * ${i}7 ^ p->random;"; done
		echo 'return x % p->count; }'
	} | policy long.c
	policy include.c <<<'#include "other.h"'
	policy libc.c <<<'POLICY(a) { return rand() % p->count; }'
	policy map.c <<-'END'
		static long each(void *map, __u32 *key, void *value, void *x) { return 0; }
		POLICY(a) {
			bpf_for_each_map_elem(&ports, each, 0, 0);
			return 0; }
	END

	try "$fabricbed" policy check differs.c
	like "what differs is told" "$status $out" \
		"1 differs.c: kernel and process DIFFER: packet *the kernel takes port *, the process takes port *"
	try "$fabricbed" policy check range.c
	like "numbers that are no port are counted" "$status $out" "1 *range.c: * times it returned no candidate, *: it returned * of *"
	try "$fabricbed" policy check ingress.c
	like "packets arrive at many ports" "$status $out" "1 *ingress.c: * times it returned no candidate, *"
	try "$fabricbed" policy check zero.c
	like "a division by zero is told" "$status $err" "2 fabricbed: zero.c: it divides by zero*"
	refuses "a loop without bound is refused with the line" endless.c "endless.c:[67]: the kernel's verifier refuses it: infinite loop"
	refuses "an index without bound is refused with the line" bounds.c "bounds.c:5: the kernel's verifier refuses it: "
	refuses "a million instructions are refused" million.c "million.c:2: 1000* instructions, of which the kernel takes 1000000 at most"
	refuses "a compiler that takes too long is stopped" long.c "long.c:2: the compiler was stopped after 10 s"
	refuses "a policy is one file" include.c "include.c:2:10: 'other.h' file not found; a policy is one file"
	mkdir clang
	echo >clang/x.h
	for path in "$scratch/clang/x.h" "include/../../../../../../../../../..$scratch/clang/x.h"; do
		policy stale.c <<<"#include \"$path\""$'\nPOLICY(a) { return 0; }'
		try "$fabricbed" policy build stale.c
		like "no other file is read: $path" "$status $err" "2 fabricbed: stale.c:2*: *; a policy is one file*"
	done
	policy headers.c <<<$'#include <stdint.h>\n#include <stdbool.h>\nPOLICY(a) { return (uint32_t)false; }'
	try "$fabricbed" policy build headers.c
	exits "the compiler's own headers are read" 0
	refuses "libraries are refused" libc.c "libc.c:2:20: a policy can't call rand(): it has no randomness but its own"
	refuses "tables are not walked" map.c "map.c:4: a policy can't call bpf_for_each_map_elem(): it walks no table"
fi
tap_done
