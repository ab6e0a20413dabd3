# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Flow sizes of Alibaba cloud storage, 2019: bytes, and the percentage of flows of at most that size. Published with HPCC (SIGCOMM 2019).
0 0
4000 22.93
8000 69.21
16000 80.61
32000 90.47
64000 93.53
128000 96.77
256000 97.53
2000000 100
