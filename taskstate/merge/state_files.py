"""Merges state files. What cannot be read on some side is merged line by line, as git itself would.

Line ends are LF here, the last line has one, and there is no byte order mark: `files` sees to that.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from taskstate.errors import CannotEdit, EditConflict
from taskstate.merge.appended_lists import last_version
from taskstate.merge.front_matter import front_matter_text, merge_front_matter, top_level_entries
from taskstate.merge.lines import lines_of, merge_text
from taskstate.merge.sections import merge_body, repeats_sections
from taskstate.merge.three_way import PREFERENCES, Versions, trivial_merge
from taskstate.model.canonical_json import audit_seal
from taskstate.model.derived_values import COUNTS, PROGRESS, SIZE, fix_edits
from taskstate.model.session_references import identity
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import Document, parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import set_json
from taskstate.syntax.yaml_edit import set_key
from taskstate.validation import schema
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.merge.three_way import Prefer
    from taskstate.model.task_state import Criterion, TaskState


def merge_states(sides: Versions[str]) -> tuple[list[str], list[str]]:
    """Return three state files as one, in pieces that belong together: with ours preferred, and with theirs."""
    sides = sides._replace(base=_without_conflicts(sides.base))
    documents = sides.each(parse)
    if any(_is_unfit(document) for document in documents):
        plain = [merge_text(sides, prefer) for prefer in PREFERENCES]
        return lines_of(plain[0]), lines_of(plain[1])
    ours, theirs = (_merge(sides, documents, prefer) for prefer in PREFERENCES)
    finished = _finished(ours, documents)
    return _pieces(finished), _pieces(_like(theirs, parse(finished)))


def _without_conflicts(base: str) -> str:
    """Return a common version without what is in conflict in it: nobody knows what it was.

    Where two branches have been merged into each other, git merges their several common versions into one first.
    """
    edits = [Edit(found.span.start, min(found.span.end + 1, len(base)), "") for found in find_conflicts(base)]
    return apply(base, edits)


def _is_unfit(document: Document) -> bool:
    """Return whether a file cannot be taken apart: not even its sections are certain, or a newer tool wrote it."""
    version = document.front_matter.get("taskstate")
    kinds = {problem.kind for problem in document.problems}
    return (
        bool(kinds & {"fence-unclosed", "front-matter-unclosed"})
        or (isinstance(version, int) and version > FORMAT)
        or repeats_sections(document)
        or bool(find_conflicts(document.text))
    )


def _merge(texts: Versions[str], documents: Versions[Document], prefer: Prefer) -> str:
    states = _with_equal_marks(documents.each(read_state))
    body = merge_body(states, prefer)
    text = merge_front_matter(states.each(lambda state: state.document), prefer) + body.text
    after = parse(text)
    told = tuple((session.number, identity(session.entry)) for session in read_state(after).sessions)
    is_sound = not repeats_sections(after) and body.sessions in (None, told)
    return text if is_sound else merge_text(texts, prefer)


def _pieces(text: str) -> list[str]:
    head = front_matter_text(parse(text))
    return [*(top_level_entries(head) or lines_of(head)), *lines_of(text[len(head) :])]


# Acceptance criteria


def _with_equal_marks(states: Versions[TaskState]) -> Versions[TaskState]:
    """Return three versions in which each criterion bears the mark that the merge gives it."""
    marks = states.each(_marks)
    if trivial_merge(marks):
        return states
    decided: dict[tuple[str, int], str] = {}
    for name in marks.ours.keys() & marks.theirs.keys():
        told = marks.each(lambda side, name=name: side.get(name, " "))  # type: ignore[misc]  # the loop's name
        found = trivial_merge(told.each(str.lower))
        decided[name] = next(mark for mark in told if mark.lower() == (found[0] if found else "x"))
    return states.each(lambda state: _marked(state, decided))


def _marks(state: TaskState) -> Mapping[tuple[str, int], str]:
    return {name: each.mark.of(state.document.text) for name, each in _named(state.criteria)}


def _named(criteria: tuple[Criterion, ...]) -> Iterator[tuple[tuple[str, int], Criterion]]:
    count: Counter[str] = Counter()
    for each in criteria:
        count[each.text] += 1
        yield (each.text, count[each.text]), each


def _marked(state: TaskState, decided: Mapping[tuple[str, int], str]) -> TaskState:
    edits = [Edit(*each.mark, decided[name]) for name, each in _named(state.criteria) if name in decided]
    return read_state(parse(apply(state.document.text, edits)))


# What follows from the rest


def _finished(text: str, sides: Versions[Document]) -> str:
    """Return a merged text with its derived values, and its seal, brought up to date."""
    try:
        text = _sealed(_with_version(text), sides)
        document = parse(text)
        state = read_state(document)
        root = document.front_matter.node
        wanted = [COUNTS] if root and root.entry(COUNTS) and state.section("Progress Log") else []
        if state.checklist and state.checklist.root.get(PROGRESS):
            wanted.append(PROGRESS)
        return apply(text, fix_edits(document, state, *wanted))
    except (CannotEdit, EditConflict):
        return text  # the linter tells what is wrong then


def _with_version(text: str) -> str:
    """Return a text whose version is the one that its change log ends with, where that is higher."""
    state = read_state(parse(text))
    log, told = state.section("Change Log"), state.document.front_matter.get("version")
    last = last_version(log.body.of(text)) if log else 0
    return _set(text, ("version",), last) if isinstance(told, int) and last > told else text


def _sealed(text: str, sides: Versions[Document]) -> str:
    """Return a text whose seal is right; one that was broken before stays so: the merge must not hide a hand edit."""
    values = front_matter_values(parse(text))
    before = [each for each in (_seal(front_matter_values(side)) for side in sides[1:]) if each[0]]
    if not before:
        return text
    broken = next((seal for seal, right in before if seal != right), None)
    return _set(text, ("audit", "seal"), broken or audit_seal(values))


def _seal(values: Mapping[str, object]) -> tuple[str | None, str]:
    """Return the seal that a front matter bears, and the one that would be right."""
    audit = values.get("audit")
    seal = audit.get("seal") if isinstance(audit, dict) else None
    return (seal if isinstance(seal, str) else None), audit_seal(values)


def _like(text: str, model: Document) -> str:
    """Return a merged text with the derived values of another, so that these are nothing to decide about."""
    values = front_matter_values(model)
    audit = values.get("audit")
    wanted: dict[tuple[str, ...], object] = {(key,): values[key] for key in (COUNTS, SIZE, "version") if key in values}
    if isinstance(audit, dict) and "seal" in audit:
        wanted["audit", "seal"] = audit["seal"]
    try:
        for path, value in wanted.items():
            text = _set(text, path, value)
        return _with_progress(text, model)
    except (CannotEdit, EditConflict):
        return text


def _with_progress(text: str, model: Document) -> str:
    told, checklist = read_state(model).checklist, read_state(parse(text)).checklist
    if not told or not checklist or told.progress is None or checklist.progress is None:
        return text
    return apply(text, set_json(text, checklist.root, (PROGRESS,), told.progress))


def _set(text: str, path: tuple[str, ...], value: object) -> str:
    """Return a text with another value at a place of its front matter, where there is such a place."""
    root = parse(text).front_matter.node
    parent = root.get(*path[:-1]) if root else None
    if parent is None or parent.kind != "mapping" or parent.entry(path[-1]) is None:
        return text
    return apply(text, set_key(text, parent, path[-1], value, order=tuple(schema.load("task")["properties"])))
