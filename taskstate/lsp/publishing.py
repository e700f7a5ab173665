"""Keeps the diagnostics of an editor up to date: of the file that is typed in at once, of all others soon after.

An editor that asks for diagnostics by itself gets them when it asks, and is told to ask again after changes on disk.
To others they are sent, those of files that are not open too. Everything runs in one thread: between two files the
server looks for new messages, so that no keystroke waits for the check of a whole repository.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from lsprotocol import types

from taskstate.lint.diagnostics import Finding
from taskstate.lsp.diagnostics import of_removed, positions_of, to_diagnostic
from taskstate.lsp.open_texts import path_of, uri_of
from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import watching

if TYPE_CHECKING:
    from pathlib import Path

    from pygls.lsp.server import LanguageServer

    from taskstate.lint.runner import LintRun
    from taskstate.lsp.service import Service
    from taskstate.workspace.workspace import Workspace

_CALM = 0.3  # seconds without an edit after which the other files are checked


class Publisher:
    """Computes and sends the diagnostics of one editor's repositories."""

    def __init__(self, server: LanguageServer, service: Service) -> None:
        self._server = server
        self._service = service
        self._sent: dict[str, str] = {}
        self._workspaces: dict[Path, Workspace] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._generation = 0
        self._is_ended = False
        self._renewed = asyncio.Event()  # set when other folders are to be watched
        self._folders: frozenset[Path] = frozenset()
        self._watching: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        self.is_pulled = False
        self.can_refresh = False

    # What is asked for

    def of_file(self, uri: str) -> list[types.Diagnostic]:
        """Return the diagnostics of one file, as the editor has it."""
        return self._service.answer(uri, self._diagnostics, [])

    def _diagnostics(self, path: Path) -> list[types.Diagnostic]:
        return self._located(path, self._service.checker.findings(path))

    def _located(self, path: Path, findings: tuple[Finding, ...]) -> list[types.Diagnostic]:
        if not findings:
            return []
        if not self._service.texts.exists(path):
            return [of_removed(finding) for finding in findings]
        positions = positions_of(path, self._service.texts, self._service.encoding)
        return [to_diagnostic(finding, positions) for finding in findings]

    def of_workspace(self) -> dict[str, list[types.Diagnostic]]:
        """Return the diagnostics of all files of the editor's repositories, by address."""
        found: dict[str, list[types.Diagnostic]] = {}
        for root in tuple(self._workspaces):
            found |= self._service.neutral(root, self._of_root, dict[str, list[types.Diagnostic]](), root)
        return found

    def _of_root(self, root: Path) -> dict[str, list[types.Diagnostic]]:
        checker = self._service.checker
        found: dict[str, list[types.Diagnostic]] = {}
        with checker.run(root, remember=True) as run:
            for path in checker.own_files(run.repository.workspace):
                found[self._uri(path)] = self._located(path, self._findings(run, path))
            for path, findings in checker.removed(run).items():
                found[self._uri(path)] = self._located(path, findings)
            if run.cache:
                run.cache.save()
        return found

    def _findings(self, run: LintRun, path: Path) -> tuple[Finding, ...]:
        return self._service.neutral(path, self._service.checker.findings_in, tuple[Finding, ...](), run, path)

    def _uri(self, path: Path) -> str:
        opened = self._service.texts.get(path)
        return opened.uri if opened else uri_of(path)

    # What is sent

    def edited(self, uri: str) -> None:
        """Check a file that was opened or edited, now; all others when the typing pauses."""
        path = path_of(uri)
        if path is None or names.own_file(path.as_posix()) is None:
            return
        if not self.is_pulled:
            self._send(uri, self.of_file(uri))
        self.adopt(path)
        self.soon()

    def _send(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        """Send the diagnostics of a file, unless the editor has the same ones for the same text."""
        path = path_of(uri)
        opened = self._service.texts.get(path) if path else None
        version = opened.version if opened else None
        sent = result_id(diagnostics, version)
        if self._sent.get(uri, result_id([], None)) != sent:
            self._sent[uri] = sent
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def soon(self) -> None:
        """Check all files again when nothing has happened for a moment."""
        self._generation += 1
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_CALM, self._start_checking)

    def _start_checking(self) -> None:
        if not self.is_pulled:
            self._checking = asyncio.get_running_loop().create_task(self._check_all())

    async def _check_all(self) -> None:
        """Check all files and send what has changed; stop as soon as something new happens."""
        generation = self._generation
        for root in tuple(self._workspaces):
            await self._check_root(root, generation)

    async def _check_root(self, root: Path, generation: int) -> None:
        checker = self._service.checker
        workspace = self._service.neutral(root, checker.workspace, None, root)
        if workspace is None:
            self._clear(root, frozenset())
            return
        paths = self._service.neutral(workspace.state_root, checker.own_files, None, workspace)
        if paths is None:
            self._clear(root, frozenset())
            return
        with checker.run(root, remember=True) as run:
            gone = checker.removed(run)
            for path in paths:
                self._send(self._uri(path), self._located(path, self._findings(run, path)))
                await asyncio.sleep(0)
                if generation != self._generation:
                    return
            for path, findings in gone.items():
                self._send(self._uri(path), self._located(path, findings))
            if run.cache:
                run.cache.save()
        self._clear(root, frozenset(self._uri(path) for path in (*paths, *gone)))

    def _clear(self, root: Path, present: frozenset[str]) -> None:
        """Take back what was found in files of a repository that are not present any more."""
        for uri in [*self._sent]:
            path = path_of(uri)
            if uri not in present and path and path.is_relative_to(root):
                self._send(uri, [])
                self._sent.pop(uri, None)

    def closed(self, uri: str) -> None:
        """Check a file that was closed: from now on its text on disk counts."""
        self._sent.pop(uri, None)
        self._abandon()
        if not self.is_pulled and path_of(uri):
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, self.of_file(uri)))
        self.soon()

    # What is watched

    def adopt(self, path: Path, *, is_folder: bool = False) -> None:
        """Check and watch the repository of a file as long as it is open; that of a folder of the editor always."""
        workspace = self._service.neutral(path, self._service.checker.workspace, None, path)
        if workspace is None or not (folders.is_folder(workspace.state_root) or git.toplevel(workspace.root)):
            return
        if is_folder:
            self._folders |= {workspace.root}
        if workspace.root not in self._workspaces:
            self._workspaces[workspace.root] = workspace
            self._watch_anew()

    def _abandon(self) -> None:
        """Forget the repositories in which nothing is open any more."""
        opened = self._service.texts.paths()
        for root in tuple(self._workspaces):
            if root not in self._folders and not any(path.is_relative_to(root) for path in opened):
                del self._workspaces[root]
                self._watch_anew()

    def _watch_anew(self) -> None:
        self._renewed.set()
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while not self._is_ended:
            self._renewed = asyncio.Event()
            with suppress(OSError):  # the system limits what can be watched; checks go on without it
                async for changed in watching.changes(tuple(self._workspaces.values()), self._renewed):
                    if changed:
                        self.changed_on_disk()
            await self._renewed.wait()

    def changed_on_disk(self) -> None:
        """Check again what is open, and everything else soon."""
        if self.is_pulled:
            if self.can_refresh:
                self._server.workspace_diagnostic_refresh(None)
            return
        for path in self._service.texts.paths():
            self._send(self._uri(path), self.of_file(self._uri(path)))
        self.soon()

    def close(self) -> None:
        """End the watching."""
        self._is_ended = True
        self._renewed.set()
        if self._timer:
            self._timer.cancel()


def result_id(diagnostics: list[types.Diagnostic], version: int | None = None) -> str:
    """Return a short text that is the same for the same diagnostics."""
    return files.digest(repr((version, diagnostics)).encode("utf-8", "backslashreplace"))[:16]
