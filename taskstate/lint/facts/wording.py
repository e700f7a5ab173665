"""Helpers for findings: quoting text from a file, cut to a safe length, and pointing at lines."""

from __future__ import annotations

from taskstate.model.statuses import COMPLETE
from taskstate.syntax.spans import Span, filled_lines, first_line, first_other
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.queries.interface import Queries
    from taskstate.syntax.document import Document

_LONGEST = 80  # characters: longer quotes bury the message, and may show a secret


def cut(value: str) -> str:
    """Return `value`, cut to at most 80 characters."""
    return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"


def shown(value: str) -> str:
    """Return `value` in quotes, cut to at most 80 characters."""
    return repr(cut(value))


def feature_pass(task: str, feature: str, status: object) -> str:
    """Return the command, up to its evidence, that says that a feature passes; a complete task is reopened before."""
    before = f"taskstate reopen {task} --note WHY`, then `" if status == COMPLETE else ""
    return f"{before}taskstate feature pass {task} {cut(feature)}"


def line_of(document: Document, span: Span) -> int:
    """Return the number of the line, counted from 1, in which `span` begins."""
    return document.position(span.start).line + 1


def first_line_of(document: Document, span: Span) -> Span:
    """Return `span` up to the end of its first line."""
    return first_line(document.text, span)


def first_change(document: Document, span: Span, earlier: str) -> Span:
    """Return the first line of a part that an earlier text of it does not have at that place; blank lines do not count.

    Where only the end of the earlier text is gone, that is the last line.
    """
    text, whole = document.text, Span(0, len(earlier))
    lines = filled_lines(text, span, indented=True)
    other = first_other(lines, filled_lines(earlier, whole, indented=True))
    at = other[0] if other else lines[-1][0] if lines else span.start
    return first_line(text, Span(at, len(text)))


def put_back(queries: Queries, path: str) -> str:
    """Return how a missing file comes back: from the earlier version, if it is there and not here, else as kept."""
    import shlex

    revision = (queries.earlier_names() or ("",))[0].partition(":")[0]
    if revision and path in (queries.changed_paths() or ()):
        return f"`git restore --source {shlex.quote(revision)} -- {shlex.quote(path)}` puts it back"
    own = shlex.quote(path)
    kept = "`taskstate doctor --fix` brings it back if it was written in this clone"
    log = f"`git log --oneline -- {own}` lists what git has of it"
    return f"{kept}; {log}, and `git restore --source COMMIT -- {own}` takes it from an earlier commit"


def taken_back(revision: str, path: str) -> str:
    """Return the command that takes a file back from a revision; `path` is from the top of the repository.

    It holds in every folder of the repository.
    """
    import shlex

    return f"`git checkout {shlex.quote(revision)} -- {shlex.quote(f':/{path}')}` restores it"


def shown_by(queries: Queries, *, changed: bool = True) -> str:
    """Return in parentheses the command that shows how a file became what it is; empty where nothing is compared."""
    import shlex

    revision, _, path = (queries.earlier_names() or ("",))[0].partition(":")
    command = f"git diff {shlex.quote(revision)}" if changed else "git log -p"
    return f" (`{command} -- {shlex.quote(path)}` shows it)" if revision else ""
