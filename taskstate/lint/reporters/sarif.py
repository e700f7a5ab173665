"""Findings as SARIF 2.1.0, the form in which code scanning services take them from any tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.reporters.fingerprint import fingerprints
from taskstate.lint.reporters.json import dumps
from taskstate.syntax.spans import printable
from taskstate.validation import secrets
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run
    from taskstate.syntax.edits import Edit

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"  # paths count from the working folder; whoever reads the report knows where that was
_HERE = "The folder that taskstate was run in."


def report(findings: Sequence[Finding], run: Run) -> str:  # noqa: ARG001 - every reporter is called alike
    """Return the findings as a log with one run."""
    rules = _rules(findings)
    places = {rule.RULE.code: index for index, rule in enumerate(rules)}
    results = [
        _result(finding, places, fingerprint)
        for finding, fingerprint in zip(findings, fingerprints(findings), strict=True)
    ]
    driver = {"name": "taskstate", "version": VERSION, "rules": [_rule(rule) for rule in rules]}
    told = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": _HERE}}},
        "results": results,
    }
    return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [told]})


def _rules(findings: Sequence[Finding]) -> list[ModuleType]:
    """Return the rules that found something, in the order of their codes."""
    from taskstate.lint.registry import TABLE

    codes = {finding.diagnostic.code for finding in findings}
    return [row.load() for row in TABLE if row.code in codes]


def _rule(rule: ModuleType) -> dict[str, Any]:
    """Return what there is to know of a rule: all of its page, so that nobody has to look for it elsewhere."""
    from taskstate.lint.rule_pages import page

    meta = rule.RULE
    summary = meta.summary[0].upper() + meta.summary[1:] + "."
    return {
        "id": meta.code,
        "name": meta.name,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": _description(page(rule)) or summary},
        "help": {"text": page(rule), "markdown": page(rule)},
        "defaultConfiguration": {"level": meta.severity},
    }


def _description(page: str) -> str:
    """Return what a rule's page says under its first heading, in one paragraph."""
    _, _, rest = page.partition("\n## What\n")
    return " ".join(rest.partition("\n## ")[0].split())


def _result(finding: Finding, places: dict[str, int], fingerprint: str) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    known = {"ruleIndex": places[diagnostic.code]} if diagnostic.code in places else {}
    result = {
        "ruleId": diagnostic.code,
        **known,
        "level": "error" if diagnostic.severity == ERROR else "warning",
        "message": {"text": printable(f"{diagnostic.message} ({diagnostic.help})")},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(finding.path), "region": _region(finding)}}],
        "partialFingerprints": {"taskstate/v1": fingerprint},
    }
    fixes = _fixes(finding)
    return result | {"fixes": fixes} if fixes else result


def _artifact(path: str) -> dict[str, str]:
    """Return where a file is: from the working folder, or absolute where it does not lie in there."""
    from urllib.parse import quote

    uri = quote(path.encode("utf-8", "surrogateescape"))
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _region(finding: Finding) -> dict[str, int]:
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }


def _fixes(finding: Finding) -> list[dict[str, Any]]:
    """Return the fix, where it is safe and touches nothing but the line that the finding stands in.

    Of other lines a finding does not know the numbers. `taskstate lint --fix` makes all fixes.
    """
    fix = finding.diagnostic.fix
    if fix is None or not fix.safe or not fix.edits:
        return []
    start = finding.diagnostic.span.start - finding.column + 1
    if not all(start <= edit.start and edit.end <= start + len(finding.source) for edit in fix.edits):
        return []
    if any(secrets.find(finding.source[: edit.start - start] + edit.new) for edit in fix.edits):
        return []  # the new text would show what the finding masks
    replacements = [_replacement(finding.line, edit, start) for edit in fix.edits]
    change = {"artifactLocation": _artifact(finding.path), "replacements": replacements}
    return [{"description": {"text": printable(finding.diagnostic.help)}, "artifactChanges": [change]}]


def _replacement(line: int, edit: Edit, start: int) -> dict[str, Any]:
    region = {"startLine": line, "startColumn": edit.start - start + 1, "endColumn": edit.end - start + 1}
    return {"deletedRegion": region, "insertedContent": {"text": edit.new}}
