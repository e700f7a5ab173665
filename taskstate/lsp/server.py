"""The language server's entry: declares what it can do, and passes the messages of the editor on."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from typing import Any  # pygls reads the types of a command's arguments
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcServerNotInitialized,
)
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from taskstate.errors import TaskstateError
from taskstate.lsp.actions import KINDS
from taskstate.lsp.cures import COMMANDS
from taskstate.lsp.diagnostics import SOURCE
from taskstate.lsp.messages import converse
from taskstate.lsp.open_texts import is_address, path_of
from taskstate.lsp.publishing import Publisher, result_id
from taskstate.lsp.service import Service
from taskstate.secrets.mask import masked
from taskstate.storage import folders
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from cattrs import Converter

    from taskstate.lsp.checking import Surroundings

_UNUSED = ("notebookDocument/", "window/workDoneProgress/")  # what pygls takes for itself and nobody asked for
_TRIGGERS = ["#", "*", "`", "/", '"', "[", " ", "-"]


class _Protocol(LanguageServerProtocol):
    """The protocol, in which a request that cannot be read is answered, too: an editor would wait for ever."""

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - as pygls declares it
        """Return a message with its types, or answer that it is wrong.

        Raises:
            JsonRpcException: it is wrong; pygls then goes on with the next message.
        """
        method = data.get("method")
        if isinstance(method, str) and self.get_message_type(method) is None:
            data["params"] = None  # nobody reads them, and pygls would make a class of each object in them
        elif method is None and "result" in data:
            data["result"] = None  # the same: no question of ours has an answer with anything in it
        is_request = "id" in data and "method" in data
        try:
            message = self._structured(data)
            self._require_served(message, is_request=is_request)
        except JsonRpcException as error:
            if is_request:
                self.answer_error(data["id"], error)
            raise
        return message

    def _structured(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - as pygls declares it
        try:
            return super().structure_message(data)
        except JsonRpcInternalError as error:  # which pygls takes all errors but one kind for
            raise JsonRpcInvalidParams from error

    def _require_served(self, message: Any, *, is_request: bool) -> None:  # noqa: ANN401 - one of many types
        """Refuse a message that comes at the wrong time, or that pygls cannot serve.

        Raises:
            JsonRpcException: why it is refused.
        """
        method = getattr(message, "method", types.EXIT)  # an answer of the editor has none, and may always come
        if self._workspace is None and method not in {types.INITIALIZE, types.EXIT}:
            raise JsonRpcServerNotInitialized
        if method.startswith(_UNUSED):
            raise JsonRpcMethodNotFound
        is_second = method == types.INITIALIZE and self._workspace is not None
        if is_request and (self._shutdown or is_second or not hasattr(message, "id")):
            raise JsonRpcInvalidRequest
        if not self._is_meant_well(message):
            raise JsonRpcInvalidParams

    def _is_meant_well(self, message: object) -> bool:
        """Return whether a notification names what there is; pygls would read a text that is not open from disk."""
        match message:
            case types.DidOpenTextDocumentNotification(params=opened):
                return is_address(opened.text_document.uri)
            case types.DidChangeTextDocumentNotification(params=changed):
                parts = types.TextDocumentContentChangePartial  # that whole texts are wanted was agreed on
                is_open = unquote(changed.text_document.uri) in self.workspace.text_documents
                return is_open and not any(isinstance(each, parts) for each in changed.content_changes)
            case types.CancelNotification(params=cancelled):
                return isinstance(cancelled.id, str | int)
        return True

    def answer_error(self, number: object, error: JsonRpcException) -> None:
        """Answer a request with an error; one whose id is none, or cannot be read, has the id null."""
        found = number if isinstance(number, str | int) else None
        self._send_data({"jsonrpc": self.VERSION, "id": found, "error": error.to_response_error()})


def _converter() -> Converter:
    """Return what gives messages their types, and ends with the first thing that is wrong in one.

    Else a long text in the place of a list is as many errors as it has letters, and reporting them takes minutes.
    """
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]
    converter.detailed_validation = False
    return converter


class Server(LanguageServer):
    """The server of one editor; it is sent whole texts, so that nobody can disagree about where their lines end."""

    protocol: _Protocol

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(
            SOURCE,
            VERSION,
            types.TextDocumentSyncKind.Full,
            protocol_cls=_Protocol,
            converter_factory=_converter,
        )
        self.service = Service(surroundings, self._warn, lambda: str(self.workspace.position_encoding))
        self.publisher = Publisher(self, self.service)
        self.is_ended = False
        self._faults: set[str] = set()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that the editor works in now; none where it has only files open."""
        named = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        paths = (path_of(uri) for uri in named)
        return tuple(path for path in paths if path and folders.is_folder(path))

    def _warn(self, message: str) -> None:
        self.show(types.MessageType.Warning, message)

    def show(self, kind: types.MessageType, message: str) -> None:
        """Show the editor a message, which may quote what stands in a file."""
        self.window_show_message(types.ShowMessageParams(kind, printable(masked(f"taskstate: {message}"))))

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401, ARG002 - as pygls declares it
        """Tell once what went wrong with a message; the server goes on."""
        if isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError):
            kind = type(error).__name__
            self._warn_once(kind, f"a message of the editor cannot be read: {kind}; update the editor's extension")
        else:
            kind = str(error) if isinstance(error, JsonRpcInternalError) else type(error).__name__
            self._warn_once(kind, f"a fault of taskstate's own: {kind}; please report it")

    def refuse(self, error: JsonRpcException, number: object) -> None:
        """Answer a message that is not served, and say so once: a notification is one that nobody waits for."""
        self.protocol.answer_error(number, error)
        self._warn_once(str(error), str(error))

    def _warn_once(self, kind: str, message: str) -> None:
        if kind not in self._faults:
            self._faults.add(kind)
            self._warn(message)


def serve(surroundings: Surroundings, reading: BinaryIO, writing: BinaryIO) -> int:
    """Serve an editor on two streams until it ends the conversation; return 1 if it broke off, as the protocol says.

    Raises:
        TaskstateError: code "protocol": what comes on the stream are no messages.
    """
    logging.getLogger("pygls").addHandler(logging.NullHandler())  # else its tracebacks are printed; faults are answered
    server = build(surroundings)
    server.protocol.set_writer(StdoutWriter(writing))
    try:
        with suppress(BrokenPipeError, SystemExit):  # the second is how pygls answers `exit`
            asyncio.run(_conversation(server, reading))
    finally:
        server.thread_pool.shutdown(wait=False)  # after Ctrl-C it still waits for what the editor says next
    return 0 if server.is_ended else 1


async def _conversation(server: Server, reading: BinaryIO) -> None:
    try:
        with _woken_by_signals():
            await converse(server, reading, server.refuse)
    finally:  # the watcher may lose a cancellation that comes together with a change, and would be waited for
        server.publisher.close()


@contextmanager
def _woken_by_signals() -> Iterator[None]:
    """Wake the loop at each signal: one that comes just as it begins to wait would be handled at the next message."""
    if threading.current_thread() is not threading.main_thread():  # to which alone signals are handed
        yield
        return
    loop = asyncio.get_running_loop()
    told, woken = socket.socketpair()
    with told, woken:
        for each in (told, woken):
            each.settimeout(0)
        loop.add_reader(woken, woken.recv, 4096)
        before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(woken)


def build(surroundings: Surroundings) -> Server:
    """Return a server that has not started."""
    server = Server(surroundings)
    _register_texts(server)
    _register_diagnostics(server)
    _register_actions(server)
    _register_places(server)
    return server


def _register_texts(server: Server) -> None:
    service, publisher = server.service, server.publisher

    @server.feature(types.INITIALIZED)
    def _initialized(_params: types.InitializedParams) -> None:
        _learn_capabilities(server)
        for folder in server.folders:
            publisher.adopt(folder, is_folder=True)
        publisher.soon()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        service.texts.put(item.uri, item.version, item.text)
        publisher.edited(item.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def _changed(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        text = server.workspace.get_text_document(document.uri).source
        service.texts.put(document.uri, document.version, text)
        publisher.edited(document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _saved(_params: types.DidSaveTextDocumentParams) -> None:
        publisher.changed_on_disk()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def _closed(params: types.DidCloseTextDocumentParams) -> None:
        service.texts.drop(params.text_document.uri)
        publisher.closed(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _disk_changed(_params: types.DidChangeWatchedFilesParams) -> None:
        publisher.changed_on_disk()

    @server.feature(types.SHUTDOWN)
    def _shutdown(_params: None) -> None:
        server.is_ended = True
        publisher.close()


def _learn_capabilities(server: Server) -> None:
    """Take from the editor's capabilities how it wants edits, and whether it asks for diagnostics by itself."""
    document, workspace = server.client_capabilities.text_document, server.client_capabilities.workspace
    edits, diagnostics = (workspace.workspace_edit, workspace.diagnostics) if workspace else (None, None)
    server.service.versioned = bool(edits and edits.document_changes)
    server.publisher.is_pulled = bool(document and document.diagnostic)
    server.publisher.can_refresh = bool(diagnostics and diagnostics.refresh_support)


def _register_diagnostics(server: Server) -> None:
    publisher = server.publisher
    options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier=SOURCE)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    def _diagnostic(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        found = publisher.of_file(params.text_document.uri)
        current = result_id(found)
        if params.previous_result_id == current:
            return types.RelatedUnchangedDocumentDiagnosticReport(current)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=current)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    def _workspace_diagnostic(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        known = {each.uri: each.value for each in params.previous_result_ids}
        reports = publisher.of_workspace()
        reports |= {uri: [] for uri in known if uri not in reports}  # gone since, and with it what was found
        return types.WorkspaceDiagnosticReport([_report(server, uri, found, known) for uri, found in reports.items()])


def _report(
    server: Server, uri: str, found: list[types.Diagnostic], known: dict[str, str]
) -> types.WorkspaceDocumentDiagnosticReport:
    path = path_of(uri)
    opened = server.service.texts.get(path) if path else None
    current, version = result_id(found), opened.version if opened else None
    if known.get(uri) == current:
        return types.WorkspaceUnchangedDocumentDiagnosticReport(uri, current, version)
    return types.WorkspaceFullDocumentDiagnosticReport(uri, found, version, result_id=current)


def _register_actions(server: Server) -> None:
    service = server.service

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[*KINDS]))
    def _actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return service.code_actions(params)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def _format(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        return service.formatting(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)
    def _format_range(params: types.DocumentRangeFormattingParams) -> list[types.TextEdit]:
        return service.formatting(params.text_document.uri, params.range)

    for command in COMMANDS:
        server.command(command)(_runner(server, command))


def _runner(server: Server, command: str) -> Callable[..., Any]:
    """Return the function that runs a command and shows the editor what came of it."""

    def run(*arguments: Any) -> dict[str, object]:  # noqa: ANN401 - any JSON values
        try:
            message, is_done = server.service.run_command(command, arguments, server.folders), True
        except TaskstateError as error:
            message, is_done = str(error), False
        kind = types.MessageType.Info if is_done else types.MessageType.Error
        server.show(kind, message)
        server.publisher.changed_on_disk()
        return {"success": is_done, "message": printable(masked(message))}

    return run


def _register_places(server: Server) -> None:
    service = server.service

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _hover(params: types.HoverParams) -> types.Hover | None:
        return service.hover(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS))
    def _completion(params: types.CompletionParams) -> types.CompletionList:
        return service.completion(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def _definition(params: types.DefinitionParams) -> types.Location | None:
        return service.definition(params.text_document.uri, params.position)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def _references(params: types.ReferenceParams) -> list[types.Location]:
        declaration = params.context.include_declaration
        return service.references(params.text_document.uri, params.position, declaration=declaration)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def _symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return service.symbols(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def _folds(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return service.folds(params.text_document.uri)
