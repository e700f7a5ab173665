"""`import`: brings the tasks of another system here."""

from __future__ import annotations

import os
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, default_of, name_of, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.importing.reading.sources import Source as Origin
    from taskstate.importing.run import Ask
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Name

_AUTO = "auto"
_REFUSED, _DISAGREE = 1, 3
_OF_WHOLE = frozenset({"system", "paths", "only", "show_hidden", "people"})  # what can be said of tasks as they are


class Import(NamedTuple):
    """The arguments of `import`."""

    system: str = positional("SYSTEM", "the system, such as github; auto looks at the names of files", default="")
    paths: tuple[Source, ...] = positional("PATH", "files and folders of it; - reads standard input")
    map: Source | None = option("FILE", "what words, labels, fields and ids become (TOML)")
    write_map: Name = option("FILE", "write such a file with all words that were found; for a dry run")
    prefix: Name = option("P", "begin every new id with this")
    into: Name = option("ID", "make features of this task of what would be tasks")
    split: bool = switch("make a task of each part of a file")
    subtasks: str = option("", "what subtasks become", choices=("auto", "features", "tasks"), default="auto")
    done: str = option("", "what is done there becomes", choices=("complete", "open", "leave"), default="complete")
    tag: Name = option("NAME", "only this tag of the source")
    only: tuple[str, ...] = option("ID", "only these ids of the source", by_comma=True)
    people: bool = switch("keep e-mail addresses")
    duplicates: str = option(
        "", "what becomes of a second record with one id", choices=("refuse", "rename"), default="refuse"
    )
    show_hidden: bool = switch("write hidden text visibly, in place of refusing its record")
    undo: bool = switch("take the last import back")
    list: bool = switch("list the systems, and which of them lie here")


def import_(call: Call, asked: Import) -> Result:
    """Import tasks of another system: all of them in one write, or none; nothing in the source is changed.

    What is done there is complete here. A second import of the same source brings what is new and changes nothing else.

    Raises:
        TaskstateError: code "usage": no system or no path is given, or there is no such system.
    """
    from taskstate.importing import report, write
    from taskstate.importing.run import run
    from taskstate.storage import files
    from taskstate.storage.paths import real
    from taskstate.workspace.artifacts import require_not_own

    if asked.list:
        return _systems(call)
    if asked.undo:
        undone = write.undo(call.workspace, call.request())
        return Result(undone._asdict(), write.undone_text(undone, dry_run=call.dry_run))
    ask = _ask(call, asked)
    place = real(asked.write_map) if asked.write_map else None
    if place:
        require_not_own(call.workspace, place)
    if place and files.size(place) is not None:
        message = f"cannot create {files.shown(place)}: it exists already"
        raise TaskstateError(message, help="choose another name, or move what is there out of the way", code="exists")
    done = run(call.workspace, ask, call.request())
    call.problems(done.warnings)
    if not done.is_whole:
        return Result(report.data_of(done), report.disagreement(done), status=_DISAGREE)
    if place:
        from taskstate.importing.planning.mapping import written

        files.create(place, written(done.plan.words).encode())
    data = report.data_of(done) | ({"diff": done.diff} if call.dry_run else {})
    shown = " ".join(name for name, _ in ask.source.given) or "standard input"
    text = report.text_of(done, shown, dry_run=call.dry_run, verbose=call.is_verbose)
    text = f"{text}\n\n{done.diff}".rstrip("\n") if call.dry_run and done.diff else text
    is_all = not (done.plan.refused or any(each.differs for each in done.changed))
    return Result(data, text, status=0 if is_all and done.counts["task"] + done.counts["part"] else _REFUSED)


def _ask(call: Call, asked: Import) -> Ask:
    """Return what is asked for, with the source opened and the map read."""
    from taskstate.importing.planning.mapping import Map, read_map
    from taskstate.importing.planning.tasks import Rules
    from taskstate.importing.records import Options
    from taskstate.importing.run import Ask
    from taskstate.importing.systems import SYSTEMS

    if not asked.system or (not asked.paths and asked.system != _AUTO):
        raise usage_error("import: a system and a path are needed", help="`taskstate import --list` names the systems")
    if asked.system not in {_AUTO, *SYSTEMS}:
        raise usage_error(f"there is no system {asked.system!r}", help=f"there are {', '.join(sorted(SYSTEMS))}, auto")
    source = _source(call, asked.paths)
    name = asked.system if asked.system != _AUTO else _guessed(call, source)
    system, given = SYSTEMS[name], [each for each in OPERATIONS[0].fields if each.name not in _OF_WHOLE]
    flags = [name_of(each) for each in given if getattr(asked, each.name) != default_of(each)]
    if system.is_whole and flags:
        message = f"{name} brings tasks as they are: {flags[0]} has no meaning"
        raise usage_error(message, help=f"leave {flags[0]} out")
    if not source.given and not system.is_one_file:
        raise usage_error(f"{name} is no single file", help="name its folder")
    rules = Rules(
        system=name,
        map=read_map(asked.map.text(), asked.map.name) if asked.map else Map(),
        prefix=asked.prefix,
        done=asked.done,
        rename=asked.duplicates == "rename",
        only=frozenset(asked.only),
        parts=system.parts,
    )
    options = Options(asked.split, asked.subtasks, asked.tag, asked.into)
    return Ask(source, options, rules, asked.show_hidden, asked.people)


def _source(call: Call, paths: tuple[Source, ...]) -> Origin:
    """Return the source at the paths that are given, or in standard input; `auto` without a path looks at the root."""
    from taskstate.importing.reading.sources import MAX_FILE, STANDARD_INPUT, open_source
    from taskstate.importing.reading.sources import Source as Origin

    if any(each.name == STANDARD_INPUT for each in paths):
        if len(paths) > 1:
            raise usage_error("standard input comes alone", help="put it into a file to import several")
        return Origin((), paths[0].read(MAX_FILE))
    named = [(each.name, Path(os.path.abspath(each.name))) for each in paths]
    return open_source(named or [(".", call.workspace.root)], Path(call.workspace.root))


def _guessed(call: Call, source: Origin) -> str:
    """Return the system that the names in a source show.

    Raises:
        TaskstateError: code "not-found" or "ambiguous": none fits, or several do.
    """
    from taskstate.importing.systems import systems_in

    found = systems_in(source.names)
    if len(found) == 1:
        call.notes((f"taken for {found[0]}",))
        return found[0]
    help_ = "name the system: `taskstate import --list` has them"
    if found:
        raise TaskstateError(f"this may be {' or '.join(found)}", help=help_, code="ambiguous")
    raise TaskstateError("no system is known by these names", help=help_, code="not-found")


def _systems(call: Call) -> Result:
    """Return the systems, what each reads, and whether it lies in the repository."""
    from taskstate.importing.reading.sources import open_source
    from taskstate.importing.systems import SYSTEMS, systems_in

    found = systems_in(open_source([(".", call.workspace.root)]).names)
    data = [{"system": name, "reads": each.reads, "here": name in found} for name, each in sorted(SYSTEMS.items())]
    width = max(map(len, SYSTEMS))
    lines = [f"{each['system']:{width}}  {each['reads']}{'  (here)' if each['here'] else ''}" for each in data]
    return Result(data, "\n".join(lines))


OPERATIONS = (
    Operation(
        "import",
        "bring the tasks of another system here",
        import_,
        Import,
        writes=True,
        apart=(("--undo", "--list"),),
    ),
)
