"""Gives a permanent task a new version: every change of its content goes through `raised`."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import first_of, typed_path
from taskstate.model import decision_faults, permanent
from taskstate.model.impact_faults import faults
from taskstate.model.permanent import CHANGE_LOG, COSMETIC, KEPT_VERSIONS, VERSION_SEAL, LoggedVersion
from taskstate.model.statuses import CREATED, IN_PROGRESS
from taskstate.model.write_metadata import set_front_matter, timestamp
from taskstate.permanent.impact.storage import load_map
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import keeping
from taskstate.writing.change import Change
from taskstate.writing.event_log import append_to_archive, with_oldest_moved

if TYPE_CHECKING:
    from taskstate.storage import journal
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

_BY_HAND, _ADOPTED = "edited by hand", "written by hand, and adopted as it is"
_GIVEN = "given before, and taken back or let go"


class Revision(NamedTuple):
    """What a new version changes: the sections, in words for the Change Log, and what that asks of others."""

    sections: tuple[str, ...]
    summary: str
    level: str


def raised(workspace: Workspace, loaded: Loaded, text: str, revision: Revision, request: Request) -> Change:
    """Return the change that writes `text` as the next version of a permanent task.

    What was edited by hand before gets a version of its own first, so that nobody works on an old one unnoticed; so
    does a file that no command has given a version.

    Raises:
        TaskstateError: code "unreadable": the Change Log is missing or damaged; code "impact-map":
            the map was edited by hand, and is wrong; code "structure": the decisions are wrong, or a section was
            emptied by hand.
    """
    require_sound_log(loaded)
    _require_sound_decisions(loaded, loaded.with_text(text), revision)
    at, actor = timestamp(request.metadata.now), actor_in_log(request)
    number, lines = permanent.version_of(loaded.state), []
    for gone in range(number + 1, keeping.highest_version(workspace, loaded) + 1):
        lines.append(LoggedVersion(gone, at, actor, ("none",), _GIVEN, COSMETIC))
        number = gone
    by_hand = permanent.sections_by_hand(loaded.state)
    if by_hand:
        if permanent.IMPACT_MAP in by_hand:  # a map that nobody can read is given no version: all would work by it
            wrong = next(iter(faults(load_map(workspace, loaded.with_text(text), even_edited=True))), "")
            if wrong:
                help_ = f"fix it in {loaded.relative}, or restore it from git"
                raise TaskstateError(
                    f"the Impact Map of task {loaded.state.id}: {wrong}", help=help_, code="impact-map"
                )
        is_sealed = loaded.state.text(VERSION_SEAL)
        number += 1 if is_sealed or permanent.change_log(loaded.state) else 0
        level = (text == loaded.document.text and revision.level) or permanent.level_of_sections(by_hand)
        lines.append(LoggedVersion(number, at, actor, by_hand, _BY_HAND if is_sealed else _ADOPTED, level))
    if text != loaded.document.text:
        number += 1
        lines.append(LoggedVersion(number, at, actor, revision.sections, revision.summary, revision.level))
    if not (by_hand or text != loaded.document.text):
        return Change(text=text)
    text, before = _logged(workspace, loaded.with_text(text), lines)
    return stamped(workspace, loaded.with_text(text), number, before)


def actor_in_log(request: Request) -> str:
    """Return the actor of a write as the Change Log names it: without the dash that ends a part of the line."""
    return " ".join(request.metadata.actor.replace(" - ", " ").split())


def stamped(workspace: Workspace, loaded: Loaded, number: int, before: journal.Plan = ()) -> Change:
    """Return the change that records in the front matter that the content is that of a version."""
    text = apply(loaded.document.text, set_front_matter(loaded.document, "version", number))
    loaded = loaded.with_text(text)
    seal = permanent.version_seal(loaded.state, number)
    text = apply(text, set_front_matter(loaded.document, "version_seal", seal))
    if loaded.state.status == CREATED and permanent.content_of(loaded.state, permanent.USER_INTENT).strip():
        text = apply(text, set_front_matter(loaded.with_text(text).document, "status", IN_PROGRESS))
    if not before:
        text, before = with_oldest_moved(workspace, loaded.with_text(text).document)
    return Change(text=text, before=before)


def _require_sound_decisions(loaded: Loaded, after: Loaded, revision: Revision) -> None:
    """Refuse to publish decisions that lint calls wrong: all would work by them."""
    by_hand = permanent.edited_sections(loaded.state)
    emptied = [each for each in by_hand if not permanent.content_of(after.state, each).strip()]
    if emptied:
        help_ = f"put it back: `git diff -- {typed_path(loaded.relative)}` shows it"
        raise TaskstateError(f"{emptied[0]} was emptied by hand", help=help_, code="structure")
    if permanent.DECISIONS in {*revision.sections, *permanent.sections_by_hand(loaded.state)}:
        wrong = next(decision_faults.faults(after.state), "")
        if wrong:
            help_ = f"fix it in {loaded.relative}, or restore it from git; `taskstate lint` says how"
            message = f"the Architecture Decisions of task {loaded.state.id}: {wrong}"
            raise TaskstateError(message, help=help_, code="structure")


def require_sound_log(loaded: Loaded) -> None:
    """Refuse a permanent task whose Change Log does not say which version its content has.

    Raises:
        TaskstateError: code "unreadable".
    """
    state = loaded.state
    help_ = f"`taskstate lint {typed_path(loaded.relative)}` names the line; fix it, or restore the file from git"
    if state.section(CHANGE_LOG) is None:
        raise TaskstateError(f"task {state.id} has no section Change Log", help=help_, code="unreadable")
    lines = [line for line in permanent.content_of(state, CHANGE_LOG).splitlines() if line.strip()]
    broken = [line for line in lines if permanent.read_version_line(line) is None]
    if broken:
        message = f"the Change Log of task {state.id} has a line that is not a version: {first_of(broken, 1)}"
        raise TaskstateError(message, help=help_, code="unreadable")
    numbers = [each.number for each in permanent.change_log(state)]
    expected = list(range(permanent.version_of(state), 0, -1))[: len(numbers)]
    if numbers != expected:
        missing = next((number for number in expected if number not in numbers), permanent.version_of(state))
        message = f"the Change Log of task {state.id} lacks version {missing}, or its order is wrong"
        raise TaskstateError(message, help=help_, code="unreadable")


def _logged(workspace: Workspace, loaded: Loaded, new: list[LoggedVersion]) -> tuple[str, journal.Plan]:
    """Return the text with new lines in its Change Log, and the operation that moves the oldest to the archive."""
    before, text = permanent.change_log(loaded.state), _with_lines(loaded, [each.line for each in reversed(new)])
    oldest = before[max(0, KEPT_VERSIONS - len(new)) :]
    if not oldest:
        return text, ()
    shorter = loaded.with_text(_without_lines(loaded.with_text(text), oldest))
    path = workspace.archive_path(shorter.state.id)
    text = apply(shorter.document.text, set_front_matter(shorter.document, "archive_path", path))
    lines = [each.line for each in reversed(oldest)]
    return text, (append_to_archive(workspace, shorter.state, (CHANGE_LOG, lines)),)


def _with_lines(loaded: Loaded, lines: list[str]) -> str:
    """Return the text with lines above the newest one of the Change Log, or in the place of its placeholder."""
    document, section = loaded.document, loaded.state.section(CHANGE_LOG)
    if section is None:  # `require_sound_log` has seen to it
        return document.text
    body, nl = section.body, document.newline
    added = "".join(line + nl for line in lines)
    content = permanent.content_of(loaded.state, CHANGE_LOG)
    if content.strip():
        at = body.start + len(content) - len(content.lstrip())
        return apply(document.text, [Edit(at, at, added)])
    between = nl if body.end < len(document.text) else ""
    return apply(document.text, [Edit(*body, nl + added + between)])


def _without_lines(loaded: Loaded, versions: tuple[LoggedVersion, ...]) -> str:
    """Return the text without some lines of the Change Log."""
    gone = {each.number for each in versions}
    section = loaded.state.section(CHANGE_LOG)
    if section is None:
        return loaded.document.text
    lines = section.body.of(loaded.document.text).splitlines(keepends=True)
    read = [permanent.read_version_line(line.rstrip("\r\n")) for line in lines]
    kept = [line for line, version in zip(lines, read, strict=True) if version is None or version.number not in gone]
    return apply(loaded.document.text, [Edit(*section.body, "".join(kept))])
