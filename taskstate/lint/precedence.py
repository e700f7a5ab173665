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
    "TS9",
    "TS101",
    "TS102",
    "TS103",
)

_TABLE = (
    # Counts and percentages are derived: whoever mends the text by a command has them put right.
    _Follows("TS105", _SESSIONS, warnings=("TS204", "TS4", "TS504", "TS9"), severity=WARNING),
    _Follows("TS105", _SESSIONS, severity=ERROR),
    _Follows("TS304", ("TS301", "TS302", "TS303", "TS305", "TS308", "TS902"), warnings=("TS308", "TS311")),
    _Follows("TS306", ("TS307",)),
    _Follows("TS309", ("TS307",)),
    # Which id it had is known where it was committed.
    _Follows("TS302", ("TS305",), same_place=True),
    _Follows("TS308", ("TS302", "TS901")),
    _Follows("TS408", ("TS3", "TS412"), warnings=("TS301", "TS306", "TS308", "TS311", "TS410")),
    # The title line names the task, so it differs where the id does.
    _Follows("TS206", ("TS008",)),
    _Follows("TS008", ("TS103",), same_place=True),
    # Whose the archive is, is not known then.
    _Follows("TS407", ("TS008",)),
    # A heading that is known to be meant as another one is neither a section of its own nor a second title.
    _Follows("TS204", ("TS201", "TS209", "TS411"), same_place=True),
    _Follows("TS205", (), warnings=("TS204",), same_place=True),
    _Follows("TS206", ("TS411",), same_place=True),
    # Where the file is no state file as a whole, or stands in it twice, that is the fault.
    *(_Follows(code, ("TS002",)) for code in ("TS004", "TS201", "TS207")),
    _Follows("TS204", ("TS203",)),
    # A session that stands elsewhere may fill a gap.
    _Follows("TS402", ("TS411",), severity=WARNING),
    # A gap is where a session is gone; times fall where numbers do.
    _Follows("TS402", ("TS402", "TS405", "TS407"), severity=WARNING),
    _Follows("TS402", ("TS407",)),
    _Follows("TS403", ("TS103", "TS402"), severity=WARNING, warnings=("TS104",)),
    # Which status is right says the one that was committed.
    *(_Follows(code, ("TS107",)) for code in ("TS406", "TS414")),
    # What has lost its box is not gone.
    _Follows("TS312", ("TS208", "TS310", "TS906")),
    # A time that is none in UTC may be in the future because of that.
    _Follows("TS412", ("TS403",), same_place=True),
    # A heading that Markdown does not see leaves a gap.
    _Follows("TS402", ("TS401",), severity=WARNING),
    _Follows("TS404", ("TS405",), same_place=True),
    _Follows("TS403", ("TS405",), same_place=True),
    *(_Follows(code, ("TS405",)) for code in ("TS406", "TS410")),
    # The title and what section 1 lacks are sealed with it; what stands twice in it is no part of what was sealed.
    _Follows("TS601", ("TS101", "TS102", "TS203", "TS206")),
    _Follows("TS208", ("TS601",)),
    # What has both sessions has each label twice.
    _Follows("TS404", ("TS401", "TS411"), severity=WARNING),
    _Follows("TS407", ("TS952",), same_place=True),
    # Where a batch ends is not known then.
    _Follows("TS413", ("TS407",)),
    # A block that was edited by hand says what no command would have written.
    *(_Follows(code, ("TS606",)) for code in ("TS701", "TS702", "TS703", "TS807", "TS906")),
    _Follows("TS606", ("TS103",)),
    _Follows("TS907", ("TS101", "TS2", "TS606", "TS901"), warnings=("TS2",)),
    # Of what stands twice the first one is read; it may be the empty one, or none that was committed.
    *(_Follows(code, ("TS203",)) for code in ("TS208", "TS301", "TS307", "TS312", "TS904")),
    # What a heading without its marks leaves belongs to the part above it.
    *(_Follows(code, ("TS205",)) for code in ("TS301", "TS307", "TS407", "TS601", "TS907", "TSP03")),
    *(_Follows(code, ("TS205",), same_place=True) for code in ("TS206", "TS401")),
    # Which phases there were is known when the fences are right.
    _Follows("TS307", ("TS301",)),
    # A part that stands as a section takes what is below it out of the section that it belongs to.
    *(_Follows(code, ("TS204",)) for code in ("TS208", "TS307", "TS405", "TS407", "TS901", "TSP09")),
    # A comment or a fence that goes on too far swallows what stands below it.
    _Follows("TS404", ("TS207",)),
    # Of a file that was cut off the end is missing, with the sessions in it.
    _Follows("TS405", ("TS201", "TS207")),
    _Follows("TS207", ("TS005", "TS301")),
    _Follows("TS305", ("TS005",)),
    _Follows("TS307", ("TS005",)),
    _Follows("TS503", ("TS005", "TS301")),
    # What is wrong is mended before it is given a version; which decision is which must be known first.
    _Follows(
        "TSP07",
        ("TS0", "TS1", "TS2", "TS607", "TSP01", "TSP02", "TSP03", "TSP04", "TSP09"),
        warnings=("TSP01",),
    ),
    _Follows("TSP04", ("TSP09",)),
    _Follows("TSP05", ("TS606",)),
    _Follows("TSP02", ("TSP01",)),
    # What leads out of the repository matches none of its files.
    _Follows("TSP01", ("TS952",), same_place=True, severity=WARNING),
    _Follows("TS210", ("TSP01",), same_place=True),
    # The id of a file whose name is malformed; a seal whose committed value is known.
    _Follows("TS101", ("TS008",)),
    _Follows("TS101", ("TS607",), same_place=True),
    # What is wrong with an accepted document may be the edit.
    _Follows("TS808", ("TS008", "TS1", "TS801", "TS802", "TS803", "TS804")),
    # A key with another name is not gone.
    *(_Follows(code, ("TS102",)) for code in ("TS108", "TS607")),
    _Follows("TS311", ("TS301",)),
    _Follows("TS906", ("TS107", "TS901", "TS907")),
    _Follows("TS904", (), warnings=("TS903",), same_place=True),
    # What the task depends on is not known then.
    _Follows("TS903", ("TS00", "TS101", "TS102", "TS207", "TS902", "TS905")),
)


def _without_seal(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings without that of the tool's seal where another one says what is wrong in the line.

    What a hand has written there nobody can mend by another value: it is taken back.
    """
    seal = next((each for each in found if each.code == "TS606"), None)
    inside = [
        each for each in found if seal and seal.span.start <= each.span.start < seal.span.end and each is not seal
    ]
    if seal is None or not inside:
        return found
    cure = seal.help.partition(", or accept")[0]
    taken_back = (each._replace(help=cure, fix=None, severity=ERROR) if each in inside else each for each in found)
    return [each for each in taken_back if each is not seal]


def without_consequences(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings but for those that follow from another one; causes are counted once for all findings."""
    found = _without_seal(list(diagnostics))
    if len(found) == 1:
        return found
    samples = {(each.code, each.severity): each for each in found}.values()  # thousands may be of one kind
    rows = [
        (row, Counter(row.place_of(each) for each in found if row.is_cause(each)))
        for row in _TABLE
        if any(map(row.may_follow, samples)) and any(map(row.is_cause, samples))
    ]
    return [each for each in found if not any(row.explains(each, causes) for row, causes in rows)] if rows else found
