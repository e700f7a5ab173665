"""The records of the linter: rules, their diagnostics with fixes, and findings located in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

    JobName = Literal["", "archive", "pull", "respan"]

ERROR = "error"
WARNING = "warning"

# The part of a file that a rule reads. Its findings in a part that cannot be read are dropped: one fault, one finding.
WHOLE = "whole"  # the text as such: it can always be read
FRONT_MATTER = "front matter"  # unreadable in a file of a newer format version
BODY = "body"  # unreadable there too, with conflict markers in the body, and from the section of an unclosed fence on


class Fix(NamedTuple):
    """Edits to the same file that repair a fault, or the name of a job of `fixer` where other files are needed.

    Safe edits do not change the meaning. `about` is the subject of the job, such as the id of a task to pull from.
    """

    edits: tuple[Edit, ...] = ()
    safe: bool = True
    job: JobName = ""
    about: str = ""


class Diagnostic(NamedTuple):
    """A fault in a text: the rule that found it, where it is, what is wrong, and what to do about it."""

    code: str
    name: str
    severity: str
    span: Span
    message: str
    help: str
    fix: Fix | None = None


Diagnostics = Iterator[Diagnostic]  # what the check of a rule returns


class Preview(NamedTuple):
    """The lines that a fix removes and adds at its first place; `more` counts other places and lines."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    more: int = 0


# Findings of one rule in one file that a report for people shows: thousands have one cause, and nobody reads them.
MOST_SHOWN = 100
# Those that are reported at all, of each severity: what stands in a file ten thousand times costs no more than this.
MOST_REPORTED = 1_000


class Finding(NamedTuple):
    """A diagnostic located in a file.

    Lines and columns are counted from 1; the end is the position behind the last character. `source` is the first line,
    `before` and `after` are the lines around it, `preview` shows what its fix changes: all three are left out beyond
    the first `MOST_SHOWN` of a rule. Of a long line only a part is kept, and `cut` counts the characters before that of
    `source`: ten thousand findings may stand in one line.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    diagnostic: Diagnostic
    source: str = ""
    before: str = ""
    after: str = ""
    preview: Preview | None = None
    cut: int = 0


def cut_off(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Return the paths and rules' codes of which there are as many findings as are reported, and maybe more."""
    if len(findings) < MOST_REPORTED:
        return []
    counts = Counter((each.path, each.diagnostic.code) for each in findings)
    return sorted(kind for kind, count in counts.items() if count >= MOST_REPORTED)


def name_of_module(module: str) -> str:
    """Return the name of the rule that a module holds."""
    return module.rpartition(".")[2].replace("_", "-")


class Rule(NamedTuple):
    """The names of a rule and the properties of its findings; `reads` is the part of a file that it checks.

    Which files it applies to and which queries it needs is declared in `taskstate.lint.registry`.
    """

    code: str
    name: str
    summary: str
    severity: str = ERROR
    fixable: bool = False
    reads: str = BODY

    @classmethod
    def of(  # noqa: PLR0913 - what a rule says of itself
        cls, code: str, module: str, summary: str, *, severity: str = ERROR, fixable: bool = False, reads: str = BODY
    ) -> Rule:
        """Return the rule of a module, which has its name."""
        return cls(code, name_of_module(module), summary, severity, fixable, reads)

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
