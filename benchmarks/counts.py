"""Counts what commands do, and compares it with what was recorded: `python -m benchmarks.counts [--update]`.

Times depend on the machine, counts do not: so continuous integration compares these, in
`tests/benchmarks/test_counts.py`. `--update` records what is counted now, in `counts.json` and `imports.json`.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import corpus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
COUNTS, IMPORTS = HERE / "counts.json", HERE / "imports.json"
UPDATE = "python -m benchmarks.counts --update"
MOST = 1.3  # times what was recorded
_SETTLED = 2.1  # seconds after which a file's times tell that it has not changed
_FILE = ".taskstate/tasks/task-1-state.md"
_WORDS = ("--did", "read the header", "--state", "it works", "--next", "write the second")
_START = ("start", "1", "--role", "implementer")
_BEGIN = '{"session_id": "1", "hook_event_name": "SessionStart", "source": "startup", "cwd": "."}'


class Question(NamedTuple):
    """A command that is counted in one of the repositories; with `again` it has been run once before."""

    name: str
    repository: str
    command: tuple[str, ...]
    again: bool = False
    given: str = ""
    imports_alone: bool = False


QUESTIONS = (
    Question("--version", "one", ("--version",), imports_alone=True),
    Question("lint of one file, cold", "one", ("lint", "--no-cache", _FILE)),
    Question("lint of one file, nothing changed", "one", ("lint", _FILE), again=True),
    Question("lint of one file alone, nothing changed", "one", ("lint", "--against", "none", _FILE), again=True),
    Question("lint of 50 files, cold", "fifty", ("lint", "--no-cache", "--jobs", "1")),
    Question("lint of 50 files, nothing changed", "fifty", ("lint", "--jobs", "1"), again=True),
    Question("next among 300 tasks", "many", ("next",), again=True),
    Question("list among 300 tasks", "many", ("list",), again=True),
    Question("brief among 300 tasks", "many", ("brief", "150"), again=True),
    Question("hook at the start of a session", "many", ("hook", "session-start"), again=True, given=_BEGIN),
    Question("snapshot verify", "changed", ("snapshot", "verify", "1", "--role", "implementer")),
    Question("session add", "changed", ("session", "add", "1", *_WORDS)),
    Question("start", "started", _START, imports_alone=True),
    Question("finish", "turned", ("finish", "1", "--pause", *_WORDS)),
)


class Counted(NamedTuple):
    """What a command did: its counts by name, and the modules that it imported."""

    counts: Mapping[str, int]
    modules: frozenset[str]


def count_all(folder: Path) -> dict[str, Counted]:
    """Make the repositories in an empty folder, and return what each question's command did there.

    Raises:
        RuntimeError: a command fails.
    """
    _make_repositories(folder)
    time.sleep(_SETTLED)
    for question in QUESTIONS:
        if question.again:
            _ask(folder, [sys.executable, "-m", "taskstate", *question.command], question)
    return {question.name: _run(folder, question) for question in QUESTIONS}


def _make_repositories(folder: Path) -> None:
    """Write the repositories that the questions name; their files are committed, and in one changed afterwards."""
    for name, which in (
        ("one", corpus.Corpus(name="counted one", files=1, least=10, most=10, total="10 KB")),
        ("changed", corpus.Corpus(name="counted one", files=1, least=10, most=10, total="10 KB")),
        ("turned", corpus.Corpus(name="counted one", files=1, least=10, most=10, total="10 KB")),
        ("started", corpus.Corpus(name="counted one", files=1, least=10, most=10, total="10 KB")),
        ("fifty", corpus.Corpus(name="counted fifty", files=50, least=3, most=17, total="500 KB")),
        ("many", corpus.Corpus(name="counted many", files=300, least=4, most=4, total="1.2 MB")),
    ):
        root = folder / name
        tasks = root / ".taskstate" / "tasks"
        tasks.mkdir(parents=True)
        (root / "taskstate.toml").write_text('[lint]\nignore = ["TS410"]\n[size]\nmax-sessions = 1000\n')
        (root / "code.py").write_text("one = 1\n" * 100)
        for file, data in corpus.generate(which):
            (tasks / file).write_bytes(data)
        git = ("git", "-c", "init.defaultBranch=main", "-c", "commit.gpgSign=false", "-c", "gc.auto=0")
        for command in (
            ("init", "--quiet"),
            ("config", "user.name", "somebody"),
            ("config", "user.email", "somebody@example.invalid"),
            ("add", "--all"),
            ("commit", "--quiet", "--message=begin"),
        ):
            subprocess.run([*git, *command], cwd=root, env=_environment(), check=True)
    take = ("snapshot", "take", "1", "--role", "implementer")
    for name, words in (("changed", take), ("turned", _START)):
        if name == "changed":
            (folder / name / "code.py").write_text("one = 2\n" * 100)
        done = [sys.executable, "-m", "taskstate", *words, "--quiet"]
        subprocess.run(done, cwd=folder / name, env=_environment(), check=True, stdout=subprocess.DEVNULL)
    (folder / "turned" / "code.py").write_text("one = 2\n" * 100)


def _environment() -> dict[str, str]:
    """Return an environment in which every machine counts the same."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "VIRTUAL_ENV") if name in os.environ}
    fixed = {"PYTHONHASHSEED": "0", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    return {**kept, **fixed, "PYTHONPATH": str(HERE.parent)}


def _run(folder: Path, question: Question) -> Counted:
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    done = _ask(folder, [sys.executable, str(HERE / "counting.py"), str(result), *question.command], question)
    if done.returncode not in {0, 1} or not result.exists():  # 1: findings
        raise RuntimeError(f"`taskstate {' '.join(question.command)}` failed: {done.stderr or done.stdout}")
    found = json.loads(result.read_text(encoding="utf-8"))
    modules = frozenset(found["modules"])
    return Counted({**found["counts"], "modules": len(modules)}, frozenset(filter(_is_told, modules)))


def _ask(folder: Path, command: list[str], question: Question) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository of a question."""
    return subprocess.run(
        command,
        cwd=folder / question.repository,
        env=_environment(),
        input=question.given,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def _is_told(module: str) -> bool:
    """Return whether a module's name is recorded: ours, and of others those that one would import."""
    return module.startswith("taskstate") or not ("." in module or module.startswith("_"))


def worse(now: Mapping[str, Counted], then: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return a line for each count that has grown by more than the share that is allowed, with both figures."""
    lines = []
    for name, counted in now.items():
        for what, number in counted.counts.items() if name in then else ():
            before = then[name].get(what, 0)
            if number > before * MOST:
                share = f" ({number / before - 1:+.0%})" if before else ""
                lines.append(f"{name}: {number:,} {what} now, {before:,} when it was recorded{share}")
    return lines


def imported_too(now: Mapping[str, Counted], then: Mapping[str, Sequence[str]], *, same_python: bool) -> list[str]:
    """Return a line for each command that imports modules beyond its budget.

    Python's own modules import each other differently in each version, and count only in the one of the record.
    """
    lines = []
    for name, counted in now.items():
        extra = sorted(counted.modules - frozenset(then.get(name, ())))
        extra = [module for module in extra if same_python or module.startswith("taskstate")]
        if extra:
            lines.append(f"{name}: imports {', '.join(extra)}")
    return lines


def recorded() -> tuple[dict[str, dict[str, int]], dict[str, list[str]], str]:
    """Return the counts and the modules that were recorded, by question, and the version of Python that made them."""
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    return counts["questions"], json.loads(IMPORTS.read_text(encoding="utf-8")), counts["python"]


def python_version() -> str:
    """Return the version of this Python, without the part that changes no counts."""
    return ".".join(platform.python_version_tuple()[:2])


def _record(now: Mapping[str, Counted]) -> None:
    alone = {question.name for question in QUESTIONS if question.imports_alone}
    questions = {name: counted.counts for name, counted in now.items() if name not in alone}
    COUNTS.write_text(json.dumps({"python": python_version(), "questions": questions}, indent=2) + "\n")
    IMPORTS.write_text(json.dumps({name: sorted(each.modules) for name, each in now.items()}, indent=2) + "\n")


def main() -> int:
    """Compare with what was recorded, or record; return 1 where something has become worse."""
    with tempfile.TemporaryDirectory(prefix="taskstate-counts-") as folder:
        now = count_all(Path(folder).resolve())
    if sys.argv[1:] == ["--update"]:
        _record(now)
        return 0
    counts, imports, version = recorded()
    lines = worse(now, counts) + imported_too(now, imports, same_python=version == python_version())
    for name, counted in now.items():
        print(f"{name}: {', '.join(f'{number:,} {what}' for what, number in counted.counts.items())}")
    print(*lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
