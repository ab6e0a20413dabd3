# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""runs.py COMMAND SANITIZED NAME FIRST COUNT: random scenarios from seed FIRST on, each run on the kernel, inline, inline by the
sanitized command, and inline from the scenario.yaml that the first run wrote. Prints "ok TITLE" or "not ok TITLE: WHY" for each
claim, "# ..." for figures, and as it goes, the text of the first scenarios of which a claim did not hold.

NAME: of the fabrics, which must be nobody else's; "" leaves the kernel out. FABRICBED_KEEP: a folder for what failed.
"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

import machine
from scenario import Scenario

COMMAND, SANITIZED, NAME, FIRST, COUNT = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
SHOWN = 5  # scenarios of which a claim did not hold
LIMIT_S = 300  # in which any of them has ended, on the busiest box
FAILED_BY = {124: "did not end", 2: "was refused after validate took it", 3: "found no machine for it", 4: "failed"}


class Broken(Exception):
    """(claim, what was seen)"""


def call(*words):
    """Status and what was said. A signal is a status below 0."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S,
                              check=False)
    except subprocess.TimeoutExpired:
        return 124, f"no end in {LIMIT_S} s"
    return done.returncode, done.stdout.decode(errors="replace")


def files(folder):
    """All results that are there; the machine's own figures, and the mark that says whose folder it is, left out."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            if name.startswith("."):
                continue
            path = os.path.join(place, name)
            with open(path, "rb") as f:
                content = f.read()
            found[os.path.relpath(path, folder)] = machine.left_out(content) if name.endswith(".json") else content
    return found


def summaries(folder):
    for place, _, names in os.walk(folder):
        if "summary.json" in names:
            with open(os.path.join(place, "summary.json"), encoding="utf-8") as f:
                yield json.load(f)


def balanced(p):
    dropped = sum(p["dropped"].values())
    return p["sent"] + p["made"] == p["delivered"] + p["consumed"] + dropped + p["in_flight"] and p["lost"] <= dropped


def beaten(s):
    """The bounds that a run of those figures has beaten; within rounding."""
    rounds = s.get("collectives", {}).get("rounds", [])
    told = [(s["flows"]["fct_us"]["max"], s["ideal_fabric_us"])] + [(r["time_us"], r["ideal_us"]) for r in rounds]
    return [f"{took} us, and the ideal is {ideal} us" for took, ideal in told if took and ideal and took < ideal * (1 - 1e-9)]


def run(claim, command, file, out, *more):
    status, said = call(command, "run", file, "--quiet", "--out", out, *more)
    if status not in (0, 1):
        raise Broken(claim, f"the run {FAILED_BY.get(status, 'ended with ' + str(status))}: {said.strip()}")
    return status


def judge(folder, file, scenario, capture):
    """Runs it in all ways. Returns the inline run's summaries."""
    name = ("--set", f"name={NAME}") if NAME else ()
    inline = os.path.join(folder, "inline")
    again = os.path.join(inline, "one" if "compare" in scenario.keys else "", "scenario.yaml")
    ways = [("is clean of what sanitizers see", SANITIZED, file, "sanitized", ("--dataplane", "inline", *name))]
    if NAME:
        ways.append(("is the same on both dataplanes", COMMAND, file, "kernel", ("--dataplane", "kernel", *name)))
    want = run("runs", COMMAND, file, inline, "--dataplane", "inline", *name, *capture(inline))
    if "compare" not in scenario.keys:
        ways.append(("is told whole by scenario.yaml", COMMAND, again, "again", ("--dataplane", "inline")))
    for claim, command, text, out, more in ways:
        place = os.path.join(folder, out)
        status = run(claim, command, text, place, *more, *capture(place))
        if status != want:
            raise Broken(claim, f"exit status {status} instead of {want}")
        one, other = files(inline), files(place)
        differ = sorted(key for key in {*one, *other} if one.get(key) != other.get(key))
        if differ:
            raise Broken(claim, "other bytes in " + ", ".join(differ))
    found = list(summaries(inline))
    for s in found:
        if not balanced(s["packets"]):
            raise Broken("balances its packets", str(s["packets"]))
        if beaten(s):
            raise Broken("takes as long as the bounds say", "; ".join(beaten(s)))
        if scenario.loses_nothing() and s["packets"]["dropped"].get("buffer"):
            raise Broken("loses nothing that is lossless", f"{s['packets']['dropped']['buffer']} frames")
    return found


def tried(seed):
    """Refused (None), or the summaries; or what is Broken."""
    scenario = Scenario(seed)
    folder = tempfile.mkdtemp(dir=".")
    file = os.path.join(folder, "file.yaml")
    with open(file, "w", encoding="utf-8") as out:
        out.write(scenario.text())

    def capture(place):
        # one of four writes all that is sent too, into the folder that is compared
        if seed % 4 or "compare" in scenario.keys:
            return ()
        os.makedirs(place, exist_ok=True)
        return "--capture", os.path.join(place, "capture.pcapng")

    try:
        status, said = call(SANITIZED, "validate", file)
        if status == 2:
            return seed, scenario, None
        if status:
            raise Broken("is judged by validate", f"status {status}: {said.strip()}")
        return seed, scenario, judge(folder, file, scenario, capture)
    except Broken as why:
        if os.environ.get("FABRICBED_KEEP"):
            shutil.copytree(folder, os.path.join(os.environ["FABRICBED_KEEP"], str(seed)), dirs_exist_ok=True)
        return seed, scenario, why
    finally:
        shutil.rmtree(folder)


def told(claims, refused, all_summaries, held):
    """A case a claim, then those that say that something was tried at all."""
    for claim in ["is judged by validate", "runs", "is clean of what sanitizers see", *(["is the same on both dataplanes"] if NAME else []),
                  "is told whole by scenario.yaml", "balances its packets", "takes as long as the bounds say", "loses nothing that is lossless"]:
        wrong = claims.get(claim, [])
        print(f"not ok every random scenario {claim}: " + "; ".join(wrong) if wrong else f"ok every random scenario {claim}")
    ran = COUNT - refused
    print(f"ok most are valid: {ran} of {COUNT}" if ran >= 0.8 * COUNT else f"not ok most are valid: {ran} of {COUNT}")
    happened = {
        "drops": lambda s: sum(s["packets"]["dropped"].values()),
        "marks": lambda s: s["packets"]["marked"],
        "pauses": lambda s: s["pfc"]["pauses_sent"],
        "trims": lambda s: s["packets"]["trimmed"],
        "CNPs": lambda s: s["packets"]["notified"],
        "repeats": lambda s: s["packets"]["retransmitted"],
        "finished flows": lambda s: s["flows"]["count"] - s["flows"]["unfinished"],
    }
    seen = {what: sum(1 for s in all_summaries if of(s)) for what, of in happened.items()}
    missing = [what for what, count in seen.items() if not count]
    print("# runs with " + ", ".join(f"{what}: {count}" for what, count in seen.items()) + f"; held to lose nothing: {held}")
    print(f"not ok there is something of each kind: no {missing}" if missing or not held else "ok there is something of each kind")


def main():
    claims, all_summaries, refused, held = {}, [], 0, 0
    # a fabric on the kernel waits for it more than it works; where several have one name, they get others like it
    with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        for seed, scenario, result in pool.map(tried, range(FIRST, FIRST + COUNT)):
            if isinstance(result, Broken):
                claims.setdefault(result.args[0], []).append(f"seed {seed}: {result.args[1]}")
                if sum(map(len, claims.values())) <= SHOWN:
                    print("# " + scenario.text().rstrip("\n").replace("\n", "\n# "), flush=True)
            elif result is None:
                refused += 1
            else:
                all_summaries += result
                held += scenario.loses_nothing()
    told(claims, refused, all_summaries, held)


main()
