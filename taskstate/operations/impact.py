"""`impact`: the Impact Map of the permanent task, and claims of affected files checked against it."""

from __future__ import annotations

from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, positional, switch
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId, Text
    from taskstate.permanent.impact.check import Answer

_TWO = 2
_KEYS = {"module": "modules", "interface": "interfaces", "ripple": "ripple_paths"}
_REPLACE = switch("replace the entry with the same id")
_FILES = option("F,F", "affected files, from the repository's root; - reads one per line")
_DIFF = option(
    "",
    "what the task has changed since its base, or since its last snapshot; without --files this is the claim",
    choices=("base", "snapshot"),
    alone="base",
)


class AddModule(NamedTuple):
    """The arguments of `impact add module`."""

    name: str = positional("NAME", "id of the module, such as auth-api")
    paths: tuple[str, ...] = option(
        "GLOB", "files that belong to it, as a glob from the repository's root", flag="path"
    )
    depends_on: tuple[str, ...] = option("NAME", "modules that it needs", by_comma=True)
    planned: bool = switch("it has no files yet")
    allow_circle: bool = switch("allow a circle of dependencies through it")
    replace: bool = _REPLACE


class AddInterface(NamedTuple):
    """The arguments of `impact add interface`."""

    name: str = positional("NAME", "id of the interface")
    between: str = option("A,B", "the two modules", is_required=True)
    contract: Text = option("T", "what they promise, in words", is_required=True)
    replace: bool = _REPLACE


class AddRipple(NamedTuple):
    """The arguments of `impact add ripple`."""

    name: str = positional("NAME", "id of the ripple path")
    path: str = option("A,B,…", "the modules, in the order in which the change reaches them", is_required=True)
    note: str = option("T", "what it is that reaches them")
    replace: bool = _REPLACE


class Remove(NamedTuple):
    """The arguments of `impact remove`."""

    kind: str = positional("KIND", "module, interface or ripple", choices=tuple(_KEYS))
    name: str = positional("NAME", "id of the entry")
    with_references: bool = switch("also remove a module from the entries that name it")


class Show(NamedTuple):
    """The arguments of `impact show`."""

    mermaid: bool = switch("as a Mermaid flowchart")


class Check(NamedTuple):
    """The arguments of `impact check`."""

    id: TaskId = TASK
    files: tuple[Text, ...] = _FILES
    diff: str = _DIFF
    record: bool = switch("record claim and answer as an event of the task")
    note: str = option("T", "with --record: a remark")
    mermaid: bool = switch("draw the map with the claimed modules marked")


class Confirm(NamedTuple):
    """The arguments of `impact confirm`."""

    id: TaskId = TASK
    note: str = option("T", "why an incomplete claim is right as it is")


class Challenge(NamedTuple):
    """The arguments of `impact challenge`."""

    id: TaskId = TASK
    files: tuple[Text, ...] = _FILES
    diff: str = _DIFF


class Scan(NamedTuple):
    """The arguments of `impact scan`."""

    depth: int = option("N", "folders in a proposed module (default: 2)", default=2)
    mermaid: bool = switch("draw the proposed map as a Mermaid flowchart")


def _ids(values: Iterable[str] | str) -> list[str]:
    """Return the ids in values that are separated by commas, each once."""
    parts = ",".join([values] if isinstance(values, str) else values).split(",")
    return list(dict.fromkeys(filter(None, (part.strip() for part in parts))))


# Changing the map


def add_module(call: Call, asked: AddModule) -> Result:
    """Add a module: a part of the code."""
    if not asked.paths and not asked.planned:
        help_ = "name its files, such as `--path 'src/auth/**'`, or mark it as --planned"
        raise usage_error("add module: --path is missing", help=help_)
    flags = {"planned": asked.planned, "circle_allowed": asked.allow_circle}
    chosen = {key: True for key, given in flags.items() if given}
    paths = [_line(path, "a glob") for path in dict.fromkeys(asked.paths)]
    entry = {"id": asked.name, "paths": paths, "depends_on": _ids(asked.depends_on), **chosen}
    return _add(call, "module", entry, replace=asked.replace)


def add_interface(call: Call, asked: AddInterface) -> Result:
    """Add what two modules promise each other."""
    between = _ids(asked.between)
    if len(between) != _TWO:
        help_ = "name two modules, such as `--between api,core`"
        raise usage_error("add interface: --between takes two modules", help=help_)
    entry = {"id": asked.name, "between": between, "contract": _line(asked.contract, "the contract")}
    return _add(call, "interface", entry, replace=asked.replace)


def add_ripple(call: Call, asked: AddRipple) -> Result:
    """Add a ripple path: modules that a change reaches one after the other."""
    path = [part.strip() for part in asked.path.split(",") if part.strip()]
    if len(path) < _TWO:
        help_ = "name the modules that the change reaches, in order, such as `--path db,core,api`"
        raise usage_error("add ripple: --path takes two modules or more", help=help_)
    note = {"note": _line(asked.note, "the note")} if asked.note else {}
    return _add(call, "ripple", {"id": asked.name, "path": path, **note}, replace=asked.replace)


def _line(text: str, what: str) -> str:
    from taskstate.syntax.escaping import one_line

    return one_line(text, what=what)


def _add(call: Call, kind: str, entry: Mapping[str, object], *, replace: bool) -> Result:
    from taskstate.permanent.impact.entries import add

    outcome = add(call.workspace, _KEYS[kind], entry, call.request(), replace=replace)
    return changed(call, outcome, "changed", version=outcome.result, entry=entry)


def remove(call: Call, asked: Remove) -> Result:
    """Remove an entry from the map."""
    from taskstate.permanent.impact.entries import remove as remove_entry

    key, request = _KEYS[asked.kind], call.request()
    outcome = remove_entry(call.workspace, key, asked.name, request, with_references=asked.with_references)
    return changed(call, outcome, "changed", version=outcome.result)


# Reading it


def show(call: Call, asked: Show) -> Result:
    """Show the Impact Map."""
    from taskstate.model.permanent import version_of
    from taskstate.permanent.find import require
    from taskstate.permanent.impact.rendering import as_mermaid, map_lines
    from taskstate.permanent.impact.storage import load_map

    workspace = call.workspace
    found = require(workspace)
    loaded = workspace.load(workspace.locate(found.id))
    map_ = load_map(workspace, loaded)
    call.notes(found.notes)
    drawing = as_mermaid(map_)
    text = drawing if asked.mermaid else "\n".join(map_lines(map_))
    data = {"id": found.id, "version": version_of(loaded.state), "map": map_.values, "mermaid": drawing}
    return Result(data, text, is_document=asked.mermaid)


def scan(call: Call, asked: Scan) -> Result:
    """Show how the map differs from what the Python files import, and propose a map; nothing is written."""
    from taskstate.permanent import find
    from taskstate.permanent.impact import storage
    from taskstate.permanent.impact.rendering import as_mermaid, map_lines
    from taskstate.permanent.impact.scan import scan as scan_files

    workspace = call.workspace
    if asked.depth < 1:
        raise usage_error("scan: --depth is a number of folders", help="write 1 or more")
    found = find.require(workspace)
    map_ = storage.load_map(workspace, workspace.load(workspace.locate(found.id)))
    result = scan_files(workspace, map_, storage.repository_files(workspace), asked.depth)
    call.notes((*found.notes, *(f"not read, since it does not parse: {path}" for path in result.unread)))
    drawing = as_mermaid(result.proposed)
    lines = [*result.differences] or ["the map says what the imports say"]
    text = drawing if asked.mermaid else "\n".join([*lines, "", "proposed:", "", *map_lines(result.proposed)])
    data = {
        "map": result.proposed.values,
        "differences": [*result.differences],
        "unread": [*result.unread],
        "mermaid": drawing,
    }
    return Result(data, text, is_document=asked.mermaid)


# Claims


def _answer(call: Call, asked: Check | Challenge) -> Answer:
    from taskstate.permanent.impact.check import Claim
    from taskstate.permanent.impact.check import check as check_claim

    files = tuple(_claimed(asked.files))
    answer = check_claim(call.workspace, call.load_parsed(asked.id), Claim(files, asked.diff))
    call.notes(answer.notes)
    return answer


def _claimed(values: Iterable[str]) -> Iterator[str]:
    """Yield the paths of `--files`; of several lines, as from standard input, each is one, whatever it holds."""
    for value in values:
        if "\n" in value:
            yield from filter(None, (line.rstrip("\r") for line in value.split("\n")))
        else:
            yield from filter(None, (part.strip() for part in value.split(",")))


def check(call: Call, asked: Check) -> Result:
    """Say which modules a change touches, which of them the claim leaves out, and which the change reaches.

    Exit with status 1 if the claim is incomplete. ID is the task that makes the change.
    """
    from taskstate.permanent.impact.claims import record
    from taskstate.permanent.impact.rendering import answer_lines, answer_shape, as_mermaid

    if asked.note and not asked.record:
        raise usage_error("check: --note is kept with a record", help="add --record")
    answer = _answer(call, asked)
    shape, status = answer_shape(answer), 0 if answer.complete else 1
    shape["mermaid"] = as_mermaid(answer.map, answer.modules)
    text = str(shape["mermaid"]) if asked.mermaid else "\n".join(answer_lines(answer))
    if not asked.record:
        return Result(shape, text, status=status)
    outcome = record(call.workspace, answer, call.request(), asked.note)
    done = f"claim recorded at PT-v{answer.version}" if outcome.changed else outcome.notes[-1]
    result = changed(call, outcome, **shape)
    said = result.text if call.dry_run else f"{text}\n{outcome.path}: {done}"
    return result._replace(text=said, status=status)


def confirm(call: Call, asked: Confirm) -> Result:
    """Confirm the newest recorded claim of a task; its author cannot."""
    from taskstate.permanent.impact.claims import confirm as confirm_claim

    outcome = confirm_claim(call.workspace, call.task_id(asked.id), asked.note, call.request())
    given = outcome.result
    done = f"the claim of {given.actor} at PT-v{given.version} is confirmed"
    return changed(call, outcome, done, version=given.version, claimed_by=given.actor)


def challenge(call: Call, asked: Challenge) -> Result:
    """Print questions about a claim, grounded in entries of the map, for a reviewer to put to an implementer."""
    from taskstate.permanent.impact.challenge import question_lines, questions

    answer = _answer(call, asked)
    found = questions(answer)
    data = {
        "task": answer.task,
        "version": answer.version,
        "complete": answer.complete,
        "questions": [{**each._asdict(), "entries": [*each.entries]} for each in found],
    }
    return Result(data, "\n".join(question_lines(found)) or "the map raises no question about this claim")


OPERATIONS = (
    Operation("impact add module", "add a module", add_module, AddModule, writes=True),
    Operation("impact add interface", "add an interface", add_interface, AddInterface, writes=True),
    Operation("impact add ripple", "add a ripple path", add_ripple, AddRipple, writes=True),
    Operation("impact remove", "remove an entry from the map", remove, Remove, writes=True),
    Operation("impact show", "show the Impact Map", show, Show),
    Operation("impact check", "check a claim of affected files", check, Check, writes=True),
    Operation("impact confirm", "confirm the claim of somebody else", confirm, Confirm, writes=True),
    Operation("impact challenge", "print questions about a claim", challenge, Challenge),
    Operation("impact scan", "propose modules from the code", scan, Scan),
)
