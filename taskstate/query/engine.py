"""The one module that knows DuckDB: fills an index, opens one behind locks, and runs one statement on it.

A statement may be a stranger's. Whoever runs it can read the tables and nothing else: no file, no network, no setting;
the memory and the time that it takes are bounded. That it is a question is decided by DuckDB's own parser.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from itertools import chain, count
from math import ceil

from taskstate.errors import TaskstateError
from taskstate.query import tables
from taskstate.storage import installed
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, TypeAlias

    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    _Fetched: TypeAlias = tuple[list[Any], list[tuple[Any, ...]]]

# What reaches beyond the tables is off: files, the network, extensions, variables of this program.
_LOCK = """
SET TimeZone = 'UTC'; SET autoinstall_known_extensions = false; SET autoload_known_extensions = false;
SET allow_community_extensions = false; SET allow_persistent_secrets = false; SET python_enable_replacements = false;
SET enable_external_access = false; SET lock_configuration = true
"""
# Types that become texts in Parquet: there is nothing else in a column, or Parquet has another form of it or none.
_AS_TEXT = r"\A\"NULL\"\Z|\b(?:BIGNUM|BIT|BLOB|INTERVAL|JSON|VARIANT)\b"
_CAUSE = r"(?s)\A[A-Za-z ]*Error: (.*?)(?:\n\nLINE \d+:.*|\nLINE \d+:.*)?\Z"
_LONGEST_CAUSE = 300
_BATCH = 64  # rows that are fetched at a time: what they hold is Python's, and DuckDB does not count it
_CELL = 64  # bytes that a value takes besides its text, about
_LISTEN = 0.2  # seconds between two looks for a signal: one that comes as a wait begins does not end that


class Bounds(NamedTuple):
    """What a question may take: memory in MB, threads (0: one a core), and seconds (0: as many as it takes)."""

    memory_mb: int
    threads: int
    seconds: float = 0

    @property
    def room(self) -> int:
        """The memory in bytes: a stranger's configuration gets no more than half of what the machine has."""
        return min(self.memory_mb * 2**20, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)

    @property
    def settings(self) -> dict[str, int | str]:
        """Memory and threads as settings of DuckDB."""
        return {"memory_limit": f"{self.room}B"} | ({"threads": self.threads} if self.threads else {})


class Answer(NamedTuple):
    """What a question gave: the names and types of its columns, its rows, and whether more were left out."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool = False


def require_installed(command: str = "query") -> None:
    """Refuse where the extra is missing.

    Raises:
        TaskstateError: code "missing-extra".
    """
    if installed.lacks("query"):
        message = f"`taskstate {command}` needs the package duckdb"
        raise TaskstateError(message, help=f"run `{installed.adding('query')}`", code="missing-extra")


@contextmanager
def filling(path: Path | str, **more: int | str) -> Iterator[DuckDBPyConnection]:
    """Yield a connection that may read and write files of ours, for statements of ours alone; `more` are settings.

    Raises:
        TaskstateError: code "disk-full": an index cannot be written.
    """
    import duckdb

    try:
        with _connect(path, **more) as connection:
            yield connection
    except duckdb.IOException as error:
        help_ = "free some space if the disk is full, then run this again"
        raise TaskstateError(f"cannot make the index: {_cause(error)}", help=help_, code="disk-full") from error


def reading(path: Path) -> DuckDBPyConnection:
    """Return a connection to an index for a look of ours at it, for which no threads are started."""
    return _connect(path, access_mode="READ_ONLY", threads=1)


def _connect(path: Path | str, **more: int | str) -> DuckDBPyConnection:
    """Return a connection that fills no disk: what needs more memory than it may take fails."""
    import duckdb

    connection = duckdb.connect(str(path), config={"temp_directory": "", **more})
    connection.execute("SET enable_progress_bar = false")  # on standard output, where Python was started with `-c`
    return connection


def is_unicode(text: str) -> bool:
    """Return whether a text is what DuckDB takes as text and path: some names of files are not."""
    return text.encode("utf-8", "replace").decode() == text


def error() -> type[Exception]:
    """Return what DuckDB raises, also where a file is no index."""
    import duckdb

    return duckdb.Error


def load(connection: DuckDBPyConnection, name: str, path: Path, columns: Mapping[str, str], into: str = "") -> None:
    """Add the rows of a file of NDJSON to a table."""
    read_json(connection, path, columns).insert_into(f"{into}{name}")


def read_json(connection: DuckDBPyConnection, path: Path, columns: Mapping[str, str]) -> DuckDBPyRelation:
    """Return the rows of a file of NDJSON."""
    return connection.read_json(str(path), format="newline_delimited", columns=dict(columns))


def is_copied(connection: DuckDBPyConnection, old: Path, names: Iterable[str], without: list[str]) -> bool:
    """Add the rows of another index but for those of some paths; none, and return False, where it is damaged."""
    import duckdb

    connection.begin()
    try:
        connection.execute(f"ATTACH {_quoted(old)} AS old (READ_ONLY)")
        for name in names:
            kept = f"FROM old.{name} WHERE path NOT IN (SELECT unnest($without::VARCHAR[]))"
            connection.execute(f"INSERT INTO {name} {kept}", {"without": without})
    except duckdb.Error:  # a full disk is told when the files are read
        connection.rollback()
        return False
    connection.commit()
    return True


@contextmanager
def locked(path: Path, bounds: Bounds, more: Mapping[str, Path]) -> Iterator[DuckDBPyConnection]:
    """Yield a connection to an index that can only be asked; `more` has tables that are not in it, as NDJSON.

    Raises:
        TaskstateError: code "usage": the further tables need more memory than a question may take; code "unreadable":
            somebody has just deleted the index.
    """
    import duckdb

    try:
        with _connect(path, access_mode="READ_ONLY", **bounds.settings) as connection:
            for name, file in more.items():
                connection.execute(tables.create(name).replace("CREATE", "CREATE TEMP", 1))
                load(connection, name, file, tables.types(name), "temp.")
            connection.execute(_LOCK)
            yield connection
    except duckdb.Error as error:
        raise refused(error) from error


@contextmanager
def locked_parquet(folder: Path, found: Mapping[str, Sequence[Path]], bounds: Bounds) -> Iterator[DuckDBPyConnection]:
    """Yield a connection that can only be asked, to tables whose rows stand in Parquet files below a folder.

    Raises:
        TaskstateError: code "usage" or "unreadable": a file is damaged or lost.
    """
    import duckdb

    with _connect(":memory:", **bounds.settings) as connection:
        try:
            for name in tables.tables():
                files = ", ".join(map(_quoted, found.get(name, ())))
                view = f"CREATE VIEW {name} AS FROM read_parquet([{files}])"
                connection.execute(view if files else tables.create(name))
        except duckdb.Error as error:
            help_ = "`taskstate fleet status --verify` looks at all files"
            raise TaskstateError(f"the index cannot be read: {_cause(error)}", help=help_, code="usage") from error
        connection.execute(f"SET allowed_directories = [{_quoted(folder)}]")
        connection.execute(_LOCK)
        try:
            yield connection
        except TaskstateError as error:
            if error.code == "unreadable":
                error.help = "run it again; `taskstate fleet status --verify` looks at all files"
            raise


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def version() -> str:
    """Return the version of DuckDB, on which the bytes of Parquet depend."""
    import duckdb

    return str(duckdb.__version__)


class TableRows(NamedTuple):
    """Rows of a table, by its columns: new ones as NDJSON, and those that a Parquet file has of some repositories."""

    columns: Mapping[str, str]
    new: Path
    old: Path | None
    kept: Sequence[str]


def sorted_parquet(rows: TableRows, made: Path, memory_mb: int) -> int:
    """Write rows as Parquet, in an order that depends on nothing but them, and return how many; none make no file.

    Raises:
        TaskstateError: code "disk-full".
        MemoryError: they need more memory than is given.
    """
    import duckdb

    try:
        return _sorted_parquet(rows, made, memory_mb)
    except duckdb.OutOfMemoryException as error:
        raise MemoryError from error


def _sorted_parquet(rows: TableRows, made: Path, memory_mb: int) -> int:
    with filling(":memory:", threads=1, memory_limit=f"{memory_mb}MiB") as connection:
        connection.execute("CREATE TABLE kept AS SELECT unnest($kept::VARCHAR[]) AS repo", {"kept": [*rows.kept]})
        # Also where none are new: DuckDB writes other bytes for a column of which it knows that it has no NULL.
        whole = read_json(connection, rows.new, rows.columns)
        if rows.old:
            whole = whole.union(connection.sql(f"FROM read_parquet({_quoted(rows.old)}) SEMI JOIN kept USING (repo)"))
        order = ", ".join(f'"{name}" NULLS FIRST' for name in rows.columns)
        count = len(whole)
        if count:
            whole.order(order).write_parquet(str(made), compression="zstd")
        return count


def ask(
    connection: DuckDBPyConnection, sql: str, given: Mapping[str, object], bounds: Bounds, *, most: int = 0
) -> Answer:
    """Run one statement, and return at most so many rows of its answer (0: all).

    Raises:
        TaskstateError: code "usage": it is no question, or DuckDB refuses it, or it takes too long or too much.
    """
    import duckdb

    if not all(is_unicode(str(each)) for each in (sql, *given.values())):
        raise TaskstateError("the SQL, or a --param, is not UTF-8", help="convert it to UTF-8", code="usage")
    try:
        statement = _question(connection, sql)
        _require_parameters(statement.named_parameters, given)
        columns, rows = _run(connection, lambda: _fetched(connection.execute(statement, given), bounds, most), bounds)
    except (duckdb.Error, OverflowError) as error:  # the second: Python has no such time
        raise refused(error) from error
    names = _distinct(str(each[0]) for each in columns)
    return Answer(names, tuple(str(each[1]) for each in columns), rows[: most or None], bool(most) and len(rows) > most)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns, of which no two are the same: JSON and Parquet would lose one."""
    found: list[str] = []
    for name in names:
        others = (f"{name}_{number}" for number in count(1))
        found.append(next(new for new in chain([name], others) if new not in found))
    return tuple(found)


def _fetched(done: DuckDBPyConnection, bounds: Bounds, most: int) -> _Fetched:
    """Return the columns and rows of an answer, of which one more than `most` is enough.

    Raises:
        TaskstateError: code "usage": they take more memory than a question may.
    """
    rows: list[tuple[Any, ...]] = []
    room = bounds.room
    while batch := done.fetchmany(min(_BATCH, most + 1 - len(rows)) if most else _BATCH):
        room -= sum(len(repr(row)) + _CELL * len(row) for row in batch)
        if room < 0:
            raise _too_large()
        rows += batch
    return done.description or [], rows


def _run(connection: DuckDBPyConnection, question: Callable[[], _Fetched], bounds: Bounds) -> _Fetched:
    """Run a question in a thread of its own: Ctrl-C does not reach DuckDB, and would be seen only when it is done.

    Raises:
        TaskstateError: code "usage": it took too long.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(question)
        try:
            for _ in range(ceil(bounds.seconds / _LISTEN)) if bounds.seconds else count():
                if wait((asked,), _LISTEN).done:
                    return asked.result()
            message = f"the question took longer than {bounds.seconds:g} s"
            raise TaskstateError(message, help="ask for less, or give a larger --timeout", code="usage")
        finally:
            while not asked.done():  # more than once: DuckDB forgets one that comes before it has begun
                connection.interrupt()
                wait((asked,), _LISTEN)


def parquet(answer: Answer, rows: Path, made: Path) -> None:
    """Write an answer, which stands in a file of NDJSON, as Parquet.

    Raises:
        TaskstateError: code "usage": Parquet has no such type; code "disk-full".
    """
    import duckdb

    types = ("VARCHAR" if re.search(_AS_TEXT, type_) else type_ for type_ in answer.types)
    columns = dict(zip(answer.columns, types, strict=True))
    with filling(":memory:") as connection:
        try:
            read_json(connection, rows, columns).write_parquet(str(made), compression="zstd")
        except duckdb.IOException:
            raise
        except duckdb.Error as error:
            message = "Parquet has no form for a value of this answer"
            help_ = "cast its columns, such as `x::VARCHAR`, or give another --output-format"
            raise TaskstateError(message, help=help_, code="usage") from error


def _question(connection: DuckDBPyConnection, sql: str) -> Any:  # noqa: ANN401 - DuckDB's own type is not exported
    """Return the one statement of a text, which must ask and not do."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        what = "no statement" if not statements else f"{len(statements)} statements"
        raise TaskstateError(f"this SQL has {what}", help="give exactly one SELECT", code="usage")
    kind = statements[0].type.name
    if kind not in {"SELECT", "EXPLAIN"}:
        help_ = "an index can only be asked: begin with SELECT, FROM, WITH or EXPLAIN"
        raise TaskstateError(f"a statement of kind {kind} is not a question", help=help_, code="usage")
    return statements[0]


def _require_parameters(wanted: Sequence[str], given: Mapping[str, object]) -> None:
    for name in sorted(set(wanted) - set(given)):
        raise TaskstateError(f"the SQL needs ${name}", help=f"give it: `--param {name}=VALUE`", code="usage")
    for name in sorted(set(given) - set(wanted)):
        raise TaskstateError(f"the SQL has no ${name}", help=f"leave out `--param {name}=…`", code="usage")


def refused(error: Exception) -> TaskstateError:
    """Return what DuckDB says in one line, with what to do about it."""
    import duckdb

    if isinstance(error, duckdb.OutOfMemoryException):
        return _too_large()
    if isinstance(error, duckdb.PermissionException):
        message = "SQL can read the tables of the index, and no file"
        return TaskstateError(message, help="`taskstate query --schema` lists the tables", code="usage")
    # A file that is gone, or a checksum that is wrong: what SQL does has a class of its own.
    if type(error) in {duckdb.Error, duckdb.IOException}:
        help_ = "`taskstate query --rebuild` makes it again"
        return TaskstateError(f"the index cannot be read: {_cause(error)}", help=help_, code="unreadable")
    help_ = "`taskstate query --schema` lists tables and columns"
    return TaskstateError(f"the SQL is refused: {_cause(error)}", help=help_, code="usage")


def _too_large() -> TaskstateError:
    help_ = "ask for less, or set `memory-mb` of `[query]` in the configuration higher, up to half of the machine's"
    return TaskstateError("the question needs more memory than it may take", help=help_, code="usage")


def _cause(error: Exception) -> str:
    found = re.match(_CAUSE, str(error))
    return one_line(found[1] if found else str(error))[:_LONGEST_CAUSE]
