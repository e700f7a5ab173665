"""A scripted model on loopback: Anthropic Messages, OpenAI Responses and Gemini generateContent, streamed or whole.

A request takes the next step of the script whose mark (`SCRIPT:name`) stands in what its user said first, else of
"main"; one that offers no tools (a title, a summary) is answered "ok" and takes none. All requests are kept.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

PORT = 8099
ADDRESS = f"http://127.0.0.1:{PORT}"
JSON: TypeAlias = dict[str, Any]
_IDS = itertools.count(1)


class Call(NamedTuple):
    """A call of a tool: its name, its arguments (a text for one of free form), and the namespace that Codex wants."""

    tool: str
    given: Any
    namespace: str = ""


class Step(NamedTuple):
    """What the model answers to a request, how many tokens it says that there were, and after how many seconds."""

    text: str = ""
    calls: Sequence[Call] = ()
    usage: int = 1_000
    delay: float = 0


class Reply(NamedTuple):
    """An answer in the words of one interface: whole, and as the events of a stream."""

    whole: JSON
    events: Sequence[JSON]


def _anthropic(step: Step, body: JSON) -> Reply:
    blocks: list[JSON] = [{"type": "text", "text": step.text}] if step.text else []
    blocks += [{"type": "tool_use", "id": f"toolu_{next(_IDS)}", "name": c.tool, "input": c.given} for c in step.calls]
    usage = {"input_tokens": step.usage, "output_tokens": 20}
    reason = {"stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}
    message = {"id": f"msg_{next(_IDS)}", "type": "message", "role": "assistant", "model": body.get("model")}
    begun = message | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[JSON] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty: JSON = {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": index, "content_block": block | empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    events += [{"type": "message_delta", "delta": reason, "usage": usage}, {"type": "message_stop"}]
    return Reply(message | reason | {"content": blocks, "usage": usage}, events)


def _responses(step: Step, body: JSON) -> Reply:
    items: list[JSON] = []
    if step.text:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{next(_IDS)}", "role": "assistant", "content": content})
    for call in step.calls:
        base = {"id": f"fc_{next(_IDS)}", "call_id": f"call_{next(_IDS)}", "name": call.tool, "status": "completed"}
        base |= {"namespace": call.namespace} if call.namespace else {}
        if isinstance(call.given, str):
            items.append(base | {"type": "custom_tool_call", "input": call.given})
        else:
            items.append(base | {"type": "function_call", "arguments": json.dumps(call.given)})
    usage = {"input_tokens": step.usage, "output_tokens": 20, "total_tokens": step.usage + 20}
    usage_details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": f"resp_{next(_IDS)}", "object": "response", "status": "completed", "model": body.get("model")}
    whole |= {"output": items, "usage": usage | usage_details}
    events: list[JSON] = [{"type": "response.created", "response": whole | {"status": "in_progress", "output": []}}]
    for index, item in enumerate(items):
        events += [
            {"type": f"response.output_item.{what}", "output_index": index, "item": item} for what in ("added", "done")
        ]
    return Reply(whole, [*events, {"type": "response.completed", "response": whole}])


def _gemini(step: Step, body: JSON) -> Reply:
    text = step.text
    if (
        body.get("generationConfig", {}).get("responseMimeType") == "application/json"
    ):  # who speaks next, how hard it is
        text = json.dumps({"next_speaker": "user", "model_choice": "flash", "reasoning": "", "complexity_score": 10})
    parts: list[JSON] = [{"text": text}] if text else []
    parts += [{"functionCall": {"name": call.tool, "args": call.given}} for call in step.calls]
    usage = {"promptTokenCount": step.usage, "candidatesTokenCount": 20, "totalTokenCount": step.usage + 20}
    said = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [said], "usageMetadata": usage, "modelVersion": "scripted"}
    return Reply(whole, [whole])


class _Interface(NamedTuple):
    """An interface: the end of its path, where a request holds its messages, and how it is answered."""

    path: str
    messages: str
    reply: Callable[[Step, JSON], Reply]


_INTERFACES = (
    _Interface("/messages", "messages", _anthropic),
    _Interface("/responses", "input", _responses),
    _Interface("enerateContent", "contents", _gemini),
)


class Model(ThreadingHTTPServer):
    """The server: what is left of each script, and all requests so far, each with the step that it took."""

    daemon_threads = True

    def __init__(self, scripts: Mapping[str, Sequence[Step]]) -> None:
        super().__init__(("127.0.0.1", PORT), _Handler)
        self.scripts = scripts
        self.requests: list[JSON] = []
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def answer(self, path: str, body: JSON) -> Reply:
        """Return what the model says to a request, and keep the request."""
        found = next((each for each in _INTERFACES if path.endswith(each.path) or each.path in path), None)
        if found is None:
            self.requests.append({"path": path, "script": "", "body": body})
            return Reply({"input_tokens": 100, "totalTokens": 100, "data": [], "models": []}, ())
        with self._lock:
            script, step = self._next(found, body)
            self.requests.append({"path": path, "script": script, "body": body})
        time.sleep(step.delay)
        return found.reply(step, body)

    def _next(self, interface: _Interface, body: JSON) -> tuple[str, Step]:
        messages = body.get(interface.messages) or []
        tools = body.get("tools") or "additional_tools" in json.dumps(messages)
        if not tools or body.get("output_config", {}).get("format") or body.get("tool_choice") == {"type": "none"}:
            return "", Step("ok")
        users = [each for each in messages if isinstance(each, dict) and each.get("role") == "user"]
        first = users if interface.messages == "input" else users[:1]
        mark = re.search(r"SCRIPT:([a-z]+)", json.dumps(first))
        name = mark[1] if mark and mark[1] in self.scripts else "main"
        number = self._taken[name]
        self._taken[name] += 1
        steps = self.scripts[name]
        return name, steps[number] if number < len(steps) else Step("That is all.")


def _event(value: JSON) -> str:
    name = f"event: {value['type']}\n" if "type" in value else ""  # Gemini's have no name
    return f"{name}data: {json.dumps(value)}\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, *_: object) -> None:
        """Say nothing: what was asked is kept."""

    def do_GET(self) -> None:
        """Answer what asks for models."""
        self._send("application/json", json.dumps(self.server.answer(self.path, {}).whole))

    def do_HEAD(self) -> None:
        """Answer what asks whether anybody is there."""
        self._send("application/json", "")

    def do_POST(self) -> None:
        """Answer a request to the model."""
        body = json.loads(b"".join(self._chunks()) or b"{}")
        reply = self.server.answer(self.path.partition("?")[0], body)
        if reply.events and (body.get("stream") or "stream" in self.path):
            self._send("text/event-stream", "".join(map(_event, reply.events)))
        else:
            self._send("application/json", json.dumps(reply.whole))

    def _chunks(self) -> Iterable[bytes]:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            yield self.rfile.read(int(self.headers.get("Content-Length") or 0))
            return
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
