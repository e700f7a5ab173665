"""Sets up a repository with its agents' clients, records what was added to which file, and takes exactly that out.

The record is `set-up.json` in the state folder: it is committed, so that somebody else can take everything out.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path

from taskstate import resources
from taskstate.autosave import consent
from taskstate.errors import TaskstateError
from taskstate.messages import counted, quoted
from taskstate.setup import adding, merging, pages, permissions, repository, rules, servers
from taskstate.setup.clients import CLIENTS, OF_AUTOSAVE, hooks_of
from taskstate.setup.merging import Piece
from taskstate.setup.pre_commit import PRE_COMMIT, how_to_uninstall
from taskstate.setup.repository import RECORD
from taskstate.storage import files, folders, journal, user_records
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import VERSION
from taskstate.workspace.workspace import SET_UP_FILES
from taskstate.writing.writer import unified_diff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.autosave.consent import Level
    from taskstate.setup.adding import Refused
    from taskstate.setup.clients import Client, Leave
    from taskstate.workspace.workspace import Workspace

WORKFLOW = ".github/workflows/taskstate.yml"


class Wanted(NamedTuple):
    """What to set up besides folders and configuration: clients, commit hooks, a workflow of CI, verification tools.

    With `require` the commit hooks refuse where the program is missing. `ci` is the command that installs taskstate in
    the workflow; without one there is no workflow. `allow` has the clients let agents run our own commands. `autosave`
    is what the person says of it, None for nothing new.
    """

    agents: tuple[str, ...] = ()
    pre_commit: bool = False
    require: bool = False
    ci: str = ""
    verification: bool = False
    allow: bool = False
    autosave: Level | None = None


class Installed(NamedTuple):
    """What was set up or taken out, and the diffs of the files.

    `kept` are those that were left as they are, `refused` those that cannot be added to. `lacking` has a line for each
    part that does not start here, with what to do;
    `staying` one for each part that taking out leaves, with how it goes.
    """

    created: tuple[str, ...]
    changed: tuple[str, ...]
    kept: tuple[str, ...]
    diff: str
    removed: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    lacking: tuple[str, ...] = ()
    staying: tuple[str, ...] = ()


class _File(NamedTuple):
    """A file that was added to: whether it was created, and the pieces, in the order in which they were put in."""

    created: bool
    pieces: tuple[Piece, ...]


class _Record(NamedTuple):
    agents: tuple[str, ...]
    files: Mapping[str, _File]
    driver: bool


def install(workspace: Workspace, wanted: Wanted, *, dry_run: bool = False) -> Installed:
    """Set a repository up; what is there is kept, and doing it a second time changes nothing.

    A file that has a form that cannot be added to, or is a link that leads out, is named in the result.

    Raises:
        TaskstateError: a file cannot be written; nothing is changed.
    """
    if wanted.autosave:
        consent.require_person(wanted.autosave)
    record = _read_record(workspace)
    agents = tuple(dict.fromkeys((*record.agents, *wanted.agents)))
    flag = "--verification" if wanted.verification else "--allow" if wanted.allow else ""
    if flag and not any(each in CLIENTS for each in agents):
        help_ = f"name one: `taskstate init {flag} --agent claude`"
        raise TaskstateError(f"{flag} needs a client to be set up", help=help_, code="usage")
    plan = repository.planned_steps(workspace, pre_commit=wanted.pre_commit, require=wanted.require)
    wanted_servers, lacking = servers.startable(verification=wanted.verification)
    noted_pieces = {name: file.pieces for name, file in record.files.items()}
    page_steps = pages.steps(workspace, agents, noted_pieces) if agents else {}
    given = consent.said(workspace.root)[0]
    level = wanted.autosave or (None if given == consent.OFF else given)
    client_steps = _steps(page_steps, wanted._replace(agents=agents, autosave=level), wanted_servers)
    texts, stages, refused = adding.add(workspace, {name: [step] for name, step in plan.items()} | client_steps)
    noted = dict(record.files)
    for name, (before, after) in stages.items():
        _note(noted, name, before, after)
    diff = "".join(_diffs(workspace, texts))
    driver = repository.configure_git(workspace, dry_run=True)
    new = _Record(agents, noted, record.driver or bool(driver))
    own = f"{workspace.config.root}/{RECORD}"
    if new != record or (record.files and _values(workspace).get("version") != VERSION):
        texts[own] = _record_text(new)
    if wanted.autosave and not dry_run:
        consent.give(workspace.root, wanted.autosave)
    done = repository.write_texts(workspace, texts, dry_run=dry_run)
    repository.configure_git(workspace, dry_run=dry_run)
    created, changed, kept = (tuple(each for each in names if each != own) for names in done)
    lacking = lacking if any(each in CLIENTS for each in agents) else ()
    lacking += _told(workspace, wanted, agents)
    return Installed((*created, *driver), changed, kept, diff, refused=refused, lacking=lacking)


def _told(workspace: Workspace, wanted: Wanted, agents: Sequence[str]) -> tuple[str, ...]:
    """Return what a person is to know of the clients that are set up."""
    lines = [CLIENTS[each].asks for each in wanted.agents if each in CLIENTS and CLIENTS[each].asks]
    if wanted.autosave not in {None, consent.OFF} and not any(each in CLIENTS for each in agents):
        lines.append("no client calls us here, so nothing is kept yet: `taskstate init --agent claude`, or another one")
    if wanted.allow and "codex" in agents:
        lines.append("Codex needs no leave: nothing is written for it, its sandbox runs commands without asking")
    if wanted.allow and "claude" in agents and not permissions.is_trusted(workspace.root):
        lines.append(permissions.UNTRUSTED)
    return tuple(lines)


def remove(workspace: Workspace, *, dry_run: bool = False) -> Installed:
    """Take out what `install` put in, and delete what autosave keeps, and the leave for it; tasks and all else stay.

    Raises:
        TaskstateError: code "not-set-up": there is no record; "cannot-edit": what was put in was edited since.
    """
    record = _read_record(workspace)
    if not record.files:
        message = f"there is no record of what `init` put in ({workspace.config.root}/{RECORD})"
        raise TaskstateError(message, help="run `taskstate init`, which writes one", code="not-set-up")
    texts: dict[str, str | None] = {}
    own_ignore, stays = f"{workspace.config.root}/.gitignore", _stays(workspace, record)
    for name, file in reversed([*record.files.items()]):  # a file of two names may have been added to by both
        place = adding.place_of(workspace, name)
        before = texts.get(place) if place in texts else adding.text_before(workspace, place)
        if before is None or (name == own_ignore and stays):
            continue
        left = merging.without(before, file.pieces, name)
        texts[place] = None if file.created and _is_empty(left) else left
    texts = dict(reversed([*texts.items()]))
    diff = "".join(_diffs(workspace, {name: text or "" for name, text in texts.items()}))
    cure = how_to_uninstall(workspace.root) if PRE_COMMIT in texts and texts[PRE_COMMIT] is None else ""
    kept, said = consent.kept_files(workspace), consent.said(workspace.root)[0]
    configured = repository.unconfigure_git(workspace, dry_run=True) if record.driver else ()
    if not dry_run:
        consent.forget(workspace.root)
        for path in kept:
            files.delete(path)
        _write_back(workspace, texts)
        _remove_folder(workspace, with_lock=not stays)
        if configured:
            repository.unconfigure_git(workspace)
    removed = (*(name for name, text in texts.items() if text is None), _path(workspace), *configured)
    number = sum(path.suffix == ".json" for path in kept)
    removed += (f"autosave: {counted(number, 'file')} of notes and drafts",) if number else ()
    removed += (f"autosave: the leave for it ({said})",) if said != consent.OFF else ()
    lacking = (f"git still calls what is gone, and refuses each commit: run `{cure}`",) if cure else ()
    changed = tuple(each for each in texts if each not in removed)
    staying = _staying(workspace, changed, with_folder=stays)
    return Installed((), changed, (), diff, removed, lacking=lacking, staying=staying)


def _stays(workspace: Workspace, record: _Record) -> bool:
    """Return whether the state folder holds more than what was set up: tasks, or what commands keep beside them."""
    root = workspace.config.root
    gone = {*record.files, f"{root}/{RECORD}", workspace.relative(workspace.lock)}
    walked = folders.walk(workspace.state_root)
    return any(workspace.relative(Path(each.path) / name) not in gone for each in walked for name in each.names)


def _staying(workspace: Workspace, changed: Sequence[str], *, with_folder: bool) -> tuple[str, ...]:
    """Return a line for each thing that taking out leaves: what it is, and the command that deletes it."""
    there = {workspace.config.root: "the tasks, and what belongs to them"} if with_folder else {}
    there |= {"taskstate.toml": "what you wrote into it"} if "taskstate.toml" in changed else {}
    private, said = workspace.private.write, user_records.folder()
    if private and folders.is_folder(private) and not private.is_relative_to(workspace.state_root):
        there[os.path.relpath(private.parent, workspace.root)] = "copies of what was recorded in this clone"
    if said:
        there[str(said)] = "what you allowed, in every repository"
    return tuple(f"{files.shown(path)} stays, with {what}; `rm -r {quoted(path)}`" for path, what in there.items())


def _remove_folder(workspace: Workspace, *, with_lock: bool) -> None:
    """Delete the empty folders of the state folder; with the lock, where nothing else is left, the folder itself."""
    if with_lock:
        with workspace.locked():
            folders.remove(workspace.lock)
    for each in sorted((each.path for each in folders.walk(workspace.state_root)), reverse=True):
        with suppress(OSError):  # somebody has put something there since
            folders.remove_empty(each)


def _is_empty(text: str) -> bool:
    """Return whether a file that was created holds nothing any more: no text, or JSON that says nothing."""
    return not text.strip() or "".join(text.split()) in {"{}", '{"version":1}'}


def _steps(
    steps: dict[str, list[Callable[[str], str]]], wanted: Wanted, wanted_servers: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[Callable[[str], str]]]:
    """Return, by file, the functions that add to its text: the pages, and what configures each client."""
    for client in (CLIENTS[name] for name in wanted.agents if name in CLIENTS):
        steps.setdefault(client.hook_file, []).extend(_hook_steps(client, wanted.autosave))
        steps.setdefault(client.mcp_file, []).extend(_server_steps(client, wanted_servers))
        if wanted.allow and client.leave:
            steps.setdefault(client.leave.file, []).append(_allow_step(client.leave, rules.rules(client.name)))
    if wanted.ci:
        steps[WORKFLOW] = [lambda text: _workflow(text, wanted.ci)]
    return {name: functions for name, functions in steps.items() if functions}


def _workflow(text: str, install: str) -> str:
    """Return the workflow that runs a command to install; one that somebody wrote, or changed elsewhere, stays."""
    head, tail = resources.text("templates/agents/github-workflow.yml").split("{install}")
    if text and not (text.startswith(head) and text.endswith(tail)):
        return text
    is_plain = re.fullmatch(r"\w[^\x00-\x1f]*", install) and not re.search(r": | #|[: ]\Z", install)
    return f"{head}{install if is_plain else json.dumps(install)}{tail}"


def _hook_steps(client: Client, autosave: Level | None) -> Iterator[Callable[[str], str]]:
    name = client.hook_file
    if client.flat:
        yield lambda text: merging.with_value(text, "version", 1, name)
    if autosave == consent.OFF:
        yield lambda text: merging.without_hooks(text, OF_AUTOSAVE, name)
    for event, entries in hooks_of(client, autosave=autosave not in {None, consent.OFF}).items():
        for entry in entries:
            yield lambda text, event=event, entry=entry: merging.with_hook(text, event, entry, name)  # type: ignore[misc]


def _server_steps(client: Client, wanted: Mapping[str, Mapping[str, Any]]) -> Iterator[Callable[[str], str]]:
    name = client.mcp_file
    add = merging.with_toml_server if name.endswith(".toml") else merging.with_server
    for server, entry in wanted.items():
        own = {**entry, **(client.server if server in servers.OWN else {})}
        yield lambda text, server=server, entry=own: add(text, server, entry, name)  # type: ignore[misc]


def _allow_step(leave: Leave, allowed: Sequence[str]) -> Callable[[str], str]:
    return lambda text: merging.with_items(text, leave.path, allowed, leave.file)


def _note(noted: dict[str, _File], name: str, before: str | None, stages: list[str]) -> None:
    """Note the pieces that the stages put into a file; a file that was there and is not changed is not noted."""
    earlier = noted.get(name, _File(before is None, ()))
    pieces, text = [*earlier.pieces], before or ""
    for stage in stages:
        if merging.BEGIN in text and merging.BEGIN not in stage:  # the block was taken out: as if it never went in
            pieces = [each for each in pieces if merging.BEGIN not in each.new]
            text = stage
            continue
        if gone := {*merging.CALL.findall(text)} - {*merging.CALL.findall(stage)}:  # hooks were: the same
            pieces = [each for each in pieces if not gone & {*merging.CALL.findall(each.new)}]
            text = stage
            continue
        # A file that is only to exist has an empty text as its plan.
        piece = merging.piece_between(text, stage) if stage else None
        text = stage or text
        if piece:
            pieces.append(piece)
    if before is None or len(pieces) != len(earlier.pieces):
        noted[name] = _File(earlier.created, tuple(pieces))


def _diffs(workspace: Workspace, texts: Mapping[str, str]) -> Iterator[str]:
    for name, text in texts.items():
        before = adding.text_before(workspace, name)
        if text != (before or ""):
            yield unified_diff(name, before or "", text, is_new=before is None)


def _write_back(workspace: Workspace, texts: Mapping[str, str | None]) -> None:
    """Write the texts of which our pieces were taken out; None deletes a file, and its folder if that is empty then."""
    plan: list[journal.Operation] = []
    for name, text in {**texts, f"{workspace.config.root}/{RECORD}": None}.items():
        digest = files.digest(files.read(files.inside(workspace.root, name)))
        is_gone = text is None
        plan.append(journal.Delete(name, digest) if is_gone else journal.Replace(name, digest, (text or "").encode()))
    with workspace.locked():
        journal.write(workspace.root, workspace.private, tuple(plan))
    for name, text in texts.items():
        folder = os.path.dirname(name)
        while text is None and folder and not folder.startswith(workspace.config.root):
            with suppress(OSError):
                folders.remove_empty(workspace.root / folder)
            folder = os.path.dirname(folder)


# The record


def _path(workspace: Workspace) -> str:
    return f"{workspace.config.root}/{RECORD}"


def _values(workspace: Workspace) -> dict[str, Any]:
    text = adding.text_before(workspace, _path(workspace))
    if text is None:
        return {}
    try:
        values = json.loads(text)
        return values if isinstance(values, dict) else {}
    except ValueError as error:
        help_ = f"take {_path(workspace)} from the last commit, or delete it: then nothing can be taken out"
        raise TaskstateError(f"{_path(workspace)} is not JSON", help=help_, code="config") from error


def _read_record(workspace: Workspace) -> _Record:
    """Return the record; entries of another form, or about other files than those that `init` writes, do not count."""
    values = _values(workspace)
    listed = values.get("files") if isinstance(values.get("files"), dict) else {}
    noted: dict[str, _File] = {}
    for name, value in (listed or {}).items():
        with suppress(TypeError, ValueError, KeyError, AttributeError):
            pieces = tuple(Piece(str(old), str(new)) for old, new in value["pieces"])
            own = name.startswith(f"{workspace.config.root}/") and name.endswith(("/.gitkeep", "/.gitignore"))
            if own or name in SET_UP_FILES:
                noted[name] = _File(value["created"] is True, pieces)
    agents = values.get("agents") if isinstance(values.get("agents"), list) else []
    return _Record(tuple(str(each) for each in agents or []), noted, values.get("merge_driver") is True)


def _record_text(record: _Record) -> str:
    values = {
        "version": VERSION,
        "agents": list(record.agents),
        "merge_driver": record.driver,
        "files": {
            name: {"created": file.created, "pieces": [[*piece] for piece in file.pieces]}
            for name, file in record.files.items()
        },
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
