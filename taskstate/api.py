"""The Python API: `open_repository` returns a `Repository`, whose methods call the jobs that the commands call.

A method imports what it needs when it is called, so that a program loads no more than the parts it uses. What a job
refuses is a `TaskstateError`, as for the command line; nothing is printed, and no method ends the program.
"""

from __future__ import annotations

import os

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.brief.brief import Brief
    from taskstate.lint.runner import Report
    from taskstate.model.task_state import TaskState
    from taskstate.permanent.create import NewPermanent
    from taskstate.permanent.decide import Choice
    from taskstate.permanent.update import Update, Updated
    from taskstate.roles.role_rules import RoleChange
    from taskstate.setup.repository import SetUpResult
    from taskstate.snapshots.drift import DriftReport
    from taskstate.snapshots.take import NewSnapshot
    from taskstate.tasks.create import NewTask
    from taskstate.tasks.new_session import NewSession
    from taskstate.turn.ending import FinishRequest
    from taskstate.turn.finish import Finished
    from taskstate.turn.start import Started, StartRequest
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request


def request_for(workspace: Workspace, actor: str = "") -> Request:
    """Return the request of a write now, by `actor`, else by whom the environment, git or the system names.

    Raises:
        TaskstateError: the name is not one line of text.
    """
    from datetime import UTC, datetime

    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.storage.git import client as git
    from taskstate.syntax import escaping
    from taskstate.writing.change import Request

    name = actor or os.environ.get("TASKSTATE_ACTOR") or git.user_name(workspace.root) or _login()
    actor = escaping.one_line(name, what="the actor's name")
    return Request(WriteMetadata(actor=actor, now=datetime.now(UTC), git_head=git.head(workspace.root)))


def _login() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def open_repository(path: str | Path = ".", *, actor: str = "") -> Repository:
    """Return the repository that contains the folder `path`; writes are recorded as those of `actor`.

    What a killed command left half done is finished first. A repository need not be set up yet: `set_up` does it.

    Raises:
        TaskstateError: the folder does not exist, or the configuration is wrong.
    """
    from pathlib import Path

    from taskstate.errors import TaskstateError
    from taskstate.storage import files, folders
    from taskstate.workspace.workspace import find_workspace
    from taskstate.writing.startup import losses_of, recover

    folder = Path(path).resolve()
    if not folders.is_folder(folder):
        raise TaskstateError(f"there is no folder {files.shown(folder)}", help="check the path", code="not-found")
    workspace = find_workspace(folder)
    recovered = recover(workspace)
    return Repository(workspace, actor, messages=(*recovered, *(each.message for each in losses_of(workspace))))


class Repository(NamedTuple):
    """A repository with its tasks, and how they are written.

    `messages` says what interrupted commands left, and what is gone of what was recorded; every command prints it.
    """

    workspace: Workspace
    actor: str = ""
    expect: str = ""
    dry_run: bool = False
    force_secrets: bool = False
    messages: tuple[str, ...] = ()

    def writing(self, *, expect: str = "", dry_run: bool = False, force_secrets: bool = False) -> Repository:
        """Return the repository with conditions for its writes.

        `expect` is the token that the file must still have (`Loaded.token`, `Outcome.revision`). With `dry_run` nothing
        is written, and an outcome has its `diff`. `force_secrets` writes text that looks like a credential.
        """
        return self._replace(expect=expect, dry_run=dry_run, force_secrets=force_secrets)

    def set_up(self) -> SetUpResult:
        """Create what the repository needs and does not have, as `taskstate init` does.

        Raises:
            TaskstateError: a file cannot be read or written, or git refuses.
        """
        from taskstate.setup.repository import set_up

        return set_up(self.workspace, pre_commit=False, dry_run=self.dry_run)

    # Reading

    def task_ids(self) -> tuple[str, ...]:
        """Return the ids of all tasks in their natural order.

        Raises:
            TaskstateError: code "not-set-up".
        """
        from taskstate.model.names import own_file

        named = (own_file(path.name) for path in self._set_up().state_files())
        return tuple(each.id for each in named if each and each.id)

    def load(self, task_id: str) -> Loaded:
        """Return the state file of a task: its `document`, its `state`, and its `token` for `writing(expect=…)`.

        Raises:
            TaskstateError: code "not-found": there is no such task; code "damaged" or "not-utf8": nothing in its file
                can be counted on.
        """
        from taskstate.model.names import parse_task_id
        from taskstate.writing.damage import require_readable

        workspace = self._set_up()
        loaded = workspace.load(workspace.locate(parse_task_id(task_id)))
        require_readable(workspace, loaded)
        return loaded

    def read(self, task_id: str) -> TaskState:
        """Return what the state file of a task says; `problems` has what does not parse.

        Raises:
            TaskstateError: as for `load`.
        """
        return self.load(task_id).state

    def brief(self, task_id: str, *, role: str = "", budget: int | None = None) -> Brief:
        """Return what an agent needs to start on a task, cut to a number of tokens.

        Raises:
            TaskstateError: as for `load`, or there is no such role.
        """
        from taskstate.brief.brief import brief

        reader = self.actor or os.environ.get("TASKSTATE_ACTOR", "")
        return brief(self.workspace, self.load(task_id), role=role, budget=budget, reader=reader)

    def lint(self, *paths: str | Path, against: str | None = None) -> Report:
        """Return the findings of the linter in files and folders, or in the whole repository.

        `against` is a revision to compare with: empty for none, by default what the configuration protects. The report
        also names the files that could not be read.

        Raises:
            TaskstateError: a path does not exist, or the configuration names a rule that there is not.
        """
        from datetime import UTC, datetime

        from taskstate.lint.paths import lint_paths
        from taskstate.lint.runner import LintRequest
        from taskstate.lint.selection import require_known
        from taskstate.model.write_metadata import timestamp
        from taskstate.storage.paths import real
        from taskstate.workspace.config_files import config_name

        workspace = self.workspace
        require_known(workspace.config.lint, config_name(workspace.root))
        request = LintRequest(timestamp(datetime.now(UTC)), against)
        return lint_paths(workspace, [real(str(path)) for path in paths], request)

    # A turn

    def start(self, task_id: str, asked: StartRequest | None = None) -> Started:
        """Begin a turn on a task; `text` of the result is what the agent reads first.

        Raises:
            SeveralReasons, TaskstateError: something is in the way; nothing was changed.
        """
        from taskstate.turn.start import StartRequest, start

        return start(self._call(task_id), asked or StartRequest())

    def finish(self, task_id: str, asked: FinishRequest) -> Finished:
        """End the open turn of a task; `problems` of the result says what kept it open.

        Raises:
            TaskstateError: no turn is open, or what was asked for does not fit the task.
        """
        from taskstate.turn.finish import finish

        return finish(self._call(task_id), asked)

    # Single steps

    def create(self, task: NewTask) -> Outcome:
        """Create a task, without an id at the next number.

        Raises:
            TaskstateError: the id is taken, an upstream task is unknown, or a text cannot be embedded.
        """
        from taskstate.model.names import parse_task_id
        from taskstate.tasks.create import create

        return create(self._set_up(), task._replace(id=task.id and parse_task_id(task.id)), self._request())

    def add_session(self, task_id: str, session: NewSession) -> Outcome:
        """Append a session to the Progress Log; older ones are archived where the file would become too large.

        Raises:
            TaskstateError: the task cannot take a session; its words are then kept in a file that the message names.
        """
        from taskstate.tasks.sessions import add

        return add(self._set_up(), self._id(task_id), session, self._request())

    def pass_feature(
        self, task_id: str, feature_id: str, *, evidence: str = "", commit: str = "", command: str = ""
    ) -> Outcome:
        """Record that a feature passes, proved by words, a commit, or a command that is run now and must succeed.

        Raises:
            TaskstateError: code "usage": not exactly one proof; code "no-commit", "command-failed", "not-found".
        """
        from taskstate.errors import TaskstateError
        from taskstate.tasks import checklist, feature_proofs

        if len([*filter(None, (evidence, commit, command))]) != 1:
            help_ = "give one of evidence, commit and command"
            raise TaskstateError(f"feature {feature_id} needs one proof", help=help_, code="usage")
        workspace, task = self._set_up(), self._id(task_id)
        if command:
            result = feature_proofs.proved_by_command(workspace, task, feature_id, command)
        elif commit:
            result = feature_proofs.proved_by_commit(workspace, feature_id, commit)
        else:
            result = feature_proofs.tested_by_hand(evidence, passes=True)
        return checklist.set_feature(workspace, task, feature_id, result, self._request())

    def fail_feature(self, task_id: str, feature_id: str, *, evidence: str) -> Outcome:
        """Record that a feature was tested and does not pass.

        Raises:
            TaskstateError: the task has no such feature.
        """
        from taskstate.tasks.checklist import set_feature
        from taskstate.tasks.feature_proofs import tested_by_hand

        result = tested_by_hand(evidence, passes=False)
        return set_feature(self._set_up(), self._id(task_id), feature_id, result, self._request())

    def archive(self, task_id: str, *, keep: int | None = None, force: bool = False) -> Outcome:
        """Archive all but the newest sessions of a task that is over its limit, or with `force` of any task.

        Raises:
            TaskstateError: code "usage": `keep` is below 1; or the file cannot be archived safely.
        """
        from taskstate.archive.archiver import archive_sessions
        from taskstate.errors import TaskstateError

        workspace = self._set_up()
        number = workspace.config.size.keep_sessions if keep is None else keep
        if number < 1:
            message = f"keep={number}: at least one session stays in the state file"
            raise TaskstateError(message, help="give 1 or more", code="usage")
        return archive_sessions(workspace, self._id(task_id), self._request(), keep=number, force=force)

    def set_role(self, task_id: str, role: str, change: RoleChange) -> Outcome:
        """Begin or finish a role of a task.

        Raises:
            TaskstateError: the role is not due, its checks fail, or the working tree is not as it was left.
        """
        from taskstate.roles.role_changes import set_role

        return set_role(self._set_up(), self._id(task_id), role, change, self._request())

    def take_snapshot(self, task_id: str, role: str) -> Outcome[NewSnapshot]:
        """Record the working tree as a role leaves it.

        Raises:
            TaskstateError: there is nothing to record, or the role may not record it now.
        """
        from taskstate.snapshots.take import take

        return take(self._set_up(), self._id(task_id), role, self._request())

    def compare_snapshot(self, task_id: str, role: str) -> DriftReport:
        """Return how the working tree differs from what a role left; nothing is written.

        Raises:
            TaskstateError: the role has no snapshot, or the repository cannot be compared.
        """
        from taskstate.model.roles import require_role
        from taskstate.snapshots.verify import compare

        require_role(role, self.workspace.config.roles)
        return compare(self.workspace, self.load(task_id), role)

    def complete(self, task_id: str, *, note: str = "") -> Outcome:
        """Complete a task and hand its output down; a `note` is the reason for completing it despite gaps.

        Raises:
            SeveralReasons, TaskstateError: something is missing, and there is no note; or there is drift.
        """
        from taskstate.tasks.complete import complete

        return complete(self._set_up(), self._id(task_id), self._request(), note=note)

    # The permanent task

    def permanent(self) -> Loaded | None:
        """Return the state file of the active permanent task, or None where there is none.

        Raises:
            TaskstateError: as for `load`.
        """
        from taskstate.permanent.find import find

        found = find(self._set_up())
        return self.load(found.id) if found else None

    def create_permanent(self, task: NewPermanent) -> Outcome:
        """Create the permanent task, at version 1.

        Raises:
            TaskstateError: there is an active one already, or this actor may not write it.
        """
        from taskstate.model.names import parse_task_id
        from taskstate.permanent.create import create_permanent

        return create_permanent(self._set_up(), task._replace(id=task.id and parse_task_id(task.id)), self._request())

    def update_permanent(self, asked: Update) -> Outcome[Updated]:
        """Consolidate a section of the permanent task with new content, as a new version if anything changes.

        Raises:
            TaskstateError: there is no permanent task, or the content does not fit the section.
        """
        from taskstate.permanent.update import update

        return update(self._set_up(), "", asked, self._request())

    def decide(self, choice: Choice) -> Outcome[int]:
        """Record an Architecture Decision; `result` is its number.

        Raises:
            TaskstateError: there is no permanent task, or no decision with a number that is named.
        """
        from taskstate.permanent.decide import decide

        return decide(self._set_up(), "", choice, self._request())

    def acknowledge(self, version: int, *, agent: str = "") -> Outcome[int]:
        """Record that an agent (by default the actor) has read a version of the permanent task.

        Raises:
            TaskstateError: there is no such version, or the agent has confirmed a later one.
        """
        from taskstate.permanent.acknowledge import acknowledge

        request = self._request()
        return acknowledge(self._set_up(), "", agent or request.metadata.actor, version, request)

    # What the methods share

    def _set_up(self) -> Workspace:
        from taskstate.workspace.workspace import require_set_up

        require_set_up(self.workspace)
        return self.workspace

    def _id(self, task_id: str) -> str:
        from taskstate.model.names import parse_task_id

        return parse_task_id(task_id)

    def _request(self) -> Request:
        request = request_for(self.workspace, self.actor)
        return request._replace(expect=self.expect, dry_run=self.dry_run, force_secrets=self.force_secrets)

    def _call(self, task_id: str) -> TurnRequest:
        from taskstate.turn.turn_request import TurnRequest

        return TurnRequest(self._set_up(), self._id(task_id), self._request())
