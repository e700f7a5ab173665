"""Adds entries to the configuration files of clients, and takes them out again; all other bytes stay as they are.

Works on texts. An entry that is there already is left alone, whoever wrote it.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.setup import servers
from taskstate.setup.clients import CLIENTS
from taskstate.syntax.edits import apply
from taskstate.syntax.json_comments import around_comments, comments, without_comments
from taskstate.syntax.json_edit import set_json
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Fault, Node, equals, scalars
from taskstate.syntax.spans import line_start, newline_of, with_newlines
from taskstate.syntax.toml_input import read_toml
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

BEGIN, END = "<!-- taskstate:begin -->", "<!-- taskstate:end -->"
_EMPTY = "{}\n"
CALL = re.compile(r"taskstate hook \S+ --agent \S+")


class Piece(NamedTuple):
    """What one step put into a file: the text `new` in the place of `old`."""

    old: str
    new: str


def piece_between(before: str, after: str) -> Piece | None:
    """Return the one piece in which two texts differ, in whole lines if it stands elsewhere, too; None for none."""
    if before == after:
        return None
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    end = next((at for at in range(shorter - start) if before[-1 - at] != after[-1 - at]), shorter - start)
    if after.count(after[start : len(after) - end]) > 1:
        start, line_end = line_start(after, start), after.find("\n", len(after) - end)
        end = 0 if line_end < 0 else len(after) - line_end
    return Piece(before[start : len(before) - end], after[start : len(after) - end])


def without(text: str, pieces: Sequence[Piece], name: str) -> str:
    """Return a text without the pieces that were put into it, the last one first.

    Where they were edited since, our entries are taken out of JSON one by one, and our block out of Markdown.

    Raises:
        TaskstateError: code "cannot-edit": a piece was changed since, or stands there several times.
    """
    left = text
    for piece in reversed(pieces):
        if left.count(piece.new) == 1:
            left = left.replace(piece.new, piece.old)
        elif name.endswith(".json"):
            return _without_entries(text, name, pieces)
        elif name.endswith(".md") and BEGIN not in piece.new:
            continue  # an import that somebody took out, or wrote again
        elif name.endswith(".md") and 0 <= text.find(BEGIN) < text.find(END):
            return text[: text.find(BEGIN)] + text[text.find(END) + len(END) :].lstrip("\r\n")
        else:
            shown = " ".join(piece.new.split())[:60]
            message = f"{name} was edited where `init` had added to it ({shown}…)"
            help_ = "remove that part by hand, then run `taskstate init --remove` again"
            raise TaskstateError(message, help=help_, code="cannot-edit")
    return left


# JSON


def with_server(text: str, server: str, entry: Mapping[str, Any], name: str) -> str:
    """Return a client's JSON with an MCP server, unless it has one of that name."""
    return _with(text or _EMPTY, ("mcpServers", server), entry, name)


def with_hook(text: str, event: str, entry: Mapping[str, Any], name: str) -> str:
    """Return a client's JSON with a hook for an event, unless one that is there calls the same.

    One that does nothing else, as `init` wrote it before it looked for the program, gets the command of the entry.
    """
    root = _root(text or _EMPTY, name)
    present = root.get("hooks", event)
    called = CALL.search(_command(entry))
    plain = called[0] if called else ""
    if present is not None and plain in json.dumps(present.value()):
        old = next((each for each in scalars(present) if each.is_string() and each.text == plain), None)
        new = json.dumps(_command(entry), ensure_ascii=False)
        return text[: old.span.start] + new + text[old.span.end :] if old else text
    if present is None:
        return _with(text or _EMPTY, ("hooks", event), [entry], name)
    if present.kind != "sequence":
        raise _refused(name, f"hooks.{event} is not a list")
    return _with(text, ("hooks", event, len(present.items)), entry, name)


def with_items(text: str, path: tuple[str, ...], items: Sequence[str], name: str) -> str:
    """Return a client's JSON with the items in a list, but for those that it has."""
    present = _root(text or _EMPTY, name).get(*path)
    if present is None:
        return _with(text or _EMPTY, path, list(items), name)
    if present.kind != "sequence":
        raise _refused(name, f"{'.'.join(path)} is not a list")
    missing = [each for each in items if each not in present.value()]
    for number, item in enumerate(missing, len(present.items)):
        text = _with(text, (*path, number), item, name)
    return text


def with_name(text: str, path: tuple[str, ...], names: tuple[str, str], name: str) -> str:
    """Return a client's JSON that names both pages: the second is added to what it names, if it names any."""
    present = _root(text or _EMPTY, name).get(*path)
    if present is None or not present.is_string():
        return with_items(text, path, names if present is None else names[1:], name)
    both = json.dumps([present.text, names[1]], ensure_ascii=False)
    return text if present.text == names[1] else text[: present.span.start] + both + text[present.span.end :]


def with_value(text: str, key: str, value: object, name: str) -> str:
    """Return a JSON object's text with a key, unless it has it."""
    return _with(text or _EMPTY, (key,), value, name)


def _without_entries(text: str, name: str, pieces: Sequence[Piece]) -> str:
    """Return a client's JSON without our hooks, servers and items of lists, and without what is empty then."""
    paths = [each.leave.path for each in CLIENTS.values() if each.leave and each.leave.file == name]
    paths += [each.names for each in CLIENTS.values() if each.names and each.hook_file == name]
    while (span := _own_span(_root(text, name)) or _listed_span(_root(text, name), paths, pieces)) is not None:
        text = _without_span(text, *span)
    return text


def without_hooks(text: str, events: Sequence[str], name: str) -> str:
    """Return a client's JSON without our hooks for some of our events, and without what is empty then."""
    calls = tuple(f"taskstate hook {event} " for event in events)
    while text and (span := _own_span(_root(text, name), calls)) is not None:
        text = _without_span(text, *span)
    return text


def _without_span(text: str, start: int, end: int) -> str:
    """Return JSON without what stands there, but with the comments in it."""
    kept = "".join(text[each.start : each.end] for each in comments(text) if start <= each.start < end)
    ends_line = "//" in kept and not text.startswith(("\r", "\n"), end)
    return text[:start] + (" " + kept if kept else "") + (newline_of(text) if ends_line else "") + text[end:]


def _own_span(root: Node, calls: Sequence[str] = ()) -> tuple[int, int] | None:
    """Return the span of the next entry of ours, with the comma that parts it from its neighbour.

    With `calls` only a hook that calls one of them is meant.
    """
    keys = ("hooks",) if calls else ("hooks", "mcpServers")
    groups = [each for key in keys for each in root.entries if each.key.text == key]
    for group in groups:
        for number, entry in enumerate(group.value.entries):
            spans = [(each.key.span.start, each.value.span.end) for each in group.value.entries]
            if _is_own_server(group.key.text, entry.key.text, entry.value):
                return _with_comma(group.value, spans, number)
            items = [(each.span.start, each.span.end) for each in entry.value.items]
            for index, item in enumerate(entry.value.items):
                if any(call in json.dumps(item.value()) for call in calls or ("taskstate hook ",)):
                    is_last = len(items) == 1
                    return (
                        _with_comma(group.value, spans, number) if is_last else _with_comma(entry.value, items, index)
                    )
        if not group.value.entries and group.value.kind == "mapping":
            spans = [(each.key.span.start, each.value.span.end) for each in root.entries]
            return _with_comma(root, spans, root.entries.index(group))
    return None


def _listed_span(root: Node, paths: Sequence[tuple[str, ...]], pieces: Sequence[Piece]) -> tuple[int, int] | None:
    """Return the span of the next item that we put into a list, or of the whole list where it holds no others."""
    for path in paths:
        found = root.get(*path)
        items = found.items if found else ()
        ours = [_is_added(each, pieces) for each in items]
        if found and any(ours):
            if not all(ours):
                return _with_comma(found, [(each.span.start, each.span.end) for each in items], ours.index(True))
            parent = root.get(*path[:-1])
            is_last = parent is not None and len(parent.entries) == 1
            around, key = (root, path[0]) if is_last or parent is None else (parent, path[-1])
            number = next(at for at, each in enumerate(around.entries) if each.key.text == key)
            spans = [(each.key.span.start, each.value.span.end) for each in around.entries]
            return _with_comma(around, spans, number)
    return None


def _is_added(item: Node, pieces: Sequence[Piece]) -> bool:
    quoted = json.dumps(item.text, ensure_ascii=False) if item.is_string() else ""
    return bool(quoted) and any(quoted in each.new and quoted not in each.old for each in pieces)


def _is_own_server(group: str, name: str, entry: Node) -> bool:
    ours = {**servers.OWN, **servers.VERIFICATION}
    return group == "mcpServers" and name in ours and equals(entry, ours[name])


def _with_comma(parent: Node, spans: Sequence[tuple[int, int]], number: int) -> tuple[int, int]:
    start, end = spans[number]
    if number:
        return spans[number - 1][1], end
    if len(spans) > 1:
        return start, spans[1][0]
    return parent.span.start + 1, parent.span.end - 1


def _command(entry: Mapping[str, Any]) -> str:
    handlers = entry.get("hooks")
    return str(handlers[0]["command"] if isinstance(handlers, list) else entry["command"])


def _with(text: str, path: tuple[str | int, ...], value: object, name: str) -> str:
    root = _root(text, name)
    depth = 0
    while depth < len(path) and root.get(*path[: depth + 1]) is not None:
        depth += 1
    if depth == len(path):
        return text
    parent = root.get(*path[:depth])
    if parent is None or parent.kind != ("sequence" if isinstance(path[depth], int) else "mapping"):
        raise _refused(name, f"{'.'.join(map(str, path[:depth]))} is not an object")
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    newline = newline_of(text)
    edits = set_json(without_comments(text), root, path[: depth + 1], value, newline=newline)
    after = apply(text, around_comments(text, edits, newline))
    if _plain(after, name) != _plain(apply(without_comments(text), edits), name) or _said(after) != _said(text):
        raise _refused(name, "it has comments where something is to be added")
    return after


def _plain(text: str, name: str) -> Any:  # noqa: ANN401 - any JSON value
    return _root(text, name).value()


def _said(text: str) -> list[str]:
    return [text[each.start : each.end] for each in comments(text)]


def _root(text: str, name: str) -> Node:
    text = without_comments(text)
    node = read_json(text, 1 if text.startswith("\ufeff") else 0, len(text))
    if isinstance(node, Fault):
        line = text.count("\n", 0, node.span.start) + 1
        raise _refused(name, f"line {line}: {node.message}")
    if node.kind != "mapping":
        raise _refused(name, "it holds no JSON object")
    return node


def _refused(name: str, why: str) -> TaskstateError:
    message = f"{name} cannot be added to safely: {why}"
    return TaskstateError(message, help=f"fix {name}, then run this again", code="cannot-edit")


# TOML and Markdown


def with_toml_server(text: str, server: str, entry: Mapping[str, Any], name: str) -> str:
    """Return a client's TOML with an MCP server at its end or in its inline table, unless it has one of that name."""
    try:
        before = read_toml(text)
    except ValueError as error:
        raise _refused(name, str(error)) from error
    servers = before.get("mcp_servers", {})
    if not isinstance(servers, dict):
        raise _refused(name, "its mcp_servers are not a table")
    if server in servers:
        return text
    newline = newline_of(text)
    values = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    joint = "" if not text else newline if text.endswith(("\n", "\r")) else newline * 2
    at_end = text + joint + "".join(line + newline for line in (f"[mcp_servers.{server}]", *values))
    inline = f" {server} = {{ {', '.join(values)} }}{',' if servers else ' '}"
    brace = re.search(r"(?m)^mcp_servers[ \t]*=[ \t]*\{", text)
    within = text[: brace.end()] + inline + text[brace.end() :] if brace else ""
    expected = before | {"mcp_servers": servers | {server: dict(entry)}}
    for after in (at_end, within):
        with suppress(ValueError):
            if read_toml(after) == expected:
                return after
    raise _refused(name, "its mcp_servers are written in a form that cannot be added to")


def with_block(text: str, body: str) -> str:
    """Return Markdown with our block at its end, or with the block that is there brought up to date."""
    newline = newline_of(text)
    block = with_newlines(f"{BEGIN}\n{body.strip()}\n{END}", newline)
    start, end = text.find(BEGIN), text.find(END)
    if 0 <= start < end:
        return text[:start] + block + text[end + len(END) :]
    joint = "" if not text else newline if text.endswith(("\n", "\r")) else newline * 2
    return text + joint + block + newline
