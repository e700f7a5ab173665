"""What a job asks of a write and what it gets back: `Request`, `Change` and `Outcome`. `writer` carries them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.task_state import TaskState
    from taskstate.model.write_metadata import Stamp
    from taskstate.storage import journal
    from taskstate.workspace import artifacts


class Request(NamedTuple):
    """Who asks for a change and when, the revision that the file must still be at, and whether to show it only.

    Only who accepts what was changed by hand in a block that is the tool's own asks for a change that seals it anew.
    `force_secrets` writes what looks like a credential, warns of it and remembers it.
    """

    stamp: Stamp
    expect: str = ""
    dry_run: bool = False
    reseal: bool = False
    force_secrets: bool = False


class Change(NamedTuple):
    """What a job makes of a state file: its text before the stamp, other files' changes that go ahead, what to tell.

    What receives text is changed before what gives it away: `after` are the changes that take text out of other files.
    `kept` are artifacts that are written where nothing refuses the change, and not on a dry run; `gone` are the paths
    of those that the state file named before, which are deleted once it is written.

    A job that had to read or stamp the text itself hands on its state, and the text with its stamp. The new revision is
    higher than `above`.
    """

    text: str
    before: journal.Plan = ()
    notes: tuple[str, ...] = ()
    state: TaskState | None = None
    stamped: str = ""
    above: int = 0
    after: journal.Plan = ()
    kept: tuple[artifacts.Artifact, ...] = ()
    gone: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What a change did: `revision` is the file's token afterwards, `diff` the unified diff of a dry run.

    `warnings` are for standard error, whatever else is told.
    """

    path: str
    revision: str
    changed: bool
    notes: tuple[str, ...] = ()
    diff: str = ""
    warnings: tuple[str, ...] = ()
