#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/lib/own_network.sh COMMAND... runs it with a network of its own, and with its own /run/fabricbed and /run/netns: it sees no
# fabric of others, and others see none of its. Nothing of it stays. Without root, or where namespaces are refused, there are no
# fabrics to keep apart, and it is run as it is.
unshare --net --mount true 2>/dev/null || exec "$@"
exec unshare --net --mount --propagation private bash -c '
	for folder in /run/fabricbed /run/netns; do
		mkdir -p "$folder" && mount -t tmpfs -o mode=755 none "$folder" || exit 1
	done
	ip link set lo up && exec "$@"' own_network "$@"
