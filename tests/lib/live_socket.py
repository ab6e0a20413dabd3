# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""live_socket.py PATH: clients that behave badly at a live fabric's control socket while a good one goes on. A line a case,
"ok NAME" or "not ok NAME: WHY"; the good one checks after each that it is answered and that model time goes on."""
import json
import os
import socket
import sys

PATH = sys.argv[1]
LIMIT = 64 * 1024  # of a request


class Client:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(PATH)
        self.rest = b""

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has closed; what it said can still be read

    def line(self):
        """The next line, or None at the end."""
        while b"\n" not in self.rest:
            try:
                got = self.socket.recv(65536)
            except ConnectionResetError:
                got = b""
            if not got:
                return None
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, verb, **keys):
        self.send(json.dumps({"version": 1, "id": 7, "do": verb, **keys}).encode() + b"\n")
        return self.line()

    def close(self):
        self.socket.close()


good = Client()
last = -1.0


def still_served():
    """The good client is answered, and model time has gone on. Why not, or None."""
    global last
    for _ in range(1000):
        answer = good.ask("status")
        if not answer or not answer["ok"]:
            return f"status: {answer}"
        now = answer["result"]["model_time_us"]
        if now > last:
            last = now
            return None
    return f"model time stands still at {now} us"


def case(name, seen, want=True):
    why = None if seen == want else f"{seen!r} instead of {want!r}"
    why = why or still_served()
    print(f"not ok {name}: {why}" if why else f"ok {name}")


def refused(answer):
    return bool(answer) and answer["ok"] is False and answer["error"]["kind"] == "input"


case("a good client", still_served(), None)

c = Client()
c.send(os.urandom(3000).replace(b"\n", b"x") + b"\n")
answer = c.line()
case("rubbish is refused", refused(answer) and answer["id"] is None)
case("and the connection stays", c.ask("status")["ok"])
for text in (b"", b"{", b"[]", b"7", b'"status"', b"null", b'{"do": 7}', b'{"version": 1}', b'{"version": 2, "do": "status"}',
             b'{"version": 1, "do": "fly"}', b'{"version": 1, "do": "inject", "words": [1]}',
             b'{"version": 1, "do": "show", "what": {}}', b'{"version": 1, "do": "step", "time": 5}',
             b'{"version": 1, "do": "capture"}', b"\xff\xfe", b'{"a": ' * 3000):
    c.send(text + b"\n")
    case(f"refused: {text[:40]!r}", refused(c.line()))
case("after all that", c.ask("status")["ok"])
c.close()

half = Client()
half.send(b'{"version": 1, "do": "sta')
case("half a request waits and harms nobody", True)
half.send(b'tus"}\n')
case("its other half", half.line()["ok"])
half.send(b'{"version": 1, "do": "sta')
half.close()
case("half a request, and gone", True)

c = Client()
c.send(b"x" * (1 << 20))
case("a megabyte is refused", refused(c.line()))
case("and that connection closed", c.line(), None)
c.close()
c = Client()
c.send(b'{"version": 1, "id": "' + b"x" * (LIMIT - 200) + b'", "do": "status"}\n')
case("nearly as long as allowed", c.line()["ok"])
c.close()

deaf = Client()
deaf.socket.setblocking(False)
sent = 0
request = b'{"version": 1, "do": "show", "what": "routes"}\n' * 20
try:
    while sent < 4 << 20:
        sent += deaf.socket.send(request)
except (BlockingIOError, BrokenPipeError, ConnectionResetError):
    pass
case("a client that does not read", True)
hung = Client()
hung.ask("capture", target="all")
case("a capture that nobody reads", True)

many = []
for _ in range(80):
    try:
        many.append(Client())
    except (ConnectionRefusedError, BlockingIOError):
        break
answers = [m.ask("status") for m in many]
served = sum(bool(a) and a["ok"] for a in answers)
case("many clients: most are served", 50 <= served <= 64)
case("and the others are told", all(a is None or a["ok"] or a["error"]["kind"] == "state" for a in answers))
for m in many:
    m.close()
deaf.close()
hung.close()


def room():
    for _ in range(1000):
        c = Client()
        answer = c.ask("status")
        c.close()
        if answer and answer["ok"]:
            return True
    return False


case("there is room again", room())
