"""What a rule is, and what it says of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

ERROR = "error"
WARNING = "warning"

# What a rule reads. Where that part cannot be read the rule is silent, so that one fault gives one finding.
WHOLE = "whole"  # the text as such: this can always be read
FRONT_MATTER = "front matter"  # silent in a file of a newer format version
BODY = (
    "body"  # silent there too, while conflict markers stand in the body, and from the section of an unclosed fence on
)


class Fix(NamedTuple):
    """Edits to the same file that mend a fault, or the name of a job where other files are needed.

    Safe edits change no meaning. `about` says what a job is to deal with, where that is not the whole file.
    """

    edits: tuple[Edit, ...] = ()
    safe: bool = True
    job: str = ""
    about: str = ""


class Diagnostic(NamedTuple):
    """One fault in one text: what is wrong, where, and what to do about it."""

    code: str
    name: str
    severity: str
    span: Span
    message: str
    help: str
    fix: Fix | None = None


class Finding(NamedTuple):
    """A diagnostic at its place in a file.

    Lines and columns are counted from 1, the end stands behind the last character. `source` is the line of the begin.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    diagnostic: Diagnostic
    source: str = ""


class Rule(NamedTuple):
    """What a rule is called and what it says; `reads` is the part of a file that it looks at.

    Which files it looks at and what it needs to know besides stands in `taskstate.lint.registry` alone.
    """

    code: str
    name: str
    summary: str
    severity: str = ERROR
    fixable: bool = False
    reads: str = BODY

    def at(self, span: Span, message: str, *, help: str, fix: Fix | None = None, severity: str = "") -> Diagnostic:  # noqa: A002 - the field's own word
        """Return a diagnostic of this rule at `span`."""
        return Diagnostic(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            span=span,
            message=message,
            help=help,
            fix=fix,
        )
