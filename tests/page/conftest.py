"""Chromium, the one of the machine, and repositories that a real `taskstate serve` shows to it."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from taskstate.storage.lock import locked
from tests.page import scene as scenes
from tests.page.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Response

GIVEN = os.environ.get("TASKSTATE_CHROMIUM", "")  # read before the tests have an environment that is nobody's
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# What takes long and is seldom broken, or another test has in short.
WHOLE = pytest.mark.skipif("PAGE_MATRIX" not in os.environ, reason="`make page-matrix` runs it")
PATIENCE = 30  # seconds, for each wait: a machine may be busy, and a test that passes does not wait
expect.set_options(timeout=PATIENCE * 1000)


class Site:
    """A repository that a process serves, and the address that it printed."""

    def __init__(self, root: Path, *flags: str) -> None:
        self.root = root
        words = [sys.executable, "-m", "taskstate", "serve", "--port", "0", *flags]
        around = os.environ | {"TASKSTATE_ACTOR": "maria"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, cwd=root, env=around, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        said, until = "", time.monotonic() + PATIENCE
        while not (found := re.search(r"(http://\S+)/\?token=([\w-]+)\n", said)):
            assert self.process.stdout
            assert time.monotonic() < until, said
            assert select.select([self.process.stdout], [], [], PATIENCE)[0], said
            said += os.read(self.process.stdout.fileno(), 4096).decode()
            assert self.process.poll() is None or said, self.process.communicate()
        self.said, (self.url, self.token) = said, found.groups()

    def state(self, task: str) -> Path:
        """Return the state file of a task."""
        return self.root / ".taskstate" / "tasks" / f"task-{task}-state.md"

    def end(self) -> tuple[int, str, float]:
        """End it as Ctrl-C does; return its exit status, what it said on standard error, and how long it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=PATIENCE)[1].decode()
        return self.process.returncode, said, time.monotonic() - begin

    def run(self, *words: str, status: int | None = 0) -> str:
        """Run a command in the repository, as somebody does in a terminal, and return what it printed."""
        around = os.environ | {"TASKSTATE_ACTOR": "ada"}
        words = (sys.executable, "-m", "taskstate", *words)
        done = subprocess.run(words, cwd=self.root, env=around, capture_output=True, check=False)
        assert status in {None, done.returncode}, done.stderr.decode()
        return done.stdout.decode()

    def json(self, *words: str, status: int | None = 0) -> Any:  # noqa: ANN401 - any JSON
        """Run a command, and return its data."""
        return json.loads(self.run(*words, "--format", "json", status=status))["data"]


@contextmanager
def serving(root: Path, *flags: str) -> Iterator[Site]:
    """Serve a repository; the process ends with Ctrl-C, and says nothing then."""
    site = Site(root, *flags)
    try:
        yield site
    finally:
        status, said, _ = site.end()
    assert "Traceback" not in said, said
    assert status in {0, 128 + signal.SIGINT}, said


@contextmanager
def browsing() -> Iterator[Browser | str]:
    """Yield the browser of the machine, or why there is none."""
    found = next(filter(None, map(shutil.which, (GIVEN,) if GIVEN else PROGRAMS)), None)
    if found is None:
        named = f"TASKSTATE_CHROMIUM is {GIVEN!r}, which is no program" if GIVEN else "there is none on the PATH"
        yield f"needs Chromium: {named}; install it, or name it in TASKSTATE_CHROMIUM"
        return
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=alone)
        except Error as error:
            yield f"needs Chromium: {found} does not start: {error.message.splitlines()[0]}"
            return
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Return the browser of the machine; without one the tests are skipped, and say so.

    While it lives a loop runs in this thread, in which no other test could run its own.
    """
    with browsing() as found:
        if isinstance(found, str):
            pytest.skip(found)
        yield found


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Return what a lead sees on a usual day; tests that write take a copy."""
    return _made_once(tmp_path_factory, scenes.usual)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Return a repository in which each text tries to run a script."""
    return _made_once(tmp_path_factory, scenes.hostile)


def _made_once(folders: pytest.TempPathFactory, make: Callable[[Path], Scene]) -> Scene:
    """Return a repository that whichever worker comes first makes, for all of them."""
    here = folders.getbasetemp()
    shared = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
    folder = shared / f"page-{make.__name__}"
    is_made = folder / "is-made"
    with locked(shared / f"{folder.name}.lock", timeout=300):
        if not is_made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder / "shop")
            is_made.touch()
    return Scene(folder / "shop")


@pytest.fixture(scope="session")
def site(scene: Scene) -> Iterator[Site]:
    """Return a site that tests only look at."""
    with serving(scene.root) as site:
        yield site


@pytest.fixture(scope="session")
def shop(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a site with a second worktree, for tests that write each to tasks of its own."""
    root = shutil.copytree(scene.root, tmp_path_factory.mktemp("live") / "shop")
    Scene(root).git("worktree", "add", "-q", "-b", "billing", str(root.parent / "billing"))
    with serving(root) as site:
        yield site


@pytest.fixture
def own_site(scene: Scene, tmp_path: Path) -> Iterator[Site]:
    """Return a site whose repository is the test's own."""
    with serving(shutil.copytree(scene.root, tmp_path / "shop")) as site:
        yield site


class Visitor:
    """Somebody with a browser, and what it met: `errors` that must not be, and the `answers`."""

    def __init__(self, context: BrowserContext, host: str) -> None:
        self.context, self._host = context, host
        self.errors: list[str] = []
        self.answers: list[Response] = []

    @property
    def tab(self) -> Page:
        """The first tab."""
        return self.context.pages[0]

    def open(self) -> Page:
        """Open a tab, in which errors of the console, dialogs and requests to other hosts are noted."""
        tab = self.context.new_page()
        tab.on("console", self._console)
        tab.on("dialog", self._dialog)
        tab.on("pageerror", lambda error: self.errors.append(f"script: {error}"))
        tab.on("request", lambda asked: self._asked(asked.url))
        tab.on("response", lambda answer: self.answers.append(answer))  # noqa: PLW0108 - of a built-in it fails
        return tab

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(f"console: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, url: str) -> None:
        if urlsplit(url).scheme != "data" and urlsplit(url).netloc != self._host:
            self.errors.append(f"another host: {url}")


@contextmanager
def visiting(
    browser: Browser, site: Site, *, width: int = 1280, is_dark: bool = False, script: bool = True
) -> Iterator[Visitor]:
    """Visit a site with its token; nothing may go wrong in the browser meanwhile."""
    context = browser.new_context(
        base_url=site.url,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if is_dark else "light",
        java_script_enabled=script,
    )
    context.set_default_timeout(PATIENCE * 1000)
    visitor = Visitor(context, urlsplit(site.url).netloc)
    visitor.open().goto(f"/?token={site.token}")
    try:
        yield visitor
    finally:
        context.close()
    assert visitor.errors == []
