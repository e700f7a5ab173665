"""Makes the results that prove a feature: a text, a commit that exists, or a command that succeeds."""

from __future__ import annotations

from taskstate.errors import GitFailed, TaskstateError
from taskstate.evidence.command_evidence import run_command
from taskstate.evidence.process import unfollowed
from taskstate.storage.git import client as git
from taskstate.syntax.escaping import clean, one_line
from taskstate.tasks.checklist import FeatureResult, require_feature
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.error_codes import ErrorCode
    from taskstate.evidence.process import Following
    from taskstate.workspace.workspace import Workspace


class CommandFailed(TaskstateError):
    """The command that was to prove a feature exited with a status other than 0; `tail` is the end of its log."""

    code: ErrorCode = "command-failed"

    def __init__(self, message: str, *, help: str, tail: str) -> None:  # noqa: A002 - the field's own word
        super().__init__(message, help=help)
        self.tail = tail


def tested_by_hand(evidence: str, *, passes: bool) -> FeatureResult:
    """Return the result that somebody reports in words.

    Raises:
        TaskstateError: the text cannot be written, or says nothing.
    """
    return FeatureResult(passes=passes, evidence=clean(evidence, what="--evidence"))


def proved_by_commit(workspace: Workspace, feature_id: str, commit: str) -> FeatureResult:
    """Return the result that a commit proves, by its full id.

    Raises:
        TaskstateError: code "no-commit": it does not exist here.
    """
    name = one_line(commit, what="--commit")
    try:
        return FeatureResult(passes=True, evidence={"commit": git.resolve_commit(workspace.root, name)})
    except GitFailed as error:
        if error.code != "no-commit" and git.toplevel(workspace.root):
            raise
        message = f"there is no commit {name} here, so feature {feature_id} is not recorded as passing"
        raise TaskstateError(message, help="name one that `git log` shows", code="no-commit") from error


def proved_by_command(  # noqa: PLR0913 - what is proved, by what, and who waits for it
    workspace: Workspace,
    task_id: str,
    feature_id: str,
    command: str,
    *,
    timeout: float | None = None,
    progress: Following = unfollowed,
) -> FeatureResult:
    """Run the command that proves a feature in the root of the repository, and return the result with its log.

    Raises:
        CommandFailed: it exited with a status other than 0.
        TaskstateError: the task has no such feature, or the command could not be run to its end.
    """
    allow = workspace.config.secrets.allow
    require_feature(workspace, task_id, feature_id)
    command = one_line(command, what="--run")
    ran = run_command(workspace.root, command, timeout=timeout, progress=progress)
    if ran.exit_status:
        raise CommandFailed(
            f"`{command}` exited with status {ran.exit_status}, so feature {feature_id} is not recorded as passing",
            help=f"fix it, or record it with `taskstate feature fail {task_id} {feature_id}`",
            tail=ran.tail(allow),
        )
    return FeatureResult(passes=True, evidence=ran.evidence(allow), log=ran.log)
