"""Prints what lint found in many repositories: a line each, JSON, CSV, or SARIF with a run for each repository."""

from __future__ import annotations

import json
from itertools import groupby

from taskstate.fleet import manifest as manifests
from taskstate.lint.reporters.json import dumps
from taskstate.messages import counted
from taskstate.query import engine, printing
from taskstate.syntax.spans import one_line, printable
from taskstate.typed import TYPE_CHECKING
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, TypeAlias

    from taskstate.fleet.manifest import Manifest
    from taskstate.model.config import Query

    Found: TypeAlias = Sequence[Mapping[str, Any]]  # rows of the table `lint`
    Errors: TypeAlias = Sequence[Mapping[str, str]]

_COLUMNS = ("repo", "path", "line", "col", "end_line", "end_col", "code", "name", "severity", "message", "fixable")
_SQL = f"""
SELECT {", ".join(_COLUMNS)}, fingerprint FROM lint WHERE repo BETWEEN $first AND $last ORDER BY repo, path, ordinal
"""  # noqa: S608 - constants
_COUNTS = "SELECT repo, count(*) FROM lint GROUP BY repo ORDER BY repo"
_AT_ONCE = 50_000  # findings that are sorted at a time
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"  # paths are relative to the repository, whose location the consumer of the report knows


def found(out: Path, bounds: Query) -> list[dict[str, Any]]:
    """Return what lint found, in order."""
    limits = engine.Bounds(bounds.memory_mb, bounds.threads)
    rows: list[dict[str, Any]] = []
    with manifests.asking(str(out), limits) as connection:
        for first, last in _ranges(engine.ask(connection, _COUNTS, {}, limits).rows):
            answer = engine.ask(connection, _SQL, {"first": first, "last": last}, limits)
            rows += (dict(zip(answer.columns, row, strict=True)) for row in answer.rows)
    return rows


def _ranges(counts: Iterable[tuple[str, int]]) -> Iterator[tuple[str, str]]:
    """Yield the first and the last repository of each range that is asked for at once."""
    first, last, size = "", "", 0
    for repo, count in counts:
        if size and size + count > _AT_ONCE:
            yield first, last
            size = 0
        first, last, size = first if size else repo, repo, size + count
    if size:
        yield first, last


def summary(manifest: Manifest, findings: Found) -> str:
    """Return in one line how much was found, and where."""
    if not findings:
        return f"Nothing found in {manifests.told(manifest)}"
    there = manifests.repositories(len({each["repo"] for each in findings}))
    return f"{counted(len(findings), 'finding')} in {there}; {manifests.told(manifest)} were checked"


def rendered(form: str, manifest: Manifest, errors: Errors, findings: Found) -> bytes:
    """Return the findings in one of the formats `concise`, `json`, `sarif` and `csv`."""
    if form == "csv":
        rows = [tuple(each[column] for column in _COLUMNS) for each in findings]
        return printing.as_bytes(engine.Answer(_COLUMNS, (), rows), printing.CSV)
    if form == "json":
        return dumps(shape(manifest, errors, findings)).encode("utf-8", "replace")
    lines = _sarif(findings) if form == "sarif" else map(_line, findings)
    return "".join(lines).encode("utf-8", "replace")


def shape(manifest: Manifest, errors: Errors, findings: Found) -> dict[str, object]:
    """Return the findings as JSON values."""
    return {
        "repositories": manifest.repositories,
        "files": manifest.rows.get("files", 0),
        "errors": [dict(each) for each in errors],
        "findings": [{column: each[column] for column in _COLUMNS} for each in findings],
    }


def _line(each: Mapping[str, Any]) -> str:
    remarks = ["warning"] * (each["severity"] == "warning") + ["fixable"] * each["fixable"]
    place = one_line(f"{each['repo']}/{each['path']}:{each['line']}:{each['col']}")
    told = one_line(f"{each['code']} {each['name']}: {each['message']}")
    about = f" ({', '.join(remarks)})" if remarks else ""
    return f"{place} {told}{about}\n"


def _sarif(findings: Found) -> Iterator[str]:
    """Yield a log piece by piece, a run for each repository that has findings."""
    yield f'{{"$schema": "{_SCHEMA}", "version": "2.1.0", "runs": ['
    for number, (repo, each) in enumerate(groupby(findings, lambda each: each["repo"])):
        yield ",\n" if number else "\n"
        yield json.dumps(_run(repo, [*each]), ensure_ascii=True)
    yield "]}\n"


def _run(repo: str, findings: Found) -> dict[str, Any]:
    from taskstate.lint.registry import TABLE

    codes = {each["code"]: each["name"] for each in findings}
    summaries = {row.code: row.load().RULE.summary for row in TABLE if row.code in codes}
    rules = [
        {"id": code, "name": codes[code], "shortDescription": {"text": summaries.get(code, codes[code])}}
        for code in sorted(codes)
    ]
    return {
        "tool": {"driver": {"name": "taskstate", "version": VERSION, "rules": rules}},
        "automationDetails": {"id": f"{repo}/"},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": f"The root of {printable(repo)}."}}},
        "results": [*_results(findings, sorted(codes))],
    }


def _results(findings: Found, codes: list[str]) -> Iterable[dict[str, Any]]:
    from urllib.parse import quote

    for each in findings:
        region = {"startLine": each["line"], "startColumn": each["col"]}
        region |= {"endLine": each["end_line"], "endColumn": each["end_col"]}
        place = {"uri": quote(each["path"].encode("utf-8", "surrogateescape")), "uriBaseId": _ROOT}
        yield {
            "ruleId": each["code"],
            "ruleIndex": codes.index(each["code"]),
            "level": each["severity"],
            "message": {"text": printable(each["message"])},
            "locations": [{"physicalLocation": {"artifactLocation": place, "region": region}}],
            "partialFingerprints": {"taskstate/v1": each["fingerprint"]},
        }
