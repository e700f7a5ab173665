"""What all tests share: hypothesis profiles, an environment that is nobody's, a repository, and the real command line.

What only one module needs stays there; strategies are shared from `tests/properties/…strategies.py`.
"""

from __future__ import annotations

import gc
import math
import os
import pkgutil
import signal
import subprocess
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, settings

import taskstate
from taskstate.storage import callers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    RunCli: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

# "ci" (built on hypothesis's own) draws the same examples each time, so that a red run is the fault of the change;
# new counterexamples are looked for by "fuzz". Hypothesis also draws the constants of all modules of ours that are
# imported by then, so all of them are: otherwise the examples would depend on which tests ran before.
for module in pkgutil.walk_packages(taskstate.__path__, "taskstate."):
    if module.name != "taskstate.__main__":
        import_module(module.name)
settings.register_profile("ci", settings.get_profile("ci"), max_examples=30)  # `make fuzz` looks for longer
settings.register_profile("dev", deadline=None, max_examples=200)
settings.register_profile(
    "quick",  # while working, and for each change of the code that `make mutants` tries; nothing is shrunk
    settings.get_profile("ci"),
    max_examples=20,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
settings.register_profile("fuzz", settings.get_profile("dev"), max_examples=2_000, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
settings.load_profile(PROFILE)

_STOP = time.monotonic() + (float(os.environ.get("TASKSTATE_FUZZ_SECONDS", "inf")) if PROFILE == "fuzz" else math.inf)


def pytest_xdist_auto_num_workers() -> int:
    """Use one worker more than there are cores: tests wait for processes a fifth of their time."""
    return (os.cpu_count() or 1) + 1


def pytest_runtest_setup() -> None:
    """Skip what a round of `make fuzz` has not begun when its time is up."""
    if time.monotonic() > _STOP:
        pytest.skip("the time given to fuzzing is over")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the thousands of tests, which stay: tests that collect took a second each."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let Ctrl-C reach the processes that tests start, also where a shell runs the tests in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def nobodys_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep git configuration, language, state, settings and client of whoever runs the tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("GIT_", "TASKSTATE_", "CLAUDE", "CODEX_", "GEMINI_", "CURSOR_", "AI_AGENT")):
                patch.delenv(name)
        own = tmp_path_factory.mktemp("git") / "config"
        own.write_text("[core]\n\tfsync = none\n", encoding="utf-8")
        patch.setenv("GIT_CONFIG_GLOBAL", str(own))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("NO_COLOR", "1")
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setattr(callers, "processes", lambda: iter(()))  # a test is no client, and may run in one
        # No test cuts the power, and a hundred thousand waits for the disk are minutes. That the product syncs, and in
        # which order, tests/storage/test_files.py sees from the calls; a wrong descriptor is an error as before.
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a new git repository on branch main, without commits, with an author of its own."""
    root = tmp_path / "repository"
    for command in (
        ("init", "--quiet", "--initial-branch=main", str(root)),
        ("-C", str(root), "config", "user.name", "Somebody"),
        ("-C", str(root), "config", "user.email", "somebody@example.invalid"),
    ):
        subprocess.run(["git", *command], check=True, stdin=subprocess.DEVNULL)
    return root


@pytest.fixture
def run_cli(repository: Path) -> RunCli:
    """Return a function that runs the command line as a real process in `repository`, and returns what it said."""

    def run(
        *arguments: str | Path, stdin: str = "", cwd: Path = repository, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "taskstate", *map(str, arguments)],
            cwd=cwd,
            env=os.environ | (env or {}),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run
