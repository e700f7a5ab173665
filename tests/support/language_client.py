"""An editor, as far as the language server can tell: speaks the protocol with the real process on its two streams."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

_PATIENCE = 60.0  # seconds for one answer, on a machine that is busy

# What editors of two kinds can do: one asks for diagnostics by itself, the other has them sent.
PUSHED: dict[str, Any] = {"workspace": {"workspaceEdit": {"documentChanges": True}}}
PULLED: dict[str, Any] = {
    **PUSHED,
    "textDocument": {"diagnostic": {"dynamicRegistration": False}},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "diagnostics": {"refreshSupport": True}},
}


class LanguageClient:
    """A conversation with `taskstate lsp` in a folder, with the positions counted in `encoding`.

    The editor works in that folder, unless it is given other `folders`, or none.
    """

    def __init__(
        self,
        root: Path,
        capabilities: Mapping[str, Any] = PUSHED,
        *,
        encoding: str = "utf-16",
        folders: Sequence[Path] | None = None,
    ) -> None:
        self.root = root
        environment = {**os.environ, "TASKSTATE_ACTOR": "tester"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "taskstate", "lsp"],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._count = 0
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.messages: list[dict[str, Any]] = []
        self.refreshed = 0
        threading.Thread(target=self._read, daemon=True).start()
        opened = [root] if folders is None else folders
        general = {"general": {"positionEncodings": [encoding]}}
        self.capabilities = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": opened[0].as_uri() if opened else None,
                "workspaceFolders": [{"uri": each.as_uri(), "name": each.name} for each in opened],
                "capabilities": {**capabilities, **general},
            },
        )["capabilities"]
        self.notify("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=_PATIENCE)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()

    def close(self) -> int:
        """End the conversation as the protocol says, and return the exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(timeout=_PATIENCE)

    # Messages

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any) -> None:  # noqa: ANN401 - any JSON value
        """Send a message that has no answer."""
        self._send({"method": method, **({} if params is None else {"params": params})})

    def answer(self, method: str, params: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """Send a request, and return the whole answer, which may be an error."""
        self._count += 1
        number = self._count
        self._send({"id": number, "method": method, **({} if params is None else {"params": params})})
        while True:
            message = self._answers.get(timeout=_PATIENCE)
            if message.get("id") == number:
                return message

    def request(self, method: str, params: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Send a request, and return its result."""
        answer = self.answer(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def _read(self) -> None:
        assert self.process.stdout
        while header := self.process.stdout.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                header = self.process.stdout.readline()
            self._take(json.loads(self.process.stdout.read(length)))

    def _take(self, message: dict[str, Any]) -> None:
        method: str | None = message.get("method")
        params: Any = message.get("params")
        if method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"]] = params["diagnostics"]
        elif method == "window/showMessage":
            self.messages.append(params)
        elif method == "workspace/diagnostic/refresh":
            self.refreshed += 1
        if method is None:
            self._answers.put(message)
        elif "id" in message:
            self._send({"id": message["id"], "result": None})

    def shown(self, name: str) -> list[dict[str, Any]]:
        """Return the diagnostics that were sent for a file, waiting for the first ones."""
        self.until(lambda: self.uri(name) in self.diagnostics)
        return self.diagnostics[self.uri(name)]

    @staticmethod
    def until(is_so: Callable[[], bool], patience: float = _PATIENCE) -> None:
        """Wait until something is so."""
        end = time.monotonic() + patience
        while not is_so():
            assert time.monotonic() < end, "it never came to be so"
            time.sleep(0.01)

    # Texts

    def uri(self, name: str) -> str:
        """Return the address of a file in the folder."""
        return (self.root / name).as_uri()

    def open(self, name: str, text: str | None = None) -> str:
        """Open a file, with its text on disk or another, and return its address."""
        uri = self.uri(name)
        if text is None:
            text = (self.root / name).read_bytes().decode()
        item = {"uri": uri, "languageId": "markdown", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, name: str, text: str, version: int = 2) -> None:
        """Replace the text of an open file."""
        document = {"uri": self.uri(name), "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def close_file(self, name: str) -> None:
        """Close a file."""
        self.notify("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def at(self, method: str, name: str, line: int, character: int, **more: object) -> Any:  # noqa: ANN401 - any JSON value
        """Ask something about a position of a file, both counted from 0."""
        place = {"textDocument": {"uri": self.uri(name)}, "position": {"line": line, "character": character}}
        return self.request(f"textDocument/{method}", {**place, **more})

    def pull(self, name: str) -> list[dict[str, Any]]:
        """Ask for the diagnostics of a file."""
        report = self.request("textDocument/diagnostic", {"textDocument": {"uri": self.uri(name)}})
        items: list[dict[str, Any]] = report["items"]
        return items

    def actions(self, name: str, line: int = 0, last: int | None = None, only: list[str] | None = None) -> list[Any]:
        """Ask for the code actions of some lines."""
        stop = {"line": line if last is None else last, "character": 999}
        place = {"start": {"line": line, "character": 0}, "end": stop}
        context = {"diagnostics": [], **({"only": only} if only else {})}
        params = {"textDocument": {"uri": self.uri(name)}, "range": place, "context": context}
        actions: list[Any] = self.request("textDocument/codeAction", params)
        return actions

    def run(self, command: str, *arguments: object) -> dict[str, Any]:
        """Run a command, and return its result."""
        result: dict[str, Any] = self.request(
            "workspace/executeCommand", {"command": command, "arguments": [*arguments]}
        )
        return result


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """Return a text with edits applied whose columns count UTF-16 units."""
    lines = text.replace("\r\n", "\0\n").split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.replace("\0", "\r")) + 1)

    def offset(place: dict[str, int]) -> int:
        if place["line"] >= len(lines):
            return len(text)
        line = lines[place["line"]].replace("\0", "\r")
        return starts[place["line"]] + len(line.encode("utf-16-le")[: 2 * place["character"]].decode("utf-16-le"))

    for edit in sorted(edits, key=lambda each: offset(each["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def edits_of(action: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the edits of a code action that changes one file."""
    (change,) = action["edit"]["documentChanges"]
    edits: list[dict[str, Any]] = change["edits"]
    return edits
