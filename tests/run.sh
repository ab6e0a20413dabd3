#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/run.sh PROGRAM... runs test programs, then tests/style/*.sh and tests/system/*.sh.
#
# What runs is told by the path: BUILD/tests/fuzz/* are libFuzzer programs; system tests go one at a time, but for scripts
# that say "Runs beside others" in their first lines; all others several at once. Programs and scripts speak TAP (cmocka does when asked);
# a fuzz run is one case. The last line is "N passed, N failed, N skipped"; exit status 1 if a case
# failed or none ran. Logs stay in BUILD/test-logs.
#
# BUILD            where the programs are (build)
# FUZZ_SECONDS     for each fuzz program, at least 1 (3)
# TEST_SECONDS     after which a program counts as hung (300; long forms 1,200)
# TEST_JOBS        programs at once (the number of cores)
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build} CMOCKA_MESSAGE_OUTPUT=TAP
fuzz_seconds=${FUZZ_SECONDS:-3}
limit=${TEST_SECONDS:-${FABRICBED_LONG:+1200}}
limit=${limit:-300}
jobs=${TEST_JOBS:-$(nproc)}
logs=$BUILD/test-logs
rm -rf "$logs"
mkdir -p "$logs" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
# what runs in the background does not hear Ctrl-C by itself
trap 'kill $(jobs -p) 2>/dev/null; wait; exit 1' INT TERM HUP

# Counts a TAP log: "passed failed skipped", a fault of the program as a whole being one failure.
count_tap() { # LOG STATUS
	awk -v status="$2" -v limit="$limit" '
		/^1\.\.[0-9]+/ { planned += substr($1, 4); has_plan = 1; next }
		# cmocka writes a skipped case as "not ok"
		/^(not )?ok( |$)/ && /# *[Ss][Kk][Ii][Pp]/ { skipped++; next }
		/^ok( |$)/ { passed++ }
		/^not ok( |$)/ { failed++ }
		END {
			seen = passed + failed + skipped
			if (status == 124)
				why = "did not end in " limit " s"
			else if (has_plan && seen != planned)
				why = "planned " planned + 0 " cases, reported " seen + 0
			else if (!seen)
				why = "reported no case"
			else if (status && !failed)
				why = "exit status " status
			if (why) {
				failed++
				print "# " why >> ARGV[1]
			}
			print passed + 0, failed + 0, skipped + 0
		}' "$1"
}

# Runs a command in a time limit; what it prints goes to the log. Ends it when this shell is told to end.
run_logged() { # LOG COMMAND...
	local log=$1

	shift
	timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null &
	trap "kill $! 2>/dev/null" TERM
	wait $!
}

run_fuzz() { # LOG PROGRAM
	local name corpus

	name=$(basename "$2")
	corpus=$scratch/$name
	mkdir -p "$corpus"
	# a copy: libFuzzer adds what it finds
	cp -r "tests/fuzz/corpus/${name#fuzz_}/." "$corpus" 2>/dev/null
	# of all keys, as they are today
	[ "$name" != fuzz_scenario ] || python3 tests/random/scenario.py 1 100 "$corpus"
	limit=$((limit + fuzz_seconds))
	run_logged "$1" "$2" -seed=1 -max_total_time="$fuzz_seconds" -timeout=10 \
		-artifact_prefix="$logs/$name-" "$corpus"
}

# Runs one program or script, prints its line, leaves "passed failed skipped log" in a file.
run_one() { # PATH
	local path=$1 name log counts started spent passed failed skipped verdict=ok

	name=${path#"$BUILD"/}
	name=${name#tests/}
	log=$logs/${name//\//-}.log
	started=$(date +%s%N)
	case $path in
	*/fuzz/*) if run_fuzz "$log" "$path"; then counts="1 0 0"; else counts="0 1 0"; fi ;;
	*.sh) run_logged "$log" bash "$path" ;;
	*) run_logged "$log" "$path" ;;
	esac
	counts=${counts:-$(count_tap "$log" $?)}
	spent=$((($(date +%s%N) - started) / 10000000))
	read -r passed failed skipped <<<"$counts"
	[ "$passed" = 0 ] && verdict=skip
	[ "$failed" = 0 ] || verdict=FAIL
	echo "$counts $log" >"$scratch/result-${name//\//-}"
	printf '%-4s  %-40s %4d cases %4d.%02d s' "$verdict" "$name" $((passed + failed + skipped)) \
		$((spent / 100)) $((spent % 100))
	[ "$skipped" = 0 ] || printf '  (%d skipped)' "$skipped"
	printf '\n'
}

run_together() { # PATH...
	local running=0 path

	for path; do
		if [ "$running" -ge "$jobs" ]; then
			wait -n
			running=$((running - 1))
		fi
		run_one "$path" &
		running=$((running + 1))
	done
	wait
}

# In the background all the same, for Ctrl-C to be heard. By number: "wait -n" may return for one of run_together's
# that ended long ago, and then two would run beside each other.
run_alone() { # PATH...
	local path

	for path; do
		run_one "$path" &
		wait $!
	done
}

together=() alone=()
for path; do
	case $path in
	*/system/*) alone+=("$path") ;;
	*) together+=("$path") ;;
	esac
done
shopt -s nullglob
for path in tests/system/*.sh; do
	# they neither kill what they built nor look at what others did
	if head -n 12 "$path" | grep -q "Runs beside others"; then
		together=("$path" "${together[@]}")
	else
		alone+=("$path")
	fi
done
run_together "${together[@]}" tests/style/*.sh
run_alone "${alone[@]}"

total_passed=0 total_failed=0 total_skipped=0
for result in "$scratch"/result-*; do
	read -r passed failed skipped log <"$result"
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	total_skipped=$((total_skipped + skipped))
	program=$(basename "$log" .log)
	[ "$skipped" = 0 ] || sed -nE "s/^(not )?ok[0-9 -]*(.*)# *SKIP */skipped in $program: \\2/p" "$log"
	[ "$failed" = 0 ] || printf '\n---- %s\n%s\n' "$log" "$(cat "$log")"
done
echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
[ "$total_failed" = 0 ] && [ "$total_passed" -gt 0 ]
