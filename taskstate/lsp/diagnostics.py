"""Turns findings into diagnostics of the protocol, at the same places as the command line."""

from __future__ import annotations

from lsprotocol import types

from taskstate.lint.diagnostics import ERROR, WARNING
from taskstate.lsp.positions import Positions
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding
    from taskstate.lsp.open_texts import OpenTexts

SOURCE = "taskstate"
_SEVERITIES = {ERROR: types.DiagnosticSeverity.Error, WARNING: types.DiagnosticSeverity.Warning}
_NEEDLESS = frozenset({"TS010"})  # what these find can go


def positions_of(path: Path, texts: OpenTexts, encoding: str) -> Positions:
    """Return the positions in a file: in its text in the editor, or in the one on disk.

    Raises:
        TaskstateError: it cannot be read.
    """
    opened = texts.get(path)
    if opened:
        return Positions(opened.text, encoding)
    return Positions(texts.read(path).decode("utf-8", errors="replace"), encoding, is_read=True)


def to_diagnostic(finding: Finding, positions: Positions) -> types.Diagnostic:
    """Return a finding as a diagnostic; what to do about it is the last line of its message."""
    found = finding.diagnostic
    return types.Diagnostic(
        range=positions.range(found.span),
        severity=_SEVERITIES.get(found.severity, types.DiagnosticSeverity.Information),
        code=found.code,
        source=SOURCE,
        message=printable(f"{found.message}\n{found.help}" if found.help else found.message),
        tags=[types.DiagnosticTag.Unnecessary] if found.code in _NEEDLESS else None,
    )


def of_removed(finding: Finding) -> types.Diagnostic:
    """Return a finding about a file that is gone, at the beginning of what was its first line."""
    start = types.Position(0, 0)
    found = to_diagnostic(finding, Positions("", types.PositionEncodingKind.Utf16))
    found.range = types.Range(start, start)
    return found
