"""What open pages hear of changes."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import pytest

from taskstate import resources
from taskstate.page import events
from taskstate.page.reading import Site as Shown
from taskstate.workspace import watching
from tests.page.conftest import PATIENCE, WHOLE
from tests.page.test_serve import ask, cookie

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator
    from pathlib import Path

    from tests.page.conftest import Site
    from tests.page.scene import Scene

T = TypeVar("T")
IDIOMORPH = "4cbd535caf7663a51eda9bce6595371c384fc430d54b8d414e29a61167f19f96"  # of version 0.8.0, as npm has it


def git(root: object, *words: str) -> None:
    """Run git in a repository."""
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


class Stream:
    """What a page hears."""

    def __init__(self, answer: http.client.HTTPResponse, site: Site) -> None:
        self._answer, self._site = answer, site

    def next(self) -> set[str]:
        """Return the ids of the next event; beats are passed over."""
        until = time.monotonic() + PATIENCE
        while (line := self._answer.readline()) and time.monotonic() < until:
            if line.startswith(b"data:"):
                return set(line.decode().split()[1:])
        raise AssertionError("nothing came")

    def until(self, task: str) -> list[set[str]]:
        """Return what came before the event of a task that is touched now, which nothing else changes."""
        heard: list[set[str]] = []
        while not heard or task not in heard[-1]:
            os.utime(task_file(self._site.root, task))  # again, since other folders may just be going to be watched
            heard.append(self.next())
        return [*heard[:-1], heard[-1] - {task}]


def task_file(root: Path, task: str) -> Path:
    """Return the state file of a task."""
    return root / ".taskstate" / "tasks" / f"task-{task}-state.md"


@contextmanager
def listening(site: Site) -> Iterator[Stream]:
    """Listen as a page does, from when the watcher is at work."""
    connection = http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=PATIENCE)
    connection.request("GET", "/events", headers={"Cookie": cookie(site)})
    answer = connection.getresponse()
    assert answer.headers["content-type"].startswith("text/event-stream")
    with closing(connection), closing(answer):
        stream = Stream(answer, site)
        assert stream.next() == set()  # it is live
        yield stream


@contextmanager
def touching(path: Path) -> Iterator[None]:
    """Touch a file again and again."""
    stop = Event()

    def touch() -> None:
        while not stop.wait(0.3):
            os.utime(path)

    thread = Thread(target=touch)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def heard_of(stream: Stream, wanted: set[str]) -> None:
    """Listen until all of these have been heard of."""
    until = time.monotonic() + PATIENCE
    while wanted and time.monotonic() < until:
        wanted = wanted - stream.next()
    assert not wanted


def test_a_change_on_disk_is_told_by_its_task(shop: Site) -> None:
    """A command, a hand and another worktree are heard of by their task; a commit is heard of, too."""
    other = shop.root.parent / "billing"
    with listening(shop) as stream:
        shop.run("criterion", "check", "26", "1")
        heard_of(stream, {"26"})
        path = task_file(other, "24")
        path.write_text(f"{path.read_text(encoding='utf-8')}\n", encoding="utf-8")
        heard_of(stream, {"24"})
        git(other, "commit", "-qam", "By hand", "--no-verify")
        assert stream.next() == set()  # a commit of any task may show on any page


@WHOLE
def test_reading_changes_nothing_that_is_watched(shop: Site) -> None:
    """A page that is read makes no event, which would have all pages read again for ever."""
    with listening(shop) as stream:

        def is_quiet() -> bool:
            for path in ("/", "/board", "/tasks/20", "/tasks/20/changes", "/lint", "/search?q=keys"):
                assert ask(shop, path).status == 200
            return stream.until("17") == [set()]

        assert any(is_quiet() for _ in range(5))  # the deeds of other tests are told first


def test_many_changes_at_once_are_told_together(shop: Site) -> None:
    """300 files are heard of in a few events."""
    text = task_file(shop.root, "26").read_text(encoding="utf-8")
    files = {number: task_file(shop.root, number) for number in map(str, range(1000, 1300))}
    with listening(shop) as stream:
        for number, path in files.items():
            path.write_text(text.replace("26", number), encoding="utf-8")
        heard = stream.until("23")
        assert files.keys() <= set().union(*heard)
        assert len(heard) < 30
        for path in files.values():
            path.unlink()
        stream.until("23")


def test_a_new_worktree_is_watched(shop: Site) -> None:
    """What is added while a page is open belongs to it."""
    other = shop.root.parent / "later"
    with listening(shop) as stream:
        git(shop.root, "worktree", "add", "-q", "-b", "later", str(other))
        with touching(task_file(other, "18")):  # it is watched soon
            heard_of(stream, {"18"})


def test_a_worktree_is_watched_whose_files_come_later(shop: Site) -> None:
    """Git names a worktree before its files stand: a slow checkout is waited for."""
    other = shop.root.parent / "slow"
    with listening(shop) as stream:
        git(shop.root, "worktree", "add", "-q", "--no-checkout", "-b", "slow", str(other))
        for _ in range(3):  # that one more is there is heard of, and all are watched again
            stream.until("23")
        git(other, "reset", "-q", "--hard")
        with touching(task_file(other, "18")):
            heard_of(stream, {"18"})


def run_apart(main: Coroutine[object, object, T]) -> T:
    """Return what a coroutine returns; in a thread of its own, since that of the browser may have a loop already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(asyncio.wait_for(main, PATIENCE))).result()


def test_what_cannot_be_watched_is_not_live(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no more to watch with, streams end, and no other one begins for a while."""

    def refused(*_: object) -> AsyncIterator[frozenset[str]]:
        raise OSError("no space left on device")

    monkeypatch.setattr(watching, "changes", refused)

    async def main() -> bool:
        changes = events.Changes(Shown(scene.root))
        assert changes.is_open
        heard = [each async for each in changes.stream()]
        assert heard[0].startswith(b"retry:")
        is_open = changes.is_open
        changes.end()
        return is_open

    assert not run_apart(main())


def test_idiomorph_is_the_one_that_was_published() -> None:
    """The vendored file is as its authors made it, with its licence beside it; our own script is short."""
    data = resources.path("templates/page/idiomorph.js").read_bytes()
    assert hashlib.sha256(data).hexdigest() == IDIOMORPH
    licence = resources.text("templates/page/idiomorph.LICENSE")
    assert "idiomorph 0.8.0" in licence
    assert "Zero-Clause BSD" in licence
    own = resources.text("templates/page/page.js")
    assert own.count("\n") <= 200
    assert len(data) + len(own.encode()) <= 24 * 1024


@pytest.mark.parametrize("name", ["task-9\n\nevent: changed\ndata: x-state.md", "task-a b-state.md", "task--state.md"])
def test_the_name_of_a_file_that_is_none_of_a_task_is_not_told(name: str) -> None:
    """It may hold anything, lines of the stream among it."""
    assert events.task_of(f"/repository/.taskstate/tasks/{name}") == ""
    assert events.task_of("/repository/.taskstate/tasks/task-auth-2-state.md") == "auth-2"
