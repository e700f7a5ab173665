"""Completion checks: what completion requires of a task and is missing, all of it at once, one line for each thing.

Each gap has a key that stays the same as long as the gap exists. By its key, an event records that the gap was
accepted, and the linter distinguishes it from later ones.
"""

from __future__ import annotations

import re

from taskstate.chain import output as chain_output
from taskstate.chain.output import Gap
from taskstate.context.check import stale_findings
from taskstate.errors import TaskstateError
from taskstate.handoff.document import OPEN
from taskstate.handoff.document_files import archive_path, handoff_files
from taskstate.messages import one_line
from taskstate.model import chain, chain_quotes, roles
from taskstate.model.criteria import malformed_criteria
from taskstate.model.document_kinds import kind_of
from taskstate.model.statuses import BLOCKED, COMPLETE
from taskstate.model.write_metadata import blocks_of
from taskstate.roles import role_rules
from taskstate.storage import file_state, files
from taskstate.storage.git import client as git
from taskstate.syntax import escaping
from taskstate.tasks import evidence_age
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import artifacts
from taskstate.workspace.git_past import objects_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import Feature, TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace

DRIFT = "drift"  # the key of the gap that can be accepted, and not forced
_LONGEST = 80  # characters of somebody's text in a line
_COMMIT = r"[0-9a-f]{4,64}"


def gaps(workspace: Workspace, loaded: Loaded) -> tuple[Gap, ...]:
    """Return everything that completion requires and that is missing."""
    from taskstate.roles.role_changes import tree_gap

    drift = tree_gap(workspace, loaded)
    return (
        *lasting_gaps(workspace, loaded),
        *evidence_age.gaps(workspace, loaded, matches=not drift),
        *(Gap("session", line) for line in artifacts.unrecorded(workspace, loaded.state.id)),
        *([Gap(DRIFT, drift)] if drift else []),
    )


def lasting_gaps(workspace: Workspace, loaded: Loaded) -> tuple[Gap, ...]:
    """Return what is missing in any clone and at any time, as long as nobody sees to it.

    It is also what the linter asks of a task whose status somebody has set to complete by hand.
    """
    from taskstate.roles.role_changes import completion_gaps

    state, blocks, names = loaded.state, blocks_of(loaded.document), workspace.config.roles
    return (
        *gaps_in(state, require_command=workspace.config.lint.require_command_evidence),
        *_commit_gaps(workspace, state),
        *_moved_gaps(workspace, state),
        *_file_gaps(workspace, state),
        *_turn_gaps(state.id, blocks),
        *(Gap("roles", line) for line in completion_gaps(loaded, names)),
        *_check_gaps(blocks, names),
        *_context_gaps(workspace, loaded),
        *_handoff_gaps(workspace, loaded),
    )


def _check_gaps(blocks: ToolBlocks, names: tuple[str, ...]) -> Iterator[Gap]:
    """Yield the checks that fail, or are worse than the baseline, in the results of the last role that has some."""
    last = next((role for role in reversed(roles.pipeline(blocks, names)) if role.qa), None)
    if last is None:
        return
    waived = role_rules.waived_checks(blocks, last)
    for name, detail in role_rules.failing_checks(blocks, last.qa):
        if name not in waived:
            yield Gap(f"check:{name}", f"the check {files.shown(name)} of {last.name} does not pass: {detail}")


def _context_gaps(workspace: Workspace, loaded: Loaded) -> Iterator[Gap]:
    """Yield what is no longer as it was sealed or captured."""
    for finding in stale_findings(workspace, loaded):
        yield Gap(f"context:{finding.code}", f"{finding.message}; {finding.help}")


def _turn_gaps(task_id: str, blocks: ToolBlocks) -> Iterator[Gap]:
    """Yield a gap where a turn is open: what was done in it is not recorded."""
    turn = blocks.delta.turn
    if turn:
        words = '--did "WHAT" --state "HOW IT STANDS" --next "STEP"'
        yield Gap("turn", f"a turn of {turn.agent} is open: `taskstate finish {task_id} --complete {words}` ends both")


def gaps_in(state: TaskState, *, require_command: bool = False) -> tuple[Gap, ...]:
    """Return everything that is missing in the state file itself; `require_command`: a text is no evidence."""
    counted = state.checklist.counted if state.checklist else ()
    unchecked = (each for each in state.criteria if not each.checked)
    return (
        *_status_gaps(state),
        *_placeholders(state),
        *(gap for feature in counted for gap in _feature_gaps(feature, require_command=require_command)),
        *(
            Gap(f"criterion:{each.number}", f"criterion {each.number} is not checked: {one_line(each.text, _LONGEST)}")
            for each in unchecked
        ),
        *_form_gaps(state),
        *(chain_output.output_gaps(state) or _propagation_gaps(state)),
    )


def _form_gaps(state: TaskState) -> Iterator[Gap]:
    """Yield the lines among the criteria that are read as none, and so are neither checked nor open."""
    for number, each in enumerate(malformed_criteria(state.document), start=1):
        line = state.document.position(each.span.start).line + 1
        words = one_line(each.span.of(state.document.text), _LONGEST)
        yield Gap(
            f"criterion-form:{number}", f"line {line} is not a criterion: {words}: {each.flaw.reason}; {each.flaw.cure}"
        )


def _status_gaps(state: TaskState) -> Iterator[Gap]:
    if state.status == BLOCKED:
        yield Gap("status", f"the task is blocked: `taskstate edit {state.id} --unblocked` when nothing stops it")


def _placeholders(state: TaskState) -> Iterator[Gap]:
    """Yield the parts, the output aside, that a complete task must have written and this one has not."""
    kind = kind_of(state.document)
    for section in kind.sections:
        for spec in section.subsections if section.name != chain.OUTPUT else ():
            if COMPLETE in spec.must_be_filled:
                part = state.subsection(section.name, spec.name)
                text = part.body.of(state.document.text).strip() if part else ""
                if escaping.is_blank(text) or kind.is_placeholder(text):
                    yield Gap(f"part:{spec.name}", f"{spec.name} is not written")


def _propagation_gaps(state: TaskState) -> Iterator[Gap]:
    """Yield what prevents a written output from being propagated."""
    if kind_of(state.document).section(chain.OUTPUT) is None:
        return
    output = chain.output_of(state.document)
    cause = "" if output else "a fence never closes, or a merge was not finished in it"
    try:
        chain_quotes.require_clean(state.id, " ".join(state.title.split()), output)
    except TaskstateError as error:
        yield Gap("handing-down", f"the {chain.OUTPUT} cannot be read: {cause or error.message}")


# Features


def _feature_gaps(feature: Feature, *, require_command: bool) -> Iterator[Gap]:
    if not feature.passes:
        yield Gap(
            f"feature:{feature.id}", f"feature {feature.id} does not pass: {one_line(feature.description, _LONGEST)}"
        )
        return
    missing_proof = _missing_proof(feature.evidence, require_command=require_command)
    if missing_proof or not feature.tested_at:
        message = f"feature {feature.id}{missing_proof or ' passes without having been tested'}"
        yield Gap(f"evidence:{feature.id}", message)


def _missing_proof(evidence: object, *, require_command: bool) -> str:
    """Return the flaw of an evidence, as the rest of a sentence; empty where it is sufficient."""
    if isinstance(evidence, dict) and evidence:
        status = evidence.get("exit_status")
        if "command" in evidence:
            if not isinstance(status, int) or isinstance(status, bool):
                return ": its evidence does not say how the command ended"
            return f": the command of its evidence ended with status {status}" if status else ""
        is_commit = re.fullmatch(_COMMIT, str(evidence.get("commit")))
        return "" if is_commit else " has an evidence that names neither a command nor a commit"
    if not isinstance(evidence, str) or not evidence.strip():
        return " passes without evidence"
    return " has words as its evidence, and neither a command nor a commit" if require_command else ""


def _commit_gaps(workspace: Workspace, state: TaskState) -> Iterator[Gap]:
    """Yield the evidence that is a commit missing here; a shallow clone is not checked, since it lacks history."""
    evidence = {each.id: each.evidence for each in (state.checklist.counted if state.checklist else ()) if each.passes}
    named = {key: str(each.get("commit")) for key, each in evidence.items() if isinstance(each, dict)}
    commits = {key: commit for key, commit in named.items() if re.fullmatch(_COMMIT, commit)}
    root = workspace.root
    if not commits or not git.is_repository(root) or git.is_shallow(root):
        return
    with objects_of(workspace) as objects:
        kinds = objects.kinds(tuple(commits.values()))
    for (key, commit), kind in zip(commits.items(), kinds, strict=True):
        if kind not in {"commit", "tag"}:
            yield Gap(f"evidence:{key}", f"feature {key}: its evidence is the commit {commit}, which is not here")


def _moved_gaps(workspace: Workspace, state: TaskState) -> Iterator[Gap]:
    """Yield the features that were moved to a missing task, or to this very one."""
    for feature in state.checklist.features if state.checklist else ():
        target = feature.moved_to
        if not target:
            continue
        problem = "to this very task" if target.casefold() == state.id.casefold() else ""
        try:
            workspace.locate(target)
        except TaskstateError as error:
            problem = f"to task {target}: {error.message}"
        if problem:
            yield Gap(f"feature:{feature.id}", f"feature {feature.id} is moved {files.shown(problem)}")


# Other files


def _file_gaps(workspace: Workspace, state: TaskState) -> Iterator[Gap]:
    for each in (each for each in chain_output.named_files(state) if each.sure):
        key = f"file:{each.path}"
        try:
            exists = each.deleted or file_state.exists(workspace.root, each.path, workspace.source)
        except TaskstateError as error:
            yield Gap(key, f"{chain_output.FILES}: {error.message}")
            continue
        if not exists:
            hint = "mark it (deleted) if it is meant to be gone"
            yield Gap(key, f"{chain_output.FILES} names {files.shown(each.path)}, which is not there; {hint}")


def _handoff_gaps(workspace: Workspace, loaded: Loaded) -> Iterator[Gap]:
    """Yield the open handoffs: the one that the front matter names, and each document with an open status."""
    task_id = loaded.state.id
    open_documents = [each.path for each in handoff_files(workspace, task_id) if each.status == OPEN]
    paths = (blocks_of(loaded.document).handoffs.open, *(path for path in open_documents if path != archive_path(path)))
    for path in dict.fromkeys(filter(None, paths)):
        accept = f"`taskstate handoff accept {task_id}`"
        yield Gap("handoff", f"a handoff is open: {files.shown(path)}; {accept}")
