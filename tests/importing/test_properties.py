"""Whatever a source holds, it is read to its end, and both counts agree: nothing crashes, hangs or gets lost."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.importing.planning.tasks import records_in
from taskstate.importing.reading.sources import Source
from taskstate.importing.records import Count, Left, Options, Record, Refused
from taskstate.importing.systems import SYSTEMS, reader_of
from tests.support.importing import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = [
    (system, path)
    for system in sorted(SYSTEMS)
    for path in sorted((CASES / system).rglob("*"))
    if path.is_file() and path.name != "expected.json"
]
PIECES = (
    b"",
    b"\0",
    b"\xff",
    b"\n",
    b"---\n",
    b"- [ ] ",
    b"```\n",
    b"{",
    b"]",
    b'"',
    b": ",
    b"<!--",
    b"#",
    b"<<<<<<< a\n",
)


def _mutations(data: bytes, seed: int) -> Iterator[bytes]:
    drawn = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(12):
        changed = bytearray(data)
        for _ in range(drawn.randint(1, 4)):
            at = drawn.randint(0, len(changed))
            changed[at : at + drawn.choice((0, 0, 1, 7, 40))] = drawn.choice(PIECES)
        yield bytes(changed)
    yield drawn.randbytes(300)
    yield data[: len(data) // 2]


@pytest.mark.parametrize(("system", "path"), FILES, ids=[path.relative_to(CASES).as_posix() for _, path in FILES])
def test_whatever_is_changed_in_a_file_is_counted(system: str, path: Path, tmp_path: Path) -> None:
    """It is read, or refused as a whole; each record that the reader counts is one that it yields."""
    target = tmp_path / path.name
    for data in _mutations(path.read_bytes(), len(path.name)):
        target.write_bytes(data)
        try:
            found = [*reader_of(system)(Source(((path.name, target),)), Options(split=len(data) % 2 == 0))]
        except TaskstateError:
            continue  # the file is one value, and is refused as a whole
        parts = SYSTEMS[system].parts
        made = sum(records_in(each, parts) for each in found if isinstance(each, Record))
        made += sum(each.records for each in found if isinstance(each, Left | Refused))
        assert sum(each.number for each in found if isinstance(each, Count)) == made
