"""Remembers what linting a file found, and on what that rested.

An entry holds the mark and the digest of the file's bytes, the findings, and each question that a rule asked with the
mark of its answer. It holds as long as all of these are the same. What holds for all files, such as the configuration
and the rules themselves, is in the cache's own file too, and its checksum in that file's name, so that a run with other
settings has another one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding

MAX_FILES = 8  # of the cache, one for each combination of settings; the oldest are dropped

Recorded = tuple[tuple[tuple[str, ...], str], ...]


class CachedResult(NamedTuple):
    """What was found in one file; `findings` are the findings as JSON has them."""

    mark: str
    digest: str
    recorded: Recorded
    findings: tuple[Any, ...]


def freeze(findings: Iterable[Finding]) -> tuple[Any, ...]:
    """Return findings as values of JSON; the path is left out, since it depends on who asks."""
    return tuple(
        [
            *(each.line, each.column, each.end_line, each.end_column, each.source),
            list(each.diagnostic[:3]),
            list(each.diagnostic.span),
            [each.diagnostic.message, each.diagnostic.help],
            each.diagnostic.fix and [[list(edit) for edit in each.diagnostic.fix.edits], *each.diagnostic.fix[1:]],
        ]
        for each in findings
    )


def thaw(findings: Iterable[Any], path: str) -> tuple[Finding, ...]:
    """Return the findings that `freeze` was given, for a file that is shown as `path`."""
    from taskstate.lint.diagnostics import Diagnostic, Finding, Fix
    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

    found = []
    for line, column, end_line, end_column, source, (code, name, severity), span, (message, advice), fix in findings:
        mended = Fix(tuple(Edit(*edit) for edit in fix[0]), *fix[1:]) if fix else None
        diagnostic = Diagnostic(code, name, severity, Span(*span), message, advice, mended)
        found.append(Finding(path, line, column, end_line, end_column, diagnostic, source))
    return tuple(found)


def open_cache(folder: Path, settings: Mapping[str, object]) -> Cache[CachedResult]:
    """Return the entries of one combination of settings, by the file's path from the repository's root."""
    told = (f"{name}={value!r}" for name, value in sorted(settings.items()))
    return Cache(folder / "lint.json", _entry, rests_on="\n".join((*told, _tool_fingerprint())), max_files=MAX_FILES)


def _entry(values: Any) -> CachedResult:  # noqa: ANN401 - whatever the file holds
    mark, digest, recorded, findings = values
    if not (isinstance(mark, str) and isinstance(digest, str)):
        raise TypeError
    return CachedResult(mark, digest, tuple((tuple(question), taken) for question, taken in recorded), tuple(findings))


def _tool_fingerprint() -> str:
    """Return what tells this tool from any other version of it: its code and its data, by size and time."""
    from taskstate import resources

    code = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    data = os.path.dirname(resources.path("schemas/task.schema.json"))
    return f"{_folder_fingerprint(code)} {_folder_fingerprint(data)}"


def _folder_fingerprint(folder: str) -> str:
    newest, total, count = 0, 0, 0
    pending = [folder]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError as error:
            raise TaskstateError(
                f"cannot read {files.shown(folder)}: {error.strerror}", code="no-permission"
            ) from error
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending += [] if entry.name == "__pycache__" else [entry.path]
            elif entry.name.endswith((".py", ".json")):
                status = entry.stat()
                newest, total, count = max(newest, status.st_mtime_ns), total + status.st_size, count + 1
    return f"{folder}:{newest}:{total}:{count}"
