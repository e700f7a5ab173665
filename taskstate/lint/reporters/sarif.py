"""Reports findings as SARIF 2.1.0, the exchange format of code scanning services."""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.reporters.fingerprint import fingerprints
from taskstate.lint.reporters.json import dumps
from taskstate.secrets import scan
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run
    from taskstate.syntax.edits import Edit

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"  # paths are relative to the repository, whose location the consumer of the report knows
_HERE = "The root of the repository."


def report(findings: Sequence[Finding], run: Run) -> str:  # noqa: ARG001 - every reporter is called alike
    """Return the findings as a log with one run."""
    rules = _rules(findings)
    indices = {rule.RULE.code: index for index, rule in enumerate(rules)}
    results = [
        _result(finding, indices, fingerprint)
        for finding, fingerprint in zip(findings, fingerprints(findings), strict=True)
    ]
    driver = {"name": "taskstate", "version": VERSION, "rules": [_rule(rule) for rule in rules]}
    sarif_run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": _HERE}}},
        "results": results,
    }
    return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [sarif_run]})


def _rules(findings: Sequence[Finding]) -> list[ModuleType]:
    """Return the rules with findings, in the order of their codes."""
    from taskstate.lint.registry import TABLE

    codes = {finding.diagnostic.code for finding in findings}
    return [row.load() for row in TABLE if row.code in codes]


def _rule(rule: ModuleType) -> dict[str, Any]:
    """Return the description of a rule, with its whole page as help, so that a service can show it."""
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
    """Return the section "What" of a rule's page as one paragraph."""
    _, _, rest = page.partition("\n## What\n")
    return " ".join(rest.partition("\n## ")[0].split())


def _result(finding: Finding, indices: dict[str, int], fingerprint: str) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    rule = {"ruleIndex": indices[diagnostic.code]} if diagnostic.code in indices else {}
    result = {
        "ruleId": diagnostic.code,
        **rule,
        "level": "error" if diagnostic.severity == ERROR else "warning",
        "message": {"text": printable(f"{diagnostic.message} ({diagnostic.help})")},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(finding.path), "region": _region(finding)}}],
        "partialFingerprints": {"taskstate/v1": fingerprint},
    }
    fixes = _fixes(finding)
    return result | {"fixes": fixes} if fixes else result


def _artifact(path: str) -> dict[str, str]:
    """Return the location of a file: relative to the repository, or absolute for a file outside of it."""
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
    """Return the fix if it is safe and changes only the line of the finding.

    A finding knows the number of that line alone, so other edits cannot be given as regions.
    """
    fix = finding.diagnostic.fix
    if fix is None or not fix.safe or not fix.edits:
        return []
    start = finding.diagnostic.span.start - finding.column + 1
    begin = start + finding.cut  # of what is kept of the line
    if not all(begin <= edit.start and edit.end <= begin + len(finding.source) for edit in fix.edits):
        return []
    if any(scan.find(finding.source[: edit.start - begin] + edit.new) for edit in fix.edits):
        return []  # the new text would reveal the secret that the finding masks
    replacements = [_replacement(finding.line, edit, start) for edit in fix.edits]
    change = {"artifactLocation": _artifact(finding.path), "replacements": replacements}
    return [{"description": {"text": printable(finding.diagnostic.help)}, "artifactChanges": [change]}]


def _replacement(line: int, edit: Edit, start: int) -> dict[str, Any]:
    region = {"startLine": line, "startColumn": edit.start - start + 1, "endColumn": edit.end - start + 1}
    return {"deletedRegion": region, "insertedContent": {"text": edit.new}}
