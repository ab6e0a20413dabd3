# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""live_faults.py PATH COUNT [TIMES]: so many faults at random, but the same each time, in a fat-tree of 4 that lives. A line a
case, "ok NAME" or "not ok NAME: WHY". TIMES: a file that gets the microseconds from each request to its answer, which
comes when the fault is in force."""
import json
import random
import socket
import sys
import time

dice = random.Random(42)
client = socket.socket(socket.AF_UNIX)
client.settimeout(60)
client.connect(sys.argv[1])
answers = client.makefile("rb")
times = []


def ask(verb, **keys):
    """The result, or the refusal."""
    begun = time.perf_counter()
    client.sendall(json.dumps({"version": 1, "do": verb, **keys}).encode() + b"\n")
    answer = json.loads(answers.readline())
    times.append((verb, (time.perf_counter() - begun) * 1e6))
    return answer.get("result") or answer["error"]


def case(name, seen, want=True):
    print(f"ok {name}" if seen == want else f"not ok {name}: {seen!r} instead of {want!r}")


LINKS = ["agg0.1-core2", "tor0.0-agg0.1", "agg*-core0", "h1-*", "*", "h0-tor0.0", "tor[12].*-agg*", "agg1.0-core?"]
DEEDS = ["down", "rate 25%", "delay 2us", "loss 1%", "loss 50%", "gilbert enter 1% leave 10%", "flaky every 300us last 50us",
         "errors 1e-6"]
SWITCHES = ["core1", "agg*.0", "tor1.1", "core*", "*"]


def fault():
    words = (["link", dice.choice(LINKS), *dice.choice(DEEDS).split()] if dice.random() < 0.8
             else ["switch", dice.choice(SWITCHES), "down"])
    return words + (["for", f"{dice.randrange(1, 3000)}us"] if dice.random() < 0.5 else [])


wrong = []
ends = 0
for i in range(int(sys.argv[2])):
    words = fault()
    result = ask("inject", words=words)
    if result.get("fault") != i or not result.get("targets"):
        wrong.append((words, result))
    if dice.random() < 0.3:
        result = ask("heal", words=dice.choice([["all"], ["link", dice.choice(LINKS)], ["switch", "*"], ["fault", str(i)]]))
        if "healed" not in result and result.get("kind") != "state":
            wrong.append(result)
case("every injection is answered, and numbered in turn", wrong, [])
rows = ask("show", what="faults")["rows"]
case("the table has them all", len(rows), int(sys.argv[2]))
case("all targets of all kinds are there", all(r["targets"] > 0 for r in rows))
ask("heal", words=["all"])
status = ask("status")
case("heal all: none is in force", status["faults"], 0)
case("no port is befallen", {r["faults"] for r in ask("show", what="ports")["rows"]}, {""})
# `pause`: else packets are on their way from one counter to the next between two looks
ask("pause")
status, summary = ask("status"), ask("show", what="summary")["summary"]
p = status["packets"]
case("packets balance", p["sent"] + p["made"],
     p["delivered"] + p["consumed"] + sum(p["dropped"].values()) + p["in_flight"])
case("the summary says the same", summary["packets"]["sent"], p["sent"])
ports = ask("show", what="ports")["rows"]
drops = {}
for row in ports:
    for reason, n in row["dropped"].items():
        drops[reason] = drops.get(reason, 0) + n
case("drops by port are those of the fabric", drops, {k: n for k, n in p["dropped"].items() if n})
case("every port is up", {r["up"] for r in ports}, {True})
ask("go")
if len(sys.argv) > 3:
    with open(sys.argv[3], "w", encoding="ascii") as out:
        out.writelines(f"{us:.1f}\n" for verb, us in times if verb == "inject")
