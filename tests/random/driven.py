# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""driven.py SEED: a random fabric and what is done to it by hand. Writes driven.yaml, and long.yaml, a workload that is never done; prints
a command a line, its words parted by blanks: what follows `fabricbed COMMAND NAME`, COMMAND first. Some ask for what cannot be, as people do."""
import random
import sys

from scenario import Scenario, delay, size, time, written

DEEDS = 30
EVENTS = ["drop", "drop buffer", "mark", "trim", "pause", "flow", "fault", "reroute"]


class Driven(Scenario):
    def __init__(self, seed):
        super().__init__(seed)
        dice = random.Random(f"load {seed}")
        # a live fabric has no end, is nobody's test, and its bridge outside is not there
        for key in "compare", "expect", "until", "clock", "external":
            self.keys.pop(key, None)
        self.limit_ps = 0  # a moment that the fabric has hardly passed
        self.keys["workload"] = [{"permutation": {"message": size(20000 * self.mtu)}}]
        if dice.random() < 0.5:
            self.keys["workload"].append({"load": self.background(dice)})

    def background(self, dice):
        return {"sizes": "alistorage", "load": dice.choice(["5%", "30%"]), "until": time(500 * self.packet_ps)}

    def shares_are_known(self):
        return False  # of what is started while other messages are under way

    def links_meant(self):
        return self.pick(self.link(), self.link(), "*", "h*")

    def span(self):
        return time(1 + self.dice.random() * (20 * self.packet_ps + self.rtt_ps / 4))

    def step(self):
        self.limit_ps += 20 * self.packet_ps + self.rtt_ps / 4
        return f"step {self.span()}"

    def harm(self):
        d = self.dice
        kind = d.randrange(8)
        until = f" for {self.span()}" if d.random() < 0.5 else ""
        if kind == 0:
            return f"inject switch {d.choice(self.switch_names)} down{until}"
        if kind == 1:
            return f"inject host {d.choice(self.hosts)} pause {d.choice(sorted(self.lossless) or [3])}{until}"
        deed = self.pick("down", f"rate {d.randint(1, 99)}%", f"delay {delay(1 + d.random() * self.rtt_ps)}", f"loss {d.randint(1, 30)}%",
                         "gilbert enter 1% leave 10%", f"flaky every {self.span()} last {self.span()}", "errors 1e-6")
        return f"inject link {self.links_meant()} {deed}{until}"

    def cure(self):
        d = self.dice
        return self.pick("heal all", f"heal link {self.links_meant()}", f"heal link {self.links_meant()}", f"heal fault {d.randrange(6)}",
                         f"heal switch {d.choice(self.switch_names)}", f"heal host {d.choice(self.hosts)}")

    def deed(self):
        dice = self.dice.random()
        if dice < 0.35:
            return self.harm()
        if dice < 0.5:
            return self.cure()
        if dice < 0.55:
            return "start"
        if dice < 0.7:
            self.limit_ps += self.dice.random() * 40 * self.packet_ps
            return f"until {self.dice.choice(EVENTS)} --limit {time(self.limit_ps)}"
        return self.step()

    def deeds(self):
        return [self.step(), "start long.yaml", *(self.deed() for _ in range(DEEDS)), self.step()]


def main():
    world = Driven(int(sys.argv[1]))
    with open("long.yaml", "w", encoding="utf-8") as out:
        long = [{"permutation": {"message": size(50000 * world.mtu)}}]
        out.write("workload: " + written(long + [{"load": world.background(world.dice)}] * world.dice.randrange(2)) + "\n")
    with open("driven.yaml", "w", encoding="utf-8") as out:
        out.write(world.text())
    print("\n".join(world.deeds()))


main()
