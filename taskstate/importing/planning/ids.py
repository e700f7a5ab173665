"""Gives records their ids here: kept if they are ids, made from names else, and never those of other tasks."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from functools import partial
from itertools import count

from taskstate.model import names
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.importing.planning.tasks import Known, Said
    from taskstate.importing.records import Record

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
    """The ids of a run: those that tasks of the source have here already, and those that its records get."""

    def __init__(self, said: Said, here: Sequence[Known]) -> None:
        self.said, self.rules = said, said.rules
        self.known = {each.source_id: each for each in here if each.system == self.rules.system}
        self._taken = {each.id.casefold() for each in here}
        self._ids = {each.source_id: each.id for each in self.known.values()}

    def resolved(self, text: str) -> str:
        """Return the id here for one of the source; empty for one that is not among its tasks."""
        return self._ids.get(text) or self._ids.get(own_id(text)) or ""

    def given(self, records: Iterable[Record]) -> list[tuple[Record, str]]:
        """Return records with their ids; one whose id is none, or that of another, is refused or an identical copy."""
        found: dict[str, Record] = {}
        numbers: defaultdict[str, Iterator[int]] = defaultdict(partial(count, 2))
        pairs: list[tuple[Record, str]] = []
        for record in records:
            new = wanted = self.rules.map.ids.get(record.id) or own_id(record.id)
            if not wanted:
                self.said.refuse(record, "bad-id", f"{printable(record.id)[:_STEM]!r} cannot be an id")
                continue
            other = found.get(wanted.casefold())
            if other and record.is_archived and not _are_same(other, record):
                new = f"{wanted}-archived"
                other = found.get(new.casefold())
            if other and _are_same(other, record):
                self.said.leave(record, "identical-copy")
                continue
            while other and self.rules.rename:
                new = f"{wanted}-{next(numbers[wanted])}"
                other = found.get(new.casefold())
            if other:
                why = f"{other.place} has the id {record.id} too: `--duplicates rename` gives this one another"
                self.said.refuse(record, "duplicate-id", why)
                continue
            found[new.casefold()] = record
            pairs.append((record, new))
        return self._prefixed(pairs)

    def _prefixed(self, pairs: list[tuple[Record, str]]) -> list[tuple[Record, str]]:
        """Return records with the ids that they keep here: with a prefix, if one of them is another task's."""
        keys = [self._key(*pair) for pair in pairs]
        new = (task_id for (_, task_id), key in zip(pairs, keys, strict=True) if key not in self.known)
        clash = next((each for each in new if each.casefold() in self._taken), "")
        prefix = self.rules.prefix
        if clash and not prefix:
            prefix = f"{self.rules.system}-"
            why = f"task {clash} is here and came from elsewhere: all new ids begin with {prefix}"
            self.said.tell("prefixed", why)
        result: list[tuple[Record, str]] = []
        renamed: list[str] = []
        for (record, task_id), key in zip(pairs, keys, strict=True):
            known = self.known.get(key)
            final = known.id if known else f"{prefix}{task_id}"
            if not names.is_id(final) or (not known and final.casefold() in self._taken):
                why = f"task {final} is here and came from elsewhere: `--prefix` gives another name"
                self.said.refuse(record, "exists", why)
                continue
            result.append((record._replace(id=key), final))
            self._ids.setdefault(record.id, final)
            renamed += [f"{printable(record.id)} is {final}"] if final != record.id else []
        if renamed:
            self.said.tell("id-renamed", f"{len(renamed)} ids are others here: {', '.join(renamed[:_SHOWN])}")
        return result

    def _key(self, record: Record, task_id: str) -> str:
        """Return by which id of the source a task remembers what it came from: one that was given again has its own."""
        return record.id if task_id in {own_id(record.id), self.rules.map.ids.get(record.id)} else task_id


def _are_same(other: Record, record: Record) -> bool:
    return (other.said, other.title) == (record.said, record.title)
