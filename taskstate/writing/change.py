"""Defines the records of a write: `Request` and `Change` go into `writer.change`, and `Outcome` comes out."""

from __future__ import annotations

from functools import cached_property

from taskstate import typed
from taskstate.typed import TYPE_CHECKING, Generic, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from typing_extensions import TypeVar

    from taskstate.model.document_kinds import Kinds
    from taskstate.model.task_state import TaskState
    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.storage import journal
    from taskstate.storage.replaced_texts import ReplacedText
    from taskstate.workspace.artifacts import Artifact
    from taskstate.workspace.workspace import Loaded

    # `Change` or `Outcome` without a parameter has any result. `typing.TypeVar` knows `default` only from Python 3.13.
    T_co = TypeVar("T_co", covariant=True, default=object)
    Step: TypeAlias = "Callable[[Loaded], Change]"  # from a file to what changes in it: several make one change
else:
    T_co = typed.TypeVar("T_co", covariant=True)


class Request(NamedTuple):
    """How a write is to be made.

    `metadata` says who makes it and when. `expect` is the revision that the file must still have; empty for any, and
    `expect_tree` the working tree for which drift is accepted, by its id or the first digits of that. With
    `dry_run` nothing is written. `reseal` accepts blocks owned by the tool that were edited by hand, and seals them
    again. `force_secrets` writes text that looks like a credential, with a warning and an entry in the audit.
    `even_dropped` changes a task that was dropped, too, which is refused otherwise. `known` is the file as it was read
    before: it is read again under the lock, but parsed again only if its bytes have changed.
    """

    metadata: WriteMetadata
    expect: str = ""
    expect_tree: str = ""
    dry_run: bool = False
    reseal: bool = False
    force_secrets: bool = False
    even_dropped: bool = False
    known: Loaded | None = None


class Change(NamedTuple, Generic[T_co]):
    """The change of a state file that a job has planned.

    `text` is the file's new text without the write metadata. `before` and `after` are the operations on other files
    that are carried out before and after it: a file that receives text comes before the one that loses it. `artifacts`
    are written if the change is made and it is not a dry run; `obsolete_artifacts` are the paths of those that the
    state file no longer names, deleted after it is written. `replaced` are texts that go although somebody may have
    typed in them: they are kept, and a note says where.

    A job that has parsed `text` already passes its `state`, and one that has set the metadata itself the text with it
    as `final_text`: neither is then computed again. With `only_text` a file that has no write metadata gets none. With
    `must_write` a text that does not change is written, too, with
    new write metadata. The new revision is higher than `revision_above`. `result` is what else the job computed; the
    outcome carries it to the caller.
    """

    text: str
    before: journal.Plan = ()
    notes: tuple[str, ...] = ()
    state: TaskState | None = None
    final_text: str = ""
    revision_above: int = 0
    after: journal.Plan = ()
    artifacts: tuple[Artifact, ...] = ()
    obsolete_artifacts: tuple[str, ...] = ()
    replaced: tuple[ReplacedText, ...] = ()
    must_write: bool = False
    only_text: bool = False
    result: T_co = None  # type: ignore[assignment]  # most jobs have no result, and it is not read then


class _Outcome(NamedTuple, Generic[T_co]):
    path: str
    revision: str
    changed: bool
    notes: tuple[str, ...] = ()
    diff: str = ""
    warnings: tuple[str, ...] = ()
    text: str = ""
    result: T_co = None  # type: ignore[assignment]  # the result of the `Change`
    read: TaskState | None = None  # the task's state after the write, where it has been read already
    kinds: Kinds = ()  # that the repository declares, for the state that is still to be read


class Outcome(_Outcome[T_co]):
    """What a write did, or on a dry run would do.

    `revision` is the file's token afterwards and `text` its text. `diff` is a unified diff, on a dry run only.
    `warnings` are for standard error, `notes` for the command's output. `result` is that of the `Change`.
    """

    @cached_property
    def state(self) -> TaskState:
        """The task's state after the write; parsed when it is first used."""
        if self.read:
            return self.read
        from taskstate.model import names
        from taskstate.model.task_state import read_state
        from taskstate.syntax.document import parse

        own = names.own_file(self.path)
        return read_state(parse(self.text, self.kinds), (own and own.id) or "")

    @cached_property
    def loaded(self) -> Loaded:
        """The task's state file after the write, for the next step: as if it had been read again."""
        from taskstate.workspace.workspace import Loaded

        return Loaded(self.path, self.text.encode(), self.state.document, self.state)
