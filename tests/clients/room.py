"""A room for one client: a repository with task 101, a HOME of its own, and sessions in a network of loopback alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.clients.table import PROMPT, Client, filled
from tests.support.git_place import GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.clients.model import JSON, Call, Step

ROOT = Path(__file__).parents[2]
STATE = f".taskstate/tasks/task-{TASK}-state.md"
LIMIT = 90  # seconds of a session, which takes five
_ROOT = () if os.geteuid() == 0 else ("--map-root-user",)
NAMESPACES = ("unshare", *_ROOT, "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
_SAID = {"system", "messages", "instructions", "input", "systemInstruction", "contents"}
# First on the client's path: keeps what each hook is given and answers, in the order of the calls.
_RECORDER = """\
#!/bin/sh
[ "$1" = hook ] || exec "{python}" -m taskstate "$@"
call={records}/$(date +%s%N)-$$
pwd >$call.folder
echo "$2" >$call.event
cat >$call.input
"{python}" -m taskstate "$@" <$call.input >$call.answer
status=$?
cat $call.answer
exit $status
"""


class HookCall(NamedTuple):
    """A call of a hook: our event, the folder in which it ran, what the client gave, and what it was answered."""

    event: str
    folder: str
    given: JSON
    answer: JSON


class Session(NamedTuple):
    """A session that is over: its client, its exit status, what it printed, asked of the model, and called as hooks."""

    client: Client
    status: int
    said: str
    requests: Mapping[str, Sequence[JSON]]  # by script
    hooks: Sequence[HookCall]

    def new(self, number: int, script: str = "main") -> str:
        """Return what the model read first in a request of a script: all of the first, and what came with a later one.

        A negative number counts from the last request.
        """
        asked = self.requests.get(script, ())
        number = number if number >= 0 else len(asked) + number
        assert 0 <= number < len(asked), f"{self.client}: only {len(asked)} requests of {script!r}: {self.said[-2000:]}"
        before = set(_read(asked[number - 1])) if number else set()
        return "\n".join(text for text in _read(asked[number]) if text not in before)

    def all(self, number: int, script: str = "main") -> str:
        """Return all that the model read in a request of a script."""
        return "\n".join(_read(self.requests[script][number]))

    def holds(self, number: int, *expected: str, script: str = "main") -> None:
        """Assert that the model read these texts in a request of a script."""
        text = self.new(number, script)
        missing = [each for each in expected if each not in text]
        assert not missing, f"{self.client}: request {number} of {script!r} is without {missing}:\n{text[-3000:]}"


class Room:
    """A client, its HOME, and a repository on branch 101-jwt that `init --agent` has set up for it."""

    def __init__(self, client: Client, folder: Path, *arguments: str) -> None:
        self.client, self.folder, self.home = client, folder, folder / "home"
        folder.mkdir(exist_ok=True)
        self.place = GitPlace(folder / "repository")
        self.place.git("checkout", "--quiet", "-b", f"{TASK}-jwt")
        for name in ("bin", "records", "scratch"):
            (folder / name).mkdir()
        self.configure()
        recorder = filled(_RECORDER, {"python": sys.executable, "records": folder / "records"})
        _write(folder / "bin" / "taskstate", recorder).chmod(0o755)
        _write(self.home / ".profile", f'PATH="{folder}/bin:$PATH"\n')  # a login shell forgets the client's own
        if arguments:
            self.taskstate("init", "--agent", client.name, *arguments)
            self.place.commit("set up")

    def configure(self, model: str = "gpt-5.5") -> None:
        """Write the client's own configuration; the tools that Codex has depend on the model."""
        for name, text in self.client.files.items():
            _write(self.home / name, filled(text, {"root": self.place.root, "model": model}))

    def taskstate(self, *arguments: str) -> str:
        """Run a command of taskstate that succeeds, and return what it printed."""
        command = [sys.executable, "-m", "taskstate", *arguments]
        done = subprocess.run(
            command, cwd=self.place.root, env=os.environ | self.env(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def env(self) -> dict[str, str]:
        """Return the whole environment of the client."""
        node = Path(shutil.which("node") or "/usr/bin/node").parent
        return {
            "HOME": str(self.home),
            "XDG_STATE_HOME": f"{self.home}/.local/state",  # what a person has said holds for the client, too
            "PATH": f"{self.folder}/bin:{node}:/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(self.folder / "scratch"),
            "CLAUDE_CODE_TMPDIR": str(self.folder / "scratch"),
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            **self.client.env,
        }

    def call(self, what: str, **given: Any) -> Call:  # noqa: ANN401 - any JSON
        """Return the call of a tool of this client; `path` is relative to the repository."""
        return self.client.call(what, **{"root": self.place.root, "path": STATE, **given})

    def play(
        self,
        *steps: Step,
        mode: str = "",
        prompt: str = PROMPT,
        more: Sequence[str] = (),
        env: Mapping[str, str] = MappingProxyType({}),
        **parts: Sequence[Step],
    ) -> Session:
        """Run one session of the client in which the model takes these steps, and sub-agents those of `parts`."""
        begun = {path.name for path in (self.folder / "records").iterdir()}
        arguments = self.client.modes[mode or next(iter(self.client.modes))]
        words = [str(self.client.installed()), *self.client.command, *more, *arguments]
        session = {
            "command": filled(words, {"prompt": prompt}),
            "folder": str(self.place.root),
            "env": {**self.env(), **env},
            "limit": LIMIT,
            "scripts": {"main": steps, **parts},
        }
        done = self.inside("-m", "tests.clients.inside", stdin=json.dumps(session))
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        asked: dict[str, list[JSON]] = {}
        for each in result["requests"]:
            asked.setdefault(each["script"], []).append(each["body"])
        return Session(self.client, result["status"], result["said"], asked, [*self._hooks(begun)])

    @staticmethod
    def inside(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run Python in namespaces of its own: no network but loopback, and no process that outlives it."""
        return subprocess.run(
            [*NAMESPACES, sys.executable, *arguments],
            cwd=ROOT,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT + 30,
        )

    def _hooks(self, begun: set[str]) -> Iterator[HookCall]:
        for path in sorted((self.folder / "records").glob("*.answer")):
            if path.name not in begun:
                folder, event, given = (
                    path.with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".folder", ".event", ".input")
                )
                answer = json.loads(path.read_text(encoding="utf-8") or "{}")
                yield HookCall(event.strip(), folder.strip(), json.loads(given), answer)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _read(body: JSON) -> list[str]:
    """Return the texts of a request that the model reads as what is said to it: no definitions of tools."""
    return [*_texts([value for key, value in body.items() if key in _SAID])]


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the texts of a request, but for the calls that the model made itself."""
    if isinstance(value, dict):
        own = value.get("type") in {"tool_use", "function_call", "custom_tool_call"} or "functionCall" in value
        value = [] if own else [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
