"""`taskstate fmt`: puts state files into their canonical form."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from taskstate.cli.invocation import add_writing, standard_input
from taskstate.cli.paths import real, shown
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from taskstate.cli.invocation import Invocation


class _Seen(NamedTuple):
    """What became of the files: how many there were, which had not their form, what stands for that, what failed."""

    files: int
    changed: tuple[str, ...]
    diff: str
    failed: tuple[str, ...]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help="files and folders (default: the repository); - formats standard input"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file would change")
    parser.add_argument(
        "--diff", action="store_true", help="write nothing; print what would change as a unified diff, exit as --check"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name that says what file standard input is")
    add_writing(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Format, or say what would change."""
    if invocation.args.paths == ["-"]:
        return _run_stdin(invocation)
    only_looks = invocation.args.check or invocation.args.diff
    seen = _look(invocation) if only_looks else _write(invocation)
    invocation.print_problems(seen.failed)
    status = 1 if only_looks and seen.changed else 0
    data = {"files": seen.files, "changed": list(seen.changed), "failed": list(seen.failed)}
    if invocation.args.diff or invocation.args.dry_run:
        data["diff"] = seen.diff
    status = 2 if seen.failed else status
    return invocation.print_result(data, _told(invocation, seen), status=status)


def _told(invocation: Invocation, seen: _Seen) -> str:
    if invocation.args.diff or invocation.args.dry_run:
        return seen.diff
    verb = "would be reformatted" if invocation.args.check else "reformatted"
    same = seen.files - len(seen.changed) - len(seen.failed)
    counts = [_count(len(seen.changed), verb), _count(same, "already in form"), _count(len(seen.failed), "skipped")]
    summary = ", ".join(count for count in counts if count) or "no state files"
    return "\n".join([*(f"{verb}: {name}" for name in seen.changed), summary])


def _count(number: int, what: str) -> str:
    return f"{number} file{'' if number == 1 else 's'} {what}" if number else ""


def _paths(invocation: Invocation) -> tuple[Path, ...]:
    """Return the state files that are meant; a named file that is none of ours is told."""
    from taskstate.formatting.format_files import is_formattable
    from taskstate.lint.runner import own_files_in

    named = [real(path) for path in invocation.args.paths] or [invocation.any_workspace.root]
    found, others = own_files_in(invocation.any_workspace, named)
    invocation.print_notes(others)
    return tuple(path for path in found if is_formattable(path))


def _look(invocation: Invocation) -> _Seen:
    """Return what would change."""
    from taskstate.formatting.format_files import format_bytes
    from taskstate.storage import files
    from taskstate.workspace.writer import unified_diff

    paths, changed, failed, diff = _paths(invocation), list[str](), list[str](), ""
    for path in paths:
        try:
            found = format_bytes(files.read(path), shown(path))
        except TaskstateError as error:
            failed.append(str(error))
            continue
        if found.changed:
            changed.append(shown(path))
            diff += unified_diff(shown(path), found.before, found.after) if invocation.args.diff else ""
    return _Seen(len(paths), tuple(changed), diff, tuple(failed))


def _write(invocation: Invocation) -> _Seen:
    """Put the files into their form."""
    from taskstate.formatting.format_files import format_file

    paths, changed, failed, diff = _paths(invocation), list[str](), list[str](), ""
    request = invocation.request()
    for path in paths:
        try:
            outcome = format_file(invocation.workspace, path, request)
        except TaskstateError as error:
            failed.append(str(error))
            continue
        if outcome.changed:
            changed.append(shown(path))
            diff += outcome.diff
        invocation.print_notes(outcome.notes)
    return _Seen(len(paths), tuple(changed), diff, tuple(failed))


def _run_stdin(invocation: Invocation) -> int:
    """Print what standard input is in its form, or with `--check` and `--diff` whether and how it differs."""
    from taskstate.formatting.format_files import format_bytes
    from taskstate.storage.files import MAX_BYTES
    from taskstate.workspace.writer import unified_diff

    name = invocation.args.stdin_filename
    if not name:
        what = "fmt: - needs --stdin-filename"
        raise TaskstateError(what, help="name the file, such as task-101-state.md", code="usage")
    found = format_bytes(standard_input(MAX_BYTES), name)
    status = 1 if found.changed and (invocation.args.check or invocation.args.diff) else 0
    if invocation.as_json:
        return invocation.print_result({"path": name, "changed": found.changed, "text": found.after}, "", status=status)
    if invocation.args.diff:
        invocation.print_text(unified_diff(name, found.before, found.after))
    elif invocation.args.check:
        invocation.print_text(f"would be reformatted: {name}" if found.changed else "")
    else:
        sys.stdout.buffer.write(found.after.encode())
    return status
