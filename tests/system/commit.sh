#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The commit that the Makefile puts into the command: in a git tree, in a worktree, of changed sources, and without git.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/command.sh

# The text that C gets, in $told.
tell() {
	make -s LTO= BUILD=build build/data/cli/commit.inc 2>&1
	told=$(cat build/data/cli/commit.inc)
}

unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git=(git -c user.name=t -c user.email=t@localhost)
mkdir -p tree/userspace tree/docs
cp "$root/Makefile" tree
echo one >tree/userspace/one.c
cd tree || exit 1
tell
same "without git there is no commit" "$told" NULL
if ! command -v git >/dev/null; then
	tap_skip "of a git tree" "git is not installed"
	tap_done
	exit
fi
git init -q .. # whose tree this is not
tell
same "in another's git tree there is none either" "$told" NULL
git init -q .
"${git[@]}" add Makefile userspace
"${git[@]}" commit -q -m one
commit=$(git rev-parse HEAD)
tell
same "of a git tree: its commit" "$told" "\"${commit:0:12}\""
touch -d @1 build/data/cli/commit.inc
echo docs >docs/new.md
tell
same "what is the same is not written again" "$(stat -c %Y build/data/cli/commit.inc)" 1
same "what is not built does not count" "$told" "\"${commit:0:12}\""
echo two >>userspace/one.c
tell
changed=$told
like "changed sources have a mark of their own" "$changed" "\"${commit:0:12}+[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]\""
touch -d @1 userspace/one.c
tell
same "which is the same for the same change" "$told" "$changed"
git checkout -q userspace
echo new >userspace/new.c
tell
like "new files are changes" "$told" "\"${commit:0:12}+????????\""
new=$told
echo newer >userspace/new.c
tell
holds "and count by their content" [ "$told" != "$new" ]
rm userspace/new.c
git worktree add -q ../other
cd ../other || exit 1
tell
same "of a worktree: its commit" "$told" "\"${commit:0:12}\""
tap_done
