#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/run.sh FILE... runs these test programs and scripts, several at once, and nothing else.
#
# BUILD/tests/fuzz/* are libFuzzer programs, a fuzz run being one case; all others speak TAP (cmocka does when asked). System tests have
# networks of their own (tests/lib/own_network.sh), so that none sees another's fabrics. Those that take longest begin first. A line
# tells beforehand how long it takes on an idle machine, by tests/seconds.txt, which is build/test-logs/seconds.txt of such a
# run. The last line is "N passed, N failed, N skipped"; exit status 1 if a case failed or none ran. Logs stay in BUILD/test-logs.
#
# BUILD            where the programs are (build)
# FUZZ_SECONDS     for each fuzz program, at least 1 (3)
# TEST_SECONDS     after which a program counts as hung, on a busy machine too (900; long forms 3,600)
# TEST_JOBS        programs at once (half as many again as there are cores, since a live fabric waits for the wall's clock)
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build} CMOCKA_MESSAGE_OUTPUT=TAP
fuzz_seconds=${FUZZ_SECONDS:-3}
limit=${TEST_SECONDS:-${FABRICBED_LONG:+3600}}
limit=${limit:-900}
# past a version manager's shim, which takes longer to start than Python itself
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) && PATH=$(dirname "$python"):$PATH
cores=$(nproc)
jobs=${TEST_JOBS:-$((cores + (cores + 1) / 2))}
logs=$BUILD/test-logs
rm -rf "$logs"
if [ $# = 0 ]; then
	echo "usage: tests/run.sh FILE..., of $BUILD/tests/*/test_*, $BUILD/tests/fuzz/fuzz_*, tests/system/*.sh, tests/style/*.sh" >&2
	exit 2
fi
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

# What tests are called in the table and in their logs' names.
name_of() { # PATH
	local name=${1#"$BUILD"/}

	echo "${name#tests/}"
}

# Runs one program or script; leaves "passed failed skipped hundredths-of-a-second log" in a file.
run_one() { # PATH
	local path=$1 name log counts started apart=()

	name=$(name_of "$path")
	log=$logs/${name//\//-}.log
	started=$(date +%s%N)
	case $path in
	*/system/*) apart=(tests/lib/own_network.sh) ;;
	esac
	case $path in
	*/fuzz/*) if run_fuzz "$log" "$path"; then counts="1 0 0"; else counts="0 1 0"; fi ;;
	*.sh) run_logged "$log" "${apart[@]}" bash "$path" ;;
	*) run_logged "$log" "${apart[@]}" "$path" ;;
	esac
	counts=${counts:-$(count_tap "$log" $?)}
	echo "$counts $((($(date +%s%N) - started) / 10000000)) $log" >"$scratch/result-${name//\//-}"
}

# The line of one that has ended.
report() { # PATH
	local name passed failed skipped spent log verdict=ok

	name=$(name_of "$1")
	read -r passed failed skipped spent log <"$scratch/result-${name//\//-}"
	[ "$passed" = 0 ] && verdict=skip
	[ "$failed" = 0 ] || verdict=FAIL
	ended=$((ended + 1))
	printf '%-4s  %3d of %d  %-34s %4d cases %4d.%02d s' "$verdict" "$ended" "$count" "$name" \
		$((passed + failed + skipped)) $((spent / 100)) $((spent % 100))
	[ "$skipped" = 0 ] || printf '  (%d skipped)' "$skipped"
	printf '\n'
	printf '%d.%02d %s\n' $((spent / 100)) $((spent % 100)) "$name" >>"$scratch/seconds"
}

# Several at once, in their order.
run_all() { # PATH...
	local path done_pid
	declare -A running=()

	for path; do
		if [ "${#running[@]}" -ge "$jobs" ]; then
			wait -n -p done_pid "${!running[@]}"
			report "${running[$done_pid]}"
			unset "running[$done_pid]"
		fi
		run_one "$path" &
		running[$!]=$path
	done
	while [ "${#running[@]}" -gt 0 ]; do
		wait -n -p done_pid "${!running[@]}"
		report "${running[$done_pid]}"
		unset "running[$done_pid]"
	done
}

# "SECONDS PATH" a line, the longest first; what the table does not know, and it has no short ones, takes little.
expected() { # PATH...
	local path

	for path; do
		echo "$(name_of "$path") $path"
	done | awk -v fuzz=$((fuzz_seconds + 1)) '
		NR == FNR { seconds[$2] = $1; next }
		{ print ($1 ~ /^fuzz\// ? fuzz : $1 in seconds ? seconds[$1] : 0.3), $2 }' tests/seconds.txt - | sort -k 1,1nr -k 2
}

minutes() { # SECONDS
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# No sooner than the longest, nor than all cores can do all.
announce() {
	local seconds

	seconds=$(awk -v jobs="$((jobs < cores ? jobs : cores))" '
		{ sum += $1; if ($1 > most) most = $1 }
		END { printf "%d", (sum / jobs > most ? sum / jobs : most) + 1 }' "$scratch/expected")
	echo "$count programs and scripts, $jobs at once: about $(minutes "$seconds") minutes on an idle machine${FABRICBED_LONG:+, and many times that in their long forms}"
}

ended=0 count=$#
expected "$@" >"$scratch/expected"
announce
mapfile -t paths < <(cut -d' ' -f2- "$scratch/expected")
run_all "${paths[@]}"
sort -k 1,1nr -k 2 "$scratch/seconds" | awk '$1 >= 0.5' >"$logs/seconds.txt"

total_passed=0 total_failed=0 total_skipped=0
for result in "$scratch"/result-*; do
	read -r passed failed skipped _ log <"$result"
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	total_skipped=$((total_skipped + skipped))
	program=$(basename "$log" .log)
	[ "$skipped" = 0 ] || sed -nE "s/^(not )?ok[0-9 -]*(.*)# *SKIP */skipped in $program: \\2/p" "$log"
	[ "$failed" = 0 ] || printf '\n---- %s\n%s\n' "$log" "$(cat "$log")"
done
echo "$total_passed passed, $total_failed failed, $total_skipped skipped in $(minutes $SECONDS) minutes"
[ "$total_failed" = 0 ] && [ "$total_passed" -gt 0 ]
