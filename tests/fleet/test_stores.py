"""Repositories in an object store: what is read of them, and that what is wrong with one keeps no other from it.

What needs a store runs against a real server of S3 on this machine (`make fleet`); the rest against fsspec alone.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from taskstate.errors import TaskstateError
from taskstate.fleet import heads, manifest, run, sources, stores
from taskstate.lint.queries import interface
from taskstate.lint.registry import TABLE
from taskstate.model.config import Fleet, Query
from taskstate.query import engine, tables
from taskstate.storage import installed
from tests.model.test_declared_kinds import INCIDENT as KIND
from tests.support.bare_repositories import NOW, TASKS, bare, tasks
from tests.support.place import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

PATH = f"{TASKS}/task-1-state.md"
INCIDENT = b"---\ntaskstate: 1\nkind: incident\ntask_id: '9'\n---\n# Incident 9: Down\n\n## Notes\n\nx\n"
HELD: dict[str, dict[str, bytes]] = {
    "plain": {
        **tasks(2, broken=True),
        "deep/task-1-state.md": tasks(1)[PATH],
        "README.md": b"x",
        f"{TASKS}/task-1-handoff.md": b"# Handoff\n",
    },
    "declares": {
        f"{TASKS}/task-9-state.md": INCIDENT,
        ".taskstate/kinds/incident.json": json.dumps(KIND).encode(),
        "taskstate.toml": b'exclude = ["*/task-2-*"]\n',
        **tasks(2),
    },
    "odd": {f"{TASKS}/task-3[a]*-state.md": b"---\n---\n", PATH: b"", f"{TASKS}/task-4-state.md": b"\xff"},
    "config-wrong": {"taskstate.toml": b"root = 3\n", **tasks(1)},
    "no-own-files": {"README.md": b"x"},
}


def rows(out: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return what an index answers."""
    bounds = engine.Bounds(Query().memory_mb, 1, 30)
    with manifest.asking(str(out), bounds) as connection:
        return engine.ask(connection, sql, {}, bounds).rows


def indexed(out: Path, *given: str, bounds: Fleet | None = None, keep_errors: bool = False) -> run.Outcome:
    """Return what a run over sources makes."""
    request = run.Request(given, out.parent, NOW, jobs=1, keep_errors=keep_errors)
    return run.index(out, request, bounds or Fleet(), lambda *_: None)


# A real server of S3


class Store:
    """A server of S3 in this process, with one bucket; it notes what it is asked for, and may refuse."""

    def __init__(self) -> None:
        serving, moto = import_module("werkzeug.serving"), import_module("moto.moto_server.werkzeug_app")
        silent = type("Silent", (serving.WSGIRequestHandler,), {"log": lambda *_: None})
        self._answer = moto.DomainDispatcherApplication(moto.create_backend_app)
        self._server = serving.make_server("127.0.0.1", 0, self._ask, threaded=True, request_handler=silent)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.asked: list[str] = []
        self.refuses: Callable[[str], str] = lambda _: ""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _ask(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        asked = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        self.asked.append(asked)
        status = self.refuses(asked)
        if not status:
            answered: Iterable[bytes] = self._answer(environ, start)
            return answered
        start(status, [("Content-Type", "application/xml")])
        return [f"<Error><Code>{status.partition(' ')[2].replace(' ', '')}</Code></Error>".encode()]

    def put(self, key: str, data: bytes) -> None:
        """Put an object into the bucket."""
        fsspec.filesystem("s3").pipe_file(f"bucket/{key}", data)

    def read(self) -> list[str]:
        """Return which objects were read since this was asked last, in order."""
        found = sorted(each.split(" ")[1].removesuffix("?") for each in self.asked if "list-type" not in each)
        self.asked.clear()
        return found

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    """Start the server, with a bucket that holds the repositories."""
    for package in ("moto", "s3fs"):
        pytest.importorskip(package, reason="`make fleet` installs a server of S3")
    store = Store()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", store.address)
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIAAAAAAAAAAAAAAAAA")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").mkdir("bucket")
        for name, held in HELD.items():
            for path, data in held.items():
                store.put(f"m/{name}/{path}", data)
        yield store
    store.close()


@pytest.fixture
def store(server: Store) -> Store:
    """Return the server, which refuses nothing and was asked for nothing."""
    server.refuses = lambda _: ""
    server.asked.clear()
    return server


def _columns(table: str) -> str:
    return ", ".join(name for name in tables.types(table) if (table, name) != ("files", "blob"))


def test_a_store_says_what_a_commit_says(store: Store, tmp_path: Path) -> None:
    """All rows are those of bare repositories with the same files, but for rules that ask for more than own files."""
    (tmp_path / "m").mkdir()
    for name, held in HELD.items():
        bare(tmp_path / "m" / name, held)
    made = indexed(tmp_path / "store", "s3://bucket/m/")
    commits = indexed(tmp_path / "commits", "m")
    assert made.errors == commits.errors
    assert [each["repo"] for each in made.errors] == ["config-wrong"]
    for table in tables.tables().keys() - {"repos", "lint"}:
        asked = f"SELECT {_columns(table)} FROM {table} ORDER BY ALL"  # noqa: S608 - constants
        assert rows(tmp_path / "store", asked) == rows(tmp_path / "commits", asked)
    asked = "SELECT repo, files, bytes, status, error, config_sha, taskstate_pinned FROM repos ORDER BY repo"
    assert rows(tmp_path / "store", asked) == rows(tmp_path / "commits", asked)
    asked = "SELECT DISTINCT scope, head, tree, committed_at FROM repos WHERE status = 'ok'"
    assert rows(tmp_path / "store", asked) == [("files", None, None, None)]
    more = [row.code for row in TABLE if row.needs & {interface.GIT, interface.REPOSITORY}]
    asked = "SELECT repo, path, code, line, col, message FROM lint ORDER BY ALL"
    found = rows(tmp_path / "commits", asked)
    own = rows(tmp_path / "commits", "SELECT repo, path FROM files")  # a name that no command sees is not listed
    expected = [each for each in found if each[2] not in more and each[:2] in own]
    assert rows(tmp_path / "store", asked) == expected
    assert len(expected) > len(HELD)
    assert {"TS011", "TS410"} <= {each[2] for each in found if each[2] in more}  # also ids twice, commits
    assert "README.md" not in str(store.asked)


def test_what_has_not_changed_is_not_read_again(store: Store, tmp_path: Path) -> None:
    """Without a change nothing but listings is asked for; after one only the objects of that repository."""
    for name in ("a", "b"):
        store.put(f"again/{name}/{PATH}", tasks(1)[PATH])
    out = tmp_path / "out"
    store.read()
    indexed(out, "s3://bucket/again")
    assert store.read() == [f"/bucket/again/{name}/{PATH}" for name in ("a", "b")]
    assert indexed(out, "s3://bucket/again").done == 0
    assert store.read() == []
    store.put(f"again/b/{PATH}", tasks(1, broken=True)[PATH])
    store.read()
    assert indexed(out, "s3://bucket/again").done == 1
    assert store.read() == [f"/bucket/again/b/{PATH}"]
    assert {repo for (repo,) in rows(out, "SELECT repo FROM lint WHERE severity = 'error'")} == {"b"}
    full = tmp_path / "full"
    indexed(full, "s3://bucket/again")
    for table in tables.tables():
        asked = f"FROM {table} ORDER BY ALL"
        assert rows(out, asked) == rows(full, asked)


def _every_third() -> Callable[[str], str]:
    count = [0]

    def refuses(_: str) -> str:
        count[0] += 1
        return "503 Slow Down" if count[0] % 3 == 0 else ""

    return refuses


def test_a_store_that_is_busy_is_asked_again(store: Store, tmp_path: Path) -> None:
    """Where each third answer is that it is busy, all is read all the same."""
    store.refuses = _every_third()
    assert len(indexed(tmp_path / "out", "s3://bucket/m/").errors) == 1  # the wrong configuration
    assert len(store.asked) > len(HELD)


def test_what_may_not_be_read_is_a_row(store: Store, tmp_path: Path) -> None:
    """A bucket that is not there, one that may not be listed, and objects that may not be read keep nobody up."""
    store.refuses = lambda asked: "403 Access Denied" if "/closed" in asked or "/bucket/m/plain/.task" in asked else ""
    out, given = tmp_path / "out", ("s3://none/x", "s3://closed/x", "s3://bucket/m/")
    made = indexed(out, *given, keep_errors=True)
    assert {each["repo"] for each in made.errors} == {"s3://none/x", "s3://closed/x", "plain", "config-wrong"}
    told = {each["repo"]: each["error"] for each in made.errors}
    assert told["s3://none/x"].endswith("cannot be read: FileNotFoundError: The specified bucket does not exist")
    assert "s3://bucket/m/plain cannot be read: PermissionError" in told["plain"]
    assert "PermissionError" in told["s3://closed/x"]
    assert rows(out, "SELECT repo FROM repos WHERE status = 'ok' ORDER BY repo") == [
        ("declares",), ("no-own-files",), ("odd",)
    ]  # fmt: skip
    assert rows(out, "SELECT DISTINCT head FROM repos") == [(None,)]
    store.refuses = lambda _: ""
    assert [each["repo"] for each in indexed(out, "s3://bucket/m/").errors] == ["config-wrong"]


def test_names_may_be_any_text(store: Store, tmp_path: Path) -> None:
    """A name that is no path below its repository is passed over, and a prefix that is no name is told."""
    for key in ("names/", "names/r/"):  # as consoles leave them for a folder
        store.put(key, b"")
    for key in ("..", ".", "", "../../x", "a//b", "/etc"):
        store.put(f"names/r/{key}/{PATH}", b"---\n---\n")
    for key in (f"../{PATH}", f"/{PATH}", f"./{PATH}", f"r/x\x1b[31m/{PATH}", f"r/{TASKS}/task-1?x=2-state.md"):
        store.put(f"names/{key}", b"---\n---\n")
    made = indexed(tmp_path / "out", "s3://bucket/names", bounds=Fleet(most_files=2), keep_errors=True)
    assert {each["error"] for each in made.errors} == {"its name is not that of a folder"}
    found = rows(tmp_path / "out", "SELECT repo, path FROM files ORDER BY ALL")
    assert found == [("r", f"{TASKS}/task-1?x=2-state.md"), ("r", f"x\x1b[31m/{PATH}")]


def test_what_is_too_large_is_not_read(store: Store, tmp_path: Path) -> None:
    """One object of more than a text may have is a row; too many, or too much in all, is an error."""
    store.put(f"large/r/{PATH}", b"x" * (24 * 1024**2 + 1))
    store.put(f"large/r/{TASKS}/task-2-state.md", b"---\n---\n")
    store.read()
    indexed(tmp_path / "out", "s3://bucket/large")
    found = rows(tmp_path / "out", "SELECT path, state, sha256 IS NULL FROM files ORDER BY path")
    assert found == [(PATH, "too-large", True), (f"{TASKS}/task-2-state.md", "ok", False)]
    assert store.read() == [f"/bucket/large/r/{TASKS}/task-2-state.md"]
    for bounds, says in ((Fleet(most_files=1), "2 files"), (Fleet(most_mb=1), "more than 1 MB")):
        with pytest.raises(TaskstateError, match=says):
            indexed(tmp_path / says, "s3://bucket/large", bounds=bounds)
    assert store.read() == []


def test_no_credential_is_in_an_index(store: Store, tmp_path: Path) -> None:
    """Neither the key nor the secret that the environment holds, nor the address of the server."""
    store.refuses = lambda asked: "403 Access Denied" if "/bucket/m/plain/.task" in asked else ""
    indexed(tmp_path / "out", "s3://bucket/m/")
    every = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    every += str(rows(tmp_path / "out", "FROM repos")).encode()
    for secret in (b"AKIAAAAA", b"s3cr3t", store.address.encode()):
        assert secret not in every


# What holds for every store


class Tagged(MemoryFileSystem):  # type: ignore[misc]  # it has no types
    """The store of fsspec in memory, whose listings have tags as those of real ones do."""

    store: dict[str, Any] = {}  # noqa: RUF012 - its base shares one, and looks it up by this name
    pseudo_dirs = [""]  # noqa: RUF012 - as `store`

    def find(self, path: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - as its base has it
        """Return what lies below a path."""
        found = super().find(path, **more).items()
        return {name: {**each, "etag": hashlib.sha256(self.cat_file(name)).hexdigest()} for name, each in found}


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Mapping[str, bytes]], None]]:
    """Return what puts objects into a store in memory, which every address means."""
    system = Tagged()
    monkeypatch.setattr(stores, "_PACKAGES", {"s3": "fsspec", "gs": "fsspec"})
    monkeypatch.setattr(stores, "_opened", lambda address: (system, f"/{address.partition('://')[2]}"))
    yield lambda objects: system.pipe({f"/{key}": data for key, data in objects.items()})
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_only_what_is_of_use_is_listed(memory: Callable[[Mapping[str, bytes]], None]) -> None:
    """Own files, the configuration and declared kinds are, wherever they may be; nothing else, and no odd path."""
    names = [PATH, "deep/er/task-7-state.md", "taskstate.toml", "pyproject.toml", ".x/kinds/incident.json"]
    others = [
        "README.md",
        "deep/taskstate.toml",
        f"./{PATH}",
        f"../{PATH}",
        f"a//{PATH}",
        f"a/../{PATH}",
        "x/./task-8-state.md",
    ]
    memory({f"b/r/{name}": name.encode() for name in [*names, *others]})
    memory({f"b/r2/{PATH}": b""})
    assert sorted(stores.listed("s3://b/r")) == sorted(names)
    assert sorted(stores.prefixes("s3://b")) == ["r", "r2"]
    assert {each.size for each in stores.listed("s3://b/r2").values()} == {0}


def test_many_objects_are_read_at_once(
    memory: Callable[[Mapping[str, bytes]], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file gets its own content, in however many answers it comes, an empty one its empty content."""
    monkeypatch.setattr(stores, "_AT_ONCE", 4)
    held = {f"task-{number}-state.md": b"x" * (number % 5) for number in range(11)}
    memory({f"b/r/{name}": data for name, data in held.items()})
    entries = stores.listed("s3://b/r")
    source = stores.opened(tmp_path, "s3://b/r", entries)
    assert {name: source.read(tmp_path / name) for name in held} == held
    assert source.mark(tmp_path / "task-3-state.md") == entries["task-3-state.md"].id
    assert refusal(lambda: source.read(tmp_path / "task-99-state.md")).code == "not-found"


def test_an_object_without_a_tag_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody could tell whether it has changed."""
    system = MemoryFileSystem()
    system.pipe_file("/untagged/r/task-1-state.md", b"")
    monkeypatch.setattr(stores, "_opened", lambda _: (system, "/untagged/r"))
    assert refusal(lambda: stores.listed("s3://b/r")).message == "s3://b/r gives an object without a tag"
    monkeypatch.setattr(stores, "_MOST_LISTED", 0)
    assert refusal(lambda: stores.listed("s3://b/r")).code == "too-many"


def test_what_changes_while_it_is_read_is_told(memory: Callable[[Mapping[str, bytes]], None], tmp_path: Path) -> None:
    """No row rests on another state than the one that is noted: it is read in the next run."""
    memory({f"b/r/{PATH}": b"one"})
    entries = stores.listed("s3://b/r")
    digest = stores.digest_of(entries)
    assert stores.listed("s3://b/r", digest) == entries
    for changed in (b"two", b"longer", b""):
        memory({f"b/r/{PATH}": changed})
        assert stores.digest_of(stores.listed("s3://b/r")) != digest
        assert refusal(lambda: stores.listed("s3://b/r", digest)).code == "stale"
    for changed in (b"longer", b"x"):
        memory({f"b/r/{PATH}": changed})
        told = refusal(lambda: stores.opened(tmp_path, "s3://b/r", entries))
        assert str(told) == "s3://b/r changed while it was read: run it again"


def test_a_store_is_asked_some_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is tried again three times, ever later; what is refused is not."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    answers: list[Any] = [OSError("http://ann:pa55@host/x?sig=abc is busy"), OSError(), OSError(), 7]

    def ask() -> object:
        found = answers.pop(0)
        if isinstance(found, BaseException):
            raise found
        return found

    assert stores.answer(ask, "s3://b") == 7
    assert slept == [1, 4, 16]
    answers += [ConnectionError("http://ann:pa55@host/x?sig=abc is\nbusy")] * 4
    told = refusal(lambda: stores.answer(ask, "s3://b"))
    assert str(told) == "s3://b cannot be read: ConnectionError: http://host/x is\\nbusy"
    answers += [PermissionError("no"), MemoryError()]
    assert "PermissionError: no" in refusal(lambda: stores.answer(ask, "s3://b")).message
    with pytest.raises(MemoryError):
        stores.answer(ask, "s3://b")
    assert slept == [1, 4, 16] * 2


def test_a_store_that_is_gone_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first prefix that gets no answer is tried some times, and those after it once each."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)

    monkeypatch.setattr(stores, "_opened", lambda address: (Gone(), address))
    silent = set[str]()
    for name in ("x", "y", "z"):
        head = heads.read(sources.Repository(name, f"s3://b/{name}", ""), frozenset(), silent)
        assert (head.status, "ConnectionError" in head.error) == ("error", True)
    assert (slept, silent) == ([1, 4, 16], {"s3://b"})


class Gone:
    """A store that answers nothing."""

    def find(self, *_: object, **__: object) -> object:
        """Fail as a network does."""
        raise ConnectionError


def test_prefixes_are_repositories(memory: Callable[[Mapping[str, bytes]], None], tmp_path: Path) -> None:
    """Each has the name of its prefix, or one below the name that a list gives; a store without any is told."""
    memory({f"b/m/{name}/{PATH}": b"" for name in ("x", "y")})
    memory(
        {
            f"b/single/{PATH}": b"",
            "b/flat/task-1-state.md": b"",
            f"b/odd/x::file/{PATH}": b"",
            f"b/odd/y?z=1/{PATH}": b"",
        }
    )
    listed = tmp_path / "repos.txt"
    listed.write_text("shop\ts3://b/m/\nbranch\ts3://b/single\tmain\n", "utf-8")
    found = sources.find(["s3://b/m", f"@{listed}", "s3://b/flat"], tmp_path)
    errors = {each.name: each.error for each in found.repositories if each.error}
    assert errors == {
        "branch/.taskstate": "a store has no branches: leave out the branch",
        "s3://b/flat": "there is no repository in it",
    }
    places = {each.name: each.place for each in found.repositories if not each.error}
    assert places == {**{f"{at}{name}": f"s3://b/m/{name}" for at in ("shop/", "") for name in ("x", "y")}}
    assert not found.roots
    odd = sources.find(["s3://b/odd"], tmp_path).repositories
    assert {each.error for each in odd} == {"its name is not that of a folder"}  # fsspec would read another place
    told = refusal(lambda: sources.find(["s3://b/m", "gs://b/m"], tmp_path))
    assert "two repositories are called 'x': s3://b/m/x and gs://b/m/x" in told.message


@pytest.mark.parametrize(
    "address",
    [
        *("file:///etc", "memory://x", "http://host/x", "https://host/x", "sftp://host/x", "S3://bucket"),
        *("s3://", "s3:///", "s3://pa55@bucket/x", "gs://ann:pa55@bucket", "abfs://ann:pa55@bucket/x", "gs://b?pa55"),
        *("s3://bucket/x::file:///etc", "s3a://bucket::simplecache://x"),
    ],
)
def test_what_is_no_place_in_a_store_is_refused(address: str) -> None:
    """Only object stores are, at a plain address; nothing that may be a credential is printed."""
    told = refusal(lambda: stores.checked(address))
    assert told.code == "usage"
    assert "pa55" not in str(told)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said which to install, and how; what is there is taken, with Azure's container before the account."""
    monkeypatch.setattr(stores, "_PACKAGES", {"s3": "no_such_package", "abfs": "fsspec"})
    told = refusal(lambda: stores.checked("s3://bucket/x"))
    assert (told.code, told.message) == ("missing-extra", "s3://bucket/x needs the package no_such_package")
    assert told.help == f"run `{installed.adding_package('no_such_package')}`"
    assert told.help.endswith("install no_such_package`")
    assert stores.checked("abfs://box@account.host/x//") == "abfs://box@account.host/x"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fsspec", None)
        assert "needs the package fsspec" in refusal(lambda: stores.checked("s3://bucket/x")).message
