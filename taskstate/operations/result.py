"""What an operation returns: data for programs and plain text for people, of which a door shows what it needs."""

from __future__ import annotations

from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.writing.change import Outcome


class Result(NamedTuple):
    """The result of an operation: JSON data, the same as text, and the exit status: 1 where something was found.

    There is no data where everything is said: by a server, or by what answers in a format of its own.

    A `warning` stands out, below the text. `raw` are bytes that a pipe gets as they are in place of the text, such as a
    diff for `git apply` (`is_diff`); those that are JSON are shown with `--quiet`, too. A result that `is_verbatim` was
    asked for as a text of a file or as what would be written there: no credential in it is masked. Lines wider
    than the screen are folded, unless it `is_document`, which has lines of its own; a pipe gets a line for each row of
    what `is_in_rows`. `highlights` are patterns of what stands out in the text on a terminal, each with its style.
    """

    data: object
    text: str
    status: int = 0
    warning: tuple[str, ...] = ()
    raw: bytes | None = None
    is_diff: bool = False
    is_json: bool = False
    is_verbatim: bool = False
    is_in_rows: bool = False
    is_document: bool = False
    highlights: tuple[tuple[str, str], ...] = ()


def shown(result: Result, call: Call) -> Result:
    """Return the result of a call as every door shows it: with credentials masked, unless it is verbatim."""
    if result.is_verbatim or not (result.data or result.text):
        return result
    from taskstate.operations.masking import masked_data
    from taskstate.secrets.mask import masked

    data = masked_data(result.data, call.allowed) if call.as_data else None
    return result._replace(data=data, text=masked(result.text, call.allowed))


def changed(call: Call, outcome: Outcome, done: str = "", *, text: str = "", **more: object) -> Result:
    """Return the result of a change; what was `done` stands behind the path of the file, or `text` in place of both."""
    data = {**outcome_shape(outcome), **more, "notes": [*outcome.notes, *outcome.warnings]}
    call.problems(outcome.warnings)
    if call.dry_run:
        data["diff"] = outcome.diff
        return Result(data, outcome.diff or "nothing would change", is_verbatim=True)
    if not outcome.changed:
        text, done = "", "nothing to change"
    lines = [text or f"{one_line(outcome.path)}: {done}", *(f"  {note}" for note in outcome.notes)]
    if call.is_verbose:
        lines.append(f"  {one_line(outcome.path)} is at revision {outcome.revision}")
    return Result(data, "\n".join(lines))


def outcome_shape(outcome: Outcome) -> dict[str, object]:
    """Return the part of an outcome that the JSON of every change contains."""
    return {"path": outcome.path, "revision": outcome.revision, "changed": outcome.changed}
