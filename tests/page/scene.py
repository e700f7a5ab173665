"""Repositories to look at in a browser, made by the command line: a lead's on a usual day, and a hostile one."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from taskstate.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Self

HOUR = 3600
ALERT = "<img src=x onerror=alert(1)>"
# Each is a try to run a script, or to have the browser ask somebody else.
TRIES = (
    ALERT,
    '"></pre></textarea></title></style><script>alert(1)</script>',
    "[click](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
    "![picture](//evil.example/a.png) ![p](http://evil.example/b.png) [link](//evil.example/c) <svg/onload=alert(1)>",
    '<style>*{background:url(//evil.example/d)}</style><link rel=stylesheet href="//evil.example/e.css">',
    "' onmouseover='alert(1)' autofocus onfocus=alert(1) x=\" {{ 7 * 7 }} {% raw %} &lt;script&gt;",
)
EVERYTHING = " ".join(TRIES)
TOLD = ("--description", "\n\n".join(TRIES), "--criterion", EVERYTHING, "--feature", f"x-1={EVERYTHING}")
NAME = ALERT  # of a file, and of a worktree
BRANCH = "<img/src=x/onerror=alert(1)>\"'{{7-7}}"  # which may hold no blank
TASKS: Mapping[str, tuple[str, ...]] = {
    "17": ("One error page for all shops", "frontend", "P2", "Each shop has its own, and none says what to do."),
    "18": ("JWT service", "auth", "P1", "Issue tokens that expire, and verify them."),
    "20": (
        "Rotate signing keys without logging anybody out",
        "auth",
        "P1",
        "The service signs with one key for ever. Let it rotate daily; tokens of the key before stay valid for a day.",
    ),
    "21": ("Login with a passkey", "auth", "P1", "Let people log in without a password."),
    "22": ("A mail queue that survives a restart", "mail", "P0", "No mail may be lost, and none sent twice."),
    "23": (
        "Invoices in three currencies",
        "billing",
        "P2",
        "Each with the rounding rules of its tax office.",
    ),
    "24": ("Overview of tax rates", "billing", "P2", "One page, by country and year.", "--depends-on", "23"),
    "25": ("Import of old customers", "billing", "P2", "The old shop has 40,000 of them."),
    "26": ("Pages for help", "docs", "P3", "Ten pages, each for one question."),
    "27": ("Old invoices as PDF/A", "billing", "P2", "They are to be kept for ten years."),
}


class Scene:
    """A repository in `root`, in which commands run as if it were some hours ago."""

    def __init__(self, root: Path, ago: float = 0.5) -> None:
        self.root, self.ago = root, ago  # hours

    @classmethod
    def new(cls, root: Path) -> Self:
        """Return a new one, which begins ten days ago."""
        scene = cls(root, 240)
        root.mkdir(parents=True)
        scene.git("init", "--quiet", "--initial-branch=main")
        scene.git("config", "user.name", "Lena")
        scene.git("config", "user.email", "lena@example.invalid")
        return scene

    def git(self, *words: str) -> None:
        """Run git, at the time that it is."""
        at = f"{int(time.time() - self.ago * HOUR)} +0000"
        dated = os.environ | {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        subprocess.run(["git", *words], cwd=self.root, env=dated, check=True, capture_output=True)

    def commit(self, message: str) -> None:
        """Commit all that is there."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-verify", "--message", message)

    def write(self, path: str, text: str) -> None:
        """Write a file of the repository, so that it is as old as what happens then."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        at = time.time() - self.ago * HOUR
        os.utime(place, (at, at))

    def add(self, path: str, text: str) -> None:
        """Write more at the end of a file."""
        self.write(path, (self.root / path).read_text(encoding="utf-8") + text)

    def state(self, task: str) -> Path:
        """Return the state file of a task."""
        return self.root / ".taskstate" / "tasks" / f"task-{task}-state.md"

    def __call__(self, *words: str, by: str = "lena", later: float = 0.1) -> None:
        """Run a command of taskstate some hours later than the one before."""
        self.ago = max(self.ago - later, 0)
        said = io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.chdir(self.root),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            patch.setenv("TASKSTATE_ACTOR", by)
            _set_back(patch, self.ago * HOUR)
            status = main(words)
        assert status in {0, 1}, (words, said.getvalue())

    def finish(self, task: str, did: str, *more: str, by: str, later: float = 0.5) -> None:
        """End a turn."""
        words = ("--did", did, "--state", f"{did}, and it was tried", "--next", "Look at it")
        self("finish", task, *words, *more, by=by, later=later)


def _set_back(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the clock of this process be slow, as far as commands ask it."""
    gmtime = time.gmtime

    class Slow(dt.datetime):
        """A clock that is slow."""

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Self:
            """Return a time that is over."""
            return super().now(tz) - dt.timedelta(seconds=seconds)

    patch.setattr(dt, "datetime", Slow)
    patch.setattr(time, "gmtime", lambda at=None: gmtime(time.time() - seconds if at is None else at))


def usual(root: Path) -> Scene:
    """Return what a lead sees: drift, work sent back twice, a silent turn, a decision, some at work, some complete."""
    scene = Scene.new(root)
    for name in ("auth/keys", "auth/login", "mail/queue", "billing/invoice"):
        scene.write(f"src/{name}.py", f'"""{name}"""\n\n\ndef run():\n    return 1\n')
    scene("init")
    scene.commit("Set up")
    scene("new", "1", "--kind", "permanent", "--title", "What all agents share", "--description", "A shop.")
    for task, (title, area, priority, goal, *more) in TASKS.items():
        criteria = ("--criterion", f"{title} works", "--criterion", "It is documented")
        features = ("--feature", f"a-{task}=does what it says", "--feature", f"b-{task}=says what it does")
        scene("new", task, "--title", title, "--description", goal, *criteria, *features, *more)
        scene("edit", task, "--area", area, "--priority", priority, later=0)
    scene.commit("Tasks")
    _complete(scene, "17")
    scene.ago = 26
    _complete(scene, "18")
    _drift(scene)
    _sent_back(scene)
    _long(scene)
    scene("edit", "27", "--blocked", "The archive of the accountants is closed until Monday", later=1)
    scene.commit("Work of today")
    scene.ago = 3.2
    fixed = (root / "src/auth/keys.py").read_text(encoding="utf-8").replace("return 2", "return 3  # quick fix")
    scene.write("src/auth/keys.py", fixed)  # before the turns that are open: it is nobody's
    scene("start", "22", "--agent", "dora", by="dora")
    scene.ago = 1.5
    scene("start", "25", "--agent", "fay", by="fay")
    text = "All amounts are integers of the smallest unit."
    words = ("--title", "Money is counted in cents", "--decision", text, "--rationale", "Floats round.")
    scene("permanent", "decide", *words, by="fay", later=0.9)
    return scene


def _complete(scene: Scene, task: str) -> None:
    scene("start", task, "--agent", "ada", by="ada")
    passed = ("--pass", f"a-{task}", "--pass", f"b-{task}", "--evidence", "pytest: 8 passed", "--check", "1,2")
    scene.finish(task, "Wrote the service", *passed, by="ada")
    scene("complete", task, "--force", "--note", "Reviewed by hand")


def _drift(scene: Scene) -> None:
    scene("start", "20", "--role", "implementer", "--agent", "ada", by="ada", later=4)
    scene.add("src/auth/keys.py", "\n\ndef rotate():\n    return 2\n")
    passed = ("--pass", "a-20", "--evidence", "pytest -k rotate: 3 passed", "--check", "1")
    scene.finish("20", "Wrote rotate()", *passed, by="ada")
    scene.commit("Rotation for task 20")


def _sent_back(scene: Scene) -> None:
    scene("start", "21", "--role", "implementer", "--agent", "bo", by="bo")
    scene.add("src/auth/login.py", "\n\ndef login():\n    return 2\n")
    scene.finish("21", "Wrote login()", by="bo")
    finding = "src/auth/login.py: a replayed challenge is accepted"
    for turn, where in enumerate(("in memory", "on disk")):
        back = ("--send-back", "implementer", *(("--keep", "1") if turn else ("--finding", finding)))
        scene("start", "21", "--role", "reviewer", "--agent", "rita", by="rita")
        scene.finish("21", "Read the diff", *back, by="rita")
        scene("start", "21", "--agent", "bo", by="bo")
        scene.add("src/auth/login.py", f"# kept {where}\n")
        scene.finish("21", f"Kept it {where}", "--answer", f"1=Challenges are kept {where}", by="bo")
    scene("start", "21", "--role", "reviewer", "--agent", "rita", by="rita")
    scene.finish("21", "Read it again", "--send-back", "implementer", "--keep", "1", by="rita")
    scene.commit("Passkeys for task 21")


def _long(scene: Scene) -> None:
    """Record so many sessions that older ones are archived."""
    scene("start", "23", "--agent", "eli", by="eli")
    for number in range(4):
        did = f"Compared country {number} with the law: wintergreen-{number}"
        scene("session", "add", "23", "--did", did, "--state", "Fine", "--next", "Go on", by="eli")
    scene.finish("23", "Wrote the rules down", by="eli")
    scene("archive", "23", "--keep", "2", "--force", by="eli", later=0)


def hostile(root: Path) -> Scene:
    """Return a repository in which each text that somebody may write tries to run a script in the browser.

    Of each kind: state files, an archive, a handoff, a progress file, what all share with its Impact Map, the
    configuration, and the names of files, branches and worktrees.
    """
    scene = Scene.new(root)
    scene.write("src/a.py", "a = 1\n")
    scene("init")
    name, text = json.dumps(NAME), json.dumps(EVERYTHING)
    tables = f'[[standards]]\ncite = [{text}]\narea = {text}\n\n[permanent]\nwriters = ["lena", {name}, {text}]\n'
    scene.write("taskstate.toml", tables)
    scene.commit(ALERT)
    _hostile_tasks(scene)
    _hostile_turns(scene)
    _hostile_map(scene)
    scene.commit(EVERYTHING)
    other = root.parent / NAME
    scene.git("worktree", "add", "--quiet", "-b", BRANCH, str(other))
    Scene(other)("edit", "3", "--title", f"Otherwise {EVERYTHING}")
    scene.write("src/a.py", f"a = 3  # {EVERYTHING}\n")
    _hostile_damage(scene)
    return scene


def _hostile_tasks(scene: Scene) -> None:
    """Create tasks whose every field is hostile."""
    scene("new", "1", "--kind", "permanent", "--title", EVERYTHING, "--description", EVERYTHING)
    more = ("--epic", TRIES[5], "--repository", EVERYTHING, "--prd", EVERYTHING, "--path", NAME, "--agent", ALERT)
    scene("new", "2", "--title", EVERYTHING, *TOLD, "--area", TRIES[1], *more)
    scene("new", "3", "--title", TRIES[1], *TOLD, "--depends-on", "2", "--validation", f"true '{ALERT}'")
    for task in ("4", "5", "8", "9"):
        scene("new", task, "--title", TRIES[int(task) % len(TRIES)], *TOLD)
    for number in range(4):
        words = ("--state", EVERYTHING, "--next", EVERYTHING, "--verified", EVERYTHING, "--issue", EVERYTHING)
        scene("session", "add", "4", "--did", f"{number} {EVERYTHING}", *words, by=ALERT)
    scene("archive", "4", "--keep", "1", "--force")
    scene("edit", "5", "--blocked", EVERYTHING)
    scene("complete", "8", "--force", "--note", EVERYTHING)
    scene("drop", "9", "--note", EVERYTHING)
    scene("reopen", "9", "--note", EVERYTHING)
    scene.commit(EVERYTHING)


def _hostile_turns(scene: Scene) -> None:
    """Work on a task, with files of such names, send it back, and hand it over."""
    scene("start", "2", "--role", "implementer", "--agent", ALERT, by=ALERT)
    scene.write(f"src/{NAME}.py", f"{EVERYTHING}\n")
    scene.write("src/a.py", f"a = 2  # {EVERYTHING}\n")
    proof = ("--pass", "x-1", "--evidence", EVERYTHING, "--check", "1")
    scene.finish("2", EVERYTHING, "--issue", EVERYTHING, *proof, by=ALERT)
    scene("start", "2", "--role", "reviewer", "--agent", TRIES[5], by=TRIES[5])
    scene.finish("2", f"```\n{EVERYTHING}\n```", "--send-back", "implementer", "--finding", EVERYTHING, by=TRIES[5])
    scene("feature", "pass", "2", "x-1", "--run", f"echo '{ALERT}'", by=ALERT)
    scene("phase", "add", "2", "1", "--name", EVERYTHING, "--objective", EVERYTHING)
    scene("phase", "export", "2", "1")
    place = ("--file", "src/a.py", "--location", EVERYTHING, "--decision", f"d: {EVERYTHING}", "--context", EVERYTHING)
    more = ("--avoid", f"a: {EVERYTHING}", "--ref", f"src/a.py, {EVERYTHING}")
    scene("handoff", "new", "2", "--phase", "1", "--action", EVERYTHING, "--goal", EVERYTHING, *place, *more)


def _hostile_map(scene: Scene) -> None:
    """Fill what all share: a decision, a section, a reader, and the Impact Map with a claim of a task."""
    scene("permanent", "decide", "--title", EVERYTHING, "--decision", EVERYTHING, "--rationale", EVERYTHING)
    scene.write("section.md", f"- **{ALERT}**: {EVERYTHING}\n")
    scene("permanent", "update", "--section", "Constraints", "--from", "section.md", "--note", EVERYTHING)
    scene("permanent", "ack", "--agent", ALERT, "--version", "1")
    scene("impact", "add", "module", "core", "--path", "src/a.py")
    scene("impact", "add", "module", "names", "--path", "src/*.py", "--depends-on", "core")
    scene("impact", "add", "interface", "calls", "--between", "core,names", "--contract", EVERYTHING)
    scene("impact", "add", "ripple", "far", "--path", "core,names", "--note", EVERYTHING)
    scene("impact", "check", "3", "--files", f"src/a.py,src/{NAME}.py", "--record", "--note", EVERYTHING)


def _hostile_damage(scene: Scene) -> None:
    """Create tasks whose files cannot be read, because of what somebody put there."""
    scene("new", "6", "--title", "Broken", *TOLD)
    broken = scene.state("6").read_text(encoding="utf-8")
    scene.state("6").write_text(broken.replace('"features": [', f'"features": [{ALERT}', 1), encoding="utf-8")
    scene("new", "7", "--title", "Unread", *TOLD)
    scene.state("7").write_text(f"---\nid: {ALERT}\ntitle: [{EVERYTHING}\n---\n", encoding="utf-8")
