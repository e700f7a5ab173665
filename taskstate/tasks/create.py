"""Creates state files: from what is said on the command line, from a task file, or from both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.context.capture_paths import left_out_notes, paths_among, pattern_of
from taskstate.context.task_file import default_requirement, read_task_file
from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.model import names
from taskstate.model.chain import read_upstream, render_input
from taskstate.model.statuses import CREATED
from taskstate.model.write_metadata import timestamp
from taskstate.syntax import escaping
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.yaml_emitter import yaml_block
from taskstate.tasks.checklist import new_feature
from taskstate.version import FORMAT
from taskstate.workspace.preconditions import require_whole
from taskstate.workspace.templates import filled
from taskstate.workspace.writer import create_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.context.task_file import Citation
    from taskstate.model.chain_quotes import Upstream
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Workspace

STANDARD_INPUT = "-"
_TEMPLATE = "task-state.md.j2"


class NewTask(NamedTuple):
    """What is known of a task that is to be created; parts that are empty get placeholders, or are left out."""

    id: str
    title: str = ""
    description: str = ""
    criteria: tuple[str, ...] = ()
    features: tuple[tuple[str, str], ...] = ()
    depends_on: tuple[str, ...] = ()
    priority: str = ""
    area: str = ""
    scope_in: tuple[str, ...] = ()
    scope_out: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    standards: tuple[Mapping[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    task_file: str = ""
    task_file_sha: str = ""
    parent: str = ""
    carried: tuple[Mapping[str, Any], ...] = ()  # features that another task gives away, as its checklist holds them


def create(workspace: Workspace, task: NewTask, request: Request) -> Outcome:
    """Write the state file of a new task.

    Raises:
        TaskstateError: the id is taken, an upstream task is unknown, or a text cannot be taken over.
    """
    _require_free(workspace, task.id)
    upstreams = tuple(_upstream(workspace, upstream) for upstream in sorted(task.depends_on, key=names.id_key))
    relative = workspace.relative(workspace.tasks / f"task-{task.id}-state.md")
    text = render(workspace, task, request, upstreams)
    made = create_file(workspace, relative, format_text(text, relative), request)  # what was given has its own layout
    words = left_out_notes(task.scope_in, paths_among(task.scope_in)) if task.paths else ()
    return made._replace(notes=(*made.notes, *words))


def _upstream(workspace: Workspace, task_id: str) -> Upstream:
    """Return what an upstream task says to those that build on it.

    Raises:
        TaskstateError: there is no such task, or its file cannot be read.
    """
    loaded = workspace.load(workspace.locate(task_id))
    require_whole(loaded)
    return read_upstream(loaded.document, loaded.relative)


def _require_free(workspace: Workspace, task_id: str) -> None:
    try:
        taken = workspace.locate(task_id)
    except TaskstateError as error:
        if error.code != "not-found":
            raise
        return
    raise TaskstateError(
        f"task {task_id} exists already: {workspace.relative(taken)}", help="choose another id", code="exists"
    )


def render(workspace: Workspace, task: NewTask, request: Request, upstreams: tuple[Upstream, ...] = ()) -> str:
    """Return the text of a new state file, not stamped yet; `upstreams` hand down what they have."""
    title = escaping.one_line(task.title, what="the title")
    front_matter: dict[str, Any] = {"taskstate": FORMAT, "task_id": task.id, "title": title, "status": CREATED}
    area = escaping.one_line(task.area, what="the area") if task.area else ""
    front_matter |= {key: value for key, value in (("priority", task.priority), ("area", area)) if value}
    if task.depends_on:
        front_matter["depends_on"] = sorted(task.depends_on, key=names.id_key)
    if task.parent:
        front_matter["parent"] = task.parent
    front_matter["created_at"] = timestamp(request.stamp.now)
    front_matter |= {"sessions": {"total": 0, "archived": 0, "recent": 0}, "file_size_kb": 1}
    if task.task_file:
        front_matter["context"] = {"task_file": task.task_file, "task_file_sha": task.task_file_sha}
    head = "\n".join(yaml_block(front_matter, 0))
    now, complete = timestamp(request.stamp.now), (each for each in upstreams if each.output)
    inputs = "\n\n".join(render_input(each, now, workspace.config) for each in complete)
    return f"---\n{head}\n---\n\n{_body(workspace, task, title, inputs)}"


def _body(workspace: Workspace, task: NewTask, title: str, inputs: str) -> str:
    features = [*task.carried, *(new_feature(*feature) for feature in _features(task))]
    checklist = {"features": features, "overall_progress": "0%"}
    parts = {
        "task_id": task.id,
        "title": title,
        "description": _description(task.description),
        "scope_in": [escaping.item(text, what="an item of the scope") for text in task.scope_in],
        "scope_out": [escaping.item(text, what="an item of the scope") for text in task.scope_out],
        "criteria": [escaping.item(text, what="an acceptance criterion", marker="- [ ] ") for text in task.criteria],
        "standards_json": json_text(_sorted(task.standards)) if task.standards else "",
        "validation_json": json_text({"commands": list(task.commands)}) if task.commands else "",
        "repository_paths": [escaping.item(f"`{path}`", what="a path") for path in task.paths],
        "chain_inputs": inputs,
        "checklist_json": json_text(checklist),
    }
    return filled(workspace, _TEMPLATE, parts)


def _description(text: str) -> str:
    return escaping.paragraphs(text, what="the description", deepest=escaping.SUBSECTION_LEVEL) if text else ""


def _sorted(standards: tuple[Mapping[str, str], ...]) -> list[dict[str, str]]:
    """Return citations in their canonical order, and the keys of each too."""
    in_order = sorted(standards, key=lambda each: (each["file"], each["section"]))
    return [dict(sorted(each.items())) for each in in_order]


def _features(task: NewTask) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for given, description in task.features:
        feature_id = names.parse_feature_id(given)
        if feature_id in found:
            raise TaskstateError(f"the feature {feature_id} is given twice", help="give each its own id", code="usage")
        found[feature_id] = escaping.one_line(description, what=f"the description of feature {feature_id}")
    return list(found.items())


def with_task_file(task: NewTask, name: str, data: bytes) -> NewTask:
    """Return `task` with what it leaves open taken from a task file (YAML), and the file remembered.

    The file is not remembered where `name` is that of standard input, `-`. Of its scope, what surely are paths are the
    repository paths.

    Raises:
        TaskstateError: the file is no such YAML, or a value has the wrong type.
    """
    is_file = name != STANDARD_INPUT
    given = read_task_file(name if is_file else "standard input", data)
    return task._replace(
        title=task.title or given.title,
        description=task.description or given.description,
        criteria=task.criteria or given.criteria,
        priority=task.priority or given.priority,
        area=task.area or given.area,
        scope_in=given.scope_in,
        scope_out=given.scope_out,
        commands=given.commands,
        standards=tuple(_citation(each) for each in given.standards),
        paths=tuple(sorted({pattern_of(each) for each in paths_among(given.scope_in)})),
        task_file=name if is_file else "",
        task_file_sha=given.sha if is_file else "",
    )


def _citation(given: Citation) -> Mapping[str, str]:
    """Return a citation as the Standards fence holds it before `context init` has looked the section up."""
    requirement = given.requirement or default_requirement(given.section)
    return {"file": given.file, "section": given.section, "requirement": requirement}
