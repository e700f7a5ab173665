"""Formats a state file pass by pass, and checks at the end that the text still means the same."""

from __future__ import annotations

import re
from functools import partial

from taskstate.errors import CannotEdit
from taskstate.formatting.equivalence import same_meaning
from taskstate.formatting.fences import fence_edits
from taskstate.formatting.front_matter import line_edits, quoting_edits
from taskstate.formatting.key_order import order_edits
from taskstate.formatting.parts import body_parts
from taskstate.formatting.spacing import spacing_edits
from taskstate.model import derived_values
from taskstate.model.names import own_file
from taskstate.model.progress_log import is_summary, session_number
from taskstate.model.task_state import PART_LEVEL, json_fence, read_state
from taskstate.syntax.document import Problem, parse
from taskstate.syntax.edits import Edit, apply, touch
from taskstate.syntax.nodes import Fault
from taskstate.syntax.spans import CONTROLS, Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.formatting.fences import Formatted
    from taskstate.model.document_kinds import Kinds
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document

_MOST_ROUNDS = 6  # a pass may give an earlier one something to do; usually two rounds are enough


def format_text(text: str, name: str, kinds: Kinds = ()) -> str:
    """Return the text of a file in canonical form; `name` tells its type, and only state files have such a form.

    `kinds` are those that its repository declares.

    A text that cannot be read, or whose formatted version does not mean the same, is returned as it is.
    """
    own = own_file(name)
    if own is None or own.type != "state":
        return text
    document = parse(text, kinds)
    return text if unreadable(document) else format_document(document)


def format_document(document: Document) -> str:
    """Return the formatted text of a readable state file, or its text as it is where the meaning would change."""
    after = _settled(document)
    return after.text if after is not document and same_meaning(document, after) else document.text


def unreadable(document: Document) -> Problem | None:
    """Return the first problem that makes the reading of a document uncertain, or None."""
    if document.problems:
        return document.problems[0]
    control = re.compile(CONTROLS).search(document.text)
    if control:
        return Problem("control-characters", "there is a control character here", Span(*control.span()))
    hidden = _hidden_value(document)
    if hidden:
        return Problem("front-matter-hash", hidden.message, hidden.span)
    for part in body_parts(document):
        fence = json_fence(document, part.section.own) if part.schema else None
        root = document.json(fence) if fence else None
        if isinstance(root, Fault):
            return Problem("json-invalid", root.message, root.span)
    return None


def _hidden_value(document: Document) -> Fault | None:
    """Return a value of the front matter that begins with `#`, which YAML reads as a comment."""
    front_matter = document.front_matter
    if front_matter.node is None or "#" not in front_matter.content.of(document.text):
        return None
    from taskstate.syntax.yaml_diagnosis import commented_values

    return next(iter(commented_values(document.text, front_matter.node)), None)


def heading_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that write the declared headings in canonical form."""
    return tuple(
        Edit(*part.section.heading, part.heading)
        for part in body_parts(document)
        if part.heading and part.section.heading.of(document.text) != part.heading
    )


def count_edits(document: Document, more: tuple[Edit, ...] = ()) -> tuple[Edit, ...]:
    """Return the edits that update those counts that the front matter has, with the size of the text that `more` makes.

    `more` are edits of the body, which are returned too.
    """
    root, state = document.front_matter.node, read_state(document)
    if root is None:
        return more
    values = [derived_values.COUNTS] if root.entry(derived_values.COUNTS) and _can_be_counted(document, state) else []
    try:
        return derived_values.fix_edits(document, state, *values, more=more)
    except CannotEdit:
        return more


def _can_be_counted(document: Document, state: TaskState) -> bool:
    """Return whether all headings of the Progress Log are those of sessions or of the summary."""
    log = state.section("Progress Log")
    return log is not None and all(
        session_number(each.title) is not None or is_summary(each.title) for each in document.children(log, PART_LEVEL)
    )


def _settled(document: Document) -> Document:
    """Return the document after as many rounds of passes as it takes, or the same one where the rounds never settle."""
    after, formatted = document, dict[tuple[str, str], str]()
    for _round in range(_MOST_ROUNDS):
        text = apply(after.text, _edits(after, formatted))
        if text == after.text:
            return after
        after = after.with_text(text)
    return document


def _edits(document: Document, formatted: Formatted) -> tuple[Edit, ...]:
    """Return the edits of all passes; one whose edits touch those of an earlier pass waits for the next round.

    Each text that is made must be read as a whole, so a round makes one, and not one for each pass. `formatted` is what
    the fences were formatted to in earlier rounds.
    """
    fences = partial(fence_edits, formatted=formatted)
    taken: tuple[Edit, ...] = ()
    for edits_of in (order_edits, quoting_edits, line_edits, heading_edits, fences, spacing_edits):
        edits = edits_of(document)
        if not touch(taken, edits):
            taken = (*taken, *edits)
    begin = document.front_matter.content.end
    return taken if any(edit.start <= begin for edit in taken) else count_edits(document, taken)
