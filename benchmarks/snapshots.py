"""Measures snapshots of a large working tree against the plain git commands and hashing that are needed at least."""

from __future__ import annotations

import shutil
import subprocess
from random import Random
from typing import TYPE_CHECKING

from benchmarks.measurement import Measurement, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import ordinary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.timing import Seconds

FOLDERS, FILES, CHANGED, NEW = 400, 50, 500, 50
_TARGET = 1.5
_GIT = ("git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.invalid", "-c", "gc.auto=0")
_HASH = "{ git diff --name-only -z; git ls-files -z --others --exclude-standard; } | xargs -0 sha256sum >/dev/null"
_STATUS = "git status --porcelain -z >/dev/null"
# Computes the tree id of the working tree without touching the repository, and what changed.
_TAKE = f"""
mkdir -p "$0/objects"; cp -p .git/index "$0/index"
export GIT_OPTIONAL_LOCKS=0
(
export GIT_INDEX_FILE="$0/index" GIT_OBJECT_DIRECTORY="$0/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects"
git add --all
git diff --binary HEAD "$(git write-tree)" >/dev/null
)
{_STATUS}
{_HASH}
"""
_VERIFY = f"export GIT_OPTIONAL_LOCKS=0; {_STATUS}; {_HASH}"


def snapshots(folder: Path) -> Iterator[Measurement]:
    """Measure taking a snapshot of 20,000 files, 550 of them changed, and comparing with it."""
    root = _tree(folder / "tree")
    state = root / ".taskstate" / "tasks" / "task-1-state.md"
    scratch = str(folder / "scratch")
    before, private = state.read_bytes(), root / ".git" / "taskstate"
    role = ("1", "--role", "implementer")

    def anew(run: Callable[[], float]) -> Callable[[], float]:
        """Return a candidate that starts without the results of earlier rounds; removing them is not timed."""

        def taken() -> float:
            shutil.rmtree(root / ".taskstate" / "artifacts", ignore_errors=True)
            shutil.rmtree(scratch, ignore_errors=True)
            state.write_bytes(before)
            shutil.rmtree(private, ignore_errors=True)  # or what the last round wrote would be missed
            return run()

        return taken

    start = program((ordinary().python, "-c", "pass"), root)
    commands = {
        "ours": anew(program((ordinary().taskstate, "snapshot", "take", *role), root)),
        "reference": anew(program(("sh", "-c", _TAKE, scratch), root)),
        "start": start,
    }
    size = f"{FOLDERS * FILES:,} files, {CHANGED} changed, {NEW} new"
    taken = interleaved(commands)
    yield _measurement(f"`snapshot take`, {size}", "copy of the index, add, write-tree, status, diff, hashing", taken)
    commands = {
        "ours": program((ordinary().taskstate, "snapshot", "verify", *role), root),
        "reference": program(("sh", "-c", _VERIFY), root),
        "start": start,
    }
    subprocess.run([ordinary().taskstate, "snapshot", "take", *role, "--quiet"], cwd=root, check=True)
    yield _measurement("`snapshot verify` of them without drift", "`git status` and hashing", interleaved(commands))


def _measurement(what: str, reference: str, taken: dict[str, Seconds]) -> Measurement:
    note = f"the interpreter's start, {1000 * taken['start']:.0f} ms, taken off ours"
    own = (taken["ours"] - taken["start"]) / taken["reference"]
    return Measurement(what, reference, own, _TARGET, note, taken["ours"], taken["reference"])


def _tree(root: Path) -> Path:
    """Return a repository with a large commit and uncommitted changes."""
    repository(root)
    subprocess.run([ordinary().taskstate, "init", "--quiet"], cwd=root, check=True)
    parts = ("--title", "T", "--description", "d", "--criterion", "c", "--quiet")
    subprocess.run([ordinary().taskstate, "new", "1", *parts], cwd=root, check=True)
    random = Random(1)  # noqa: S311 - the same tree each time
    paths = [root / f"src/m{each % 20}/p{each}/f{file}.py" for each in range(FOLDERS) for file in range(FILES)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"def f{n}(x):\n    return x + {random.randrange(10**6)}\n" for n in range(40)))
    for command in (("add", "--all"), ("commit", "--quiet", "--message=begin"), ("repack", "-a", "-d", "--quiet")):
        subprocess.run([*_GIT, *command], cwd=root, check=True)
    for path in random.sample(paths, CHANGED):
        path.write_text(path.read_text(encoding="utf-8").replace("x + 1", "x - 1", 1) + "\n# changed\n")
    for number in range(NEW):
        (root / "src/m0/p0" / f"new{number}.py").write_text(f"new = {number}\n" * 30)
    return root
