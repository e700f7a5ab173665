"""Names the cause of a broken front matter, and repairs the malformed shapes that people and agents really write.

A repair is only offered if it is proven: with it, the text up to the end of the repaired line is a mapping whose last
value is exactly the intended text, and the first fault that is left, if any, lies further down. Imported only when a
front matter has faults.
"""

from __future__ import annotations

import re

from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Fault, Node, last_leaf, scalars
from taskstate.syntax.spans import Span, line_start, with_newlines
from taskstate.syntax.yaml_emitter import double_quoted
from taskstate.syntax.yaml_line_faults import indent_of, line_to_blame, lines_upwards
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_TABS = 60  # replaced at once; for each the whole front matter is parsed again
_INDENTS = (2, 4, 8)  # how many spaces a tab may stand for
_HEAD = r"""\ *(?:-\ ++(?=\S))*+(?:(?:[A-Za-z0-9_.-]+|"[^"\\]*"|'[^']*')\ *:\ +)?"""
_ENTRY = rf"(?P<head>{_HEAD})(?P<value>\S(?:.*[^ \t])?)[ \t]*"
_COMMENT = r"(?<! ) +#(?: |$)"
_AFTER_CLOSING = r"""(?:"[^"]*"|\[[^\]]*\]|\{[^}]*\}) *[^ #]"""
_FLOW_PIECE = r"(?<=[\[{,:])( *)([@`%*#&!](?:[^,\[\]{} ]++| ++(?![,\]}]))*+)(?= *+([,\]}])?)"
_HASH_VALUE = r"[:-] +(#[^\s#][^\r\n]*)"

_RESERVED = {
    "@": "`@` cannot begin an unquoted value",
    "`": "a backtick cannot begin an unquoted value",
    "%": "`%` cannot begin an unquoted value",
    "*": "an unquoted value that begins with `*` is a reference to an anchor",
    "&": "an unquoted value that begins with `&` is an anchor",
    "|": "an unquoted value that begins with `|` is the head of a text block",
    ">": "an unquoted value that begins with `>` is the head of a text block",
}
_PLAIN_WORDS = (
    (
        "mapping values are not allowed",
        "there is a colon where none may be: in an unquoted value, or on a line that is indented too far",
    ),
    ("cannot start any token", "this character cannot begin a value; put the value in double quotes"),
    ("could not find expected ':'", "this line is not of the form `key: value`"),
    ("end of stream", "the quote that begins here is never closed"),
    (
        "expected <block end>",
        "this does not fit what comes before it: text follows a closing quote or bracket, or the indentation is wrong",
    ),
    ("expected ',' or", "the bracket that begins here is never closed, or a comma is missing in it"),
    (
        "special characters",
        "there is a character here that YAML does not allow; write it as an escape in double quotes",
    ),
    ("unknown escape", "a backslash in double quotes must be doubled, or begin an escape such as \\n"),
)


class _Repair(NamedTuple):
    """A possible repair of a line; `intended` is the text that the line's last value must then have, if one string."""

    kind: str
    cause: str
    span: Span
    edits: tuple[Edit, ...]
    intended: str | None = None


def diagnosed(text: str, start: int, end: int, faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Return `faults` with the first syntax error replaced by its diagnosis."""
    for number, fault in enumerate(faults):
        if fault.kind == "syntax":
            return (*faults[:number], diagnose(text, start, end, fault), *faults[number + 1 :])
    return faults


def diagnose(text: str, start: int, end: int, fault: Fault) -> Fault:
    """Return a syntax error in words that name its cause, with the edits that repair it if they are proven."""
    if text.startswith("\t", fault.span.start):
        return _diagnose_tab(text, start, end, fault)
    for line in lines_upwards(text, start, fault.span.start)[:2]:  # ruamel notices some faults a line late
        for repair in _repairs(text, line):
            if _is_proven(text, start, end, line, repair):
                return Fault(repair.span, f"{repair.cause}; put it in double quotes", repair.kind, repair.edits)
    blamed = line_to_blame(text, start, end, fault)
    if blamed:
        return blamed
    for ruamel_message, message in _PLAIN_WORDS:
        if ruamel_message in fault.message:
            return Fault(fault.span, message, fault.kind)
    return fault


def commented_values(text: str, root: Node) -> tuple[Fault, ...]:
    """Return a fault for each value of a valid mapping that YAML reads as a comment because it begins with `#`.

    `title: #101 login` is one; a `#` with a blank behind it begins a real comment.
    """
    matches = list(re.compile(_HASH_VALUE).finditer(text, root.span.start, _line_at(text, 0, root.span.end).end))
    if not matches:
        return ()
    absent_values = (node for node in scalars(root) if node.span.start == node.span.end and not node.pinned)
    absent_at = {node.span.start for node in absent_values}
    return tuple(_commented_value(match) for match in matches if match.start() + 1 in absent_at)


def _commented_value(match: re.Match[str]) -> Fault:
    value = _uncommented(match.group(1).rstrip())
    start = match.start(1)
    span = Span(start, start + len(value))
    fix = (Edit(*span, double_quoted(value)),)
    return Fault(
        span, "a value that begins with `#` is read as a comment; put it in double quotes", "value-is-comment", fix
    )


def _line_at(text: str, start: int, offset: int) -> Span:
    """Return the span of the line that holds `offset`, without its line end."""
    at = offset - (text[offset - 1 : offset + 1] == "\r\n")  # between CR and LF the line has not ended yet
    begin = line_start(text, at, start)
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    stop = text.find("\r", at, end)
    return Span(begin, end if stop < 0 else stop)


def _repairs(text: str, line: Span) -> Iterator[_Repair]:
    """Yield the possible repairs of a line, the likeliest first."""
    entry = re.compile(_ENTRY).fullmatch(line.of(text))
    if not entry or not entry["head"].strip():
        return
    value = entry["value"]
    at = line.start + entry.start("value")
    if value[0] in "[{":
        yield from _flow_repairs(value, at)
    if value[0] == "'":
        yield from _apostrophe_repairs(value, at)
    elif value[0] in _RESERVED:
        yield _quoted(_uncommented(value), at, "reserved-start", _RESERVED[value[0]])
    elif value[0] in '"[{':
        if re.compile(_AFTER_CLOSING).match(value):
            yield _quoted(_uncommented(value), at, "text-after-closing", "text follows a closing quote or bracket")
    elif ": " in value or value.endswith(":"):
        yield _quoted(_uncommented(value), at, "colon-in-value", "an unquoted value contains a colon and a space")


def _quoted(value: str, at: int, kind: str, cause: str) -> _Repair:
    span = Span(at, at + len(value))
    return _Repair(kind, cause, span, (Edit(*span, double_quoted(value)),), value)


def _apostrophe_repairs(value: str, at: int) -> Iterator[_Repair]:
    closing = value.rfind("'")
    behind = value[closing + 1 :]
    if closing > 0 and (not behind or re.compile(_COMMENT).match(behind)):
        intended = value[1:closing].replace("''", "'")
        span = Span(at, at + closing + 1)
        cause = "an apostrophe in a single-quoted value is not doubled"
        yield _Repair("apostrophe", cause, span, (Edit(*span, double_quoted(intended)),), intended)


def _flow_repairs(value: str, at: int) -> Iterator[_Repair]:
    tokens = [each for each in re.compile(_FLOW_PIECE).finditer(value) if each[3]]
    if tokens:
        edits = tuple(Edit(at + token.start(2), at + token.end(2), double_quoted(token[2])) for token in tokens)
        first = tokens[0][2]
        cause = _RESERVED.get(first[0], f"`{first[0]}` cannot begin an unquoted value in brackets")
        yield _Repair("reserved-start", cause, Span(edits[0].start, edits[0].end), edits)


def _uncommented(value: str) -> str:
    comment = re.compile(_COMMENT).search(value)
    return value[: comment.start()] if comment else value


def _is_proven(text: str, start: int, end: int, line: Span, repair: _Repair) -> bool:
    """Return whether a repair gives the line its intended value and leaves no fault before the line's end."""
    repaired = apply(text, repair.edits)
    growth = len(repaired) - len(text)
    if _has_continuation(text, line, end):
        return False
    up_to_line = read_yaml(repaired, start, line.end + growth)
    if not isinstance(up_to_line, Node):
        return False
    leaf = last_leaf(up_to_line)
    if repair.intended is not None and (leaf.span.start, leaf.text) != (repair.span.start, repair.intended):
        return False
    whole = read_yaml(repaired, start, end + growth)
    return isinstance(whole, Node) or whole[0].span.start >= line.end + growth


def _has_continuation(text: str, line: Span, end: int) -> bool:
    """Return whether the next line with content is indented deeper and so continues the value of this line."""
    indent = indent_of(line.of(text))
    rest = (
        following for following in with_newlines(text[line.end : end], "\n").split("\n")[1:] if following.strip(" ")
    )
    following = next((candidate for candidate in rest if not candidate.lstrip(" ").startswith("#")), "")
    return bool(following) and indent_of(following) > indent


def _diagnose_tab(text: str, start: int, end: int, fault: Fault) -> Fault:
    """Return the fault of a tab, with the edits that replace it and all further tabs that YAML refuses."""
    message = "there is a tab here; indent YAML with spaces"
    for width in _INDENTS:
        edits = _without_tabs(text, start, end, width)
        if edits:
            return Fault(fault.span, message, "tab-indent", edits)
    return Fault(fault.span, message, "tab-indent")


def _without_tabs(text: str, start: int, end: int, width: int) -> tuple[Edit, ...]:
    """Return the edits that replace each refused tab by `width` spaces; none if that repairs nothing.

    Tabs in strings and text blocks are allowed, so only those are replaced at which parsing stops.
    """
    edits: list[Edit] = []
    while len(edits) < _MAX_TABS:
        repaired = apply(text, edits)
        growth = len(repaired) - len(text)
        result = read_yaml(repaired, start, end + growth)
        if isinstance(result, Node):
            return tuple(edits)
        at = result[0].span.start - growth
        if edits and at < edits[-1].end:
            return ()
        if not text.startswith("\t", at):
            up_to_line = _line_at(repaired, 0, edits[-1].start + growth).end if edits else start
            sound = isinstance(read_yaml(repaired, start, up_to_line), Node) and result[0].span.start > up_to_line
            return tuple(edits) if sound else ()
        edits.append(_spaces(text, start, at, width))
    return ()


def _spaces(text: str, start: int, at: int, width: int) -> Edit:
    """Return the edit that replaces the tabs at `at`: each by `width` spaces in an indentation, else all by one."""
    stop = at
    while text.startswith(("\t", " "), stop):
        stop += 1
    line = _line_at(text, start, at)
    indents = not text[line.start : at].strip(" ")
    return Edit(at, stop, text[at:stop].replace("\t", " " * width) if indents else " ")
