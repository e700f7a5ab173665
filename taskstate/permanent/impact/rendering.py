"""The Impact Map, and what it says of a claim, as lines for people, as Mermaid and as JSON values."""

from __future__ import annotations

from taskstate.messages import counted, first_of
from taskstate.model.impact_map import files_by_module
from taskstate.tasks.dependency_graph import mermaid_label
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from taskstate.model.impact_map import ImpactMap
    from taskstate.permanent.impact.check import Answer, Neighbour

_ARROW = " -> "
_SHOWN, _NAMED = 20, 5  # lines of a list, and files in a line


def map_lines(map_: ImpactMap) -> Iterator[str]:
    """Yield a map in lines: modules with their globs and dependencies, interfaces, ripple paths."""
    yield from ("modules:",) if map_.modules else ("no modules yet",)
    for module in map_.modules:
        marks = ", ".join(filter(None, ["planned" * module.planned, "circle allowed" * module.circle_allowed]))
        needs = f"; depends on {', '.join(module.depends_on)}" if module.depends_on else ""
        yield f"  {module.id}{f' ({marks})' if marks else ''}: {', '.join(module.paths) or 'no files yet'}{needs}"
    yield from ("interfaces:",) if map_.interfaces else ()
    yield from (f"  {each.id} ({', '.join(each.between)}): {each.contract}" for each in map_.interfaces)
    yield from ("ripple paths:",) if map_.ripple_paths else ()
    for ripple in map_.ripple_paths:
        yield f"  {ripple.id}: {_ARROW.join(ripple.path)}{f' ({ripple.note})' if ripple.note else ''}"


def as_mermaid(map_: ImpactMap, marked: Collection[str] = ()) -> str:
    """Return a map as a Mermaid flowchart, with some modules marked.

    An arrow leads from a module to one that it depends on, a dotted line stands for an interface.
    """
    names = {each.id: f"m{number}" for number, each in enumerate(map_.modules)}
    lines = ["flowchart LR"]
    for module in map_.modules:
        form = "planned" if module.planned else "marked" if module.id in marked else "module"
        lines.append(f'  {names[module.id]}["{mermaid_label(module.id)}"]:::{form}')
    for module in map_.modules:
        lines += [f"  {names[module.id]} --> {names[each]}" for each in module.depends_on if each in names]
    for interface in map_.interfaces:
        ends = [names.get(each, "") for each in interface.between]
        if all(ends):
            lines.append(f'  {ends[0]} -. "{mermaid_label(interface.id)}" .- {ends[1]}')
    lines.append("  classDef module fill:#eceff1,stroke:#546e7a")
    lines.append("  classDef marked fill:#bbdefb,stroke:#546e7a")
    return "\n".join([*lines, "  classDef planned fill:#ffffff,stroke:#546e7a,stroke-dasharray:4"])


def answer_lines(answer: Answer) -> Iterator[str]:
    """Yield what the map says of a claim, in lines; the last one says whether it is complete."""
    yield f"task {answer.task} claims {counted(len(answer.files), 'file')}; PT-v{answer.version} says:"
    files = files_by_module(answer.files, answer.modules)
    yield from _listed("modules", [f"{name}: {first_of(files[name], _NAMED)}" for name in answer.modules])
    yield from _listed("in no module", answer.outside)
    yield from _listed("files of the same change that are not claimed", _with_modules(answer))
    foreign = [f"{path}: task {task}" for path, task in answer.foreign_files.items()]
    yield from _listed("changed as well, in the Repository Paths of another task at work", foreign)
    between = [f"{each.module}: {_ARROW.join(each.path)}" for each in answer.missing_modules]
    yield from _listed("modules between claimed ones that are not claimed", between)
    ripples = (each.ripple for each in answer.ripples)
    notes = [f"{each.id}: {_ARROW.join(each.path)}{f' ({each.note})' if each.note else ''}" for each in ripples]
    yield from _listed("ripple paths started", notes)
    yield from _listed("downstream", [f"{name}: {_ARROW.join(path)}" for name, path in answer.downstream.items()])
    crossed = [f"{each.id} ({', '.join(each.between)}): {each.contract}" for each in answer.interfaces]
    yield from _listed("interfaces crossed", crossed)
    yield from _listed("other tasks at work on these modules", map(neighbour_line, answer.neighbours))
    yield verdict(answer)


def verdict(answer: Answer) -> str:
    """Return in one line whether a claim is complete, and what it lacks."""
    lacks = []
    if answer.missing_files:
        lacks.append(counted(len(answer.missing_files), "file"))
    if answer.missing_modules:
        lacks.append(f"the modules between: {', '.join(each.module for each in answer.missing_modules)}")
    return f"the claim is incomplete: it lacks {' and '.join(lacks)}" if lacks else "the claim is complete"


def neighbour_line(each: Neighbour) -> str:
    """Return another task with its roles in progress and the modules that it stands on."""
    who = ", ".join(filter(None, [" and ".join(each.roles), each.agent]))
    return f"{each.task} {each.title}{f' ({who})' if who else ''}: {', '.join(each.modules)}"


def _listed(title: str, items: Collection[str] | Iterator[str]) -> Iterator[str]:
    lines = [f"  {each}" for each in items]
    more = [f"  \u2026 {len(lines) - _SHOWN} more (`--format json` has all)"] if len(lines) > _SHOWN else []
    yield from (f"{title}:", *lines[:_SHOWN], *more) if lines else ()


def _with_modules(answer: Answer) -> list[str]:
    return [f"{path} ({', '.join(names) or 'in no module'})" for path, names in answer.missing_files.items()]


def answer_shape(answer: Answer) -> dict[str, Any]:
    """Return what the map says of a claim as JSON values."""
    return {
        "task": answer.task,
        "permanent": answer.permanent,
        "version": answer.version,
        "complete": answer.complete,
        "files": [{"path": path, "modules": [*names]} for path, names in answer.files.items()],
        "modules": [*answer.modules],
        "in_no_module": [*answer.outside],
        "missing_files": [{"path": path, "modules": [*names]} for path, names in answer.missing_files.items()],
        "files_of_other_tasks": [{"path": path, "task": task} for path, task in answer.foreign_files.items()],
        "missing_modules": [{"id": each.module, "path": [*each.path]} for each in answer.missing_modules],
        "ripple_paths": [
            {"id": each.ripple.id, "path": [*each.ripple.path], "after": [*each.after], "note": each.ripple.note}
            for each in answer.ripples
        ],
        "downstream": [{"id": name, "path": [*path]} for name, path in answer.downstream.items()],
        "interfaces": [
            {"id": each.id, "between": [*each.between], "contract": each.contract} for each in answer.interfaces
        ],
        "tasks": [{**each._asdict(), "roles": [*each.roles], "modules": [*each.modules]} for each in answer.neighbours],
        "notes": [*answer.notes],
    }
