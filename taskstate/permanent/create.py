"""Creates the permanent task of a repository."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.model import permanent
from taskstate.model.permanent import ALL_SECTIONS, PERMANENT, LoggedVersion
from taskstate.model.statuses import CREATED, IN_PROGRESS
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, timestamp
from taskstate.permanent.find import search
from taskstate.permanent.update import require_writer
from taskstate.permanent.versions import actor_in_log
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.yaml_emitter import yaml_block
from taskstate.tasks.create import require_free
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import FORMAT
from taskstate.workspace.free_ids import free_id
from taskstate.workspace.templates import completed, fill
from taskstate.writing.writer import create_file

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Outcome, Request

_TEMPLATE = "permanent-state.md.j2"


class NewPermanent(NamedTuple):
    """A permanent task to create, without an `id` at the next number; `another` allows a second active one."""

    id: str
    title: str
    user_intent: str = ""
    another: bool = False


def create_permanent(workspace: Workspace, task: NewPermanent, request: Request) -> Outcome:
    """Write the state file of a new permanent task, at version 1.

    Raises:
        TaskstateError: the id is taken, there is an active one already (code "exists"), or code "writer".
    """
    require_writer(workspace, request)
    present = search(workspace)
    if present and not task.another:
        message = f"there is a permanent task already: {present.id}"
        update = "`taskstate permanent update --section S --from FILE`"
        help_ = f"change it with {update}, or give `--another` if you really need two"
        raise TaskstateError(message, help=help_, code="exists")
    with free_id(workspace, task.id, dry_run=request.dry_run) as free:
        task = task._replace(id=free.id)
        require_free(workspace, task.id)
        relative = workspace.relative(workspace.tasks / f"task-{task.id}-state.md")
        text = format_text(render(workspace, task, request), relative, workspace.kinds)
        state = read_state(parse(text, workspace.kinds))
        seal = permanent.version_seal(state, 1)
        text = apply(text, set_front_matter(state.document, "version_seal", seal))
        outcome = create_file(workspace, relative, text, request)
    return outcome._replace(notes=(*outcome.notes, *free.notes))


def render(workspace: Workspace, task: NewPermanent, request: Request) -> str:
    """Return the text of a new permanent task without write metadata."""
    title, at = escaping.one_line(task.title, what="the title"), timestamp(request.metadata.now)
    front_matter = {
        "taskstate": FORMAT,
        "kind": PERMANENT,
        "task_id": task.id,
        "title": title,
        "status": IN_PROGRESS if task.user_intent else CREATED,
        "created_at": at,
        "version": 1,
        "file_size_kb": 1,
    }
    first = LoggedVersion(1, at, actor_in_log(request), (ALL_SECTIONS,), "created")
    intent = escaping.paragraphs(task.user_intent, what="the user intent") if task.user_intent else ""
    body = fill(workspace, _TEMPLATE, {"title": title, "user_intent": intent, "change_log": first.line})
    text = f"---\n{chr(10).join(yaml_block(front_matter, 0))}\n---\n\n{body}"
    return completed(workspace, _TEMPLATE, text)
