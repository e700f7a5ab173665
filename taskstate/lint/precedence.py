"""Leaves out the findings that only follow from another one in the same file: one fault, one finding.

A rule sees to this itself where it can tell from the text (`Facts.values` leaves out what breaks its schema). What it
cannot know is what other rules have found; that is written down here. A rule that was not selected explains nothing.
"""

from __future__ import annotations

from collections import Counter

from taskstate.lint.diagnostics import ERROR, WARNING
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.lint.diagnostics import Diagnostic


class _Follows(NamedTuple):
    """A finding of `code` (with `severity`, if given) follows from errors, or from `warnings` too, with these codes.

    With `same_place` only a finding that begins where it does explains it.
    """

    code: str
    causes: tuple[str, ...]
    severity: str = ""
    warnings: tuple[str, ...] = ()
    same_place: bool = False

    def is_cause(self, diagnostic: Diagnostic) -> bool:
        """Return whether others may follow from a finding."""
        is_error = diagnostic.severity == ERROR and diagnostic.code.startswith(self.causes)
        return is_error or diagnostic.code.startswith(self.warnings)

    def place_of(self, diagnostic: Diagnostic) -> int:
        """Return what a finding and its cause have in common: where they begin, if that matters."""
        return diagnostic.span.start if self.same_place else 0

    def may_follow(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding is one that may follow from others."""
        return diagnostic.code.startswith(self.code) and self.severity in {"", diagnostic.severity}

    def explains(self, diagnostic: Diagnostic, causes: Counter[int]) -> bool:
        """Return whether a finding follows from one of the causes, which are counted by place; not from itself."""
        return self.may_follow(diagnostic) and causes[self.place_of(diagnostic)] > self.is_cause(diagnostic)


# Because of these the sessions cannot be counted, or are not those that were counted.
_SESSIONS = (
    "TS003",
    "TS004",
    "TS005",
    "TS006",
    "TS007",
    "TS201",
    "TS203",
    "TS207",
    "TS209",
    "TS3",
    "TS4",
    "TS6",
    "TS95",
)

_TABLE = (
    # Counts and percentages are derived: whoever mends the text by a command has them put right.
    _Follows("TS105", _SESSIONS, warnings=("TS204", "TS4", "TS504"), severity=WARNING),
    _Follows("TS105", _SESSIONS, severity=ERROR),
    _Follows("TS304", ("TS301", "TS302", "TS303", "TS305", "TS902"), warnings=("TS311",)),
    _Follows("TS306", ("TS307",)),
    # Which id it had is known where it was committed.
    _Follows("TS302", ("TS305",), same_place=True),
    _Follows("TS308", ("TS302",)),
    _Follows("TS408", ("TS3",), warnings=("TS301", "TS306", "TS308", "TS311", "TS410")),
    # The title line names the task, so it differs where the id does.
    _Follows("TS206", ("TS008",)),
    # Whose the archive is, is not known then.
    _Follows("TS407", ("TS008",)),
    # A heading that is known to be meant as another one is neither a section of its own nor a second title.
    _Follows("TS204", ("TS201", "TS209", "TS411"), same_place=True),
    _Follows("TS206", ("TS411",), same_place=True),
    # A session that stands elsewhere may fill a gap.
    _Follows("TS402", ("TS411",), severity=WARNING),
    # A gap is where a session is gone; times fall where numbers do.
    _Follows("TS402", ("TS402", "TS405", "TS407"), severity=WARNING),
    _Follows("TS402", ("TS407",)),
    _Follows("TS403", ("TS402",), severity=WARNING),
    # A time that is none in UTC may be in the future because of that.
    _Follows("TS412", ("TS403",), same_place=True),
    # A heading that Markdown does not see leaves a gap.
    _Follows("TS402", ("TS401",), severity=WARNING),
    _Follows("TS404", ("TS405",), same_place=True),
    # The title and what section 1 lacks are sealed with it; what stands twice in it is no part of what was sealed.
    _Follows("TS601", ("TS203", "TS206")),
    _Follows("TS208", ("TS601",)),
    # What has both sessions has each label twice.
    _Follows("TS404", ("TS401", "TS411"), severity=WARNING),
    _Follows("TS407", ("TS952",), same_place=True),
    # Where a batch ends is not known then.
    _Follows("TS413", ("TS407",)),
    # A block that was edited by hand says what no command would have written.
    _Follows("TS701", ("TS606",)),
    _Follows("TS702", ("TS606",)),
    _Follows("TS807", ("TS606",)),
    _Follows("TS703", ("TS606",)),
    _Follows("TS907", ("TS2", "TS606", "TS901"), warnings=("TS2",)),
    # Of what stands twice the first one is read; it may be the empty one, or none that was committed.
    *(_Follows(code, ("TS203",)) for code in ("TS208", "TS301", "TS307", "TS312")),
    # Which phases there were is known when the fences are right.
    _Follows("TS307", ("TS301",)),
    # A part that stands as a section takes what is below it out of the section that it belongs to.
    *(_Follows(code, ("TS204",)) for code in ("TS208", "TS307", "TS405", "TS407", "TS901", "TSP09")),
    # A comment or a fence that goes on too far swallows what stands below it.
    _Follows("TS404", ("TS207",)),
    _Follows("TS405", ("TS207",)),
    _Follows("TS207", ("TS005", "TS301")),
    _Follows("TS305", ("TS005",)),
    _Follows("TS307", ("TS005",)),
    _Follows("TS503", ("TS005", "TS301")),
    # What is wrong is mended before it is given a version; which decision is which must be known first.
    _Follows(
        "TSP07",
        ("TS0", "TS1", "TS2", "TSP01", "TSP02", "TSP03", "TSP04", "TSP09"),
        warnings=("TSP01",),
    ),
    _Follows("TSP04", ("TSP09",)),
    # What is wrong with an accepted document may be the edit.
    _Follows("TS808", ("TS801", "TS802", "TS803", "TS804")),
    # A key with another name is not gone.
    _Follows("TS108", ("TS102",)),
    _Follows("TS311", ("TS301",)),
    _Follows("TS906", ("TS107", "TS901")),
)


def without_consequences(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings but for those that follow from another one; causes are counted once for all findings."""
    found = list(diagnostics)
    if len(found) == 1:
        return found
    samples = {(each.code, each.severity): each for each in found}.values()  # thousands may be of one kind
    rows = [
        (row, Counter(row.place_of(each) for each in found if row.is_cause(each)))
        for row in _TABLE
        if any(map(row.may_follow, samples)) and any(map(row.is_cause, samples))
    ]
    return [each for each in found if not any(row.explains(each, causes) for row, causes in rows)] if rows else found
