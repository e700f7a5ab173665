"""Creates state files from the command line, from a task file, or from both."""

from __future__ import annotations

from taskstate.context.capture_paths import left_out_notes, pattern_of, require_inside
from taskstate.context.task_file import FACTS, default_requirement, read_task_file
from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.model import names
from taskstate.model.chain import read_upstream, render_input
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.model.statuses import CREATED
from taskstate.model.write_metadata import timestamp
from taskstate.syntax import escaping
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.yaml_emitter import yaml_block
from taskstate.tasks.checklist import new_feature
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import FORMAT
from taskstate.workspace.free_ids import free_id
from taskstate.workspace.templates import completed, fill
from taskstate.writing.preconditions import require_whole, require_work
from taskstate.writing.writer import create_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.context.task_file import Citation
    from taskstate.model.chain_quotes import Upstream
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Outcome, Request

STANDARD_INPUT = "-"
_TEMPLATE = "task-state.md.j2"
# What an argument gives in the place of the task file.
_GIVEN = ("title", "description", "criteria", "features", *FACTS, "priority", "area", "commands")


class NewTask(NamedTuple):
    """A task to create; empty fields become placeholders or are left out. `notes` and `warnings` are told with it.

    Without an `id` it gets the next number.
    """

    id: str = ""
    title: str = ""
    description: str = ""
    criteria: tuple[str, ...] = ()
    features: tuple[tuple[str, str], ...] = ()
    depends_on: tuple[str, ...] = ()
    agent: str = ""
    repository: str = ""
    epic: str = ""
    prd: str = ""
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
    carried: tuple[Mapping[str, Any], ...] = ()  # features moved from another task, as stored in its checklist
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def create(workspace: Workspace, task: NewTask, request: Request) -> Outcome:
    """Write the state file of a new task.

    Raises:
        TaskstateError: the id is taken, an upstream task is unknown, a path leads out, or a text cannot be embedded.
    """
    for path in task.paths:
        require_inside(path.removeprefix("!"))
    upstreams = tuple(upstream(workspace, each) for each in sorted(task.depends_on, key=names.id_key))
    with free_id(workspace, task.id, dry_run=request.dry_run) as free:
        task = task._replace(id=free.id, notes=(*free.notes, *task.notes))
        require_free(workspace, task.id)
        relative = workspace.relative(workspace.tasks / f"task-{task.id}-state.md")
        # Given texts may not be canonical.
        text = format_text(render(workspace, task, request, upstreams), relative, workspace.kinds)
        outcome = create_file(workspace, relative, text, request)
    return outcome._replace(notes=(*outcome.notes, *task.notes), warnings=(*outcome.warnings, *task.warnings))


def upstream(workspace: Workspace, task_id: str) -> Upstream:
    """Return an upstream task as its dependents see it.

    Raises:
        TaskstateError: there is no such task, its file cannot be read, or it is a permanent one.
    """
    loaded = workspace.load(workspace.locate(task_id))
    require_whole(loaded)
    require_work(loaded.state, "output to wait for", "leave it out of the dependencies: every task reads it anyway")
    return read_upstream(loaded.document, loaded.relative)


def require_free(workspace: Workspace, task_id: str) -> None:
    """Refuse an id that a task has already.

    Raises:
        TaskstateError: code "exists" or "duplicate-id".
    """
    if not workspace.files_of(task_id):
        return
    taken = workspace.locate(task_id)
    raise TaskstateError(
        f"task {task_id} exists already: {workspace.relative(taken)}", help="choose another id", code="exists"
    )


def render(workspace: Workspace, task: NewTask, request: Request, upstreams: tuple[Upstream, ...] = ()) -> str:
    """Return the text of a new state file without write metadata; `upstreams` provide its Chain Inputs."""
    title = escaping.one_line(task.title, what="the title")
    front_matter: dict[str, Any] = {"taskstate": FORMAT, "task_id": task.id, "title": title, "status": CREATED}
    texts = {key: getattr(task, key) for key in (*FACTS, "priority", "area")}
    front_matter |= {key: escaping.one_line(text, what=f"the {key}") for key, text in texts.items() if text}
    if task.depends_on:
        front_matter["depends_on"] = sorted(task.depends_on, key=names.id_key)
    if task.parent:
        front_matter["parent"] = task.parent
    front_matter["created_at"] = timestamp(request.metadata.now)
    front_matter |= {"sessions": {"total": 0, "archived": 0, "recent": 0}, "file_size_kb": 1}
    if task.task_file:
        front_matter["context"] = {"task_file": task.task_file, "task_file_sha": task.task_file_sha}
    head = "\n".join(yaml_block(front_matter, 0))
    now, complete = timestamp(request.metadata.now), (each for each in upstreams if each.output)
    inputs = "\n\n".join(render_input(each, now, workspace.config) for each in complete)
    text = f"---\n{head}\n---\n\n{_body(workspace, task, title, inputs)}"
    return completed(workspace, _TEMPLATE, text)


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
        "entry_form": ENTRY_FORM,
    }
    return fill(workspace, _TEMPLATE, parts)


def _description(text: str) -> str:
    return escaping.paragraphs(text, what="the description", deepest=escaping.SUBSECTION_LEVEL) if text else ""


def _sorted(standards: tuple[Mapping[str, str], ...]) -> list[dict[str, str]]:
    """Return citations in their canonical order, and the keys of each too."""
    ordered = sorted(standards, key=lambda each: (each["file"], each["section"]))
    return [dict(sorted(each.items())) for each in ordered]


def _features(task: NewTask) -> list[tuple[str, str]]:
    by_id: dict[str, str] = {}
    for text, description in task.features:
        feature_id = names.parse_feature_id(text)
        if feature_id in by_id:
            raise TaskstateError(f"the feature {feature_id} is given twice", help="give each its own id", code="usage")
        by_id[feature_id] = escaping.one_line(description, what=f"the description of feature {feature_id}")
    return list(by_id.items())


def with_task_file(task: NewTask, name: str, data: bytes) -> NewTask:
    """Return `task` with its empty fields taken from a task file (YAML), and the path of that file.

    The path is not recorded where `name` is `-`, standard input. Without repository paths, everything of the scope that
    is certainly a path becomes one.

    Raises:
        TaskstateError: the file is no valid task file, or a value has the wrong type.
    """
    is_file = name != STANDARD_INPUT
    from_file = read_task_file(name if is_file else "standard input", data)
    given = {key: getattr(task, key) or getattr(from_file, key) for key in _GIVEN}
    paths = task.paths or tuple(sorted({pattern_of(each) for each in from_file.path_items}))
    return task._replace(
        **given,
        depends_on=task.depends_on or tuple(dict.fromkeys(map(names.parse_task_id, from_file.depends_on))),
        scope_in=from_file.scope_in,
        scope_out=from_file.scope_out,
        standards=tuple(_citation(each) for each in from_file.standards),
        paths=paths,
        task_file=name if is_file else "",
        task_file_sha=from_file.sha if is_file else "",
        notes=() if task.paths or from_file.paths else left_out_notes(from_file.scope_in, from_file.path_items),
        warnings=from_file.warnings,
    )


def _citation(citation: Citation) -> Mapping[str, str]:
    """Return a citation as stored in the Standards fence before `context init` has looked the section up."""
    requirement = citation.requirement or default_requirement(citation.section)
    return {"file": citation.file, "section": citation.section, "requirement": requirement}
