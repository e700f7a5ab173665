"""The findings on the roles of a task: what a role has to mend or answer, and how the file holds it. Pure.

Findings are numbered once for all in a task, over all roles; a number is never used again. A finding that is cleared
leaves the block of its role and stands in the events, but the one with the highest number stays as a mere number with
the time, so that the next number can always be told. A file may also have texts without numbers in
`blocking_findings`: those get the numbers after the highest, in the order of the file, and are written so by the next
write of the block.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEY, OLDER_KEY = "findings", "blocking_findings"


class Finding(NamedTuple):
    """One finding: its number in the task, who raised it, its text, and the answer of the role that it is about."""

    number: int
    by: str | None
    text: str
    answer: str | None
    cleared_at: str | None

    @property
    def is_cleared(self) -> bool:
        """Whether nothing but the number is left of it."""
        return self.cleared_at is not None

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer."""
        return not self.is_cleared and self.answer is None

    def __str__(self) -> str:
        """Return number, text and answer in one line."""
        return f"{self.number}. {self.text}" + (f" (answered: {self.answer})" if self.answer else "")

    def values(self) -> dict[str, object]:
        """Return the finding as a front matter holds it, without what is not there."""
        values = {
            "id": self.number,
            "by": self.by,
            "text": self.text or None,
            "answer": self.answer,
            "cleared_at": self.cleared_at,
        }
        return {key: value for key, value in values.items() if value is not None}


def read_findings(coordination: Mapping[str, object], above: int = 0) -> dict[str, tuple[Finding, ...]]:
    """Return the findings of each role of the block `coordination`; `above` is the highest number that events name."""
    roles = {name: each for name, each in coordination.items() if isinstance(each, dict)}
    numbered = {name: tuple(_numbered(each)) for name, each in roles.items()}
    last = max((above, *(each.number for findings in numbered.values() for each in findings)))
    result = {}
    for name, values in roles.items():
        older = values.get(OLDER_KEY)
        texts = list(map(str, older)) if isinstance(older, list) else []
        added = tuple(Finding(last + at, None, text, None, None) for at, text in enumerate(texts, start=1))
        result[name] = (*numbered[name], *added)
        last += len(added)
    return result


def _numbered(values: Mapping[str, object]) -> Iterator[Finding]:
    """Yield the findings of a role that have a number; what is none of the kind counts as absent."""
    listed = values.get(KEY)
    for each in listed if isinstance(listed, list) else ():
        number = each.get("id") if isinstance(each, dict) else None
        if isinstance(number, int) and not isinstance(number, bool):
            by, text, answer, cleared_at = (
                value if isinstance(value, str) else None
                for value in (each.get(key) for key in ("by", "text", "answer", "cleared_at"))
            )
            yield Finding(number, by, text or "", answer, cleared_at)


def number_in_event(entry: object) -> int:
    """Return the number of the finding that an event is about; 0 where it is about none."""
    number = entry.get("finding") if isinstance(entry, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else 0
