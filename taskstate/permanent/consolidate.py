"""Consolidates a section with new content: what says the same is joined, what contradicts by its key is replaced.

Two entries say the same if they are equal after case, spaces and end punctuation are set aside. The key of an entry is
the bold label that begins it, or the number of a decision. Nothing is guessed by similarity.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.messages import first_of, one_line
from taskstate.model.entries import BULLET, DECISION, SHOWN, Entry, entries, line_after
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.markdown_blocks import read_blocks
from taskstate.syntax.spans import Span, newline_of, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADING_LEVEL = 3
_MOST_ADDED = 3  # new entries that a summary names


class Consolidated(NamedTuple):
    """A section's new text, and what became of each entry: lists of words for the Change Log.

    `replaced` pairs the old entry with the new one.
    """

    text: str
    added: tuple[str, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    joined: int = 0

    @property
    def summary(self) -> str:
        """What changed, in one line; each entry that is no longer there is named."""
        parts = [f"{new} (was {old})" for old, new in self.replaced]
        parts += [f"dropped {old}" for old in self.dropped]
        parts += [f"{each} now under {heading}" for each, heading in self.moved]
        parts += [f"added {first_of(self.added, _MOST_ADDED, separator='; ')}"] if self.added else []
        return "; ".join(parts)


def consolidated(old: str, new: str, drop: Sequence[str] = ()) -> Consolidated:
    """Return the text of a section with new content, and without the entries that are to be dropped.

    `new` is Markdown; `### Heading` in it says what the entries below it come under, also those that are there already.

    Raises:
        TaskstateError: code "structure": the content has headings that would begin another section, or does not close a
            fence; code "ambiguous": several entries have the key of a new one; code "not-found": nothing to drop.
    """
    require_embeddable(new)
    result = Consolidated(old)
    for text in drop:
        result = _without(result, text)
    for entry in entries(with_newlines(new, newline_of(old) if old.strip() else "\n")):
        result = _with(result, entry)
    return result


def require_embeddable(text: str) -> None:
    """Refuse content that would change the structure of the document.

    Raises:
        TaskstateError: code "structure".
    """
    for block in read_blocks(text):
        if block.kind == "heading" and block.level < _HEADING_LEVEL:
            message = f"the content has a heading that would begin another section: {one_line(block.text, SHOWN)}"
            raise TaskstateError(message, help="begin headings with `###`", code="structure")
        if not block.closed:
            raise TaskstateError("the content has a code fence that is not closed", help="close it", code="structure")
        if block.kind == "html" and "<!--" in block.span.of(text) and "-->" not in block.span.of(text):
            raise TaskstateError("the content has a comment that is not closed", help="close it", code="structure")
    if re.search(r"(?m)^(?:<{7}|={7}|>{7})(?: |$)", text):
        raise TaskstateError("the content has git's conflict markers", help="resolve the conflict", code="structure")


# One entry at a time


def _with(result: Consolidated, new: Entry) -> Consolidated:
    """Return the result with one new entry: joined, put into the place of the one that it replaces, or added."""
    present = entries(result.text)
    match = _match(present, new)
    if match is None:
        return result._replace(text=_inserted(result.text, new), added=(*result.added, new.shown))
    moves = bool(new.heading) and match.heading.casefold() != new.heading.casefold()
    is_same = match.same == new.same
    if is_same and not moves:
        return result._replace(joined=result.joined + 1)
    if moves:
        kept = match if is_same else new
        text = _inserted(_removed(result.text, match), kept._replace(heading=new.heading))
        result = result._replace(moved=(*result.moved, (new.shown, new.heading)))
    else:
        text = apply(result.text, [Edit(*match.span, _in_form_of(match, new))])
    if is_same:
        return result._replace(text=text, joined=result.joined + 1)
    return result._replace(text=text, replaced=(*result.replaced, (match.value, new.shown)))


def _in_form_of(old: Entry, new: Entry) -> str:
    """Return the text of a new entry as a list item or as a paragraph, whichever the one is that it replaces."""
    bullet = BULLET.match(old.text if old.is_item else new.text)
    if old.is_item == new.is_item or bullet is None:
        return new.text
    first, *rest = new.text.splitlines(keepends=True)
    indent = " " * len(bullet[0])
    if old.is_item:
        return "".join((bullet[0], first, *(indent + line if line.strip() else line for line in rest)))
    return "".join((first[bullet.end() :], *(line.removeprefix(indent) for line in rest)))


def _match(present: Sequence[Entry], new: Entry) -> Entry | None:
    """Return the entry that a new one joins or replaces, or None.

    Under a heading it is one of that heading, or one that stands under none; else one under none, or one that says the
    same already, or the only one.

    Raises:
        TaskstateError: code "ambiguous".
    """
    alike = [each for each in present if (each.key == new.key if new.key else each.same == new.same)]
    here = [each for each in alike if each.heading.casefold() == new.heading.casefold()]
    plain = [each for each in alike if not each.heading]
    if here or plain:
        return (here or plain)[0]
    if new.heading or not alike:
        return None
    said = [each for each in alike if each.same == new.same]
    if said:
        return said[0]
    if len(alike) > 1:
        where = ", ".join(dict.fromkeys(each.heading for each in alike))
        message = f"several entries are about {new.key or new.shown}: under {where}"
        raise TaskstateError(message, help="put yours under its `### Heading`", code="ambiguous")
    return alike[0]


def _without(result: Consolidated, text: str) -> Consolidated:
    """Return the result without the entry that has this key or text.

    Raises:
        TaskstateError: code "not-found" or "ambiguous".
    """
    wanted = Entry(text, "", " ".join(text.strip("*_: \t").casefold().split()), is_item=False, span=Span(0, 0))
    gone = [each for each in entries(result.text) if each.same == wanted.same or each.key == wanted.key]
    if not gone:
        message = f"there is no entry {one_line(text, SHOWN)!r}"
        raise TaskstateError(message, help="give its bold label, or its whole text", code="not-found")
    if len(gone) > 1:
        raise TaskstateError(f"{len(gone)} entries are {text!r}", help="give the whole text of one", code="ambiguous")
    return result._replace(text=_removed(result.text, gone[0]), dropped=(*result.dropped, gone[0].shown))


def _removed(text: str, entry: Entry) -> str:
    """Return the text without an entry, and without the blank lines below it where it is a paragraph."""
    end = line_after(text, entry.span.end)
    while not entry.is_item and end < len(text) and not text[end : line_after(text, end)].strip():
        end = line_after(text, end)
    return text[: entry.span.start] + text[end:]


def _inserted(text: str, new: Entry) -> str:
    """Return the text with an entry at the end of its heading's part, which is begun at the end if it is not there."""
    nl = newline_of(text) if text.strip() else newline_of(new.text)
    end, last = _end_of(text, new.heading)
    head, tail = text[:end], text[end:]
    if end < 0:
        head, tail, last = f"{text.rstrip()}{nl}{nl}### {new.heading}", text[len(text.rstrip()) :], None
    gap = nl if last and last.is_item and new.is_item else nl + nl
    head = head.rstrip()
    return f"{head}{gap if head else nl}{new.text}{_after(tail, nl)}"


def _after(tail: str, nl: str) -> str:
    """Return what follows a new entry: at least a line end, and a blank line before more text."""
    rest = tail.lstrip("\r\n \t")
    blank = tail[: len(tail) - len(rest)]
    return tail if (rest and blank.count("\n") > 1) or (not rest and blank) else nl + (nl if rest else "") + rest


def _end_of(text: str, heading: str) -> tuple[int, Entry | None]:
    """Return where the part of a heading ends, -1 where there is no such heading, and the last entry in it."""
    headings = [block for block in read_blocks(text) if block.kind == "heading"]
    own = [each for each in entries(text) if each.heading.casefold() == heading.casefold()]
    if not heading:
        plain = [block for block in headings if not DECISION.match(block.text)]
        end = plain[0].span.start if plain else len(text)
        return end, max(own, key=lambda each: each.span, default=None)
    ends = (*(block.span.start for block in headings[1:]), len(text))
    for block, end in zip(headings, ends, strict=False):
        if block.text.casefold() == heading.casefold():
            return end, (own[-1] if own else None)
    return -1, None
