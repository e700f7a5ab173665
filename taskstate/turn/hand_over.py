"""Hands a phase over: writes its handoff document if the linter finds no error in it, and the page for the successor.

Names the errors of other documents.
"""

from __future__ import annotations

from taskstate.handoff import create
from taskstate.handoff.document import Handoff
from taskstate.handoff.verified_facts import current_tree
from taskstate.lint import engine
from taskstate.lint.diagnostics import ERROR
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.queries.repository import Repository
from taskstate.model.config import Lint
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from taskstate.handoff.create import HandoffRequest, HandoffResult
    from taskstate.handoff.invalid import Validator
    from taskstate.handoff.prompt import Prompt
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Change, Request


def hand_over(workspace: Workspace, task_id: str, handoff_request: HandoffRequest, request: Request) -> HandoffResult:
    """Write the handoff document of a task's phase and count it, in one step; see `handoff.create.new`.

    Raises:
        TaskstateError: as `handoff.create.new` does.
    """
    if handoff_request.draft:
        from taskstate.turn.changed_files import changed_files

        loaded = workspace.load(workspace.locate(task_id))
        handoff_request = handoff_request._replace(changed=changed_files(workspace, loaded))
    return create.new(workspace, task_id, handoff_request, request, errors_in=handoff_errors(workspace))


def handing_over(workspace: Workspace, loaded: Loaded, request: Request) -> Callable[[Loaded], Change[object]]:
    """Return the step that hands over, with a document that is drafted from what the state file says then.

    The working tree is looked at now, which may take seconds: call it before the lock is taken.
    """
    from taskstate.turn.changed_files import changed_files

    drafted = create.HandoffRequest(Handoff(), draft=True, changed=changed_files(workspace, loaded))
    tree = current_tree(workspace)
    return create.handing_over(workspace, drafted, request, tree, errors_in=handoff_errors(workspace))


def successor_prompt(workspace: Workspace, task_id: str) -> Prompt:
    """Return the page for the successor on a task, which names the shared context; see `handoff.prompt`."""
    from taskstate.handoff.prompt import prompt
    from taskstate.permanent.readers import standing

    shared = standing(workspace, "")
    line = shared.line if shared else ""
    return prompt(workspace, task_id, errors_in=handoff_errors(workspace), shared=line)


def handoff_errors(workspace: Workspace) -> Validator:
    """Return the function that lists the errors of a handoff document, as the linter's default rules see them."""

    def errors_in(name: str, text: str, now: str) -> tuple[tuple[str, str], ...]:
        repository = Repository(workspace, now=now)
        try:
            queries = RepositoryQueries(repository, workspace.root / name)
            diagnostics = engine.check(text, name, workspace.config._replace(lint=Lint()), queries)
        finally:
            repository.close()
        return tuple((each.code, each.message) for each in diagnostics if each.severity == ERROR)

    return errors_in
