#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The first process of the machine that tests/kernels/check.sh boots: sets up what a system would have, runs
# the test scripts that the kernel's command line names (scripts=SCRIPT,SCRIPT) and turns the machine off. What they print goes
# to the second serial port, the kernel's log to the first.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
export DATAPATH=system # of external.sh
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/net /dev/shm /run /tmp
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
ln -sf /proc/self/fd /dev/fd
stty -F /dev/ttyS1 raw -echo
exec </dev/null >/dev/ttyS1 2>&1
ip link set lo up
# TAP's device file is there, and openvswitch's netlink family known, when the module is
modprobe -a tun openvswitch

cd /fabricbed || echo "# there is no /fabricbed"
for script in $(sed -n 's/.*scripts=\([^ ]*\).*/\1/p' /proc/cmdline | tr , ' '); do
	echo "# begin $script"
	bash "$script"
done
# waits until all has been sent
stty -F /dev/ttyS1 sane
echo o >/proc/sysrq-trigger
# the kernel panics if this process ends before it has turned the machine off
exec sleep infinity
