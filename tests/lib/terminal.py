# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""terminal.py COLUMNS COMMAND...: runs a command on a terminal of so many columns and prints what it printed there."""
import fcntl, os, pty, struct, sys, termios

terminal, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
pid = os.fork()
if pid == 0:
    os.login_tty(slave) if hasattr(os, "login_tty") else [os.setsid(), *(os.dup2(slave, fd) for fd in range(3))]
    os.execvp(sys.argv[2], sys.argv[2:])
os.close(slave)
seen = b""
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    seen += chunk
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
