"""Looks through an index for what is damaged, lost or there twice."""

from __future__ import annotations

from taskstate.fleet import manifest, parts
from taskstate.query import engine, tables
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.fleet.manifest import Manifest
    from taskstate.model.config import Query

_COUNTS = "SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT {key} FROM {name})) FROM {name}"
_FILES = """
SELECT repo, repos.files, count(path) FROM repos LEFT JOIN files USING (repo) GROUP BY ALL
HAVING repos.files <> count(path) ORDER BY repo LIMIT 20
"""


def wrong(out: Path, newest: Manifest, bounds: Query) -> list[str]:
    """Return what is wrong with an index, a line each: bytes, numbers of rows, rows that are there twice.

    Raises:
        TaskstateError: a part is lost.
    """
    dones = manifest.dones(out, newest)
    damaged = [
        f"the part {name} is not as it was written: delete its folder, and index the same sources again"
        for name, done in zip(newest.parts, dones, strict=True)
        if not parts.is_intact(out / parts.FOLDER / name, done)
    ]
    return damaged or [*_miscounted(out, newest, bounds)]


def _miscounted(out: Path, newest: Manifest, bounds: Query) -> Iterator[str]:
    limits = engine.Bounds(bounds.memory_mb, bounds.threads)
    with manifest.asking(str(out), limits) as connection:
        for name, table in tables.tables().items():
            sql = _COUNTS.format(key=", ".join(f'"{column}"' for column in table.key), name=name)
            ((rows, keys),) = engine.ask(connection, sql, {}, limits).rows
            if rows != keys:
                yield f"{rows - keys} rows of {name} are there twice"
            if rows != newest.rows.get(name, 0):
                yield f"{name} has {rows} rows, and the manifest says {newest.rows.get(name, 0)}"
        for repo, listed, there in engine.ask(connection, _FILES, {}, limits).rows:
            yield f"{repo!r} has {listed} files, and {there} rows of them"
