"""Gives records their ids here: kept if they are ids, made from names else, and never those of other tasks."""

from __future__ import annotations

import hashlib
import re

from taskstate.importing.planning.tasks import records_in
from taskstate.importing.records import Left, Record, Refused, Told
from taskstate.model import names
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.importing.planning.tasks import Known, Rules

_STEM, _HASH = 48, 8
_SHOWN = 20


def own_id(text: str) -> str:
    """Return an id of the source as one of ours; empty for one that nobody types by accident."""
    text = text.strip()
    if not text or not text.isprintable() or any(each in text for each in ("/", "\\", "..")):
        return ""
    if names.is_id(text):
        return text
    bare = re.sub(r"(?i)^(?:task-)+", "", text)
    bare = re.sub(r"[^A-Za-z0-9._]+", "-", bare)
    bare = re.sub(r"[._-]*-[._-]*|([._])[._]+", lambda match: match[1] or "-", bare).strip("._-")
    bare = re.sub(r"(?i)^(?:task-)+", "", bare)
    if len(bare) > names.MAX_ID:
        number = re.match(r"\d+(?=[._-])", bare)
        digits = hashlib.sha256(text.encode()).hexdigest()[:_HASH]
        bare = number[0] if number else f"{bare[:_STEM].strip('._-')}-{digits}"
    return bare if names.is_id(bare) else ""


class Ids:
    """The ids of a run: those that tasks of the source have here already, and those that its records get.

    `told`, `left` and `refused` are what is said of the others.
    """

    def __init__(self, rules: Rules, here: Sequence[Known]) -> None:
        self.rules, self.here = rules, here
        self.known = {each.source_id: each for each in here if each.system == rules.system}
        self.left: list[Left] = []
        self.refused: list[Refused] = []
        self.told: list[Told] = []
        self._ids: dict[str, str] = {each.source_id: each.id for each in self.known.values()}

    def resolved(self, text: str) -> str:
        """Return the id here for one of the source; empty for one that is not among its tasks."""
        return self._ids.get(text) or self._ids.get(own_id(text)) or ""

    def given(self, records: Iterable[Record]) -> list[tuple[Record, str]]:
        """Return records with their ids; one whose id is none, or that of another, is refused or an identical copy."""
        found: dict[str, Record] = {}
        pairs = list[tuple[Record, str]]()
        for record in records:
            wanted = self.rules.map.ids.get(record.id) or own_id(record.id)
            if not wanted:
                why = f"{printable(record.id)[:_STEM]!r} cannot be an id"
                self._refuse(record, "bad-id", why)
                continue
            new = wanted
            other = found.get(new.casefold())
            if other and record.is_archived and not (other.said == record.said and other.title == record.title):
                new = f"{wanted}-archived"
                other = found.get(new.casefold())
            if other and other.said == record.said and other.title == record.title:
                self.left.append(Left(record.place, record.id, "identical-copy", records_in(record, self.rules.parts)))
                continue
            number = 2
            while other and self.rules.rename:
                new = f"{wanted}-{number}"
                other, number = found.get(new.casefold()), number + 1
            if other:
                why = f"{other.place} has the id {record.id} too: `--duplicates rename` gives this one another"
                self._refuse(record, "duplicate-id", why)
                continue
            found[new.casefold()] = record
            pairs.append((record, new))
        return self._prefixed(pairs)

    def _prefixed(self, pairs: list[tuple[Record, str]]) -> list[tuple[Record, str]]:
        """Return records with the ids that they keep here: with a prefix, if one of them is another task's."""
        taken = {each.id.casefold(): each for each in self.here}
        new = [(record, task_id) for record, task_id in pairs if self.key(record, task_id) not in self.known]
        clash = next((task_id for _, task_id in new if task_id.casefold() in taken), "")
        prefix = self.rules.prefix
        if clash and not prefix:
            prefix = f"{self.rules.system}-"
            self.told.append(
                Told("prefixed", f"task {clash} is here and came from elsewhere: all new ids begin with {prefix}")
            )
        result, renamed = list[tuple[Record, str]](), list[str]()
        for record, task_id in pairs:
            known = self.known.get(self.key(record, task_id))
            final = known.id if known else f"{prefix}{task_id}"
            if not names.is_id(final) or (not known and final.casefold() in taken):
                why = f"task {final} is here and came from elsewhere: `--prefix` gives another name"
                self._refuse(record, "exists", why)
                continue
            result.append((record._replace(id=self.key(record, task_id)), final))
            self._ids.setdefault(record.id, final)
            if final != record.id:
                renamed.append(f"{printable(record.id)} is {final}")
        if renamed:
            shown = ", ".join(renamed[:_SHOWN])
            self.told.append(Told("id-renamed", f"{len(renamed)} ids are others here: {shown}"))
        return result

    def _refuse(self, record: Record, code: str, why: str) -> None:
        self.refused.append(Refused(record.place, code, why, record.id, records_in(record, self.rules.parts)))

    def key(self, record: Record, task_id: str) -> str:
        """Return by which id of the source a task remembers what it came from: one that was given again has its own."""
        return record.id if task_id in {own_id(record.id), self.rules.map.ids.get(record.id)} else task_id
