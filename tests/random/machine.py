# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a summary tells of the machine and the command that made it; the rest follows from the scenario."""
import json
import sys

KEYS = {"dataplane", "commit", "command", "date", "host", "kernel", "setup_s", "wall_s", "hops_per_s", "peak_rss_mb"}


def left_out(text):
    """The text of a summary, or of an object of them, without that; numbers as they are written."""

    def rest(found):
        return {key: found[key] for key in found if key not in KEYS} if "schema" in found else found

    return json.dumps(json.loads(text, object_hook=rest, parse_float=str), indent=1)


if __name__ == "__main__":
    print(left_out(sys.stdin.read()))
