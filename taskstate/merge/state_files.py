"""Merges state files; a file that cannot be read on some side is merged by line, as git would.

Texts have LF line ends and no byte order mark here, and the last line has a line end: `files` sees to that.
"""

from __future__ import annotations

from collections import Counter

from taskstate.errors import CannotEdit, EditConflict
from taskstate.formatting.formatter import format_document, unreadable
from taskstate.formatting.key_order import disorders, order_edits
from taskstate.merge.appended_lists import last_version
from taskstate.merge.decisions import decisions_apart
from taskstate.merge.findings import findings_apart
from taskstate.merge.front_matter import (
    front_matter_text,
    merge_front_matter,
    top_level_entries,
    with_equal_entries,
)
from taskstate.merge.lines import lines_of, merge_text
from taskstate.merge.sections import merge_body, repeats_sections
from taskstate.model import delta_block, roles
from taskstate.model.canonical_json import audit_seal
from taskstate.model.derived_values import COUNTS, PROGRESS, SIZE, fix_edits
from taskstate.model.permanent import CONTENT, VERSION_SEAL, edited_parts, version_of, version_seal
from taskstate.model.session_references import fuller, identity
from taskstate.model.statuses import DROPPED
from taskstate.model.task_state import read_state
from taskstate.model.tool_blocks import REOPENED
from taskstate.model.write_metadata import blocks_of, front_matter_values, set_front_matter, with_event
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import Document, parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import set_json
from taskstate.syntax.yaml_edit import set_key
from taskstate.typed import TYPE_CHECKING
from taskstate.units.three_way import PREFERENCES, Versions, trivial_merge
from taskstate.validation import schema
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.criteria import Criterion
    from taskstate.model.task_state import TaskState
    from taskstate.units.three_way import Prefer


def merge_states(versions: Versions[str]) -> tuple[list[str], list[str]]:
    """Return the merged state file in pieces that belong together: with ours preferred, and with theirs preferred."""
    versions = versions._replace(base=_without_conflicts(versions.base))
    documents = versions.each(parse)
    if any(_is_unmergeable(document) for document in documents):
        texts = [merge_text(versions, prefer) for prefer in PREFERENCES]
        return lines_of(texts[0]), lines_of(texts[1])
    ours, theirs = (_merge(versions, documents, prefer) for prefer in PREFERENCES)
    finished = _in_form(_with_derived_values(ours, documents), documents)
    model = parse(finished)
    return _pieces(finished), _pieces(with_equal_entries(_with_values_of(_in_form(theirs, documents), model), model))


def _without_conflicts(base: str) -> str:
    """Return a base without the conflicts in it, whose content is unknown.

    Where two branches were merged into each other, git first merges their several common bases into one.
    """
    edits = [Edit(conflict.span.start, min(conflict.span.end + 1, len(base)), "") for conflict in find_conflicts(base)]
    return apply(base, edits)


def _is_unmergeable(document: Document) -> bool:
    """Return whether a file cannot be merged by section: their bounds are uncertain, or a newer tool wrote it."""
    version = document.front_matter.get("taskstate")
    kinds = {problem.kind for problem in document.problems}
    return (
        bool(kinds & {"fence-unclosed", "front-matter-unclosed"})
        or (isinstance(version, int) and version > FORMAT)
        or repeats_sections(document)
        or bool(find_conflicts(document.text))
    )


def _merge(texts: Versions[str], documents: Versions[Document], prefer: Prefer) -> str:
    states = _with_one_turn(_without_ended(_taken_up(_with_own_results(documents.each(read_state)))))
    states = findings_apart(decisions_apart(_with_equal_marks(states)))
    body = merge_body(states, prefer)
    text = merge_front_matter(states.each(lambda state: state.document), prefer) + body.text
    after = parse(text)
    actual = tuple((session.number, identity(session.entry)) for session in read_state(after).sessions)
    is_sound = not repeats_sections(after) and body.sessions in (None, actual)
    return text if is_sound else merge_text(texts, prefer)


def _in_form(text: str, versions: Versions[Document]) -> str:
    """Return a merged text in canonical form, if both sides are; else with its keys in order, if theirs are."""
    document = parse(text)
    formatted = _formatted(document)
    if formatted == text or all(_formatted(side) == side.text for side in versions[1:]):
        return formatted
    return text if any(map(disorders, versions[1:])) else apply(text, order_edits(document))


def _formatted(document: Document) -> str:
    return document.text if unreadable(document) else format_document(document)


def _pieces(text: str) -> list[str]:
    head = front_matter_text(parse(text))
    return [*(top_level_entries(head) or lines_of(head)), *lines_of(text[len(head) :])]


# A task that one side has dropped


def _taken_up(states: Versions[TaskState]) -> Versions[TaskState]:
    """Return the three versions with the task reopened on the side that dropped it, if the other one went on with it.

    So nothing that was done is given up by a merge, and an event says why the task is open.
    """
    sides = (states.ours, states.theirs)
    others = [side for side in sides if side.status != DROPPED]
    if states.base.status == DROPPED or len(others) != 1:
        return states
    # Only from what both sides say: the merge must have the same result on every machine.
    at = max(str(side.text(key) or "") for side in sides for key in ("created_at", "updated_at"))
    event = {"at": at, "actor": "merge", "event": REOPENED, "note": "dropped on one side of a merge only"}

    def reopened(side: TaskState) -> TaskState:
        if side.status != DROPPED:
            return side
        text = apply(side.document.text, set_front_matter(side.document, "status", others[0].status))
        return read_state(side.document.with_text(with_event(text, event)))

    return states.each(reopened)


# Results of checks


def _with_own_results(states: Versions[TaskState]) -> Versions[TaskState]:
    """Return the versions with each role's results written out, where the sides differ in the baseline."""
    baselines = states.each(lambda side: blocks_of(side.document).baseline.values)
    if baselines.ours == baselines.theirs:
        return states
    return states.each(lambda side: read_state(roles.with_own_results(side.document)))


# A turn that one side has ended, or that each side has opened


def _without_ended(states: Versions[TaskState]) -> Versions[TaskState]:
    """Return the three versions without a turn that is open on one side, and that the other side has ended."""
    base, ours, theirs = states
    over = _has_ended(ours, theirs, base), _has_ended(theirs, ours, base)
    return Versions(base, *(_without_turn(each) if end else each for each, end in zip(states[1:], over, strict=True)))


def _has_ended(side: TaskState, other: TaskState, base: TaskState) -> bool:
    """Return whether the turn of a side is over on the other one, which has it no more, but a session of it."""
    turn, others, before = (blocks_of(each.document).delta.turn for each in (side, other, base))
    if turn is None or turn in {others, before} or (others and others.started_at == turn.started_at):
        return False
    known = {identity(each.entry) for each in base.sessions}
    own = [each for each in side.sessions if each.number > turn.session and identity(each.entry) not in known]
    return any(fuller(each.entry, one.entry) for one in own for each in other.sessions if each.time == one.time)


def _without_turn(state: TaskState) -> TaskState:
    delta = delta_block.with_turn(blocks_of(state.document).delta, None)
    text = apply(state.document.text, set_front_matter(state.document, "delta", delta.values))
    return read_state(state.document.with_text(text))


def _with_one_turn(states: Versions[TaskState]) -> Versions[TaskState]:
    """Return the three versions without the turn that their side opened while ours opened one; an event tells of it."""
    turns = states.each(lambda side: blocks_of(side.document).delta.turn)
    theirs = turns.theirs
    if theirs is None or turns.ours is None or theirs in {turns.ours, turns.base} or turns.ours == turns.base:
        return states
    what = f"{f'{theirs.role} of ' if theirs.role else ''}{theirs.agent} was open on the other side of a merge"
    event = {"at": str(theirs.started_at), "actor": "merge", "event": "turn-paused", "note": what}
    text = with_event(_without_turn(states.theirs).document.text, event)
    return states._replace(theirs=read_state(parse(text)))


# Acceptance criteria


def _with_equal_marks(states: Versions[TaskState]) -> Versions[TaskState]:
    """Return the three versions with the merged check mark at each acceptance criterion."""
    marks = states.each(_marks)
    if trivial_merge(marks):
        return states
    merged: dict[tuple[str, int], str] = {}
    for name in marks.ours.keys() & marks.theirs.keys():
        versions = marks.each(lambda side, name=name: side.get(name, " "))  # type: ignore[misc]  # the loop's name
        unconflicted = trivial_merge(versions.each(str.lower))
        merged[name] = next(mark for mark in versions if mark.lower() == (unconflicted[0] if unconflicted else "x"))
    return states.each(lambda state: _with_marks(state, merged))


def _marks(state: TaskState) -> Mapping[tuple[str, int], str]:
    return {name: each.mark.of(state.document.text) for name, each in _keyed(state.criteria)}


def _keyed(criteria: tuple[Criterion, ...]) -> Iterator[tuple[tuple[str, int], Criterion]]:
    count: Counter[str] = Counter()
    for each in criteria:
        count[each.text] += 1
        yield (each.text, count[each.text]), each


def _with_marks(state: TaskState, merged: Mapping[tuple[str, int], str]) -> TaskState:
    edits = [Edit(*each.mark, merged[name]) for name, each in _keyed(state.criteria) if name in merged]
    return read_state(state.document.with_text(apply(state.document.text, edits)))


# Derived values


def _with_derived_values(text: str, documents: Versions[Document]) -> str:
    """Return a merged text with its derived values and its seal updated."""
    try:
        text = _sealed(_with_version_seal(_with_version(text, documents), documents), documents)
        document = parse(text)
        state = read_state(document)
        root = document.front_matter.node
        values = [COUNTS] if root and root.entry(COUNTS) and state.section("Progress Log") else []
        if state.checklist and state.checklist.root.get(PROGRESS):
            values.append(PROGRESS)
        return apply(text, fix_edits(document, state, *values))
    except (CannotEdit, EditConflict):
        return text  # the linter reports the wrong values


def _with_version(text: str, versions: Versions[Document]) -> str:
    """Return a text with the last version of its Change Log as its version, unless a side has a higher one."""
    log = read_state(parse(text)).section("Change Log")
    last = last_version(log.body.of(text)) if log else 0
    numbers = [side.front_matter.get("version") for side in versions[1:]]
    highest = max((each for each in numbers if isinstance(each, int)), default=0)
    return _set(text, ("version",), last) if last >= highest > 0 else text


def _with_version_seal(text: str, versions: Versions[Document]) -> str:
    """Return the text of a permanent task with the seal of its version.

    A section that a side has edited without a new version stays so: the merge would hide it otherwise.
    """
    state = read_state(parse(text))
    if not state.text(VERSION_SEAL):
        return text
    kept = {name: part for side in map(read_state, versions[1:]) for name, part in edited_parts(side).items()}
    number, *hashes = version_seal(state, version_of(state)).split("-")
    parts = [kept.get(name, now) for name, now in zip(CONTENT, hashes, strict=True)]
    return _set(text, (VERSION_SEAL,), "-".join((number, *parts)))


def _sealed(text: str, versions: Versions[Document]) -> str:
    """Return a text with a valid seal; a broken seal stays broken, or the merge would hide an edit by hand."""
    values = front_matter_values(parse(text))
    before = [each for each in (_seal(front_matter_values(side)) for side in versions[1:]) if each[0]]
    if not before:
        return text
    broken = next((seal for seal, right in before if seal != right), None)
    return _set(text, ("audit", "seal"), broken or audit_seal(values))


def _seal(values: Mapping[str, object]) -> tuple[str | None, str]:
    """Return the seal in a front matter, and the seal that would be valid."""
    audit = values.get("audit")
    seal = audit.get("seal") if isinstance(audit, dict) else None
    return (seal if isinstance(seal, str) else None), audit_seal(values)


def _with_values_of(text: str, model: Document) -> str:
    """Return a merged text with the derived values of another one, so that they never cause a conflict."""
    values = front_matter_values(model)
    audit = values.get("audit")
    new_values: dict[tuple[str, ...], object] = {
        (key,): values[key] for key in (COUNTS, SIZE, "version", VERSION_SEAL) if key in values
    }
    if isinstance(audit, dict) and "seal" in audit:
        new_values["audit", "seal"] = audit["seal"]
    try:
        for path, value in new_values.items():
            text = _set(text, path, value)
        return _with_progress(text, model)
    except (CannotEdit, EditConflict):
        return text


def _with_progress(text: str, model: Document) -> str:
    model_checklist, checklist = read_state(model).checklist, read_state(parse(text)).checklist
    if not model_checklist or not checklist or model_checklist.progress is None or checklist.progress is None:
        return text
    return apply(text, set_json(text, checklist.root, (PROGRESS,), model_checklist.progress))


def _set(text: str, path: tuple[str, ...], value: object) -> str:
    """Return a text with a new value at a path of its front matter, if that path exists."""
    root = parse(text).front_matter.node
    parent = root.get(*path[:-1]) if root else None
    if parent is None or parent.kind != "mapping" or parent.entry(path[-1]) is None:
        return text
    return apply(text, set_key(text, parent, path[-1], value, order=tuple(schema.load("task")["properties"])))
