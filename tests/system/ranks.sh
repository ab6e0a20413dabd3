#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Work handed out by MPI: folders come back from other processes, and a failure stops none of the others.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

plugin=${fabricbed%/*}/fabricbed-mpi.so
if ! command -v mpirun >/dev/null || [ ! -e "$plugin" ]; then
	tap_skip "work handed out by MPI" "needs openmpi-bin, libopenmpi-dev and then make"
	tap_done
	exit
fi

holds "the program is built" "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror "-I$root/userspace" "-I$root/orchestrator" \
	-o handout_ranks "$root"/tests/system/handout_ranks.c "$root"/orchestrator/sweep/{ranks,handout,bundle}.c \
	"$root"/userspace/base/{error,outstream}.c
cp "$plugin" . # beside the program is where it is looked for
mkdir folders
try mpirun --allow-run-as-root --oversubscribe -n 3 ./handout_ranks folders
exits "mpirun" 0
same "each item was done, and what failed was told" "$out" "first: a folder from rank 1 or higher
big one: a folder from rank 1 or higher
fails: no room for 'fails'
: a folder from rank 1 or higher
slow: a folder from rank 1 or higher
last: a folder from rank 1 or higher
it waited asleep"
same "the folders are whole" "$(cd folders && stat -c '%n %s' */*)" "0/flows 5
0/summary 5
1/flows 10000000
1/summary 7
3/flows 5
3/summary 0
4/flows 5
4/summary 4
5/flows 5
5/summary 4"
holds "and as they were sent" cmp -n 5 folders/1/flows folders/0/flows
tap_empty "nothing else is left" "$(find . -name 'work-*')"

# ---- a sweep

try "$fabricbed" sweep "$scenarios/hello.yaml" --seeds 1..6 --out here --quiet
exits "a sweep by one process" 0
try env TMPDIR="$scratch" mpirun --allow-run-as-root --oversubscribe -n 3 \
	"$fabricbed" sweep "$scenarios/hello.yaml" --seeds 1..6 --out there --quiet
exits "and by three" 0
holds "the same table" cmp here/sweep.csv there/sweep.csv
holds "and the same results of each run" diff -r -x summary.json -x .fabricbed here/runs there/runs
tap_empty "nothing is left of the workers" "$(find . -maxdepth 1 -name 'fabricbed-[A-Za-z0-9]*' ! -name '*.so')"
tap_done
