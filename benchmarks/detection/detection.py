"""Damages each file, lints it in three ways, and does what the findings say; counts what was found, and how."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.detection import across_files, bodies, front_matter, projects, slips
from benchmarks.detection.damages import Damage, changed_lines
from benchmarks.detection.healthy import files
from benchmarks.measurement import Measurement
from taskstate.lint.engine import findings
from taskstate.model.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAMAGES = (*front_matter.DAMAGES, *bodies.DAMAGES, *across_files.DAMAGES, *slips.DAMAGES)
FILES = {
    "tool": "tasks/task-101-state.md",
    "hand": "tasks/task-205-state.md",
    "phased": "tasks/task-103-state.md",
    "complete": "tasks/task-104-state.md",
    "archive": "archives/task-101-archive.md",
    "handoff": "handoffs/task-103/phase-1-handoff-*.md",
    "progress": "progress/task-103/phase-1-progress.json",
}
# How the linter is run: without history, as an agent runs it, and as the hook does.
WAYS = {"plain": ("--against", "none"), "HEAD": ("--against", "HEAD"), "hook": ("--staged",)}
_COMMAND = r"`((?:taskstate|git) [^`]+)`"
# A whole line, to be written in place of that of the finding; not one in which a person has to fill in a time.
_LINE = r"write `(?!key:)(#+ (?:(?!YYYY|HH:MM)[^`<{…])+|\w+: [^`<{…]+)`(?! above)"
_ONLY_SHOWS = ("git show", "git log", "git diff", "taskstate rule", "taskstate show", "taskstate list")


_HEALTHY = 1_000
_MISSED, _SEVERAL, _NO_CURE, _FALSE = 0.02, 0.05, 0.02, 0.000_5  # the most of each that there may be


class Seen(NamedTuple):
    """A finding: file, line, code, and what it says."""

    file: str
    line: int
    code: str
    message: str
    help: str
    fixable: bool
    is_error: bool


class Outcome(NamedTuple):
    """What came of one damage, linted in one way; `found` is "at the line", "elsewhere" or "missed"."""

    damage: Damage
    way: str
    found: str
    seen: tuple[Seen, ...]
    cure: str = ""
    cured: bool = True


class Project:
    """The repository with sound files, and a copy of it to go back to after each damage."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.kept = folder / "kept"
        projects.make(self.root)
        shutil.copytree(self.root, self.kept)

    def path(self, key: str) -> Path:
        """Return the file that a damage names by its key."""
        return next((self.root / ".taskstate").glob(FILES[key]))

    def restore(self) -> None:
        """Make the repository again what it was."""
        shutil.rmtree(self.root)
        shutil.copytree(self.kept, self.root)

    def findings(self, way: str) -> tuple[Seen, ...]:
        """Lint the repository in one way, and return the findings."""
        if way == "hook":
            projects.git(self.root, "add", "--all")
        _, printed = projects.run(self.root, "lint", "--no-cache", "--format", "json", *WAYS[way])
        found = json.loads(printed[printed.index("{") :].split("\n")[0])["data"]["findings"]
        return tuple(
            Seen(
                file=each["path"],
                line=each["line"],
                code=each["code"],
                message=each["message"],
                help=each["help"],
                fixable=bool(each["fixable"]),
                is_error=each["severity"] == "error",
            )
            for each in found
        )

    def cure(self, seen: Seen) -> str:
        """Do what a finding says; return the command or line, or nothing where a person has to change the text."""
        written = re.match(_LINE, seen.help)
        commands = [one for one in re.findall(_COMMAND, seen.help) if not one.startswith(_ONLY_SHOWS)]
        if seen.fixable:
            command = (
                f"taskstate lint --fix {'--unsafe-fixes ' if 'unsafe' in seen.help else ''}{shlex.quote(seen.file)}"
            )
        elif written:
            path = self.root / seen.file
            lines = path.read_text(encoding="utf-8").split("\n")
            lines[seen.line - 1] = written[1]
            path.write_text("\n".join(lines), encoding="utf-8")
            return written[0]
        elif commands:
            command = re.sub(r"\b(?:TEXT|WHY|REASON)\b", "because", commands[0])
        else:
            return ""
        program, *arguments = shlex.split(command)
        if program == "git":
            projects.git(self.root, *arguments)
        else:
            projects.run(self.root, *arguments)
        return command


def outcomes(folder: Path, damages: tuple[Damage, ...] = DAMAGES) -> Iterator[Outcome]:
    """Yield what comes of each damage, in each way that can tell it."""
    project = Project(folder)
    for damage in damages:
        for way in WAYS:
            if way != "plain" or not damage.history:
                yield _outcome(project, damage, way)
                project.restore()


def _outcome(project: Project, damage: Damage, way: str) -> Outcome:
    path = project.path(damage.file)
    before = path.read_text(encoding="utf-8")
    after = damage.change(before)
    if after is None:
        path.unlink()
    else:
        path.write_bytes(after.encode() if isinstance(after, str) else after)
    seen = project.findings(way)
    text = after.decode("utf-8", "replace") if isinstance(after, bytes) else after
    found = _found(project, damage, seen, before, text)
    if way != "HEAD" or not seen:
        return Outcome(damage, way, found, seen)
    cure = project.cure(seen[0])
    # A cure may leave a warning, as that a session should tell of it; what it was for is gone, and no error is left.
    left = project.findings(way) if cure else ()
    cured = not any(each.is_error or each.code == seen[0].code for each in left) if cure else found == "at the line"
    return Outcome(damage, way, found, seen, cure, cured)


def _found(project: Project, damage: Damage, seen: tuple[Seen, ...], before: str, after: str | None) -> str:
    key = damage.elsewhere or damage.file
    path = (project.root / ".taskstate" / FILES[key]) if "*" not in FILES[key] else None
    name = path.name if path else "handoff"
    right = [each for each in seen if each.code in damage.codes.split() and name in each.file]
    if after is None and any(each.code == "TS012" in damage.codes for each in seen):
        return "at the line"
    if after is None and not damage.elsewhere:
        return "at the line" if right else "missed" if not seen else "elsewhere"
    text = after if after is not None and not damage.elsewhere else project.path(key).read_text(encoding="utf-8")
    lines = set(changed_lines(before, text)) if not damage.elsewhere else set()
    if before.startswith(text.rstrip()):  # its end was cut off
        lines.add(len(text.rstrip().splitlines()))
    for number, line in enumerate(text.splitlines(), 1):
        if damage.at and any(part in line for part in damage.at.split(" | ")):
            lines.add(number)
    if any(each.line in lines for each in right):
        return "at the line"
    return "elsewhere" if seen else "missed"


def detection(folder: Path) -> Iterator[Measurement]:
    """Measure how many damages are found at their line, with one finding, and with a cure that works."""
    came = list(outcomes(folder))
    for way in WAYS:
        own = [each for each in came if each.way == way]
        counts = {found: sum(each.found == found for each in own) for found in ("at the line", "elsewhere", "missed")}
        note = ", ".join(f"{count} {found}" for found, count in counts.items())
        missed = 1 - counts["at the line"] / len(own)
        yield Measurement(f"damages not found at their line ({way})", f"{len(own)} damages", missed, _MISSED, note)
        several = sum(len(each.seen) > 1 for each in own) / len(own)
        yield Measurement(f"damages with several findings ({way})", f"{len(own)} damages", several, _SEVERAL)
    told = [each for each in came if each.way == "HEAD" and each.seen]
    note = f"{sum(bool(each.cure) for each in told)} of them commands"
    failed = sum(not each.cured for each in told) / len(told)
    yield Measurement("cures that do not work in one step", f"{len(told)} cures", failed, _NO_CURE, note)
    wrong = sum(bool(findings(data, name, Config())) for name, data in files(_HEALTHY)) / _HEALTHY
    yield Measurement("findings in sound files", f"{_HEALTHY:,} files", wrong, _FALSE)
