"""`taskstate lsp` on a machine without the extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

_WITHOUT = """
import sys

sys.path[:] = [each for each in sys.path if "site-packages" not in each]
from taskstate.__main__ import main
raise SystemExit(main(["lsp"]))
"""


def test_without_the_extra_one_line_says_what_to_install() -> None:
    """The error names the extra and the command that installs it, with status 2."""
    done = subprocess.run([sys.executable, "-c", _WITHOUT], cwd=ROOT, input=b"", capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert "'taskstate[lsp]'" in line
