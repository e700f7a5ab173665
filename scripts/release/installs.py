"""Installs taskstate in each way that README names, and does as told where an extra is missing: `make install-check`.

Each way has a new environment and a new repository. A command that needs an extra must say what to run; a shell runs it
as it stands, and then the command works, and so do those that were cured before it. Exit status: 0 if all of this
holds, 1 if not, 2 where no package index is reached, so that nothing was tried.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from scripts.release.distributions import ROOT, NotMade, build_twice, copied, said
from taskstate.version import VERSION

_ALL = "lsp,mcp,page,pre-commit,query,tokens"
_NEW_VENV = "{python} -m venv venv && venv/bin/python -m pip install --quiet {what}"
_AUTHOR = {f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
_SECONDS, _SHOWN = 600, 800
_PATH = [each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "taskstate").exists()]
# What a session of ours, or of a person, has set for another environment.
_FOREIGN = re.compile(r"VIRTUAL_ENV|PYTHON|GIT_|UV_TOOL|PIPX_|TASKSTATE_|PRE_COMMIT")


class Way(NamedTuple):
    """A way to install: the line for a shell, where its programs are then, and whether that is on the PATH."""

    name: str
    line: str
    programs: str = "venv/bin"
    is_on_path: bool = True
    is_bare: bool = True


WAYS = (
    Way("the wheel, by pip", _NEW_VENV.replace("{what}", "{wheel}")),
    Way("the wheel with all extras, by pip", _NEW_VENV.replace("{what}", f"'{{wheel}}[{_ALL}]'"), is_bare=False),
    Way("the repository's address, by pip", _NEW_VENV.replace("{what}", "'git+{address}'"), is_on_path=False),
    Way(
        "the wheel, by uv pip", "uv venv --quiet venv && uv pip install --quiet --python venv {wheel}", is_on_path=False
    ),
    Way("a checkout, by uv tool", "uv tool install --quiet {checkout}", "bin"),
    Way("an editable checkout, by uv tool", "uv tool install --quiet --editable {checkout}", "bin"),
    Way("the repository's address, by uv tool", "uv tool install --quiet 'git+{address}'", "bin"),
    Way(
        "a checkout with all extras, by uv tool",
        f"uv tool install --quiet '{{checkout}}[{_ALL}]'",
        "bin",
        is_bare=False,
    ),
    Way("a checkout, by pipx", "pipx install --quiet {checkout}", "bin"),
    Way("the repository's address, by pipx", "pipx install --quiet 'git+{address}'", "bin"),
    Way(
        "the address with all extras, by pipx",
        f"pipx install --quiet 'taskstate[{_ALL}] @ git+{{address}}'",
        "bin",
        is_bare=False,
    ),
)
WORK = (
    "taskstate --version",
    "taskstate init",
    "taskstate new 1 --title T --description D --criterion C --feature f-1=x",
    "taskstate lint",
    "git add --all && git commit --quiet --message 'Set up'",
)
# What needs an extra; each says so by itself, and may be done twice.
NEEDS = (
    "taskstate lsp || test $? = 1",  # by its protocol, for an editor that leaves without a word
    "taskstate mcp",
    "taskstate init --agent claude",
    "taskstate report --output page.html",
    "taskstate serve --port 0",
    "taskstate context budget 1",
    "taskstate query stuck",
)
HOOKS = "taskstate init --pre-commit"
WITH_HOOKS = "test -x .git/hooks/pre-commit && git add --all && git commit --quiet --message 'Hooks'"
_CURE = re.compile(r"`([^`]* install [^`]+|[^`]* install)`")  # what a message says to run


class Place(NamedTuple):
    """A folder with an installation and a repository in it, the environment of its commands, and how one calls it."""

    folder: Path
    env: dict[str, str]
    program: str

    def must(self, line: str, within: str = "repository") -> str:
        """Run a line as a person's shell does, and return what it printed.

        Raises:
            NotMade: it did not end well.
        """
        status, output = self.tried(line, within)
        if status:
            raise NotMade(f"`{line}` ended with {status}: {output.strip()[-_SHOWN:]}")
        return output

    def tried(self, line: str, within: str = "repository") -> tuple[int, str]:
        """Run a line, and return how it ended and what it printed; a server is ended once it serves."""
        serves = " serve " in line
        process = subprocess.Popen(
            ("sh", "-c", re.sub(r"^taskstate", f"{'exec ' * serves}{shlex.quote(self.program)}", line)),
            cwd=self.folder / within,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        first = process.stdout.readline() if serves and process.stdout else ""
        if served := first.startswith("http://"):
            process.terminate()
        output, _ = process.communicate(timeout=_SECONDS)
        return 0 if served else process.returncode, first + output

    def cure(self, line: str) -> str:
        """Return what a command says to install, or nothing where it works."""
        status, output = self.tried(line)
        found = _CURE.search(output)
        if status and not found:
            raise NotMade(f"`{line}` ended with {status} and names nothing to install: {output.strip()[-_SHOWN:]}")
        return found[1] if found else ""


def try_out(place: Place, way: Way) -> None:
    """Install in one way, work, and do what is said where an extra is missing.

    Raises:
        NotMade: something did not work, or not as it was said.
    """
    place.must(way.line, ".")
    place.must("git init --quiet repository", ".")
    said_version, *_ = [place.must(line) for line in WORK]
    if VERSION not in said_version:
        raise NotMade(f"`{WORK[0]}` says {said_version!r}, and not {VERSION}")
    silent = [line for line in NEEDS if bool(place.cure(line)) != way.is_bare]
    if silent:
        raise NotMade(f"{'no' if way.is_bare else 'a'} cure is named by {silent}")
    for line in NEEDS:
        if how := place.cure(line):
            print(f"    {how}")
            place.must(how)
    how = place.cure(HOOKS)
    print(f"    {how}")
    place.must(how)
    place.must(WITH_HOOKS)
    lost = [line for line in NEEDS if place.cure(line)]  # by what was installed afterwards
    if lost:
        raise NotMade(f"{lost} worked, and do not any more")


def _place(way: Way, folder: Path, tools: Path) -> Place:
    programs = folder / way.programs
    path = (*([programs] if way.is_on_path else []), tools, *_PATH)
    own = {
        "PATH": os.pathsep.join(map(str, path)),
        "UV_TOOL_DIR": str(folder / "uv"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PRE_COMMIT_HOME": str(folder / "hooks"),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    kept = {name: value for name, value in os.environ.items() if not _FOREIGN.match(name)}
    return Place(folder, kept | _AUTHOR | own, "taskstate" if way.is_on_path else str(programs / "taskstate"))


def _tools(folder: Path) -> Path:
    """Return where uv and pipx are, installed for this run alone."""
    try:
        said(sys.executable, "-m", "venv", str(folder), cwd=folder.parent)
        said(str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "uv", "pipx", cwd=folder)
    except NotMade as problem:
        raise NoIndex(str(problem)) from problem
    links = folder / "programs"  # and neither its Python nor its pip
    links.mkdir()
    for name in ("uv", "pipx"):
        (links / name).symlink_to(folder / "bin" / name)
    return links


class NoIndex(Exception):
    """No package index is reached."""


def main(wanted: str) -> int:
    """Try each way whose name has a text in it, print how it went, and return the exit status."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="taskstate-installs-") as name:
        folder = Path(name)
        try:
            tools = _tools(folder / "tools")
        except NoIndex as problem:
            print(f"installs: nothing was tried, for no package index is reached: {problem}", file=sys.stderr)
            return 2
        checkout = copied(ROOT, folder / "checkout")
        for line in ("git init --quiet", "git add --all", "git commit --quiet --message All"):
            said(*line.split(), cwd=checkout, env={**os.environ, **_AUTHOR, "GIT_CONFIG_GLOBAL": os.devnull})
        wheel = next(path for path in build_twice(checkout, folder / "built") if path.suffix == ".whl")
        values = {"wheel": wheel, "checkout": checkout, "address": checkout.as_uri(), "python": sys.executable}
        for index, way in enumerate(each for each in WAYS if wanted in each.name):
            (folder / str(index)).mkdir()
            print(way.name, flush=True)
            try:
                start = time.monotonic()
                try_out(_place(way, folder / str(index), tools), way._replace(line=way.line.format_map(values)))
                print(f"  works, {time.monotonic() - start:.0f} s", flush=True)
            except (NotMade, subprocess.TimeoutExpired) as problem:
                print(f"  FAILED: {problem}", flush=True)
                failed += 1
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main(" ".join(sys.argv[1:])))
