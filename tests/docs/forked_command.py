"""`sottovoce` on a console of the tests: requests a fork, which reads and prints in its place.

Run as a program with nothing but the standard library, so that it starts quickly.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "forker"))
        request = {
            "arguments": sys.argv[1:],
            "environment": dict(os.environ),
            "folder": os.getcwd(),
            "pid": os.getpid(),
        }
        connection.sendall(json.dumps(request).encode() + b"\n")
        answers = connection.makefile()
        forked = int(answers.readline())
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: os.kill(forked, number))
        sys.exit(int(answers.readline()))
