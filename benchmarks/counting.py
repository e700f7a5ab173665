"""Runs one command in this process and counts what it does; started as a program of its own by `benchmarks.counts`.

`python counting.py RESULT ARGUMENT...` runs `taskstate ARGUMENT...` and writes JSON to the file RESULT. Counted is what
does not depend on the machine: calls of and from functions of ours, of those the ones that reach the disk, processes of
git, and the modules that were imported.
"""

from __future__ import annotations

import sys

_BEFORE = frozenset(sys.modules)
_DISK = "posix"  # the module whose functions ask the system about files
_WAY = {"_descend", "_open_folder"}  # functions on the way to a folder, which is longer on some machines


def main() -> int:
    """Run the command, write what was counted, and return the command's exit status."""
    result, *arguments = sys.argv[1:]
    package = ""
    counts = {"calls": 0, "disk calls": 0, "git processes": 0}

    def count(frame: object, event: str, function: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if event not in {"call", "c_call"} or package not in code.co_filename or code.co_name in _WAY:
            return
        counts["calls"] += 1
        if event == "c_call" and getattr(function, "__module__", "") == _DISK:
            counts["disk calls"] += 1

    def hear(event: str, _arguments: tuple[object, ...]) -> None:
        counts["git processes"] += event == "subprocess.Popen"

    sys.addaudithook(hear)
    import taskstate

    package = taskstate.__path__[0]
    sys.setprofile(count)
    from taskstate.__main__ import main as run

    status = run(arguments)
    sys.setprofile(None)
    modules = sorted(sys.modules.keys() - _BEFORE)
    import json
    from pathlib import Path

    Path(result).write_text(json.dumps({"counts": counts, "modules": modules}), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
