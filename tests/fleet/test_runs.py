"""Runs over many repositories: the same bytes in whatever way, what a clone says, and going on after a kill."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from taskstate.errors import TaskstateError
from taskstate.fleet import heads, manifest, part, parts, run, verifying, workers
from taskstate.lint.paths import lint_paths
from taskstate.lint.runner import LintRequest, check_files
from taskstate.model.config import Fleet, Query
from taskstate.query import engine, tables
from taskstate.query.rows import lint_rows, ndjson
from taskstate.storage import lock
from taskstate.storage.git import contents, process
from taskstate.workspace.workspace import find_workspace
from tests.model.test_declared_kinds import INCIDENT as KIND
from tests.support.bare_repositories import NOW, TASKS, bare, commit, git, tasks
from tests.support.place import refusal, tree
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from collections.abc import Iterator

INCIDENT = b"---\ntaskstate: 1\nkind: incident\ntask_id: '9'\n---\n# Incident 9: Down\n\n## Notes\n\nx\n"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MANY = 11  # repositories


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with repositories of every form, some with findings."""
    folder = tmp_path_factory.mktemp("fleet") / "m"
    (folder / "group" / "deep").mkdir(parents=True)
    for number in range(MANY):
        where = folder / ("group/deep" if number % 5 == 0 else ".") / f"r{number:02}.git"
        bare(where, tasks(1, first=number * 3 + 1, broken=number % 3 == 0))
    commit(folder / "r01.git", {**tasks(3, first=1), "taskstate.toml": b'exclude = ["*/task-2-*"]\n'})
    commit(folder / "r02.git", {**tasks(1), ".taskstate/tasks/task-9-state.md": b"---\ntaskstate: 1\n---\n# x\n"})
    commit(folder / "r03.git", {**tasks(1), "src/a.py": b"x\n", f"{TASKS}/task-1-handoff.md": b"# Handoff\n"})
    incident = {f"{TASKS}/task-9-state.md": INCIDENT}  # its kind is declared by one repository alone
    kinds = {".taskstate/kinds/incident.json": json.dumps(KIND).encode()}
    commit(folder / "r06.git", incident | kinds)
    commit(folder / "r07.git", incident)
    secret = {path: data.replace(b"## ", f"## {TOKEN} ".encode(), 1) for path, data in tasks(1).items()}
    commit(folder / "r08.git", {path: data + f"\n- {TOKEN}\n".encode() for path, data in secret.items()})
    ((path, twice),) = tasks(1).items()  # an id that two files claim, and a name that no command sees
    commit(folder / "r09.git", {path: twice, "docs/task-1-state.md": twice, f"{TASKS}/Task-9-State.md": b"x"})
    git(folder, "clone", "--quiet", str(folder / "r04.git"), str(folder / "worktree"))
    return folder


def _of_two_buckets(out: Path) -> None:
    """Begin an index that has more buckets than so few repositories would get."""
    if not out.exists():
        out.mkdir(mode=0o700)
        manifest.begin(out, 2)


def _run(mirrors: Path, out: Path, now: str = NOW, **more: Any) -> run.Outcome:  # noqa: ANN401 - of a request
    _of_two_buckets(out)
    return run.index(out, run.Request([str(mirrors)], mirrors, now, **more), Fleet(), lambda *_: None)


@pytest.fixture(scope="module")
def serial(mirrors: Path) -> Path:
    """Return the index that one child at a time made."""
    out = mirrors.with_name("serial")
    _run(mirrors, out, jobs=1)
    return out


def bytes_of(out: Path) -> dict[str, bytes]:
    """Return all that an index holds, but for the lock and when it was made."""
    paths = (path for path in sorted(out.rglob("*")) if path.is_file() and path.name != "lock")
    found = {str(path.relative_to(out)): path.read_bytes() for path in paths}
    return {name: re.sub(rb'"at": "[^"]*"', b"", data) if "manifest" in name else data for name, data in found.items()}


def rows(out: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return what an index answers."""
    bounds = engine.Bounds(Query().memory_mb, 1, 30)
    with manifest.asking(str(out), bounds) as connection:
        return engine.ask(connection, sql, {}, bounds).rows


def test_two_children_make_the_same_bytes(mirrors: Path, serial: Path) -> None:
    """Whoever does which bucket when, the index is the same to the byte; and done again nothing is read."""
    out = mirrors.with_name("two")
    made = _run(mirrors, out, jobs=2)
    assert (made.errors, made.done) == ((), 2)
    assert bytes_of(out) == bytes_of(serial)
    again = _run(mirrors, out)
    assert (again.done, again.kept, again.manifest.number) == (0, 2, 2)
    assert again.manifest.parts == made.manifest.parts


def test_what_lint_finds_is_what_it_finds_in_a_clone(mirrors: Path, serial: Path, tmp_path: Path) -> None:
    """Each row of `lint` is a finding of `lint --against none --no-cache` in a clone, and each of those is a row."""
    columns = "repo, path, ordinal, code, name, severity, line, col, end_line, end_col, message, fixable, fingerprint"
    found = rows(serial, f"SELECT {columns} FROM lint ORDER BY repo, path, ordinal")  # noqa: S608 - constants
    expected: list[tuple[Any, ...]] = []
    for (name,) in rows(serial, "SELECT repo FROM repos ORDER BY repo"):
        clone = tmp_path / name
        git(tmp_path, "clone", "--quiet", str(mirrors / name), str(clone))
        expected += _found_in(name, clone, columns.split(", "))
    assert found == sorted(expected, key=lambda row: row[:3])  # the last finding of a report may be of any file
    assert len({row[0] for row in found}) > MANY / 4
    assert [name for (name,) in rows(serial, "SELECT repo FROM repos WHERE repo = 'worktree'")] == ["worktree"]


def _found_in(name: str, clone: Path, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    workspace = find_workspace(clone)
    report = lint_paths(workspace, (), LintRequest(NOW, remember=False, jobs=1))
    paths = dict.fromkeys(each.path for each in report.findings)
    for path in paths:
        for row in lint_rows(name, [each for each in report.findings if each.path == path]):
            yield tuple(json.loads(ndjson([row]))[column] for column in columns)


def test_a_change_is_read_alone_and_ends_in_the_same(mirrors: Path, tmp_path: Path) -> None:
    """After a commit, a new and a lost repository only their buckets are read, and all is as in a full run."""
    copy = tmp_path / "m"
    git(tmp_path, "clone", "--quiet", "--bare", str(mirrors / "r04.git"), str(tmp_path / "x.git"))
    subprocess.run(["cp", "-a", str(mirrors), str(copy)], check=True)
    out = tmp_path / "out"
    _run(copy, out, jobs=2)
    commit(copy / "r06.git", tasks(1, first=70))
    changed = _run(copy, out, jobs=2)
    assert (changed.done, changed.kept) == (1, 1)
    (tmp_path / "x.git").rename(copy / "x.git")
    subprocess.run(["rm", "-rf", str(copy / "r07.git")], check=True)
    last = _run(copy, out, jobs=2)
    full = _run(copy, tmp_path / "full", jobs=2)
    assert last.manifest.parts == full.manifest.parts
    assert last.manifest.rows == full.manifest.rows
    kept = {name: data for name, data in bytes_of(out).items() if Path(name).parent.name in last.manifest.parts}
    assert kept == {name: data for name, data in bytes_of(tmp_path / "full").items() if "parts/" in name}
    with manifest.writing(out):
        assert manifest.clean(out, 1) == (2, 3)
    assert rows(out, "SELECT count(*) FROM repos") == [(last.manifest.repositories,)]


def test_what_rests_on_the_clock_is_done_again(tmp_path: Path) -> None:
    """A finding about a time that is still to come goes away by itself: until then its bucket is read in each run."""
    mirrors, out = tmp_path / "m", tmp_path / "out"
    mirrors.mkdir()
    bare(mirrors / "late", {path: data.replace(b"2024-03-01T", b"2026-06-01T") for path, data in tasks(1).items()})
    asked = "SELECT count(*) FROM lint WHERE message LIKE '%in the future%'"
    assert (_run(mirrors, out).done, rows(out, asked)) == (1, [(1,)])
    assert (_run(mirrors, out).done, _run(mirrors, out, "2027-01-01T00:00:00Z").done) == (1, 1)
    assert (_run(mirrors, out).done, rows(out, asked)) == (0, [(0,)])


def test_what_could_not_be_read_is_tried_again(tmp_path: Path) -> None:
    """An error is looked at in each run, with --keep-errors in none, and is gone when its reason is."""
    mirrors, out = tmp_path / "m", tmp_path / "out"
    mirrors.mkdir()
    for name in ("a", "b"):
        bare(mirrors / name, tasks(1))
    objects, away = mirrors / "b" / "objects", mirrors / "away"
    objects.rename(away)
    objects.mkdir()
    assert [each["repo"] for each in _run(mirrors, out).errors] == ["b"]
    kept = _run(mirrors, out, keep_errors=True)
    assert (kept.done, len(kept.errors), _run(mirrors, out).done) == (0, 1, 1)
    objects.rmdir()
    away.rename(objects)
    mended = _run(mirrors, out)
    assert (mended.errors, mended.manifest.rows["tasks"]) == ((), 2)
    assert verifying.wrong(out, mended.manifest, Query()) == []


def test_an_index_of_mostly_errors_is_not_made(tmp_path: Path) -> None:
    """Sources or rights are not what was meant then: nothing takes the place of the last run."""
    mirrors = tmp_path / "m"
    mirrors.mkdir()
    for name in ("a", "b", "c"):
        bare(mirrors / name, tasks(1))
    _run(mirrors, tmp_path / "out")
    for name in ("a", "b"):
        (mirrors / name / "HEAD").write_text("x", "utf-8")
    told = refusal(lambda: _run(mirrors, tmp_path / "out"))
    assert told.message.startswith("2 of 3 repositories cannot be read, such as a: HEAD holds neither")
    assert manifest.required(str(tmp_path / "out"))[1].number == 1
    assert _run(mirrors, tmp_path / "out", keep_errors=True).manifest.errors == 2


# Kills


def _command(mirrors: Path, out: Path) -> subprocess.Popen[bytes]:
    _of_two_buckets(out)
    words = [sys.executable, "-m", "taskstate", "fleet", "index", str(mirrors), "--out", str(out), "--jobs", "2"]
    return subprocess.Popen(words, cwd=mirrors.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _children(out: Path) -> list[int]:
    """Return the children that work on an index."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if b"taskstate.fleet.part" in (folder / "cmdline").read_bytes() and (folder / "cwd").resolve() == out:
                found.append(int(folder.name))
    return found


def _begun(out: Path) -> list[int]:
    """Wait until a child has begun its part, and return the children."""
    until = time.monotonic() + 60
    while not [*out.glob("parts/*.tmp")]:
        assert time.monotonic() < until
        time.sleep(0.005)
    return _children(out)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for children in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_client_leaves_nobody_and_the_same_command_goes_on(
    mirrors: Path, serial: Path, tmp_path: Path, number: int
) -> None:
    """Children end with the command, and run again it makes the same bytes, without anything left of before."""
    out = tmp_path / "out"
    with _command(mirrors, out) as client:
        children = _begun(out)
        os.kill(client.pid, number)
        client.communicate(timeout=60)
    assert children
    assert all(map(is_gone, children))
    assert manifest.newest(out) is None
    with _command(mirrors, out) as client:
        assert client.communicate(timeout=120)[1] == b""
    assert bytes_of(out) == bytes_of(serial)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for children in /proc")
def test_a_killed_child_changes_nothing(mirrors: Path, serial: Path, tmp_path: Path) -> None:
    """Its bucket is done by another one, and the index is the same to the byte."""
    out = tmp_path / "out"
    with _command(mirrors, out) as client:
        children = _begun(out)
        os.kill(children[0], signal.SIGKILL)
        assert client.communicate(timeout=120)[1] == b""
    assert client.returncode == 0
    assert bytes_of(out) == bytes_of(serial)


def test_who_is_second_with_a_part_discards_his_own(tmp_path: Path) -> None:
    """Two that make the same part leave one of them, whole."""
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "files.parquet").write_bytes(b"x")
        about = {
            "rows": {"files": 1},
            "repositories": 1,
            "errors": [],
            "rests_on_clock": [],
            "settings": "",
            "keys": {},
        }
        made.append(parts.finish(tmp_path / name, tmp_path / "part", about))
    assert made[0] == made[1] == parts.read_done(tmp_path / "part")
    assert [each.name for each in tmp_path.iterdir()] == ["part"]
    (tmp_path / "part" / "files.parquet").write_bytes(b"")
    assert parts.read_done(tmp_path / "part") is None


# What an index says of itself


def test_damage_is_found(serial: Path, tmp_path: Path) -> None:
    """A byte that changed, a part that is lost, and a manifest that is cut are each met in plain words."""
    out = tmp_path / "out"
    subprocess.run(["cp", "-a", str(serial), str(out)], check=True)
    newest = manifest.required(str(out))[1]
    assert verifying.wrong(out, newest, Query()) == []
    path = out / parts.FOLDER / newest.parts[0] / "files.parquet"
    data = path.read_bytes()
    path.write_bytes(data[:-9] + b"x" + data[-8:])
    (line,) = verifying.wrong(out, newest, Query())
    assert line.startswith(f"the part {newest.parts[0]} is not as it was written")
    path.unlink()
    assert "the index lacks a part" in refusal(lambda: verifying.wrong(out, newest, Query())).message
    (out / "manifest-9.json").write_bytes((out / "manifest-1.json").read_bytes()[:100])
    assert manifest.required(str(out))[1] == newest
    assert manifest.next_number(out) == 10
    damages: tuple[dict[str, Any], ...] = ({"parts": ["../../x"]}, {"parts": 1}, {"rows": []}, {"versions": 1.5})
    for wrong in (*damages, {"versions": {}}):
        (out / "manifest-9.json").write_text(json.dumps(newest._asdict() | wrong), "utf-8")
        assert manifest.required(str(out))[1] == newest


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("FROM read_text('/etc/passwd')", "no file"),
        ("FROM read_text('OUT/fleet.json')", "no file"),
        ("FROM read_text('OUT/parts/../fleet.json')", "no file"),
        ("COPY repos TO 'OUT/parts/x.csv'", "a statement of kind COPY is not a question"),
        ("SET enable_external_access = true", "a statement of kind SET is not a question"),
        ("ATTACH 'OUT/parts/x.db'", "a statement of kind ATTACH is not a question"),
        ("INSTALL httpfs", "is not a question"),
        ("SELECT 1; SELECT 2", "2 statements"),
    ],
)
def test_sql_can_read_the_tables_and_nothing_else(serial: Path, sql: str, says: str) -> None:
    """A question over many repositories is behind the same locks as one over a repository."""
    before = tree(serial)
    error = refusal(lambda: rows(serial, sql.replace("OUT", str(serial))))
    assert says in error.message
    assert tree(serial) == before


def test_no_row_holds_a_secret(serial: Path) -> None:
    """What looks like a credential is counted, and stands in no cell of any table."""
    assert rows(serial, "SELECT repo FROM files WHERE secrets > 0") == [("r08.git",)]
    cells = [str(row) for name in tables.tables() for row in rows(serial, f"FROM {name}")]
    assert cells
    assert not any(TOKEN[:12] in each for each in cells)


def test_a_kind_counts_where_it_is_declared(serial: Path) -> None:
    """Two repositories of one bucket do not share what one of them declares."""
    found = rows(serial, "SELECT repo, message FROM lint WHERE repo IN ('r06.git', 'r07.git')")
    declared, other = ({text for repo, text in found if repo == name} for name in ("r06.git", "r07.git"))
    assert any("What Happened" in text for text in declared)
    assert not any("What Happened" in text for text in other)


def test_ready_made_questions_are_answered(serial: Path) -> None:
    """Every table is there for a question, also one that no file has a row of."""
    assert rows(serial, "SELECT count(*) FROM repos") == [(MANY + 1,)]
    assert rows(serial, "SELECT DISTINCT scope, status FROM repos") == [("commit", "ok")]


# Who may write, and who works


def test_one_run_at_a_time(mirrors: Path, tmp_path: Path) -> None:
    """A second run is told who is at work, and changes nothing."""
    out = tmp_path / "out"
    with manifest.writing(out):
        error = refusal(lambda: _run(mirrors, out))
        assert error.code == "lock-timeout"
        assert f"process {os.getpid()}" in error.message
        assert manifest.is_at_work(out)
    assert not manifest.is_at_work(out)
    assert lock.is_free(out / "lock")


def test_who_may_only_read_an_index_can_look_at_it(serial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To see whether a run is at work the lock is opened for writing: it is not said then."""
    monkeypatch.setattr(lock, "is_free", Mock(side_effect=TaskstateError("x", code="read-only")))
    assert not manifest.is_at_work(serial)


@pytest.mark.parametrize("changed", [{"nonce": "x"}, {"versions": {"duckdb": "1.0"}}])
def test_a_worker_elsewhere_or_of_another_version_refuses(tmp_path: Path, changed: dict[str, Any]) -> None:
    """It has to see the same folder and to be the same, or it makes nothing."""
    (tmp_path / parts.PROBE).write_text("nonce", "utf-8")
    job = {"out": str(tmp_path), "versions": parts.versions(), "nonce": "nonce", **changed}
    with pytest.raises(TaskstateError, match="a worker"):
        part.done_job(job)
    assert [each.name for each in tmp_path.iterdir()] == [parts.PROBE]


@pytest.mark.parametrize(("packs", "number"), [(0, 1), (32, 1), (33, 2), (600, 32), (3_000, 64)])
def test_buckets_are_a_power_of_two(packs: int, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many that one has at most thirty-two repositories on average, up to a bound."""
    monkeypatch.setattr(parts, "MOST_BUCKETS", 64)
    stand = [parts_head()] * packs
    assert parts.number_of_buckets(stand, 32) == number


def parts_head() -> Any:  # noqa: ANN401 - as `heads` has it
    """Return where a repository without packs stands."""
    return heads.Head("ok", objects="/nowhere")


class _Broken:
    """What tries a bucket, as `workers` asks for it: a child breaks at these repositories, one after the other."""

    def __init__(self, *at: str) -> None:
        self.at, self.jobs = [*at], list[dict[str, Any]]()

    def __call__(self, job: dict[str, Any], _: object) -> workers.End:
        """Return how the next child ends."""
        self.jobs.append({key: job[key] for key in ("crashed", "first")})
        if self.at:
            return workers.End(at=self.at.pop(0), why="signal 9")
        return workers.End(done=parts.Done({}, {}, {}, 0, (), (), "", {}))


def test_who_breaks_twice_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes first in the second child; one that broke by the way only once is read."""
    tried = _Broken("a", "b", "a")
    monkeypatch.setattr(workers, "tried", tried)
    workers.done_bucket({}, workers.Children())
    assert [each["first"] for each in tried.jobs] == ["", "a", "b", "a"]
    assert tried.jobs[-1]["crashed"] == {"a": "signal 9"}


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what is a child's work done in this process."""
    monkeypatch.setattr(part, "_set_limits", lambda *_: None)
    monkeypatch.setattr(workers, "done_bucket", lambda job, _: part.done_job({**job, "crashed": {}, "first": ""}))


@pytest.mark.usefixtures("inside")
def test_too_many_rows_are_the_fault_of_who_has_the_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the rows of a bucket need too much memory together, the largest repository is named as the next culprit."""
    (mirrors := tmp_path / "m").mkdir()
    for name, number in (("a", 1), ("b", 4), ("c", 2)):
        bare(mirrors / name, tasks(number))
    monkeypatch.setattr(engine, "sorted_parquet", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        run.index(tmp_path / "out", run.Request(["m"], tmp_path, NOW, jobs=1), Fleet(), lambda *_: None)
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {
        "at": "b",
        "while": "of its bucket it has most rows, and writing them: ",
    }


def test_rows_that_take_too_much_memory_are_not_written(tmp_path: Path) -> None:
    """DuckDB has a bound, and says so as Python does."""
    (tmp_path / "rows").write_bytes(b'{"repo":"a"}\n')
    with pytest.raises(MemoryError):
        engine.sorted_parquet(engine.TableRows({"repo": "VARCHAR"}, tmp_path / "rows", None, ()), tmp_path / "made", 1)


@pytest.mark.usefixtures("inside")
def test_git_that_ends_in_the_middle_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lint passes over what git does not give it: the repository is tried again, and not kept with other findings."""
    (mirrors := tmp_path / "m").mkdir()
    for name in ("a", "b"):
        bare(mirrors / name, tasks(1))
    begun, open_pipes = [], process.open_pipes

    def noted(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - handed on
        begun.append(open_pipes(*given, **more))
        return begun[-1]

    monkeypatch.setattr(contents, "open_pipes", noted)

    def killing(*given: Any) -> Any:  # noqa: ANN401 - handed on
        begun[0].kill()  # that of the first repository
        begun[0].wait()
        return check_files(*given)

    monkeypatch.setattr(part, "check_files", killing)
    errors = run.index(tmp_path / "out", run.Request(["m"], tmp_path, NOW, jobs=1), Fleet(), lambda *_: None).errors
    assert [(each["repo"], each["error"]) for each in errors] == [
        ("a", f"git cat-file ended in {mirrors}/a: run the command again")
    ]


@pytest.mark.parametrize("at", [("", ""), ("a", "a", "a")])
def test_a_part_that_cannot_be_made_is_an_error(at: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no repository is to blame the run ends, and does not try for ever."""
    monkeypatch.setattr(workers, "tried", _Broken(*at))
    assert "a part cannot be made: signal 9" in refusal(lambda: workers.done_bucket({}, workers.Children())).message
