"""Runs one session inside its namespaces: `python -m tests.clients.inside`, the session as JSON on standard input.

It is the first process of a process namespace, so that whatever the client leaves running ends with it, and the only
network is loopback, which it switches on.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from typing import Any

from tests.clients.model import Call, Model, Step

_SET_FLAGS, _UP, _RUNNING = 0x8914, 0x1, 0x40  # SIOCSIFFLAGS, IFF_UP, IFF_RUNNING
LATE = 124  # the status of a client that did not end


def switch_loopback_on() -> None:
    """Bring the interface `lo` up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, _SET_FLAGS, struct.pack("16sh", b"lo", _UP | _RUNNING))


def run(session: dict[str, Any]) -> dict[str, Any]:
    """Serve the model while the client runs; return its status, what it printed, and what the model was asked."""
    scripts = {
        name: [Step(text, [Call(*call) for call in calls], *rest) for text, calls, *rest in steps]
        for name, steps in session["scripts"].items()
    }
    model = Model(scripts)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryFile() as printed:  # no pipe: what outlives the client would hold it open
        try:
            status = subprocess.run(
                session["command"],
                cwd=session["folder"],
                env=session["env"],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                timeout=session["limit"],
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = LATE
        printed.seek(0)
        said = printed.read()
    return {"status": status, "said": said.decode(errors="replace"), "requests": model.requests}


if __name__ == "__main__":
    switch_loopback_on()
    json.dump(run(json.load(sys.stdin)), sys.stdout)
