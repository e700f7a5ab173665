"""Caches the findings of each file from run to run, with everything they depend on.

An entry holds the file's mark and digest, the findings, and each query that a rule made with the mark of its answer; it
is valid while all of these are unchanged. What applies to all files (the configuration, the rules' own code) is part of
the cache file's name as a checksum, so that each combination of settings has a file of its own.
"""

from __future__ import annotations

from taskstate import resources
from taskstate.storage.cache import Cache
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from taskstate.lint.diagnostics import Finding

MAX_FILES = 8  # cache files, one for each combination of settings; the oldest are deleted

Recorded = tuple[tuple[tuple[str, ...], str], ...]


class CachedResult(NamedTuple):
    """The result for one file; `recorded` holds the queries with their marks, `findings` the frozen findings."""

    mark: str
    digest: str
    recorded: Recorded
    findings: tuple[Any, ...]


def freeze(findings: Iterable[Finding]) -> tuple[Any, ...]:
    """Return findings as JSON values, without their paths: how a path is shown differs from run to run.

    Findings that share a fix name the first of them: the fix may have as many edits as there are findings.
    """
    frozen: list[Any] = []
    first: dict[int, int] = {}  # by the identity of a fix
    for each in findings:
        fix: Any = each.diagnostic.fix
        if id(fix) in first:
            fix = first[id(fix)]
        elif fix is not None:
            first[id(fix)] = len(frozen)
            fix = [[list(edit) for edit in fix.edits], *fix[1:]]
        diagnostic = each.diagnostic
        frozen.append(
            [
                [each.line, each.column, each.end_line, each.end_column],
                [each.source, each.before, each.after, each.cut],
                each.preview and list(each.preview),
                list(diagnostic[:3]),
                list(diagnostic.span),
                [diagnostic.message, diagnostic.help],
                fix,
            ]
        )
    return tuple(frozen)


def thaw(findings: Iterable[Any], path: str) -> tuple[Finding, ...]:
    """Return the findings that `freeze` has frozen, for a file that is shown as `path`."""
    from taskstate.lint.diagnostics import Diagnostic, Finding, Fix, Preview
    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

    thawed = list[Finding]()
    for place, lines, change, rule, span, words, fix in findings:
        (line, column, end_line, end_column), (source, before, after, cut) = place, lines
        (code, name, severity), (message, advice) = rule, words
        if isinstance(fix, int):
            repair = thawed[fix].diagnostic.fix
        else:
            repair = Fix(tuple(Edit(*edit) for edit in fix[0]), *fix[1:]) if fix else None
        preview = Preview(tuple(change[0]), tuple(change[1]), change[2]) if change else None
        diagnostic = Diagnostic(code, name, severity, Span(*span), message, advice, repair)
        thawed.append(
            Finding(path, line, column, end_line, end_column, diagnostic, source, before, after, preview, cut)
        )
    return tuple(thawed)


def open_cache(path: Path | None, settings: Mapping[str, object]) -> Cache[CachedResult]:
    """Return the cache for one combination of settings; its keys are paths from the repository's root."""
    lines = (f"{name}={value!r}" for name, value in sorted(settings.items()))
    return Cache(path, _entry, rests_on="\n".join((*lines, resources.fingerprint())), max_files=MAX_FILES)


def _entry(values: Any) -> CachedResult:  # noqa: ANN401 - whatever the file holds
    mark, digest, recorded, findings = values
    if not (isinstance(mark, str) and isinstance(digest, str)):
        raise TypeError
    return CachedResult(mark, digest, tuple([(tuple(query), answer) for query, answer in recorded]), tuple(findings))
