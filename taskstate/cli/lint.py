"""`taskstate lint`: checks state files, and mends them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.cli.door import add_writing, standard_input
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.check import Report
    from taskstate.cli.door import Door
    from taskstate.config import Config

OUTPUT_FORMATS = ("text", "concise", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help="files and folders (default: the repository); - reads standard input"
    )
    parser.add_argument("--fix", action="store_true", help="mend what can be mended safely, then check again")
    parser.add_argument(
        "--unsafe-fixes", action="store_true", help="with --fix: apply fixes that may change the meaning too"
    )
    parser.add_argument("--output-format", choices=OUTPUT_FORMATS, help="how to print findings (default: text)")
    parser.add_argument("--select", metavar="CODES", help="check these codes or prefixes only, such as TS4,TS101")
    parser.add_argument("--ignore", metavar="CODES", help="leave these codes or prefixes out")
    parser.add_argument("--strict", action="store_true", help="exit with 1 on warnings too")
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name that says what file standard input is")
    add_writing(parser)
    parser.set_defaults(run=run)


def run(door: Door) -> int:
    """Lint, and with `--fix` mend."""
    config = _config(door)
    if door.args.paths == ["-"]:
        return _tell(door, _check_stdin(door, config))
    report = _check_paths(door, config)
    door.complain(report.unreadable)
    status = _tell(door, report)
    return 2 if report.unreadable else status


def _config(door: Door) -> Config:
    config = door.anywhere.config
    lint = config.lint
    if door.args.select is not None:
        lint = lint._replace(select=_codes(door.args.select), extend_select=())
    if door.args.ignore is not None:
        lint = lint._replace(ignore=(*lint.ignore, *_codes(door.args.ignore)))
    return config._replace(lint=lint)


def _codes(text: str) -> tuple[str, ...]:
    """Return the codes or prefixes of a list with commas.

    Raises:
        TaskstateError: no rule has such a code.
    """
    from taskstate.lint.registry import RULES

    codes = tuple(code.strip().upper() for code in text.split(",") if code.strip())
    for code in codes:
        if not any(rule.RULE.code.startswith(code) for rule in RULES):
            raise TaskstateError(
                f"no lint rule has the code {code}", help="`taskstate rule` lists the rules", code="usage"
            )
    return codes


def _check_stdin(door: Door, config: Config) -> Report:
    from taskstate.check import Report
    from taskstate.files import MAX_BYTES
    from taskstate.lint.engine import findings

    if not door.args.stdin_filename:
        raise TaskstateError(
            "lint: - needs --stdin-filename", help="name the file, such as task-101-state.md", code="usage"
        )
    if door.args.fix:
        raise TaskstateError(
            "lint: --fix cannot change standard input", help="name the file instead of -", code="usage"
        )
    name = door.args.stdin_filename
    return Report(files=1, findings=findings(standard_input(MAX_BYTES), name, config), unreadable=())


def _check_paths(door: Door, config: Config) -> Report:
    from taskstate.check import check_files, own_files_in

    workspace = door.anywhere
    paths = [_real(path) for path in door.args.paths] or [workspace.root]
    files, others = own_files_in(workspace, paths)
    door.notes(others)
    if door.args.fix:
        _fix(door, files, config)
    return check_files(files, config, _shown)


def _fix(door: Door, paths: tuple[Path, ...], config: Config) -> None:
    from taskstate.mend import fix_file

    request = door.request()
    for path in paths:
        try:
            outcome = fix_file(door.workspace, path, request, config=config, unsafe=door.args.unsafe_fixes)
        except TaskstateError as error:
            door.complain((f"not fixed: {error}",))
            continue
        door.notes(tuple(f"{outcome.path}: {note}" for note in outcome.notes))
        if door.args.output_format != "json":  # nothing but the findings stands there
            door.say(outcome.diff)


def _real(path: str) -> Path:
    """Return where a path leads, links on the way followed; a file that is one itself is told when it is read."""
    folder, name = os.path.split(os.path.abspath(path))
    return Path(os.path.realpath(folder), name)


def _shown(path: Path) -> str:
    """Return a path relative to the working folder where it lies in it."""
    here = os.getcwd()
    return os.path.relpath(path, here).replace(os.sep, "/") if path.is_relative_to(here) else str(path)


def _tell(door: Door, report: Report) -> int:
    from taskstate.lint.reporters import REPORTERS

    errors = any(finding.diagnostic.severity == "error" for finding in report.findings)
    status = 1 if errors or (door.args.strict and report.findings) else 0
    if door.as_json:
        from taskstate.lint.reporters.json import shape

        return door.tell(shape(report.findings, files=report.files), "", status=status)
    reporter = REPORTERS[door.args.output_format or "text"]
    text = reporter(report.findings, files=report.files)
    if not (door.args.quiet and status == 0):
        sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")
    return status
