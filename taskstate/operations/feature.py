"""`feature`: changes the Feature Checklist."""

from __future__ import annotations

from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, positional
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId, Text
    from taskstate.operations.result import Result
    from taskstate.tasks.checklist import FeatureResult

_FEATURE = positional("FID", "id of the feature, such as jwt-1")


class Add(NamedTuple):
    """The arguments of `feature add`."""

    id: TaskId = TASK
    feature: str = _FEATURE
    text: Text = positional("TEXT", "description of the feature, in one line")


class Pass(NamedTuple):
    """The arguments of `feature pass`."""

    id: TaskId = TASK
    feature: str = _FEATURE
    evidence: Text | None = option("TEXT", "how it was tested, with the result")
    command: str | None = option(
        "CMD", "command that must succeed; it is recorded with the end and the hash of its output", flag="run"
    )
    commit: str | None = option("SHA", "commit that implements the feature; it must exist here")
    timeout: float | None = option("SECONDS", "maximum duration of --run (default: unlimited)")


class Fail(NamedTuple):
    """The arguments of `feature fail`."""

    id: TaskId = TASK
    feature: str = _FEATURE
    evidence: Text = option("TEXT", "how it was tested, with the result", default="does not pass")


def add(call: Call, asked: Add) -> Result:
    """Add a feature to the checklist; it does not pass yet."""
    from taskstate.tasks.checklist import add_feature

    outcome = add_feature(call.workspace, call.task_id(asked.id), asked.feature, asked.text, call.request())
    return changed(call, outcome, f"feature {asked.feature} added")


def pass_(call: Call, asked: Pass) -> Result:
    """Record that a feature was tested and passes."""
    from taskstate.tasks import feature_proofs

    if asked.timeout is not None and (asked.command is None or not asked.timeout > 0):
        raise usage_error("--timeout is the time that --run may take", help="give seconds above 0, together with --run")
    task = call.task_id(asked.id)
    if asked.command is not None:
        return _set(call, task, asked.feature, _run(call, task, asked))
    if asked.commit is not None:
        return _set(
            call, task, asked.feature, feature_proofs.proved_by_commit(call.workspace, asked.feature, asked.commit)
        )
    return _set(call, task, asked.feature, feature_proofs.tested_by_hand(asked.evidence or "", passes=True))


def fail(call: Call, asked: Fail) -> Result:
    """Record that a feature was tested and fails."""
    from taskstate.tasks.feature_proofs import tested_by_hand

    return _set(call, call.task_id(asked.id), asked.feature, tested_by_hand(asked.evidence, passes=False))


def _set(call: Call, task: str, feature: str, tested: FeatureResult) -> Result:
    from taskstate.tasks.checklist import set_feature

    outcome = set_feature(call.workspace, task, feature, tested, call.request())
    message = f"feature {feature} {'passes' if tested.passes else 'does not pass'}"
    return changed(call, outcome, message, feature=feature, passes=tested.passes, evidence=tested.evidence)


def _run(call: Call, task: str, asked: Pass) -> FeatureResult:
    """Run the command that proves the feature, and return the result; the log's end is told where it fails."""
    from taskstate.tasks.feature_proofs import CommandFailed, proved_by_command

    try:
        words = (task, asked.feature, asked.command or "")
        return proved_by_command(call.workspace, *words, timeout=asked.timeout, progress=call.progress)
    except CommandFailed as error:
        call.notes(tuple(filter(None, [error.tail])))
        raise


OPERATIONS = (
    Operation("feature add", "add a feature", add, Add, writes=True),
    Operation(
        "feature pass",
        "record that a feature passes",
        pass_,
        Pass,
        writes=True,
        one_of=("--evidence", "--run", "--commit"),
    ),
    Operation("feature fail", "record that a feature does not pass", fail, Fail, writes=True),
)
