"""Runs the validation commands of a task, or reads their log, for the baseline at a start and the gate at a finish."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model.write_metadata import blocks_of
from taskstate.qa import trust
from taskstate.qa.results import regressions
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.secret_check import AcceptedText, check_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import CheckResult
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded

_NAMED = 5  # files in a line
_OUTPUT_LINES = 12  # of a failing command


class Checks(NamedTuple):
    """The results of the validation commands on the tree as it is, and their log.

    `commands` are those of the task. `ran` says whether they were run here; else the results are those of a log that
    was given, or there are none. `changed` are the tracked files that the commands changed, `new` the untracked ones.
    """

    commands: tuple[str, ...] = ()
    results: Mapping[str, CheckResult] = {}
    log: bytes | None = None
    ran: bool = False
    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    refusal: str = ""
    accepted: AcceptedText = AcceptedText()

    @property
    def evidence(self) -> dict[str, object]:
        """Return the evidence of this run for a feature."""
        return {"command": " && ".join(self.commands), "exit_status": 0, "log_sha256": files.digest(self.log or b"")}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the commands left in the working tree, in a line."""
        return (f"the checks left {first_of(self.new, _NAMED)} behind",) if self.new else ()


def checks_of(call: TurnRequest, loaded: Loaded, log: bytes | None, *, instead: str) -> Checks:
    """Return the results of a task's validation commands: of the log if one is given, else by running them.

    What may not be run here is not, and `refusal` says so; `instead` is what else to do then.

    Raises:
        TaskstateError: the log has no results, or contains what looks like a credential; the commands cannot be read.
    """
    workspace = call.workspace
    if log is not None:
        from taskstate.qa.log_parser import text_chunks
        from taskstate.qa.record import QaRequest, results_of

        commands = trust.validation_commands(workspace, loaded)
        accepted = check_text(workspace, text_chunks(log), call.request, name="the log")
        return Checks(commands, results_of(workspace, QaRequest(log, {}, {})).results, log, accepted=accepted)
    try:
        commands = trust.require_trusted(workspace, loaded, instead=instead)
    except TaskstateError as error:
        if error.code != "untrusted":
            raise
        return Checks(trust.validation_commands(workspace, loaded), refusal=str(error))
    if not commands:
        return Checks()
    from taskstate.qa.run import run_commands

    run = run_commands(workspace, commands, timeout=workspace.config.validation_run.timeout, progress=call.progress)
    return Checks(commands, run.results, run.log, ran=True, changed=run.changed, new=run.untracked)


class Gate(NamedTuple):
    """What keeps a turn from being done, and the regressions that were let pass."""

    problems: tuple[str, ...]
    waived: tuple[str, ...]


def gate(loaded: Loaded, checks: Checks, waive: tuple[str, ...]) -> Gate:
    """Return what keeps a turn from being done: regressions against the baseline, and files that the checks changed.

    Raises:
        TaskstateError: code "not-found": a name to waive is that of no regression.
    """
    if checks.refusal:
        return Gate((checks.refusal,), ())
    if not checks.commands and not checks.results:
        return Gate((), ())
    baseline = blocks_of(loaded.document).baseline
    recorded = baseline.results or None
    if recorded and not recorded.keys() & checks.results.keys():
        recorded = None  # a log names its results by tool, a run by command: such a baseline says nothing of them
    found = {each.name: each.detail for each in regressions(recorded, checks.results, is_late=baseline.is_late)}
    waived = tuple(_named(name, tuple(found)) for name in waive)
    problems = [f"{name}: {detail}" for name, detail in found.items() if name not in waived]
    if checks.changed:
        what = counted(len(checks.changed), "tracked file")
        problems.append(
            f"the checks changed {what}: {first_of(checks.changed, _NAMED)}: look at them, then run the command again"
        )
    return Gate(tuple(problems), waived)


def failing_output(checks: Checks, problems: tuple[str, ...]) -> tuple[str, ...]:
    """Return the last lines of what the failing commands printed, each after its command line."""
    log = (checks.log or b"").decode("utf-8", "replace")
    lines: list[str] = []
    for name, result in checks.results.items():
        start = log.find(f"$ {name}\n")
        if result.ok or start < 0 or not any(problem.startswith(f"{name}: ") for problem in problems):
            continue
        end = log.find("\n$ ", start + 1)
        lines += log[start : end if end > 0 else None].rstrip("\n").split("\n")[-_OUTPUT_LINES:]
    return tuple(f"  {line}" for line in lines if line.strip())


def _named(text: str, names: tuple[str, ...]) -> str:
    """Return the check that a text names, in full or by a part that no other has."""
    matching = [name for name in names if name == text] or [name for name in names if text in name]
    if len(matching) == 1:
        return matching[0]
    hint = f"these became worse: {'; '.join(names)}" if names else "none became worse"
    raise TaskstateError(f"--waive {text!r} names no check that became worse", help=hint, code="not-found")
