"""SQL of one's own: it reads the tables of the index, and nothing else, for a bounded time and in bounded memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from taskstate.errors import TaskstateError
from taskstate.query import engine, index
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

    from tests.cli.conftest import Cli


BOUNDS = engine.Bounds(256, 1, 30)


class Asked(NamedTuple):
    """A repository with one task and a link out of it, with its index behind the locks of the command."""

    root: Path
    connection: duckdb.DuckDBPyConnection

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of an answer."""
        return engine.ask(self.connection, sql, {}, BOUNDS).rows


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """Return an index behind locks, in whose folder the process works."""
    place = Place(tmp_path_factory.mktemp("asked") / "repository")
    (place.root / "link").symlink_to("/etc/passwd")
    with pytest.MonkeyPatch.context() as patch, index.up_to_date(place.workspace) as found:
        patch.chdir(place.root)
        with engine.locked(found.path, BOUNDS, {}) as connection:
            yield Asked(place.root, connection)


ENDLESS = "SELECT count(*) FROM range(100000000000) AS a, range(1000000) AS b WHERE a.range + b.range = -1"
LARGE = "SELECT max(length(x)) FROM (SELECT DISTINCT md5(range::VARCHAR) AS x FROM range(30000000))"
NO_FILES = "SQL can read the tables of the index, and no file"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM read_text('/etc/passwd')", NO_FILES),
        ("SELECT * FROM read_csv('../outside.csv')", NO_FILES),
        ("SELECT * FROM read_text('link')", NO_FILES),
        ("SELECT * FROM read_blob('/proc/self/environ')", NO_FILES),
        ("SELECT * FROM glob('/*')", NO_FILES),
        ("SELECT * FROM sniff_csv('taskstate.toml')", NO_FILES),
        ("SELECT * FROM read_parquet('https://example.org/x.parquet')", NO_FILES),
        ("SELECT * FROM '/etc/passwd'", "the SQL is refused"),
        ("SELECT * FROM connection", "the SQL is refused"),  # a variable of the program
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'", NO_FILES),
        ("EXPLAIN ANALYZE INSERT INTO tasks (repo) VALUES ('x')", "the SQL is refused"),
        ("WITH x AS (INSERT INTO tasks (repo) VALUES ('x') RETURNING *) FROM x", "the SQL is refused"),
        ("COPY (SELECT 1) TO 'out.csv'", "a statement of kind COPY is not a question"),
        ("COPY tasks FROM '/etc/passwd'", "a statement of kind COPY is not a question"),
        ("ATTACH 'other.duckdb'", "a statement of kind ATTACH is not a question"),
        ("INSTALL httpfs", "a statement of kind LOAD is not a question"),
        ("LOAD httpfs", "a statement of kind LOAD is not a question"),
        ("SET enable_external_access = true", "a statement of kind SET is not a question"),
        ("PRAGMA database_list", "a statement of kind PRAGMA is not a question"),
        ("CALL pragma_version()", "a statement of kind CALL is not a question"),
        ("CREATE TEMP TABLE x AS SELECT 1", "a statement of kind CREATE is not a question"),
        ("DELETE FROM tasks", "a statement of kind DELETE is not a question"),
        ("SELECT 1; SELECT 2", "this SQL has 2 statements"),
        ("SELECT 1; ATTACH 'other.duckdb'", "this SQL has 2 statements"),
        ("-- nothing", "this SQL has no statement"),
        ("SELECT * FROM task", "the SQL is refused: Table with name task does not exist"),
        ("SELEC 1", "the SQL is refused: syntax error"),
        ("SELECT 1 WHERE 1 = $days", "the SQL needs $days"),
    ],
)
def test_what_is_no_question_over_the_tables_is_refused(asked: Asked, sql: str, said: str) -> None:
    """It is one line that says so, and no file appears."""
    before = {path.name for path in asked.root.rglob("*")}
    with pytest.raises(TaskstateError) as refused:
        asked.ask(sql)
    assert said in refused.value.message
    assert refused.value.help
    assert "\n" not in str(refused.value)
    assert {path.name for path in asked.root.rglob("*")} == before


def test_refused_sql_is_one_line_of_the_command(cli: Cli) -> None:
    """The command exits with 2, and changes nothing."""
    assert NO_FILES in cli.refused("query", "--sql", "SELECT * FROM read_text('/etc/passwd')")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT task FROM tasks",
        "FROM tasks SELECT task",
        "WITH x AS (SELECT task FROM tasks) SELECT * FROM x;",
        "SELECT task FROM tasks WHERE task = $task",
        "SELECT task FROM tasks WHERE task = $Task",
        "SELECT task FROM tasks WHERE task = ?",
    ],
)
def test_a_question_of_ones_own_is_answered(cli: Cli, sql: str, tmp_path: Path) -> None:
    """On the command line, from a file and from standard input the same SQL has the same answer."""
    name = next((each for each in ("task", "Task") if f"${each}" in sql), "1")
    more = ("--param", f"{name}=101") if name != "1" or "?" in sql else ()
    expected = {"rows": [{"task": "101"}], "is_cut": False}
    assert cli.json("query", "--sql", sql, *more) == expected
    assert cli.json("query", "--sql", "-", *more, stdin=sql) == expected
    (tmp_path / "own.sql").write_text(sql, encoding="utf-8")
    assert cli.json("query", "--sql-file", tmp_path / "own.sql", *more) == expected


def test_settings_are_locked(asked: Asked) -> None:
    """What the locks are made of stands where it should."""
    names = {
        "enable_external_access": "false",
        "enable_progress_bar": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
        "lock_configuration": "true",
        "temp_directory": "",
        "TimeZone": "UTC",
    }
    found: dict[str, str] = dict(asked.ask("SELECT name, value FROM duckdb_settings()"))
    assert {name: found[name] for name in names} == names


def test_a_question_that_takes_for_ever_is_ended(cli: Cli) -> None:
    """With --timeout it ends soon after, and says so."""
    begin = time.monotonic()
    said = cli("query", "--sql", ENDLESS, "--timeout", "0.2")
    assert (said.status, said.out) == (2, "")
    assert "the question took longer than 0.2 s: ask for less, or give a larger --timeout" in said.err
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    "sql",
    [LARGE, "SELECT repeat('x', 1000) FROM range(1000000000)", "SELECT * FROM range(1000000000)"],
    ids=["inside", "long rows", "many rows"],
)
def test_a_question_that_eats_memory_fails(cli: Cli, sql: str) -> None:
    """It gets no more than the configuration allows, for its answer too, and fills no disk."""
    cli.place.configure("[query]\nmemory-mb = 64\nthreads = 1\n")
    said = cli("query", "--sql", sql)
    assert (said.status, said.out) == (2, "")
    assert "the question needs more memory than it may take: ask for less, or set `memory-mb` of `[query]`" in said.err


def test_a_table_that_is_made_for_a_question_may_not_eat_memory_either(tmp_path: Path) -> None:
    """Findings are loaded before the question: what is too much for them is told in the same words."""
    row: dict[str, object] = {"repo": "r", "path": "p", "message": "x" * 4000}
    rows = index.written(tmp_path, "lint", [row | {"line": number} for number in range(1000)])
    path = tmp_path / "index.duckdb"
    with engine.filling(path):
        pass
    with (
        pytest.raises(TaskstateError, match="needs more memory than it may take"),
        engine.locked(path, engine.Bounds(1, 1), {"lint": rows}),
    ):
        pass


def test_a_configuration_gets_half_of_the_memory_at_most() -> None:
    """Whatever a stranger's repository asks for."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert engine.Bounds(64, 0).room == 64 * 2**20
    assert engine.Bounds(1_048_576, 0).room == min(machine // 2, 2**40)
    assert engine.Bounds(1_048_576, 3).settings == {"memory_limit": f"{machine // 2}B", "threads": 3}


def test_ctrl_c_ends_a_question(cli: Cli) -> None:
    """A question that takes for ever ends with the status of an interrupt."""
    command = [sys.executable, "-m", "taskstate", "query", "--sql", ENDLESS]
    with subprocess.Popen(command, cwd=cli.place.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        index = cli.place.cache("index") / "index.duckdb"
        until = time.monotonic() + 30
        while not index.exists() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.5)  # it is asked
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert b"Traceback" not in err
