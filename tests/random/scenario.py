# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""scenario.py SEED [COUNT DIRECTORY]: prints a random scenario, or writes COUNT of them, seeds from SEED on, as DIRECTORY/SEED.yaml.

Every key of a scenario is drawn from somewhere, so that what is drawn is mostly valid, runs for a few thousand packets, and
takes milliseconds. The same seed gives the same text on every machine. A new key belongs here too: what is not drawn is not tried.
"""
import json
import math
import random
import re
import sys

PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
HEADERS = 98  # what a packet's payload has around it on the wire, about
DAY = 86400 * PS["s"]
PACKETS = 1500  # of the whole workload, at most

ALGORITHMS = {
    "all_reduce": ["ring", "halving_doubling", "tree"],
    "reduce_scatter": ["ring", "halving_doubling"],
    "all_gather": ["ring", "halving_doubling"],
    "broadcast": ["ring", "tree"],
    "all_to_all": ["pairwise", "windowed", "bruck"],
}

TIERS = ["tor", "leaf", "agg", "spine", "core"]
WITH_FLOWS = ["ecmp-adaptive", "flowlet", "letflow"]
POLICIES = WITH_FLOWS + ["ecmp", "spray", "random", "adaptive", "drill"]


def time(ps):
    ps = max(0, min(int(ps), 10 * DAY))
    for unit, size in PS.items():
        if ps and ps % size == 0:
            return f"{ps // size}{unit}"
    return f"{ps}ps" if ps else "0"


def delay(ps):
    """What a wire, or a queue, may take."""
    return time(min(ps, PS["s"]))


def size(count):
    count = max(1, int(count))
    return f"{count // 1024}KB" if count % 1024 == 0 else f"{count}B"


def rate(bps):
    bps = max(1000, min(int(bps), 10**13))
    for unit, scale in ("Tbps", 10**12), ("Gbps", 10**9), ("Mbps", 10**6), ("Kbps", 10**3):
        if bps % scale == 0:
            return f"{bps // scale}{unit}"
    return f"{bps}bps"


def bdp(percent):
    return f"{percent}% BDP"


def written(value):
    """YAML in flow style: plain words where they are safe."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(k)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str) and not re.fullmatch(r"[\w.%][\w.% /#>-]*", value):
        return json.dumps(value)
    return str(value)


class Scenario:
    """What is drawn: .keys, and what a test may hold it to."""

    def __init__(self, seed):
        self.dice = random.Random(f"scenario {seed}")
        self.collective_dice = random.Random(f"collective {seed}")
        self.nics_dice = random.Random(f"nics {seed}")
        self.latency_dice = random.Random(f"latency {seed}")
        self.balance_dice = random.Random(f"balance {seed}")
        self.tiers_dice = random.Random(f"tiers {seed}")
        self.server_dice = random.Random(f"parameter server {seed}")
        self.dscp_dice = random.Random(f"dscp {seed}")
        self.transport_dice = random.Random(f"transport {seed}")
        self.assembled_dice = random.Random(f"assembled {seed}")
        self.keys = {"name": "random"}
        self.maybe(0.2, self.keys, "about", lambda: "drawn from seed " + str(seed))
        self.maybe(0.8, self.keys, "seed", lambda: self.dice.randrange(2**self.dice.choice([3, 32, 64])))
        self.topology()
        self.workload()
        self.scale()
        self.switch()
        self.host()
        self.workload_dscps()
        self.workload_transports()
        self.assembled_transports()
        self.faults()
        self.rest()

    def maybe(self, chance, into, key, draw):
        """The dice is thrown the same number of times whether it is drawn or not: seeds stay apart."""
        if self.dice.random() < chance:
            into[key] = draw()

    def pick(self, *values):
        return self.dice.choice(values)

    # ---- topology

    def topology(self):
        d = self.dice
        self.rate = self.round_rate(10 ** d.uniform(3, 13))
        self.mtu = d.choice([64, 256, 512, 1000, 1024, 1500, 3306, 3326, 3327, 3400, 4096, 4096, 4096, 9000, 65000, d.randint(64, 65000)])
        self.packet_ps = (self.mtu + HEADERS) * 8 * PS["s"] / self.rate
        t = self.pick(self.fat_tree, self.leaf_spine, self.leaf_spine, self.custom)()
        if "fat_tree" in t and self.tiers_dice.random() < 0.6:
            t = self.three_tier()
        self.nics(t)
        self.switch_names = sorted({end for link in self.links for end in link.split("#")[0].split("-")} - set(self.hosts))
        t["rate"] = rate(self.rate)
        self.host_rate = self.rate
        if d.random() < 0.3:
            self.host_rate = max(1000, min(10**13, self.round_rate(self.rate * d.choice([0.1, 0.25, 0.5, 2, 4]))))
            t["host_rate"] = rate(self.host_rate)
        self.delay_ps = min(PS["s"], int(self.packet_ps * d.choice([0, 0.3, 1, 5, 20]) * d.random()))
        if d.random() < 0.9 or self.packet_ps > PS["ms"]:
            t["delay"] = time(self.delay_ps)
        else:
            self.delay_ps = PS["us"]  # the default
        if self.mtu != 4096 or d.random() < 0.5:
            t["mtu"] = self.mtu
        if d.random() < 0.25:
            t["links"] = [self.override() for _ in range(d.randint(1, 3))]
        self.keys["topology"] = t

    def nics(self, t):
        """Sometimes hosts are NICs of servers. self.peers: hosts that reach each other."""
        self.peers = self.hosts
        leaves = [link.split("-")[1] for link in self.links if link.split("-")[0] in self.hosts]
        at_leaf = leaves.count(leaves[0])
        to = [(n, "planes") for n in (2, 3)]
        if "custom" not in t:
            to += [(n, "leaf") for n in (2, 3, 4) if at_leaf % n == 0] + [(n, "rails") for n in (2, 3, 4) if len(set(leaves)) % n == 0]
        elif len(self.hosts) % 2 == 0:
            to += [(2, "leaf")]
        self.servers = 0
        if self.nics_dice.random() > 0.2:
            return
        t["nics"], t["nics_to"] = count, where = self.nics_dice.choice(to)
        named = {}
        if where == "planes":
            ends = {end for link in self.links for end in link.split("#")[0].split("-")}
            named = {end: [f"{end}{'n' if end in self.hosts else 'p'}{p}" for p in range(count)] for end in ends}
            self.peers = [named[h][0] for h in self.hosts]
            self.hosts = [name for h in self.hosts for name in named[h]]
            self.links = ["-".join(named[end][p] for end in link.split("#")[0].split("-")) + "".join(link.partition("#")[1:])
                          for link in self.links for p in range(count)]
        elif "custom" not in t:
            group = at_leaf * count
            for i, host in enumerate(self.hosts):
                nic = i - i % group + i % group % at_leaf * count + i % group // at_leaf if where == "rails" else i
                named[host] = f"h{nic // count}n{nic % count}"
            self.links = ["-".join(named.get(end, end) for end in link.split("-")) for link in self.links]
            self.peers = self.hosts = sorted(named.values(), key=lambda name: [int(n) for n in name[1:].split("n")])

        self.servers = len(self.hosts) // count

    def same_nic(self, kind, spec):
        """Sometimes hosts keep to those with their NIC number."""
        if self.servers < 2 or kind == "pairs" or self.nics_dice.random() > 0.4:
            return
        if kind == "collective":
            if "hosts" not in spec:
                spec["placement"] = "by_nic"
            return
        spec["same_nic"] = "yes"
        incast = spec if kind == "incast" else spec.get("incast", {})
        if incast:
            incast["senders"] = min(incast["senders"], self.servers - 1)

    @staticmethod
    def round_rate(bps):
        digits = 10 ** max(0, math.floor(math.log10(max(bps, 1000))) - 1)
        return max(1000, int(bps / digits) * digits)

    def fat_tree(self):
        k = self.pick(2, 4, 4)
        half = k // 2
        self.hosts = [f"h{i}" for i in range(k * half * half)]
        self.links = [f"h{i}-tor{i // half // half}.{i // half % half}" for i in range(len(self.hosts))]
        self.links += [f"tor{p}.{i}-agg{p}.{j}" for p in range(k) for i in range(half) for j in range(half)]
        self.links += [f"agg{p}.{j}-core{j * half + c}" for p in range(k) for j in range(half) for c in range(half)]
        return {"fat_tree": {"k": k}}

    def three_tier(self):
        """At most 18 hosts."""
        d = self.tiers_dice
        pods, tors, hosts = d.randint(1, 3), d.randint(1, 2), d.randint(2, 3)
        aggs, planes = d.choice([(1, 1), (2, 1), (2, 2), (3, 3), (4, 2)])
        cores, low, high = planes * d.randint(1, 2), d.choice([1, 1, 2]), d.choice([1, 1, 3])

        def several(pairs, parallel):
            return [f"{a}-{b}" + (f"#{n}" if parallel > 1 else "") for a, b in pairs for n in range(parallel)]

        self.hosts = [f"h{i}" for i in range(pods * tors * hosts)]
        self.links = [f"h{i}-tor{i // hosts // tors}.{i // hosts % tors}" for i in range(len(self.hosts))]
        self.links += several([(f"tor{p}.{i}", f"agg{p}.{j}") for p in range(pods) for i in range(tors) for j in range(aggs)], low)
        self.links += several([(f"agg{p}.{j}", f"core{c}") for p in range(pods) for j in range(aggs)
                               for c in range(cores) if c * planes // cores == j % planes], high)
        spec = {"pods": pods, "tors_per_pod": tors, "aggs_per_pod": aggs, "cores": cores, "hosts_per_tor": hosts}
        for key, value, usual in ("planes", planes, aggs), ("tor_agg_links", low, 1), ("agg_core_links", high, 1):
            if value != usual or d.random() < 0.2:
                spec[key] = value
        for key in "tor_agg_rate", "agg_core_rate":
            if d.random() < 0.4:
                spec[key] = rate(max(1000, min(10**13, self.round_rate(self.rate * d.choice([0.25, 0.5, 2, 4])))))
        return {"three_tier": spec}

    def leaf_spine(self):
        d = self.dice
        leaves, spines, hosts, parallel = d.randint(1, 4), d.randint(1, 3), d.randint(2, 4), d.choice([1, 1, 2, 3])
        self.hosts = [f"h{i}" for i in range(leaves * hosts)]
        self.links = [f"h{i}-leaf{i // hosts}" for i in range(len(self.hosts))]
        self.links += [f"leaf{leaf}-spine{s}" + (f"#{n}" if parallel > 1 else "")
                       for leaf in range(leaves) for s in range(spines) for n in range(parallel)]
        spec = {"leaves": leaves, "spines": spines, "hosts_per_leaf": hosts}
        if parallel > 1:
            spec["links_per_pair"] = parallel
        return {"leaf_spine": spec}

    def custom(self):
        """Switches on a tree and some links more, parallel ones in either direction among them; hosts anywhere."""
        d = self.dice
        switches = [f"s{i}" for i in range(d.randint(1, 5))]
        self.hosts = [f"h{i}" for i in range(d.randint(max(2, len(switches)), 8))]
        pairs = [(switches[i], switches[d.randrange(i)]) for i in range(1, len(switches))]
        for _ in range(d.randrange(5) if len(switches) > 1 else 0):
            pairs.append(tuple(d.sample(switches, 2)))
        # every switch has a host, so that none is without a use
        pairs += [(h, switches[i] if i < len(switches) else d.choice(switches)) for i, h in enumerate(self.hosts)]
        d.shuffle(pairs)
        self.links = [f"{a}-{b}" for a, b in pairs]
        return {"custom": {"hosts": self.hosts, "switches": switches, "links": [self.custom_link(a, b) for a, b in pairs]}}

    def custom_link(self, a, b):
        d = self.dice
        if d.random() < 0.7:
            return self.pick(f"{a}-{b}", [a, b])
        link = {"a": a, "b": b}
        self.maybe(0.5, link, "rate", lambda: rate(self.round_rate(self.rate * d.choice([0.5, 1, 2]))))
        self.maybe(0.5, link, "delay", lambda: delay(self.packet_ps * d.random() * 5))
        return link

    def override(self):
        d = self.dice
        o = {"match": self.link()}
        if d.random() < 0.6:
            o["rate"] = rate(self.round_rate(self.rate * d.choice([0.1, 0.5, 2, 8])))
        if d.random() < 0.5 or "rate" not in o:
            o["delay"] = delay(self.packet_ps * d.random() * d.choice([1, 20]))
        return o

    def link(self):
        """One, or a pattern that some match."""
        name = self.dice.choice(self.links)
        a, b = name.split("#")[0].split("-")
        # parallel links of a custom fabric are numbered, but not here
        exact = name if "#" in name or "h" in a + b else f"{a}-{b}*"
        return self.pick(exact, exact, exact, f"{a}-*", f"*-{b}*", f"{b}-{a}*", "*" if self.dice.random() < 0.2 else exact)

    # ---- workload, and the scale of time that follows

    def workload(self):
        d = self.dice
        self.left = PACKETS
        self.keys["workload"] = [self.job() for _ in range(d.choice([1, 1, 1, 2, 3]))]
        if self.collective_dice.random() < 0.3:
            self.keys["workload"].append({"collective": self.collective(self.collective_dice)})
        if self.server_dice.random() < 0.15:
            self.keys["workload"].append({"parameter_server": self.parameter_server(self.server_dice)})

    def load(self):
        """Flows of at most 2 MB, of 55 KB in the mean: a few, for each is as many packets as the mtu makes it."""
        d = self.dice
        percent, flows, hosts = d.choice([5, 30, 60, 100]), d.randint(2, 12), len(self.hosts)
        until = flows * 55000 * 8 * PS["s"] / (hosts * self.host_rate * percent / 100)
        spec = {"sizes": d.choice(["alistorage", "hadoop"]) if self.mtu > 4000 else "alistorage", "load": f"{percent}%", "until": time(until + 1)}
        self.maybe(0.5, spec, "arrivals", lambda: d.choice(["poisson", "uniform"]))
        self.maybe(0.3, spec, "warmup", lambda: time(until * d.random()))
        self.maybe(0.3, spec, "cooldown", lambda: time(until * d.random()))
        self.maybe(0.3, spec, "start", lambda: time(self.packet_ps * d.random() * 50))
        if len(self.peers) > 2:
            self.maybe(0.3, spec, "incast", lambda: {"senders": d.randint(1, len(self.peers) - 1), "message": size(self.mtu * d.randint(1, 8)), "share": "5%"})
        self.most_bytes = max(getattr(self, "most_bytes", 0), 55000 * flows)
        self.same_nic("load", spec)
        return {"load": spec}

    def job(self):
        d = self.dice
        if self.mtu >= 1024 and d.random() < 0.1:
            return self.load()
        kind = self.pick("permutation", "incast", "incast", "incast", "pairs")
        spec, flows = {}, len(self.hosts)
        if kind == "permutation":
            self.maybe(0.2, spec, "count", lambda: d.randint(1, 3))
            flows *= spec.get("count", 1)
        elif kind == "incast":
            flows = spec["senders"] = d.randint(1 + len(self.peers) // 3, len(self.peers) - 1) if len(self.peers) > 2 else 1
            self.maybe(0.7, spec, "to", lambda: d.choice(self.hosts))
            if "h0" not in self.hosts:  # the default
                spec.setdefault("to", self.hosts[0])
        else:
            flows = d.randint(1, len(self.peers) // 2)
            chosen = d.sample(self.peers, 2 * flows)
            spec["from"], spec["to"] = chosen[:flows], chosen[flows:]
            if flows == 1 and d.random() < 0.5:
                spec["from"], spec["to"] = chosen
        self.maybe(0.2, spec, "repeat", lambda: d.randint(1, 4))
        packets = max(1, min(60, self.left // flows // spec.get("repeat", 1)))
        self.left = max(0, self.left - packets * flows * spec.get("repeat", 1))
        count = d.choice([1, self.mtu + 1, 2 * self.mtu - 1] + 4 * [packets * self.mtu] + 2 * [d.randint(1, packets * self.mtu)])
        spec["message"] = size(min(count, packets * self.mtu))
        self.most_bytes = max(getattr(self, "most_bytes", 0), count * flows)
        self.maybe(0.2, spec, "start", lambda: time(self.packet_ps * d.random() * 50))
        self.maybe(0.5, spec, "gap", lambda: time(self.packet_ps * d.random() * 50))
        self.same_nic(kind, spec)
        return {kind: spec}

    def collective(self, d):
        op, algorithms = d.choice(list(ALGORITHMS.items()))
        spec = {"op": op, "algorithm": d.choice(algorithms)}
        jobs = d.randint(1, max(1, len(self.peers) // 4))
        ranks = d.randint(2, max(2, len(self.peers) // jobs))
        if spec["algorithm"] == "halving_doubling":
            ranks = 1 << ranks.bit_length() - 1
        jobs = min(jobs, len(self.peers) // ranks)
        if jobs * ranks > len(self.peers) or jobs < 1:
            jobs, ranks = 1, 2
        if d.random() < 0.3:
            spec["hosts"] = d.sample(self.peers, jobs * ranks)
        else:
            spec["placement"] = d.choice(["in_order", "random"])
        repeat = d.choice([1, 1, 2])
        spec.update(ranks=ranks, jobs=jobs, repeat=repeat)
        count = d.randint(1, max(1, PACKETS * self.mtu // (4 * jobs * ranks * repeat)))
        spec["size"] = size(count)
        spec["chunk"] = d.choice(["off", size(count // 8 + 1), size(count // 60 + 1)])
        self.most_bytes = max(self.most_bytes, 2 * count * repeat)
        for key, low, high in ("channels", 1, 3), ("window", 1, 4), ("root", 0, ranks - 1):
            if d.random() < 0.3:
                spec[key] = d.randint(low, high)
        for key in "compute", "start", "gap":
            if d.random() < 0.3:
                spec[key] = time(self.packet_ps * d.random() * 50)
        if d.random() < 0.3:
            spec["stragglers"] = [{"rank": d.randrange(ranks), "delay": time(self.packet_ps * d.random() * 50)}]
        if d.random() < 0.4:
            each = spec["ranks_per_host"] = d.choice([2, 3, 8])
            spec["inside"] = {"rate": rate(self.round_rate(min(max(self.host_rate * 2 ** d.uniform(-3, 3), 1e6), 1e13))),
                              "delay": delay(self.packet_ps * d.random())}
            if "hosts" in spec:
                spec["hosts"] = d.sample(self.hosts * each, jobs * ranks)
        self.same_nic("collective", spec)
        return spec

    def parameter_server(self, d):
        servers = d.sample(self.hosts, d.randint(1, min(3, len(self.hosts) - 1)))
        workers, repeat = len(self.hosts) - len(servers), d.choice([1, 2, 3])
        spec = {"repeat": repeat, "hosts": d.choice(["*", "h*"])}
        if len(servers) > 1 or d.random() < 0.7:
            spec["server"] = servers if len(servers) > 1 or d.random() < 0.5 else servers[0]
        if d.random() < 0.5:
            spec["workers"] = d.choice(["all", d.randint(1, workers)])
        for key in "download", "upload":
            count = d.randint(1, max(1, PACKETS * self.mtu // (4 * workers * len(servers) * repeat)))
            spec[key] = size(count)
            self.most_bytes = max(self.most_bytes, 2 * count * workers * len(servers) * repeat)
        for key in "compute", "spread", "start", "gap":
            if d.random() < 0.4:
                spec[key] = time(self.packet_ps * d.random() * 50)
        return spec

    def scale(self):
        """About how long the workload takes, and the bandwidth-delay product in packets."""
        slowest = min(self.rate, self.host_rate)
        hops = 2 * (2 + 2 * (len(self.switch_names) > 1))
        self.rtt_ps = hops * ((self.mtu + HEADERS) * 8 * PS["s"] / slowest + self.delay_ps)
        self.span_ps = 2 * self.rtt_ps + self.most_bytes * 8 * PS["s"] / slowest
        self.until_ps = min(9 * DAY, int(self.span_ps * self.dice.choice([0.5, 2, 4, 8])) + 1)

    def spell(self, least, most):
        """A time of which so many at least, and at most, pass in the run."""
        return time(max(PS["ns"], self.until_ps / self.dice.uniform(least, most)))

    # ---- switch

    def switch(self):
        d = self.dice
        s = self.keys["switch"] = {}
        pfc = d.random() < 0.4
        self.class_of = {dscp: 0 for dscp in range(64)}
        self.lossless, self.shared = {0} if pfc else set(), d.random() < 0.35
        self.own_headroom = False
        self.maybe(0.8 if not pfc else 1, s, "buffer", lambda: self.buffer(pfc))
        self.maybe(0.7, s, "ecn", self.ecn)
        self.classes = [0]
        self.maybe(0.5, s, "classes", lambda: self.traffic_classes(pfc))
        self.maybe(0.1, s, "balance", lambda: "ecmp")
        self.balance(s)
        # there must be something to trim, and what has no class of its own must not go by that of headers
        self.trims = d.random() < 0.3 and bool(set(self.classes) - self.lossless) and self.classes[0] < 6
        if self.trims:
            s["trim"] = self.trim()
        if pfc:
            s["pfc"] = self.pfc()
        self.maybe(0.35, s, "lldp", lambda: self.pick({"every": self.spell(2, 40)}, {"every": self.spell(2, 40)}, "off"))
        self.latency(s)
        self.roles(s)
        self.maybe(0.3, s, "cnp", lambda: {"every": self.spell(2, 100)} if d.random() < 0.8 else self.pick("on", "auto"))
        self.maybe(0.5, s, "reroute", self.reroute)

    def balance(self, s):
        """A policy for all switches, or some of the tiers with their own."""
        d = self.balance_dice
        there = sorted({re.match("[a-z]*", name).group() for name in self.switch_names} & set(TIERS))
        if d.random() < 0.4:
            return
        b = s["balance"] = self.policy(d)
        if d.random() < 0.6 and there:
            b = s["balance"] = b if isinstance(b, dict) else {"policy": b} if d.random() < 0.7 else {}
            for tier in d.sample(there, d.randint(1, len(there))):
                b[tier] = self.policy(d)
        used = [b] + [b[tier] for tier in there if tier in b] if isinstance(b, dict) else [b]
        if any((p if isinstance(p, str) else p.get("policy")) in WITH_FLOWS for p in used) and d.random() < 0.6:
            b = s["balance"] = b if isinstance(b, dict) else {"policy": b}
            b["flows"] = d.choice([8, 9, 64, 5000])

    def policy(self, d):
        """With parameters that are its own; a tier would have the others of all."""
        p = {"policy": d.choice(POLICIES)}
        gap_ps = max(1000, min(self.packet_ps * 2 ** d.uniform(-3, 9), DAY))
        if p["policy"] in ("flowlet", "letflow") and d.random() < 0.7:
            p.update(gap=time(gap_ps), lifetime=d.choice(["off", time(gap_ps * d.uniform(1, 20) + 1)]))
        if p["policy"] in ("adaptive", "ecmp-adaptive") and d.random() < 0.7:
            p["threshold"] = d.choice([0, bdp(d.randint(0, 200)), size(self.mtu * d.randint(1, 20))])
        if p["policy"] == "ecmp-adaptive" and d.random() < 0.3:
            p["lifetime"] = d.choice(["off", time(gap_ps)])
        if p["policy"] == "drill":
            self.maybe_of(d, p, "choices", 1, 8)
            self.maybe_of(d, p, "remembered", 0, 4)
        return p if len(p) > 1 or d.random() < 0.3 else p["policy"]

    @staticmethod
    def maybe_of(d, keys, name, low, high):
        if d.random() < 0.5:
            keys[name] = d.randint(low, high)

    def latency(self, s):
        """From within a packet's time on the line to more than a round trip."""
        d = self.latency_dice
        if d.random() < 0.35:
            s["latency"] = d.choice([0, "1ps", delay(self.packet_ps * d.random()), delay(self.rtt_ps * d.random() / 4)])

    def buffer(self, pfc):
        d = self.dice
        if not self.shared:
            if pfc:
                return {"per_port": bdp(d.randint(150, 1000))}
            return {"per_port": self.pick(bdp(d.randint(30, 300)), size(self.mtu * d.randint(1, 20) + 100))}
        b = {"shared": self.pick("auto", size(self.mtu * d.randint(100, 5000)), bdp(d.randint(500, 90000)))}
        self.maybe(0.6, b, "alpha", lambda: self.pick(0.0625, 0.5, 1, 2, 8, 256))
        self.maybe(0.4, b, "reserve", lambda: self.pick("auto", size(self.mtu * d.randint(1, 5)), bdp(d.randint(1, 20))))
        return b

    def ecn(self):
        d = self.dice
        if d.random() < 0.15:
            return "off"
        low = d.random() * d.choice([3, 40])
        high = low + d.random() * d.choice([3, 60]) + 1
        e = {}
        kind = d.randrange(4)
        if kind == 0:
            e = {"kmin": size(low * self.mtu + 1), "kmax": size(high * self.mtu + 1)}
        elif kind == 1:
            e = {"kmin": delay(low * self.packet_ps), "kmax": delay(high * self.packet_ps + 1)}
        elif kind == 2:
            e = {"kmin": bdp(int(low)), "kmax": bdp(int(high) + 1)}
        self.maybe(0.4, e, "pmax", lambda: self.pick(0, 0.01, 0.2, 1))
        self.maybe(0.3, e, "average", lambda: self.pick("off", 1, 4, 9))
        return e

    def traffic_classes(self, pfc):
        d = self.dice
        self.classes = sorted(d.sample([c for c in range(8) if c != 6], d.randint(1, 4)))
        free = [v for v in range(64) if v not in (49, 50)]
        d.shuffle(free)
        self.class_of = dict.fromkeys(range(64), self.classes[0])
        self.lossless = set(d.sample(self.classes, d.randint(1, len(self.classes)))) if pfc else set()
        left, listed = 100, []
        for c in self.classes:
            one = {"class": c}
            mine = [free.pop() for _ in range(d.randint(0, 3))]
            self.class_of.update(dict.fromkeys(mine, c))
            if mine:
                one["dscp"] = mine if len(mine) > 1 or d.random() < 0.5 else mine[0]
            if c in self.lossless or d.random() < 0.1:
                one["lossless"] = "yes" if c in self.lossless else "no"
            share = d.randint(1, 60)
            if share <= left and d.random() < 0.5:
                one["schedule"] = f"{share}%"
                left -= share
            self.maybe(0.3, one, "ecn", self.ecn)
            self.limits(one, c)
            listed.append(one)
        d.shuffle(listed)
        return listed

    def limits(self, one, c):
        d = self.dice
        if not self.shared and d.random() < 0.2:
            one["buffer"] = bdp(d.randint(400, 2000))
        if c not in self.lossless:
            return
        if not self.shared and d.random() < 0.2:
            one["xoff"] = self.pick("auto", bdp(d.randint(5, 60)))
            if one["xoff"] != "auto" and d.random() < 0.5:
                one["xon"] = bdp(d.randint(1, 5))
        if d.random() < 0.2:
            one["headroom"] = self.pick("auto", bdp(d.randint(1, 200)))
            self.own_headroom |= one["headroom"] != "auto"

    def trim(self):
        d = self.dice
        if d.random() < 0.5:
            return self.pick("receiver", "sender")
        t = {"to": self.pick("receiver", "receiver", "sender")}
        if t["to"] == "receiver":
            self.maybe(0.5, t, "overflow", lambda: self.pick("drop", "return"))
        self.maybe(0.3, t, "class", lambda: 6)
        self.maybe(0.2, t, "dscp", lambda: 49)
        self.maybe(0.2, t, "return_dscp", lambda: 50)
        self.maybe(0.5, t, "queue", lambda: size(d.choice([200, 1000, 20000])))
        return t

    def pfc(self):
        d = self.dice
        if d.random() < 0.5:
            return "on"
        p = {}
        self.maybe(0.5, p, "quanta", lambda: d.choice([65535, 40000, 5000]))
        self.maybe(0.3, p, "response", lambda: delay(d.random() * self.packet_ps))
        self.maybe(0.3, p, "watchdog", lambda: self.pick("off", time(self.watchdog_ps())))
        return p

    def watchdog_ps(self):
        """Longer than a pause is told again, at the slowest link that an override may have left."""
        return max(PS["ns"], self.dice.uniform(1, 3) * 65535 * 512 * PS["s"] / min(self.rate, self.host_rate) / 2)

    def roles(self, s):
        """From one lossless class to another that has a DSCP."""
        known = [c for c in self.lossless if c in (v for k, v in self.class_of.items() if c != self.classes[0])]
        if s.get("lldp", "off") != "off" and len(self.lossless) > 1 and known:
            to = self.dice.choice(known)
            others = sorted(self.lossless - {to})
            s["roles"] = {"remap": {self.dice.choice(others): to}}

    def reroute(self):
        after = time(self.until_ps * self.dice.choice([0, 0.01, 0.1]))
        return self.pick(after, {"after": after, "mode": self.pick("local", "global")})

    # ---- host

    def host(self):
        d = self.dice
        h = self.keys["host"] = {}
        roce = d.random() < 0.5
        self.maybe(0.95, h, "transport", lambda: self.pick(self.roce() if roce else self.strack(), "roce" if roce else "strack"))
        self.maybe(0.6, h, "dscp", self.dscps)
        self.maybe(0.5, h, "payload", lambda: self.pick("auto", "headers", "full" if self.mtu <= 3306 else "headers"))
        self.maybe(0.4, h, "ip", lambda: self.pick(4, 6))
        self.maybe(0.2, h, "stack", self.stack)

    def strack(self):
        d = self.dice
        t = {}
        self.maybe(0.4, t, "paths", lambda: self.pick(1, 2, 16, 256, 1024))
        self.maybe(0.6, t, "spray", lambda: self.pick("adaptive", "oblivious", "single"))
        self.maybe(0.4, t, "sack_packets", lambda: d.randint(1, 64))
        self.maybe(0.4, t, "rto", lambda: self.pick("auto", self.spell(2, 30)))
        self.maybe(0.3, t, "bitmap_rtts", lambda: self.pick(0, 1, 8, 1000000))
        self.maybe(0.4, t, "window", lambda: self.pick(bdp(d.randint(20, 400)), size(self.mtu * d.randint(1, 40))))
        self.maybe(0.3, t, "target_delay", lambda: self.pick("auto", time(max(PS["ns"], self.rtt_ps * d.random()))))
        self.maybe(0.3, t, "congestion", lambda: self.pick("on", "off"))
        return {"strack": t}

    def roce(self):
        d = self.dice
        t = {}
        self.maybe(0.4, t, "qps_per_connection", lambda: d.randint(1, 8))
        self.maybe(0.4, t, "congestion", lambda: self.pick("dcqcn", "off"))
        self.maybe(0.4, t, "rto", lambda: self.pick("auto", self.spell(2, 30)))
        self.maybe(0.4, t, "cnp_interval", lambda: self.spell(2, 100))
        self.maybe(0.3, t, "timer", lambda: time(PS["us"] * d.randint(1, 500)))
        self.maybe(0.3, t, "byte_counter", lambda: self.pick("auto", size(self.mtu * d.randint(1, 1000))))
        self.maybe(0.3, t, "alpha_timer", lambda: time(PS["us"] * d.randint(1, 500)))
        self.maybe(0.3, t, "additive", lambda: self.pick("auto", rate(self.rate / d.randint(10, 1000))))
        self.maybe(0.3, t, "hyper", lambda: self.pick("auto", rate(self.rate / d.randint(2, 100))))
        self.maybe(0.4, t, "dcqcn", lambda: self.pick("paper", "tuned", "strack-paper"))
        self.maybe(0.2, t, "initial_alpha", lambda: self.pick(1, 0.5, 0.01))
        self.maybe(0.2, t, "gain", lambda: self.pick(0.00390625, 0.0625, 1))
        self.maybe(0.2, t, "fast_recovery", lambda: d.randint(1, 10))
        self.maybe(0.2, t, "clamp_target", lambda: self.pick("always", "after_increase"))
        self.maybe(0.2, t, "min_rate", lambda: self.pick("auto", rate(self.rate / d.randint(2, 100))))
        return {"roce": t}

    def dscps(self):
        d = self.dice
        known = [v for v in range(64) if v not in (49, 50)]
        # as often as not one that a class claims
        claimed = [v for v in known if self.class_of[v] != self.classes[0]] or known
        one = lambda: d.choice(d.choice([known, claimed]))  # noqa: E731
        if d.random() < 0.3:
            self.sent = [one()]
            return self.sent[0]
        self.sent = [one(), self.pick("auto", one()), self.pick("auto", one())]
        return dict(zip(("data", "control", "notify"), self.sent))

    def workload_dscps(self):
        """Of some workloads, by a dice of its own: the rest of what a seed gives stays as it was."""
        d = self.dscp_dice
        # headers have DSCPs of their own, and where the file names no classes answers have
        taken = {49, 50} | (set() if "classes" in self.keys["switch"] else {48, *getattr(self, "sent", [])})
        free = [v for v in range(64) if v not in taken]
        claimed = [v for v in free if self.class_of[v] != self.classes[0]] or free
        self.own = []
        for one in self.keys["workload"]:
            if d.random() < 0.3:
                one["dscp"] = d.choice(d.choice([free, claimed]))
                self.own.append(one["dscp"])

    def workload_transports(self):
        """Of some workloads, by a dice of its own too."""
        hosts, self.dice = self.dice, self.transport_dice
        for one in self.keys["workload"]:
            self.maybe(0.25, one, "transport", lambda: self.pick(self.roce(), self.strack(), "roce", "strack"))
        self.dice = hosts

    def assembled_transports(self):
        """In place of some of those of hosts and workloads, by a dice of its own."""
        hosts, self.dice = self.dice, self.assembled_dice
        data = self.sent[0] if hasattr(self, "sent") else 0
        of_hosts = [data if "dscp" not in one else one["dscp"] for one in self.keys["workload"] if "transport" not in one]
        self.maybe(0.4, self.keys["host"], "transport", lambda: self.assembled(of_hosts))
        for one in self.keys["workload"]:
            self.maybe(0.2, one, "transport", lambda: self.assembled([one.get("dscp", data)]))
        self.dice = hosts

    def assembled(self, dscps):
        t = {}
        self.maybe(0.9, t, "paths", self.paths)
        self.maybe(0.9, t, "control", self.control)
        self.maybe(0.9, t, "recovery", lambda: self.recovery(dscps))
        return {"assembled": t} if t or self.dice.random() < 0.5 else "assembled"

    def part(self, name, **keys):
        """A part's bare name, or with some of its keys."""
        drawn = {key: draw() for key, draw in keys.items() if self.dice.random() < 0.4}
        return {name: drawn} if drawn or self.dice.random() < 0.3 and name not in ("single", "spray") else name

    def paths(self):
        d = self.dice
        several = lambda: self.pick(1, 2, 3, 16, 1024)  # noqa: E731
        return self.pick(
            lambda: "single",
            lambda: "spray",
            lambda: self.part("subflows", count=several),
            lambda: self.part("plb", packets=lambda: d.randint(1, 64), marked=lambda: self.pick("1%", 0.4, 1)),
            lambda: self.part("reps", ring=lambda: d.randint(1, 16), freeze=lambda: self.pick(0, self.spell(2, 100))),
            lambda: self.part("adaptive", paths=several, bitmap_rtts=lambda: self.pick(0, 1, 8, 1000000)),
            lambda: self.part("oblivious", paths=several))()

    def shares_are_known(self):
        """Fair shares, which a rate needs of all that is sent, and which are known of little."""
        return len(self.keys["workload"]) == 1 and bool({"permutation", "incast", "pairs"} & set(self.keys["workload"][0]))

    def control(self):
        d = self.dice
        window = lambda: self.pick(bdp(d.randint(20, 400)), size(self.mtu * d.randint(1, 40)))  # noqa: E731
        target = lambda: self.pick("auto", time(max(PS["ns"], self.rtt_ps * d.random())))  # noqa: E731
        step = lambda: self.pick("auto", rate(self.rate / d.randint(2, 1000)))  # noqa: E731
        timer = lambda: time(PS["us"] * d.randint(1, 500))  # noqa: E731
        known = self.shares_are_known()
        paced = lambda: self.part("rate", coefficient=lambda: self.pick(1, 0.5, 0.01), jitter=lambda: self.pick("5%", "100%"),
                                  window=lambda: self.pick("on", "off"))  # noqa: E731
        return self.pick(
            paced if known else lambda: "window",
            paced if known else lambda: "swift",
            lambda: self.part("window", bytes=window),
            lambda: self.part("swift", window=window, max_window=window, base_target=target, hop_delay=target, fs_range=target,
                              ai=lambda: self.pick(0.1, 1, 10), beta=lambda: self.pick(0.1, 1), max_mdf=lambda: self.pick(0.1, 0.9),
                              min_cwnd=lambda: self.pick(0.01, 0.1, 1), retx_reset=lambda: d.randint(1, 10)),
            lambda: self.part("dctcp", initial_window=lambda: self.pick(1, 10, 1000), gain=lambda: self.pick(0.0625, 0.5, 1)),
            lambda: self.part("dcqcn", cnp_interval=lambda: self.spell(2, 100), timer=timer, alpha_timer=timer, additive=step, hyper=step,
                              byte_counter=lambda: self.pick("auto", size(self.mtu * d.randint(1, 1000))), min_rate=step,
                              dcqcn=lambda: self.pick("paper", "tuned", "strack-paper"), fast_recovery=lambda: d.randint(1, 10)),
            lambda: self.part("nscc", window=window, target_delay=target, proportional=lambda: self.pick(0, 1, 10), fair=lambda: self.pick(0, 50),
                              eta=lambda: self.pick(0, 1), gamma=lambda: self.pick(0.1, 1), delay_gain=lambda: self.pick("1%", 1),
                              quick_adapt=lambda: self.pick("on", "off"), qa_gate=lambda: d.randint(0, 8)),
            lambda: self.part("strack", window=window, target_delay=target))()

    def recovery(self, dscps):
        """Of data that goes by these DSCPs: what needs trimming has it."""
        d = self.dice
        rto = lambda: self.pick("auto", self.spell(2, 30))  # noqa: E731
        threshold = lambda: d.randint(1, 20)  # noqa: E731
        desync = lambda: self.pick("auto", 0, delay(self.rtt_ps * d.random()))  # noqa: E731
        schemes = [
            lambda: self.part("coding", overhead=lambda: self.pick("5%", "0%", "100%"), rto=rto),
            lambda: self.part("dupack", threshold=threshold, fast_retransmit=lambda: self.pick("on", "off"), rto=rto),
            lambda: self.part("subflow-dupack", threshold=threshold, subflows=lambda: self.pick("auto", 1, 7, 1024), rto=rto),
            lambda: self.part("go-back-n", to=lambda: self.pick("packet", "message"), rto=rto),
            lambda: self.part("sack", threshold=threshold, rto=rto)]
        trim = self.keys["switch"].get("trim")
        if trim and not any(self.class_of[dscp] in self.lossless for dscp in dscps):
            trim = trim if isinstance(trim, dict) else {"to": trim}
            if trim["to"] == "receiver":
                schemes += 2 * [lambda: self.part("trim", desync=desync, rto=rto)]
            if trim["to"] == "sender" or trim.get("overflow") == "return":
                schemes += 2 * [lambda: self.part("return", desync=desync, rto=rto)]
        return d.choice(schemes)()

    def stack(self):
        d = self.dice
        s = {}
        self.maybe(0.5, s, "classes", lambda: [{"port": d.randint(1, 65535), "dscp": d.randrange(48)}, {"cgroup": "/", "dscp": 10}])
        self.maybe(0.5, s, "ect", lambda: self.pick("on", "off"))
        self.maybe(0.5, s, "ecn", lambda: self.pick("on", "off"))
        self.maybe(0.5, s, "entropy", lambda: self.pick("flow", "packet", {"flowlet": "50us"}))
        self.maybe(0.5, s, "queue", lambda: size(self.mtu * d.randint(1, 100)))
        return s

    # ---- faults and the rest

    def faults(self):
        d = self.dice
        self.fault_kinds = set()
        if d.random() < 0.5:
            self.keys["faults"] = [self.fault() for _ in range(d.randint(1, 4))]

    def fault(self):
        d = self.dice
        at = d.random() * min(self.until_ps, self.span_ps)
        f = {"at": time(at)}
        self.maybe(0.6, f, "until", lambda: self.pick("never", time(at + 1 + d.random() * self.span_ps)))
        kind = d.randrange(9)
        self.fault_kinds.add(kind)
        if kind == 0:
            f["switch"], f["do"] = self.dice.choice(self.switch_names), "down"
        elif kind == 1 and self.lossless:
            f["host"], f["do"] = d.choice(self.hosts), {"pause": d.choice(sorted(self.lossless))}
        else:
            f["link"] = self.link()
            self.maybe(0.2, f, "pick", lambda: self.pick(1, "1 per switch", "1 per pod", "0 per switch"))
            f["do"] = {2: {"rate": f"{d.randint(1, 99)}%"},
                       3: {"delay": delay(1 + d.random() * self.rtt_ps)},
                       4: {"loss": self.pick("0.1%", 0.02, "30%", 1e-3)},
                       5: {"gilbert": {"enter": "2%", "leave": "20%", **self.pick({}, {"lost": 0.5, "lost_good": "0.1%"})}},
                       6: {"flaky": {"every": self.spell(1, 20), "last": self.spell(20, 200)}},
                       7: {"errors": self.pick(1e-6, 1e-5)}}.get(kind, "down")
        return f

    def rest(self):
        d = self.dice
        k = self.keys
        self.maybe(0.3, k, "telemetry", self.telemetry)
        # what never ends by itself must be ended: losses of all kinds, deadlocks
        k["until"] = time(self.until_ps)
        self.maybe(0.3, k, "expect", self.expect)
        self.maybe(0.08, k, "clock", lambda: "stepped")
        self.maybe(0.08, k, "external", lambda: self.pick(
            "off", {"node": d.choice(self.hosts), "bridge": "br0", "address": "192.0.2.1/24", "address6": "2001:db8::1/64"}))
        self.maybe(0.08, k, "compare", lambda: [{"name": "one", "set": {"seed": d.randrange(1000)}},
                                                {"name": "two", "set": {"host.transport": self.pick("roce", "strack")}}])

    def telemetry(self):
        every = lambda: self.spell(2, 60)
        drawn = {}
        self.maybe(0.5, drawn, "ports", lambda: self.pick("off", every(), {"every": every(), "match": "*->*"}))
        self.maybe(0.5, drawn, "flows", lambda: self.pick("off", every(), {"every": every()}))
        self.maybe(0.5, drawn, "queues", lambda: self.pick(
            "off", every(), {"every": every(), "match": "*->*", "above": self.pick("off", "10KB", "1us", "20% BDP")}))
        self.maybe(0.5, drawn, "imbalance", lambda: self.pick("off", every()))
        return drawn

    def expect(self):
        d = self.dice
        names = ["flows.unfinished", "flows.count", "flows.fct_us.max", "packets.dropped", "packets.dropped.buffer", "packets.marked",
                 "queues.max_depth_bytes", "pfc.pauses_sent", "slowdown", "model_time_us", "hops", "packets.in_flight"]
        drawn = [{"metric": d.choice(names), self.pick("at_most", "at_least", "equals"): self.pick(0, 1, 10.5, 1000)}
                 for _ in range(d.randint(1, 3))]
        for one in drawn:
            if one["metric"] in ("flows.fct_us.max", "slowdown"):
                self.maybe(0.5, one, "of", lambda: self.pick("finished", "all"))
        return drawn

    # ---- what it can be held to

    def loses_nothing(self):
        """Whether all that hosts send is lossless and nothing but a lack of room could take it: then room never lacks."""
        if not self.lossless or self.trims or self.own_headroom or "compare" in self.keys:
            return False
        # a watchdog, a longer link, and a lost or spoilt pause are each a reason
        if self.fault_kinds & {1, 3, 4, 5, 6, 7} or "watchdog" in str(self.keys["switch"].get("pfc")):
            return False
        data, control, notify = (self.sent * 3)[:3] if hasattr(self, "sent") else (0, "auto", "auto")
        control = (0 if "classes" in self.keys["switch"] else 48) if control == "auto" else control
        notify = control if notify == "auto" else notify
        if "classes" not in self.keys["switch"]:
            return control == notify == data  # other answers go by a class of their own, which is lossy
        return all(self.class_of[v] in self.lossless for v in (data, control, notify, *self.own))

    def text(self):
        return "".join(f"{key}: {written(value)}\n" for key, value in self.keys.items())


def main():
    seed = int(sys.argv[1])
    if len(sys.argv) == 2:
        sys.stdout.write(Scenario(seed).text())
        return
    for i in range(seed, seed + int(sys.argv[2])):
        with open(f"{sys.argv[3]}/{i}.yaml", "w", encoding="utf-8") as out:
            out.write(Scenario(i).text())


if __name__ == "__main__":
    main()
