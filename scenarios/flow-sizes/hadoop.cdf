# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Flow sizes of Facebook Hadoop: bytes, and the percentage of flows of at most that size. Published with HPCC (SIGCOMM 2019).
0 0
100 1
200 2
300 5
350 15
400 20
500 30
600 40
700 50
1000 60
2000 67
7000 70
30000 72
50000 82
80000 87
120000 90
300000 95
1000000 97.5
2000000 99
10000000 100
