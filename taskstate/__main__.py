"""Runs the command line as `python -m taskstate`."""

from __future__ import annotations

import sys

from taskstate.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
