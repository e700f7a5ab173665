"""Offers the cures for findings as code actions: fixes, "ignore here", and commands that run a job.

Fixes are computed for the text that the editor has, and carry its version, so that an editor refuses one that has been
overtaken by another edit.
"""

from __future__ import annotations

from itertools import islice

from lsprotocol import types

from taskstate.lint import engine
from taskstate.lint.ignores import with_ignores
from taskstate.lsp.cures import cures_for
from taskstate.lsp.diagnostics import to_diagnostic
from taskstate.lsp.positions import Positions, line_edits
from taskstate.syntax.edits import in_order
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.diagnostics import Diagnostic, Finding
    from taskstate.lint.queries.answers import RepositoryQueries
    from taskstate.lint.runner import LintRun
    from taskstate.lsp.open_texts import OpenText
    from taskstate.syntax.edits import Edit

FIX_ALL = types.CodeActionKind("source.fixAll")
FIX_ALL_OURS = "source.fixAll.taskstate"
_MOST = 20  # findings at a place with actions of their own: each directive is tried on the whole text
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


class Subject(NamedTuple):
    """An open file for which actions are offered, in its run; `versioned` where the editor takes versions of edits."""

    run: LintRun
    opened: OpenText
    queries: RepositoryQueries
    positions: Positions
    versioned: bool

    @property
    def name(self) -> str:
        """The path of the file from the repository's root."""
        return self.run.name(self.queries.file.path)


def actions(
    subject: Subject, findings: tuple[Finding, ...], place: types.Range, only: tuple[str, ...]
) -> list[types.CodeAction]:
    """Return the actions for the findings at a place; `only` are the kinds that the editor asks for, or empty."""
    offered: list[types.CodeAction] = []
    if _wants(only, types.CodeActionKind.QuickFix.value):
        span = subject.positions.span(place)
        here = (
            each
            for each in findings
            if each.diagnostic.span.start <= span.end and each.diagnostic.span.end >= span.start
        )
        offered += [action for finding in islice(here, _MOST) for action in _quick_fixes(subject, finding)]
    if _wants(only, FIX_ALL_OURS):
        offered += _fix_all(subject)
    return offered


def _wants(only: tuple[str, ...], kind: str) -> bool:
    """Return whether the editor asks for a kind: for itself, or for one that it belongs to."""
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in only)


def _quick_fixes(subject: Subject, finding: Finding) -> Iterator[types.CodeAction]:
    diagnostic = finding.diagnostic
    about = [to_diagnostic(finding, subject.positions)]
    fix = diagnostic.fix
    if fix and fix.edits:
        mark = "" if fix.safe else " (unsafe: may change the meaning)"
        yield _edit(
            subject, f"Fix {diagnostic.code} {diagnostic.name}{mark}", tuple(fix.edits), about, preferred=fix.safe
        )
    for cure in cures_for(diagnostic, subject.run.repository.workspace, subject.queries.file.path):
        yield types.CodeAction(
            title=cure.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=about,
            command=types.Command(cure.title, cure.command, arguments=[subject.opened.uri, *cure.arguments]),
        )
    edits = _ignoring(subject, diagnostic)
    if edits:
        yield _edit(subject, f"Ignore {diagnostic.code} here", edits, about)


def _ignoring(subject: Subject, diagnostic: Diagnostic) -> tuple[Edit, ...]:
    """Return the edits that add a directive for one finding; none where no directive silences it."""
    text = subject.opened.text
    ignored = with_ignores(text, subject.name, subject.run.config, subject.queries, only=diagnostic)
    return line_edits(text, ignored.text)


def _fix_all(subject: Subject) -> Iterator[types.CodeAction]:
    text = subject.opened.text
    fixed = engine.fix(text, subject.name, subject.run.config, subject.queries)
    edits = line_edits(text, fixed.text)
    if edits:
        yield _edit(subject, "Fix all that is safe (taskstate)", edits, None, kind=FIX_ALL_OURS)


def _edit(  # noqa: PLR0913 - the fields of an action
    subject: Subject,
    title: str,
    edits: tuple[Edit, ...],
    about: list[types.Diagnostic] | None,
    *,
    preferred: bool = False,
    kind: str = types.CodeActionKind.QuickFix,
) -> types.CodeAction:
    changes = subject.positions.edits(in_order(edits))
    return types.CodeAction(
        title=title,
        kind=kind,
        diagnostics=about,
        is_preferred=preferred or None,
        edit=workspace_edit(subject.opened, changes, versioned=subject.versioned),
    )


def workspace_edit(opened: OpenText, changes: list[types.TextEdit], *, versioned: bool) -> types.WorkspaceEdit:
    """Return edits of one file for the editor, with the version that they were made for where it takes one."""
    if not versioned:
        return types.WorkspaceEdit(changes={opened.uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(opened.uri, opened.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
