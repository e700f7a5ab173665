"""Edits a YAML mapping in place: sets, adds and removes keys and list items, and leaves every other byte as it was.

Comments, quoting and key order are kept, because a change replaces one span and never dumps the whole mapping. What
cannot be edited safely (anchors, aliases, merge keys, duplicate keys) is refused. For JSON see `json_edit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from taskstate.errors import CannotEdit
from taskstate.syntax.edits import Edit
from taskstate.syntax.nodes import equals, is_list, last_leaf, scalars
from taskstate.syntax.spans import line_end, line_start
from taskstate.syntax.yaml_emitter import OneLine, fits_one_line, yaml_block, yaml_entry, yaml_flow, yaml_item, yaml_key
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.syntax.nodes import MapEntry, Node


_BY_HAND = "change it by hand"


def set_key(  # noqa: PLR0913 - a text, a position, a value, and the formatting of new text
    text: str, mapping: Node, key: str, value: object, *, order: Sequence[str] = (), newline: str = "\n"
) -> tuple[Edit, ...]:
    r"""Return the edits that set `key` of a YAML mapping, in place or as a new entry; none if it is already equal.

    A new key is put behind the nearest key that precedes it in `order`, else before the nearest that follows it, else
    at the end. A mapping that keeps its keys and gets more, or a list that grows, is changed part by part. For what
    counts as equal see `nodes.equals`.

    Raises:
        CannotEdit: the value is written in a form that cannot be changed safely.
    """
    return tuple(_Editor(text, newline).set_key(mapping, key, value, order))


def remove_key(text: str, mapping: Node, key: str) -> tuple[Edit, ...]:
    """Return the edits that remove an entry from a YAML mapping; the comments above and below it stay.

    Raises:
        CannotEdit: the entry is written in a form that cannot be removed safely.
    """
    return tuple(_Editor(text, "\n").remove_key(mapping, key))


class _Slot(NamedTuple):
    """The position of a value: behind a key's colon or an item's dash, which stands in `column`, or inside brackets."""

    node: Node
    behind: int
    column: int
    owner: str  # "key", "dash" or "flow"


class _Editor:
    """One change of one text; lives as long as one call of `set_key` or `remove_key`."""

    def __init__(self, text: str, newline: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.newline = newline

    def set_key(self, mapping: Node, key: str, value: object, order: Sequence[str]) -> Iterator[Edit]:
        """Yield the edits that set a key."""
        if mapping.kind != "mapping":
            raise CannotEdit(f"{key!r} cannot be set: there is no mapping to set it in", help=_BY_HAND)
        entry = mapping.entry(key)
        if entry is None:
            yield from self.insert(mapping, {key: value}, order)
        else:
            yield from self.set_value(self.slot_of_entry(mapping, entry), value)

    def slot_of_entry(self, mapping: Node, entry: MapEntry) -> _Slot:
        """Return the slot of an entry's value."""
        behind = self.text.index(":", entry.key.span.end) + 1 if not entry.value.pinned else entry.value.span.start
        owner = "key" if mapping.style == "block" else "flow"
        return _Slot(entry.value, behind, self.lines.column(entry.key.span.start), owner)

    def slots_of_items(self, sequence: Node) -> Iterator[_Slot]:
        """Yield the slots of a list's items; all dashes of a block stand in the column of the first."""
        column = self.lines.column(sequence.span.start)
        for item in sequence.items:
            yield _Slot(item, item.span.start, column, "dash" if sequence.style == "block" else "flow")

    def set_value(self, slot: _Slot, value: object) -> Iterator[Edit]:
        """Yield the edits that set the value in a slot."""
        if equals(slot.node, value):
            return
        if self.can_merge(slot, value):
            yield from self.merge(slot.node, value)
            return
        _refuse_pinned(slot.node)
        if slot.owner != "key":
            yield self.put_inside(slot, value)
        elif fits_one_line(value, self.lines.column(slot.behind) + 1):
            yield from self.put_on_line(slot, yaml_flow(value))
        else:
            yield from self.put_below(slot, value)

    def can_merge(self, slot: _Slot, value: object) -> bool:
        """Return whether the old value can be changed part by part: the new one only changes or adds parts."""
        node = slot.node
        if node.pinned or (isinstance(value, OneLine) and node.style == "block" and not self.has_comment(node)):
            return False
        if isinstance(value, Mapping):
            grows = bool(node.entries) and all(entry.key.text in value for entry in node.entries)
        elif is_list(value):
            grows = 0 < len(node.items) <= len(value)
        else:
            return False
        return grows and not self.outgrows_line(slot, value)

    def has_comment(self, node: Node) -> bool:
        """Return whether a comment stands in the lines of a value, which putting them on one line would lose."""
        at = [node.span.start, *(end for leaf in scalars(node) for end in leaf.span), self.lines.end(node.span.end)]
        return any("#" in self.text[start:end] for start, end in zip(at[::2], at[1::2], strict=True))

    def outgrows_line(self, slot: _Slot, value: object) -> bool:
        """Return whether brackets on one line would become too long, so that the value is written as a block."""
        node = slot.node
        one_line = slot.owner == "key" and node.style == "flow" and self.lines.end(node.span.start) >= node.span.end
        return one_line and not fits_one_line(value, self.lines.column(slot.behind) + 1)

    def merge(self, node: Node, value: Any) -> Iterator[Edit]:  # noqa: ANN401 - a mapping or list
        """Yield the edits that change the parts of a collection that differ, and add the new ones."""
        if isinstance(value, Mapping):
            for entry in node.entries:
                yield from self.set_value(self.slot_of_entry(node, entry), value[entry.key.text])
            new = {key: child for key, child in value.items() if node.entry(key) is None}
            yield from self.insert(node, new, tuple(value))
        else:
            for slot, child in zip(self.slots_of_items(node), value, strict=False):
                yield from self.set_value(slot, child)
            yield from self.append(node, value[len(node.items) :])

    # One value in the place of another

    def put_inside(self, slot: _Slot, value: Any) -> Edit:  # noqa: ANN401
        """Return the edit that replaces a value in brackets or behind a dash."""
        node = slot.node
        if slot.owner == "flow":
            new = yaml_flow(value)
        else:
            column = self.lines.column(node.span.start) - 2 if node.span.start < node.span.end else slot.column
            new = self.newline.join(yaml_item(value, indent=column))[column + 2 :]
        return self.put(node, new)

    def put(self, node: Node, new: str) -> Edit:
        """Return the edit that replaces a value, or inserts one where it is absent (`key:`)."""
        return Edit(*node.span, new if node.span.start < node.span.end else f" {new}")

    def put_on_line(self, slot: _Slot, new: str) -> Iterator[Edit]:
        """Yield the edits that replace a key's value by one on the line of the key."""
        node = slot.node
        if node.style != "block":
            yield self.put(node, new)
            return
        yield Edit(slot.behind, slot.behind, f" {new}")
        yield Edit(self.lines.break_before(node.span.start), self.lines.end(node.span.end), "")

    def put_below(self, slot: _Slot, value: object) -> Iterator[Edit]:
        """Yield the edits that replace a key's value by a block on the lines below the key."""
        node = slot.node
        kind = "mapping" if isinstance(value, Mapping) else "sequence"
        same = node.style == "block" and node.kind == kind
        block = self.newline.join(yaml_block(value, self.lines.column(node.span.start) if same else slot.column + 2))
        line_start, line_end = self.lines.start(node.span.start), self.lines.end(node.span.end)
        if line_start > slot.behind:  # the old value stands on lines of its own
            yield Edit(line_start, line_end, block)
        else:
            yield Edit(slot.behind, node.span.end, "")
            yield Edit(line_end, line_end, self.newline + block)

    # New entries and items

    def insert(self, mapping: Node, new: Mapping[str, object], order: Sequence[str]) -> Iterator[Edit]:
        """Yield the edits that add entries to a mapping."""
        if mapping.pinned and new:
            raise CannotEdit(
                f"nothing can be added to the mapping that holds {', '.join(map(repr, new))}: {mapping.pinned}",
                help=_BY_HAND,
            )
        ranks = {key: rank for rank, key in enumerate(order)}
        for key in sorted(new, key=lambda name: ranks.get(name, len(ranks))):
            before, after = neighbours(mapping, key, ranks)
            if mapping.style == "flow":
                yield self.insert_in_brackets(mapping, f"{yaml_key(key)}: {yaml_flow(new[key])}", before, after)
            else:
                yield self.insert_lines(mapping, key, new[key], before=before, after=after)

    def insert_in_brackets(self, node: Node, new: str, before: MapEntry | None, after: MapEntry | None) -> Edit:
        """Return the edit that adds an entry to a flow mapping, behind `before` or in front of `after`."""
        if before:
            at = before.value.span.end
            # Directly behind an absent value the comma would be part of the key: `{a:, b: 1}` has a key `a:`.
            comma = " , " if self.text.startswith(":", at - 1) else ", "
            return Edit(at, at, comma + new)
        at = after.key.span.start if after else node.span.start + 1
        return Edit(at, at, f"{new}, " if after else new)

    def insert_lines(
        self, mapping: Node, key: str, value: object, *, before: MapEntry | None, after: MapEntry | None
    ) -> Edit:
        """Return the edit that adds an entry to a block mapping, on lines behind `before` or in front of `after`."""
        at = mapping.span.start
        column = self.lines.column(mapping.span.start) if mapping.entries else 0
        lines = self.newline.join(yaml_entry(key, value, indent=column))
        if before is None and after is not None:
            at = self.lines.start(after.key.span.start)
            if self.lines.begins(after.key.span.start):
                at = self.lines.above_comments(at)
                return Edit(at, at, lines + self.newline)
            before = after  # it begins behind a dash, so nothing can be put in front of it
        if before is not None:
            at = self.end_of(before.value)
            return Edit(at, at, self.newline + lines)
        starts_line = at == self.lines.start(at)
        return Edit(at, at, lines + self.newline if starts_line else self.newline + lines)

    def append(self, sequence: Node, new: Sequence[object]) -> Iterator[Edit]:
        """Yield the edits that add items to a list that has some."""
        last = sequence.items[-1]
        if sequence.style == "flow":
            yield from (Edit(last.span.end, last.span.end, f", {yaml_flow(item)}") for item in new)
        elif new:
            at = self.end_of(last)
            column = self.lines.column(sequence.span.start)
            yield from (Edit(at, at, self.newline + self.newline.join(yaml_item(item, indent=column))) for item in new)

    def end_of(self, value: Node) -> int:
        """Return the end of a value's last line, behind which a line can be added."""
        end = self.lines.end(value.span.end)
        if self.lines.would_absorb(value, end):
            raise CannotEdit("nothing can be added after a text block that ends with blank lines", help=_BY_HAND)
        return end

    # Removal

    def remove_key(self, mapping: Node, key: str) -> Iterator[Edit]:
        """Yield the edits that remove an entry."""
        number = next((number for number, entry in enumerate(mapping.entries) if entry.key.text == key), None)
        if number is None:
            return
        entry = mapping.entries[number]
        _refuse_pinned(entry.value)
        if mapping.style == "flow":
            yield self.remove_in_brackets(mapping, number)
        elif len(mapping.entries) == 1 and self.lines.column(entry.key.span.start):
            yield Edit(*mapping.span, "{}")
        else:
            yield self.remove_lines(mapping, number)

    def remove_in_brackets(self, mapping: Node, number: int) -> Edit:
        """Return the edit that removes an entry and one comma from a flow mapping."""
        entry = mapping.entries[number]
        if number + 1 < len(mapping.entries):
            start, end = entry.key.span.start, mapping.entries[number + 1].key.span.start
            gap = self.text[entry.value.span.end : end]
        elif number:
            start, end = mapping.entries[number - 1].value.span.end, entry.value.span.end
            gap = self.text[start : entry.key.span.start]
        else:
            start, end = mapping.span.start + 1, mapping.span.end - 1
            gap = self.text[start : entry.key.span.start] + self.text[entry.value.span.end : end]
        if "#" in gap:
            raise CannotEdit(
                f"{entry.key.text!r} cannot be removed: there is a comment beside it in the brackets", help=_BY_HAND
            )
        return Edit(start, end, "")

    def remove_lines(self, mapping: Node, number: int) -> Edit:
        """Return the edit that removes the lines of an entry from a block mapping."""
        entry = mapping.entries[number]
        start = self.lines.start(entry.key.span.start)
        end = self.lines.end(entry.value.span.end)
        if not self.lines.begins(entry.key.span.start):  # the first entry, behind a dash: the second moves up
            following = mapping.entries[number + 1].key.span.start
            if "#" in self.text[entry.value.span.end : following]:
                raise CannotEdit(f"{entry.key.text!r} cannot be removed: there is a comment below it", help=_BY_HAND)
            return Edit(entry.key.span.start, following, "")
        if number and self.lines.would_absorb(
            mapping.entries[number - 1].value, end, column=entry.key.span.start - start
        ):
            raise CannotEdit(f"{entry.key.text!r} cannot be removed: a text block above would grow", help=_BY_HAND)
        return Edit(start, end + len(self.lines.break_at(end)), "")


def neighbours(mapping: Node, key: str, ranks: Mapping[str, int]) -> tuple[MapEntry | None, MapEntry | None]:
    """Return the entry behind which a new key belongs, or else the one in front of which it belongs.

    `ranks` maps the known keys to their canonical order.
    """
    ranked = [(ranks[entry.key.text], entry) for entry in mapping.entries if entry.key.text in ranks]
    own = ranks.get(key)
    if own is not None:
        before = max((pair for pair in ranked if pair[0] < own), key=itemgetter(0), default=None)
        if before:
            return before[1], None
        after = min((pair for pair in ranked if pair[0] > own), key=itemgetter(0), default=None)
        if after:
            return None, after[1]
    return (mapping.entries[-1] if mapping.entries else None), None


def _refuse_pinned(node: Node) -> None:
    if node.pinned:
        raise CannotEdit(f"the value {node.text!r} cannot be changed: {node.pinned}", help=_BY_HAND)
    for entry in node.entries:
        _refuse_pinned(entry.key)
        _refuse_pinned(entry.value)
    for item in node.items:
        _refuse_pinned(item)


# YAML 1.1 ends a line at all of these, and so does a comment in ruamel.yaml.
_OTHER_ENDS = "\x85\u2028\u2029"
_ENDS = f"\r\n{_OTHER_ENDS}"


class Lines:
    """The lines of one text; lives as long as one change of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def start(self, at: int) -> int:
        """Return the start of the line that holds an offset."""
        return line_start(self.text, at, ends=_ENDS)

    def end(self, at: int) -> int:
        """Return the end of the line that holds an offset, without its line break."""
        line = self.text[at : line_end(self.text, at)]
        others = [] if line.isascii() else [found for each in _OTHER_ENDS if (found := line.find(each)) >= 0]
        return at + min(others, default=len(line))

    def break_at(self, at: int) -> str:
        """Return the line break at an offset, or an empty string at the end of the text."""
        return "\r\n" if self.text.startswith("\r\n", at) else self.text[at : at + 1]

    def break_before(self, at: int) -> int:
        """Return the start of the line break before the line that holds an offset."""
        start = self.start(at)
        return start - 2 if self.text.endswith("\r\n", 0, start) else start - 1

    def column(self, at: int) -> int:
        """Return the column of an offset."""
        return at - self.start(at)

    def begins(self, at: int) -> bool:
        """Return whether nothing but blanks stands before an offset on its line."""
        return not self.text[self.start(at) : at].strip(" ")

    def above_comments(self, at: int) -> int:
        """Return the start of the comment lines directly above the line at `at`, which belong to that line."""
        while at > 0:
            above = self.start(self.break_before(at))
            if not self.text[above:at].lstrip(" ").startswith("#"):
                break
            at = above
        return at

    def would_absorb(self, value: Node, at: int, *, column: int | None = None) -> bool:
        """Return whether `value` ends with a text block (`|`, `>`) to which the lines behind `at` belong, or would.

        Such lines are blank or, if `column` is given, indented deeper than it.
        """
        leaf = last_leaf(value)
        if leaf.style not in {"literal", "folded"}:
            return False
        keeps_blank_lines = "+" in self.text[leaf.span.start : self.end(leaf.span.start)]
        while line_break := self.break_at(at):
            start = at + len(line_break)
            at = self.end(start)
            line = self.text[start:at]
            if line.strip(" "):
                return column is not None and len(line) - len(line.lstrip(" ")) > column
            if keeps_blank_lines or line:
                return True
        # If the text ends with the block, a line end that is added would become part of it.
        return at == self.end(leaf.span.end)
