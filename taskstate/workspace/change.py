"""What a job asks of a write and what it gets back: `Request`, `Change` and `Outcome`. `writer` carries them out."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from taskstate.model.task_state import TaskState
    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.storage import journal
    from taskstate.workspace.artifacts import Artifact

    # A bare `Change` or `Outcome` is one with any result. `typing` itself knows `default` from Python 3.13 on.
    T_co = TypeVar("T_co", covariant=True, default=object)
else:
    from typing import TypeVar

    T_co = TypeVar("T_co", covariant=True)


class Request(NamedTuple):
    """Who asks for a change and when, the revision that the file must still be at, and whether to show it only.

    Only who accepts what was changed by hand in a block that is the tool's own asks for a change that seals it anew.
    `force_secrets` writes what looks like a credential, warns of it and remembers it.
    """

    stamp: WriteMetadata
    expect: str = ""
    dry_run: bool = False
    reseal: bool = False
    force_secrets: bool = False


class Change(NamedTuple, Generic[T_co]):
    """What a job makes of a state file: its text before the stamp, other files' changes that go ahead, what to tell.

    What receives text is changed before what gives it away: `after` are the changes that take text out of other files.
    `kept` are artifacts that are written where nothing refuses the change, and not on a dry run; `gone` are the paths
    of those that the state file named before, which are deleted once it is written.

    A job that had to read or stamp the text itself hands on its state, and the text with its stamp. The new revision is
    higher than `above`. `result` is what else the job made, for whoever asked for the change: the outcome carries it.
    """

    text: str
    before: journal.Plan = ()
    notes: tuple[str, ...] = ()
    state: TaskState | None = None
    stamped: str = ""
    revision_above: int = 0
    after: journal.Plan = ()
    artifacts: tuple[Artifact, ...] = ()
    obsolete_artifacts: tuple[str, ...] = ()
    result: T_co = None  # type: ignore[assignment]  # most jobs have none, and nobody reads it then


class _Outcome(NamedTuple, Generic[T_co]):
    path: str
    revision: str
    changed: bool
    notes: tuple[str, ...] = ()
    diff: str = ""
    warnings: tuple[str, ...] = ()
    text: str = ""
    result: T_co = None  # type: ignore[assignment]  # that of the `Change`


class Outcome(_Outcome[T_co]):
    """What a change did: `revision` is the file's token afterwards, `diff` the unified diff of a dry run.

    `warnings` are for standard error, whatever else is told. `text` is that of the state file afterwards, empty
    where something else was written; `result` is what the job made. On a dry run all are what they would be.
    """

    @cached_property
    def state(self) -> TaskState:
        """What the state file says afterwards; it is read only where somebody asks."""
        from taskstate.model import names
        from taskstate.model.task_state import read_state
        from taskstate.syntax.document import parse

        own = names.own_file(self.path)
        return read_state(parse(self.text), (own and own.id) or "")
