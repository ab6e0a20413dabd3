#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A live fabric that is none, for tests of those who look at one: docs/control.md over a fat-tree of 96 ports.

fake_fabric.py NAME makes /run/fabricbed/live/NAME/control and serves it until SIGTERM, which takes it away. Each `status`
moves model time on by one second, and all counters grow in proportion to it, so that rates do not depend on the wall's clock:
port i (in the order of `show ports`) is loaded to 100 * i / 96 percent of 100 Gbps. SIGUSR1: it hangs until SIGUSR2. With
degraded in $FAKE, it is.
"""
import json
import os
import select
import shutil
import signal
import socket
import sys

FRAME, WIRE_EXTRA, GBPS = 4000, 24, 100


def links():
    for pod in range(4):
        for tor in range(2):
            for host in range(2):
                yield f"h{pod * 4 + tor * 2 + host}", f"tor{pod}.{tor}"
            for agg in range(2):
                yield f"tor{pod}.{tor}", f"agg{pod}.{agg}"
        for agg in range(2):
            for core in range(2):
                yield f"agg{pod}.{agg}", f"core{agg * 2 + core}"


PORTS = [(f"{x}->{y}", f"{a}-{b}") for a, b in links() for x, y in ((a, b), (b, a))]


class Fabric:
    def __init__(self, name):
        self.name, self.seconds = name, 100

    def port(self, i):
        frames = int(GBPS * 1e9 / 8 / (FRAME + WIRE_EXTRA) * i / len(PORTS)) * self.seconds
        down = i == 17
        return {"port": PORTS[i][0], "link": PORTS[i][1], "up": not down, "rate_gbps": GBPS, "delay_us": 1.0,
                "tx_frames": frames, "tx_bytes": frames * FRAME, "utilisation": i / len(PORTS), "rx_frames": frames,
                "marked": (i % 7) * 1000 * self.seconds, "trimmed": 0,
                "dropped": {"queue-full": 40 * self.seconds, "link-down": 2 * self.seconds} if i == 40 else {},
                "depth_bytes": (i * 53 % 96) * 1024, "max_depth_bytes": 400 * 1024,
                "pauses_sent": 0, "pauses_received": 0, "paused_us": 250000 * self.seconds if i == 12 else 0, "faults": "down" if down else ""}

    def queue(self, i):
        return {"port": PORTS[i][0], "class": i % 3, "depth_bytes": i * 1024, "max_depth_bytes": 200 * 1024,
                "depth_frames": i, "limit_bytes": 100 * 1024, "paused": i == 12,
                "paused_us": 250000 * self.seconds if i == 12 else 0}

    def flow(self, i):
        return {"flow": i, "src": f"h{i}", "dst": f"h{15 - i}", "bytes": 2 << 20, "start_us": 10.0 * i,
                "fct_us": 500.5 if i % 2 else None, "packets": i * 100 * self.seconds, "retransmitted": i,
                "timeouts": i // 4}

    def node(self, i):
        host = i < 16
        return {"node": f"h{i}" if host else f"core{i - 16}", "kind": "host" if host else "switch",
                "ports": 1 if host else 4, "ip4": f"10.0.0.{i + 1}" if host else "",
                "ip6": f"fd00:fab::{i + 1:x}" if host else "", "netns": f"{self.name}-{i}",
                "sent": 1000 * i * self.seconds, "delivered": 990 * i * self.seconds, "dropped": {}}

    def faults(self):
        return [{"fault": 1, "words": "link agg0.1-core2 loss 1%", "targets": "agg0.1-core2", "since_us": 20.0,
                 "until_us": None, "state": "in force", "by": "hand"},
                {"fault": 2, "words": "link tor*-agg* down for 5s", "targets": "tor0.0-agg0.0 tor0.0-agg0.1",
                 "since_us": 80.0, "until_us": 5000080.0, "state": "over", "by": "scenario"}]

    def rows(self, what):
        return {"ports": lambda: [self.port(i) for i in range(len(PORTS))],
                "queues": lambda: [self.queue(i) for i in range(len(PORTS))],
                "flows": lambda: [self.flow(i) for i in range(16)],
                "nodes": lambda: [self.node(i) for i in range(20)], "faults": self.faults}[what]()

    def status(self):
        self.seconds += 1
        n = self.seconds
        late = {"verdict": "faithful", "now": "faithful", "degraded_s": 0.0, "passed_s": float(n),
                "late_us": {"p50": 1.5, "p99": 40.0, "max": 90.25}, "smallest_delay_us": 100.0,
                "clock_slowdown": 2.0, "sufficient_clock_slowdown": 1.0, "busy": 0.25, "others_degraded_s": 0.0,
                "others_took_s": 0.0, "slipped_us": 0.0, "lost": 0}
        if "degraded" in os.environ.get("FAKE", ""):
            late |= {"verdict": "degraded", "now": "degraded", "degraded_s": 12.0, "reason": "events ran up to 420 us late",
                     "sufficient_clock_slowdown": 8.5}
        return {"name": self.name, "scenario": "fake", "pid": os.getpid(), "state": "running", "version": "0",
                "clock": "wall", "clock_slowdown": 2.0, "dataplane": "kernel", "up_s": float(n), "model_time_us": n * 1e6,
                "nodes": {"hosts": 16, "switches": 20}, "links": 48, "flows": {"count": 16, "done": 8}, "faults": 1,
                "packets": {"sent": 50000 * n, "delivered": 49950 * n, "made": 0, "consumed": 0,
                            "dropped": {"queue-full": 40 * n, "link-down": 2 * n}, "marked": 3000 * n, "trimmed": 0,
                            "in_flight": 8 * n}, "hops": 1, "directory": "/tmp", "fidelity": late}

    def answer(self, line):
        q = json.loads(line)
        if q["do"] == "status":
            result = self.status()
        else:
            result = {"model_time_us": self.seconds * 1e6, "rows": self.rows(q["what"])}
        return json.dumps({"version": 1, "id": q["id"], "ok": True, "result": result}).encode() + b"\n"


def serve(fabric, server, hanging):
    clients = {}
    while True:
        for s in select.select([server, *clients], [], [])[0]:
            if hanging:
                signal.sigwait([signal.SIGUSR2])
                hanging.clear()
            if s is server:
                clients[server.accept()[0]] = b""
                continue
            try:
                data = s.recv(65536)
            except ConnectionResetError:  # a reader that left answers unread
                data = b""
            if not data:
                del clients[s]
                s.close()
                continue
            *lines, clients[s] = (clients[s] + data).split(b"\n")
            for line in lines:
                try:
                    s.sendall(fabric.answer(line))
                except (BrokenPipeError, ConnectionResetError):
                    break


def main():
    name = sys.argv[1]
    folder = f"/run/fabricbed/live/{name}"
    hanging = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGUSR1, lambda *_: hanging.append(1))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    os.makedirs(folder, mode=0o700)
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(f"{folder}/control")
        server.listen()
        serve(Fabric(name), server, hanging)
    finally:
        shutil.rmtree(folder)


main()
