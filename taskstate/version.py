"""The version of this package, and that of the format which it reads and writes."""

from __future__ import annotations

# In the one place from which the build and the code read them.
VERSION = "0.1.0"
FORMAT = 1  # the highest value of `taskstate` in a state file that this version reads
