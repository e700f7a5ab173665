"""Generates the pages of rules and commands, the package picture, the hook manifest, its entry for `init`, the plugin.

`--check` writes nothing and exits with 1 if a file is outdated.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import command_page, package_picture, plugin, query_page
from taskstate import resources
from taskstate.lint import rule_pages
from taskstate.lint.registry import RETIRED, rules

if TYPE_CHECKING:
    from taskstate.lint.diagnostics import Rule

ROOT = Path(__file__).resolve().parent.parent
# id, command, description, types of taskstate files that are passed to it (None: it looks for itself, at deletions too)
HOOKS = (
    ("taskstate-lint", "taskstate lint --staged", "Check state files, archives, handoffs and impact maps.", None),
    ("taskstate-archive-check", "taskstate archive --check", "Refuse a state file over its limit.", None),
    (
        "taskstate-archive",
        "taskstate archive --check --fix",
        "Archive what is over its limit, and stage it.",
        None,
    ),
    ("taskstate-fmt", "taskstate fmt", "Put state files into their canonical form.", ("state",)),
)
# A hook that rewrites files is chosen by those who want it; `init` does not set it up.
OFFERED = {"taskstate-archive", "taskstate-fmt"}
_MANIFEST_HEAD = """\
# What other repositories may use from this one; written by `make gen`. A hook that checks runs always and looks for
# itself: a manager passes no names of files that were deleted. Files are matched by name, anywhere, and not by type: a
# state file that is no longer text (a stray NUL) must reach the command, which says so.
"""


_COVERAGE = """\
# What is told of each part

For each part of each kind of document and each damage, the rule that tells it; a number in parentheses says below why
nothing is told. A test makes each damage of each part that the format's own tables have, in a file that is committed,
and finds this rule, once, at that line (with `*`: at the line where what holds the part begins). A part that is added
to the format has to be added here.
"""
_COVERED = {
    "state": "State file",
    "archive": "Archive",
    "handoff": "Handoff document",
    "permanent": "Permanent task",
    "progress": "Progress file",
    "impact-map": "Impact Map",
}


def generated() -> dict[str, str]:
    """Return the text of every generated file by its path from the root."""
    files = {f"docs/rules/{rule.RULE.code}.md": rule_pages.page(rule) for rule in rules()}
    files |= {f"docs/rules/{rule.code}.md": rule_pages.retired_page(rule) for rule in RETIRED}
    files["docs/rules/index.md"] = _index()
    files["docs/rules/coverage.md"] = _coverage()
    commands = "docs/commands.md"
    files[commands] = command_page.with_reference((ROOT / commands).read_text(encoding="utf-8"))
    files["docs/packages.svg"] = package_picture.picture()
    files[".pre-commit-hooks.yaml"] = _MANIFEST_HEAD + "\n".join(_manifest(*hook) for hook in HOOKS)
    files["hooks/pre-commit.yaml"] = "  - repo: local\n    hooks:\n" + "".join(
        _local(*hook) for hook in HOOKS if hook[0] not in OFFERED
    )
    files |= plugin.plugin_files()
    asking = "docs/questions.md"
    files[asking] = query_page.with_reference((ROOT / asking).read_text(encoding="utf-8"))
    autosave = "docs/autosave.md"
    files[autosave] = re.sub(
        r"(?m)^\| ending \|.*\n(\|.*\n)*", _endings(), (ROOT / autosave).read_text(encoding="utf-8")
    )
    return files


def _endings() -> str:
    """Return the table of how a session may end, as the scenarios with real clients have recorded it."""
    recorded = json.loads((ROOT / "tests" / "cases" / "autosave" / "endings.json").read_text(encoding="utf-8"))
    names = sorted(recorded)
    rows = [["ending", *names], ["---"] * (len(names) + 1)]
    rows += [
        [ending, *("a hook runs" if recorded[name][ending] else "no hook" for name in names)]
        for ending in sorted(recorded[names[0]], key=str.casefold)
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _coverage() -> str:
    """Return the page that says which rule tells each damage of each part of each kind of document."""
    lines, notes = [_COVERAGE], dict[str, int]()
    for kind, title in _COVERED.items():
        rows = json.loads((ROOT / f"tests/cases/coverage/{kind}.json").read_text(encoding="utf-8"))
        damages = list(dict.fromkeys(damage for row in rows.values() for damage in row if damage != "not there"))
        lines += [f"## {title}", "", f"| part | {' | '.join(damages)} |", f"| --- |{' --- |' * len(damages)}"]
        for part, row in rows.items():
            said = [_cell(row.get(damage, row.get("not there", "")), notes) for damage in damages]
            lines.append(f"| {part} | {' | '.join(said)} |")
        lines.append("")
    return "\n".join(
        [*lines, "## Why nothing is told", "", *(f"{number}. {note}" for note, number in notes.items()), ""]
    )


def _cell(said: str, notes: dict[str, int]) -> str:
    code, _, place = said.partition(" ")
    if not said or place not in {"", "at its part"}:
        return f"({notes.setdefault(said, len(notes) + 1)})" if said else ""
    return f"[{code}]({code}.md){'*' * bool(place)}"


def _index() -> str:
    lines = [
        "# Rules",
        "",
        "`taskstate rule CODE` shows the same pages.",
        "",
        "| code | name | severity | fix | what is wrong |",
        "| --- | --- | --- | --- | --- |",
    ]
    return "\n".join(lines) + "\n" + "".join(_row(rule.RULE) for rule in rules())


def _row(rule: Rule) -> str:
    fix = "yes" if rule.fixable else ""
    return f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {fix} | {rule.summary} |\n"


def _manifest(hook: str, entry: str, description: str, types: tuple[str, ...] | None) -> str:
    lines = [
        f"- id: {hook}",
        f"  name: {entry}",
        f"  description: {description}",
        f"  entry: {entry}",
        "  language: python",
        *(f"  {line}" for line in _scope(types)),
        "  minimum_pre_commit_version: 3.2.0",
    ]
    return "\n".join(lines) + "\n"


def _local(hook: str, entry: str, _description: str, types: tuple[str, ...] | None) -> str:
    lines = [
        f"- id: {hook}",
        f"  name: {entry}",
        f"  entry: {entry}",
        "  language: system",
        *(f"  {line}" for line in _scope(types)),
    ]
    return "".join(f"      {line}\n" for line in lines)


def _scope(types: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the lines that say when a hook runs and on what; what it warns of is shown also where it passes."""
    files = (f"files: '{_names(types)}'",) if types else ("always_run: true", "pass_filenames: false", "verbose: true")
    return (*files, "require_serial: true", "stages: [pre-commit, pre-merge-commit, pre-push, manual]")


def _names(types: tuple[str, ...]) -> str:
    """Return a regular expression for the names of taskstate files, from the schema that declares them."""
    declared = json.loads(resources.text("schemas/kinds/files.json"))["files"]
    patterns = [re.sub(r"\?P<\w+>", "", file["pattern"]) for file in declared if file["type"] in types]
    return f"(^|/)({'|'.join(patterns)})$"


def main() -> int:
    """Write the files, or check them."""
    expected: dict[str, str | None] = {**generated()}
    for page in sorted((ROOT / "docs/rules").glob("*.md")):
        expected.setdefault(page.relative_to(ROOT).as_posix(), None)  # the page of a removed rule
    stale = {name: text for name, text in expected.items() if _read(ROOT / name) != text}
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"{name} is not current: run `make gen`")
        return 1 if stale else 0
    for name, text in stale.items():
        _put(ROOT / name, text)
    return 0


def _put(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{'removed' if text is None else 'wrote'} {path.relative_to(ROOT)}")


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
