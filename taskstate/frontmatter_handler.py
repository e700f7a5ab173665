"""For users of python-frontmatter: `loads` and `dumps` that keep comments, order, quoting and line ends.

The values are those of python-frontmatter, byte for byte the same posts can be read with either. What differs is the
writing: python-frontmatter writes the whole front matter anew, while here only what was changed in a post is changed in
its text. Foreign Markdown is read through this module, too.
"""

from __future__ import annotations

import datetime as dt
import re

import frontmatter
import yaml
from frontmatter.default_handlers import BaseHandler, YAMLHandler

from taskstate.errors import CannotEdit, TaskstateError
from taskstate.syntax.edits import apply
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span, newline_of
from taskstate.syntax.yaml_edit import remove_key, set_key
from taskstate.syntax.yaml_reader import read_front_matter
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_BOM = "\ufeff"
_HELP = "change the text by hand"
_DATE = "taskstatedate{}x"  # stands for a date until the text is complete: no other value has a form of its own


def loads(text: str | bytes, encoding: str = "utf-8", **defaults: object) -> frontmatter.Post:
    """Return a text as a post of python-frontmatter, which remembers the text; `defaults` are further metadata.

    Raises:
        yaml.YAMLError, ValueError: the front matter cannot be read, as with python-frontmatter.
    """
    whole = text.decode(encoding) if isinstance(text, bytes) else text
    return frontmatter.loads(whole, handler=PreservingHandler(whole), **defaults)  # type: ignore[arg-type]


def dumps(post: frontmatter.Post) -> str:
    """Return the text of a post: the one that it was read from, changed only where the post was changed.

    `frontmatter.dumps(post)` returns the same. A post that was not read by `loads` is written by python-frontmatter.

    Raises:
        CannotEdit: a value is written in a form that cannot be changed safely, or is of a type that YAML has not.
    """
    return frontmatter.dumps(post)


class Parts(NamedTuple):
    """A foreign text in parts: its metadata, the text between its delimiters, and the content below."""

    metadata: Mapping[str, object]
    front: str
    content: str


def read_parts(text: str, name: str) -> Parts:
    """Return the parts of a foreign text, with any front matter that python-frontmatter reads; `name` is for messages.

    Raises:
        TaskstateError: code "invalid-input": its front matter never closes, or cannot be read.
    """
    handler = PreservingHandler(text)
    if not handler.detect(text):
        return Parts({}, "", text)
    help_ = "fix its front matter"
    try:
        front, content = handler.split(text)
    except ValueError:
        message = f"{name}, line 1: the front matter never closes"
        raise TaskstateError(message, help=help_, code="invalid-input") from None
    try:
        metadata = handler.load(front)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = text[: text.find(front)].count("\n") + (mark.line if mark else getattr(error, "lineno", 1) - 1) + 1
        problem = getattr(error, "problem", None) or getattr(error, "msg", None) or "its front matter cannot be read"
        raise TaskstateError(f"{name}, line {line}: {problem}", help=help_, code="invalid-input") from error
    return Parts(metadata if isinstance(metadata, dict) else {}, front, content)


class PreservingHandler(YAMLHandler):
    """A handler for one text, which it changes part by part; any other text needs a handler of its own.

    Front matter in JSON or TOML is read as python-frontmatter reads it. A post with such is written byte for byte if it
    was not changed, else by python-frontmatter.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self._foreign = self._foreign_handler(text)

    @staticmethod
    def _foreign_handler(text: str) -> BaseHandler | None:
        detected = frontmatter.detect_format(text.strip(), frontmatter.handlers)
        return None if isinstance(detected, YAMLHandler) else detected

    def detect(self, text: str) -> bool:
        """Return whether a text begins with front matter."""
        return self._foreign is not None or super().detect(text.strip())

    def split(self, text: str) -> tuple[str, str]:
        """Return the front matter and the content of a text.

        Raises:
            ValueError: it has no front matter, or that never closes; python-frontmatter then takes all for content.
        """
        if not self.detect(text):
            raise ValueError(text[:1])
        return self._foreign.split(text) if self._foreign else super().split(text.strip())

    def load(self, fm: str, **kwargs: object) -> Any:  # noqa: ANN401 - any YAML value
        """Return the values of a front matter."""
        return self._foreign.load(fm) if self._foreign else super().load(fm, **kwargs)

    def format(self, post: frontmatter.Post, **kwargs: object) -> str:
        """Return the text with what was changed in the post; options on how YAML is written have no use here.

        Raises:
            CannotEdit: a value is written in a form that cannot be changed safely, or is of a type that YAML has not.
        """
        read = frontmatter.loads(self.text, handler=self)
        if _is_same(read.metadata, post.metadata) and read.content == post.content:
            return self.text
        if self._foreign:
            return self._foreign.format(post, **kwargs)
        text = self.text if read.content == post.content else _with_content(self, post.content)
        if not _is_same(read.metadata, post.metadata):
            text = _with_metadata(text, read.metadata, post.metadata)
        _require_read_back(text, post)
        return text


class _WithoutAliases(yaml.SafeDumper):
    """Writes a value that stands in two places twice, so that texts can be compared."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - true for all
        """Return that no value gets a name."""
        return True


def _is_same(first: object, second: object) -> bool:
    """Return whether two values are written alike: type counts, the order of keys does not.

    Raises:
        CannotEdit: a value is of a type that YAML has not.
    """
    return _form(first) == _form(second)


def _form(value: object) -> str:
    try:
        return yaml.dump(value, Dumper=_WithoutAliases)
    except RecursionError:  # a list that holds itself
        return yaml.safe_dump(value)
    except yaml.YAMLError as error:
        raise CannotEdit(f"a value has no form in YAML: {error.args[0]}", help="use plain values") from error


def _front_span(text: str) -> Span | None:
    """Return where the front matter of a text stands, without its delimiters."""
    boundaries = re.compile(r"^-{3,}\s*$", re.MULTILINE).finditer(text)
    opening, closing = next(boundaries, None), next(boundaries, None)
    if opening is None or closing is None or text[: opening.start()].strip():
        return None
    line_end = text.index("\n", opening.start()) + 1  # the boundary also takes the blank lines below it
    return Span(line_end, closing.start())


def _with_content(handler: PreservingHandler, content: str) -> str:
    """Return the text with other content; the blank lines around it stay."""
    text, newline = handler.text, newline_of(handler.text)
    span = _front_span(text)
    start = text.index("\n", span.end) + 1 if span and "\n" in text[span.end :] else len(text) if span else 0
    below, new = text[start:], content.strip().replace("\r\n", "\n").replace("\n", newline)
    if not below.strip():
        head = text if text.endswith("\n") or not text else text + newline
        return f"{head}{newline if span else ''}{new}{newline}"
    first = start + len(below) - len(below.lstrip())
    return text[:first] + new + text[len(text.rstrip()) :]


def _with_metadata(text: str, old: Mapping[str, object], new: Mapping[str, object]) -> str:
    """Return the text with its front matter changed where two sets of values differ.

    Raises:
        CannotEdit: the text cannot be changed safely.
    """
    newline, dates = newline_of(text), dict[str, str]()
    if _front_span(text) is None:
        if text.startswith(_BOM):
            raise CannotEdit("there is a byte order mark before the text", help="remove it first")
        text = f"---{newline}---{newline}{newline}{text}"
    for key in [each for each in old if each not in new]:
        text = apply(text, remove_key(text, _mapping(text), key))
    for path, value in _changes(old, new):
        *parents, key = path
        mapping = _mapping(text).get(*parents) if parents else _mapping(text)
        if mapping is None or mapping.kind != "mapping":
            raise CannotEdit(f"{'.'.join(path)} cannot be found in the front matter", help=_HELP)
        text = apply(text, set_key(text, mapping, key, _plain(value, dates), newline=newline))
    return re.sub("|".join(map(re.escape, dates)), lambda match: dates[match[0]], text) if dates else text


def _changes(old: Mapping[str, object], new: Mapping[str, object]) -> list[tuple[tuple[str, ...], object]]:
    """Return the path and the value of each entry that is new or changed; of a mapping that only grows, its entries."""
    changes: list[tuple[tuple[str, ...], object]] = []
    for key, value in new.items():
        before = old.get(key)
        if key in old and _is_same(before, value):
            continue
        if isinstance(before, dict) and before and isinstance(value, dict) and before.keys() <= value.keys():
            changes += [((key, *path), each) for path, each in _changes(before, value)]
        else:
            changes.append(((key,), value))
    return changes


def _mapping(text: str) -> Node:
    span = _front_span(text)
    node = read_front_matter(text, *span) if span else None
    if isinstance(node, Node):
        return node
    reason = f": {node[0].message}" if node else ""
    raise CannotEdit(f"the front matter cannot be changed safely{reason}", help=_HELP)


def _plain(value: object, dates: dict[str, str]) -> object:
    """Return a value of plain types, in which a word stands for each date; `dates` says for which."""
    if isinstance(value, dt.date):
        word = _DATE.format(len(dates))
        dates[word] = value.isoformat(" ") if isinstance(value, dt.datetime) else value.isoformat()
        return word
    if isinstance(value, dict):
        return {key: _plain(each, dates) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each, dates) for each in value]
    return value


def _require_read_back(text: str, post: frontmatter.Post) -> None:
    """Refuse a text that would be read as something other than the post.

    Raises:
        CannotEdit: it would.
    """
    try:
        read = loads(text)
        wanted = post.content.strip().replace("\r\n", "\n")
        if read.content == wanted and _is_same(read.metadata, _as_lists(post.metadata)):
            return
    except (yaml.YAMLError, ValueError):
        pass
    raise CannotEdit("the changed post would not be read back as it is", help=_HELP)


def _as_lists(value: object) -> object:
    """Return a value with its tuples as lists, as YAML reads them."""
    if isinstance(value, dict):
        return {key: _as_lists(each) for key, each in value.items()}
    return [_as_lists(each) for each in value] if isinstance(value, (list, tuple)) else value
