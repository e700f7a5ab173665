"""Many writers at once, with editors that know no lock among them: what was acknowledged is there, exactly once.

`python -m tests.torture` runs the long form and prints what it did and counted; the tests run a small one.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.__main__ import main
from taskstate.tasks.sessions import all_sessions
from taskstate.workspace.workspace import find_workspace
from tests.support.long_run import parser_of, say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

TASKS = ("101", "102", "103")
_OPERATIONS = ("add", "add", "add", "pass", "check", "archive")
_LONGEST = 0.05  # seconds that an editor holds a file before it saves


class Torture(NamedTuple):
    """How hard it is to be: `editors` are processes that save files by hand, without knowing of anybody."""

    writers: int
    rounds: int
    editors: int
    seed: int = 0


class Counted(NamedTuple):
    """What happened: acknowledged writes by kind, refusals by code, saves by editors; and what must be none of it."""

    acknowledged: Counter[str]
    refused: Counter[str]
    saves: Counter[str]
    gone: int
    wrong: tuple[str, ...]


def run(*arguments: str) -> tuple[int, str]:
    """Run a command in this process, and return its exit status and what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main([*arguments, "--format", "json"])
    return status, out.getvalue()


def torture(root: Path, how: Torture) -> Counted:
    """Set a repository up in the folder `root`, let all loose on it, mend it, and count."""
    os.chdir(root)
    os.environ["TASKSTATE_ACTOR"] = "somebody"
    _prepare(how)
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    with tempfile.TemporaryDirectory() as logs:
        writers = [
            context.Process(target=_write, args=(root, Path(logs), number, how)) for number in range(how.writers)
        ]
        editors = [context.Process(target=_edit, args=(root, Path(logs), n, how, stop)) for n in range(how.editors)]
        for process in (*editors, *writers):
            process.start()
        for process in writers:
            process.join()
        stop.set()
        for process in editors:
            process.join()
        log = [json.loads(line) for path in sorted(Path(logs).iterdir()) for line in path.read_text().splitlines()]
    if how.editors:
        log.append(_lose_one(root, how))
    done = [entry for entry in log if entry["status"] == 0]
    gone = _mend()
    return Counted(
        acknowledged=Counter(entry["kind"] for entry in done if "save" not in entry["kind"]),
        refused=Counter(f"{entry['kind']}: {entry['code']}" for entry in log if entry["status"]),
        saves=Counter(entry["kind"] for entry in done if "save" in entry["kind"]),
        gone=gone,
        wrong=tuple(_faults(root, done, [process.exitcode for process in (*writers, *editors)])),
    )


def _prepare(how: Torture) -> None:
    assert run("init")[0] == 0
    criteria = [part for number in range(how.writers) for part in ("--criterion", f"criterion of writer {number}")]
    for task in TASKS:
        features = [part for n in range(how.writers) for part in ("--feature", f"w{n}=the feature of writer {n}")]
        assert run("new", task, "--title", f"Task {task}", "--description", "d", *criteria, *features)[0] == 0


def _write(root: Path, logs: Path, number: int, how: Torture) -> None:
    """Be one writer: a process that runs one command after the other, and remembers what was acknowledged."""
    os.chdir(root)
    chance = random.Random(f"{how.seed} writer {number}")  # noqa: S311 - no secret, and to be repeated
    with (logs / f"writer-{number}").open("w", encoding="utf-8") as log:
        for turn in range(how.rounds):
            kind, task = chance.choice(_OPERATIONS), chance.choice(TASKS)
            what = f"w{number}-{turn}-end"
            command = {
                "add": _session(task, what),
                "pass": ("feature", "pass", task, f"w{number}", "--evidence", what),
                "check": ("criterion", "check", task, str(number + 1)),
                "archive": ("archive", task, "--force", "--keep", str(chance.randint(1, 4))),
            }[kind]
            log.write(json.dumps(_done(kind, task, what, command)) + "\n")


def _done(kind: str, task: str, what: str, command: tuple[str, ...]) -> dict[str, Any]:
    """Run a command, and return what is to be remembered of it."""
    status, said = run(*command)
    return {"kind": kind, "task": task, "what": what, "status": status, "code": json.loads(said)["code"]}


def _edit(root: Path, logs: Path, number: int, how: Torture, stop: multiprocessing.synchronize.Event) -> None:
    """Be somebody with a text editor: load, think, change a line, and save over whatever is there by then."""
    os.chdir(root)
    chance = random.Random(f"{how.seed} editor {number}")  # noqa: S311 - no secret, and to be repeated
    with (logs / f"editor-{number}").open("w", encoding="utf-8") as log:
        turn = 0
        while not stop.is_set():
            turn += 1
            task, kind = chance.choice(TASKS), chance.choice(("save by rename", "save in place"))
            path = root / f".taskstate/tasks/task-{task}-state.md"
            text = path.read_text(encoding="utf-8")
            if not text.startswith("---") or "\n## 6." not in text:
                continue  # another editor is just writing it
            time.sleep(chance.uniform(0, _LONGEST))
            text = text.replace("\n## 5. Git History", f"\n<!-- by hand {number}-{turn} -->\n\n## 5. Git History", 1)
            _save(path, text, kind)
            log.write(json.dumps({"kind": kind, "task": task, "what": "", "status": 0, "code": None}) + "\n")
            time.sleep(chance.uniform(0, 4 * _LONGEST))


def _lose_one(root: Path, how: Torture) -> dict[str, Any]:
    """Save a stale copy over a session that was just acknowledged: of the other saves chance may let none hit."""
    path = root / f".taskstate/tasks/task-{TASKS[0]}-state.md"
    text, what = path.read_text(encoding="utf-8"), f"w{how.writers}-last-end"
    added = _done("add", TASKS[0], what, _session(TASKS[0], what))
    _save(path, text, "save by rename")
    return added


def _session(task: str, what: str) -> tuple[str, ...]:
    return ("session", "add", task, "--did", what, "--state", "s", "--next", "n")


def _save(path: Path, text: str, kind: str) -> None:
    if kind == "save in place":
        path.write_text(text, encoding="utf-8")
        return
    beside = path.with_name(f"{path.name}.{os.getpid()}~")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _mend() -> int:
    """Bring back what is gone, and return of how many tasks that was told."""
    gone = _told()
    for _ in range(5):
        run("doctor", "--fix")
        if not _told():
            break
    return gone


def _told() -> int:
    """Return the number of tasks of which a command says that something is gone."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        main(["list"])
    return said.getvalue().count("doctor --let-go ")


def _faults(root: Path, done: list[dict[str, str]], ended: list[int | None]) -> Iterator[str]:
    """Yield what must not be: what is acknowledged and not there once, falling numbers, findings, leftovers."""
    yield from (f"a process ended with {status}" for status in ended if status)
    workspace = find_workspace(root, root=str(root))
    for task in TASKS:
        told = all_sessions(workspace, task)
        said = Counter(text for session in told for text in session.texts["did"])
        wanted = [entry["what"] for entry in done if (entry["task"], entry["kind"]) == (task, "add")]
        yield from (f"task {task}: {what} stands there {said[what]} times" for what in wanted if said[what] != 1)
        numbers = [session.number for session in told]
        if numbers != sorted(set(numbers)):
            yield f"task {task}: the numbers are {numbers}"
        state = workspace.load(workspace.locate(task)).state
        passing = {feature.id for feature in state.checklist.features if feature.passes} if state.checklist else set()
        checked = {criterion.number for criterion in state.criteria if criterion.checked}
        for entry in done:
            writer = re.match(r"w(\d+)-", entry["what"])
            if entry["task"] == task and writer:
                if entry["kind"] == "pass" and f"w{writer[1]}" not in passing:
                    yield f"task {task}: feature w{writer[1]} does not pass"
                if entry["kind"] == "check" and int(writer[1]) + 1 not in checked:
                    yield f"task {task}: criterion {int(writer[1]) + 1} is not checked"
    status, said_of_lint = run("lint")
    if status:
        yield f"lint: {said_of_lint[:2_000]}"
    left = [
        path.name for path in root.rglob("*") if path.name.endswith((".tmp", "~")) or path.name.startswith("pending-")
    ]
    yield from (f"left behind: {name}" for name in left)
    if _told():
        yield "after the cure something is still told as gone"


def report() -> int:
    """Run the long form, and print what it did and counted."""
    how = Torture(**vars(parser_of("torture", __doc__, writers=16, rounds=50, editors=2).parse_args()))
    say(f"{how.writers} writers with {how.rounds} commands each, {how.editors} editors, seed {how.seed}")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="taskstate-torture-") as folder:
        counted = torture(Path(folder), how)
        os.chdir("/")
    for name in ("acknowledged", "refused", "saves"):
        found: Counter[str] = getattr(counted, name)
        say(f"{name:13} {found.total():>5}  {', '.join(f'{n} {what}' for what, n in sorted(found.items()))}")
    say(f"{'put back':13} {counted.gone:>5}  tasks from which a stale save had removed something")
    for fault in counted.wrong:
        say(f"wrong: {fault}")
    say(f"{len(counted.wrong)} things are wrong after {time.monotonic() - begun:.0f} s")
    return 1 if counted.wrong else 0


if __name__ == "__main__":
    sys.exit(report())
