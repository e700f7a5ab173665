"""A repository for tests of the jobs: set up, in process, without git, with a clock that goes on by a minute a job."""

from __future__ import annotations

import difflib
import hashlib
import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.archive import archiver
from taskstate.errors import TaskstateError
from taskstate.lint.runner import LintRequest, LintRun, open_run
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import WriteMetadata
from taskstate.qa import trust
from taskstate.setup import repository
from taskstate.storage import kept_records
from taskstate.storage.private import FALLBACK
from taskstate.syntax.document import parse
from taskstate.tasks import checklist, create, sessions
from taskstate.tasks.new_session import NewSession
from taskstate.workspace.workspace import Workspace, find_workspace
from taskstate.writing import startup
from taskstate.writing.change import Outcome, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from taskstate.model.config import Config

START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TASK, TITLE = "101", "JWT Service"
SESSION = "### Session {} - 2026-01-{:02} 10:00\n\n{}\n\n"
# What a write may change in the front matter, besides what it was asked for.
MARKS = ("updated_at", "revision", "sessions", "file_size_kb", "  updated_by", "  updated_at", "  update_count")

_LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")
_FRESH: dict[str, bytes] = {}  # what a fresh repository holds: made once, since making it costs a tenth of a second


class Place:
    """A repository in `root` that holds task 101; `set_up` and `new` are done."""

    def __init__(self, root: Path, **task: Any) -> None:  # noqa: ANN401 - the fields of a new task
        self.root = root
        self.now = START
        root.mkdir(exist_ok=True)
        if task:
            self._make(**task)
            return
        if not _FRESH:  # made elsewhere: what a command keeps beside the files is in no copy
            with tempfile.TemporaryDirectory() as folder:
                made = Place(Path(folder).resolve(), title=TITLE)
                _FRESH.update(
                    (path.relative_to(made.root).as_posix(), path.read_bytes()) for path in files_in(made.root)
                )
        self.now += MINUTE
        for name, data in _FRESH.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)

    def _make(self, **task: Any) -> None:  # noqa: ANN401 - the fields of a new task
        repository.set_up(find_workspace(self.root, root=str(self.root)), pre_commit=False)
        self.new(**task)

    @property
    def workspace(self) -> Workspace:
        """The repository as a command finds it now, configuration included."""
        return find_workspace(self.root, root=str(self.root))

    @property
    def path(self) -> Path:
        """The state file of task 101."""
        return self.workspace.tasks / f"task-{TASK}-state.md"

    @property
    def archive_path(self) -> Path:
        """The archive file of task 101."""
        return self.workspace.state_root / "archives" / f"task-{TASK}-archive.md"

    @property
    def text(self) -> str:
        """The state file's text, its line ends as they are."""
        return self.path.read_bytes().decode()

    @text.setter
    def text(self, text: str) -> None:
        self.path.write_bytes(text.encode())

    @property
    def archived(self) -> str:
        """The archive file's text, its line ends as they are."""
        return self.archive_path.read_bytes().decode()

    @property
    def state(self) -> TaskState:
        """What the state file says."""
        return read_state(parse(self.text))

    def request(self, *, expect: str = "", dry_run: bool = False) -> Request:
        """Return a request a minute after the last one."""
        self.now += MINUTE
        return Request(metadata=WriteMetadata(actor="somebody", now=self.now), expect=expect, dry_run=dry_run)

    def new(self, task_id: str = TASK, **task: Any) -> Outcome:  # noqa: ANN401 - the fields of a new task
        """Create a task that is ready for work."""
        parts = {
            "title": TITLE,
            "description": "Issue tokens.",
            "criteria": ("Tokens verify", "Tokens expire"),
            "features": (("jwt-1", "makes a JWT"),),
        }
        return create.create(self.workspace, create.NewTask(id=task_id, **(parts | task)), self.request())

    def checking(self, *, remember: bool = False, config: Config | None = None) -> LintRun:
        """Return how files are checked here, at the time of the last request."""
        wanted = LintRequest(now=f"{self.now:%Y-%m-%dT%H:%M:%SZ}", remember=remember)
        return open_run(self.workspace, config or self.workspace.config, wanted)[0]

    def add(self, *did: str, request: Request | None = None, **entry: Any) -> Outcome:  # noqa: ANN401 - its fields
        """Append a session."""
        parts = {"did": did or ("Worked.",), "state": "Half-way.", "next": ("Go on.",)} | entry
        return sessions.add(self.workspace, TASK, NewSession(**parts), request or self.request())

    def fill(self, *numbers: int, log: str = "") -> None:
        """Write sessions into the Progress Log by hand, each with a day of its own."""
        entries = log or "".join(SESSION.format(number, number % 28 + 1, said(number)) for number in numbers)
        head, rest = self.text.replace(f"{ENTRY_FORM}\n\n", "").split("## 5. Git History", 1)
        self.text = f"{head}{entries}## 5. Git History{rest}"

    def archive(self, *, keep: int = 1, force: bool = True, request: Request | None = None) -> Outcome:
        """Archive the task's older sessions."""
        return archiver.archive_sessions(self.workspace, TASK, request or self.request(), keep=keep, force=force)

    def check(self, number: int = 1, *, checked: bool = True, request: Request | None = None) -> Outcome:
        """Check or uncheck an acceptance criterion: the smallest job there is."""
        return checklist.set_criterion(self.workspace, TASK, number, request or self.request(), checked=checked)

    def prove(self, feature: str = "jwt-1", *, passes: bool = True, evidence: object = "seen") -> Outcome:
        """Record a feature as tested."""
        tested = checklist.FeatureResult(passes=passes, evidence=evidence)
        return checklist.set_feature(self.workspace, TASK, feature, tested, self.request())

    def told(self) -> tuple[str, ...]:
        """Return what a command says beside its own work: on what it recovered, and on what is gone or damaged."""
        workspace = self.workspace
        return (*startup.recover(workspace), *(told.message for told in startup.losses_of(workspace)))

    def forget(self) -> None:
        """Delete what is kept of earlier writes: what is gone of them is not missed any more."""
        for record in kept_records.records(self.workspace.private)[0]:
            record.path.unlink()

    def cache(self, name: str) -> Path:
        """Return the path of a cache file."""
        path = self.workspace.private.cache(name)
        assert path
        return path

    def configure(self, toml: str) -> None:
        """Give the repository another configuration."""
        (self.root / "taskstate.toml").write_text(toml, encoding="utf-8")

    def trust(self) -> None:
        """Allow the commands to run that the configuration and the task name."""
        workspace = self.workspace
        trust.grant(workspace, trust.listed(workspace, workspace.load(self.path)))

    def numbers(self) -> list[tuple[int, bool]]:
        """Return the number of each session, and whether it is archived."""
        return [(told.number, told.archived) for told in sessions.all_sessions(self.workspace, TASK)]


def said(number: int) -> str:
    """Return the four fields of a session by hand."""
    return (
        f"**What I did:**\n\n- did {number}\n\n**Issues encountered:**\n\n- issue {number}\n\n"
        f"**Current state:** state {number}\n\n**Next steps:**\n\n- next {number}"
    )


def refusal(call: Callable[[], object]) -> TaskstateError:
    """Return the error with which `call` refuses."""
    with pytest.raises(TaskstateError) as caught:
        call()
    return caught.value


def files_in(root: Path) -> list[Path]:
    """Return the files under `root`: without git's own, the lock, and what is private to the tool."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and path.name != "lock")
    return [path for path in found if not {".git", FALLBACK}.intersection(path.relative_to(root).parts)]


def tree(root: Path) -> dict[str, str]:
    """Return the hash of every file under `root`, as `files_in` gives them."""
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files_in(root)}


def changes(before: str, after: str) -> tuple[str, str]:
    """Return the lines that went from `before` and those that came into `after`, without the marks of a write."""
    old, new = _LINES.findall(before), _LINES.findall(after)
    assert "".join(old) == before
    gone: list[str] = []
    come: list[str] = []
    for kind, *places in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            gone += old[places[0] : places[1]]
            come += new[places[2] : places[3]]
    return _unmarked(gone), _unmarked(come)


def _unmarked(lines: list[str]) -> str:
    return "".join(line for line in lines if not line.startswith(tuple(f"{key}:" for key in MARKS)))
