"""`query`: the index follows the files, the formats of an answer, and what is refused."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import duckdb
import pytest

from taskstate.errors import TaskstateError
from taskstate.query import engine, index, printing, tables
from taskstate.query.engine import Answer
from taskstate.storage import folders as storage_folders
from taskstate.storage.private import Private
from tests.support.place import tree
from tests.support.terminal import seen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

ALL = ("query", "--sql", "SELECT task, title FROM tasks ORDER BY task")


def _titles(cli: Cli) -> dict[str, str]:
    return {row["task"]: row["title"] for row in cli.json(*ALL)["rows"]}


def _read(cli: Cli) -> int:
    with index.up_to_date(cli.place.workspace) as found:
        return found.read


def _age(cli: Cli) -> None:
    """Give all files a time at which a change is certain to be seen."""
    for path in cli.place.workspace.own_files():
        os.utime(path, (1_700_000_000, 1_700_000_000))


# The index


def test_the_index_follows_every_change_of_files(cli: Cli) -> None:
    """A new, changed, renamed and deleted file is seen by the next question, and each other file keeps its rows."""
    cli.place.new("102", title="Two")
    assert _titles(cli) == {"101": "JWT Service", "102": "Two"}
    other = cli.place.path.with_name("task-102-state.md")
    cli.place.text = cli.place.text.replace("title: JWT Service", "title: JWT service")  # of the same length
    assert _titles(cli) == {"101": "JWT service", "102": "Two"}
    other.rename(cli.place.path.with_name("task-103-state.md"))
    paths = cli.json("query", "--sql", "SELECT path FROM files ORDER BY path")["rows"]
    assert [row["path"][-17:] for row in paths] == ["task-101-state.md", "task-103-state.md"]
    cli.place.path.unlink()
    assert _titles(cli) == {"102": "Two"}


def test_only_what_changed_is_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that rest are read once; a touched one is read again; another schema, or --rebuild, reads all again."""
    monkeypatch.setattr(index, "settled_before", lambda now: now)
    cli.place.new("102", title="Two")
    assert [_read(cli), _read(cli)] == [2, 0]
    os.utime(cli.place.path, (1, 1))
    assert [_read(cli), _read(cli)] == [1, 0]
    assert cli.json("query", "--rebuild") == {"files": 2, "read": 2}
    assert _read(cli) == 0
    monkeypatch.setattr(tables, "version", lambda: 0)
    assert [_read(cli), _read(cli)] == [2, 0]


def test_a_file_that_was_just_written_is_not_trusted(cli: Cli) -> None:
    """Its time stamp could be that of a later change, too: it is read again until it rests."""
    assert [_read(cli), _read(cli)] == [1, 1]


@pytest.mark.parametrize("data", [None, "a folder", b"", b"no database", b"x" * 20_000])
def test_an_index_that_is_lost_or_damaged_is_made_again(cli: Cli, data: bytes | str | None) -> None:
    """Whatever stands in its place, the answer is the same."""
    before = _titles(cli)
    path = cli.place.cache("index") / "index.duckdb"
    path.unlink()
    if isinstance(data, str):
        (path / data).mkdir(parents=True)
    elif data is not None:
        path.write_bytes(data)
    assert _titles(cli) == before
    assert [each.name for each in path.parent.iterdir()] == ["index.duckdb"]


def test_an_index_with_a_damaged_part_is_made_again(cli: Cli) -> None:
    """A question that meets the part says what mends it; the next change of a file mends it, too."""
    cli.place.new("102", title="Whetstone")
    before = _titles(cli)
    path = cli.place.cache("index") / "index.duckdb"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Whetstone", b"whetstone"))
    os.utime(cli.place.path, (1, 1))
    assert _titles(cli) == before
    path.write_bytes(path.read_bytes().replace(b"Whetstone", b"whetstone"))
    with engine.reading(path) as connection, pytest.raises(TaskstateError, match="the index cannot be read") as refused:
        engine.ask(connection, "SELECT title FROM tasks", {}, engine.Bounds(512, 1))
    assert refused.value.help == "`taskstate query --rebuild` makes it again"
    cli.ok("query", "--rebuild")
    assert _titles(cli) == before


def test_without_a_private_folder_a_question_is_answered(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing private can be written the index is made for one question, and nothing is left."""
    monkeypatch.setattr(Private, "cache", lambda *_: None)
    before = tree(cli.place.root)
    assert _titles(cli) == {"101": "JWT Service"}
    assert tree(cli.place.root) == before


def test_a_folder_whose_name_is_not_utf8_is_asked(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB opens no file there, so an index is made for one question elsewhere."""
    expected = _titles(cli)
    root = cli.place.root.rename(os.fsdecode(os.fsencode(cli.place.root) + b"\xff"))
    monkeypatch.chdir(root)
    assert _titles(cli) == expected
    assert cli.json("query", "--sql", "SELECT repo FROM tasks")["rows"] == [{"repo": "repository?"}]


def test_several_questions_at_once_are_answered(cli: Cli) -> None:
    """Each of several processes that make the index at the same time has the whole answer, and one index stays."""
    command = [sys.executable, "-m", "taskstate", *ALL, "--rebuild", "--output-format", "csv"]
    with ExitStack() as running:
        started = [
            running.enter_context(
                subprocess.Popen(command, cwd=cli.place.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            )
            for _ in range(3)
        ]
        said = [each.communicate(timeout=120) for each in started]
    assert said == [(b"task,title\r\n101,JWT Service\r\n", b"")] * 3
    assert [each.name for each in cli.place.cache("index").iterdir()] == ["index.duckdb"]


def test_what_a_killed_run_left_is_deleted(cli: Cli) -> None:
    """The folder of a run that ended long ago goes, one that may still be at work stays, and so does anything else."""
    _titles(cli)
    kept = cli.place.cache("index")
    for name in ("new-old", "new-at-work", "other"):
        (kept / name).mkdir()
        (kept / name / "index.duckdb").write_bytes(b"x")
    for name in ("new-old", "other"):
        os.utime(kept / name, (1, 1))
    _titles(cli)
    assert {each.name for each in kept.iterdir()} == {"index.duckdb", "new-at-work", "other"}


def test_a_full_disk_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the index cannot be written the command says so with 2, and the old index stays."""

    def full(*_: object) -> None:
        raise duckdb.IOException("IO Error: Could not write file: No space left on device")

    before = _content_of_index(cli)
    monkeypatch.setattr("taskstate.query.engine.load", full)
    said = cli.refused("query", "--rebuild")
    assert said.startswith("cannot make the index: Could not write file: No space left on device: free some space")
    assert cli.place.cache("index").joinpath("index.duckdb").read_bytes() == before


def test_memory_bounds_the_index_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made with what a question may take; where that is too little the command says so with 2."""
    limits = []

    def little(connection: duckdb.DuckDBPyConnection, *_: object) -> None:
        limits.extend(connection.execute("SELECT current_setting('memory_limit')").fetchall())
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate data")

    cli.place.configure("[query]\nmemory-mb = 64\n")
    monkeypatch.setattr("taskstate.query.engine.load", little)
    assert "more memory than it may take: ask for less, or set `memory-mb`" in cli.refused("query", "--rebuild")
    assert {*limits} == {("64.0 MiB",)}


def test_an_index_that_is_deleted_meanwhile_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it goes before it is in its place, or before it is asked, the next run makes it again."""
    folder, rename = cli.place.cache("index"), storage_folders.rename

    def gone(source: Path, target: Path) -> None:
        if target.parent == folder:
            shutil.rmtree(folder)
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(storage_folders, "rename", gone)
        assert "index.duckdb: it does not exist" in cli.refused("query", "--rebuild")
    with pytest.raises(TaskstateError) as refused, engine.locked(folder / "none", engine.Bounds(64, 1), {}):
        pass
    assert refused.value.message.startswith("the index cannot be read: Cannot open database")
    assert _titles(cli) == {"101": "JWT Service"}


def _content_of_index(cli: Cli) -> bytes:
    _titles(cli)
    return cli.place.cache("index").joinpath("index.duckdb").read_bytes()


def test_rows_that_are_kept_equal_those_that_are_read(cli: Cli) -> None:
    """After changes the index holds what one that is made again holds, table by table."""
    for number in range(102, 106):
        cli.place.new(str(number), title=f"Task {number}", depends_on=("101",))
    _titles(cli)
    cli.place.add()
    cli.place.check()
    cli.place.path.with_name("task-103-state.md").unlink()
    _titles(cli)
    kept = _content(cli)
    cli.ok("query", "--rebuild")
    assert _content(cli) == kept
    assert kept["sessions"]


def _content(cli: Cli) -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect(str(cli.place.cache("index") / "index.duckdb"), read_only=True) as connection:
        return {name: connection.table(name).order("ALL").fetchall() for name in tables.of_files()}


def test_many_files_are_read_by_several_processes_alike(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index of several processes is that of one."""
    for number in range(102, 108):
        cli.place.new(str(number), title=f"Task {number}")
    cli.ok("query", "--rebuild")
    alone = _content(cli)
    monkeypatch.setattr(index, "_FEW", 2)
    monkeypatch.setattr("taskstate.storage.programs.cores", lambda: 2)
    cli.ok("query", "--rebuild")
    assert _content(cli) == alone


def test_an_interrupted_index_says_nothing_of_its_processes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends them, and none of their threads has a fault: that would be a warning here, and a trace there."""

    def interrupted(_: object) -> None:
        time.sleep(0.1)  # so that others wait
        raise KeyboardInterrupt

    for number in range(200, 300):
        cli.place.path.with_name(f"task-{number}-state.md").write_text(cli.place.text, encoding="utf-8")
    monkeypatch.setattr(index, "_SHARE", 1)
    monkeypatch.setattr(index, "_FEW", 2)
    monkeypatch.setattr(index, "rows_of", interrupted)
    monkeypatch.setattr("taskstate.storage.programs.cores", lambda: 2)
    with pytest.raises(KeyboardInterrupt), index.up_to_date(cli.place.workspace):
        pass
    assert not multiprocessing.active_children()


def test_repository_and_findings_are_tables(cli: Cli) -> None:
    """What rests on more than one file is made when a question names it: the repository, and what lint finds."""
    assert cli.json("query", "--sql", "SELECT repo, status, files, scope FROM repos")["rows"] == [
        {"repo": "repository", "status": "empty", "files": 1, "scope": "worktree"}
    ]
    cli.place.text = cli.place.text.replace("priority: P2", "priority: P9").replace("status: created", "status: begun")
    found = cli.json("lint", "--against", "none", status=1)["findings"]
    rows = cli.json("query", "--sql", "SELECT code, line, col, message FROM lint ORDER BY ordinal")["rows"]
    assert [(each["code"], each["line"], each["column"]) for each in found] == [
        (row["code"], row["line"], row["col"]) for row in rows
    ]
    assert rows


# Formats

PLANTED = """
SELECT '=1+1' AS formula, chr(27) || '[31m' AS escape, NULL AS nothing, TIMESTAMP '2026-01-31 12:00:00' AS time,
    1.5 AS number
"""


def test_a_table_is_for_people(cli: Cli) -> None:
    """Columns stand below their names, escape sequences are written out, and a time is UTC."""
    lines = cli.ok("query", "--sql", PLANTED).splitlines()
    assert lines == [
        "formula  escape    nothing  time                  number",
        r"=1+1     \x1b[31m           2026-01-31T12:00:00Z  1.5",
    ]


def test_csv_is_safe_in_a_spreadsheet(cli: Cli) -> None:
    """A cell that it would calculate has a ' in front, and NULL is empty; a negative number stays one."""
    said = cli.ok("query", "--sql", PLANTED.replace("1.5", "-1.5"), "--output-format", "csv")
    assert said == "formula,escape,nothing,time,number\r\n'=1+1,\x1b[31m,,2026-01-31T12:00:00Z,-1.5\r\n"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_each_sign_of_a_formula_is_guarded(start: str) -> None:
    """Whatever a spreadsheet takes for a formula is a text there, also as the name of a column."""
    written = printing.as_bytes(Answer((f"{start}a",), ("VARCHAR",), [(f"{start}x",)]), printing.CSV).decode()
    assert f"'{start}a" in written
    assert f"'{start}x" in written


def test_csv_on_a_terminal_shows_what_it_holds(cli: Cli) -> None:
    """No cell moves the cursor there, and the ends of its lines are not written out."""
    words = ("query", "--sql", PLANTED, "--output-format", "csv")
    status, said = seen((sys.executable, "-m", "taskstate", *words), cwd=cli.place.root, env={"TERM": "xterm"})
    assert status == 0
    assert said.splitlines()[-1] == r"'=1+1,\x1b[31m,,2026-01-31T12:00:00Z,1.5"


def test_json_and_ndjson_hold_the_same_rows(cli: Cli) -> None:
    """One is a list, the other a line a row; numbers and NULL are those of JSON."""
    whole = json.loads(cli.ok("query", "--sql", PLANTED, "--output-format", "json"))
    lines = cli.ok("query", "--sql", PLANTED, "--output-format", "ndjson").splitlines()
    assert whole == [json.loads(line) for line in lines]
    assert whole[0]["number"] == 1.5
    assert whole[0]["nothing"] is None
    assert whole[0]["time"] == "2026-01-31T12:00:00Z"


def test_parquet_keeps_types(cli: Cli, tmp_path: Path) -> None:
    """The file has the rows of the answer, with the types that the tables have."""
    path = tmp_path / "answer.parquet"
    sql = "SELECT task, created_at, criteria, status = 'created' AS is_new, NULL AS nothing FROM tasks"
    assert cli.ok("query", "--sql", sql, "--output-format", "parquet", "--output", path) == f"{path}: 1 row\n"
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(path))
        assert [str(each) for each in relation.types] == ["VARCHAR", "TIMESTAMP", "BIGINT", "BOOLEAN", "VARCHAR"]
        assert [row[0] for row in relation.fetchall()] == ["101"]


@pytest.mark.parametrize(
    ("sql", "type_", "value"),
    [
        ("12345678901234567890.123456789::DECIMAL(38, 9)", "DECIMAL(38,9)", "12345678901234567890.123456789"),
        ("'a'::BLOB", "VARCHAR", "61"),
        ("INTERVAL 1 DAY", "VARCHAR", "1 day, 0:00:00"),
        ("'101'::BIT", "VARCHAR", "101"),
        ("1::BIGNUM", "VARCHAR", "1"),
        ("'[1]'::JSON", "VARCHAR", "[1]"),
    ],
)
def test_parquet_keeps_values(cli: Cli, tmp_path: Path, sql: str, type_: str, value: str) -> None:
    """Each digit is kept; what Parquet has in another form, or not at all, is a text as in the other formats."""
    path = tmp_path / "answer.parquet"
    cli.ok("query", "--sql", f"SELECT {sql} AS x", "--output-format", "parquet", "--output", path)
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(path))
        assert [str(each) for each in relation.types] == [type_]
        assert [str(row[0]) for row in relation.fetchall()] == [value]


def test_what_parquet_does_not_have_is_one_line(cli: Cli, tmp_path: Path) -> None:
    """It says how to go on, and writes nothing."""
    path = tmp_path / "answer.parquet"
    sql = "SELECT MAP {DATE '2026-01-01': 1}, MAP {[1]: 2} AS x"
    said = cli.refused("query", "--sql", sql, "--output-format", "parquet", "--output", path)
    assert said.startswith("Parquet has no form for a value of this answer: ")
    assert "cast its columns, such as `x::VARCHAR`" in said
    assert not path.exists()


@pytest.mark.parametrize(
    ("sql", "param"), [("SELECT ? AS a", "1=x"), ("SELECT $1 AS a", "1=x"), ("SELECT $Name AS a", "Name=x")]
)
def test_what_a_parameter_needs_is_given_as_it_is_said(cli: Cli, sql: str, param: str) -> None:
    """The name that the refusal tells is one that --param takes."""
    name = param.partition("=")[0]
    assert f"the SQL needs ${name}: give it: `--param {name}=VALUE`" in cli.refused("query", "--sql", sql)
    assert cli.json("query", "--sql", sql, "--param", param)["rows"] == [{"a": "x"}]


def test_output_replaces_a_file_at_once(cli: Cli, tmp_path: Path) -> None:
    """It holds what would be printed, in the format that its name ends with; one of taskstate's own is refused."""
    path = tmp_path / "answer.csv"
    path.write_text("older", encoding="utf-8")
    cli.ok(*ALL, "--output-format", "csv", "--output", path)
    assert path.read_bytes() == b"task,title\r\n101,JWT Service\r\n"
    assert cli.ok(*ALL, "--output-format", "csv", "--output", "-") == "task,title\r\n101,JWT Service\r\n"
    cli.ok(*ALL, "--output", tmp_path / "answer.JSON")
    assert json.loads((tmp_path / "answer.JSON").read_bytes()) == [{"task": "101", "title": "JWT Service"}]
    cli.ok(*ALL, "--output", tmp_path / "answer.txt")
    assert (tmp_path / "answer.txt").read_text(encoding="utf-8").splitlines()[0] == "task  title"
    assert "is one of taskstate's own files" in cli.refused(*ALL, "--output", cli.place.path)


def test_columns_of_one_name_are_told_apart(cli: Cli) -> None:
    """Neither is lost: the second has a number behind its name."""
    sql = "SELECT 1 AS a, 2 AS a, 3 AS a_1"
    assert cli.json("query", "--sql", sql)["rows"] == [{"a": 1, "a_1": 2, "a_1_1": 3}]


def test_limit_says_that_there_is_more(cli: Cli) -> None:
    """So many rows are shown, and a note says that others are not; no rows are a note, too."""
    said = cli("query", "--sql", "SELECT range FROM range(3)", "--limit", "2")
    assert said.out == "range\n0\n1\n"
    assert "only the first 2 rows are shown" in said.err
    assert "only" not in cli("query", "--sql", "SELECT range FROM range(2)", "--limit", "2").err
    none = cli("query", "--sql", "SELECT 1 WHERE false")
    assert (none.status, none.out, none.err) == (0, "", "nothing found\n")


# Words


def test_questions_and_tables_are_listed(cli: Cli) -> None:
    """Each question with what it takes, each table with its columns, and the SQL of a question as the file has it."""
    assert "stuck" in cli.ok("query", "--list")
    assert {each["name"] for each in cli.json("query", "--list")["questions"]} >= {"stuck", "waiting"}
    assert [each["table"] for each in cli.json("query", "--schema")["tables"]] == [*tables.tables()]
    assert "created_at_text        VARCHAR    what the file says" in cli.ok("query", "--schema", "tasks")
    assert cli.ok("query", "stuck", "--show-sql").startswith("-- Which tasks are stuck")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "there is no question: `taskstate query --list` lists the ready-made ones"),
        (("stuk",), "there is no question 'stuk': did you mean stuck?"),
        (("../stuck",), "there is no question '../stuck'"),
        (("stuck", "--sql", "SELECT 1"), "there are several questions"),
        (("--schema", "task"), "there is no table 'task': did you mean tasks?"),
        (("stuck", "--param", "days"), "--param 'days' has no name and value"),
        (("stuck", "--param", "days=x"), "days of stuck is 'x': give a whole number"),
        (("stuck", "--param", "days=-1"), "days of stuck is '-1': give a whole number"),
        (("stuck", "--param", "day=1"), "stuck takes no day: it takes days, hours, now"),
        (("stuck", "--param", "days=1", "--param", "days=2"), "--param days is given twice"),
        (("stuck", "--param", "now=soon"), "now is 'soon': give a time such as"),
        (("rules", "--param", "days=1"), "rules takes no days: it takes nothing"),
        (("--sql", "SELECT 1", "--param", "days=1"), "the SQL has no $days"),
        (("--show-sql",), "--show-sql needs the name of a question"),
        (("stuck", "--limit", "-1"), "--limit and --timeout are numbers from 0 on"),
        *((("stuck", "--timeout", given), "--limit and --timeout are numbers") for given in ("-1", "nan", "inf")),
        (("--sql", "SELECT '\udcff'"), "the SQL, or a --param, is not UTF-8"),
        (("--sql", "SELECT $x", "--param", "x=\udcff"), "the SQL, or a --param, is not UTF-8"),
        (("--sql", "SELECT INTERVAL '2147483647 months'"), "the SQL is refused: "),
        (("stuck", "--output-format", "parquet"), "name a file: --output answer.parquet"),
        (("stuck", "--output", "missing/folder/x.csv"), "missing/folder"),
        (("--sql-file", "missing.sql"), "missing.sql"),
        (("--list", "--schema"), "--list does not go with --schema"),
        (("--list", "--output", "x.csv"), "--list does not go with --output"),
        (("--schema", "tasks", "--limit", "1"), "--schema does not go with --limit"),
        (("stuck", "--show-sql", "--param", "days=1"), "--show-sql does not go with --param"),
        (("stuck", "--list"), "--list lists all questions, and takes no name"),
        *((("--rebuild", *more), "there is no question") for more in (("--output", "x.csv"), ("--limit", "1"))),
        (("weekly", "--param", "weeks=1000000"), "weeks of weekly is '1000000': give a whole number up to 999999"),
        (("rules", "--param", "now=2026-01-31"), "rules takes no now: it takes nothing"),
        (("stuck", "--param", "now="), "now is '': give a time such as"),
    ],
)
def test_what_is_wrong_is_one_line(cli: Cli, words: tuple[str, ...], said: str) -> None:
    """It names what is wrong and what to do, and changes nothing."""
    assert said in cli.refused("query", *words)


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_an_answer_that_is_nested_too_deeply_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """Python has but so many levels; DuckDB, which has more, takes long to make such a value."""
    deep: list[object] = []
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    monkeypatch.setattr("taskstate.query.engine.ask", lambda *_, **__: Answer(("a",), ("",), [(deep,)]))
    said = cli.refused("query", "--sql", "SELECT 1", "--output-format", form)
    assert "the answer is nested too deeply to be shown: `unnest` it" in said


def test_a_missing_extra_names_what_installs_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without DuckDB a question is refused with one line; the lists need it not."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setattr("taskstate.storage.installed.lacks", lambda extra: extra == "query")
    said = cli.refused("query", "stuck")
    assert said.startswith("`taskstate query` needs the package duckdb: run `")
    assert "taskstate[query]" in said
    assert "stuck" in cli.ok("query", "--list")
    assert "files" in cli.ok("query", "--schema")
    assert "SELECT" in cli.ok("query", "stuck", "--show-sql")


@pytest.mark.parametrize(
    ("make", "state"),
    [
        (lambda path: path.write_bytes(b"\xff"), "not-utf8"),
        (lambda path: path.symlink_to("/etc/passwd"), "is-link"),
        (lambda path: path.mkdir(), "not-a-file"),
        (os.mkfifo, "not-a-file"),
        (lambda path: path.write_bytes(b" " * (24 * 1024**2 + 1)), "too-large"),
    ],
    ids=["bytes", "link", "folder", "fifo", "large"],
)
def test_files_that_cannot_be_read_are_answered_by_errors(cli: Cli, make: object, state: str) -> None:
    """Whatever stands in the place of a state file has a row that says why, and all others are answered."""
    assert callable(make)
    make(cli.place.path.with_name("task-102-state.md"))
    assert [row["state"] for row in cli.json("query", "errors")["rows"]] == [state]
    assert _titles(cli) == {"101": "JWT Service"}
