"""How git is started beside other work, and ended."""

from __future__ import annotations

import subprocess
import sys

_KILLED_AT_THE_START = """
import os, signal, threading
from pathlib import Path
from taskstate.storage.git import process
from taskstate.storage.signals import Ended, end

def started(self, start=threading.Thread.start):
    threading.Thread.start = start
    os.kill(os.getpid(), signal.SIGTERM)
    start(self)

signal.signal(signal.SIGTERM, end)
threading.Thread.start = started
try:
    process.start(["version"], Path())
except Ended:
    process.end_started(everywhere=True)
    print("ended")
"""


def test_a_signal_as_git_is_started_leaves_nothing_to_wait_for() -> None:
    """The process ends: what was to start git is there, and ends with it."""
    program = (sys.executable, "-c", _KILLED_AT_THE_START)
    done = subprocess.run(program, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "ended\n"
